package agentcore_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/provider"
)

// TestReading tells of files before a call works on them, so that the call sees what is shown of them meanwhile. What
// is denied is not told of.
func TestReading(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "saved\n", "b.txt": "b\n"},
		script.Turn{Answer: []script.Step{
			script.Call{Name: "read", Arguments: `{"path": "a.txt"}`},
			script.Call{Name: "read", Arguments: `{"path": "../outside.txt"}`},
			script.Call{Name: "glob", Arguments: `{"pattern": "*"}`},
		}},
		script.Turn{
			Expect: []script.Expect{script.Result("read", "unsaved")},
			Answer: []script.Step{script.Text("Done.")},
		})
	w.closeEngine()
	var mu sync.Mutex
	var told []string
	w.openWith(agentcore.Options{
		StateDir: w.state, Getenv: func(string) string { return "" },
		OpenModel: func(provider.Choice) (model.Model, error) { return w.model, nil },
		Reading: func(_ context.Context, session event.SessionID, paths []string) {
			mu.Lock()
			defer mu.Unlock()
			if session != w.session.ID {
				t.Errorf("it is told of the session %s", session)
			}
			told = append(told, paths...)
			w.view.SetDocument(w.path("a.txt"), "unsaved\n", 1)
		},
	})
	w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Read."}))
	if !slices.Contains(told, w.path("a.txt")) || slices.Contains(told, w.path("b.txt")) || len(told) > 2 {
		t.Errorf("it is told of %v", told)
	}
}

// TestResumeIn goes on with a conversation in the mode that the user chose for what follows, or in its own.
func TestResumeIn(t *testing.T) {
	edit := script.Call{Name: "edit", Arguments: `{"path": "a.txt", "old_string": "a", "new_string": "b"}`}
	w := newWorld(t, map[string]string{"a.txt": "a\n"},
		script.Turn{Answer: []script.Step{script.Text("Planned.")}},
		script.Turn{Answer: []script.Step{edit}},
		script.Turn{
			Expect: []script.Expect{script.Result("edit", "denied")}, Answer: []script.Step{script.Text("No.")},
		},
		script.Turn{Answer: []script.Step{edit}},
		script.Turn{Answer: []script.Step{script.Text("Yes.")}})
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Plan.", PermissionMode: permission.Plan})
	w.wait(run)
	goOn := func(mode permission.Mode) {
		t.Helper()
		request := agentcore.RunRequest{Prompt: "Go on.", PermissionMode: mode}
		var err error
		run, err = agentcore.ResumeIn(w.ctx, w.session, run, request)
		if err != nil {
			t.Fatal(err)
		}
		w.wait(run)
	}
	goOn("")
	if n := len(w.session.Board().Hunks()); n != 0 {
		t.Errorf("%d hunks are proposed in plan mode", n)
	}
	goOn(permission.Default)
	if n := len(w.session.Board().Hunks()); n != 1 {
		t.Errorf("%d hunks are proposed", n)
	}
}
