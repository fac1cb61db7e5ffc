package agentcore_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/registry"
)

// TestDefaultArguments: what the definition sets for a tool is there where the call leaves it out, and never beside
// what the call says, under whichever name.
func TestDefaultArguments(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\ntwo\nthree\n"})
	turns, err := script.Parse("test", `turn
call read {}
call read {"file_path": "a.txt", "max_lines": 2}
call read {"filePath": null, "maxLines": null}
turn
expect result read "1\tone\n"
expect result read "2\ttwo\n"
expect not last "error"
text Read.
`)
	if err != nil {
		t.Fatal(err)
	}
	w.with(turns, nil, &agent.Definition{
		Slug: "brief", Categories: []agent.Category{agent.Primary}, Mode: agent.Agentic,
		Instruction: agent.Instruction{Prompt: "You do."},
		ToolOptions: map[string]agent.ToolOptions{
			"read": {Arguments: json.RawMessage(`{"path":"a.txt","max_lines":1}`)},
		},
	})
	if result := w.wait(w.start(agentcore.RunRequest{Agent: "brief", Prompt: "Go."})); result.Output != "Read." {
		t.Errorf("got %+v", result)
	}
}

// TestDefaultArgumentsAreChecked: a definition whose default arguments no call could have is told so where it is
// written.
func TestDefaultArgumentsAreChecked(t *testing.T) {
	known := registry.Known(&config.Config{}, nil, provider.Surroundings{})
	for name, test := range map[string]struct {
		path, text string
		want       []string
		left       string // of the tool's defaults
	}{
		"right, in any spelling": {
			".agentls/agents/x.md",
			native("  Bash:\n    arguments: {timeout: 1000, run_in_background: true}\n"), nil,
			`{"run_in_background":true,"timeout":1000}`,
		},
		"an unknown argument": {
			".agentls/agents/x.md", native("  bash:\n    arguments: {tmeout_ms: 1000}\n"),
			[]string{`7:17: error: bash has no argument "tmeout_ms"; did you mean timeout_ms? (timeout_ms)`},
			"",
		},
		"a value that does not fit": {
			".agentls/agents/x.md", native("  bash:\n    arguments:\n      timeout_ms: soon\n"),
			[]string{
				`8:19: error: the default of timeout_ms for bash: "soon" does not fit; expected a whole number, such as 10, at least 1 (default 120000); write what the tool takes, or take it out`,
			},
			"",
		},
		"out of range": {
			".agentls/agents/x.md", native("  bash:\n    arguments: {timeout_ms: 0}\n"),
			[]string{
				"7:29: error: the default of timeout_ms for bash: 0 is out of range; expected a whole " +
					"number, such as " +
					"10, at least 1 (default 120000); write what the tool takes, or take it out",
			},
			"",
		},
		"of an MCP server, whose tools nobody knows yet": {
			".agentls/agents/x.md",
			native("  mcp__a__b:\n    arguments: {x: 1}\n"), nil, `{"x":1}`,
		},
		"of another tool, whose faults are left out": {
			"agents.json", `{"Agents": {"Custom": [{"Slug": "x", "Name": "X", "Description": "d", "SystemPrompt": "p", "Tools": {"Overrides": {"bash":
{"DefaultArguments": {"timeout": 10,
"nope": 1}}}}}]}}`,
			[]string{
				`3:1: warning: bash has no argument "nope"; it is left out; the arguments are background, command, description, timeout_ms`,
			},
			`{"timeout":10}`,
		},
		"no table": {
			"agents.json", `{"Agents": {"Custom": [{"Slug": "x", "Name": "X", "Description": "d", "SystemPrompt": "p", "Tools": {"Overrides": {"bash":
{"DefaultArguments": "a"}}}}]}}`,
			[]string{`2:22: error: Tools.Overrides.bash.DefaultArguments is "a"; write a table`},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := registry.Check(known, "", test.path, test.text)
			var got []string
			for _, p := range file.Problems {
				text := strings.TrimPrefix(p.String(), test.path+":")
				if p.Fix != nil {
					text += fmt.Sprintf(" (%s)", p.Fix.New)
				}
				got = append(got, text)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("the problems are\n%s\nand should be\n%s", strings.Join(got, "\n"),
					strings.Join(test.want, "\n"))
			}
			for _, options := range file.Definitions[0].ToolOptions {
				if string(options.Arguments) != test.left {
					t.Errorf("the default arguments are %s, not %s", options.Arguments, test.left)
				}
			}
		})
	}
}

// native is a definition with options of tools, whose first line is the sixth.
func native(options string) string {
	return "---\nname: x\ndescription: d\ncategory: [subagent]\ntool_options:\n" + options + "---\nDo.\n"
}
