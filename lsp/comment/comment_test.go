package comment

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// forms are requests in the comments of many languages. In each text the mark § stands at both ends of what is taken
// out.
var forms = []struct{ language, text, agent, asked string }{
	{"go", "package a\n\n§// agent: return the error\n§func f() {}\n", "", "return the error"},
	{
		"go", "package a\n\nfunc f() {\n§\t// agent@reviewer: look at this\n\t// and at its callers\n§\treturn\n}\n",
		"reviewer", "look at this and at its callers",
	},
	{"go", "x := 1§ // agent: make it 2§\ny := 3\n", "", "make it 2"},
	{"go", "s := \"// agent: no\"\n§// agent: yes\n§", "", "yes"},
	{"go", "s := `\n// agent: no\n`\n§// agent: yes\n§r := '\"'\n", "", "yes"},
	{"go", "§// agent: yes\n§//go:generate x\n", "", "yes"},
	{"go", "§// agent: yes\n§//\n// The rest.\n", "", "yes"},
	{"c", "int a; §/* agent: use a long */ §int b;\n", "", "use a long"},
	{
		"c",
		"§/*\n * agent@tester: cover these:\n * - the empty list\n * - a long list\n *\n * and no others\n */\n§int a;\n",
		"tester", "cover these:\n- the empty list\n- a long list\n\nand no others",
	},
	{"c", "char q = '\"';§ // agent: yes§\n", "", "yes"},
	{"c", "a\r\n§// agent: yes\r\n§b\r\n", "", "yes"},
	{"cpp", "§/// agent: yes\n§", "", "yes"},
	{"java", "§/** agent: document it **/\n§class A {}\n", "", "document it"},
	{"javascript", "const u = 'http://agent:b@c', v = `${'`'} // agent: no`;\n§// agent: yes\n§", "", "yes"},
	{"javascript", "s.replace(/['\"]/g, '')§ // agent: yes§\n", "", "yes"},
	{"javascript", "const v = `${f({ a: '}' })}`§ // agent: yes§\n", "", "yes"},
	{"javascript", "const v = `${\n§// agent: yes\n§a}`\n", "", "yes"},
	{"typescriptreact", "<p>It isn't</p>§ // agent: yes§\n", "", "yes"},
	{"shellscript", "echo ${#a} 'x'§ # agent: yes§\n", "", "yes"},
	{"shellscript", "cat <<'END'\n# agent: no\nit's\nEND\n§# agent: yes\n§", "", "yes"},
	{"shellscript", "a=\"$(echo \"# agent: no\")\"§ # agent: yes§\n", "", "yes"},
	{"typescriptreact", "<div>\n§  {/* agent: a button */}\n§</div>\n", "", "a button"},
	{"rust", "fn f<'a>(x: &'a str) {}§ // agent: yes§\n", "", "yes"},
	{"rust", "§/* agent: outer /* inner */ end */\n§", "", "outer /* inner */ end"},
	{"css", "§/* agent: darker */\n§a {}\n", "", "darker"},
	{"python", "\"\"\"\n# agent: no\n\"\"\"\n§# agent: rename it\n# to total\n§x = 1\n", "", "rename it to total"},
	{"python", "x = '# agent: no'§  # agent: yes§\n", "", "yes"},
	{"shellscript", "echo $# ${x#y} 'it is\n# agent: no'\n§# agent: quote it\n§rm $x\n", "", "quote it"},
	{"ruby", "§=begin\nagent: yes\n=end\n§x\n", "", "yes"},
	{"yaml", "a: don't\n§# agent: sort the keys\n§b: 1\n", "", "sort the keys"},
	{"toml", "§# agent: yes\n§a = '# agent: no'\n", "", "yes"},
	{"dockerfile", "§# agent: yes\n§FROM x\n", "", "yes"},
	{"powershell", "§<# agent: yes #>\n§x\n", "", "yes"},
	{"terraform", "a = \"# agent: no\"\n§# agent: yes\n§", "", "yes"},
	{"lua", "s = [[\n-- agent: no\n]]\n§-- agent: yes\n§", "", "yes"},
	{"lua", "§--[[ agent: yes\n more ]]\n§x = 1\n", "", "yes more"},
	{"sql", "select 'it''s -- agent: no';\n§-- agent: add an index\n§", "", "add an index"},
	{"haskell", "f' x = '\"'\n§-- agent: a fold\n§", "", "a fold"},
	{"haskell", "x --> y\n§{- agent: a {- nested -} fold -}\n§", "", "a {- nested -} fold"},
	{"elm", "§{- agent: yes -}\n§x\n", "", "yes"},
	{"clojure", "(str \"; agent: no\" \\; )\n§;; agent: yes\n§", "", "yes"},
	{"ini", "§; agent: yes\n§[a]\n", "", "yes"},
	{"latex", "50\\% agent: no\n§% agent: shorten\n% this chapter\n§Text\n", "", "shorten this chapter"},
	{"matlab", "a = b';§ % agent: yes§\n", "", "yes"},
	{"erlang", "X = $\",§ % agent: yes§\n", "", "yes"},
	{"html", "<p>\n§<!-- agent: a table\n     instead -->\n§</p>\n", "", "a table instead"},
	{"markdown", "# agent: no\n\n§<!-- agent@planner: plan this -->\n§Text\n", "planner", "plan this"},
	{"vue", "<template>\n§<!-- agent: yes -->\n§</template>\n", "", "yes"},
	{"jinja", "§{# agent: yes #}\n§", "", "yes"},
	{"ocaml", "let c = '\"'\n§(* agent: yes (* nested *) *)\n§", "", "yes (* nested *)"},
	{"pascal", "s := '{ agent: no }';\n§{ agent: yes }\n§", "", "yes"},
	{"vim", "let a = \"agent: no\"\n§\" agent: yes\n§", "", "yes"},
	{"vb", "s = \"' agent: no\"\n§' agent: yes\n§", "", "yes"},
	{"basic", "10§ REM agent: yes§\n20 PRINT \"REM agent: no\"\n", "", "yes"},
	{"bat", "@§REM agent: yes§\nREMOVE agent: no\n", "", "yes"},
	{"fortran", "§! agent: yes\n§end\n", "", "yes"},
	{"klingon", "s = \"x\" # agent: no\n§# agent: yes\n§", "", "yes"},
	{"go", "§// agent: /iter 3 make it pass\n§", "", "/iter 3 make it pass"},
	{"go", "§// agent: yes§", "", "yes"},
}

func TestRequests(t *testing.T) {
	for _, f := range forms {
		text := strings.ReplaceAll(f.text, "§", "")
		list := Requests(f.language, "", text)
		if len(list) != 1 {
			t.Errorf("%s: %q has the requests %+v, want one", f.language, text, list)
			continue
		}
		r := list[0]
		if r.Agent != f.agent || r.Text != f.asked {
			t.Errorf("%s: %q asks %q for %q", f.language, text, r.Agent, r.Text)
		}
		if got := text[:r.Start] + "§" + text[r.Start:r.End] + "§" + text[r.End:]; got != f.text {
			t.Errorf("%s: it takes out %q", f.language, got)
		}
	}
}

func TestLines(t *testing.T) {
	text := "a\n// agent: one\n// more\nb\n/* agent@x:\n two\n*/\nc // agent: three\n"
	want := []Request{{"", "one more", 1, 2, 2, 24}, {"x", "two", 4, 6, 26, 46}, {"", "three", 7, 7, 47, 63}}
	if diff := cmp.Diff(want, Requests("go", "", text)); diff != "" {
		t.Error(diff)
	}
}

// What looks like a request and is none.
func TestNone(t *testing.T) {
	for _, text := range []string{
		"// agent:\n", "// the agent: no\n", "// agents: no\n", "// agent@: no\n", "x := agent: no\n",
		"// agent://host\n", "// Agent: a noun\n",
		"/* a\n agent: not at the start */\n", "/* agent: ", "\"// agent: \\\" // agent: no\"", "",
	} {
		list := Requests("go", "", text)
		if text == "/* agent: " && len(list) == 0 {
			continue
		}
		if len(list) != 0 {
			t.Errorf("%q has the requests %+v", text, list)
		}
	}
}

func TestSyntaxByName(t *testing.T) {
	for name, text := range map[string]string{
		"a.py": "# agent: yes\n", "Dockerfile": "# agent: yes\n", `C:\x\A.SQL`: "-- agent: yes\n",
		"x/.vimrc": "\" agent: yes\n",
	} {
		for _, language := range []string{"", "plaintext", "whatever"} {
			if list := Requests(language, name, text); len(list) != 1 {
				t.Errorf("%s as %q: %+v", name, language, list)
			}
		}
	}
	for _, name := range []string{"a.txt", "a.json"} {
		if list := Requests("", name, "# agent: no\n"); len(list) != 0 {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

// Whatever the text is, what is taken out lies in it, in order.
func FuzzRequests(f *testing.F) {
	for _, form := range forms {
		f.Add(form.language, strings.ReplaceAll(form.text, "§", ""))
	}
	f.Fuzz(func(t *testing.T, language, text string) {
		last := 0
		for _, r := range Requests(language, "", text) {
			if r.Start < last || r.End <= r.Start || r.End > len(text) || r.StartLine > r.EndLine || r.Text == "" {
				t.Errorf("%q has the request %+v", text, r)
			}
			last = r.End
		}
	})
}
