package agentcore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model/script"
)

// TestHooksOfTasks has an agent delegate: one child starts with what a hook says and hands its result over again,
// another is rejected.
func TestHooksOfTasks(t *testing.T) {
	start, stop, reject, seen := sh("echo look at the tests"), sh(`read -r in; echo "$in" | grep -q '"stop_hook_active":true' || { echo "$in" | grep -o 'last_assistant_message":"[^"\\]*' >&2
printf '%s\n' "$in" | sed 's/.*"result"://; s/"agent_id":"[a-z0-9]*",//; s/"duration_ms":[0-9]*,//' >&2; exit 2; }`),
		sh(`echo '{"decision":"block","reason":"not today"}'`), sh(`grep -o '"subagent_type":"[a-z]*"'`)
	start.Matcher, stop.Matcher, reject.Matcher, seen.Matcher = "explore", "Explore|general", "general", "Task"
	w := hookWorld(
		t, nil, map[string][]config.Hook{
			"SubagentStart": {start, reject}, "SubagentStop": {stop},
			"PostToolUse": {seen}, "Stop": {sh("exit 0")},
		},
		script.Turn{
			Match:  "Go.",
			Answer: []script.Step{task("explore", "Look at A.", ""), task("general", "Look at B.", "")},
		},
		script.Turn{
			Match: "Look at A.", Expect: []script.Expect{script.Last("look at the tests")},
			Answer: []script.Step{
				call("list", `{}`),
			},
		},
		script.Turn{Match: "Look at A.", Answer: []script.Step{
			script.Call{
				Name:      "submit_result",
				Arguments: `{"status":"partial","summary":"One.","details":"All of it.","suggestions":["Go on."]}`,
			},
		}},
		script.Turn{Match: "Look at A.", Expect: []script.Expect{
			script.Last(`A hook of the user says: last_assistant_message":"One.`),
			script.Last(
				`{"status":"partial","summary":"One.","content":"One.\n\nAll of it.","files_modified":[],"files_created":[],"tests_run":0,"tests_passed":0,"warnings":[],"suggestions":["Go on."],"iteration_count":2,"tokens":`),
		}, Answer: []script.Step{script.Call{Name: "submit_result", Arguments: `{"summary":"Two."}`}}},
		script.Turn{Match: "Go.", Expect: []script.Expect{
			script.Result("task", "Two."), script.Result("task", `"subagent_type":"explore"`),
			script.Result("task", "a SubagentStart hook rejects the run: not today"),
		}, Answer: []script.Step{done}},
	)
	result, notices := w.plays(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	told(t, notices)
	if result.Status != event.StatusCompleted {
		t.Errorf("the run is %s: %+v", result.Status, result.Error)
	}
}

// TestCancelDuringAHookOfAChild cancels a run while a hook of its child runs.
func TestCancelDuringAHookOfAChild(t *testing.T) {
	for _, name := range []string{"SubagentStart", "SubagentStop"} {
		w := hookWorld(t, nil, map[string][]config.Hook{name: {sh(`trap '' TERM INT HUP; sleep 1008; sleep 1008`)}})
		w.model = script.New("test",
			script.Turn{Match: "Go.", Times: script.Any, Answer: []script.Step{task("explore", "Look.", "")}},
			script.Turn{Match: "Look.", Times: script.Any, Answer: []script.Step{done}})
		id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
		var child event.RunID
		w.waitFor("the hook runs", func() bool {
			for _, c := range w.children(id) {
				child = c.ID
				return len(processes(t, c.ID)) >= 2
			}
			return false
		})
		if err := w.engine.Cancel(id); err != nil {
			t.Fatal(err)
		}
		if a, b := w.wait(id).Status, w.wait(child).Status; a != event.StatusCancelled || b != event.StatusCancelled {
			t.Errorf("the runs are %s and %s", a, b)
		}
		w.emptied(id)
		w.emptied(child)
		w.close()
	}
}

// TestStopHookWaitsForChildren counts the ends of a run that has nothing to do until its child in the background has
// ended, and goes on then.
func TestStopHookWaitsForChildren(t *testing.T) {
	w := hookWorld(
		t, nil, map[string][]config.Hook{"Stop": {sh("echo end >> ends")}},
		script.Turn{Match: "Go.", Answer: []script.Step{task("explore", "Look.", inBackground)}},
		script.Turn{Match: "Look.", Answer: []script.Step{script.Gate("look"), script.Text("Found.")}},
		script.Turn{Match: "Go.", Answer: []script.Step{script.Text("I have nothing to do.")}},
		script.Turn{Match: "Go.", Expect: []script.Expect{script.Last("Found.")}, Answer: []script.Step{done}},
	)
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	w.reached("look")
	w.until(func(e event.Event) bool {
		change, ok := e.Body.(event.RunStatusChanged)
		return ok && change.Reason == "waits for 1 child in the background"
	})
	w.model.Release("look")
	if result := w.wait(id); result.Status != event.StatusCompleted {
		t.Errorf("the run is %s: %+v", result.Status, result.Error)
	}
	if got := w.proposed(); got != "ends -+end\n" {
		t.Errorf("proposed %q", got)
	}
}

// TestToldWhileAStopHookRuns tells a run something while the hook of its end runs: it hears of it.
func TestToldWhileAStopHookRuns(t *testing.T) {
	w := newWorld(t, nil, says(script.Text("first")), says(script.Text("second"), "One more thing"))
	gate := filepath.Join(t.TempDir(), "told") // where a hook without a sandbox sees it
	cfg := hooked(map[string][]config.Hook{"Stop": {sh(`until [ -e "` + gate + `" ]; do sleep 0.05; done`)}})
	cfg.Sandbox = config.SandboxOff
	w.configured(cfg)
	w.session.SetTrusted(true)
	id := w.start(coder())
	w.waitFor("the hook runs", func() bool { return len(processes(t, id)) >= 1 })
	if err := w.engine.Steer(id, "One more thing."); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if result := w.wait(id); result.Status != event.StatusCompleted || result.Output != "second" {
		t.Errorf("the run is %s with %q", result.Status, result.Output)
	}
}

// TestHooksOfResumedRuns goes on with a child of an agent whose definition has a guard: it still guards, and the
// session starts again.
func TestHooksOfResumedRuns(t *testing.T) {
	guarded := &agent.Definition{
		Slug: "guarded", Title: "Guarded", Description: "d", Categories: []agent.Category{agent.Primary},
		Instruction: agent.Instruction{Prompt: "Work."}, Permissions: "primary",
		Hooks: []agent.Hook{
			{Event: "PreToolUse", Matcher: "Read", Command: []string{"sh", "-c", "echo guarded >&2; exit 2"}},
		},
	}
	w := newWorld(t, map[string]string{"a.txt": "alpha\n"})
	w.with(script.New("test",
		script.Turn{Match: "Go.", Answer: []script.Step{task("general", "Look.", "")}},
		script.Turn{Match: "Look.", Answer: []script.Step{script.Text("Looked.")}},
		script.Turn{Match: "Go.", Answer: []script.Step{done}},
		script.Turn{
			Match: "Look.", Expect: []script.Expect{script.Last("source resume")},
			Answer: []script.Step{readA},
		},
		script.Turn{Match: "Look.", Expect: []script.Expect{
			script.Last("rejects the call: guarded"),
			script.NotLast("alpha"),
		}, Answer: []script.Step{done}},
	), func(o *agentcore.Options) {
		resume := sh(`grep -o '"source":"resume"' | sed 's/.*resume.*/source resume/'`)
		resume.Matcher = "resume"
		o.Config = hooked(map[string][]config.Hook{"SessionStart": {resume}})
	}, guarded)
	w.session.SetTrusted(true)
	id := w.start(agentcore.RunRequest{Agent: "guarded", Prompt: "Go."})
	w.wait(id)
	resumed, err := w.session.Resume(w.ctx, w.children(id)[0].ID, "Once more.")
	if err != nil {
		t.Fatal(err)
	}
	if result := w.wait(resumed); result.Status != event.StatusCompleted {
		t.Errorf("the run is %s: %+v", result.Status, result.Error)
	}
}
