package agentcore_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/secret"
)

// chooses answers the next question by the title of a choice, and returns the question.
func (w *world) chooses(title string) authority.Ask {
	w.t.Helper()
	ask := w.asked()
	var titles []string
	for _, c := range ask.Choices() {
		if c.Title == title {
			w.answer(ask, c.Answer)
			return ask
		}
		titles = append(titles, c.Title)
	}
	w.t.Fatalf("%q has no choice %q, only %q", ask.Title, title, titles)
	return ask
}

// plans are the files of plans, by name.
func (w *world) plans() map[string]string {
	w.t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.state, "plans"))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	files := map[string]string{}
	for _, entry := range entries {
		path := filepath.Join(w.state, "plans", entry.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			w.t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			w.t.Errorf("%s: mode %v, %v", path, info.Mode(), err)
		}
		files[entry.Name()] = string(text)
	}
	return files
}

var slugName = regexp.MustCompile(`^[a-z]+-[a-z]+-[a-z]+\.md$`)

// TestPlanMode: in plan mode the tools that are offered stay, and those that do more than read are refused, in
// children, too, until the user accepts the plan.
func TestPlanMode(t *testing.T) {
	write := call("write", `{"path":"b.txt","content":"two\n"}`)
	w := newTrusted(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{
			Match:  "Change it.",
			Expect: []script.Expect{script.Tools("plan_enter", "plan_exit", "question", "write")},
			Answer: []script.Step{call("plan_enter", `{"reason":"It is large."}`)},
		},
		script.Turn{
			Match: "Change it.", Expect: []script.Expect{
				script.Result("plan_enter", "You are planning now."),
				script.Tools("plan_enter", "plan_exit", "question", "write"),
			},
			Answer: []script.Step{
				write, call("bash", `{"command":"echo x > a.txt"}`), call("read", `{"path":"a.txt"}`),
				task("general", "Help.", ""), call("plan_enter", `{}`),
			},
		},
		script.Turn{Match: "Help.", Answer: []script.Step{write}},
		script.Turn{
			Match:  "Help.",
			Expect: []script.Expect{script.Result("write", "denied: coder, who started you, is planning")},
			Answer: []script.Step{script.Text("Cannot.")},
		},
		script.Turn{
			Match: "Change it.",
			Expect: []script.Expect{
				script.Result("write", "denied: you are planning"), script.Result("bash", "denied: you are planning"),
				script.Result("read", "one"),
				script.Result("task", "Cannot."), script.Result("plan_enter", "planning already"),
			},
			Answer: []script.Step{call("plan_exit", `{"plan":"# Add b\n\n1. b.txt"}`)},
		},
		script.Turn{
			Match: "Change it.", Expect: []script.Expect{script.Result("plan_exit", "keep planning")},
			Answer: []script.Step{write, call("plan_exit", `{"plan":"# Add b well\n\n1. b.txt"}`)},
		},
		script.Turn{
			Match: "Change it.",
			Expect: []script.Expect{
				script.Result("write", "denied"),
				script.Result("plan_exit", "The user says to the plan: Call it c."),
			}, Answer: []script.Step{
				call("plan_exit", `{"plan":"# Add c\n\n1. b.txt"}`),
			},
		},
		script.Turn{
			Match: "Change it.",
			Expect: []script.Expect{
				script.Result("plan_exit", "The user accepted the plan."),
				script.Result("plan_exit", "changed it to:\n# Mine"),
			}, Answer: []script.Step{write},
		},
		script.Turn{
			Match: "Change it.", Expect: []script.Expect{script.Result("write", "b.txt")},
			Answer: []script.Step{script.Text("Done.")},
		},
	)
	id := w.start(coder())
	ask := w.chooses("Plan first")
	if n := len(ask.Choices()); n != 2 {
		t.Errorf("the offer of a plan has %d choices; not to plan is the way to decline it", n)
	}
	if !strings.HasPrefix(ask.Title, "coder asks (plan): Shall I make a plan first") ||
		!strings.HasSuffix(ask.Title, "It is large.") {
		t.Errorf("asked %q", ask.Title)
	}
	first := w.chooses("Keep planning")
	if n := len(first.Choices()); n != 3 {
		t.Errorf("the plan has %d choices; to reject it is the way to decline it", n)
	}
	if text, err := os.ReadFile(first.Plan); err != nil || string(text) != "# Add b\n\n1. b.txt\n" ||
		!strings.Contains(first.Title, "“Add b”") {
		t.Errorf("%q is about the plan %q, %v", first.Title, text, err)
	}
	w.answer(w.asked(), authority.Answer{Allow: true, Chosen: []string{"Call it c."}})
	last := w.asked()
	if last.Plan != first.Plan {
		t.Errorf("the plan is in %s, and was in %s", last.Plan, first.Plan)
	}
	if err := os.WriteFile(last.Plan, []byte("# Mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.answer(last, last.Choices()[0].Answer)
	if result := w.wait(id); result.Status != event.StatusCompleted || result.Output != "Done." {
		t.Errorf("got %+v", result)
	}
	if hunks := w.session.Board().Proposal().Hunks(); len(hunks) != 1 || !strings.HasSuffix(hunks[0].Path, "b.txt") {
		t.Errorf("got the hunks %+v", hunks)
	}
	plans := w.plans()
	if len(plans) != 1 || !slugName.MatchString(filepath.Base(last.Plan)) ||
		plans[filepath.Base(last.Plan)] != "# Mine" {
		t.Errorf("got the plans %q", plans)
	}
	if entries, err := os.ReadDir(w.dir); err != nil || len(entries) != 1 {
		t.Errorf("the workspace has %v, %v", entries, err)
	}
}

// TestPlanModeIsDeclined: where the user wants no plan, or cannot be asked, the run goes on as it was.
func TestPlanModeIsDeclined(t *testing.T) {
	w := newWorld(
		t, nil,
		script.Turn{Answer: []script.Step{call("plan_enter", `{}`)}},
		script.Turn{
			Expect: []script.Expect{script.Result("plan_enter", "wants no plan")},
			Answer: []script.Step{call("plan_enter", `{}`)},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("plan_enter", "nobody is here: go on without it")},
			Answer: []script.Step{call("write", `{"path":"b.txt","content":"two\n"}`)},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("write", "b.txt")},
			Answer: []script.Step{script.Text("Done.")},
		},
	)
	id := w.start(coder())
	w.chooses("Go on without a plan")
	w.answer(w.asked(), authority.Answer{Reason: "nobody is here"})
	w.wait(id)
	if plans := w.plans(); len(plans) != 0 {
		t.Errorf("got the plans %q", plans)
	}
}

// TestPlanner: a planning run's plan is its product. One that nobody accepts in time is kept.
func TestPlanner(t *testing.T) {
	w := newWorld(
		t, nil,
		script.Turn{
			Expect: []script.Expect{script.Tools("plan_exit", "question"), script.NoTools("write", "bash")},
			Answer: []script.Step{call("plan_exit", `{"plan":"# One\n\nThe key is SECRET-VALUE."}`)},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("plan_exit", "not accepted: nobody answered within 1ms")},
			Answer: []script.Step{script.Text("See the plan.")},
		},
	)
	w.closeEngine()
	cfg := config.Default()
	cfg.AskTimeout = time.Millisecond
	redactor := &secret.Redactor{}
	redactor.Add("key", "SECRET-VALUE")
	w.openWith(agentcore.Options{
		StateDir: w.state, Config: cfg, Getenv: func(string) string { return "" }, Redactor: redactor,
		OpenModel: func(provider.Choice) (model.Model, error) { return w.model, nil },
	})
	if result := w.wait(w.start(agentcore.RunRequest{
		Agent:  "planner",
		Prompt: "Plan.",
	})); result.Output != "See the plan." {
		t.Errorf("got %+v", result)
	}
	for name, text := range w.plans() {
		if !strings.HasPrefix(text, "# One\n") || strings.Contains(text, "SECRET-VALUE") {
			t.Errorf("%s is %q", name, text)
		}
	}
	if n := len(w.plans()); n != 1 {
		t.Errorf("there are %d plans", n)
	}
}

// TestPlansOfChildren: each child has a file of its own beside its starter's, and its plan is its result. Another
// prompt's plan never has the same name, nor does a restart lose any.
func TestPlansOfChildren(t *testing.T) {
	w := newWorld(
		t, nil,
		script.Turn{Match: "Go.", Answer: []script.Step{task("plan", "One.", ""), task("plan", "Two.", "")}},
		script.Turn{
			Match:  "One.",
			Expect: []script.Expect{script.Tools("plan_exit"), script.NoTools("question", "plan_enter", "write")},
			Answer: []script.Step{call("plan_exit", `{"plan":"# First"}`)},
		},
		script.Turn{Match: "Two.", Answer: []script.Step{call("plan_exit", `{"plan":"# Second"}`)}},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{
				script.Result("task", "# First"), script.Result("task", "# Second"),
				script.Result("task", "summary: the plan is in "),
			},
			Answer: []script.Step{call("plan_exit", `{"plan":"# Both"}`)},
		},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{script.Result("plan_exit", "rejected")},
			Answer: []script.Step{script.Text("Well.")},
		},
		script.Turn{Match: "Again.", Answer: []script.Step{call("plan_exit", `{"plan":"# Other"}`)}},
		script.Turn{
			Match: "Again.", Expect: []script.Expect{script.Result("plan_exit", "accepted")},
			Answer: []script.Step{script.Text("Well.")},
		},
	)
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	both := filepath.Base(w.chooses("Reject the plan").Plan)
	w.wait(id)
	w.closeEngine()
	w.open()
	again := w.start(agentcore.RunRequest{Agent: "planner", Prompt: "Again."})
	other := filepath.Base(w.chooses("Accept the plan").Plan)
	w.wait(again)
	plans := w.plans()
	if len(plans) != 4 || plans[both] != "# Both\n" || plans[other] != "# Other\n" {
		t.Errorf("got the plans %q", plans)
	}
	var parts []string
	for name, text := range plans {
		if strings.HasPrefix(name, strings.TrimSuffix(both, ".md")+"-agent-r") {
			parts = append(parts, text)
		}
	}
	if joined := strings.Join(parts, ""); len(parts) != 2 || !strings.Contains(joined, "# First\n") ||
		!strings.Contains(joined, "# Second\n") {
		t.Errorf("the children's plans are %q", parts)
	}
}

// TestPlanModeIsResumed: a run that was cut off while it planned goes on planning.
func TestPlanModeIsResumed(t *testing.T) {
	w := newWorld(
		t, nil,
		script.Turn{Answer: []script.Step{call("plan_enter", `{}`)}},
		script.Turn{Answer: []script.Step{script.Gate("planning")}},
		script.Turn{Answer: []script.Step{call("write", `{"path":"b.txt","content":"two\n"}`)}},
		script.Turn{
			Expect: []script.Expect{script.Result("write", "denied: you are planning")},
			Answer: []script.Step{script.Text("Right.")},
		},
	)
	id := w.start(coder())
	w.chooses("Plan first")
	w.reached("planning")
	if err := w.engine.Cancel(id); err != nil {
		t.Fatal(err)
	}
	w.wait(id)
	again, err := w.session.Resume(w.ctx, id, "")
	if err != nil {
		t.Fatal(err)
	}
	if result := w.wait(again); result.Output != "Right." {
		t.Errorf("got %+v", result)
	}
}

// TestOnlyPlanningChildrenPlan: a definition that has all tools, or names this one among all that another tool has, is
// no planner as a child.
func TestOnlyPlanningChildrenPlan(t *testing.T) {
	w := newWorld(t, nil)
	w.with(script.New(
		"test",
		script.Turn{
			Match: "Go.", Expect: []script.Expect{script.Tools("plan_exit", "plan_enter", "question")},
			Answer: []script.Step{task("mine", "Help.", "")},
		},
		script.Turn{
			Match: "Help.", Expect: []script.Expect{script.NoTools("plan_exit", "plan_enter", "question")},
			Answer: []script.Step{script.Text("Well.")},
		},
		script.Turn{Match: "Go.", Answer: []script.Step{task("theirs", "See.", "")}},
		script.Turn{
			Match:  "See.",
			Expect: []script.Expect{script.Tools("read"), script.NoTools("plan_exit", "plan_enter", "question")},
			Answer: []script.Step{script.Text("Well.")},
		},
		script.Turn{Match: "Go.", Answer: []script.Step{task("narrow", "Plan.", "")}},
		script.Turn{
			Match: "Plan.", Expect: []script.Expect{script.Tools("plan_exit"), script.NoTools("plan_enter")},
			Answer: []script.Step{script.Text("Well.")},
		},
		script.Turn{Match: "Go.", Answer: []script.Step{script.Text("Well.")}},
	), nil,
		&agent.Definition{
			Slug: "boss", Categories: []agent.Category{agent.Primary},
			Subagents: []string{"mine", "theirs", "narrow"},
		},
		&agent.Definition{Slug: "mine", Tools: []string{"*"}, Categories: []agent.Category{agent.Subagent}},
		&agent.Definition{
			Slug: "theirs", Tools: []string{"read", "plan_exit", "plan_enter"},
			Categories: []agent.Category{agent.Subagent},
		},
		&agent.Definition{
			Slug: "narrow", Tools: []string{"read", "plan_exit"}, PermissionMode: "plan",
			Categories: []agent.Category{agent.Subagent},
		},
	)
	w.wait(w.start(agentcore.RunRequest{Agent: "boss", Prompt: "Go."}))
}
