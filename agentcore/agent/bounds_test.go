package agent_test

import (
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/agent"
)

// TestLostBounds: a key that bounds an agent and is lost, whatever the reason, is an error, and never an agent that may do everything.
func TestLostBounds(t *testing.T) {
	for name, head := range map[string]string{
		"plain text goes on":           "description: Reviews code\n  tools: Read, Grep\n",
		"a block goes on":              "description: |\n  Reviews code\n  tools: [Read]\n",
		"a folded block goes on":       "description: >-\n  Reviews code\n\n  disallowedTools: Bash\n",
		"a quoted text goes on":        "description: \"Reviews code\n  tools: Read\"\n",
		"a list goes on":               "description: d\nskills:\n  - go-style\n  tools: Read\n",
		"it is indented with a tab":    "description: d\nmodel: inherit\n\ttools: Read\n",
		"it is below a key of nobody":  "description: d\nmetadata:\n  tools: [Read]\n",
		"another one goes on":          "description: d\n  permissionMode: plan\n",
		"it is misspelt":               "description: d\ntolls: [Read]\n",
		"it has another letter's case": "description: d\nTools: [Read]\n",
		"it is that of skills":         "description: d\nallowed-tools: Read\n",
		"a misspelt permission_mode":   "description: d\npermision_mode: plan\n",
	} {
		for _, path := range []string{".claude/agents/x.md", ".opencode/agent/x.md", ".agentls/agents/x.md"} {
			for _, end := range []string{"\n", "\r\n"} {
				text := "---\nname: x\n" + head + "---\nReview it.\n"
				if strings.Contains(path, "agentls") {
					text = strings.Replace(text, "name: x\n", "name: x\ncategory: [subagent]\n", 1)
				}
				f := agent.Parse(path, strings.ReplaceAll(text, "\n", end))
				f.Validate(known())
				for _, d := range f.Usable() {
					if d.Allows("bash") && d.PermissionMode == "" {
						t.Errorf("%s, %s: it is usable with all tools; %v", name, path, f.Problems)
					}
				}
				for _, p := range f.Problems {
					if p.Fix != nil && strings.HasPrefix(p.Fix.Title, "Begin") {
						lines := strings.SplitAfter(strings.ReplaceAll(text, "\n", end), "\n")
						line := lines[p.Fix.Span.StartLine]
						lines[p.Fix.Span.StartLine] = line[:p.Fix.Span.StartColumn] + p.Fix.New + line[p.Fix.Span.EndColumn:]
						mended := agent.Parse(path, strings.Join(lines, ""))
						mended.Validate(known())
						if len(mended.Usable()) != 1 {
							t.Errorf("%s, %s: after its fix it has %v", name, path, mended.Problems)
						}
					}
				}
			}
		}
	}
	for name, head := range map[string]string{
		"an example":               "description: Use it. <example>\n  tools: Read\n  </example>\n",
		"the agent has them, too":  "description: |\n  Reviews code\n  tools: [Read]\ntools: [Read]\n",
		"a server's own":           "description: d\nmcpServers:\n  a:\n    command: a\n    env: {tools: b}\n",
		"a word that is no key":    "description: |\n  Reviews\n  its tools: all of them\n",
		"a comment":                "description: d\n# tools: Read\n",
		"keys that bound nothing":  "description: d\ncolour: blue\n",
		"a prompt with such lines": "description: d\n",
	} {
		f := agent.Parse(".claude/agents/x.md", "---\nname: x\n"+head+"---\nReview it.\n  tools: none\n")
		f.Validate(known())
		if len(f.Usable()) != 1 {
			t.Errorf("%s: %v", name, f.Problems)
		}
	}
}
