package agentcore_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
)

// taskID finds the id of a task in its report.
var taskID = map[string]*regexp.Regexp{"id": regexp.MustCompile(`<task id="(\S+)"`)}

// TestResume: a run that was cut off goes on in a later process, with its history, once as a new run and once more from
// there.
func TestResume(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\ntwo\n"},
		script.Turn{Answer: []script.Step{call("read", `{"path":"a.txt"}`)}},
		script.Turn{Answer: []script.Step{script.Gate("cut"), script.Text("never")}},
	)
	first := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Count the lines."})
	w.reached("cut")
	if _, err := w.session.Resume(w.ctx, first, ""); err == nil || !strings.Contains(err.Error(), "has not ended") {
		t.Errorf("got %v", err)
	}
	w.close()
	w.model = script.New("test",
		script.Turn{
			Expect: []script.Expect{
				script.Messages(4), script.First("Count the lines."),
				script.Last("Go on with the task where you left off."),
			},
			Answer: []script.Step{call("edit", `{"path":"a.txt","old_string":"one","new_string":"ONE"}`)},
		},
		script.Turn{
			Expect: []script.Expect{script.Messages(6), script.Result("edit", "Edited a.txt")},
			Answer: []script.Step{script.Text("There are two.")},
		},
		script.Turn{
			Expect: []script.Expect{script.Messages(8), script.First("Count the lines."), script.Last("Are you sure?")},
			Answer: []script.Step{script.Text("Yes.")},
		},
	)
	w.open()
	second, err := w.session.Resume(w.ctx, first, "")
	if err != nil {
		t.Fatal(err)
	}
	if result := w.wait(second); result.Status != event.StatusCompleted || result.Output != "There are two." {
		t.Errorf("got %+v", result)
	}
	third, err := w.session.Resume(w.ctx, second, "Are you sure?")
	if err != nil {
		t.Fatal(err)
	}
	if result := w.wait(third); result.Output != "Yes." {
		t.Errorf("got %+v", result)
	}
	row, err := w.engine.Store().Run(w.ctx, third)
	if err != nil || row.Chain != first || row.RequestType != "continuation" {
		t.Errorf("got %+v, %v", row, err)
	}
	if _, err := w.session.Resume(w.ctx, "r-nobody", ""); err == nil || !strings.Contains(err.Error(), "r-nobody") {
		t.Errorf("got %v", err)
	}
}

// TestResumedChildGainsNothing: a child that the user goes on with has the tools that it had, and is bound by those
// above it.
func TestResumedChildGainsNothing(t *testing.T) {
	turns := script.New("test",
		script.Turn{Match: "Go.", Answer: []script.Step{task("mine", "Look.", "")}},
		script.Turn{
			Match: "Look.", Expect: []script.Expect{script.Tools("read", "write"), script.NoTools("question", "task")},
			Answer: []script.Step{script.Text("Looked.")},
		},
		script.Turn{Match: "Go.", Answer: []script.Step{script.Text("done")}},
		script.Turn{
			Match: "Look.", Expect: []script.Expect{script.Tools("read", "write"), script.NoTools("question", "task")},
			Answer: []script.Step{call("write", `{"path":"b.txt","content":"b\n"}`)},
		},
		script.Turn{
			Match: "Look.", Expect: []script.Expect{script.Last("denied: ")},
			Answer: []script.Step{script.Text("I may not.")},
		},
	)
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	w.with(turns, nil, own("mine"), &agent.Definition{
		Slug: "boss", Categories: []agent.Category{agent.Primary},
		Rules: []permission.Rule{{Tool: "edit", Pattern: "b.txt", Action: permission.Deny}},
	})
	run := w.start(agentcore.RunRequest{Agent: "boss", Prompt: "Go."})
	w.wait(run)
	child := w.children(run)[0]
	again, err := w.session.Resume(w.ctx, child.ID, "Write it.")
	if err != nil {
		t.Fatal(err)
	}
	if result := w.wait(again); result.Output != "I may not." {
		t.Errorf("got %+v", result)
	}
}

// TestTaskResumes: an agent goes on with its own ended task, and with no other.
func TestTaskResumes(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("explore", "Look.", "")}},
		script.Turn{Match: "Look.", Answer: []script.Step{script.Text("It is in a.txt.")}},
		script.Turn{
			Match: "Go.", Capture: taskID,
			Answer: []script.Step{
				task("explore", "Which line?", `,"resume":"${id}"`),
				task("general", "x", `,"resume":"${id}"`), task("explore", "x", `,"resume":"nothing"`),
			},
		},
		script.Turn{
			Match: "Look.", Expect: []script.Expect{script.Messages(3), script.Last("Which line?")},
			Answer: []script.Step{script.Text("Line 1.")},
		},
		script.Turn{
			Match: "Go.",
			Expect: []script.Expect{
				script.Result("task", "Line 1."),
				script.Result("task", "was of explore, not of general"), script.Result("task", "resume: "),
			},
			Answer: []script.Step{script.Text("done")},
		},
	)
	if result := w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})); result.Output != "done" {
		t.Errorf("got %+v", result)
	}
}

// A child that could use nothing in its only turn, or no command while nobody trusted the folder, has its tools where
// the user goes on with it, and no others.
func TestResumedChildHasWhatItWasSpared(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	w.with(script.New("test",
		script.Turn{
			Match:  "Go.",
			Answer: []script.Step{task("mine", "Once.", `,"max_turns":1`), task("mine", "Look.", "")},
		},
		script.Turn{
			Match: "Once.", Expect: []script.Expect{script.NoTools("read", "bash")},
			Answer: []script.Step{script.Text("Said.")},
		},
		script.Turn{
			Match: "Look.", Expect: []script.Expect{script.Tools("read"), script.NoTools("bash", "write")},
			Answer: []script.Step{script.Text("Looked.")},
		},
		script.Turn{Match: "Go.", Answer: []script.Step{script.Text("done")}},
		script.Turn{
			Match: "Once.", Answer: []script.Step{script.Text("Twice.")},
			Expect: []script.Expect{
				script.Tools("read", "bash", "bash_output"),
				script.NoTools("write", "question", "task"),
			},
		},
		script.Turn{
			Match: "Look.", Answer: []script.Step{script.Text("Looked again.")},
			Expect: []script.Expect{
				script.Tools("read", "bash", "bash_output"),
				script.NoTools("write", "question", "task"),
			},
		},
	), nil, own("mine", "read", "bash"))
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	if got := w.wait(run); got.Output != "done" {
		t.Fatalf("got %+v", got)
	}
	w.session.SetTrusted(true)
	children := w.children(run)
	// as in the script
	slices.SortFunc(children, func(a, b history.Run) int { return strings.Compare(b.Title, a.Title) })
	for i, want := range []string{"Twice.", "Looked again."} {
		child := children[i]
		again, err := w.session.ResumeWith(w.ctx, child.ID,
			agentcore.RunRequest{Prompt: "Go on.", Limits: agent.Limits{MaxTurns: 3}})
		if err != nil {
			t.Fatal(err)
		}
		if result := w.wait(again); result.Output != want {
			t.Errorf("%s: got %+v", child.Title, result)
		}
	}
}
