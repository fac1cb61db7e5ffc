package agentcore_test

import (
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
)

func submit(arguments string) script.Call { return call("submit_result", arguments) }

// TestIterations: each pass starts afresh with what the last one leaves, sees its edits, and the last is the one that
// has nothing to change any more.
func TestIterations(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{
			Expect: []script.Expect{
				script.Messages(1), script.First("Do it.\n\n<pass>\nThis is pass 1 of at most 4"),
				script.Tools("submit_result", "edit"), script.NoTools("question"),
			},
			Answer: []script.Step{call("edit", `{"path":"a.txt","old_string":"one","new_string":"two"}`)},
		},
		script.Turn{
			Answer: []script.Step{submit(`{"summary":"One is two.","status":"partial","details":"Left: three."}`)},
		},
		script.Turn{
			Expect: []script.Expect{
				script.Messages(1), script.First("Do it.\n"), script.First("pass 2 of at most 4"),
				script.First("The last pass (says: partial; changed a.txt):\nOne is two.\n\nLeft: three."),
			},
			Answer: []script.Step{call("read", `{"path":"a.txt"}`)},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("read", "two")},
			Answer: []script.Step{call("edit", `{"path":"a.txt","old_string":"two","new_string":"three"}`)},
		},
		script.Turn{Answer: []script.Step{submit(`{"summary":"All done.","status":"completed"}`)}},
		// It says so, but has changed something: another looks.
		script.Turn{Expect: []script.Expect{
			script.First("pass 3 of at most 4"),
			script.First("(completed; changed a.txt)"),
		}, Answer: []script.Step{script.Text("Nothing is left to do.")}},
	)
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "/iter 4  Do it."})
	seen := w.until(ended(id))
	result := w.wait(id)
	if result.Status != event.StatusCompleted || result.Reason != "" || len(result.Children) != 3 || result.Turns != 0 {
		t.Errorf("got %+v", result)
	}
	for _, want := range []string{
		"## Pass 1 of 4: says: partial; changed a.txt\n\nOne is two.",
		"## Pass 2 of 4: completed; changed a.txt\n\nAll done.",
		"## Pass 3 of 4: completed; nothing changed\n\nNothing is left to do.",
		"Ended after pass 3: the pass says that the task is done, and had nothing to change.",
	} {
		if !strings.Contains(result.Output, want) {
			t.Errorf("the output lacks %q:\n%s", want, result.Output)
		}
	}
	var told []string
	for _, e := range seen {
		if p, ok := e.Body.(event.RunProgress); ok && e.Run == id {
			told = append(told, p.Message)
		}
	}
	if got := strings.Join(told, ", "); got != "pass 1 of 4, pass 2 of 4, pass 3 of 4" {
		t.Errorf("told %q", got)
	}
	hunks := w.session.Board().Proposal().Hunks()
	if len(hunks) != 1 || hunks[0].Before != "one\n" || hunks[0].After != "three\n" {
		t.Errorf("got the hunks %+v", hunks)
	}
}

// TestIterationsAreUsedUp: the last pass is the last, whatever it says is left.
func TestIterationsAreUsedUp(t *testing.T) {
	w := newWorld(t, nil,
		script.Turn{Times: 2, Answer: []script.Step{submit(`{"summary":"Too hard.","status":"failed"}`)}})
	result := w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Do it.", Iterations: 2}))
	if result.Status != event.StatusCompleted || result.Reason != "iterations" || len(result.Children) != 2 ||
		!strings.Contains(result.Output, "all 2 passes are used up") {
		t.Errorf("got %+v", result)
	}
}

// TestIterationsUntil: the check decides, on what the passes propose, and what it says is the next pass's task.
func TestIterationsUntil(t *testing.T) {
	write := func(text string) script.Call { return call("write", `{"path":"a.txt","content":"`+text+`\n"}`) }
	w := newWorld(
		t, map[string]string{"z.txt": "z\n"},
		script.Turn{
			Expect: []script.Expect{script.First("succeeds, which is run after you: cat a.txt; grep -q three a.txt")},
			Answer: []script.Step{write("two")},
		},
		script.Turn{Answer: []script.Step{submit(`{"summary":"Surely done.","status":"completed"}`)}},
		script.Turn{
			Expect: []script.Expect{script.First("After it, the command failed:\ntwo\n(exit code 1)")},
			Answer: []script.Step{call("read", `{"path":"a.txt"}`)},
		},
		script.Turn{Answer: []script.Step{write("three")}},
		script.Turn{Answer: []script.Step{submit(`{"summary":"Now it is.","status":"partial"}`)}},
	)
	w.session.SetTrusted(true)
	request := agentcore.RunRequest{
		Agent: "coder", Prompt: "Do it.", Iterations: 5,
		Until: "cat a.txt; grep -q three a.txt",
	}
	result := w.wait(w.start(request))
	if result.Status != event.StatusCompleted || result.Reason != "" || len(result.Children) != 2 ||
		!strings.Contains(result.Output, "Ended after pass 2: the check succeeded.") {
		t.Errorf("got %+v", result)
	}
	if len(result.ToolCalls) != 2 || result.ToolCalls[0].Name != "bash" {
		t.Errorf("the checks are %+v", result.ToolCalls)
	}
}

// TestIterationsMakeNoProgress: a pass that knows what the check says and changes nothing is the last.
func TestIterationsMakeNoProgress(t *testing.T) {
	w := newWorld(t, nil,
		script.Turn{Times: 2, Answer: []script.Step{submit(`{"summary":"It is done.","status":"completed"}`)}})
	w.session.SetTrusted(true)
	result := w.wait(w.start(agentcore.RunRequest{
		Agent: "coder", Prompt: "Do it.", Iterations: 5,
		Until: "echo no; false",
	}))
	if result.Status != event.StatusCompleted || result.Reason != "no_progress" || len(result.Children) != 2 ||
		!strings.Contains(result.Output, "The check said last:\n\n```\nno\n(exit code 1)\n```") {
		t.Errorf("got %+v", result)
	}
}

// TestIterationsFail: one failed pass is not the end, two in a row are.
func TestIterationsFail(t *testing.T) {
	broken := script.Turn{Answer: []script.Step{script.Error{Kind: model.ErrAuth, Detail: "no such key"}}}
	w := newWorld(
		t, nil, broken,
		script.Turn{
			Expect: []script.Expect{script.First("The last pass (failed: ")},
			Answer: []script.Step{call("write", `{"path":"a.txt","content":"x\n"}`)},
		},
		script.Turn{Answer: []script.Step{script.Text("Wrote it.")}},
		broken, broken,
	)
	result := w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Do it.", Iterations: 9}))
	if result.Status != event.StatusFailed || result.Error == nil ||
		!strings.Contains(result.Error.Detail, "two passes in a row failed: ") || len(result.Children) != 4 {
		t.Errorf("got %+v, %+v", result, result.Error)
	}
}

// TestCheckThatMayNotRun: the check has the rights of the run, no more. That nothing may run here is told before a pass
// is paid for.
func TestCheckThatMayNotRun(t *testing.T) {
	w := newWorld(t, nil, script.Turn{Answer: []script.Step{script.Text("Done.")}})
	request := agentcore.RunRequest{Agent: "coder", Prompt: "Do it.", Iterations: 2, Until: "true"}
	refused := w.wait(w.start(request))
	if refused.Status != event.StatusFailed || refused.Error == nil || refused.Error.Kind != "not_allowed" ||
		len(refused.Children) != 0 {
		t.Errorf("got %+v, %+v", refused, refused.Error)
	}
	w.session.SetTrusted(true)
	cfg := config.Default()
	cfg.Permissions = []config.Permission{{Tool: "bash", Pattern: "*", Action: permission.Deny}}
	w.engine.SetConfig(cfg)
	result := w.wait(w.start(request))
	if result.Status != event.StatusFailed || result.Error == nil ||
		!strings.Contains(result.Error.Detail, "the check could not be made: denied") {
		t.Errorf("got %+v, %+v", result, result.Error)
	}
}

// TestCancelIterations: all of it ends.
func TestCancelIterations(t *testing.T) {
	w := newWorld(t, nil, script.Turn{Answer: []script.Step{script.Gate("never")}})
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Do it.", Iterations: 3})
	w.reached("never")
	if err := w.engine.Cancel(id); err != nil {
		t.Fatal(err)
	}
	result := w.wait(id)
	if result.Status != event.StatusCancelled || len(result.Children) != 1 {
		t.Errorf("got %+v", result)
	}
	for _, child := range w.children(id) {
		if child.Status != event.StatusCancelled {
			t.Errorf("the pass is %+v", child)
		}
	}
}

// TestSteerIterations: what is said to the run is heard by the pass under way, and stands in the tasks of those behind
// it.
func TestSteerIterations(t *testing.T) {
	const message = "<message from=\"the user\">\nLeave b alone.\n</message>"
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{
			Answer: []script.Step{
				script.Gate("first"),
				call("edit", `{"path":"a.txt","old_string":"one","new_string":"two"}`),
			},
		},
		script.Turn{Expect: []script.Expect{script.Last(message)}, Answer: []script.Step{script.Text("Left alone.")}},
		script.Turn{
			Expect: []script.Expect{
				script.Messages(1), script.First("pass 2 of at most 3"),
				script.First("holds for this one, too:\n" + message),
			},
			Answer: []script.Step{script.Text("Nothing left.")},
		},
	)
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Do it.", Iterations: 3})
	w.reached("first")
	if err := w.engine.Steer(id, "Leave b alone."); err != nil {
		t.Fatal(err)
	}
	w.model.Release("first")
	if result := w.wait(id); result.Status != event.StatusCompleted || len(result.Children) != 2 {
		t.Errorf("got %+v", result)
	}
	if err := w.engine.Steer(id, "More."); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("got %v", err)
	}
}

// TestEachIterates: every file has passes of its own.
func TestEachIterates(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"},
		script.Turn{
			Match:  "file: a.txt",
			Answer: []script.Step{call("edit", `{"path":"a.txt","old_string":"a","new_string":"x"}`)},
		},
		script.Turn{Match: "file: a.txt", Answer: []script.Step{script.Text("Changed a.")}},
		script.Turn{
			Match: "file: a.txt", Expect: []script.Expect{script.First("pass 2 of at most 3")},
			Answer: []script.Step{script.Text("Nothing left.")},
		},
		script.Turn{
			Match: "file: b.txt", Expect: []script.Expect{script.First("pass 1 of at most 3")},
			Answer: []script.Step{script.Text("Nothing to do.")},
		},
	)
	result := w.wait(w.start(agentcore.RunRequest{
		Agent: "coder", Prompt: "Do it.", Iterations: 3,
		Each: []string{w.path("a.txt"), w.path("b.txt")},
	}))
	if result.Status != event.StatusCompleted || len(result.Children) != 2 ||
		strings.Count(result.Output, "## Pass ") != 3 {
		t.Errorf("got %+v", result)
	}
}

// TestPassMayAsk: a pass stands for its starter, which may ask the user for permission, as other children may not.
func TestPassMayAsk(t *testing.T) {
	w := newWorld(
		t, nil,
		script.Turn{Answer: []script.Step{call("write", writeSettings)}},
		script.Turn{
			Expect: []script.Expect{script.Result("write", "settings.json")},
			Answer: []script.Step{script.Text("Done.")},
		},
		script.Turn{Answer: []script.Step{script.Text("Nothing left.")}},
	)
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Do it.", Iterations: 3})
	w.answer(w.asked(), authority.Answer{Allow: true, Scope: permission.Once})
	if result := w.wait(id); result.Status != event.StatusCompleted || len(result.Children) != 2 {
		t.Errorf("got %+v", result)
	}
}

func TestBadIterations(t *testing.T) {
	w := newWorld(t, nil)
	for name, request := range map[string]agentcore.RunRequest{
		"no number":     {Prompt: "/iter often do it"},
		"no task":       {Prompt: "/iter 3"},
		"nothing":       {Prompt: "/iter"},
		"none":          {Prompt: "/iter 0 do it"},
		"too many":      {Prompt: "/iter 101 do it"},
		"negative":      {Prompt: "do it", Iterations: -1},
		"a check alone": {Prompt: "do it", Until: "true"},
	} {
		if _, err := w.session.Start(w.ctx, request); err == nil || fault.Explain(err).Kind != "invalid_request" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGoal: a goal is the check of passes by a name, which the status and the result say.
func TestGoal(t *testing.T) {
	w := newWorld(
		t, nil,
		script.Turn{
			Expect: []script.Expect{
				script.First("This is pass 1 of at most 10"),
				script.First("which is run after you: grep -q done a.txt"),
			},
			Answer: []script.Step{call("write", `{"path":"a.txt","content":"done\n"}`)},
		},
		script.Turn{Answer: []script.Step{submit(`{"summary":"Done.","status":"completed"}`)}},
	)
	w.session.SetTrusted(true)
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Do it.", Goal: "grep -q done a.txt"})
	var told []string
	for _, e := range w.until(ended(id)) {
		if p, ok := e.Body.(event.RunProgress); ok && e.Run == id {
			told = append(told, p.Message)
		}
	}
	if got := strings.Join(told, ", "); !strings.HasPrefix(got,
		"goal, pass 1 of 10, goal, pass 1 of 10: checks by grep -q done a.txt") {
		t.Errorf("told %q", got)
	}
	if result := w.wait(id); result.Reason != "" || !strings.Contains(result.Output,
		"Ended after pass 1: the goal is reached.") {
		t.Errorf("got %+v", result)
	}
	for name, request := range map[string]agentcore.RunRequest{
		"another check": {Goal: "true", Until: "false"}, "one pass": {Goal: "true", Iterations: 1},
	} {
		request.Agent, request.Prompt = "coder", "Do it."
		if id, err := w.session.Start(w.ctx, request); fault.Explain(err).Kind != string(fault.InvalidRequest) {
			t.Errorf("%s: the run %s, %v", name, id, err)
		}
	}
}

// TestGoalIsNotReached: that says so.
func TestGoalIsNotReached(t *testing.T) {
	w := newWorld(t, nil,
		script.Turn{Answer: []script.Step{call("write", `{"path":"a.txt","content":"1\n"}`)}},
		script.Turn{Answer: []script.Step{submit(`{"summary":"One.","status":"completed"}`)}},
		script.Turn{Answer: []script.Step{call("write", `{"path":"b.txt","content":"2\n"}`)}},
		script.Turn{Answer: []script.Step{submit(`{"summary":"Two.","status":"completed"}`)}},
	)
	w.session.SetTrusted(true)
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Do it.", Goal: "false", Iterations: 2})
	said := ""
	for _, e := range w.until(ended(id)) {
		if n, ok := e.Body.(event.Notice); ok {
			said += n.Message
		}
	}
	if result := w.wait(id); result.Reason != "iterations" || !strings.Contains(said, "the goal false is not reached") {
		t.Errorf("got %+v, told %q", result, said)
	}
}
