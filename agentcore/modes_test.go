package agentcore_test

import (
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model/script"
)

// Agents that answer without tools are started as any other, whatever tools their definitions list, and give one
// answer: calls in it are not made.
func TestOneAnswerOfAChild(t *testing.T) {
	define := func(slug string, mode agent.Mode, tools []string) *agent.Definition {
		d := own(slug, tools...)
		d.Mode, d.Tools, d.Limits.MaxTurns = mode, tools, 9
		return d
	}
	boss := own("boss", "read", "task")
	boss.Categories = []agent.Category{agent.Primary}
	read := call("read", `{"path":"a.txt"}`)
	for _, tt := range []struct {
		name   string
		mode   agent.Mode
		tools  []string
		answer []script.Step
		want   string
	}{
		{"single shot", agent.SingleShot, []string{"read"}, []script.Step{script.Text("One.")}, "One."},
		{"single shot without a list", agent.SingleShot, nil, []script.Step{script.Text("One.")}, "One."},
		{"single shot with an empty list", agent.SingleShot, []string{}, []script.Step{script.Text("One.")}, "One."},
		{
			"single shot that calls", agent.SingleShot,
			[]string{"read"},
			[]script.Step{script.Text("One."), read},
			"One.",
		},
		{
			"single shot that only calls", agent.SingleShot,
			[]string{"read"},
			[]script.Step{read},
			"error: script/test gave no answer",
		},
		{"streaming", agent.Streaming, []string{"read"}, []script.Step{script.Text("One.")}, "One."},
		{"streaming with an empty list", agent.Streaming, []string{}, []script.Step{script.Text("One.")}, "One."},
		{"streaming that calls", agent.Streaming, []string{"read"}, []script.Step{script.Text("One."), read}, "One."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.txt": "one\n"})
			w.with(script.New("test",
				script.Turn{
					Match: "Go.", Expect: []script.Expect{described("\n- once: ", true)},
					Answer: []script.Step{task("once", "Say it.", "")},
				},
				script.Turn{Match: "Say it.", Expect: []script.Expect{script.NoTools()}, Answer: tt.answer},
				script.Turn{
					Match:  "Go.",
					Expect: []script.Expect{script.Result("task", tt.want), script.NotLast("ended by: max_turns")},
					Answer: []script.Step{script.Text("done")},
				},
			), nil, define("once", tt.mode, tt.tools), boss)
			run := w.start(agentcore.RunRequest{Agent: "boss", Prompt: "Go."})
			if result := w.wait(run); result.Output != "done" {
				t.Errorf("got %+v", result)
			}
			for _, child := range w.children(run) {
				if got := w.wait(child.ID); got.Turns != 1 || len(got.ToolCalls) != 0 ||
					(got.Status == event.StatusCompleted) != (tt.want == "One.") {
					t.Errorf("got %+v", got)
				}
			}
		})
	}
}

// What is told to a run that speaks its last word is refused, and not lost.
func TestLastWordHearsNothing(t *testing.T) {
	once := own("once")
	once.Mode, once.Categories = agent.SingleShot, []agent.Category{agent.Primary}
	w := newWorld(t, nil)
	w.with(script.New("test", script.Turn{Answer: []script.Step{script.Gate("speaks"), script.Text("One.")}}), nil,
		once)
	run := w.start(agentcore.RunRequest{Agent: "once", Prompt: "Go.", Limits: agent.Limits{MaxTurns: 5}})
	if err := w.model.Reached(w.ctx, "speaks", 1); err != nil {
		t.Fatal(err)
	}
	err := w.engine.Steer(run, "Say two.")
	w.model.Release("speaks")
	if failure := fault.Explain(err); err == nil || failure.Kind != "not_allowed" {
		t.Errorf("got %v", err)
	}
	if result := w.wait(run); result.Output != "One." || result.Turns != 1 {
		t.Errorf("got %+v", result)
	}
}
