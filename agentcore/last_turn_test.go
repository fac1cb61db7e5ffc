package agentcore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
)

// A child hands over by submit_result in its last turn, too: where its turns are used up, where it has one, and where
// its time is over.
func TestLastTurnSubmits(t *testing.T) {
	result := call("submit_result",
		`{"status":"partial","summary":"Half of it.","details":"b.txt is left.","files_modified":["a.txt"]}`)
	edit := call("edit", `{"path":"a.txt","old_string":"one","new_string":"two"}`)
	gets := []script.Expect{
		script.Result("task", "summary: Half of it."), script.Result("task", "b.txt is left."),
		script.Result("task", "changed: a.txt"), script.Result("task", "ended by: max_turns"),
	}
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("general", "Edit it.", `,"max_turns":2`)}},
		script.Turn{Match: "Edit it.", Expect: []script.Expect{script.Calls()}, Answer: []script.Step{edit}},
		script.Turn{
			Match: "Edit it.", Answer: []script.Step{call("read", `{"path":"a.txt"}`), result},
			Expect: []script.Expect{
				script.Only("submit_result"), script.Last("The limit of this run is reached (max_turns)"),
				script.Last("submit_result"), script.Last("in text"),
			},
		},
		script.Turn{Match: "Go.", Expect: gets, Answer: []script.Step{task("general", "Say it.", `,"max_turns":1`)}},
		script.Turn{
			Match: "Say it.", Answer: []script.Step{call("submit_result", `{"summary":"Said at once."}`)},
			Expect: []script.Expect{
				script.Only("submit_result"), script.Tools("submit_result"),
				script.NoTools("read", "bash", "edit"), script.Last("only turn"),
			},
		},
		script.Turn{
			Match: "Go.", Answer: []script.Step{script.Text("done")},
			Expect: []script.Expect{
				script.Result("task", `status="completed"`), script.Result("task", "Said at once."),
				script.NotLast("ended by"),
			},
		},
	)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	if got := w.wait(run); got.Output != "done" {
		t.Errorf("got %+v", got)
	}
	children := w.children(run)
	first := w.wait(children[0].ID)
	if r := first.Result; r == nil || r.Summary != "Half of it." || r.Status != event.ChildStatusPartial ||
		len(r.FilesModified) != 1 || len(r.Warnings) != 0 {
		t.Errorf("the parent gets %+v", r)
	}
	if first.Turns != 2 || len(first.ToolCalls) != 2 || first.ToolCalls[1].Name != "submit_result" {
		t.Errorf("it made %+v in %d turns", first.ToolCalls, first.Turns)
	}
	second := w.wait(children[1].ID)
	if r := second.Result; r == nil || r.Summary != "Said at once." || second.Reason != "" ||
		second.Outcome != event.ChildStatusCompleted {
		t.Errorf("a child with one turn gave %+v", second)
	}
}

// before expects something of a request without its last message.
func before(expect script.Expect) script.Expect {
	return func(request *model.Request) error {
		former := *request
		former.Messages = former.Messages[:len(former.Messages)-1]
		return expect(&former)
	}
}

// Whoever calls something else in its last turn, or submits what is no result, is asked once more, in the same turn,
// for a text.
func TestLastTurnOfOtherCalls(t *testing.T) {
	last := []script.Expect{script.Only("submit_result"), script.Last("The limit of this run is reached (max_turns)")}
	read := call("read", `{"path":"a.txt"}`)
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{
			task("explore", "Look.", `,"max_turns":2`), task("explore", "Hand over.", `,"max_turns":2`),
		}},
		script.Turn{Match: "Look.", Answer: []script.Step{read}},
		script.Turn{Match: "Look.", Expect: last, Answer: []script.Step{read}},
		script.Turn{
			Match: "Look.", Answer: []script.Step{script.Text("It says one.")},
			Expect: []script.Expect{
				script.NoCalls(), script.Last("Answer in text"),
				before(script.Result("read", "this call was not made")),
			},
		},
		script.Turn{Match: "Hand over.", Answer: []script.Step{read}},
		script.Turn{Match: "Hand over.", Expect: last, Answer: []script.Step{call("submit_result", `{}`)}},
		script.Turn{
			Match: "Hand over.", Answer: []script.Step{script.Text("It is one.")},
			Expect: []script.Expect{script.NoCalls(), before(script.Result("submit_result", "error: "))},
		},
		script.Turn{
			Match: "Go.", Answer: []script.Step{script.Text("done")},
			Expect: []script.Expect{
				script.Last("It says one."), script.Last("It is one."),
				script.Last("ended by: max_turns"),
			},
		},
	)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	if got := w.wait(run); got.Output != "done" {
		t.Errorf("got %+v", got)
	}
	for _, child := range w.children(run) {
		if got := w.wait(child.ID); got.Turns != 2 || got.Reason != "max_turns" {
			t.Errorf("%s: got %+v", child.Title, got)
		}
	}
}

// A child whose time is over hands over by submit_result, although no other call is made any more.
func TestSubmitsWhenItsTimeIsOver(t *testing.T) {
	w := newWorld(
		t, nil,
		script.Turn{Match: "Go.", Answer: []script.Step{task("explore", "Look.", "")}},
		script.Turn{Match: "Look.", Answer: []script.Step{script.Gate("child")}},
		script.Turn{
			Match: "Look.", Answer: []script.Step{call("submit_result", `{"summary":"It was too much."}`)},
			Expect: []script.Expect{
				script.Only("submit_result"),
				script.Last("The limit of this run is reached (timeout)"),
			},
		},
		script.Turn{
			Match: "Go.", Answer: []script.Step{script.Text("done")},
			Expect: []script.Expect{script.Last("ended by: timeout"), script.Last("It was too much.")},
		},
	)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	if err := w.model.Reached(w.ctx, "child", 1); err != nil {
		t.Fatal(err)
	}
	child := w.children(run)[0].ID
	w.engine.Late(child)
	if r := w.wait(child).Result; r == nil || r.Summary != "It was too much." {
		t.Errorf("got %+v", r)
	}
	if got := w.wait(run); got.Output != "done" {
		t.Errorf("got %+v", got)
	}
}

// Whom the user asks has nothing to submit: its only turn is for a text, and is told so by the request.
func TestOnlyTurnOfTheUsersRun(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"}, script.Turn{
		Expect: []script.Expect{script.NoCalls(), script.Only("")}, Answer: []script.Step{script.Text("At once.")},
	})
	request := review(w.path("a.txt"))
	request.Limits.MaxTurns = 1
	if result := w.wait(w.start(request)); result.Output != "At once." || result.Reason != "" {
		t.Errorf("got %+v", result)
	}
}

// Whom the user asks for one turn is told so, and is asked once more for a text where it calls something all the same.
// Where it says nothing then either, nobody tells that it handed over.
func TestOnlyTurnOfOtherCalls(t *testing.T) {
	for name, answer := range map[string]string{"answers": "At once.", "says nothing": ""} {
		t.Run(name, func(t *testing.T) {
			again := script.Turn{
				Expect: []script.Expect{
					script.NoCalls(), script.Last("Answer in text"),
					before(script.Result("read", "this call was not made")),
				},
				Answer: []script.Step{call("read", `{"path":"a.txt"}`)},
			}
			if answer != "" {
				again.Answer = []script.Step{script.Text(answer)}
			}
			w := newWorld(t, map[string]string{"a.txt": "one\n"}, script.Turn{
				Expect: []script.Expect{script.NoCalls(), script.System("this is your only turn")},
				Answer: []script.Step{call("read", `{"path":"a.txt"}`)},
			}, again)
			id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Do it.", Limits: agent.Limits{MaxTurns: 1}})
			seen := w.until(ended(id))
			if got := w.wait(id); got.Output != answer || got.Turns != 1 || got.Reason != "max_turns" {
				t.Errorf("got %+v", got)
			}
			told := ""
			for _, e := range seen {
				if n, ok := e.Body.(event.Notice); ok && n.Level == event.NoticeWarning {
					told += n.Message
				}
			}
			if strings.Contains(told, "handed over") != (answer != "") || !strings.Contains(told, "by its limit") {
				t.Errorf("told %q", told)
			}
		})
	}
}

// Whoever says nothing in its last turn is asked once more, in the same turn. Where it says nothing then either, the
// task is not done: a child that had other turns is partial, and one that had none has failed.
func TestEmptyLastTurn(t *testing.T) {
	read := script.Turn{Match: "Look.", Answer: []script.Step{call("read", `{"path":"a.txt"}`)}}
	asked := []script.Expect{script.NoCalls(), script.Last("Your answer was empty"), script.Last("Answer in text")}
	for name, c := range map[string]struct {
		turns   int
		again   string
		outcome event.ChildStatus
		gets    []string
	}{
		"answers": {
			2, "It says one.", event.ChildStatusPartial,
			[]string{"ended by: max_turns", "It says one."},
		},
		"stays empty": {
			2, " ", event.ChildStatusPartial,
			[]string{"ended by: max_turns", "(it said nothing)"},
		},
		"answers in one turn": {1, "It says one.", event.ChildStatusCompleted, []string{"It says one."}},
		"one turn, stays empty": {
			1, "", event.ChildStatusFailed,
			[]string{"error: the task ended as failed", "gave no answer"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var turns []script.Turn
			if c.turns > 1 {
				turns = append(turns, read)
			}
			turns = append(turns, script.Turn{Match: "Look."}, script.Turn{
				Match: "Look.", Expect: asked, Answer: []script.Step{script.Text(c.again)},
			})
			if c.again == "" {
				turns[len(turns)-1].Answer = nil
			}
			child := slices.Clone(turns)
			var gets []script.Expect
			for _, text := range c.gets {
				gets = append(gets, script.Result("task", text))
			}
			asks := task("explore", "Look.", fmt.Sprintf(`,"max_turns":%d`, c.turns))
			w := newWorld(t, map[string]string{"a.txt": "one\n"}, slices.Concat(
				[]script.Turn{{Match: "Go.", Answer: []script.Step{asks}}}, child,
				[]script.Turn{{Match: "Go.", Expect: gets, Answer: []script.Step{script.Text("done")}}},
				turns, // of the user's own run
			)...)
			run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
			if got := w.wait(run); got.Output != "done" {
				t.Errorf("got %+v", got)
			}
			if got := w.wait(w.children(run)[0].ID); got.Outcome != c.outcome || got.Turns != c.turns {
				t.Errorf("the child ended with %+v", got)
			}
			own := agentcore.RunRequest{Agent: "coder", Prompt: "Look."}
			own.Limits.MaxTurns = c.turns
			if got := w.wait(w.start(own)); got.Outcome != c.outcome || got.Output != strings.TrimSpace(c.again) ||
				got.Turns != c.turns {
				t.Errorf("the run ended with %+v", got)
			}
		})
	}
}

// A child that hands over in its last turn that all of its task is done has done it, by a call or in text; where its
// time ended it, or its model got nowhere, or where it does not say so, it is partial.
func TestDoneInItsLastTurn(t *testing.T) {
	read := call("read", `{"path":"a.txt"}`)
	submit := func(status string) script.Step { return call("submit_result", `{"summary":"All of it."`+status+`}`) }
	done := `,"status":"completed"`
	for name, c := range map[string]struct {
		limit   string
		reads   int
		late    bool
		last    script.Step
		reason  string
		outcome event.ChildStatus
	}{
		"done": {`,"max_turns":2`, 1, false, submit(done), "", event.ChildStatusCompleted},
		"done in text": {
			`,"max_turns":2`, 1, false, script.Text(`{"summary":"All of it."` + done + `}`), "",
			event.ChildStatusCompleted,
		},
		"says nothing": {`,"max_turns":2`, 1, false, submit(""), "max_turns", event.ChildStatusPartial},
		"in text":      {`,"max_turns":2`, 1, false, script.Text("All of it."), "max_turns", event.ChildStatusPartial},
		"left": {
			`,"max_turns":2`, 1, false, submit(`,"status":"partial"`), "max_turns",
			event.ChildStatusPartial,
		},
		"failed": {
			`,"max_turns":2`, 1, false, submit(`,"status":"failed"`), "max_turns",
			event.ChildStatusFailed,
		},
		"over its time": {"", 0, true, submit(done), "timeout", event.ChildStatusPartial},
		"in a circle":   {"", 5, false, submit(done), "repeats", event.ChildStatusPartial},
	} {
		t.Run(name, func(t *testing.T) {
			turns := []script.Turn{{Match: "Go.", Answer: []script.Step{task("explore", "Look.", c.limit)}}}
			if c.late {
				turns = append(turns, script.Turn{Match: "Look.", Answer: []script.Step{script.Gate("child")}})
			} else {
				turns = append(turns, script.Turn{Match: "Look.", Times: c.reads, Answer: []script.Step{read}})
			}
			gets := []script.Expect{script.Result("task", "All of it.")}
			if c.reason == "" {
				gets = append(gets, script.NotLast("ended by"))
			}
			w := newWorld(t, map[string]string{"a.txt": "one\n"}, append(
				turns, script.Turn{Match: "Look.", Answer: []script.Step{c.last}},
				script.Turn{Match: "Go.", Expect: gets, Answer: []script.Step{script.Text("done")}},
			)...)
			run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
			if c.late {
				w.reached("child")
				w.engine.Late(w.children(run)[0].ID)
			}
			w.wait(run)
			got := w.wait(w.children(run)[0].ID)
			if got.Status != event.StatusCompleted || got.Reason != c.reason || got.Outcome != c.outcome {
				t.Errorf("it ended with %+v", got)
			}
		})
	}
}
