package tool_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/tool/tooltest"
	"github.com/agentls/agentls/agentcore/workspace"
)

func TestBashReport(t *testing.T) {
	h := tooltest.New(t, nil)
	h.Results = map[string]tool.CommandResult{
		"quiet": {},
		"much": {
			Output: "line\n", Exit: 2, Whole: "/state/outputs/1.txt", Size: 99_000,
			Notes: []string{"a limit was reached"},
			Files: []workspace.Taken{
				{Path: h.Path("a.go"), Changed: true},
				{Path: h.Path("b.go"), Changed: true, Created: true, Notes: []string{"it is executable"}},
				{Path: h.Path("c.go"), Changed: true, Deleted: true},
				{Path: h.Path(".git/x"), Problem: &workspace.FileError{
					Path: h.Path(".git/x"), Detail: "is protected",
					Hint: "leave it",
				}},
				{Path: h.Path("d.go"), Problem: errors.New("no room")},
				{
					Path: h.Path("e.go"),
					Conflicts: []workspace.Conflict{{
						StartLine: 4, EndLine: 5, Ours: strings.Repeat("x", 5000),
						Theirs: "",
					}},
				},
			},
		},
		"ended": {Exit: 137, Signal: "SIGKILL"}, "late": {Exit: 137, Signal: "SIGKILL", TimedOut: true},
	}
	for _, test := range []struct{ arguments, want, summary string }{
		{`{"command":"quiet"}`, "(no output)\n\nexit code 0\n", "exit code 0"},
		{`{"command":"ended"}`, "(no output)\n\nended by SIGKILL\n", "ended by SIGKILL"},
		{`{"command":"late"}`, "(no output)\n\ntimed out\n", "timed out"},
		{`{"cmd":"much"}`, `line

exit code 2
the output has 99000 bytes; all of it is in /state/outputs/1.txt, see parts of it with read
changed files (proposed, not written): a.go, b.go (new), c.go (deleted)
b.go: it is executable
left out: .git/x: is protected; leave it
left out: d.go: no room
left out: e.go was changed at line 5 while the command ran. The command made of it:
` + strings.Repeat("x", 2000) + `…
It now reads:
(nothing)
Edit it by hand if it is still wanted.
note: a limit was reached
`, "exit code 2, changed 3 files"},
	} {
		result, err := h.Call(t.Context(), "bash", test.arguments)
		if err != nil || result.Text != test.want || result.Summary != test.summary {
			t.Errorf("%s: %q, %q, %v; want %q", test.arguments, result.Text, result.Summary, err, test.want)
		}
	}
}

func TestBashReportIsBounded(t *testing.T) {
	h := tooltest.New(t, nil)
	var many tool.CommandResult
	for i := range 150 {
		many.Files = append(many.Files,
			workspace.Taken{Path: h.Path(fmt.Sprint(i)), Changed: true, Notes: []string{"noted"}})
	}
	h.Results = map[string]tool.CommandResult{"many": many}
	result, err := h.Call(t.Context(), "bash", `{"command":"many"}`)
	if err != nil || !strings.Contains(result.Text, ", 99, and 50 more\n") ||
		strings.Count(result.Text, "noted") != 20 || !strings.HasSuffix(result.Text, "fewer files to see it\n") {
		t.Errorf("%q, %v", result.Text, err)
	}
}

func TestBashCommand(t *testing.T) {
	h := tooltest.New(t, nil)
	h.Results = map[string]tool.CommandResult{"go  vet": {}}
	h.Background = map[string]tool.BackgroundCommand{
		"server": {Output: "listening\n"}, "done": {Ended: true, Result: tool.CommandResult{Exit: 3}},
	}
	for _, test := range []struct{ name, arguments, want string }{
		{"bash", `{"command":"go  vet"}`, "exit code 0"},
		{"Bash", `{"command":"go  vet","timeout":5000,"description":" check "}`, "exit code 0"},
		{"bash", `{"command":"server","run_in_background":true}`, "as server"},
		{"bash_output", `{"id":"server"}`, "listening\n\nit is still running"},
		{"BashOutput", `{"bash_id":"done"}`, "(no new output)\n\nexit code 3"},
		{"KillShell", `{"shell_id":"server"}`, "listening\n\nexit code 0"},
		{"bash", `{"command":" \n"}`, "the command is empty"},
		{"bash", `{"command":"x","timeout_ms":600001}`, "600000 at most"},
		{"bash_output", `{"id":"x"}`, "there is no command"},
		{"bash_kill", `{"id":"x"}`, "there is no command"},
	} {
		result, err := h.Call(t.Context(), test.name, test.arguments)
		text := result.Text
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, test.want) {
			t.Errorf("%s %s: %q, want %q in it", test.name, test.arguments, text, test.want)
		}
	}
	want := []tool.Command{
		{Script: "go  vet", Why: "made by go vet", Timeout: 2 * time.Minute},
		{Script: "go  vet", Why: "check", Timeout: 5 * time.Second},
		{Script: "server", Why: "made by server"},
	}
	ran := h.Ran
	if len(ran) != len(want) {
		t.Fatalf("it ran %+v, want %+v", ran, want)
	}
	for i := range want {
		if ran[i] != want[i] {
			t.Errorf("it ran %+v, want %+v", ran[i], want[i])
		}
	}
}
