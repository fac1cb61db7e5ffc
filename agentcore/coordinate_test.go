package agentcore_test

import (
	"regexp"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model/script"
)

// TestCoordinator: an agent spawns three others, tells one of them something, waits for the first to end, ends another,
// waits for the rest, and closes with what came of all.
func TestCoordinator(t *testing.T) {
	spawned := func(name string) map[string]*regexp.Regexp {
		return map[string]*regexp.Regexp{name: regexp.MustCompile(`background as (\S+)\.`)}
	}
	spawn := func(prompt string) []script.Step { return []script.Step{task("worker", prompt, inBackground)} }
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	w.with(script.New(
		"test",
		script.Turn{Match: "Lead.", Answer: spawn("Ants.")},
		script.Turn{Match: "Lead.", Capture: spawned("ants"), Answer: spawn("Bees.")},
		script.Turn{Match: "Lead.", Capture: spawned("bees"), Answer: spawn("Cats.")},
		script.Turn{Match: "Ants.", Answer: []script.Step{script.Gate("ants"), script.Text("Ants are done.")}},
		script.Turn{Match: "Bees.", Answer: []script.Step{script.Gate("bees"), call("read", `{"path":"a.txt"}`)}},
		script.Turn{
			Match: "Bees.", Expect: []script.Expect{script.Last("Ants come to you.")},
			Answer: []script.Step{script.Gate("bees end"), script.Text("Bees are done.")},
		},
		script.Turn{Match: "Cats.", Answer: []script.Step{script.Gate("cats"), script.Text("never said")}},
		script.Turn{
			Match: "Lead.", Capture: spawned("cats"),
			Answer: []script.Step{
				script.Gate("spawned"),
				call("task_send", `{"id":"${bees}","message":"Ants come to you."}`),
			},
		},
		script.Turn{
			Match:  "Lead.",
			Answer: []script.Step{call("task_wait", `{"ids":["${ants}","${bees}","${cats}"],"mode":"any"}`)},
		},
		script.Turn{
			Match: "Lead.",
			Expect: []script.Expect{
				script.Result("task_wait", "Ants are done."),
				script.Result("task_wait", "worker running (Bees.)"),
				script.Result("task_wait", "worker running (Cats.)"),
			},
			Answer: []script.Step{call("task_cancel", `{"id":"${cats}"}`)},
		},
		script.Turn{
			Match: "Lead.", Expect: []script.Expect{script.Result("task_cancel", `status="cancelled"`)},
			Answer: []script.Step{script.Gate("cancelled"), call("task_wait", `{"mode":"all"}`)},
		},
		script.Turn{
			Match: "Lead.", Expect: []script.Expect{script.Result("task_wait", "Bees are done.")},
			Answer: []script.Step{script.Text("Two of three.")},
		},
	), nil,
		&agent.Definition{Slug: "lead", Categories: []agent.Category{agent.Primary}, Subagents: []string{"worker"}},
		&agent.Definition{Slug: "worker", Categories: []agent.Category{agent.Subagent}, Subagents: []string{}},
	)
	id := w.start(agentcore.RunRequest{Agent: "lead", Prompt: "Lead."})
	w.reached("ants", "bees", "cats", "spawned")
	waits := func(reason string) {
		w.until(func(e event.Event) bool {
			change, ok := e.Body.(event.RunStatusChanged)
			return ok && e.Run == id && change.Reason == reason
		})
	}
	w.model.Release("spawned")
	waits("waits for 3 children")
	w.model.Release("bees") // what it was told is there
	w.reached("bees end")
	w.model.Release("ants")
	w.reached("cancelled")
	w.model.Release("cancelled")
	waits("waits for worker")
	w.model.Release("bees end")
	if result := w.wait(id); result.Status != event.StatusCompleted || result.Output != "Two of three." {
		t.Errorf("got %+v", result)
	}
	var ends []event.Status
	for _, child := range w.children(id) {
		ends = append(ends, child.Status)
	}
	if len(ends) != 3 || ends[0] != event.StatusCompleted || ends[1] != event.StatusCompleted ||
		ends[2] != event.StatusCancelled {
		t.Errorf("the children ended as %v", ends)
	}
}
