package servers

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/mcp"
	"github.com/agentls/agentls/agentcore/mcpname"
	"github.com/agentls/agentls/agentcore/tool"
)

// many are tools of a server, each with a schema of some bytes.
func many(n, bytes int) (tools []tool.Tool) {
	c := &Client{server: Server{Name: "srv"}}
	for i := range n {
		tools = append(tools, Tool{c, mcp.Tool{
			Name: mcpname.Tool("srv", fmt.Sprintf("do_%03d", i)), Description: fmt.Sprintf("Does thing %d.", i),
			Schema: json.RawMessage(`{"description":"` + strings.Repeat("x", bytes) + `"}`),
		}})
	}
	return tools
}

// TestShelve lists the tools as long as they are short, and has them found else.
func TestShelve(t *testing.T) {
	few := many(3, 1000)
	if listed, shelved := Shelve(few); len(listed) != 3 || len(shelved) != 0 {
		t.Errorf("%d tools are listed, %d are not", len(listed), len(shelved))
	}
	listed, shelved := Shelve(many(9, 1000))
	if len(listed) != 2 || len(shelved) != 9 || listed[0].Spec().Name != SearchTool ||
		listed[1].Spec().Name != CallTool || !strings.Contains(listed[0].Spec().Description, "(srv; 9 tools)") {
		t.Errorf("%d tools are listed, %d are not", len(listed), len(shelved))
	}
}

// TestFind finds tools by their names and by what they do, the best first, and stays within its bounds.
func TestFind(t *testing.T) {
	tools := many(400, 2000)
	for query, want := range map[string]string{
		"do_123":            "<mcp tools>\nmcp__srv__do_123: Does thing 123.\narguments: {",
		"mcp__srv__do_007":  "<mcp tools>\nmcp__srv__do_007: Does thing 7.\n",
		"THING 42":          "<mcp tools>\nmcp__srv__do_042: Does thing 42.\n",
		"*":                 "<mcp tools>\nnamed only (look for a name to see its arguments): mcp__srv__do_000 mcp__srv__do_001",
		"frobnicate, twice": `No tool fits "frobnicate, twice". Try other words; * names all 400 tools.`,
	} {
		got := find(tools, query).Text
		if !strings.HasPrefix(got, want) || len(got) > maxFound+maxNamed*20 {
			t.Errorf("%s: %d bytes, %.200s", query, len(got), got)
		}
	}
	if defined := strings.Count(find(tools, "thing").Text, "\narguments: "); defined == 0 || defined > maxFound/2000 {
		t.Errorf("%d tools are defined", defined)
	}
}

// TestCalled takes calls of other tools apart.
func TestCalled(t *testing.T) {
	call := callTool()
	for raw, want := range map[string]string{
		`{"tool":"mcp__srv__x","arguments":{"a":1}}`:     `mcp__srv__x {"a":1}`,
		`{"tool":"mcp__srv__x","arguments":"{\"a\":1}"}`: `mcp__srv__x {"a":1}`,
		`{"tool":"mcp__srv__x"}`:                         `mcp__srv__x {}`,
	} {
		name, arguments, err := Called(call, json.RawMessage(raw))
		if got := name + " " + string(arguments); err != nil || got != want {
			t.Errorf("%s: %s, %v", raw, got, err)
		}
	}
	if _, _, err := Called(call, json.RawMessage(`{"name":"x"}`)); err == nil ||
		!strings.Contains(err.Error(), "tool") {
		t.Errorf("the error is %v", err)
	}
}
