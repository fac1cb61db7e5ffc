//go:build unix

package tool_test

import (
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/tool/tooltest"
)

// TestNamesAreQuoted: no name of a file looks like several, and each comes so that it can be given back.
func TestNamesAreQuoted(t *testing.T) {
	const odd, folder = "a.txt\nsecret/b\u202e.txt", "we\nird"
	h := tooltest.New(t, map[string]string{
		odd: "needle\n", folder + "/in.txt": "needle\n", `"q".txt`: "needle\n",
		"plain.txt": "needle\n",
	})
	const shown, inFolder, quotes = `"a.txt\nsecret/b\u202e.txt"`, `"we\nird/in.txt"`, `"\"q\".txt"`
	for tool, arguments := range map[string]string{
		"list": `{"depth":4}`, "glob": `{"pattern":"**"}`,
		"grep": `{"pattern":"needle"}`,
	} {
		text := call(t, h, tool, arguments).Text
		for _, name := range []string{shown, inFolder, quotes, "plain.txt"} {
			if !strings.Contains(text, name+"\n") {
				t.Errorf("%s does not tell %s:\n%s", tool, name, text)
			}
		}
		if strings.Contains(text, "\nsecret/b") || strings.Contains(text, "\u202e") {
			t.Errorf("%s tells a name as two:\n%s", tool, text)
		}
	}
	for _, name := range []string{shown, inFolder, quotes} {
		if got := call(t, h, "read", `{"path":`+quote(name)+`}`).Text; !strings.Contains(got, "needle") {
			t.Errorf("read %s: %s", name, got)
		}
	}
	h.Files().NextTurn()
	if got := call(t, h, "edit",
		`{"path":`+quote(shown)+`,"old_string":"needle","new_string":"pin"}`).Text; !strings.Contains(got, shown) ||
		strings.Contains(got, "\u202e") {
		t.Errorf("edit tells %q", got)
	}
}
