package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/agent"
)

// TestServersThatCannotBeCalled: an agent that brings an MCP server is told where it could call none of its tools, and
// only there.
func TestServersThatCannotBeCalled(t *testing.T) {
	const asked = "as a subagent it cannot call the MCP server docs"
	server := "mcp_servers: {docs: {command: docs-server}}\n"
	for name, test := range map[string]struct {
		keys     string
		callable []string
		want     string
	}{
		"a list without its tools": {
			"category: [primary]\ntools: [read]\n" + server,
			[]string{},
			"cannot call the MCP server docs: its list of tools",
		},
		"a named one": {
			"category: [primary]\ntools: [read]\nmcp_servers: [docs]\n",
			[]string{},
			"cannot call the MCP server docs: its list of tools",
		},
		"a list with them":             {"category: [primary]\ntools: [read, mcp__docs]\n" + server, []string{}, ""},
		"all tools":                    {"category: [primary]\n" + server, []string{}, ""},
		"a subagent":                   {"category: [primary, subagent]\n" + server, []string{}, asked},
		"a subagent, other rules":      {"category: [subagent]\n" + server, []string{"bash", "mcp__other__*"}, asked},
		"a subagent with a rule":       {"category: [subagent]\n" + server, []string{"mcp__docs__*"}, ""},
		"a subagent with a wider rule": {"category: [subagent]\n" + server, []string{"mcp__*"}, ""},
		"a subagent with its own rule": {"category: [subagent]\nrules: [{tool: mcp__docs__*, action: allow}]\n" +
			server, []string{}, ""},
		"a subagent that is asked for":  {"category: [subagent]\n" + server, []string{"*"}, ""},
		"a subagent, nobody knows more": {"category: [subagent]\n" + server, nil, ""},
	} {
		f := agent.Parse(".agentls/agents/x.md", "---\nname: x\ndescription: d\n"+test.keys+"---\nDo.\n")
		k := known()
		k.Callable = test.callable
		f.Validate(k)
		told := slices.ContainsFunc(f.Problems, func(p agent.Problem) bool {
			return test.want != "" && strings.Contains(p.Message, test.want) && p.Hint != ""
		})
		if told != (test.want != "") || !told && len(f.Problems) > 0 || len(f.Problems) > 1 || len(f.Usable()) != 1 {
			t.Errorf("%s: %v", name, f.Problems)
		}
	}
}

// TestArgumentsOfServersStay: an argument of a program stays as it is written, also where it is empty or comes again.
func TestArgumentsOfServersStay(t *testing.T) {
	want := []string{"docs-server", "-a", "1", "-b", "1", "", " x, y "}
	for _, keys := range []string{
		"mcp_servers: {docs: {command: docs-server, args: [-a, 1, -b, 1, '', ' x, y ']}}\n",
		"mcp_servers: {docs: {command: [docs-server, -a, 1, -b, 1, '', ' x, y ']}}\n",
		"hooks: {Stop: [{command: [docs-server, -a, 1, -b, 1, '', ' x, y ']}]}\n",
	} {
		f := agent.Parse(".agentls/agents/x.md",
			"---\nname: x\ndescription: d\ncategory: [primary]\n"+keys+"---\nDo.\n")
		if len(f.Problems) > 0 || len(f.Usable()) != 1 {
			t.Errorf("%s: %v", keys, f.Problems)
			continue
		}
		var got []string
		if d := f.Usable()[0]; len(d.MCPServers) > 0 {
			got = d.MCPServers[0].Command
		} else {
			got = d.Hooks[0].Command
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the program is %q, want %q", keys, got, want)
		}
	}
}
