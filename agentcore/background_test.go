package agentcore_test

import (
	"os"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model/script"
)

// TestFileOfARunInTheBackground: while the run works its file says how far it is, and a server that was killed has the
// next one say what came of it. That it is in the background, and where its file is, is told of the run.
func TestFileOfARunInTheBackground(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("explore", "Look.", inBackground)}},
		script.Turn{
			Match:  "Look.",
			Answer: []script.Step{script.Text("The first half is well."), call("read", `{"path":"a.txt"}`)},
		},
		script.Turn{Match: "Look.", Answer: []script.Step{script.Gate("look")}},
		script.Turn{Match: "Go.", Answer: []script.Step{script.Gate("go")}},
	)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	w.reached("look", "go")
	children := w.children(run)
	if len(children) != 1 || !children[0].Background || children[0].Output == "" {
		t.Fatalf("the children are %+v", children)
	}
	child := children[0]
	var created event.RunCreated
	w.until(func(e event.Event) bool {
		body, ok := e.Body.(event.RunCreated)
		if ok && e.Run == child.ID {
			created = body
		}
		return ok && e.Run == child.ID
	})
	if !created.Background || created.OutputURI != event.FileURI(child.Output) || created.Mode != "agentic" {
		t.Errorf("the event is %+v", created)
	}
	says := func(when string, want ...string) string {
		t.Helper()
		text, err := os.ReadFile(child.Output)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s the file says %q, without %q", when, text, part)
			}
		}
		return string(text)
	}
	working := says("while it works", "(it still runs: turn 2, 1 tool call so far)\n\nThe first half is well.\n")
	w.closeEngine()
	resume := "to go on with it: task with resume = \"" + string(child.ID) +
		"\", or the user by `agentls sessions resume " + string(child.ID) + "`"
	says("after a shutdown", `status="interrupted"`, resume)
	// One that is killed leaves the file as it is.
	if err := os.WriteFile(child.Output, []byte(working), 0o600); err != nil {
		t.Fatal(err)
	}
	w.open()
	says("after a kill", `status="interrupted"`, resume, "\n\nThe first half is well.\n</task>")
	_, tree, err := w.engine.History().Tree(w.ctx, child.Session)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range tree {
		if r.Background != (r.ID == child.ID) || (r.Output == child.Output) != (r.ID == child.ID) {
			t.Errorf("the store tells %+v", r)
		}
	}
}
