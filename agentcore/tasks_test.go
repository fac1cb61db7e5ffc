package agentcore_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model/script"
)

// started finds the id of a task in the background, and the file for its result, in the answer to the call.
var started = map[string]*regexp.Regexp{
	"id":   regexp.MustCompile(`background as (\S+)\.`),
	"file": regexp.MustCompile(`will be in (\S+)\.`),
}

const inBackground = `,"run_in_background":true`

func (w *world) reached(gates ...string) {
	w.t.Helper()
	for _, gate := range gates {
		if err := w.model.Reached(w.ctx, gate, 1); err != nil {
			w.t.Fatal(err)
		}
	}
}

// TestTaskInTheBackground: the starter goes on, is told of the end when it has nothing more to do, and can read the
// file.
func TestTaskInTheBackground(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("explore", "Look.", inBackground)}},
		script.Turn{
			Match:  "Look.",
			Expect: []script.Expect{script.Tools("read", "submit_result"), script.NoTools("task", "question")},
			Answer: []script.Step{script.Gate("look"), script.Text("Found.")},
		},
		script.Turn{
			Match: "Go.", Capture: started,
			Answer: []script.Step{
				script.Gate("started"), call("task_status", `{}`),
				call("read", `{"path":"${file}"}`),
			},
		},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{
				script.Result("task_status", " explore running (Look.): "),
				script.Result("read", "it still runs"),
			},
			Answer: []script.Step{script.Gate("idle"), script.Text("I have nothing to do.")},
		},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{script.Last("\n\nFound.\n</task>")},
			Answer: []script.Step{call("read", `{"path":"${file}"}`)},
		},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{script.Last("Found.")},
			Answer: []script.Step{script.Text("It found something.")},
		},
	)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	w.reached("look", "started")
	w.model.Release("started")
	w.reached("idle")
	w.model.Release("idle")
	w.until(func(e event.Event) bool {
		change, ok := e.Body.(event.RunStatusChanged)
		return ok && change.Reason == "waits for 1 child in the background"
	})
	w.model.Release("look")
	if result := w.wait(run); result.Status != event.StatusCompleted || result.Output != "It found something." {
		t.Errorf("got %+v", result)
	}
}

func TestWaitSendAndCancelTasks(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("explore", "Slow.", inBackground)}},
		script.Turn{Match: "Go.", Capture: started, Answer: []script.Step{task("explore", "Quick.", inBackground)}},
		script.Turn{Match: "Slow.", Answer: []script.Step{script.Gate("slow"), call("list", `{}`)}},
		script.Turn{
			Match:  "Slow.",
			Expect: []script.Expect{script.Last(`<message from="coder, who started you">` + "\nHurry.")},
			Answer: []script.Step{script.Gate("never")},
		},
		script.Turn{Match: "Quick.", Answer: []script.Step{script.Gate("quick"), script.Text("Quick is done.")}},
		script.Turn{
			Match:  "Go.",
			Answer: []script.Step{script.Gate("sends"), call("task_send", `{"id":"${id}","message":"Hurry."}`)},
		},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{script.Last("at its next turn")},
			Answer: []script.Step{call("task_wait", `{"mode":"any"}`)},
		},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{
				script.Result("task_wait", "Quick is done."),
				script.Result("task_wait", "explore running (Slow.)"),
			},
			Answer: []script.Step{call("task_output", `{"id":"${id}"}`), call("task_cancel", `{"id":"nobody"}`)},
		},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{
				script.Result("task_output", "explore running"),
				script.Result("task_cancel", "you have no task \"nobody\"; yours are r"),
			},
			Answer: []script.Step{call("task_cancel", `{"id":"${id}"}`)},
		},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{script.Result("task_cancel", `status="cancelled"`)},
			Answer: []script.Step{call("task_send", `{"id":"${id}","message":"Hurry."}`), call("task_wait", `{}`)},
		},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{
				script.Result("task_send", "has ended"),
				script.Result("task_wait", "None of your tasks runs."),
			},
			Answer: []script.Step{script.Text("done")},
		},
	)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	w.reached("slow", "quick", "sends")
	w.model.Release("sends")
	w.until(func(e event.Event) bool {
		change, ok := e.Body.(event.RunStatusChanged)
		return ok && e.Run == run && change.Reason == "waits for 2 children"
	})
	w.model.Release("slow")
	w.reached("never")
	w.model.Release("quick")
	if result := w.wait(run); result.Status != event.StatusCompleted || result.Output != "done" {
		t.Errorf("got %+v", result)
	}
}

// TestSteer: the user's message arrives at the next turn, or makes one where the run was about to end.
func TestSteer(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Answer: []script.Step{script.Gate("first"), script.Text("I think that is all.")}},
		script.Turn{
			Expect: []script.Expect{script.Last("<message from=\"the user\">\nNot yet.\n</message>")},
			Answer: []script.Step{script.Text("Now it is.")},
		},
	)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	w.reached("first")
	if err := w.engine.Steer(run, " "); err == nil {
		t.Error("an empty message is taken")
	}
	if err := w.engine.Steer(run, "Not yet."); err != nil {
		t.Fatal(err)
	}
	w.model.Release("first")
	if result := w.wait(run); result.Output != "Now it is." {
		t.Errorf("got %+v", result)
	}
	if err := w.engine.Steer(run, "More."); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("got %v", err)
	}
}

// TestBackgroundEndsWithItsStarter: at a limit of turns, what runs in the background is waited for until the time of
// the run is kept for its hand-over, and ended then, before the last word, which knows of it.
func TestBackgroundEndsWithItsStarter(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("explore", "Look.", inBackground)}},
		script.Turn{Match: "Look.", Times: script.Any, Answer: []script.Step{script.Gate("never")}},
		script.Turn{
			Match:  "Go.",
			Expect: []script.Expect{script.NoCalls(), script.Last("The limit of this run is reached (max_turns)")},
			Answer: []script.Step{script.Text("It was cut off.")},
		},
	)
	request := agentcore.RunRequest{Agent: "coder", Prompt: "Go."}
	request.Limits.MaxTurns = 2
	run := w.start(request)
	w.waitsInBackground(run)
	w.engine.Late(run)
	result := w.wait(run)
	if result.Reason != "max_turns" || result.Output != "It was cut off." {
		t.Errorf("got %+v", result)
	}
	for _, child := range w.children(run) {
		if child.Status != event.StatusCancelled {
			t.Errorf("%+v", child)
		}
		files, err := os.ReadDir(w.state + "/outputs")
		if err != nil || len(files) != 1 {
			t.Errorf("outputs: %v, %v", files, err)
		}
	}
}

// waitsInBackground reads events until the run waits for its only child in the background.
func (w *world) waitsInBackground(run event.RunID) {
	w.t.Helper()
	w.until(func(e event.Event) bool {
		change, ok := e.Body.(event.RunStatusChanged)
		return ok && e.Run == run && change.Reason == "waits for 1 child in the background"
	})
}

// At its limit of turns, or where it is ended since its model gets nowhere, a run waits for what runs in the background
// before its last word, as it does at its normal end.
func TestBackgroundIsWaitedForAtALimit(t *testing.T) {
	read := []script.Step{call("read", `{"path":"a.txt"}`)}
	told := map[string]string{"max_turns": "(max_turns)", "repeats": "5 times in a row"}
	for reason, turns := range map[string][]script.Turn{
		"max_turns": {{Match: "Go.", Answer: read}},
		"repeats":   {{Match: "Go.", Times: 5, Answer: read}},
	} {
		t.Run(reason, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.txt": "one\n"}, slices.Concat([]script.Turn{
				{Match: "Go.", Answer: []script.Step{task("general", "Look.", inBackground)}},
				{
					Match: "Look.",
					Answer: []script.Step{
						script.Gate("look"),
						call("edit", `{"path":"a.txt","old_string":"one","new_string":"two"}`),
					},
				},
				{Match: "Look.", Answer: []script.Step{script.Text("Found.")}},
			}, turns, []script.Turn{{
				Match: "Go.", Answer: []script.Step{script.Text("It found something.")},
				Expect: []script.Expect{
					script.NoCalls(), before(script.Last("\n\nFound.\n</task>")), before(script.Last("changed: a.txt")),
					script.Last(told[reason]),
				},
			}})...)
			request := agentcore.RunRequest{Agent: "coder", Prompt: "Go."}
			if reason == "max_turns" {
				request.Limits.MaxTurns = 3
			}
			run := w.start(request)
			w.waitsInBackground(run)
			w.model.Release("look")
			if got := w.wait(run); got.Reason != reason || got.Output != "It found something." || len(got.Files) != 1 {
				t.Errorf("got %+v", got)
			}
			if child := w.children(run)[0]; child.Status != event.StatusCompleted {
				t.Errorf("the child is %+v", child)
			}
		})
	}
}

// A run that has no tokens left for its last word ends what runs in the background at once, and names it in its result.
func TestLeftInTheBackground(t *testing.T) {
	spent := readsFor("1", 100_000)
	spent.Match, spent.Answer = "Go.", append([]script.Step{script.Gate("go")}, spent.Answer...)
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("general", "Look.", inBackground)}},
		script.Turn{Match: "Look.", Answer: []script.Step{
			script.Text("Half of it."), call("edit", `{"path":"a.txt","old_string":"one","new_string":"two"}`),
		}},
		script.Turn{Match: "Look.", Answer: []script.Step{script.Gate("never")}},
		spent,
	)
	request := agentcore.RunRequest{Agent: "coder", Prompt: "Go."}
	request.Limits.Tokens = 100_000
	run := w.start(request)
	w.reached("never", "go")
	w.model.Release("go")
	got, child := w.wait(run), w.children(run)[0]
	want := "The limit of this run was reached (max_tokens) before there was an answer.\n\n" +
		"What it started in the background and had no turn left to read:\n" +
		"- general (Look., " + string(child.ID) + "): cancelled; changed a.txt; said: Half of it."
	if got.Reason != "max_tokens" || got.Output != want || len(got.Files) != 1 {
		t.Errorf("got %+v, want the output\n%s", got, want)
	}
}

// TestStatusTellsWhatATaskWaitsFor: a task that has no place yet says where it is in the queue.
func TestStatusTellsWhatATaskWaitsFor(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	w.with(script.New("test",
		script.Turn{Match: "Go.", Answer: []script.Step{task("explore", "First.", inBackground)}},
		script.Turn{Match: "First.", Answer: []script.Step{script.Gate("first"), script.Text("1")}},
		script.Turn{Match: "Go.", Answer: []script.Step{script.Gate("next"), task("explore", "Second.", inBackground)}},
		script.Turn{Match: "Go.", Answer: []script.Step{script.Gate("asks"), call("task_status", `{}`)}},
		script.Turn{
			Match: "Go.",
			Expect: []script.Expect{
				script.Last("(Second.): 0 turns, 0 tokens; waits for a free place, number 1 in the queue"),
			},
			Answer: []script.Step{script.Gate("last"), script.Text("ok")},
		},
		script.Turn{Match: "Second.", Answer: []script.Step{script.Text("2")}},
		script.Turn{Match: "Go.", Times: script.Any, Answer: []script.Step{script.Text("done")}},
	), func(o *agentcore.Options) {
		o.Config = config.Default()
		o.Config.MaxChildrenPerSession = 1
	})
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	w.reached("first")
	w.model.Release("next")
	w.until(func(e event.Event) bool {
		change, ok := e.Body.(event.RunStatusChanged)
		return ok && change.Reason == "waits for a free place, number 1 in the queue"
	})
	w.model.Release("asks")
	w.reached("last")
	w.model.Release("first")
	w.model.Release("last")
	if result := w.wait(run); result.Output != "done" {
		t.Errorf("got %+v", result)
	}
}
