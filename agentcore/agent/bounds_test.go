package agent_test

import (
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/agent"
)

// TestLostBounds: a key that bounds an agent and is lost, whatever the reason, is an error, and never an agent that may
// do everything.
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
						lines[p.Fix.Span.StartLine] = line[:p.Fix.Span.StartColumn] + p.Fix.New +
							line[p.Fix.Span.EndColumn:]
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

// TestValuesThatNobodyTakes tells of what a provider would refuse, and of what no editor can show.
func TestValuesThatNobodyTakes(t *testing.T) {
	const is = "x for=[subagent] "
	head := func(keys string) string {
		return "---\nname: x\ndescription: d\ncategory: subagent\n" + keys + "---\nDo.\n"
	}
	run(t, ".agentls/agents/x.md", []formatTest{
		{"the largest temperature", "", head("temperature: 2\n"), is + "temperature=2 | d | Do.\n"},
		{
			"a larger one", "", head("temperature: 9\n"),
			"unusable " + is + "| d | Do.\n5:14-5:15 error temperature: temperature is \"9\"\n",
		},
		{
			"one of inline settings", "", head("model: {provider: openai, model: m, temperature: 2.1}\n"),
			"unusable " + is + "model=openai/m | d | Do.\n5:50-5:53 error temperature: temperature is \"2.1\"\n",
		},
		{"a color by name", "", head("color: Purple\n"), is + "color=Purple | d | Do.\n"},
		{"a color in digits", "", head("color: '#8B5CF6'\n"), is + "color=#8B5CF6 | d | Do.\n"},
		{
			"no color", "", head("color: plaid\n"),
			is + "| d | Do.\n5:8-5:13 warning color: color is \"plaid\", which cannot be shown\n",
		},
		{
			"a misspelt color", "", head("color: gren\n"),
			is +
				"| d | Do.\n5:8-5:12 warning color: color is \"gren\", which cannot be shown [Replace \"gren\" by " +
				"\"green\": 5:8-5:12 \"green\"]\n",
		},
		{
			"too few digits", "", head("color: '#8B5'\n"),
			is + "| d | Do.\n5:8-5:14 warning color: color is \"#8B5\", which cannot be shown\n",
		},
		{
			"a color of another tool's theme", ".opencode/agent/x.md",
			"---\ndescription: d\nmode: subagent\ncolor: accent\n---\nDo.\n",
			is + "| d | Do.\n4:8-4:14 information color: color is \"accent\", which cannot be shown\n",
		},
	})
}

// TestWhatIsSaidOfToolsThatAreNotThere: whoever delegates needs the tool for it, and options are of tools that the
// agent has.
func TestWhatIsSaidOfToolsThatAreNotThere(t *testing.T) {
	const is, lacks = "x for=[subagent] ", "the agent cannot delegate: its tools lack task\n"
	const idle = "these options change nothing: the agent has no tool "
	head := func(keys string) string {
		return "---\nname: x\ndescription: d\ncategory: subagent\n" + keys + "---\nDo.\n"
	}
	run(t, ".agentls/agents/x.md", []formatTest{
		{
			"may delegate", "", head("can_delegate: true\ntools: [read, Agent]\n"),
			is + "tools=[read task] to=[*] | d | Do.\n",
		},
		{"may delegate with all tools", "", head("can_delegate: true\n"), is + "to=[*] | d | Do.\n"},
		{
			"may not, and cannot", "", head("can_delegate: false\ntools: [read]\n"),
			is + "tools=[read] to=[] | d | Do.\n",
		},
		{
			"may, and cannot", "", head("can_delegate: true\ntools: [read]\n"),
			is + "tools=[read] to=[*] | d | Do.\n5:15-5:19 warning can_delegate: " + lacks,
		},
		{
			"to some, and cannot", "", head("tools: [read]\nsubagents: [tester, explore]\n"),
			is + "tools=[read] to=[tester explore] | d | Do.\n6:13-6:19 warning subagents: " + lacks,
		},
		{
			"taken away", "", head("can_delegate: true\ndisallowed_tools: [Task]\n"),
			is +
				"not=[task] to=[*] | d | Do.\n5:15-5:19 warning can_delegate: the agent cannot delegate: " +
				"task is taken " +
				"away from its tools\n",
		},
		{
			"without tools", "", head("can_delegate: true\nmode: single_shot\n"),
			is +
				"mode=single_shot to=[*] | d | Do.\n5:15-5:19 warning can_delegate: the agent cannot " +
				"delegate: in the " +
				"mode single_shot it has no tools\n",
		},
		{
			"of a role", "x.agents.json",
			`{"RoleId": "x", "SystemPrompt": "p", "CanDelegate": true, "Tools": {"Mode": "OnlyThese", "ToolList": ["read"]}}`,
			"x for=[primary subagent] tools=[read] to=[*] | x | p\n1:53-1:57 warning CanDelegate: " + lacks,
		},
		{
			"options", "",
			head(
				"tools: [read, grep]\ntool_options: {Read: {output_limit: 9}, gr*: {timeout: 1s}, mcp__a__b: " +
					"{timeout: 1s}}\n"), is +
				"tools=[read grep] options=3 | d | Do.\n6:61-6:70 warning tool_options.mcp__a__b: " + idle +
				"mcp__a__b\n",
		},
		{
			"options of others", "", head("tools: [read]\ntool_options: {bash: {timeout: 1s}, web*: {timeout: 1s}}\n"),
			is + "tools=[read] options=3 | d | Do.\n6:16-6:20 warning tool_options.bash: " + idle +
				"bash\n6:37-6:41 warning tool_options.web*: " + idle + "web*\n",
		},
		{
			"options of a server's tool", "", head("tools: [mcp__a__*]\ntool_options: {mcp__a__b: {timeout: 1s}}\n"),
			is + "tools=[mcp__a__*] options=1 | d | Do.\n",
		},
		{
			"options of all of a server's", "", head("tool_options: {mcp__a__*: {timeout: 1s}}\n"),
			is + "| d | Do.\n5:16-5:25 warning tool_options.mcp__a__*: " + idle + "mcp__a__*\n",
		},
	})
	f := agent.Parse("x.md", head("tool_options: {'*': {output_limit: 9}, read: {output_limit: 8}}\n"))
	f.Validate(known())
	if o := f.Definitions[0].ToolOptions; len(f.Problems) > 0 || o["grep"].OutputLimit != 9 ||
		o["read"].OutputLimit != 8 {
		t.Errorf("options of all tools are %v, %v", o, f.Problems)
	}
}
