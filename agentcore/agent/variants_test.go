package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/agent"
)

// TestVariants reads what people write: each way to write a description with each way to write tools, models, names
// and line ends. Every one of them is a person's clear wish, and must give one usable definition that keeps all of it.
func TestVariants(t *testing.T) {
	descriptions := []struct{ text, contains string }{
		{"description: Reviews code", "Reviews code"},
		{`description: "Reviews: code"`, "Reviews: code"},
		{"description: 'Reviews it''s code'", "Reviews it's code"},
		{"description: Use this agent when: code is ready", "when: code is ready"},
		{"description: Use it. Examples: <example>Context: a. user: \"b\" assistant: \"c\"</example>", "Context: a."},
		{
			"description: Use it. <example>\nContext: new code\nuser: \"Review: this\"\nassistant: \"ok\"\n</example>",
			"Review: this",
		},
		{"description: >\n  Reviews\n  code", "Reviews code"},
		{"description: |\n  Reviews: code\n  well", "Reviews: code\nwell"},
		{"description: Reviews\n  code over\n  lines", "code over lines"},
		{"description: [PROACTIVE] Reviews code", "[PROACTIVE] Reviews"},
		{"description: `code` reviewer", "`code` reviewer"},
		{"description: @team reviews", "@team reviews"},
		{"description: Reviews # hash", "Reviews"},
		{"description: \"unclosed quote", "unclosed quote"},
		{"description: 100% of code — ünïcode 🚀", "ünïcode 🚀"},
	}
	tools := []struct {
		text  string
		allow []string // nil = all
	}{
		{"", nil},
		{"tools: Read, Grep", []string{"read", "grep"}},
		{"tools: [Read, Grep]", []string{"read", "grep"}},
		{"tools:\n  - Read\n  - Grep", []string{"read", "grep"}},
		{"tools:\n- Read\n- Grep", []string{"read", "grep"}},
		{"tools: {Read: true, Grep: true, \"*\": false}", []string{"read", "grep"}},
		{"tools: []", []string{}},
		{"tools: read_file, search_files, made_up_tool", []string{"read", "grep"}},
		{"tools: *", nil},
	}
	others := []string{"model: sonnet\ncolor: blue", "model: inherit", "temperature: 0.3\nversion: 1.0"}
	ends := []string{"\n", "\r\n"}
	count := 0
	for _, format := range []struct {
		format agent.Format
		path   string
	}{{agent.Claude, ".claude/agents/some-agent.md"}, {agent.OpenCode, ".opencode/agent/some-agent.md"}} {
		for _, d := range descriptions {
			for _, w := range tools {
				for i, end := range ends {
					count++
					other := others[count%len(others)]
					text := "---\nname: some-agent\n" + d.text + "\n" + w.text + "\n" + other +
						"\n---\n\nYou are: an agent.\n\n- {{do}} it\n"
					text = strings.ReplaceAll(strings.ReplaceAll(text, "\n\nmodel", "\nmodel"), "\n", end)
					if i == 1 && count%2 == 0 {
						text = "\uFEFF" + text
					}
					f := agent.Parse(format.path, text)
					f.Validate(known())
					check := func(what string, is bool) {
						if !is {
							t.Errorf("%s of %q is wrong: %v, %v", what, text, shownAll(f), f.Problems)
						}
					}
					usable := f.Usable()
					check("the number of agents", f.Format == format.format && len(usable) == 1)
					if len(usable) != 1 {
						continue
					}
					a := usable[0]
					check("the name", a.Slug == "some-agent")
					check("the description", strings.Contains(a.Description, d.contains))
					check("the prompt", a.Prompt == "You are: an agent.\n\n- \\{{do}} it")
					for _, tool := range []string{"read", "grep", "bash"} {
						check(tool, a.Allows(tool) == (w.allow == nil || slices.Contains(w.allow, tool)))
					}
					if strings.Contains(other, "inherit") {
						check("the model", a.Model == "inherit")
					}
					if strings.Contains(other, "temperature") {
						check("the temperature", a.Temperature != nil && *a.Temperature == 0.3)
					}
				}
			}
		}
	}
	if count < 300 {
		t.Errorf("there are only %d variants", count)
	}
}

func shownAll(f *agent.File) []string {
	var list []string
	for _, d := range f.Definitions {
		list = append(list, shown(d))
	}
	return list
}

// TestFixesMend applies each fix alone, and sees that its problem is gone and no error has come.
func TestFixesMend(t *testing.T) {
	texts := map[string]string{
		"x/.agentls/agents/x.md": "---\nname: My Agent\ndescription: d\ncategory: [primry]\nmode: agentik\ntools: " +
			"[raed, 'grpe', \"bsah\"]\ntimeout: 30\ntolls: 3\nsubagents: [explor]\nmodel: openia/x\n---\nDo.\n",
		".claude/agents/x.md":  "---\nname: x\ndescription: a: b: \"c\" \\ d\ntools: Raed, Grep\n---\nDo.\n",
		".opencode/agent/x.md": "---\ndescription: d\nmode: subagnet\n---\nDo.\n",
		".agentls/agents.toml": "[[agents]]\nname = \"My Agent\"\ncategory = [\"primry\"]\ntools = " +
			"['raed']\ntimeout = 30\nprompt = \"p\"\n",
		"a.agents.json":           `{"name": "My Agent", "category": "primry", "tools": ["raed"], "timeout": 30, "prompt": "p", "tolls": []}`,
		"x/.agentls/agents/y.md":  "---\ncategory: [primary]\n---\nDo.\n",
		".claude/agents/other.md": "---\ndescription: d\n\nDo.\n",
	}
	fixes := 0
	for path, text := range texts {
		before := agent.Parse(path, text)
		before.Validate(known())
		for _, p := range before.Problems {
			if p.Fix == nil {
				continue
			}
			fixes++
			mended := replaceSpan(text, p.Fix)
			after := agent.Parse(path, mended)
			after.Validate(known())
			errors := func(f *agent.File) (n int) {
				for _, p := range f.Problems {
					if p.Severity == "error" {
						n++
					}
				}
				return n
			}
			if errors(after) > errors(before) ||
				slices.ContainsFunc(after.Problems, func(o agent.Problem) bool { return o.Message == p.Message }) {
				t.Errorf("%s: %q does not mend %q:\n%s\n%v", path, p.Fix.Title, p.Message, mended, after.Problems)
			}
		}
	}
	if fixes < 15 {
		t.Errorf("there are only %d fixes", fixes)
	}
}

func replaceSpan(text string, fix *agent.Fix) string {
	offset := func(line, column int) int {
		at := 0
		for range line {
			at += strings.IndexByte(text[at:], '\n') + 1
		}
		return at + column
	}
	s := fix.Span
	return text[:offset(s.StartLine, s.StartColumn)] + fix.New + text[offset(s.EndLine, s.EndColumn):]
}

// sound looks for what must hold of every text.
func sound(t *testing.T, format agent.Format, text string) {
	t.Helper()
	f := agent.ParseAs(format, "dir/x", text)
	f.Validate(known())
	lines := strings.Split(text, "\n")
	within := func(what string, line, column int) {
		if line < 0 || line >= len(lines) || column < 0 || column > len(lines[line]) {
			t.Errorf("%s is at %d:%d, outside of the text %q", what, line, column, text)
		}
	}
	for _, p := range f.Problems {
		if p.Message == "" || p.Hint == "" || p.Severity == "" {
			t.Errorf("a problem says too little: %v", p)
		}
		within("a problem", p.Span.StartLine, p.Span.StartColumn)
		within("a problem's end", p.Span.EndLine, p.Span.EndColumn)
		if p.Fix != nil {
			within("a fix", p.Fix.Span.StartLine, p.Fix.Span.StartColumn)
			within("a fix's end", p.Fix.Span.EndLine, p.Fix.Span.EndColumn)
			agent.ParseAs(format, "dir/x", replaceSpan(text, p.Fix))
		}
	}
	for _, field := range f.Fields {
		within("a key", field.KeySpan.StartLine, field.KeySpan.StartColumn)
		within("a value", field.ValueSpan.StartLine, field.ValueSpan.StartColumn)
		within("a value's end", field.ValueSpan.EndLine, field.ValueSpan.EndColumn)
	}
	if len(f.Definitions) == 0 && len(f.Problems) == 0 && strings.TrimSpace(text) != "" &&
		(format == agent.Native || format == agent.Claude) {
		t.Errorf("%q was skipped silently", text)
	}
	for _, d := range f.Usable() {
		if d.Slug == "" || d.Prompt == "" && d.PromptFile == "" || len(d.Categories) == 0 {
			t.Errorf("a usable definition is not whole: %v in %q", shown(d), text)
		}
		encoded, err := d.MarshalJSON()
		if err != nil {
			t.Errorf("%q cannot be written as JSON: %v", text, err)
		}
		again := agent.ParseAs(agent.JSON, "", string(encoded))
		if len(again.Definitions) != 1 || shown(again.Definitions[0]) != shown(d) {
			t.Errorf("%s is read back as %v", shown(d), shownAll(again))
		}
	}
}

func seeds(f *testing.F, texts ...string) {
	for _, text := range texts {
		f.Add(text)
	}
}

const seedHead = "---\nname: x\ndescription: d: e\ntools: [Read, 'raed']\ncategory: [subagent]\nhooks: {Stop: " +
	"[{command: a}]}\nas_child: {max_turns: 1}\n---\nDo {{time}}.\n"

func FuzzNative(f *testing.F) {
	seeds(f, seedHead, "---\n", "", "---\na: &a [*a]\n---\n", "---\r\nname: |\r\n  a\r\n---\r\n")
	f.Fuzz(func(t *testing.T, text string) { sound(t, agent.Native, text) })
}

func FuzzClaude(f *testing.F) {
	seeds(f, seedHead, "---\ndescription: <example>\nuser: a: b\n</example>\nmcpServers: [a, {b: {url: c}}]\n---\nDo.",
		"Do.", "---\ntools:\n\t- Read\n---\nx")
	f.Fuzz(func(t *testing.T, text string) { sound(t, agent.Claude, text) })
}

func FuzzOpenCode(f *testing.F) {
	seeds(f, seedHead,
		"---\ntools: {\"*\": false, read: true}\npermission: {bash: {a: ask}}\nprompt: \"{file:a}\"\n---\n")
	f.Fuzz(func(t *testing.T, text string) { sound(t, agent.OpenCode, text) })
}

func FuzzTOML(f *testing.F) {
	seeds(f,
		"[[agents]]\nname = \"x\"\nprompt = '''a'''\ncategory = [\"primary\"]\n[agents.as_child]\nbudget.cost = "+
			"1.5\n[[agents.rules]]\ntool=\"bash\"\naction=\"ask\"", "[[agents]]\nname=\"x\n[[agents]]\n",
		"agents=[{a={b.c=1}}]", "a=1979-05-27 07:32:00")
	f.Fuzz(func(t *testing.T, text string) { sound(t, agent.TOML, text) })
}

func FuzzJSON(f *testing.F) {
	seeds(f, `{"agents": [{"name": "x", "category": "primary", "prompt": "p", "mcp_servers": [{"a": null}]}]}`,
		`{"AgentRoles": {"DefaultMaxIterations": 1, "Roles": [{"RoleId": "a b", "SystemPrompt": "p"}]}}`,
		`{"Agents": {"Custom": [{"Slug": "x", "SystemPrompt": "p", "Tools": {"Mode": "None"}, "Timeout": "1.00:00:01"}]}}`, `[{`, "\uFEFF{}")
	f.Fuzz(func(t *testing.T, text string) { sound(t, agent.JSON, text) })
}

func ExampleParse() {
	f := agent.Parse(".agentls/agents/reviewer.md",
		"---\nname: go-reviewer\ndescription: Reviews Go.\ncategory: [subagent]\ntools: [raed]\n---\nReview it.\n")
	f.Validate(agent.Known{Tools: []string{"read", "grep"}})
	for _, p := range f.Problems {
		fmt.Println(p)
	}
	// Output: .agentls/agents/reviewer.md:5:9: error: there is no tool "raed"; did you mean read?
}
