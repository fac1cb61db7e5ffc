package agentcore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
)

const twoQuestions = `{"questions":[
	{"question":"Shall the old\nname stay?","header":"names","options":[{"label":"Yes"},{"label":"No","description":"callers break"}]},
	{"question":"Which files?","options":[{"label":"a.go"},{"label":"b.go"},{"label":"c.go"}],"multiSelect":true}
]}`

// asking waits until so many questions are open.
func (w *world) asking(n int) []authority.Ask {
	w.t.Helper()
	for range n {
		w.until(func(e event.Event) bool { _, ok := e.Body.(event.AskOpened); return ok })
	}
	asks := w.session.Asks()
	if len(asks) != n {
		w.t.Fatalf("got %d open questions, want %d", len(asks), n)
	}
	return asks
}

func TestQuestion(t *testing.T) {
	w := newWorld(
		t, nil,
		script.Turn{
			Expect: []script.Expect{script.Tools("question")},
			Answer: []script.Step{call("AskUserQuestion", twoQuestions)},
		},
		script.Turn{
			Expect: []script.Expect{
				script.Result("AskUserQuestion", "name stay?\n→ Only in v1\n"),
				script.Result("AskUserQuestion", "Which files?\n→ a.go; c.go\n"),
			},
			Answer: []script.Step{script.Text("Done.")},
		},
	)
	id := w.start(coder())
	asks := w.asking(2)
	first, second := asks[0], asks[1]
	if first.Title != "coder asks (names): Shall the old name stay?" || first.Detail != "No: callers break" ||
		first.Run != id || first.Expires.IsZero() {
		t.Errorf("unexpected question: %+v", first)
	}
	var titles []string
	for _, c := range first.Choices() {
		titles = append(titles, c.Title)
	}
	if got := strings.Join(titles, "|"); got != "Yes|No|Let the agent decide" {
		t.Errorf("the choices are %s", got)
	}
	if info, err := w.engine.RunInfo(id); err != nil || info.Status != event.StatusWaiting {
		t.Errorf("the run is %s, %v", info.Status, err)
	}
	for name, wrong := range map[string]authority.Answer{
		"no words":     {Allow: true},
		"empty words":  {Allow: true, Chosen: []string{" "}},
		"two answers":  {Allow: true, Chosen: []string{"Yes", "No"}},
		"for longer":   {Allow: true, Chosen: []string{"Yes"}, Scope: permission.Run},
		"denied words": {Chosen: []string{"Yes"}},
	} {
		if err := w.engine.Answer(first.ID, wrong); err == nil || fault.Explain(err).Kind != "invalid_request" {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.answer(second, authority.Answer{Allow: true, Chosen: []string{"a.go", "c.go"}})
	w.answer(first, authority.Answer{Allow: true, Chosen: []string{"Only in v1"}})
	if result := w.wait(id); result.Output != "Done." {
		t.Errorf("got %+v", result)
	}
	stored, err := w.engine.Store().Asks(w.ctx, w.session.ID)
	if err != nil || len(stored) != 2 || stored[0].Decision != "allow" || stored[0].Reason != "Only in v1" ||
		stored[1].Reason != "a.go, c.go" {
		t.Errorf("stored: %+v, %v", stored, err)
	}
}

// TestQuestionLeftToTheAgent: a user who does not want to decide is no failure.
func TestQuestionLeftToTheAgent(t *testing.T) {
	w := newWorld(
		t, nil,
		script.Turn{Answer: []script.Step{
			call("question", `{"questions":[{"question":"Why?"}]}`),
			call("question", `{"questions":[]}`),
			call("question", `{"questions":[{"question":"Which?","options":[{"label":"a"},{"label":"a"}]}]}`),
		}},
		script.Turn{
			Expect: []script.Expect{
				script.Result("question",
					"→ no answer: the user leaves it to you. Take the likeliest reading, and say so."),
				script.Result("question", "there are 0 questions"),
				script.Result("question", "need labels that differ"),
			},
			Answer: []script.Step{script.Text("Done.")},
		},
	)
	id := w.start(coder())
	w.chooses("Let the agent decide")
	w.wait(id)
}

// TestQuestionExpires: questions of one call wait one time together, and the run goes on.
func TestQuestionExpires(t *testing.T) {
	w := newWorld(
		t, nil,
		script.Turn{Answer: []script.Step{call("question", twoQuestions)}},
		script.Turn{
			Expect: []script.Expect{script.Result("question", "Which files?\n→ no answer: nobody answered within 1ms")},
			Answer: []script.Step{script.Text("Done.")},
		},
	)
	cfg := config.Default()
	cfg.AskTimeout = time.Millisecond
	w.configured(cfg)
	if result := w.wait(w.start(coder())); result.Output != "Done." {
		t.Errorf("got %+v", result)
	}
	if left := w.session.Asks(); len(left) != 0 {
		t.Errorf("questions are left: %+v", left)
	}
}

func TestCancelWhileAQuestionWaits(t *testing.T) {
	w := newWorld(t, nil, script.Turn{Answer: []script.Step{call("question", twoQuestions)}})
	id := w.start(coder())
	asks := w.asking(2)
	if err := w.engine.Cancel(id); err != nil {
		t.Fatal(err)
	}
	if result := w.wait(id); result.Status != event.StatusCancelled {
		t.Errorf("the run is %s", result.Status)
	}
	for _, ask := range asks {
		if err := w.engine.Answer(ask.ID, authority.Answer{Allow: true, Chosen: []string{"Yes"}}); err == nil {
			t.Error("the question of a run that has ended was answered")
		}
	}
}

// TestPermissionHasNoWords: an answer to an agent's question is none to a question for permission.
func TestPermissionHasNoWords(t *testing.T) {
	w := newWorld(
		t, nil,
		script.Turn{Answer: []script.Step{call("write", writeSettings)}},
		script.Turn{
			Expect: []script.Expect{script.Result("write", "denied: the user said no")},
			Answer: []script.Step{script.Text("Done.")},
		},
	)
	id := w.start(coder())
	ask := w.asked()
	if err := w.engine.Answer(ask.ID, authority.Answer{Allow: true, Chosen: []string{"Yes"}}); err == nil {
		t.Error("words are taken for a permission")
	}
	w.answer(ask, authority.Answer{})
	w.wait(id)
}
