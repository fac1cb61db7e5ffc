package agentcore_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/model/script"
)

// TestMarkdownNests: an exported session has the tree of its runs as its headings, whatever Markdown the runs have
// written.
func TestMarkdownNests(t *testing.T) {
	define := func(slug string, categories []agent.Category, subagents ...string) *agent.Definition {
		return &agent.Definition{
			Slug: slug, Description: "d", Categories: categories, Mode: agent.Agentic,
			Instruction: agent.Instruction{Prompt: "You do."}, Tools: []string{"task", "read"}, Subagents: subagents,
		}
	}
	w := newWorld(t, nil)
	w.with(script.New("test",
		script.Turn{Match: "Go.", Answer: []script.Step{
			script.Text("# Mine\n\n```go\n# no heading\n"),
			call("task", `{"subagent_type":"middle","prompt":"Deeper.","description":"first"}`),
		}},
		script.Turn{
			Match:  "Deeper.",
			Answer: []script.Step{call("task", `{"subagent_type":"low","prompt":"Deepest.","description":"second"}`)},
		},
		script.Turn{
			Match: "Deepest.",
			Answer: []script.Step{
				script.Text("## Found\n\nTitle\n===\nOther\n---\n~~~\n```\n# no heading\n~~~\n###### Last"),
			},
		},
		script.Turn{Match: "Deeper.", Answer: []script.Step{script.Text("````\n```\n# no heading\n````\nBack.")}},
		script.Turn{Match: "Go.", Answer: []script.Step{script.Text("Done.")}},
		script.Turn{Match: "Again.", Answer: []script.Step{script.Text("Done again.")}},
	), nil, define("top", []agent.Category{agent.Primary}, "middle", "low"),
		define("middle", []agent.Category{agent.Subagent}, "low"), define("low", []agent.Category{agent.Subagent}))
	w.wait(w.start(agentcore.RunRequest{Agent: "top", Prompt: "Go."}))
	w.wait(w.start(agentcore.RunRequest{Agent: "top", Prompt: "Again."}))
	var text bytes.Buffer
	if err := w.engine.History().Markdown(w.ctx, w.session.ID, &text); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"# test", "## top: Go.", "### User", "### Assistant", "#### Mine", "### Assistant",
		"### middle: first", "#### User", "#### Assistant", "#### Assistant",
		"#### low: second", "##### User", "##### Assistant", "###### Found", "###### Last",
		"## top: Again.", "### User", "### Assistant",
	}
	var got []string
	open := ""
	for line := range strings.Lines(text.String()) {
		line = strings.TrimSuffix(line, "\n")
		switch ticks := line[:len(line)-len(strings.TrimLeft(line, "`~"))]; {
		case open != "":
			if strings.HasPrefix(line, open) && strings.Trim(line, "`~") == "" {
				open = ""
			}
		case len(ticks) >= 3:
			open = ticks
		case strings.HasPrefix(line, "#"):
			got = append(got, line)
		}
	}
	if open != "" || !slices.Equal(got, want) {
		t.Errorf("the headings are\n%s\nof\n%s", strings.Join(got, "\n"), text.String())
	}
	for _, part := range []string{"Title\n\\===\nOther\n\n---\n", "```go\n# no heading\n```\n"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("%q is not in\n%s", part, text.String())
		}
	}
}
