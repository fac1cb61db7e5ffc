package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/agent"
)

const unseenHead = "---\nname: x\ndescription: Does.\ncategory: primary\n---\n"

// unseenProblems are the problems of a text about characters that cannot be seen.
func unseenProblems(name, text string) []agent.Problem {
	file := agent.Parse(name, text)
	file.Validate(agent.Known{})
	var list []agent.Problem
	for _, p := range file.Problems {
		if strings.Contains(p.Message, "cannot be seen") {
			list = append(list, p)
		}
	}
	return list
}

func TestHiddenCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"You work.\n": "", "You work 👩\u200d💻 ❤\ufe0f.\n": "", "\ttabs\r\nare fine\n": "",
		"You work.\U000e0052\U000e0075\U000e006e\n": "You work.\n", "safe \u202e elif\n": "safe  elif\n",
		"zero\u200bwidth\n": "zerowidth\n", "back\bspace\n": "backspace\n",
	} {
		list := unseenProblems("x.md", unseenHead+text)
		if len(list) > 1 || (len(list) == 1) != (want != "") {
			t.Errorf("%q: %v", text, list)
			continue
		}
		if want == "" {
			continue
		}
		p := list[0]
		if p.Hint == "" || p.Fix == nil || p.Fix.New != "" || p.Span != p.Fix.Span || p.Span.StartLine != 5 ||
			p.Span.EndLine != 5 {
			t.Errorf("%q: %+v", text, p)
			continue
		}
		if got := text[:p.Span.StartColumn] + text[p.Span.EndColumn:]; got != want {
			t.Errorf("%q is mended to %q", text, got)
		}
	}
	if got := unseenProblems("x.md", unseenHead+strings.Repeat("a\u200b", 1000)); len(got) != 50 {
		t.Errorf("%d warnings", len(got))
	}
	// Escapes hide them from a reader of the file, too.
	for key, text := range map[string]string{
		"prompt":      `{"agents": [{"name": "x", "category": ["primary"], "description": "Does.", "prompt": "Do.\u200b"}]}`,
		"description": `{"agents": [{"name": "x", "category": ["primary"], "description": "Does.\u200b", "prompt": "Do."}]}`,
	} {
		if got := unseenProblems("agents.json", text); len(got) != 1 || got[0].Key != key || got[0].Fix != nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestHiddenCharactersOfAProject: what a project's definitions hide from their reader reaches no model; the user's own
// stay as they are.
func TestHiddenCharactersOfAProject(t *testing.T) {
	const text = "---\nname: x\ndescription: Do\u200bes.\ncategory: primary\nprompt_file: p.txt\nreminder: " +
		"Re\u202emember.\nvariables:\n  a: b\U000e0041\n---\n"
	for _, layer := range []agent.Layer{agent.LayerProject, agent.LayerUser} {
		dir := t.TempDir()
		for name, content := range map[string]string{
			"agents/x.md":  text,
			"agents/p.txt": "You work.\U000e0052\U000e0075\U000e006e",
		} {
			if err := os.MkdirAll(filepath.Join(dir, "agents"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var loader agent.Loader
		registry, err := loader.Load(t.Context(), []agent.Folders{{Layer: layer, Dir: dir, Format: agent.Native}},
			agent.Known{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := registry.Find("x")
		if err != nil {
			t.Fatalf("%v; %v", err, registry.Problems())
		}
		clean := d.Description == "Does." && d.Prompt == "You work." && d.Reminder == "Remember." &&
			d.Variables["a"] == "b"
		if clean != (layer == agent.LayerProject) {
			t.Errorf("%s: %+q %+q %+q %+q", layer, d.Description, d.Prompt, d.Reminder, d.Variables)
		}
		if problems := registry.Problems(); len(problems) == 0 {
			t.Errorf("%s: nobody is warned", layer)
		}
	}
}
