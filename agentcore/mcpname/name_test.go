package mcpname

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"docs":    "docs",
		"my docs": "my_docs",
		"a__b":    "a_b",
		"_a_":     "a",
		"a/../b":  "a_b",
		"ünï":     "n",
		"":        "",
		"__":      "",
		"\u202e":  "",
	} {
		if got := Server(name); got != want {
			t.Errorf("%q is %q, not %q", name, got, want)
		}
	}
	seen := map[string]string{}
	for _, server := range []string{"a", "a_b", "a-b", strings.Repeat("s", 40), strings.Repeat("s", 41)} {
		for _, tool := range []string{
			"b", "b__c", "_b", "read", "bash", "mcp__a__b", strings.Repeat("t", 80), strings.Repeat("t", 81),
		} {
			name := Tool(Server(server), tool)
			if other, taken := seen[name]; taken {
				t.Errorf("%s is the name of %s %s and of %s", name, server, tool, other)
			}
			seen[name] = server + " " + tool
			if gotServer, _, ok := Split(name); !ok || gotServer != Server(server) || len(name) > MaxTool {
				t.Errorf("%s is of the server %q", name, gotServer)
			}
		}
	}
}

// TestMatches: an entry of a list names a tool by its name, by a pattern, or as all of its server.
func TestMatches(t *testing.T) {
	for entry, want := range map[string]bool{
		"mcp__a__b": true, "mcp__a": true, "mcp__a__*": true, "mcp__*": true, "mcp__*__b": true, "*": true,
		"mcp__a__": false, "mcp__": false, "mcp__a__b__": false, "m*": false, "a": false, "mcp__a__[": false,
		"mcp__aa": false,
	} {
		if got := Matches(entry, Tool("a", "b")); got != want {
			t.Errorf("%q names it: %v", entry, got)
		}
	}
	for entry, want := range map[string]string{"mcp__a": All("a"), "mcp__a__b": "mcp__a__b", "mcp__a__*": All("a")} {
		if got := Pattern(entry); got != want || !Is(got) {
			t.Errorf("%q is the pattern %q", entry, got)
		}
	}
	if all := All("a"); all != Begins("a")+"*" || Whole("a") != "mcp__a" {
		t.Errorf("all tools are %q", all)
	}
}
