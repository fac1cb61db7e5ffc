package agentcore_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/store"
)

// matches expects that the last message fits an expression.
func matches(pattern string) script.Expect {
	return func(request *model.Request) error {
		message := request.Messages[len(request.Messages)-1]
		text := message.Text()
		for _, part := range message.Parts {
			if result, ok := part.(model.Result); ok {
				text += result.Text
			}
		}
		if !regexp.MustCompile(pattern).MatchString(text) {
			return fmt.Errorf("the last message does not fit %q: %s", pattern, text)
		}
		return nil
	}
}

// TestResultAsText: the arguments of submit_result that a child wrote as its answer are its result, held against what
// was seen.
func TestResultAsText(t *testing.T) {
	const handed = `{
  "status": "failed",
  "summary": "The build is broken.",
  "details": "See a.txt:1.",
  "files_modified": ["b.txt"],
  "files_created": [],
  "tests_run": 4,
  "tests_passed": 4,
  "warnings": [],
  "suggestions": ["Pin the compiler."],
  "iteration_count": 8,
  "duration_ms": 45000
}`
	for name, answer := range map[string]string{
		"alone": handed, "in a fence": "```json\n" + handed + "\n```",
		"with prose": "Here is my result:\n\n```\n" + handed + "\n```\nThat is all.",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(
				t, map[string]string{"a.txt": "one\n", "b.txt": "one\n"},
				script.Turn{Match: "Go.", Answer: []script.Step{task("tester", "Build it.", "")}},
				script.Turn{Match: "Build it.", Answer: []script.Step{script.Text(answer)}},
				script.Turn{
					Match: "Go.", Expect: []script.Expect{
						script.Last("it says: failed\nsummary: The build is broken.\n"), script.NotLast("{"),
						script.Last("suggestion: Pin the compiler.\n"), script.Last("See a.txt:1."),
						script.Last("warning: it says that it changed b.txt, and did not\n"),
						script.Last("warning: it says that it ran 4 tests"),
					},
					Answer: []script.Step{script.Text("done")},
				},
			)
			run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
			if result := w.wait(run); result.Output != "done" {
				t.Errorf("got %+v", result)
			}
			child := w.children(run)[0]
			if child.Outcome != event.ChildStatusFailed || child.Message != "The build is broken." {
				t.Errorf("the child is %+v", child)
			}
			report, err := w.engine.History().Usage(w.ctx, store.UsageFilter{By: store.UsageByAgent, Run: child.ID})
			if err != nil || report.Total.Ended != 1 || report.Total.Completed != 0 {
				t.Errorf("got %+v, %v", report.Total, err)
			}
			if _, tree := w.tree(w.session.ID); tree[1].Outcome != event.ChildStatusFailed {
				t.Errorf("the listing has %+v", tree[1])
			}
		})
	}
}

// TestClaimsInProse: what a child says of tests in its answer is held against what was seen, also of what it had
// others do.
func TestClaimsInProse(t *testing.T) {
	w := newTrusted(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("general", "Mend it.", "")}},
		script.Turn{Match: "Mend it.", Answer: []script.Step{script.Text("I mended it. 12 of 12 tests pass.")}},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{
				script.Last(`warning: it says "12 of 12 tests pass", and ran no tests that could be seen`),
			},
			Answer: []script.Step{task("general", "Say less.", "")},
		},
		script.Turn{
			Match:  "Say less.",
			Answer: []script.Step{script.Text("I mended it. Run the suite to see whether all tests pass.")},
		},
		script.Turn{
			Match:  "Go.",
			Expect: []script.Expect{script.NotLast("warning: ")},
			Answer: []script.Step{script.Text("done")},
		},
	)
	if result := w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})); result.Output != "done" {
		t.Errorf("got %+v", result)
	}
}

// TestReportOfATask: the parent is told how long a task took, what it cost, and which limit it did not get; limits
// are round.
func TestReportOfATask(t *testing.T) {
	round := func(request *model.Request) error {
		if !regexp.MustCompile(`(?m)^limits: 15 turns, (\d+m)?(\d+s)?$`).MatchString(request.System) {
			return fmt.Errorf("the prompt is %s", request.System)
		}
		return nil
	}
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("explore", "Look.", `,"max_turns":500`)}},
		script.Turn{
			Match:  "Look.",
			Expect: []script.Expect{round},
			Answer: []script.Step{script.Text("Looked.")}, Usage: model.Usage{Input: 3_000_000, Output: 1_000_000},
		},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{
				script.Last("limit: explore takes at most 15 turns, not the 500 that you asked for\n"),
				matches(`cost: 1 turn, [0-9.m]+s, 3000000 tokens in, 1000000 out, \$4\.00\n`),
			},
			Answer: []script.Step{script.Text("done")},
		},
	)
	w.configured(priced())
	limits := agent.Limits{Timeout: 2 * time.Minute} // what is left of it is the child's
	request := agentcore.RunRequest{Agent: "coder", Prompt: "Go.", Limits: limits}
	if result := w.wait(w.start(request)); result.Output != "done" {
		t.Errorf("got %+v", result)
	}
}

// TestOutcomeOfWhatWasCancelled: the result of a child that was ended says by what.
func TestOutcomeOfWhatWasCancelled(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("explore", "Look.", "")}},
		script.Turn{Match: "Look.", Answer: []script.Step{script.Gate("held")}},
		script.Turn{
			Match:  "Go.",
			Expect: []script.Expect{script.Last(`status="cancelled"`)},
			Answer: []script.Step{script.Text("done")},
		},
	)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	if err := w.model.Reached(w.ctx, "held", 1); err != nil {
		t.Fatal(err)
	}
	child := w.children(run)[0].ID
	if err := w.engine.Cancel(child); err != nil {
		t.Fatal(err)
	}
	if result := w.wait(child); result.Result == nil || result.Result.Status != event.ChildStatusCancelled {
		t.Errorf("got %+v", result.Result)
	}
	w.wait(run)
}

// TestTimeIsKeptForTheHandOver: what a run does when its time is nearly over is ended, be it an answer or a child,
// and the run hands over.
func TestTimeIsKeptForTheHandOver(t *testing.T) {
	last := script.Last("The limit of this run is reached (timeout)")
	reported := func(request *model.Request) error { // before the run is told to hand over
		message := request.Messages[len(request.Messages)-2]
		if report, ok := message.Parts[0].(model.Result); !ok || !strings.Contains(report.Text, `status="timeout"`) {
			return fmt.Errorf("the report is %+v", message)
		}
		return nil
	}
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("explore", "Look.", "")}},
		script.Turn{Match: "Look.", Answer: []script.Step{script.Gate("child")}},
		script.Turn{
			Match:  "Go.",
			Expect: []script.Expect{reported, script.NoCalls(), last},
			Answer: []script.Step{script.Text("It has not looked.")},
		},
		script.Turn{Match: "Say.", Answer: []script.Step{script.Text("I beg"), script.Gate("answer")}},
		script.Turn{
			Match:  "Say.",
			Expect: []script.Expect{script.NoCalls(), last},
			Answer: []script.Step{script.Text("In short: no.")},
		},
	)
	for _, test := range [][3]string{{"Go.", "child", "It has not looked."}, {"Say.", "answer", "In short: no."}} {
		run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: test[0]})
		if err := w.model.Reached(w.ctx, test[1], 1); err != nil {
			t.Fatal(err)
		}
		w.engine.Late(run)
		result := w.wait(run)
		if result.Reason != "timeout" || result.Output != test[2] || result.Outcome != event.ChildStatusPartial {
			t.Errorf("%s: got %+v", test[0], result)
		}
	}
}

// TestActivities: what a run did last is told without its waiting for the model, which would leave no room for it.
func TestActivities(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Answer: []script.Step{call("read", `{"path":"a.txt"}`)}},
		script.Turn{Answer: []script.Step{call("grep", `{"pattern":"one"}`)}},
		script.Turn{Answer: []script.Step{script.Text("done")}},
	)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	var last event.RunProgress
	for _, e := range w.until(ended(run)) {
		if p, ok := e.Body.(event.RunProgress); ok {
			last = p
		}
	}
	did := last.Activities
	if len(did) != 2 || !strings.Contains(did[0], "a.txt") || !strings.Contains(did[1], "one") ||
		last.Message == did[1] {
		t.Errorf("got %+v", last)
	}
}

// TestTaskResumesFromALaterPrompt: an agent goes on with a task that it started for a former prompt of the session,
// and other agents do not.
func TestTaskResumesFromALaterPrompt(t *testing.T) {
	var id event.RunID
	again := func(*model.Request) []script.Step {
		return []script.Step{task("explore", "Which line?", fmt.Sprintf(`,"resume":%q`, id))}
	}
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("explore", "Look.", "")}},
		script.Turn{Match: "Look.", Answer: []script.Step{script.Text("It is in a.txt.")}},
		script.Turn{Match: "Go.", Answer: []script.Step{script.Text("done")}},
		script.Turn{Match: "More.", Then: again},
		script.Turn{
			Match:  "Look.",
			Expect: []script.Expect{script.Messages(3), script.Last("Which line?")},
			Answer: []script.Step{script.Text("Line 1.")},
		},
		script.Turn{
			Match:  "More.",
			Expect: []script.Expect{script.Result("task", "Line 1.")},
			Answer: []script.Step{script.Text("done")},
		},
		script.Turn{Match: "Others.", Then: again},
		script.Turn{
			Match:  "Others.",
			Expect: []script.Expect{script.Result("task", "is not one that planner started in this session")},
			Answer: []script.Step{script.Text("done")},
		},
	)
	first := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	w.wait(first)
	id = w.children(first)[0].ID
	for prompt, slug := range map[string]string{"More.": "coder", "Others.": "planner"} {
		if result := w.wait(w.start(agentcore.RunRequest{Agent: slug, Prompt: prompt})); result.Output != "done" {
			t.Errorf("got %+v", result)
		}
	}
}

// TestRemovedDenyBindsTheResumedChild: rules that bound a child, its own and those of the run above it, bind what
// goes on with it, whoever does, although the definitions have lost them since.
func TestRemovedDenyBindsTheResumedChild(t *testing.T) {
	define := func(rules ...permission.Rule) []*agent.Definition {
		return []*agent.Definition{
			{
				Slug:        "boss",
				Instruction: agent.Instruction{Prompt: "You are the boss."},
				Categories:  []agent.Category{agent.Primary},
				Subagents:   []string{"hand"}, Rules: rules,
			},
			{
				Slug:        "hand",
				Instruction: agent.Instruction{Prompt: "You are the hand."},
				Categories:  []agent.Category{agent.Primary, agent.Subagent},
			},
		}
	}
	var id event.RunID
	edit := script.Turn{Match: "the hand", Answer: []script.Step{call("write", `{"path":"b.txt","content":"b\n"}`)}}
	denied := script.Turn{
		Match: "the hand", Expect: []script.Expect{script.Last("denied: ")},
		Answer: []script.Step{script.Text("I may not.")},
	}
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	w.with(
		script.New(
			"test",
			script.Turn{Match: "the boss", Answer: []script.Step{task("hand", "Begin.", "")}},
			script.Turn{Match: "the hand", Answer: []script.Step{script.Text("Begun.")}},
			script.Turn{Match: "the boss", Answer: []script.Step{script.Text("done")}},
			edit, denied, // by the user
			edit, denied, // by the user once more
			script.Turn{Match: "the boss", Then: func(*model.Request) []script.Step {
				return []script.Step{task("hand", "Write it.", fmt.Sprintf(`,"resume":%q`, id))}
			}},
			edit, denied, // by the boss
			script.Turn{
				Match:  "the boss",
				Expect: []script.Expect{script.Last("I may not.")},
				Answer: []script.Step{script.Text("done")},
			},
		), nil, define(permission.Rule{Tool: "edit", Pattern: "b.txt", Action: permission.Deny})...,
	)
	first := w.start(agentcore.RunRequest{Agent: "boss", Prompt: "Go."})
	w.wait(first)
	id = w.children(first)[0].ID
	w.engine.Registry().SetBase(agent.NewRegistry(define()...))
	again, err := w.session.Resume(w.ctx, id, "Write it.")
	if err != nil {
		t.Fatal(err)
	}
	if result := w.wait(again); result.Output != "I may not." {
		t.Errorf("resumed by the user: %+v", result)
	}
	if again, err = w.session.Resume(w.ctx, again, "Write it now."); err != nil {
		t.Fatal(err)
	}
	if result := w.wait(again); result.Output != "I may not." {
		t.Errorf("resumed by the user once more: %+v", result)
	}
	if result := w.wait(w.start(agentcore.RunRequest{Agent: "boss", Prompt: "More."})); result.Output != "done" {
		t.Errorf("resumed by the boss: %+v", result)
	}
}
