package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/tool"
)

// known is what the definitions of these tests may name.
func known() agent.Known {
	return agent.Known{
		Tools:       slices.Collect(tool.Names()),
		ResolveTool: tool.Resolve,
		Skills:      []string{"go-style"},
		Presets:     []string{"fast"},
		Providers:   []string{"anthropic", "openai"},
		Agents:      []string{"explore", "tester", "Explore"},
		Variables:   []string{"team"},
	}
}

// shown is a definition in short: what differs from the defaults.
func shown(d *agent.Definition) string {
	var b strings.Builder
	say := func(name string, value any, is bool) {
		if is {
			fmt.Fprintf(&b, "%s=%v ", name, value)
		}
	}
	b.WriteString(d.Slug + " ")
	say("id", d.ID, d.ID != "")
	say("title", d.Title, d.Title != d.Slug)
	say("for", d.Categories, true)
	say("mode", d.Mode, d.Mode != agent.Agentic)
	say("model", d.Model, d.Model != "")
	if d.Temperature != nil {
		say("temperature", *d.Temperature, true)
	}
	say("max_tokens", d.MaxTokens, d.MaxTokens > 0)
	say("effort", d.Effort, d.Effort != "")
	say("turns", d.Limits.MaxTurns, d.Limits.MaxTurns > 0)
	say("timeout", d.Limits.Timeout, d.Limits.Timeout > 0)
	say("tokens", d.Limits.Tokens, d.Limits.Tokens > 0)
	say("cost", d.Limits.Cost, d.Limits.Cost > 0)
	say("child", d.AsChild,
		d.AsChild.Limits != (agent.Limits{}) || d.AsChild.Agent != "" || len(d.AsChild.Subagents) > 0)
	say("tools", d.Tools, d.Tools != nil)
	say("not", d.DisallowedTools, len(d.DisallowedTools) > 0)
	say("options", len(d.ToolOptions), len(d.ToolOptions) > 0)
	say("to", d.Subagents, d.Subagents != nil)
	say("permissions", d.Permissions, d.Permissions != "")
	say("rules", d.Rules, len(d.Rules) > 0)
	say("permission", d.PermissionMode, d.PermissionMode != "")
	say("context", d.ContextMode, d.ContextMode != "")
	say("reminder", d.Reminder, d.Reminder != "")
	say("skills", d.Skills, d.Skills != nil)
	say("mcp", d.MCPServers, len(d.MCPServers) > 0)
	say("hooks", d.Hooks, len(d.Hooks) > 0)
	say("aliases", d.Aliases, len(d.Aliases) > 0)
	say("icon", d.Icon, d.Icon != "")
	say("color", d.Color, d.Color != "")
	say("order", d.Order, d.Order != 0)
	say("unlisted", d.Unlisted, d.Unlisted)
	say("file", d.PromptFile, d.PromptFile != "")
	say("variables", d.Variables, len(d.Variables) > 0)
	say("bare", d.NoDefaultPrefix, d.NoDefaultPrefix)
	fmt.Fprintf(&b, "| %s | %s", d.Description, d.Prompt)
	return b.String()
}

// reading is what was read from a text: definitions (in short) and problems.
func reading(f *agent.File) string {
	var b strings.Builder
	usable := f.Usable()
	for _, d := range f.Definitions {
		mark := ""
		if !slices.Contains(usable, d) {
			mark = "unusable "
		}
		fmt.Fprintf(&b, "%s%s\n", mark, shown(d))
	}
	for _, p := range f.Problems {
		fix := ""
		if p.Fix != nil {
			fix = fmt.Sprintf(" [%s: %d:%d-%d:%d %q]", p.Fix.Title, p.Fix.Span.StartLine+1,
				p.Fix.Span.StartColumn+1, p.Fix.Span.EndLine+1, p.Fix.Span.EndColumn+1, p.Fix.New)
		}
		fmt.Fprintf(&b, "%d:%d-%d:%d %s %s: %s%s\n", p.Span.StartLine+1, p.Span.StartColumn+1,
			p.Span.EndLine+1, p.Span.EndColumn+1, p.Severity, p.Key, p.Message, fix)
		if p.Hint == "" {
			fmt.Fprintf(&b, "  has no hint\n")
		}
	}
	return b.String()
}

type formatTest struct{ name, path, text, want string }

func TestNative(t *testing.T) {
	head := func(keys string) string {
		return "---\nname: x\ndescription: d\ncategory: [subagent]\n" + keys + "---\nDo.\n"
	}
	const is = "x for=[subagent] "
	run(t, "a/agents/x.md", []formatTest{
		{"everything", "", `---
name: x
id: "1"
title: The X
description: When # not a comment
category: [primary, subagent]
mode: planning
model: openai/gpt-5
temperature: 0.5
max_tokens: 100
effort: low
max_turns: 5
timeout: 1m30s
budget: {tokens: 1000, cost: 0.25}
as_child: {max_turns: 2, timeout: 1m, budget: {tokens: 5}, subagents: [tester], agent: explore}
tools: [Read, read_file, mcp__a__b]
disallowed_tools: Bash, Write
tool_options:
  Read: {output_limit: 10, timeout: 1s, arguments: {limit: 3}}
subagents: [explore]
permissions: planner
rules:
  - {tool: Bash, pattern: git *, action: ask}
permission_mode: plan
context: summary
reminder: Read only.
skills: [go-style]
mcp_servers:
  a: {command: run, args: [x], env: {K: v}}
  b: {url: "http://localhost"}
hooks:
  Stop: [{command: [a, b], timeout: 2s}]
  PreToolUse: {matcher: bash, command: a | b}
aliases: [y]
icon: "●"
color: red
order: -1
visible: false
variables: {a: b}
default_prefix: false
---

Do {{a}} for {{team}}.
`, `x id=1 title=The X for=[primary subagent] mode=planning model=openai/gpt-5 temperature=0.5 max_tokens=100 effort=low turns=5 timeout=1m30s tokens=1000 cost=0.25 child={{2 1m0s 5 0} [tester] explore} tools=[read mcp__a__b] not=[bash write] options=1 to=[explore] permissions=planner rules=[{bash git * ask}] permission=plan context=summary reminder=Read only. skills=[go-style] mcp=[{a [run x] map[K:v]  map[]} {b [] map[] http://localhost map[]}] hooks=[{Stop  [a b] 2s} {PreToolUse bash [sh -c a | b] 0s}] aliases=[y] icon=● color=red order=-1 unlisted=true variables=map[a:b] bare=true | When | Do {{a}} for {{team}}.
15:72-15:78 warning as_child.subagents: the agent cannot delegate: its tools lack task
`},
		{
			"names of tools", "", head("tools: [Read, search_files, apply_patch, mcp__x__y, '*']\n"),
			is + "tools=[read grep patch mcp__x__y *] | d | Do.\n",
		},
		{"no tools", "", head("tools: []\n"), is + "tools=[] | d | Do.\n"},
		{
			"empty text of tools", "", head("tools: ''\n"),
			is + "tools=[] | d | Do.\n5:8-5:10 warning tools: tools is an empty text, which means no tools\n",
		},
		{"nothing for tools", "", head("tools:\n"), is + "| d | Do.\n5:7-5:7 warning tools: tools has no value\n"},
		{
			"tools as a table", "", head("tools: {read: true, bash: false}\n"),
			is + "tools=[read] not=[bash] | d | Do.\n",
		},
		{"all tools but some", "", head("tools: {bash: false}\n"), is + "not=[bash] | d | Do.\n"},
		{
			"rules in tools", "", head("tools: Read, Bash(git diff:*, git log:*), Task(explore)\n"),
			is + "tools=[read bash task] to=[explore] rules=[{bash git diff* allow} {bash git log* allow}] | d | Do.\n",
		},
		{
			"a wrong tool in a list", "", head("tools:\n  - grep\n  - \"raed\"\n"),
			"unusable " + is + "tools=[grep] | d | Do.\n7:5-7:11 error tools: there is no tool \"raed\" [Replace \"raed\" by \"read\": 7:6-7:10 \"read\"]\n",
		},
		{
			"a wrong tool in a text", "", head("tools: grep, raed\n"),
			"unusable " + is + "tools=[grep] | d | Do.\n5:14-5:18 error tools: there is no tool \"raed\" [Replace \"raed\" by \"read\": 5:14-5:18 \"read\"]\n",
		},
		{
			"inline model", "", head("model: {provider: openai, model: gpt-5, temperature: 0, max_tokens: 9}\n"),
			is + "model=openai/gpt-5 temperature=0 max_tokens=9 | d | Do.\n",
		},
		{"a preset", "", head("model: fast\n"), is + "model=fast | d | Do.\n"},
		{"inherit", "", head("model: inherit\n"), is + "model=inherit | d | Do.\n"},
		{
			"an unknown preset", "", head("model: fsat\n"),
			"unusable " + is + "model=fsat | d | Do.\n5:8-5:12 error model: there is no preset or provider \"fsat\" [Replace \"fsat\" by \"fast\": 5:8-5:12 \"fast\"]\n",
		},
		{
			"a key twice", "", head("order: 1\norder: 2\n"),
			is + "order=2 | d | Do.\n6:1-6:6 warning order: order is written twice; the last one counts\n",
		},
		{
			"a key written in another way", "", head("maxTurns: 3\n"),
			is + "turns=3 | d | Do.\n5:1-5:9 warning maxTurns: there is no key \"maxTurns\" [Replace \"maxTurns\" by \"max_turns\": 5:1-5:9 \"max_turns\"]\n",
		},
		{"no delegation", "", head("can_delegate: false\n"), is + "to=[] | d | Do.\n"},
		{
			"numbers in quotes", "", head("max_turns: '4'\nmax_tokens: 1e3\n"),
			is + "max_tokens=1000 turns=4 | d | Do.\n",
		},
		{
			"CRLF", "", strings.ReplaceAll(head("tools: [raed]\n"), "\n", "\r\n") + "Two {{x}}.\r\n",
			"unusable " + is + "tools=[] | d | Do.\nTwo {{x}}.\n5:9-5:13 error tools: there is no tool \"raed\" [Replace \"raed\" by \"read\": 5:9-5:13 \"read\"]\n8:5-8:10 error prompt: there is no variable x\n",
		},
		{
			"a byte order mark and columns in bytes", "",
			"\uFEFF" + head("title: \"ä\"\nreminder: ä # {\ntools: [\"ö\", raed]\n"),
			"unusable x title=ä for=[subagent] tools=[] reminder=ä | d | Do.\n7:9-7:13 error tools: there is no tool \"ö\"\n7:15-7:19 error tools: there is no tool \"raed\" [Replace \"raed\" by \"read\": 7:15-7:19 \"read\"]\n",
		},
		{
			"no end of the head", "", "---\nname: x\ndescription: d\ncategory: [subagent]\n\nDo.\n",
			is + "| d | Do.\n1:1-2:1 warning : the frontmatter has no closing line of --- [Close the frontmatter: 5:1-5:1 \"---\\n\"]\n",
		},
		{"no head", "", "Do.\n", "1:1-1:4 error : the file does not begin with a line of ---\n"},
		{"an empty file", "", "", "1:1-1:1 error : the file does not begin with a line of ---\n"},
		{
			"no prompt", "", "---\nname: x\ndescription: d\ncategory: [subagent]\n---\n\n",
			"unusable " + is + "| d | \n1:1-1:4 error prompt: the prompt is empty\n",
		},
		{
			"no name", "", "---\ndescription: d\ncategory: [subagent]\n---\nDo.\n",
			"unusable  for=[subagent] | d | Do.\n1:1-1:4 error name: name is missing [Add the name x: 2:1-2:1 \"name: x\\n\"]\n",
		},
		{
			"a hidden agent needs no description", "", "---\nname: x\ncategory: hidden\n---\nDo.\n",
			"x for=[hidden] |  | Do.\n",
		},
		{"braces that are text", "", head("") + "\\{{naem}}\n", is + "| d | Do.\n\\{{naem}}\n"},
		{
			"a hook without a command", "", head("hooks: {Stop: [{matcher: a}], Strat: [{command: x}]}\n"),
			"unusable " + is + "hooks=[{Strat  [sh -c x] 0s}] | d | Do.\n5:16-5:28 error hooks.Stop.0: hooks.Stop.0 has no command\n5:31-5:36 warning hooks.Strat: there is no event \"Strat\"\n",
		},
		{
			"a hook for what is not there", "",
			head("hooks: {PreToolUse: [{matcher: 'Bash|Raed|mcp__.*', command: x}], Stop: [{matcher: Nobody, command: x}]}\n"),
			is + "hooks=[{PreToolUse Bash|Raed|mcp__.* [sh -c x] 0s} {Stop Nobody [sh -c x] 0s}] | d | Do.\n5:32-5:51 warning hooks.PreToolUse.0.matcher: there is no tool \"Raed\", which the hook is for\n",
		},
		{
			"a matcher that cannot be read", "", head("hooks: {Stop: [{matcher: 'a(', command: x}]}\n"),
			"unusable " + is + "hooks=[{Stop a( [sh -c x] 0s}] | d | Do.\n5:26-5:30 error hooks.Stop.0.matcher: \"a(\" is neither a name nor a regular expression: error parsing regexp: missing closing ): `a(`\n",
		},
		{
			"a server without anything", "", head("mcp_servers: {a: {args: [x]}, b: }\n"),
			"unusable " + is + "mcp=[{a [] map[]  map[]} {b [] map[]  map[]}] | d | Do.\n5:18-5:29 error mcp_servers.a: mcp_servers.a has neither command nor url\n",
		},
		{"anchors", "", head("aliases: &a [one]\nskills: *b\n"), ""},
	})
}

func TestNativeReportsEveryFaultAtItsPlace(t *testing.T) {
	f := agent.Parse("a/.agentls/agents/x.md", `---
name: My Agent
category: [primry]
mode: agentik
tools: [raed, grep]
max_turns: 0
timeout: 30
temperature: hot
tolls: [x]
skills: go-stile
subagents: [explor]
model: openia/gpt-5
color: [red]
visible: perhaps
as_child: {max_turn: 3}
budget: much
rules: [{tool: x, action: maybe}, {tool: bash}]
hooks: 3
aliases: ["a\tb"]
---
Hello {{naem}}.
`)
	f.Validate(known())
	var got []string
	for _, p := range f.Problems {
		got = append(got, fmt.Sprintf("%d:%d %s %s", p.Span.StartLine+1, p.Span.StartColumn+1, p.Severity, p.Key))
		if p.Hint == "" || p.Message == "" {
			t.Errorf("%v has no hint", p)
		}
	}
	want := []string{
		"1:1 warning description", "2:7 error name", "3:12 error category", "4:7 error mode", "5:9 error tools",
		"6:12 error max_turns", "7:10 error timeout", "8:14 error temperature", "9:1 warning tolls",
		"10:9 error skills", "11:13 warning subagents", "11:13 error subagents", "12:8 error model", "13:8 error color",
		"14:10 error visible", "15:12 warning as_child.max_turn", "16:9 error budget", "17:16 error rules.0.tool",
		"17:27 error rules.0.action", "17:35 error rules.1", "18:8 error hooks", "19:11 error aliases",
		"21:7 error prompt",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestClaude(t *testing.T) {
	const is = "x for=[subagent] "
	run(t, ".claude/agents/x.md", []formatTest{
		{
			"usual", "",
			"---\nname: x\ndescription: d\ntools: Read, Grep, mcp__a__b\nmodel: inherit\ncolor: cyan\n---\n\nDo.\n",
			is + "model=inherit tools=[read grep mcp__a__b] color=cyan | d | Do.\n",
		},
		{
			"a list of tools", "", "---\nname: x\ndescription: d\ntools:\n  - Read\n  - TodoWrite\n---\nDo.\n",
			is + "tools=[read todo] | d | Do.\n",
		},
		{
			"a table of tools", "", "---\nname: x\ndescription: d\ntools:\n  Read: true\n  Bash: false\n---\nDo.\n",
			is + "tools=[read] not=[bash] | d | Do.\n",
		},
		{"no tools", "", "---\nname: x\ndescription: d\ntools: []\n---\nDo.\n", is + "tools=[] | d | Do.\n"},
		{
			"an empty text of tools", "", "---\nname: x\ndescription: d\ntools: \"\"\n---\nDo.\n",
			is + "tools=[] | d | Do.\n",
		},
		{
			"nothing for tools", "", "---\nname: x\ndescription: d\ntools:\n---\nDo.\n",
			is + "| d | Do.\n4:7-4:7 warning tools: tools has no value\n",
		},
		{
			"an unknown tool is left out", "", "---\nname: x\ndescription: d\ntools: Read, Frobnicate\n---\nDo.\n",
			is + "tools=[read] | d | Do.\n4:14-4:24 warning tools: there is no tool \"Frobnicate\"; it is left out\n",
		},
		{
			"a misspelt tool", "", "---\nname: x\ndescription: d\ntools: Raed\n---\nDo.\n",
			is + "tools=[] | d | Do.\n4:8-4:12 warning tools: there is no tool \"Raed\"; it is left out [Replace \"Raed\" by \"read\": 4:8-4:12 \"read\"]\n",
		},
		{
			"unknown models", "", "---\nname: x\ndescription: d\nmodel: sonnet\n---\nDo.\n",
			is + "| d | Do.\n4:8-4:14 information model: there is no preset or provider \"sonnet\"; the model of the agent that starts it is used\n",
		},
		{
			"a name for people", "", "---\nname: Code Reviewer\ndescription: d\n---\nDo.\n",
			"code-reviewer title=Code Reviewer for=[subagent] aliases=[Code Reviewer] | d | Do.\n",
		},
		{
			"a name of no letters", "", "---\nname: \"!!\"\ndescription: d\n---\nDo.\n",
			is + "| d | Do.\n1:1-1:4 warning name: name is missing; x, from the file's name, is taken [Add the name x: 2:1-2:1 \"name: x\\n\"]\n",
		},
		{
			"all keys", "",
			"---\nname: x\ndescription: d\ndisallowedTools: Bash(rm *), Write\npermissionMode: acceptEdits\nmaxTurns: 4\nskills: go-style\nmcpServers:\n  - github\n  - own: {command: a}\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./check, x\n          timeout: 5\nmemory: user\neffort: high\n---\nDo.\n",
			is + "effort=high turns=4 not=[write] rules=[{bash rm* deny}] permission=accept_edits skills=[go-style] mcp=[{github [] map[]  map[]} {own [a] map[]  map[]}] hooks=[{PreToolUse Bash [sh -c ./check, x] 5s}] | d | Do.\n18:1-18:7 information memory: agentls does not use memory\n",
		},
		{
			"a greater effort", "", "---\nname: x\ndescription: d\neffort: max\n---\nDo.\n",
			is + "effort=high | d | Do.\n4:9-4:12 information effort: effort is max, which agentls reads as high\n",
		},
		{
			"no effort", "", "---\nname: x\ndescription: d\neffort: hihg\n---\nDo.\n",
			is + "| d | Do.\n4:9-4:13 warning effort: effort is \"hihg\" [Replace \"hihg\" by \"high\": 4:9-4:13 \"high\"]\n",
		},
		{
			"a mode that is not ours", "", "---\nname: x\ndescription: d\npermissionMode: dontAsk\n---\nDo.\n",
			is + "| d | Do.\n4:17-4:24 warning permissionMode: permissionMode is \"dontAsk\", which agentls does not have; the session's mode is used\n",
		},
		{
			"braces are kept", "", "---\nname: x\ndescription: d\n---\nDo {{ anything }}.\n",
			is + "| d | Do \\{{ anything }}.\n",
		},
		{
			"words of others", "", "---\nname: x\ndescription: d\ncategory: engineering\nversion: 1\n---\nDo.\n",
			is + "| d | Do.\n4:1-4:9 information category: agentls does not know the key category\n5:1-5:8 information version: agentls does not know the key version\n",
		},
		{
			"a colon in the description", "",
			"---\nname: x\ndescription: Use when: needed. It's \"good\"\ntools: Read\n---\nDo.\n",
			is + "tools=[read] | Use when: needed. It's \"good\" | Do.\n3:14-3:43 warning description: description is not valid YAML (mapping values are not allowed in this context) and was read as plain text [Quote the value: 3:14-3:43 \"\\\"Use when: needed. It's \\\\\\\"good\\\\\\\"\\\"\"]\n",
		},
		{
			"examples in the description", "",
			"---\nname: x\ndescription: Use this: <example>\nContext: a\nuser: \"b: c\"\ntools: not these\n</example>\nmodel: inherit\n---\nDo.\n",
			is + "model=inherit | Use this: <example>\nContext: a\nuser: \"b: c\"\ntools: not these\n</example> | Do.\n3:14-7:11 warning description: description is not valid YAML (mapping values are not allowed in this context) and was read as plain text [Quote the value: 3:14-7:11 \"\\\"Use this: <example>\\\\nContext: a\\\\nuser: \\\\\\\"b: c\\\\\\\"\\\\ntools: not these\\\\n</example>\\\"\"]\n",
		},
		{
			"a value that begins like YAML's own", "",
			"---\nname: x\ndescription: @someone knows\ntools: *\n---\nDo.\n",
			is + "tools=[*] | @someone knows | Do.\n3:14-3:28 warning description: description is not valid YAML (found character that cannot start any token) and was read as plain text [Quote the value: 3:14-3:28 \"\\\"@someone knows\\\"\"]\n4:8-4:9 warning tools: tools is not valid YAML (did not find expected alphabetic or numeric character) and was read as plain text [Quote the value: 4:8-4:9 \"\\\"*\\\"\"]\n",
		},
		{
			"tabs", "", "---\nname: x\ndescription: d\ntools:\n\t- Read\n\t- Grep\n---\nDo.\n",
			is + "tools=[read grep] | d | Do.\n4:1-6:8 warning tools: tools is indented with tabs, which YAML does not allow\n",
		},
		{
			"text without a key", "", "---\nstray [\nname: x\ndescription: d\n---\nDo.\n",
			is + "| d | Do.\n2:1-2:8 warning : this text belongs to no key and is left out\n",
		},
		{
			"a quote that is not closed", "", "---\nname: x\ndescription: \"d\ntools: Read\n---\nDo.\n",
			is + "tools=[read] | \"d | Do.\n3:14-3:16 warning description: description is not valid YAML (found unexpected end of stream) and was read as plain text [Quote the value: 3:14-3:16 \"\\\"\\\\\\\"d\\\"\"]\n",
		},
		{
			"no frontmatter", "", "# The X\n\nDo.\n",
			is + "| The X | # The X\n\nDo.\n1:1-1:8 warning : the file has no frontmatter; its name is taken from the file's\n",
		},
		{
			"no description", "", "---\nname: x\n---\nDo it.\nNow.\n\nMore.\n",
			is + "| Do it. Now. | Do it.\nNow.\n\nMore.\n1:1-1:4 warning description: description is missing; the prompt's beginning is taken\n",
		},
		{
			"a document", ".claude/agents/README.md", "# Agents\n",
			"1:1-1:9 information : this is taken for a document, not for an agent\n",
		},
		{"an empty file", "", " \n", "1:1-1:2 error : the file is empty\n"},
		{
			"delegation", "", "---\nname: x\ndescription: d\ntools: Task(explore), Read\n---\nDo.\n",
			is + "tools=[task read] to=[explore] | d | Do.\n",
		},
		{
			"delegation to nobody", "", "---\nname: x\ndescription: d\ntools: Task(nobody)\n---\nDo.\n",
			is + "tools=[task] to=[] | d | Do.\n4:8-4:20 warning tools: there is no agent \"nobody\"; it is left out\n",
		},
	})
}

func TestOpenCode(t *testing.T) {
	const is = "x for=[primary subagent] "
	run(t, ".opencode/agent/x.md", []formatTest{
		{
			"usual", "",
			"---\ndescription: d\nmode: subagent\nmodel: anthropic/claude\ntemperature: 0.1\ntools:\n  write: false\n  read: true\n---\nDo.\n",
			"x for=[subagent] model=anthropic/claude temperature=0.1 not=[write] | d | Do.\n",
		},
		{
			"only some tools", "", "---\ndescription: d\ntools:\n  \"*\": false\n  read: true\n---\nDo.\n",
			is + "tools=[read] | d | Do.\n",
		},
		{
			"patterns of tools", "", "---\ndescription: d\ntools:\n  \"web*\": false\n  \"my_*\": false\n---\nDo.\n",
			is + "not=[webfetch websearch] | d | Do.\n5:3-5:9 warning tools: there is no tool \"my_*\"; it is left out\n",
		},
		{
			"permissions", "",
			"---\ndescription: d\npermission:\n  edit: deny\n  bash:\n    \"*\": ask\n    \"git status\": allow\n---\nDo.\n",
			is + "rules=[{edit * deny} {bash * ask} {bash git status allow}] | d | Do.\n",
		},
		{
			"a deny of everything", "",
			"---\ndescription: d\npermission:\n  bash:\n    \"*\": deny\n    \"git *\": allow\n    \"rm*\": deny\n---\nDo.\n",
			is + "rules=[{bash * deny} {bash git* allow} {bash rm** deny}] | d | Do.\n6:14-6:19 warning permission.bash.git *: permission.bash.git * has no effect: a deny wins over the rules behind it\n",
		},
		{
			"one permission", "", "---\ndescription: d\npermission: ask\n---\nDo.\n",
			is + "rules=[{* * ask}] | d | Do.\n",
		},
		{
			"steps, hidden, options", "",
			"---\ndescription: d\nmode: primary\nsteps: 5\nhidden: true\ntop_p: 0.9\n---\nDo.\n",
			"x for=[primary] turns=5 unlisted=true | d | Do.\n6:1-6:6 information top_p: agentls does not use top_p\n",
		},
		{
			"disabled", "", "---\ndescription: d\ndisable: true\n---\nDo.\n",
			"3:10-3:14 information disable: the agent is switched off\n",
		},
		{
			"a prompt from a file", "", "---\ndescription: d\nprompt: \"{file:./x.txt}\"\n---\n",
			is + "file=./x.txt | d | \n",
		},
		{
			"a mode that is not theirs", "", "---\ndescription: d\nmode: subagnet\n---\nDo.\n",
			is + "| d | Do.\n3:7-3:15 warning mode: mode is \"subagnet\"; it is taken as all [Replace \"subagnet\" by \"subagent\": 3:7-3:15 \"subagent\"]\n",
		},
		{
			"a name unlike the file's", "", "---\nname: other\ndescription: d\n---\nDo.\n",
			"other for=[primary subagent] aliases=[x] | d | Do.\n",
		},
		{
			"an unknown provider", "", "---\ndescription: d\nmodel: github-copilot/gpt\n---\nDo.\n",
			is + "| d | Do.\n3:8-3:26 warning model: there is no provider \"github-copilot\"; the configured model is used, or as a subagent the model of the agent that starts it\n",
		},
	})
}

func TestTOML(t *testing.T) {
	const is = "x for=[subagent] "
	const x = "[[agents]]\nname = \"x\"\ndescription = \"d\"\ncategory = [\"subagent\"]\nprompt = \"Do.\"\n"
	const typed, prompt = "[[agents]]\nagent_type = \"x\"\nwhen_to_use = \"d\"\nsystem_prompt = \"Do.\"\n", " | d | Do.\n"
	run(t, ".agentls/agents.toml", []formatTest{
		{
			"one agent at the top", ".agentls/agents/x.toml",
			"agent_type = \"x\"\nwhen_to_use = \"d\"\nsystem_prompt = \"Do.\"\n[model]\nprovider = \"openai\"\nmodel = \"m\"\n",
			"x for=[subagent] model=openai/m | d | Do.\n",
		},
		{"one of ours at the top", ".agentls/agents/x.toml", strings.TrimPrefix(x, "[[agents]]\n"), is + "| d | Do.\n"},
		{
			"one at the top and a wrong key", ".agentls/agents/x.toml",
			strings.TrimPrefix(x, "[[agents]]\n") + "toolz = []\n",
			"unusable " + is + "| d | Do.\n5:1-5:6 error toolz: there is no key \"toolz\", and without tools the agent may do more [Replace \"toolz\" by \"tools\": 5:1-5:6 \"tools\"]\n",
		},
		{
			"one at the top beside a list", "", "name = \"y\"\n" + x,
			is + "| d | Do.\n1:1-1:5 warning name: there is no key \"name\" beside [[agents]]\n",
		},
		{
			"an agent type's use without the type", "",
			"[[agents]]\nname = \"x\"\nwhen_to_use = \"Reviews.\"\ntools = [\"Read\"]\n",
			"x for=[subagent] tools=[read] | Reviews. | You are x. What you are there for: Reviews.\n\nDo the task that you are given, no more, and end with an account of the outcome.\n",
		},
		{
			"an agent type with a name for people", "",
			"[[agents]]\nagent_type = \"x\"\nname = \"The X\"\nwhen_to_use = \"Reviews.\"\nsystem_prompt = \"Do.\"\n",
			"x title=The X for=[subagent] | Reviews. | Do.\n",
		},
		{
			"a mode of permissions as a variant", "", typed + "permission_mode = \"Bypass\"\n",
			is + "permission=bypass" + prompt,
		},
		{
			"where it comes from", "", typed + "source = \"UserSettings\"\n",
			is + "| d | Do.\n5:1-5:7 information source: agentls does not use source\n",
		},
		{
			"one of two words", "", typed + "permission_mode = \"AcceptEdits\"\n",
			is + "permission=accept_edits" + prompt,
		},
		{
			"in the spelling of JavaScript", "", typed + "permission_mode = \"acceptEdits\"\n",
			is + "permission=accept_edits" + prompt,
		},
		{
			"as Claude Code has it", "", typed + "permission_mode = \"bypassPermissions\"\n",
			is + "permission=bypass" + prompt,
		},
		{
			"none of them", "", typed + "permission_mode = \"Sometimes\"\n",
			"unusable x for=[subagent] | d | Do.\n5:19-5:30 error permission_mode: permission_mode is \"Sometimes\"\n",
		},
		{
			"a specific model", "", typed + "model = {Specific = {provider = \"openai\", model = \"m\"}}\n",
			is + "model=openai/m" + prompt,
		},
		{"the parent's model", "", typed + "model = \"Inherit\"\n", is + "model=inherit" + prompt},
		{
			"a wrong key of a specific model", "",
			typed + "model = {Specific = {provider = \"openai\", modle = \"m\"}}\n",
			is + "model=openai | d | Do.\n5:43-5:48 warning model.modle: model has no key \"modle\" [Replace \"modle\" by \"model\": 5:43-5:48 \"model\"]\n",
		},
		{
			"other variants", "", typed + "context = \"Full\"\nmode = \"SingleShot\"\n",
			is + "mode=single_shot context=full" + prompt,
		},
		{
			"a variant in our own", "",
			"[[agents]]\nname = \"x\"\ncategory = \"subagent\"\ndescription = \"d\"\nprompt = \"p\"\npermission_mode = \"Bypass\"\n",
			"unusable x for=[subagent] | d | p\n6:19-6:27 error permission_mode: permission_mode is \"Bypass\" [Replace \"Bypass\" by \"bypass\": 6:20-6:26 \"bypass\"]\n",
		},
		{
			"agent types", "",
			"[[agents]]\nagent_type = \"Code Reviewer\"\nwhen_to_use = \"Reviews.\"\ntools = [\"*\"]\ndisallowed_tools = [\"Task\", \"Edit\", \"Gone\"]\nmodel = { provider = \"anthropic\", model = \"m\" }\nfork_context = true\ncritical_reminder = \"Change nothing.\"\n[[agents]]\nagent_type = \"y\"\ncategory = \"primary\"\nfork_context = false\nprompt = \"Do.\"\nother = 1\n",
			"code-reviewer title=Code Reviewer for=[subagent] model=anthropic/m tools=[*] not=[task edit] context=full reminder=Change nothing. aliases=[Code Reviewer] | Reviews. | You are Code Reviewer. What you are there for: Reviews.\n\nDo the task that you are given, no more, and end with an account of the outcome.\ny for=[primary] |  | Do.\n5:37-5:43 warning disallowed_tools: there is no tool \"Gone\"; it is left out\n9:1-9:11 warning description: description is missing\n14:1-14:6 information other: agentls does not know the key other\n",
		},
		{"usual", "", x, is + "| d | Do.\n"},
		{
			"all kinds of values", "",
			x + "max_turns = 1_000\ntimeout = '5m'\ntools = [\n  \"Read\", # c\n  'Grep',\n]\nmodel = {provider = \"openai\", model = \"m\"}\nvariables.a = \"\"\"\nb\\u00e4\\\n   c\"\"\"\nreminder = '''\nl'r'''\n[agents.as_child]\nmax_turns = 2\nbudget = {cost = 1.5}\n[agents.hooks]\nStop = [{command = [\"a\"]}]\n",
			is + "model=openai/m turns=1000 timeout=5m0s child={{2 0s 0 1.5} [] } tools=[read grep] reminder=l'r hooks=[{Stop  [a] 0s}] variables=map[a:bäc] | d | Do.\n",
		},
		{
			"lists of tables", "",
			x + "[[agents.rules]]\ntool = \"bash\"\naction = \"deny\"\n[[agents.rules]]\ntool = \"edit\"\npattern = \"*.go\"\naction = \"ask\"\n",
			is + "rules=[{bash * deny} {edit *.go ask}] | d | Do.\n",
		},
		{
			"faults with places", "", x + "tools = [\"raed\"]\ntimeout = 30\nas_child = {max_turns = 0}\ntolls = 1\n",
			"unusable " + is + "tools=[] | d | Do.\n6:10-6:16 error tools: there is no tool \"raed\" [Replace \"raed\" by \"read\": 6:11-6:15 \"read\"]\n7:11-7:13 error timeout: timeout is \"30\" [Replace \"30\" by \"30s\": 7:11-7:13 \"\\\"30s\\\"\"]\n8:25-8:26 error as_child.max_turns: as_child.max_turns is \"0\"\n9:1-9:6 warning tolls: there is no key \"tolls\" [Replace \"tolls\" by \"tools\": 9:1-9:6 \"tools\"]\n",
		},
		{
			"a broken one among others", "", x + "[[agents]]\nname = \"y\n" + strings.ReplaceAll(x, "\"x\"", "\"z\""),
			is + "| d | Do.\nz for=[subagent] | d | Do.\n7:10-7:10 error agents.1: this is not valid TOML: strings cannot contain newlines\n",
		},
		{"no definitions", "", "a = 1\n", "1:1-1:2 warning a: there is no key \"a\" beside [[agents]]\n"},
		{"not a list", "", "agents = 1\n", "1:1-1:7 error agents: agents is no list of tables\n"},
		{"not even TOML", "", "hello", ""},
		{"elements that are no tables", "", "agents = [1]\n", "1:11-1:12 error agents.0: agents.0 is \"1\"\n"},
		{
			"the prompt's place", "",
			"[[agents]]\nname = \"x\"\ndescription = \"d\"\ncategory = \"subagent\"\nprompt = \"\"\"\nDo\n {{naem}}.\"\"\"\n",
			"unusable " + is + "| d | Do\n {{naem}}.\n7:2-7:10 error prompt: there is no variable naem\n",
		},
		{
			"two of a name", "", x + x,
			is + "| d | Do.\nunusable " + is +
				"| d | Do.\n7:8-7:11 error name: there is already an agent x in this file\n",
		},
		{"an empty file", "", "", ""},
	})
}

func TestJSON(t *testing.T) {
	const is = "x for=[subagent] "
	const x = `{"name": "x", "description": "d", "category": ["subagent"], "prompt": "Do."}`
	run(t, "x.agents.json", []formatTest{
		{
			"a list", "", `{"$schema": "s", "agents": [` + x + `], "other": 1}`,
			is + "| d | Do.\n1:108-1:115 information other: agentls does not use the key other of this file\n",
		},
		{"alone", "", x, is + "| d | Do.\n"},
		{"an array", "", "[" + x + "]", is + "| d | Do.\n"},
		{
			"by name", "", `{"agents": {"x": {"description": "d", "category": "subagent", "prompt": "Do."}}}`,
			is + "| d | Do.\n",
		},
		{
			"faults with places", "",
			"{\"name\": \"x\", \"description\": \"d\", \"category\": \"subagent\", \"prompt\": \"Do.\",\n \"tools\": [\"raed\", 3], \"timeout\": 30, \"tolls\": null}",
			"unusable " + is + "tools=[] | d | Do.\n2:12-2:18 error tools: there is no tool \"raed\" [Replace \"raed\" by \"read\": 2:13-2:17 \"read\"]\n2:20-2:21 error tools: there is no tool \"3\"\n2:35-2:37 error timeout: timeout is \"30\" [Replace \"30\" by \"30s\": 2:35-2:37 \"\\\"30s\\\"\"]\n2:39-2:46 warning tolls: there is no key \"tolls\" [Replace \"tolls\" by \"tools\": 2:40-2:45 \"tools\"]\n",
		},
		{"broken behind the first", "", `{"agents": [` + x + `, {"name": `, ""},
		{"text behind it", "", x + " x", is + "| d | Do.\n1:78-1:79 error : there is text behind the value\n"},
		{"no agents", "", `{"agnets": []}`, "1:1-1:15 error : there are no agents in this object\n"},
		{"a number", "", "3", "1:1-1:2 error : this is no JSON object\n"},
		{"an empty file", "", "", "1:1-1:1 error : this is not valid JSON: it ends too early\n"},
		{"roles", "", `{"AgentRoles": {"MaxDepth": 2, "DefaultMaxIterations": 20, "DefaultMaxDurationMs": 300000, "Roles": [
{"RoleId": "x", "DisplayName": "The X", "ModelId": "openai/m", "SystemPromptFile": "prompts/x.md", "CanDelegate": true, "AllowedDelegations": ["tester"], "MaxIterations": 50, "MaxDurationMs": 600000},
{"RoleId": "y", "SystemPrompt": "Do.", "ModelId": "qwen/qwen3", "CanDelegate": false}]}}`, "x title=The X for=[primary subagent] model=openai/m turns=50 timeout=10m0s to=[tester] file=prompts/x.md | The X | \n" +
			"y for=[primary subagent] turns=20 timeout=5m0s to=[] | y | Do.\n1:17-1:27 information MaxDepth: agentls does not use MaxDepth of this file\n3:51-3:63 warning model: there is no provider \"qwen\"; the configured model is used, or as a subagent the model of the agent that starts it\n"},
		{"custom agents", "", `{"Agents": {"DefaultAgentSlug": "x", "GlobalPromptVariables": {"a": "1", "b": "2"}, "Custom": [
{"Id": "g", "Name": "The X", "Slug": "x", "Description": "d", "Category": "Primary", "ProviderId": "openai", "ModelId": "m", "Temperature": 0.7, "MaxTokens": 9,
"SystemPrompt": "Do {{a}} {{b}} {{current_time}}.", "PromptVariables": {"b": "3"}, "UseDefaultSystemPrefix": false, "ExecutionMode": "SingleShot", "MaxIterations": 40, "Timeout": "00:05:30",
"CanSpawnSubagents": true, "AllowedSubagentTypes": [], "Tools": {"Mode": "OnlyThese", "ToolList": ["read"], "Overrides": {"read": {"MaxOutputLength": 5, "Timeout": "00:00:02", "DefaultArguments": {"limit": 1}}}},
"IconEmoji": "o", "Color": "#8B5CF6", "DisplayOrder": 3, "IsVisible": false, "CreatedAt": "now"}]}}`, "x id=g title=The X for=[primary] mode=single_shot model=openai/m temperature=0.7 max_tokens=9 turns=40 timeout=5m30s tools=[read] options=1 to=[*] icon=o color=#8B5CF6 order=3 unlisted=true variables=map[a:1 b:3] bare=true | d | Do {{a}} {{b}} {{current_time}}.\n" +
			"1:13-1:31 information DefaultAgentSlug: agentls does not use DefaultAgentSlug of this file\n4:22-4:26 warning CanSpawnSubagents: the agent cannot delegate: in the mode single_shot it has no tools\n" +
			"4:123-4:129 warning Tools.Overrides.read: these options change nothing: the agent has no tool read\n5:78-5:89 information CreatedAt: agentls does not use CreatedAt\n"},
		{
			"modes of tools", "", `{"Agents": {"Custom": [{"Slug": "a", "SystemPrompt": "p", "Tools": {"Mode": "None"}}, {"Slug": "b", "SystemPrompt": "p", "Tools": {"Mode": "AllExcept", "ToolList": ["bash"]}}, {"Slug": "c", "SystemPrompt": "p", "Tools": {"Mode": "Some"}}]}}`,
			"a for=[primary] tools=[] to=[] | a | p\nb for=[primary] not=[bash] to=[] | b | p\nunusable c for=[primary] to=[] | c | p\n1:230-1:236 error Tools.Mode: Tools.Mode is \"Some\"\n",
		},
		{"no roles", "", `{"AgentRoles": {}}`, "1:16-1:18 error Roles: there is no list Roles\n"},
	})
}

// run reads each text and compares. An empty path is that of the table, an empty want only asks for problems with
// hints, and one that begins with "unusable" and has one line is compared with the definition alone.
func run(t *testing.T, path string, tests []formatTest) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.path == "" {
				test.path = path
			}
			format, ok := agent.Detect(test.path)
			if !ok {
				format = agent.Native
			}
			f := agent.ParseAs(format, test.path, test.text)
			f.Validate(known())
			got := reading(f)
			if strings.Contains(got, "has no hint") {
				t.Errorf("a problem without a hint:\n%s", got)
			}
			if test.want == "" {
				return
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", test.text, diff)
			}
		})
	}
}

func TestDetect(t *testing.T) {
	for path, want := range map[string]agent.Format{
		"/p/.agentls/agents/x.md": agent.Native, "/c/agentls/agents/x.md": agent.Native,
		"/c/agentls/plugins/a/agents/x.md": agent.Native, "/p/.claude/agents/x.md": agent.Claude,
		"/p/.claude/agents/team/x.md": agent.Claude, `C:\p\.claude\agents\x.md`: agent.Claude,
		"/p/.opencode/agent/x.md": agent.OpenCode, "/p/.opencode/agents/x.MD": agent.OpenCode,
		"/p/.agentls/agents.toml": agent.TOML, "/p/.agentls/agents.json": agent.JSON, "/p/my.agents.json": agent.JSON,
	} {
		if got, ok := agent.Detect(path); !ok || got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	for _, path := range []string{
		"/p/agents/x.md", "/p/README.md", "/p/.claude/skills/a/SKILL.md", "/p/.agentls/config.toml", "/p/agents.json",
		"", "/p/.claude/agents/x.txt",
	} {
		if got, ok := agent.Detect(path); ok {
			t.Errorf("%s is %q", path, got)
		}
	}
	for text, want := range map[string]agent.Format{
		"---\n": agent.Native, " {}": agent.JSON, "[[agents]]": agent.TOML, "Do.": agent.Native,
	} {
		if got := agent.Parse("", text).Format; got != want {
			t.Errorf("%q is taken for %q, want %q", text, got, want)
		}
	}
}

func TestFieldsHavePlaces(t *testing.T) {
	text := "---\nname: x\ntools: Read, Grep\nas_child:\n  max_turns: 2\n---\n\nDo.\n"
	var got []string
	for _, f := range agent.ParseAs(agent.Native, "x.md", text).Fields {
		got = append(got,
			fmt.Sprintf("%s %d:%d-%d %d:%d-%d:%d %q", f.Key, f.KeySpan.StartLine,
				f.KeySpan.StartColumn, f.KeySpan.EndColumn, f.ValueSpan.StartLine,
				f.ValueSpan.StartColumn, f.ValueSpan.EndLine, f.ValueSpan.EndColumn, f.Value))
	}
	want := []string{
		`name 1:0-4 1:6-1:7 "x"`, `tools 2:0-5 2:7-2:17 "Read, Grep"`, `tools.0 2:7-7 2:7-2:11 "Read"`,
		`tools.1 2:13-13 2:13-2:17 "Grep"`, `as_child 3:0-8 4:2-4:14 ""`, `as_child.max_turns 4:2-11 4:13-4:14 "2"`,
		`prompt 7:0-0 7:0-7:3 "Do."`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestTextsThatAreTooMuch(t *testing.T) {
	for name, text := range map[string]string{
		"deep YAML":  "---\nname: x\ntools: " + strings.Repeat("[", 5000) + "\n---\n",
		"deep list":  "---\nname: x\ntools: " + strings.Repeat("[", 500) + strings.Repeat("]", 500) + "\n---\n",
		"aliases":    "---\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n---\n",
		"a cycle":    "---\na: &a [*a]\n---\n",
		"large":      strings.Repeat("x", 1<<20+1),
		"no UTF-8":   "---\nname: \xff\n---\n",
		"many lines": "---\ndescription: <example>\n" + strings.Repeat("user: a: b\n", 50_000) + "---\n",
	} {
		for _, format := range []agent.Format{agent.Native, agent.Claude} {
			f := agent.ParseAs(format, ".claude/agents/x.md", text)
			f.Validate(known())
			if len(f.Problems) == 0 {
				t.Errorf("%s: nothing is wrong with it", name)
			}
		}
	}
	for format, text := range map[agent.Format]string{
		agent.TOML: "a = " + strings.Repeat("[", 2000) + strings.Repeat("]", 2000),
		agent.JSON: strings.Repeat("[", 2000) + strings.Repeat("]", 2000),
	} {
		if f := agent.ParseAs(format, "", text); !agent.Failed(f.Problems) {
			t.Errorf("%s: a deep text has no error", format)
		}
	}
}
