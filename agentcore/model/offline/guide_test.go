package offline

import (
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/model"
)

// TestGuide: an agent that brings agentls's documentation along answers from it, by whole paragraphs, and calls
// nothing.
func TestGuide(t *testing.T) {
	const system = "You explain agentls.\n\n<skill name=\"agentls\">\n(from builtin)\n\n# agentls\n\nA server for " +
		"agents, with trust.\n\n" +
		"## Agents\n\nA definition is Markdown:\n\n```markdown\n---\nname: x\n\n---\n```\n\n- `tools`: what it " +
		"may use\n\n" +
		"## Trust\n\nA folder is trusted by `agentls trust`.\n\nAgents of a project need " +
		"it.\n</skill>\n\n<environment>\nrole: guide, depth 0 of 3\n</environment>"
	for _, test := range []struct {
		question  string
		has, lack []string
	}{
		{
			"How do I write an agent?",
			[]string{
				"## Agents\n\nA definition is Markdown:\n\n```markdown\n---\nname: x\n\n---\n```", "- `tools`",
				"It is also about: agentls, Trust.",
			},
			[]string{"A folder is", "A server"},
		},
		{
			"how is a folder trusted?",
			[]string{"## Trust\n\nA folder is trusted", "Agents of a project"},
			[]string{"A definition"},
		},
		{"What do markdown definitions need?", []string{"A definition is Markdown"}, []string{"A folder is"}},
		{"zebras?", []string{"none of these words", "agentls, Agents, Trust"}, []string{"##"}},
	} {
		next := answer(&model.Request{System: system, Messages: []model.Message{model.UserText(test.question)}})
		if len(next.calls) > 0 || !strings.Contains(next.text, noModel) {
			t.Errorf("%s: it calls %v and says %q", test.question, next.calls, next.text)
		}
		for _, text := range test.has {
			if !strings.Contains(next.text, text) {
				t.Errorf("%s: %q is not in\n%s", test.question, text, next.text)
			}
		}
		for _, text := range test.lack {
			if strings.Contains(next.text, text) {
				t.Errorf("%s: %q is in\n%s", test.question, text, next.text)
			}
		}
	}
}
