package agentcore_test

import (
	"os"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model/script"
)

// TestResumedHearsOfItsBackground: a run that is cut off before it has heard what came of a child in the background is
// told by whoever goes on with it, once, and may read the child's file. A child of which it had heard is not told of.
func TestResumedHearsOfItsBackground(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("explore", "Look.", inBackground)}},
		script.Turn{Match: "Look.", Answer: []script.Step{script.Gate("look"), script.Text("The key is 42.")}},
		script.Turn{Match: "Go.", Answer: []script.Step{script.Gate("held")}},
	)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	w.reached("look", "held")
	child := w.children(run)[0]
	w.model.Release("look")
	w.until(func(e event.Event) bool {
		_, ended := e.Body.(event.RunFinished)
		return ended && e.Run == child.ID
	})
	if err := w.engine.Cancel(run); err != nil {
		t.Fatal(err)
	}
	w.wait(run)
	w.closeEngine()
	w.model = script.New(
		"again",
		script.Turn{
			Expect: []script.Expect{times(1, "The key is 42."), script.Last("Go on with the task")},
			Answer: []script.Step{
				call("read", `{"path":"`+child.Output+`"}`),
				call("task_output", `{"id":"`+string(child.ID)+`"}`),
			},
		},
		script.Turn{
			Expect: []script.Expect{
				script.Result("read", "The key is 42."),
				script.Result("task_output", "The key is 42."),
			},
			Answer: []script.Step{script.Text("It is 42.")},
		},
		script.Turn{
			Expect: []script.Expect{times(1, "The key is 42."), script.Last("Once more.")},
			Answer: []script.Step{script.Text("42.")},
		},
	)
	w.open()
	if _, err := os.Stat(child.Output); err != nil {
		t.Fatal(err)
	}
	second, err := w.session.Resume(w.ctx, run, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := w.wait(second); got.Output != "It is 42." {
		t.Errorf("it ended with %+v", got)
	}
	third, err := w.session.Resume(w.ctx, second, "Once more.")
	if err != nil {
		t.Fatal(err)
	}
	if got := w.wait(third); got.Output != "42." {
		t.Errorf("it ended with %+v", got)
	}
}
