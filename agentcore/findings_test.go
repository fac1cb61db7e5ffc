package agentcore_test

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
)

func remark(line int, message string) script.Call {
	return call("report_finding", fmt.Sprintf(`{"path":"a.txt","line":%d,"message":%q}`, line, message))
}

var said = script.Turn{Answer: []script.Step{script.Text("done")}}

// messages are those of the open findings, sorted.
func (w *world) messages() []string {
	var list []string
	for _, f := range w.session.Board().Findings("") {
		list = append(list, f.Message)
	}
	slices.Sort(list)
	return list
}

// Another program changes a file that is not open, and nobody tells: the next finding in it is the first to notice.
func TestFindingNoticesAChangeOnDisk(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\ntwo\nthree\n"},
		script.Turn{Answer: []script.Step{remark(2, "two is odd")}},
		script.Turn{Answer: []script.Step{script.Gate("changed"), remark(1, "one is odd")}},
		said,
	)
	id := w.start(review(w.path("a.txt")))
	if err := w.model.Reached(w.ctx, "changed", 1); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.path("a.txt"), []byte("one\nTWO, and longer\nthree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.model.Release("changed")
	w.wait(id)
	if got := w.messages(); !slices.Equal(got, []string{"one is odd"}) {
		t.Errorf("the open findings are %q", got)
	}
}

// Findings are reported while the user types, changes their lines and looks at them.
func TestFindingsWhileTyping(t *testing.T) {
	const n = 40
	turns := []script.Turn{}
	for i := range n {
		turns = append(turns,
			script.Turn{Answer: []script.Step{remark(2, fmt.Sprintf("remark %d", i)), remark(3, "again")}})
	}
	w := newWorld(t, map[string]string{"a.txt": "one\ntwo\nthree\n"}, append(turns, said)...)
	path := w.path("a.txt")
	done := make(chan struct{})
	var typing sync.WaitGroup
	typing.Go(func() {
		for version := int32(1); ; version++ {
			select {
			case <-done:
				return
			default:
			}
			w.view.SetDocument(path, fmt.Sprintf("one\ntwo %d\nthree\n", version), version)
			w.session.Board().Findings(path)
		}
	})
	request := review(path)
	request.Limits.MaxTurns = n + 2
	result := w.wait(w.start(request))
	close(done)
	typing.Wait()
	if result.Status != event.StatusCompleted {
		t.Errorf("unexpected result: %+v", result)
	}
	w.view.SetDocument(path, "", 1<<30)
	if got := w.messages(); len(got) != 0 {
		t.Errorf("findings outlived their lines: %q", got)
	}
	if err := w.session.Flush(w.ctx); err != nil {
		t.Fatal(err)
	}
	left, err := w.engine.Store().OpenFindings(w.ctx, []string{w.dir})
	if err != nil || len(left) != 0 {
		t.Errorf("the store still has %d open findings (%v)", len(left), err)
	}
}

// A review of a few lines says nothing of the others.
func TestReviewOfASelectionKeepsTheOthers(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\ntwo\nthree\n"},
		script.Turn{Answer: []script.Step{remark(1, "first"), remark(3, "third")}}, said,
		script.Turn{Answer: []script.Step{script.Text("nothing found")}},
	)
	path := w.path("a.txt")
	w.wait(w.start(review(path)))
	w.wait(w.start(agentcore.RunRequest{
		Agent: "reviewer", Prompt: "Review these lines of the file.",
		Context: agentcore.Context{Paths: []string{path}, StartLine: 3, EndLine: 3},
	}))
	if got := w.messages(); !slices.Equal(got, []string{"first"}) {
		t.Errorf("the open findings are %q, want only that outside of the selection", got)
	}
}

// A review that was cut short has not seen everything.
func TestReviewCutShortClearsNothing(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\ntwo\nthree\n"},
		script.Turn{Answer: []script.Step{remark(1, "first")}}, said,
		script.Turn{Answer: []script.Step{call("read", `{"path":"a.txt"}`)}, Usage: model.Usage{Input: 1}},
		script.Turn{
			Expect: []script.Expect{script.Last("Answer in text")},
			Answer: []script.Step{script.Text("I could not look.")},
		},
	)
	path := w.path("a.txt")
	w.wait(w.start(review(path)))
	again := review(path)
	again.Limits.MaxTurns = 1
	if result := w.wait(w.start(again)); result.Status != event.StatusCompleted || result.Reason != "max_turns" {
		t.Errorf("a run whose calls were left undone ended as %s, %q", result.Status, result.Reason)
	}
	if got := w.messages(); !slices.Equal(got, []string{"first"}) {
		t.Errorf("the open findings are %q", got)
	}
}
