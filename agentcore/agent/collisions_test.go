package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore/agent"
)

// expert is a definition as collections have it, whose name is no slug.
func expert(name, keys string) string {
	return "---\nname: " + name + "\ndescription: d\n" + keys + "---\nDo.\n"
}

// told are the problems of one file about other definitions, without the folder.
func told(dir string, list []agent.Problem, file string) []string {
	var texts []string
	for _, p := range list {
		if p.Beside && strings.HasSuffix(filepath.ToSlash(p.File), file) {
			texts = append(texts, strings.ReplaceAll(filepath.ToSlash(p.String()), filepath.ToSlash(dir)+"/", ""))
		}
	}
	return texts
}

// TestTwoOfOneSlug: both files are told of each other, by the loader, and while one of them is written.
func TestTwoOfOneSlug(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		".claude/agents/csharp.md": expert(`"C# Expert"`, "aliases: [sharp]\n"),
		".claude/agents/cpp.md":    expert(`"C++ Expert"`, "aliases: [cpp]\n"),
		".claude/agents/rust.md":   expert("rust", ""),
	})
	var l agent.Loader
	r := load(t, &l, agent.StandardFolders("", "", dir))
	hidden := func(file, by string) string {
		return ".claude/agents/" + file + ":2:7: warning: c-expert is also defined in .claude/agents/" + by +
			":2:7, which counts, so this definition is not used; give one of them another name"
	}
	hides := func(file, other string) string {
		return ".claude/agents/" + file + ":2:7: information: c-expert is also defined in .claude/agents/" + other +
			":2:7, which is not used, since this one counts; give one of them another name"
	}
	expect := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", what, got, want)
		}
	}
	expect("the hidden file", told(dir, r.Problems(), "cpp.md"), hidden("cpp.md", "csharp.md"))
	expect("the file that counts", told(dir, r.Problems(), "csharp.md"), hides("csharp.md", "cpp.md"))

	live := func(name, text string) []string {
		file := agent.Parse(filepath.Join(dir, ".claude/agents", name), text)
		file.Validate(agent.Known{Registry: r})
		return told(dir, file.Problems, name)
	}
	expect("the hidden file, open", live("cpp.md", expert(`"C++ Expert"`, "")), hidden("cpp.md", "csharp.md"))
	expect("the file that counts, open", live("csharp.md", expert(`"C# Expert"`, "")), hides("csharp.md", "cpp.md"))
	expect("a file with another name by now", live("cpp.md", expert("cpp", "")))
	expect("a file that takes the name", live("rust.md", expert("C-Expert", "")),
		hides("rust.md", "csharp.md"), hides("rust.md", "cpp.md"))

	// Files that nothing loads are seen beside each other where they are of one project, or of none.
	elsewhere := func(name, text string) *agent.File {
		return agent.ParseAs(agent.Claude, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	files := []*agent.File{
		elsewhere("new/a.md", expert("one", "")), elsewhere("new/b.md", expert("One", "aliases: [two]\n")),
		elsewhere("p/.claude/agents/c.md", expert("one", "")), elsewhere("q/.claude/agents/d.md", expert("one", "")),
	}
	with := r.Including(files...)
	for _, f := range files {
		f.Validate(agent.Known{Registry: with})
	}
	expect("the first", told(dir, files[0].Problems, "a.md"),
		"new/a.md:2:7: warning: one is also defined in new/b.md:2:7, which counts, so this definition is not used; "+
			"give one of them another name")
	expect("of one project", told(dir, files[2].Problems, "c.md"))
	expect("of another project", told(dir, files[3].Problems, "d.md"))
}

// TestAnyDefinitionsBesideEachOther: whatever is defined beside whatever else, each name leads to one definition, and
// who is hidden by another one of its layer is told of it.
func TestAnyDefinitionsBesideEachOther(t *testing.T) {
	top := t.TempDir()
	names := []string{
		`"C# Expert"`, `"C++ Expert"`, "c-expert", "c", "tester", "Tester", "coder", "x", `"  "`, `"#"`, "ünï", `""`,
	}
	places := []struct{ dir, format string }{
		{"home/.claude/agents", "md"},
		{"home/.opencode/agent", "md"},
		{"config/agents", "md"},
		{"config/plugins/one/agents", "md"},
		{"p/.claude/agents", "md"},
		{"p/.agentls/agents", "md"},
		{"p/.agentls", "agents.toml"},
	}
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		dir := filepath.Join(top, fmt.Sprint(round))
		name := rapid.SampledFrom(names)
		list := func(label string) string {
			return "[" + strings.Join(rapid.SliceOfN(name, 0, 3).Draw(t, label), ", ") + "]"
		}
		files := map[string]string{}
		for i := range rapid.IntRange(0, 8).Draw(t, "files") {
			where := rapid.SampledFrom(places).Draw(t, "place")
			of, aliases, subagents := name.Draw(t, "name"), list("aliases"), list("subagents")
			if where.format != "md" {
				files[where.dir+"/"+where.format] += "[[agents]]\nname = '" + strings.Trim(of, `"`) +
					"'\ndescription = 'd'\ncategory = 'subagent'\nprompt = 'p'\n"
				continue
			}
			category := "category: [subagent]\n"
			if strings.Contains(where.dir, ".claude") || strings.Contains(where.dir, ".opencode") {
				category = ""
			}
			files[fmt.Sprintf("%s/f%d.md", where.dir, i)] = "---\nname: " + of + "\ndescription: d\n" + category +
				"aliases: " + aliases + "\nsubagents: " + subagents + "\n---\nDo.\n"
		}
		for path, text := range files {
			path = filepath.Join(dir, filepath.FromSlash(path))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var l agent.Loader
		at := func(name string) string { return filepath.Join(dir, name) }
		k := known()
		r, err := l.Load(t.Context(), agent.StandardFolders(at("config"), at("home"), at("p")), k)
		if err != nil {
			t.Fatal(err)
		}
		holds(t, r)
		atRunTime := agent.Source{Layer: agent.LayerRuntime}
		holds(t, r.With(&agent.Definition{Slug: "c-expert", Source: atRunTime, Aliases: []string{"", "c"}}))
		var checked []*agent.File
		for path, text := range files {
			checked = append(checked, agent.Parse(at(path), text))
		}
		with := r.Including(checked...)
		k.Registry, k.Agents = with, with.Names()
		for _, f := range checked {
			f.Validate(k)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	})
}

// holds holds a registry against what everybody relies on.
func holds(t *rapid.T, r *agent.Registry) {
	for _, name := range r.Names() {
		if d, err := r.Find(name); err != nil || d == nil {
			t.Fatalf("%q leads to %v, %v", name, d, err)
		}
	}
	warned := map[string]bool{}
	for _, p := range r.Problems() {
		if p.Hides() {
			warned[p.File] = true
		}
	}
	for _, d := range r.All() {
		if found, err := r.Find(d.Slug); err != nil || found != d {
			t.Fatalf("the slug %q leads to %v, %v", d.Slug, found, err)
		}
		for _, hidden := range r.Shadows(d.Slug) {
			if hidden.Layer == d.Source.Layer && !warned[hidden.Path] {
				t.Fatalf("%s hides %s, and nothing is said of it: %v", d.Source, hidden, r.Problems())
			}
		}
	}
}

// TestOneSlugTwiceInAFile: the first definition counts, and is told nothing else; the second is told of it, with each
// name once.
func TestOneSlugTwiceInAFile(t *testing.T) {
	text := "[[agents]]\nname = 'x'\ncategory = 'primary'\ndescription = 'd'\nprompt = 'p'\naliases = ['X', 'y']\n" +
		"[[agents]]\nname = 'x'\ncategory = 'primary'\ndescription = 'd'\nprompt = 'p'\nsubagents = ['unheard-of']\n"
	f := agent.Parse("/p/.agentls/agents.toml", text)
	r := agent.NewRegistry(&agent.Definition{Slug: "explore", Aliases: []string{"Explore"}}).Including(f)
	k := known()
	k.Registry, k.Agents = r, r.Names()
	f.Validate(k)
	var got []string
	for _, p := range f.Problems {
		got = append(got, p.String())
	}
	want := []string{
		"/p/.agentls/agents.toml:8:8: error: there is already an agent x in this file; give one of them another name",
		`/p/.agentls/agents.toml:12:14: error: there is no agent "unheard-of"; the agents are explore, x, y`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if d, err := r.Find("x"); err != nil || d != f.Usable()[0] {
		t.Errorf("x is %v, %v", d, err)
	}
}
