package agentcore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
)

const writeSettings = `{"path":".vscode/settings.json","content":"{}\n"}`

// asked waits for the next question.
func (w *world) asked() authority.Ask {
	w.t.Helper()
	w.until(func(e event.Event) bool { _, ok := e.Body.(event.AskOpened); return ok })
	asks := w.session.Asks()
	if len(asks) != 1 {
		w.t.Fatalf("got %d open questions, want one", len(asks))
	}
	return asks[0]
}

// resolved waits until a question is answered.
func (w *world) resolved() event.AskResolved {
	w.t.Helper()
	seen := w.until(func(e event.Event) bool { _, ok := e.Body.(event.AskResolved); return ok })
	return seen[len(seen)-1].Body.(event.AskResolved)
}

func (w *world) answer(ask authority.Ask, answer authority.Answer) {
	w.t.Helper()
	if err := w.engine.Answer(ask.ID, answer); err != nil {
		w.t.Fatal(err)
	}
}

func coder() agentcore.RunRequest { return agentcore.RunRequest{Agent: "coder", Prompt: "Change it."} }

func TestAskAllowedOnce(t *testing.T) {
	w := newWorld(t, nil,
		script.Turn{Answer: []script.Step{call("write", writeSettings)}},
		script.Turn{
			Expect: []script.Expect{script.Result("write", ".vscode/settings.json")},
			Answer: []script.Step{call("write", `{"path":".vscode/tasks.json","content":"{}\n"}`)},
		},
		ends(script.Result("write", "denied: the user said no")),
	)
	id := w.start(coder())
	ask := w.asked()
	if !strings.HasPrefix(ask.Title, "coder wants to write .vscode/settings.json") ||
		!strings.Contains(ask.Detail, "settings.json") || ask.Run != id || ask.Expires.IsZero() {
		t.Errorf("unexpected question: %+v", ask)
	}
	w.answer(ask, authority.Answer{Allow: true})
	if got := w.resolved(); got.Decision != "allow" || got.Ask != ask.ID {
		t.Errorf("resolved as %+v", got)
	}
	if err := w.engine.Answer(ask.ID, authority.Answer{}); err == nil ||
		!strings.Contains(err.Error(), "answered before") {
		t.Errorf("a second answer: %v", err)
	}
	// Once was for that call alone.
	w.answer(w.asked(), authority.Answer{})
	w.wait(id)
	hunks := w.session.Board().Proposal().Hunks()
	if len(hunks) != 1 || !strings.HasSuffix(hunks[0].Path, "settings.json") {
		t.Errorf("unexpected hunks: %+v", hunks)
	}
	if left := w.session.Asks(); len(left) != 0 {
		t.Errorf("questions are left: %+v", left)
	}
	stored, err := w.engine.Store().Asks(w.ctx, w.session.ID)
	if err != nil || len(stored) != 2 || stored[0].Decision != "allow" || stored[1].Decision != "deny" ||
		stored[0].State != "answered" {
		t.Errorf("stored: %+v, %v", stored, err)
	}
}

func TestGrantsHoldAndAreRevoked(t *testing.T) {
	turns := func() []script.Turn {
		return []script.Turn{
			{Answer: []script.Step{call("write", writeSettings)}},
			{
				Expect: []script.Expect{script.Result("write", ".vscode/settings.json")},
				Answer: []script.Step{script.Text("done")},
			},
		}
	}
	w := newWorld(t, nil, append(append(turns(), turns()...), append(turns(), turns()...)...)...)
	first := w.start(coder())
	ask := w.asked()
	if len(ask.Always) == 0 {
		t.Fatal("nothing can be allowed for longer than once")
	}
	w.answer(ask, authority.Answer{Allow: true, Scope: permission.Project})
	w.wait(first)
	w.session.Board().Proposal().Reject([]event.HunkID{w.session.Board().Proposal().Hunks()[0].ID})
	w.wait(w.start(coder())) // is not asked
	// Another process knows it, too.
	w.closeEngine()
	w.open()
	w.wait(w.start(coder()))
	grants := w.engine.Grants(w.session.ID)
	if len(grants) != 1 || grants[0].Root != w.dir {
		t.Fatalf("unexpected grants: %+v", grants)
	}
	if err := w.engine.Decisions().Revoke(w.ctx, grants[0].ID); err != nil {
		t.Fatal(err)
	}
	for _, h := range w.session.Board().Proposal().Hunks() {
		w.session.Board().Proposal().Reject([]event.HunkID{h.ID}) // nobody is asked about a call that changes nothing
	}
	last := w.start(coder())
	w.answer(w.asked(), authority.Answer{Allow: true})
	w.wait(last)
}

func TestAskExpires(t *testing.T) {
	w := newWorld(t, nil,
		script.Turn{Answer: []script.Step{call("write", writeSettings)}},
		ends(script.Result("write", "denied: nobody answered within 1ms")),
	)
	cfg := config.Default()
	cfg.AskTimeout = time.Millisecond
	w.configured(cfg)
	if result := w.wait(w.start(coder())); result.Status != event.StatusCompleted {
		t.Errorf("the run is %s: %+v", result.Status, result.Error)
	}
	if got := w.resolved(); got.Decision != "deny" {
		t.Errorf("resolved as %+v", got)
	}
}

func TestCancelWhileItAsks(t *testing.T) {
	w := newWorld(t, nil, script.Turn{Answer: []script.Step{call("write", writeSettings)}})
	id := w.start(coder())
	ask := w.asked()
	if err := w.engine.Cancel(id); err != nil {
		t.Fatal(err)
	}
	if result := w.wait(id); result.Status != event.StatusCancelled {
		t.Errorf("the run is %s", result.Status)
	}
	if err := w.engine.Answer(ask.ID, authority.Answer{Allow: true}); err == nil {
		t.Error("the question of a run that has ended was answered")
	}
}

func TestNobodyIsAskedForAChild(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n"},
		script.Turn{Answer: []script.Step{call("write", writeSettings)}},
		ends(script.Result("write", "denied: the user is not asked about a subagent's calls")),
	)
	request := coder()
	request.Each = []string{w.path("a.txt")}
	if result := w.wait(w.start(request)); result.Status != event.StatusCompleted {
		t.Errorf("the run is %s: %+v", result.Status, result.Error)
	}
}
