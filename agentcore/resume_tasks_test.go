package agentcore_test

import (
	"fmt"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/model/script"
)

// A run that is cut off while it waits for a task is told by whoever goes on with it which task that was, how it
// stands, what it changed and how to go on with it; it sees the task among its own, and goes on with it.
func TestResumedHearsOfItsTasks(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprint("killed ", killed), func(t *testing.T) {
			edit := call("edit", `{"path":"a.txt","old_string":"one","new_string":"two"}`)
			w := newWorld(
				t, map[string]string{"a.txt": "one\n"},
				script.Turn{Match: "Go.", Answer: []script.Step{
					task("explore", "Look.", ""), task("general", "Edit it.", ""), call("list", `{}`),
				}},
				script.Turn{Match: "Look.", Answer: []script.Step{script.Gate("look"), script.Text("It is one.")}},
				script.Turn{Match: "Edit it.", Answer: []script.Step{edit}},
				script.Turn{Match: "Edit it.", Answer: []script.Step{script.Gate("child")}},
			)
			run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
			w.reached("look", "child")
			children := map[string]history.Run{}
			for _, child := range w.children(run) {
				children[child.Agent] = child
			}
			w.model.Release("look")
			w.until(ended(children["explore"].ID))
			next, id := w, string(children["general"].ID)
			if killed {
				next = w.another()
				var err error
				if next.session, err = next.engine.OpenSession(next.ctx, next.view, "test"); err != nil {
					t.Fatal(err)
				}
			} else {
				w.closeEngine()
			}
			next.model = script.New(
				"again",
				script.Turn{
					Match: "Go.", Answer: []script.Step{
						call("task_status", `{}`), call("task_output", `{"id":"`+id+`"}`), call("task_wait", `{}`),
						call("task_send", `{"id":"`+id+`","message":"Hurry."}`), call("task_cancel", `{"id":"`+id+`"}`),
						call("task_status", `{"ids":["nobody"]}`),
					},
					Expect: []script.Expect{
						before(script.Result("task", "It is one.")),
						before(script.Result("task", "error: the task ended as interrupted, and may be done in part")),
						before(script.Result("task", `<task id="`+id+`" agent="general" status="interrupted">`)),
						before(script.Result("task", "to go on with it: task with resume = \""+id+`"`)),
						before(script.Result("task", "changed: a.txt")),
					},
				},
				script.Turn{
					Match: "Go.", Answer: []script.Step{task("general", "Finish.", `,"resume":"`+id+`"`)},
					Expect: []script.Expect{
						script.Result("task_status", string(children["explore"].ID)+" explore completed (Look.)"),
						script.Result("task_status", id+" general interrupted (Edit it.)"),
						script.Result("task_status", "task with resume = \""+id+`"`),
						script.Result("task_output", `status="interrupted"`),
						script.Result("task_output", "changed: a.txt"),
						script.Result("task_wait", "None of your tasks runs."), script.Result("task_send", "has ended"),
						script.Result("task_cancel", `status="interrupted"`),
						script.Result("task_status",
							"you have no task \"nobody\"; yours are "+string(children["explore"].ID)+", "+id),
					},
				},
				script.Turn{
					Match: "Edit it.", Expect: []script.Expect{script.Last("Finish.")},
					Answer: []script.Step{script.Text("Finished.")},
				},
				script.Turn{
					Match: "Go.", Expect: []script.Expect{script.Result("task", "Finished.")},
					Answer: []script.Step{script.Text("done")},
				},
			)
			if !killed {
				w.open()
			}
			again, err := next.session.Resume(next.ctx, run, "")
			if err != nil {
				t.Fatal(err)
			}
			if got := next.wait(again); got.Status != event.StatusCompleted || got.Output != "done" {
				t.Errorf("got %+v", got)
			}
			if killed {
				if err := w.engine.Cancel(run); err != nil {
					t.Fatal(err)
				}
				w.wait(run)
			}
		})
	}
}
