package agent_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/agent"
)

// TestGuessedForms: a file that has no category, but the keys of another tool's, is read as that tool reads it, in
// whatever folder it lies.
func TestGuessedForms(t *testing.T) {
	for name, test := range map[string]struct {
		text   string
		format agent.Format
		usable string // the categories, "" for none
	}{
		"Claude Code's": {
			"---\nname: Code Reviewer\ndescription: Reviews: code\ntools: read_file, Fly\nmodel: sonnet\nskills: " +
				"go-style\n---\nReview it.\n", agent.Claude, "[subagent]",
		},
		"Claude Code's, with others": {
			"---\nname: x\ndescription: d\nversion: 1\nmaxTurns: 3\n---\nDo.\n",
			agent.Claude, "[subagent]",
		},
		"opencode's": {
			"---\ndescription: d\nmode: all\ntools: {write: false}\n---\nDo.\n",
			agent.OpenCode, "[primary subagent]",
		},
		"ours, without a category": {"---\nname: x\ndescription: d\nreminder: r\n---\nDo.\n", agent.Native, ""},
		"ours, by its prompt":      {"---\nname: x\ndescription: d\n---\nDo {{task}}.\n", agent.Native, ""},
		"ours, by its mode":        {"---\nname: x\ndescription: d\nmode: planning\n---\nDo.\n", agent.Native, ""},
		"ours": {
			"---\nname: x\ndescription: d\ncategory: primary\ntools: read\n---\nDo.\n",
			agent.Native, "[primary]",
		},
	} {
		for _, path := range []string{".agentls/agents/x.md", "notes/x.md"} {
			f := agent.Parse(path, test.text)
			f.Validate(known())
			got := ""
			for _, d := range f.Usable() {
				var words []string
				for _, c := range d.Categories {
					words = append(words, string(c))
				}
				got = "[" + strings.Join(words, " ") + "]"
			}
			if f.Format != test.format || got != test.usable {
				t.Errorf("%s, %s: it is of %s, for %q; %v", name, path, f.Format, got, f.Problems)
			}
			told := slices.ContainsFunc(f.Problems,
				func(p agent.Problem) bool { return p.Key == "category" && p.Fix != nil })
			if told != test.format.Foreign() {
				t.Errorf("%s, %s: that it was guessed is told: %v; %v", name, path, told, f.Problems)
			}
		}
	}
}

// TestPromptsBesideDefinitions: a file that a definition takes its prompt from is none itself, in any tool's folder.
func TestPromptsBesideDefinitions(t *testing.T) {
	for format, name := range map[agent.Format]string{
		agent.Native: ".agentls", agent.Claude: ".claude",
		agent.OpenCode: ".opencode",
	} {
		dir := filepath.Join(t.TempDir(), name)
		agents := filepath.Join(dir, "agents")
		write := func(name, text string) {
			t.Helper()
			full := filepath.Join(agents, name)
			if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		prompt, other := `"prompt_file": "prompts/x.md"`, `"prompt_file": "own.md"`
		if format == agent.OpenCode {
			prompt, other = `"prompt": "{file:./prompts/x.md}"`, `"prompt": "{file:./own.md}"`
		}
		head := `"description": "d"`
		if format == agent.Native {
			head += `, "category": "subagent"`
		}
		write("x.json", `{"name": "x", `+head+", "+prompt+"}")
		write("y.json", `{"name": "y", `+head+", "+other+"}")
		write("prompts/x.md", "# The prompt\n\nDo it.\n")
		write("own.md", "---\nname: own\ndescription: d\ncategory: [subagent]\n---\nDo.\n")
		write("loose.md", "# Nobody's\n\nDo.\n")
		registry, err := new(agent.Loader).Load(t.Context(),
			[]agent.Folders{{Layer: agent.LayerUser, Dir: dir, Format: format}}, known())
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"own", "x", "y"}
		if format.Foreign() {
			want = append([]string{"loose"}, want...) // other tools take it for an agent
		}
		if got := slugs(registry); !slices.Equal(got, want) {
			t.Errorf("%s has the agents %v, not %v; %v", name, got, want, registry.Problems())
		}
		for _, p := range registry.Problems() {
			if strings.Contains(p.File, "prompts") {
				t.Errorf("%s: %v", name, p)
			}
		}
		k := known()
		k.Registry = registry
		f, _ := agent.ReadFile(filepath.Join(agents, "prompts", "x.md"), nil)
		if f.Validate(k); len(f.Problems) > 0 || len(f.Definitions) > 0 {
			t.Errorf("%s: the prompt alone has %v, %v", name, f.Definitions, f.Problems)
		}
	}
}

// slugs are the agents of a registry that come from files, sorted.
func slugs(r *agent.Registry) (list []string) {
	for _, d := range r.All() {
		if d.Source.Layer != agent.LayerBuiltin {
			list = append(list, d.Slug)
		}
	}
	slices.Sort(list)
	return list
}
