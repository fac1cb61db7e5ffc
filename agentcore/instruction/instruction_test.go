package instruction_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/instruction"
)

// files is a Reader of texts by their paths. A text that begins with "!" is refused with the rest of it.
type files struct {
	texts map[string]string
	reads map[string]int
}

func (f *files) Read(_, name string) (string, int, error) {
	f.reads[filepath.ToSlash(name)]++
	text, ok := f.texts[filepath.ToSlash(name)]
	if why, refused := strings.CutPrefix(text, "!"); refused {
		return "", 0, errors.New(why)
	}
	if !ok {
		return "", 0, fs.ErrNotExist
	}
	return text, 0, nil
}

func (f *files) List(_, dir string) (names []string) {
	for name := range f.texts {
		if rest, ok := strings.CutPrefix(name, filepath.ToSlash(dir)+"/"); ok && !strings.Contains(rest, "/") {
			names = append(names, rest)
		}
	}
	return names
}

// book is one on /a and /b, in which the user has /u/AGENTS.md.
func book(texts map[string]string) (*instruction.Book, *files) {
	f := &files{texts, map[string]int{}}
	return instruction.NewBook(instruction.Places{
		User: []string{"/u/AGENTS.md"}, Home: "/u", Roots: []string{"/a", "/b"},
	}, f), f
}

// told are the files of a set in order, those that are omitted behind "-".
func told(s instruction.Set) string {
	var list []string
	for _, t := range s.Texts {
		list = append(list, t.Path)
	}
	for _, o := range s.Omitted {
		list = append(list, "- "+o.Path+" "+o.Why)
	}
	return strings.Join(list, "\n")
}

func TestImports(t *testing.T) {
	for text, want := range map[string]string{
		"@a.md":                              "a.md",
		"See @a.md, @b/c.md. (@d.md)":        "a.md b/c.md d.md",
		"- @~/x.md\n\t@/abs/y.md\n":          "~/x.md /abs/y.md",
		"me@example.org @@x `@y` ``@z ` w``": "",
		"`@open @a.md":                       "a.md",
		"```\n@a\n```\n@b":                   "b",
		"````\n@a\n```\n@c\n````\n@b":        "b",
		"~~~ md\n@a\n~~~\n@b":                "b",
		"```\n@never closed":                 "",
		"@ a @\n@,":                          "",
		"@\"quoted\" @<b> @a|b":              "a",
		"* bullet @x.md:":                    "x.md",
		"@a\r\n@b\r\n":                       "a b",
	} {
		var got []string
		for _, i := range instruction.Imports(text) {
			if text[i.Start:i.End] != "@"+i.Name {
				t.Errorf("%q: %+v stands elsewhere", text, i)
			}
			got = append(got, i.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q imports %q, want %q", text, got, want)
		}
	}
	if n := len(instruction.Imports(strings.Repeat("@a.md\n", 1000))); n != 100 {
		t.Errorf("%d imports of one text", n)
	}
}

func TestScopes(t *testing.T) {
	for text, want := range map[string]string{
		"---\napplyTo: **\n---\nx":                                  "** | x",
		"---\napplyTo: '**/*.{a,b}, c/**'\n---\r\nx":                "**/*.{a,b} c/** | x",
		"---\ndescription: d\napplyTo:\n  - \"*.a\"\n  - b\n---\nx": "*.a b | x",
		"---\napplyTo: [\"a\", 'b']\n---\n":                         "a b | ",
		"---\napplyTo:\n---\nx":                                     " | x",
		"---\nnever closed\napplyTo: a\n":                           " | ---\nnever closed\napplyTo: a\n",
		"--- a\napplyTo: a\n---\n":                                  " | --- a\napplyTo: a\n---\n",
		"x":                                                         " | x",
		"\ufeff---\napplyTo: a\n---\nx":                             "a | x",
	} {
		s := instruction.ScopeOf(text)
		var globs []string
		for _, g := range s.Globs {
			if text[g.Start:g.End] != g.Text {
				t.Errorf("%q: %+v stands elsewhere", text, g)
			}
			globs = append(globs, g.Text)
		}
		if got := strings.Join(globs, " ") + " | " + text[s.Body:]; got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestGlobsEnd has globs that would be tried in more ways than anybody can wait for.
func TestGlobsEnd(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("{a,b}", 60) + "x", strings.Repeat("{*,a,{b,c}}", 40), strings.Repeat("{a,b,c,d,e}", 30) + "/**",
	} {
		if g := (instruction.Glob{Text: text}); g.Valid() || g.Matches(strings.Repeat("a", 60)) {
			t.Errorf("%s can be matched with", text)
		}
	}
	if g := (instruction.Glob{Text: "**/*.{a,b,{c,d}x}"}); !g.Matches("x/y.cx") || g.Matches("x/y.c") {
		t.Error("braces are read differently")
	}
}

func TestBook(t *testing.T) {
	b, f := book(map[string]string{
		"/u/AGENTS.md": "user", "/a/AGENTS.md": "a", "/b/AGENTS.md": "b", "/a/x/AGENTS.md": "ax",
		"/b/.claude/CLAUDE.md": "for Claude",
		"/a/x/y/CLAUDE.md":     "axy", "/b/x/GEMINI.md": "bx", "/a/x/f/AGENTS.md": "beside",
		"/b/.github/instructions/z.instructions.md": "---\napplyTo: x/*.go\n---\nz",
		"/b/.github/instructions/a.instructions.md": "---\napplyTo: x/*.go\n---\na scoped",
		"/b/.github/instructions/n.instructions.md": "---\napplyTo: '*.md'\n---\nn",
		"/b/.github/instructions/notes.md":          "no",
	})
	// The workspace folder with the files comes last.
	for want, files := range map[string][]string{
		"/u/AGENTS.md /a/AGENTS.md /b/AGENTS.md /b/.claude/CLAUDE.md":                nil,
		"/u/AGENTS.md /b/AGENTS.md /b/.claude/CLAUDE.md /a/AGENTS.md /a/x/AGENTS.md": {"/a/x/f.go"},
		"/u/AGENTS.md /b/AGENTS.md /b/.claude/CLAUDE.md /a/AGENTS.md /a/x/AGENTS.md /a/x/y/CLAUDE.md": {
			"/a/x/y/f.go", "/a/x/f.go",
		},
		"/u/AGENTS.md /a/AGENTS.md /b/AGENTS.md /b/.claude/CLAUDE.md /b/.github/instructions/a.instructions.md " +
			"/b/.github/instructions/z.instructions.md /b/x/GEMINI.md": {"/b/x/f.go"},
	} {
		var got []string
		for _, text := range b.For(files...).Texts {
			got = append(got, text.Path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("for %v: %s, want %s", files, strings.Join(got, " "), want)
		}
	}
	f.texts["/a/AGENTS.md"] = "changed"
	if got := b.For().Texts[1].Body; got != "a" {
		t.Errorf("a file is read again: %q", got)
	}
	for name, n := range f.reads {
		if n > 1 {
			t.Errorf("%s is read %d times", name, n)
		}
	}
	known := map[string]bool{}
	for _, path := range b.For("/a/x/f.go").Paths() {
		known[path] = true
	}
	if got := told(b.Beyond(known, "/a/x/f.go")); got != "" {
		t.Errorf("nothing is new, but %s", got)
	}
	if got := told(b.Beyond(known, "/a/x/y")); got != "/a/x/y/CLAUDE.md" {
		t.Errorf("below comes %s", got)
	}
	if got := told(b.Beyond(known, "/elsewhere/f")); got != "" {
		t.Errorf("outside comes %s", got)
	}
}

func TestImportsAreFollowed(t *testing.T) {
	b, _ := book(map[string]string{
		"/a/AGENTS.md": "same", "/a/CLAUDE.md": "same\n", "/a/GEMINI.md": "@AGENTS.md",
		"/a/x/AGENTS.md": "@../CLAUDE.md @one.md @nothere @nothere.md @/b/in.md @/etc/passwd @.env @self.md",
		"/a/x/one.md":    "@1", "/a/x/1": "one", "/b/in.md": "of b", "/a/x/.env": "!is refused: secret",
		"/a/x/self.md": "self @./self.md",
	})
	want := strings.Join([]string{
		"/a/AGENTS.md", "/a/x/AGENTS.md", "/a/x/1", "/b/in.md", "/a/x/self.md",
		"- /a/CLAUDE.md says the same as AGENTS.md",
		"- /a/x/nothere.md is not there",
		"- /etc/passwd lies outside of the workspace, and a project's instructions come from its folder alone",
		"- /a/x/.env is refused: secret",
		"- /a/x/self.md imports itself in a circle",
	}, "\n")
	if diff := cmp.Diff(want, told(b.For("/a/x/f.go"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// What the user imports may lie anywhere, and is the user's.
	b, _ = book(map[string]string{
		"/u/AGENTS.md": "@~/.claude/x.md @/opt/y.md", "/u/.claude/x.md": "x", "/opt/y.md": "y",
	})
	set := b.For()
	if got := told(set); got != "/u/AGENTS.md\n/u/.claude/x.md\n/opt/y.md" || set.Texts[2].Root != "" {
		t.Errorf("the user has %s", got)
	}
	// Many are bounded.
	texts := map[string]string{"/a/AGENTS.md": ""}
	for n := range 400 {
		texts[fmt.Sprintf("/a/%d.md", n)] = fmt.Sprintf("text %d @%d.md @%d.md", n, n*2+1, n*2+2)
	}
	texts["/a/AGENTS.md"] = "@0.md"
	b, _ = book(texts)
	if n := len(b.For().Texts); n != 31 { // a tree of depth 5
		t.Errorf("%d texts are given", n)
	}
}

func TestBound(t *testing.T) {
	set := instruction.Set{Texts: []instruction.Text{
		{Path: "/u", Body: "ü" + strings.Repeat("x", 998), Size: 1000},
		{Path: "/a", Root: "/a", Body: strings.Repeat("line 6\n", 100), Size: 700},
		{Path: "/a/b", Root: "/a", Body: strings.Repeat("line 6\n", 10), Size: 70},
	}}
	for _, most := range []int{0, 1, 69, 70, 71, 77, 500, 770, 771, 772, 1500, 1769, 1770, 5000} {
		bound := set.Bound(most)
		if n := bound.Size(); n > most || most >= 1770 && n != 1770 || most < 1770 && n < most-400 {
			t.Errorf("bound to %d it has %d", most, n)
		}
		whole := true
		for i := len(bound.Texts) - 1; i >= 0; i-- {
			text := bound.Texts[i]
			if !utf8.ValidString(text.Body) || !strings.HasPrefix(set.Texts[i].Body, text.Body) {
				t.Errorf("bound to %d: %q", most, text.Body)
			}
			if !whole && text.Body != "" {
				t.Errorf("bound to %d, %s has %d bytes, and a nearer text is cut", most, text.Path, len(text.Body))
			}
			whole = whole && text.Cut() == 0
		}
	}
	if set.Size() != 1770 {
		t.Errorf("the set itself was cut to %d", set.Size())
	}
	shown := func(name string) string { return name }
	text := set.Bound(100).Write(shown, false)
	const out = "Left out, since all would be more than 100 bytes; read them where they matter: /u\n"
	const cut = "[cut here: 672 of 700 bytes are left out; read the file for the rest]\n</instructions>\n"
	if !strings.HasPrefix(text, out) || !strings.Contains(text, cut) {
		t.Errorf("it reads\n%s", text)
	}
	if text := (instruction.Set{}).Write(shown, true); text != "" {
		t.Errorf("nothing reads %q", text)
	}
}

// FuzzTexts holds the parsers to what they say of places, whatever the text is.
func FuzzTexts(f *testing.F) {
	for _, seed := range []string{
		"@a.md `@b` ```\n", "---\napplyTo: '**/*.{a,b}',c\n---\n@x", "@@ @\x00 @a@b\n", "----\n---\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, i := range instruction.Imports(text) {
			if i.Start < last || i.End > len(text) || text[i.Start:i.End] != "@"+i.Name {
				t.Errorf("%+v is not in the text behind %d", i, last)
			}
			last = i.End
			i.Resolve("/a/b.md", "/u")
		}
		s := instruction.ScopeOf(text)
		if s.Body > len(text) {
			t.Errorf("the body begins at %d of %d", s.Body, len(text))
		}
		for _, g := range s.Globs {
			if g.Text == "" || text[g.Start:g.End] != g.Text {
				t.Errorf("%+v is not in the text", g)
			}
			g.Matches("a/b.go")
		}
		b, _ := book(map[string]string{"/a/AGENTS.md": text, "/a/CLAUDE.md": "@AGENTS.md " + text})
		set := b.For("/a/x/y.go")
		for _, most := range []int{0, len(text) / 2, len(text) * 3} {
			if bound := set.Bound(most); bound.Size() > most && most > 0 {
				t.Errorf("bound to %d it has %d", most, bound.Size())
			}
		}
		out := set.Write(func(name string) string { return name }, true)
		opened, closed := strings.Count(out, "<instructions file="), strings.Count(out, "</instructions>")
		if len(set.Texts) != closed || opened < closed {
			t.Errorf("%d blocks of %d texts: %s", closed, len(set.Texts), out)
		}
	})
}
