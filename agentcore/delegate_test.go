package agentcore_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
)

// task is a call of the task tool.
func task(agent, prompt, more string) script.Call {
	return script.Call{Name: "task", Arguments: `{"subagent_type":"` + agent + `","prompt":"` + prompt +
		`"` + more + `}`}
}

// children returns the infos of a run's children in order.
func (w *world) children(parent event.RunID) []history.Run {
	var list []history.Run
	for _, r := range w.session.Runs() {
		if r.Parent == parent {
			list = append(list, r)
		}
	}
	return list
}

func TestTasksRunInParallel(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{
			Match: "Go.",
			Answer: []script.Step{
				task("explore", "Look at A.", ""),
				task("Explore", "Look at B.", `,"success_criteria":"a line","thoroughness":"quick"`),
			},
		},
		script.Turn{
			Match: "Look at A.", Expect: []script.Expect{
				script.NoTools("task", "question", "edit"),
				script.Tools("submit_result"), script.System("depth 1 of 3"),
			},
			Answer: []script.Step{script.Gate("a"), script.Text("A is here.")},
		},
		script.Turn{
			Match: "Look at B.", Expect: []script.Expect{
				script.Last("you are: coder ▸ explore"),
				script.Last("success criteria: a line"), script.Last("thoroughness: quick"),
			},
			Answer: []script.Step{
				script.Gate("b"),
				script.Call{
					Name:      "submit_result",
					Arguments: `{"summary":"B is there.","details":"b.go:1","files_modified":["never.go"]}`,
				},
			},
		},
		script.Turn{
			Match: "Go.",
			Expect: []script.Expect{
				script.Result("task", "A is here."),
				script.Result("task", "summary: B is there."), script.Result("task", "b.go:1"),
			},
			Answer: []script.Step{script.Text("Both are found.")},
		},
	)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	for _, gate := range []string{"a", "b"} { // both are at it before either ends
		if err := w.model.Reached(w.ctx, gate, 1); err != nil {
			t.Fatal(err)
		}
	}
	w.model.Release("a")
	w.model.Release("b")
	result := w.wait(run)
	if result.Status != event.StatusCompleted || result.Output != "Both are found." || len(result.Children) != 2 {
		t.Errorf("got %+v", result)
	}
	for _, child := range w.children(run) {
		report := w.wait(child.ID).Result
		if report == nil || report.Summary == "" || len(report.FilesModified) > 0 {
			t.Errorf("%s reports %+v", child.Title, report)
		}
	}
}

// The result lists the calls of a turn as the model made them, although the read has ended long before the task.
func TestCallsAreListedAsTheyWereMade(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{call("read", `{"path":"a.txt"}`)}},
		script.Turn{Match: "Go.", Answer: []script.Step{task("explore", "Look.", ""), call("glob", `{"pattern":"*"}`)}},
		script.Turn{Match: "Look.", Answer: []script.Step{script.Gate("look"), script.Text("Seen.")}},
		script.Turn{Match: "Go.", Answer: []script.Step{script.Text("Done.")}},
	)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	w.until(func(e event.Event) bool {
		finished, ok := e.Body.(event.ToolCallFinished)
		return ok && finished.Tool == "glob"
	})
	w.model.Release("look")
	var names []string
	for _, c := range w.wait(run).ToolCalls {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "read task glob" {
		t.Errorf("the calls are listed as %s", got)
	}
}

func TestTaskEditsReachTheParent(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\ntwo\nthree\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("general", "Edit it.", `,"context_files":["a.txt"]`)}},
		script.Turn{
			Match: "Edit it.", Expect: []script.Expect{script.Last("file: a.txt")},
			Answer: []script.Step{
				script.Call{Name: "edit", Arguments: `{"path":"a.txt","old_string":"two","new_string":"TWO"}`},
			},
		},
		script.Turn{Match: "Edit it.", Answer: []script.Step{script.Text("Done.")}},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{script.Result("task", "changed: a.txt")},
			Answer: []script.Step{script.Call{Name: "read", Arguments: `{"path":"a.txt"}`}},
		},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{script.Last("TWO")},
			Answer: []script.Step{script.Text("Seen.")},
		},
	)
	result := w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."}))
	if result.Status != event.StatusCompleted || result.Proposal == "" {
		t.Errorf("got %+v", result)
	}
	if hunks := w.session.Board().Hunks(); len(hunks) != 1 || hunks[0].After != "TWO\n" {
		t.Errorf("got %+v", hunks)
	}
}

func TestTaskRefusals(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{
			task("explorer", "x", ""), task("title", "x", ""), task("explore", " ", ""),
			task("explore", "x", `,"context_files":["no.txt"]`),
			task("explore", "x", `,"allowed_tools":["deploy"]`), task("tester", "Test it.", ""),
		}},
		script.Turn{
			Match: "Test it.", Expect: []script.Expect{script.NoTools("task")},
			Answer: []script.Step{task("tester", "Test it.", "")},
		},
		script.Turn{
			Match: "Test it.", Expect: []script.Expect{script.Result("task", `there is no tool "task"`)},
			Answer: []script.Step{script.Text("Tested.")},
		},
		script.Turn{
			Match: "Go.",
			Expect: []script.Expect{
				script.Last(
					`you cannot start the agent "explorer" (you can start coder, reviewer, explore, general`),
				script.Last(`"title"`), script.Last("the prompt is empty"),
				script.Last("context_files: "), script.Last(`neither you nor explore has a tool "deploy"`),
				script.Last("Tested."),
			},
			Answer: []script.Step{script.Text("Done.")},
		},
	)
	if result := w.wait(w.start(agentcore.RunRequest{
		Agent:  "coder",
		Prompt: "Go.",
	})); result.Status != event.StatusCompleted || len(result.Children) != 1 {
		t.Errorf("got %+v", result)
	}
}

// TestNestedTasksShareOnePlace: a child that waits for its own child lets it have its place, so that nothing stands
// still.
func TestNestedTasksShareOnePlace(t *testing.T) {
	turns := []script.Turn{
		{Match: "Go.", Answer: []script.Step{
			task("outer", "Outer 1.", ""), task("outer", "Outer 2.", ""),
			task("outer", "Outer 3.", ""),
		}},
		{Match: "Outer", Times: 3, Answer: []script.Step{script.Gate("outer"), task("inner", "Inner.", "")}},
		{Match: "Inner.", Times: 3, Answer: []script.Step{script.Text("in")}},
		{
			Match: "Outer", Times: 3, Expect: []script.Expect{script.Result("task", "in")},
			Answer: []script.Step{script.Text("out")},
		},
		{
			Match: "Go.", Expect: []script.Expect{script.Result("task", "out")},
			Answer: []script.Step{script.Text("done")},
		},
	}
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	w.with(script.New("test", turns...), func(o *agentcore.Options) {
		o.Config = config.Default()
		o.Config.MaxChildrenPerSession, o.Config.MaxChildrenPerMachine = 1, 1
	},
		&agent.Definition{
			Slug: "boss", Categories: []agent.Category{agent.Primary},
			Subagents: []string{"outer", "inner"},
		},
		&agent.Definition{Slug: "outer", Categories: []agent.Category{agent.Subagent}, Subagents: []string{"inner"}},
		&agent.Definition{Slug: "inner", Categories: []agent.Category{agent.Subagent}, Subagents: []string{}},
	)
	run := w.start(agentcore.RunRequest{Agent: "boss", Prompt: "Go."})
	w.until(func(e event.Event) bool {
		change, ok := e.Body.(event.RunStatusChanged)
		return ok && change.Reason == "waits for a free place, number 2 in the queue"
	})
	w.model.Release("outer")
	if result := w.wait(run); result.Status != event.StatusCompleted || result.Output != "done" {
		t.Errorf("got %+v", result)
	}
}

// TestTasksBeginInOrder: the tasks of a turn get their places in the order of the calls, those of a file each in that
// of the files.
func TestTasksBeginInOrder(t *testing.T) {
	const many = 12
	turns := []script.Turn{
		{Match: "Go."},
		{Match: "Look", Times: 2 * many, Answer: []script.Step{script.Text("seen")}},
		{Match: "Go.", Answer: []script.Step{script.Text("done")}},
	}
	files := map[string]string{}
	var wanted, each []string
	for i := range many {
		wanted = append(wanted, fmt.Sprintf("Look %d.", i))
		turns[0].Answer = append(turns[0].Answer, task("explore", wanted[i], ""))
		files[fmt.Sprintf("%02d.txt", i)] = "one\n"
	}
	w := newWorld(t, files)
	w.with(script.New("test", turns...), configure(func(c *config.Config) { c.MaxChildrenPerSession = 1 }))
	var created []string
	begun := func(request agentcore.RunRequest) (list []string) {
		created = nil
		run := w.start(request)
		titles := map[event.RunID]string{}
		for _, e := range w.until(ended(run)) {
			switch body := e.Body.(type) {
			case event.RunCreated:
				titles[e.Run] = body.Title
				if e.Run != run {
					created = append(created, body.Title)
				}
			case event.RunStatusChanged:
				if e.Run != run && body.Status == event.StatusRunning && titles[e.Run] != "" {
					list = append(list, titles[e.Run])
					titles[e.Run] = ""
				}
			}
		}
		return list
	}
	if got := begun(agentcore.RunRequest{Agent: "coder", Prompt: "Go."}); !slices.Equal(got, wanted) ||
		!slices.Equal(created, wanted) {
		t.Errorf("they were made as %q and began as %q", created, got)
	}
	request := agentcore.RunRequest{Agent: "explore", Prompt: "Look at it.", Title: "look"}
	for name := range files {
		request.Each = append(request.Each, w.path(name))
	}
	slices.Sort(request.Each)
	for _, path := range request.Each {
		each = append(each, "look "+filepath.Base(path))
	}
	if got := begun(request); !slices.Equal(got, each) {
		t.Errorf("they began as %q", got)
	}
}

// TestCancelOneTask: the sibling goes on, and the parent hears of the end.
func TestCancelOneTask(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("explore", "Stuck.", ""), task("explore", "Quick.", "")}},
		script.Turn{Match: "Stuck.", Answer: []script.Step{script.Gate("never"), script.Text("no")}},
		script.Turn{Match: "Quick.", Answer: []script.Step{script.Gate("quick"), script.Text("Quick is done.")}},
		script.Turn{Match: "Go.", Expect: []script.Expect{
			script.Result("task", `status="cancelled"`),
			script.Result("task", "Quick is done."),
		}, Answer: []script.Step{script.Text("One is missing.")}},
	)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	for _, gate := range []string{"never", "quick"} {
		if err := w.model.Reached(w.ctx, gate, 1); err != nil {
			t.Fatal(err)
		}
	}
	for _, child := range w.children(run) {
		if strings.HasPrefix(child.Title, "Stuck") {
			if err := w.engine.Cancel(child.ID); err != nil {
				t.Fatal(err)
			}
			w.wait(child.ID)
		}
	}
	w.model.Release("quick")
	if result := w.wait(run); result.Output != "One is missing." {
		t.Errorf("got %+v", result)
	}
}

// TestTaskGetsMoreTools: a tool that the child's definition lacks is the user's to give, beside those that it has.
func TestTaskGetsMoreTools(t *testing.T) {
	more := task("explore", "Mend it.", `,"allowed_tools":["Read","str_replace"]`)
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{more}},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{script.Last("explore does not get edit: the user said no")},
			Answer: []script.Step{more},
		},
		script.Turn{
			Match:  "Mend it.",
			Expect: []script.Expect{script.Tools("read", "grep", "edit"), script.NoTools("write", "bash")},
			Answer: []script.Step{call("edit", `{"path":"a.txt","old_string":"one","new_string":"two"}`)},
		},
		script.Turn{
			Match:  "Mend it.",
			Expect: []script.Expect{script.Result("edit", "Edited")},
			Answer: []script.Step{script.Text("Mended.")},
		},
		script.Turn{
			Match:  "Go.",
			Expect: []script.Expect{script.Last("changed: a.txt"), script.Last("Mended.")},
			Answer: []script.Step{script.Text("done")},
		},
	)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	for _, allow := range []bool{false, true} {
		ask := w.asked()
		if ask.Title != "coder wants to start explore: Mend it." ||
			ask.Detail != "explore with edit beside its own tools" || len(ask.Always) > 0 {
			t.Errorf("got %+v", ask)
		}
		w.answer(ask, authority.Answer{Allow: allow})
	}
	if result := w.wait(run); result.Output != "done" {
		t.Errorf("got %+v", result)
	}
	if got := w.proposed(); got != "a.txt -one\n+two\n" {
		t.Errorf("the hunks are %q", got)
	}
}

// TestChildsClaims: what a child says of files and tests is held against what was seen.
func TestChildsClaims(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n", "b.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("tester", "Test it.", "")}},
		script.Turn{
			Match: "Test it.",
			Answer: []script.Step{
				call("edit", `{"path":"a.txt","old_string":"one","new_string":"two"}`),
				call("write", `{"path":"c.txt","content":"c\n"}`),
			},
		},
		script.Turn{
			Match: "Test it.",
			Answer: []script.Step{
				call("submit_result",
					`{"summary":"All is well.","files_modified":["b.txt"],"files_created":["c.txt"],"tests_run":3,"tests_passed":3}`),
			},
		},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{
				script.Last("changed: a.txt\ncreated: c.txt\n"),
				script.Last("warning: it says that it changed b.txt, and did not"),
				script.Last("warning: it says that it ran 3 tests and that 3 passed, but agentls saw it run none"),
			},
			Answer: []script.Step{script.Text("done")},
		},
	)
	if result := w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})); result.Output != "done" {
		t.Errorf("got %+v", result)
	}
}

// TestChildrenCollide: of two edits of the same line one is left out, and the parent is told both sides.
func TestChildrenCollide(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\ntwo\nthree\nfour\nfive\n"})
	turns := []script.Turn{
		{Match: "Go.", Answer: []script.Step{
			task("coder-a", "First.", ""), task("coder-a", "Second.", ""),
			task("coder-a", "Third.", ""),
		}},
		{
			Match:  "First.",
			Answer: []script.Step{call("edit", `{"path":"a.txt","old_string":"two","new_string":"first"}`)},
		},
		{
			Match:  "Second.",
			Answer: []script.Step{call("edit", `{"path":"a.txt","old_string":"two","new_string":"second"}`)},
		},
		{
			Match:  "Third.",
			Answer: []script.Step{call("edit", `{"path":"a.txt","old_string":"five","new_string":"fifth"}`)},
		},
		{Match: "First.", Answer: []script.Step{script.Gate("first"), script.Text("ok")}},
		{Match: "Second.", Answer: []script.Step{script.Gate("second"), script.Text("ok")}},
		{Match: "Third.", Answer: []script.Step{script.Gate("second"), script.Text("ok")}},
		{
			Match: "Go.",
			Expect: []script.Expect{
				script.Last("conflict: a.txt lines 2-2: the edit of coder-a was left out"),
				script.Last("It wanted:\nsecond\n"), script.Last("There is now:\nfirst\n"),
			},
			Answer: []script.Step{call("read", `{"path":"a.txt"}`)},
		},
		{
			Match: "Go.", Expect: []script.Expect{script.Last("first"), script.Last("fifth")},
			Answer: []script.Step{script.Text("done")},
		},
	}
	w.with(script.New("test", turns...), nil,
		&agent.Definition{Slug: "coder-a", Categories: []agent.Category{agent.Subagent}, Subagents: []string{}},
		&agent.Definition{Slug: "boss", Categories: []agent.Category{agent.Primary}})
	run := w.start(agentcore.RunRequest{Agent: "boss", Prompt: "Go."})
	w.reached("first")
	if err := w.model.Reached(w.ctx, "second", 2); err != nil {
		t.Fatal(err)
	}
	w.model.Release("first")
	for _, child := range w.children(run) {
		if strings.HasPrefix(child.Title, "First") {
			w.wait(child.ID)
		}
	}
	w.model.Release("second")
	if result := w.wait(run); result.Output != "done" {
		t.Errorf("got %+v", result)
	}
}

// TestContextOfAChild: by its definition, a child gets nothing, the whole conversation, a summary, or the end of it.
func TestContextOfAChild(t *testing.T) {
	turns := []script.Turn{
		{Match: "Secret word.", Answer: []script.Step{call("read", `{"path":"a.txt"}`)}},
		{Match: "Secret word.", Answer: []script.Step{
			task("c-none", "Task 1.", ""), task("c-full", "Task 2.", ""),
			task("c-summary", "Task 3.", ""), task("c-selective", "Task 4.", ""),
		}},
		{
			Match: "Task 1.", Expect: []script.Expect{script.Messages(1), script.NotLast("Secret")},
			Answer: []script.Step{script.Text("1")},
		},
		{Match: "c-full", Expect: []script.Expect{
			script.Messages(4), script.First("Secret word."),
			script.Last("Task 2."),
		}, Answer: []script.Step{script.Text("2")}},
		{Match: "Task 3.", Expect: []script.Expect{
			script.Messages(1), script.Last("Secret word."),
			script.Last("[call of read]"),
		}, Answer: []script.Step{script.Text("3")}},
		{Match: "Task 4.", Expect: []script.Expect{
			script.Messages(1), script.Last("Secret word."),
			script.Last("[result of read]"),
		}, Answer: []script.Step{script.Text("4")}},
		{Match: "Secret word.", Answer: []script.Step{script.Text("done")}},
	}
	var definitions []*agent.Definition
	for _, mode := range []string{"none", "full", "summary", "selective"} {
		definitions = append(definitions, &agent.Definition{
			Slug: "c-" + mode, Instruction: agent.Instruction{Prompt: "You are c-" + mode + "."},
			Categories: []agent.Category{agent.Subagent}, Subagents: []string{}, ContextMode: mode,
		})
	}
	definitions = append(definitions, &agent.Definition{Slug: "boss", Categories: []agent.Category{agent.Primary}})
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	// the word stands in children's prompts, too
	slices.SortStableFunc(turns, func(a, b script.Turn) int { return strings.Compare(b.Match[:1], a.Match[:1]) })
	w.with(script.New("test", turns...), nil, definitions...)
	if result := w.wait(w.start(agentcore.RunRequest{Agent: "boss", Prompt: "Secret word."})); result.Output != "done" {
		t.Errorf("got %+v", result)
	}
}

// TestFormerDelegations: a delegating agent is told how its subagents have done, once there were enough of them.
func TestFormerDelegations(t *testing.T) {
	tells := func(want bool) script.Expect {
		return func(request *model.Request) error {
			for _, offered := range request.Tools {
				if offered.Name == "task" &&
					strings.Contains(offered.Description,
						"So far on this project:\nexplore: 3 runs, 100 % completed, median 1 turn") != want {
					return fmt.Errorf("the description is %s", offered.Description)
				}
			}
			return nil
		}
	}
	look := task("explore", "Look.", "")
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Expect: []script.Expect{tells(false)}, Answer: []script.Step{look, look, look}},
		script.Turn{Match: "Look.", Times: 3, Answer: []script.Step{script.Text("ok")}},
		script.Turn{Match: "Go.", Answer: []script.Step{script.Text("done")}},
		script.Turn{Match: "Again.", Expect: []script.Expect{tells(true)}, Answer: []script.Step{script.Text("done")}},
	)
	w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."}))
	w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Again."}))
}

// TestTaskSpellings: the names that other ecosystems have for a delegation, and for what it says, are understood.
func TestTaskSpellings(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{
			call("delegate_to_agent", `{"role":"explore","task":"Look."}`),
			call("spawn_subagent", `{"subagent":"Explore","prompt":"Look.","max_iterations":"3"}`),
			call("Task",
				`{"subagent_type":"explore","prompt":"Look.","description":"look","run_in_background":"false"}`),
		}},
		script.Turn{Match: "Look.", Times: 3, Answer: []script.Step{script.Text("Seen.")}},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{
				script.Result("delegate_to_agent", "Seen."),
				script.Result("spawn_subagent", "Seen."), script.Result("Task", "Seen."),
			},
			Answer: []script.Step{script.Text("done")},
		},
	)
	if result := w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})); result.Output != "done" {
		t.Errorf("got %+v", result)
	}
}
