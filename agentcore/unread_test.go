package agentcore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
)

// times expects a text so often in a conversation.
func times(n int, text string) script.Expect {
	return func(request *model.Request) error {
		got := 0
		for _, m := range request.Messages {
			got += strings.Count(m.Text(), text)
		}
		if got != n {
			return fmt.Errorf("the conversation has %q %d times, want %d: %+v", text, got, n, request.Messages)
		}
		return nil
	}
}

// What a run was told and has not read when it is cut off, whoever told it and whatever cut it off, it reads when
// somebody goes on with it.
func TestUnreadIsReadAfterResume(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprint("killed ", killed), func(t *testing.T) {
			turns := []script.Turn{
				{Match: "Go.", Answer: []script.Step{task("general", "Slow.", inBackground)}},
				{Match: "Slow.", Answer: []script.Step{call("list", `{}`), script.Gate("first")}},
				{
					Match: "Slow.", Expect: []script.Expect{times(1, "Read this.")},
					Answer: []script.Step{script.Gate("slow")},
				},
				{
					Match: "Go.", Capture: started,
					Answer: []script.Step{
						script.Gate("sends"),
						call("task_send", `{"id":"${id}","message":"Hurry."}`),
					},
				},
				{
					Match: "Go.", Expect: []script.Expect{script.Result("task_send", "at its next turn")},
					Answer: []script.Step{script.Gate("held")},
				},
			}
			w := newWorld(t, map[string]string{"a.txt": "one\n"}, turns...)
			run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
			w.reached("first", "sends")
			child := w.children(run)[0].ID
			if err := w.engine.Steer(child, "Read this."); err != nil {
				t.Fatal(err)
			}
			w.model.Release("first")
			w.reached("slow")
			w.model.Release("sends")
			w.reached("held")
			if err := w.engine.Steer(child, "Be exact."); err != nil {
				t.Fatal(err)
			}
			var next *world
			if killed {
				next = w.another()
				var err error
				if next.session, err = next.engine.OpenSession(next.ctx, next.view, "test"); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.engine.Cancel(run); err != nil {
				t.Fatal(err)
			}
			w.wait(run)
			again := []script.Expect{
				times(1, "Read this."), before(script.Last("Hurry.")), before(script.Last("Be exact.")),
				script.Last("Go on with the task"),
			}
			if !killed {
				next = w
			}
			next.model = script.New("again", script.Turn{Expect: again, Answer: []script.Step{script.Text("Exactly.")}},
				script.Turn{
					Expect: []script.Expect{times(1, "Hurry."), script.Last("Once more.")},
					Answer: []script.Step{script.Text("Twice.")},
				})
			if !killed {
				w.closeEngine()
				w.open()
			}
			second, err := next.session.Resume(next.ctx, child, "")
			if err != nil {
				t.Fatal(err)
			}
			if result := next.wait(second); result.Output != "Exactly." {
				t.Errorf("got %+v", result)
			}
			third, err := next.session.Resume(next.ctx, second, "Once more.")
			if err != nil {
				t.Fatal(err)
			}
			if result := next.wait(third); result.Output != "Twice." {
				t.Errorf("got %+v", result)
			}
		})
	}
}
