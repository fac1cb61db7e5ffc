package outline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var kinds = map[Kind]string{
	Nothing: "nothing", Key: "key", Value: "value", Header: "header", Text: "text", Body: "body",
}

// describe shows a place: its kind, path, word in its quotes, and the taken keys.
func describe(o *Outline, p Place) string {
	text := kinds[p.Kind] + " " + strings.Join(p.Path, ".") + " "
	if p.Quoted {
		text += "quoted "
	}
	text += "<" + p.Word.In(o.Text) + ">"
	if len(p.Taken) > 0 {
		text += " " + strings.Join(p.Taken, ",")
	}
	return text
}

// TestAt puts the cursor at each ‸ of a text.
func TestAt(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(string) *Outline
		text string
		want []string
	}{
		{"keys of a frontmatter", Markdown, "---\nname: x\nto‸\n---\nbody\n", []string{"key  <to> name"}},
		{"a key at its end", Markdown, "---\nname‸: x\ntools: a\n---\n", []string{"key  <name> tools"}},
		{"a blank line", Markdown, "---\nname: x\n‸\n---\n", []string{"key  <> name"}},
		{"a frontmatter that does not end", Markdown, "---\nname: x\n‸", []string{"key  <> name"}},
		{
			"a value", Markdown, "---\nmode: ‸\nmodel: an‸thropic/x\n---\n",
			[]string{"value mode <>", "value model <anthropic/x>"},
		},
		{
			"words of a value", Markdown, "---\ntools: read, gr‸ep,‸\n---\n",
			[]string{"value tools <grep>", "value tools <>"},
		},
		{
			"a list in brackets", Markdown, "---\ntools: [read, \"gr‸\", ‸]\n---\n",
			[]string{"value tools quoted <gr>", "value tools <>"},
		},
		{
			"a list in brackets on lines", Markdown, "---\ntools: [\n  read, gr‸\n  ‸\n]\nna‸\n---\n",
			[]string{"value tools <gr>", "value tools <>", "key  <na> tools"},
		},
		{
			"a list of lines", Markdown, "---\ntools:\n  - read\n  - gr‸\n  - ‸\nmo‸\n---\n",
			[]string{"value tools <gr>", "value tools <>", "key  <mo> tools"},
		},
		{
			"a list as little indented as its key", Markdown, "---\ntools:\n- read\n- gr‸\nmo‸\n---\n",
			[]string{"value tools <gr>", "key  <mo> tools"},
		},
		{
			"a list of tables", Markdown, "---\nhooks:\n  - event: x\n    comm‸\n  - ev‸: y\n---\n",
			[]string{"key hooks[] <comm> event", "key hooks[] <ev>"},
		},
		{
			"a table", Markdown, "---\nlimits:\n  max_turns: ‸3\n  ma‸\nn‸\n---\n",
			[]string{"value limits.max_turns <3>", "key limits <ma> max_turns", "key  <n> limits"},
		},
		{
			"a blank line in a table", Markdown, "---\nlimits:\n  max_turns: 3\n  ‸\n‸\n---\n",
			[]string{"key limits <> max_turns", "key  <> limits"},
		},
		{
			"a text of several lines", Markdown, "---\ndescription: |\n  na‸me: x\n\n  more‸\nn‸\n---\n",
			[]string{"text description <name:>", "text description <more>", "key  <n> description"},
		},
		{
			"prose with a colon", Markdown, "---\ndescription: Use it: al‸ways\n---\n",
			[]string{"value description <always>"},
		},
		{"the body", Markdown, "---\nname: x\n---\nYou are {{ag‸}}.\n", []string{"body  <ag>"}},
		{"no frontmatter", Markdown, "na‸me: x\n", []string{"body  <name:>"}},
		{"the fences", Markdown, "-‸--\nname: x\n--‸-\n", []string{"nothing  <>", "nothing  <>"}},
		{
			"Windows lines", Markdown, "---\r\nname: x‸\r\nto‸\r\n---\r\nbo‸dy\r\n",
			[]string{"value name <x>", "key  <to> name", "body  <body>"},
		},
		{"comments", Markdown, "---\n# na‸me: x\n---\n", []string{"nothing  <>"}},

		{
			"top keys", TOML, "default_agent = \"coder\"\nma‸\n‸",
			[]string{"key  <ma> default_agent", "key  <> default_agent"},
		},
		{"a value that is missing", TOML, "mode = ‸\nx =‸\n", []string{"value mode <>", "value x <>"}},
		{"a string", TOML, "mode = \"ag‸\"\nother = '‸", []string{"value mode quoted <ag>", "value other quoted <>"}},
		{"keys of a table", TOML, "[limits]\nmax_turns = 3\nma‸\n", []string{"key limits <ma> max_turns"}},
		{
			"dotted keys", TOML, "[providers.openai]\nheaders.x = 1\nki‸nd = \"‸\"\n",
			[]string{"key providers.openai <kind>", "value providers.openai.kind quoted <>"},
		},
		{
			"headers", TOML, "[pro‸]\n[[ag‸ents]]\n[a.b‸]\n",
			[]string{"header  <pro>", "header  <agents>", "header a <a.b>"},
		},
		{
			"a list of tables", TOML, "[[agents]]\nname = \"a\"\n[[agents]]\nti‸\n[agents.limits]\nma‸\n",
			[]string{"key agents[] <ti>", "key agents[].limits <ma>"},
		},
		{"a list", TOML, "tools = [\"read\", \"gr‸\", ‸]\n", []string{"value tools quoted <gr>", "value tools <>"}},
		{
			"a list on lines", TOML, "tools = [\n  \"re‸ad\", # a ‸comment\n  ‸\n]\nna‸",
			[]string{"value tools quoted <read>", "nothing  <comment>", "value tools <>", "key  <na> tools"},
		},
		{
			"a list that is not closed", TOML, "tools = [\"re‸\nname = \"‸x\"\n",
			[]string{"value tools quoted <re>", "value name quoted <x>"},
		},
		{
			"a list that is not closed before a table", TOML, "tools = [\n\"re\",\n[limits]\nma‸x = 1\n",
			[]string{"key limits <max>"},
		},
		{
			"a table in braces", TOML, "limits = { max_turns = ‸3, ma‸ }\n",
			[]string{"value limits.max_turns <3>", "key limits <ma> max_turns"},
		},
		{
			"tables in a list", TOML, "permission = [{ to‸ol = \"ba‸\" }]\n",
			[]string{"key permission[] <tool>", "value permission[].tool quoted <ba>"},
		},
		{
			"a text of several lines", TOML, "prompt = \"\"\"\nname = ‸\n{{a‸\n\"\"\"\nna‸\n",
			[]string{"text prompt <>", "text prompt <a>", "key  <na> prompt"},
		},

		{"keys of an object", JSON, "{\"name\": \"x\", \"to‸\", ‸}", []string{"key  quoted <to> name", "key  <> name"}},
		{
			"objects in an object", JSON, "{\"a\": {\"b\": [\"c‸\", ‸], \"d‸\": 1}}",
			[]string{"value a.b quoted <c>", "value a.b <>", "key a quoted <d> b"},
		},
		{
			"objects in a list", JSON, "{\"agents\": [{\"name\": \"x\"}, {\"to‸\"}]}",
			[]string{"key agents[] quoted <to>"},
		},
		{"a list at the top", JSON, "[{\"name\": ‸}]", []string{"value [].name <>"}},
		{
			"what is not closed", JSON, "{\"a\": {\"b\": [\"c‸\n\"d\": \"e‸",
			[]string{"value a.b quoted <c>", "value a.b quoted <e>"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			parts := strings.Split(test.text, "‸")
			o := test.make(strings.Join(parts, ""))
			var got []string
			offset := 0
			for _, part := range parts[:len(parts)-1] {
				offset += len(part)
				got = append(got, describe(o, o.At(offset)))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the places differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNodes(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(string) *Outline
		text string
		want []string
	}{
		{
			"Markdown", Markdown,
			"---\nname: \"x\" \nlimits:\n  \"max_turns\": 3\ntools:\n - read\n - a: b\n---\nbody",
			[]string{
				`name name="\"x\""`, `limits limits=""`, `limits.max_turns max_turns="3"`, `tools tools=""`,
				`tools[].a a="b"`,
			},
		},
		{"TOML", TOML, "a = 1 # one\n[b.c]\nd = [\n 1,\n]\n\n[[e]]\n'f' = {g.h = \"i\"}\n", []string{
			`a a="1"`, `b.c b.c="]\nd = [\n 1,\n]"`, `b.c.d d="[\n 1,\n]"`, `e[] e="]]\n'f' = {g.h = \"i\"}"`,
			`e[].f f="{g.h = \"i\"}"`, `e[].f.g.h g.h="\"i\""`,
		}},
		{
			"JSON", JSON, "{\"a\": [1, {\"b\": \"c\"}], // d\n \"e\": true}",
			[]string{`a a="[1, {\"b\": \"c\"}]"`, `a[].b b="\"c\""`, `e e="true"`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := test.make(test.text)
			var got []string
			for _, n := range o.Nodes {
				path := strings.Join(n.Path, ".")
				got = append(got, fmt.Sprintf("%s %s=%q", path, n.Name.In(o.Text), n.Value.In(o.Text)))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the nodes differ (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzOutline shows that any text has an outline whose spans lie in it.
func FuzzOutline(f *testing.F) {
	for _, seed := range []string{
		"", "---", "---\n", "---\na: [b\n- c: {d\n---\ne", "a = [\"\n[b]\n{c = \"\"\"", "{\"a\": [{\"b\": \"c\\",
		"---\n- - a: b\n  \"c", "[[a]]\n[a.b]\nc.d={e=", "\uFEFF---\na: |\n b\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4<<10 {
			return
		}
		for _, make := range []func(string) *Outline{Markdown, TOML, JSON} {
			o := make(text)
			within := func(s Span) {
				if s.Start < 0 || s.End < s.Start || s.End > len(text) {
					t.Fatalf("the span %v is not in a text of %d bytes", s, len(text))
				}
			}
			for _, n := range o.Nodes {
				within(n.Name)
				within(n.Value)
				if len(n.Path) == 0 {
					t.Fatal("a node without a path")
				}
			}
			for offset := range len(text) + 1 {
				p := o.At(offset)
				within(p.Word)
				if !p.Word.Has(offset) {
					t.Fatalf("the word %v is not around %d", p.Word, offset)
				}
			}
		}
	})
}
