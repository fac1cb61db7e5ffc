package agentcore_test

import (
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/mcp/mcptest"
	"github.com/agentls/agentls/agentcore/model/script"
)

// A child that worked in the background may delegate once somebody goes on with it who waits for it, and not where it
// is in the background again.
func TestResumedFromTheBackground(t *testing.T) {
	resume := func(prompt, more string) []script.Step {
		return []script.Step{task("mine", prompt, `,"resume":"${id}"`+more)}
	}
	spared := []script.Expect{script.Tools("read"), script.NoTools("task", "task_wait", "question")}
	whole := []script.Expect{script.Tools("read", "task", "task_wait"), script.NoTools("question")}
	said := func(prompt string, expect []script.Expect) script.Turn {
		return script.Turn{
			Match: "Look.", Expect: append([]script.Expect{script.Last(prompt)}, expect...),
			Answer: []script.Step{script.Gate(prompt), script.Text("Said.")},
		}
	}
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	w.with(
		script.New(
			"test",
			script.Turn{Match: "Go.", Answer: []script.Step{task("mine", "Look.", inBackground)}},
			said("Look.", spared),
			script.Turn{
				Match: "Go.", Capture: started,
				Answer: []script.Step{script.Gate("waits"), call("task_wait", `{}`)},
			},
			script.Turn{Match: "Go.", Answer: resume("Aside.", inBackground)},
			said("Aside.", spared),
			script.Turn{
				Match: "Go.", Capture: started,
				Answer: []script.Step{script.Gate("waits again"), call("task_wait", `{}`)},
			},
			script.Turn{Match: "Go.", Answer: resume("Here.", "")},
			said("Here.", whole),
			script.Turn{Match: "Go.", Answer: []script.Step{script.Text("done")}},
			said("By the user.", whole),
		), nil,
		&agent.Definition{Slug: "mine", Categories: []agent.Category{agent.Subagent}, Tools: []string{"read", "task"}},
	)
	w.model.Release("Here.")
	w.model.Release("By the user.")
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	for _, gates := range [][2]string{{"waits", "Look."}, {"waits again", "Aside."}} {
		// the child ends once its parent has heard that it began
		if err := w.model.Reached(w.ctx, gates[0], 1); err != nil {
			t.Fatal(err)
		}
		w.model.Release(gates[0])
		w.model.Release(gates[1])
	}
	if got := w.wait(run); got.Output != "done" {
		t.Fatalf("got %+v", got)
	}
	again, err := w.session.Resume(w.ctx, w.children(run)[0].ID, "By the user.")
	if err != nil {
		t.Fatal(err)
	}
	if got := w.wait(again); got.Output != "Said." {
		t.Errorf("got %+v", got)
	}
}

// A child that could use no MCP server, in its only turn or while nobody trusted the folder that brings it, has the
// tools of the server that its definition names where the user goes on with it, and no others of it.
func TestResumedChildHasItsServers(t *testing.T) {
	for name, c := range map[string]struct {
		names         []string
		turns         string
		project       bool
		tools, others []string
	}{
		"all, one turn": {
			[]string{"*"},
			`,"max_turns":1`, false,
			[]string{"mcp__srv__echo", "mcp__srv__env"},
			nil,
		},
		"one, one turn": {
			[]string{"read", "mcp__srv__echo"},
			`,"max_turns":1`, false,
			[]string{"mcp__srv__echo"},
			[]string{"mcp__srv__env"},
		},
		"server, one turn": {
			[]string{"read", "mcp__srv"},
			`,"max_turns":1`, false,
			[]string{"mcp__srv__echo", "mcp__srv__env"},
			nil,
		},
		"another, one turn": {
			[]string{"read", "mcp__other"},
			`,"max_turns":1`, false,
			[]string{"read"},
			[]string{"mcp__srv__echo"},
		},
		"all, not trusted": {[]string{"*"}, "", true, []string{"mcp__srv__echo", "mcp__srv__env"}, nil},
		"one, not trusted": {
			[]string{"read", "mcp__srv__echo"},
			"", true,
			[]string{"mcp__srv__echo"},
			[]string{"mcp__srv__env"},
		},
		"none, not trusted": {[]string{"read"}, "", true, []string{"read"}, []string{"mcp__srv__echo"}},
		"server, no trust": {
			[]string{"read", "mcp__srv"},
			"", true,
			[]string{"mcp__srv__echo", "mcp__srv__env"},
			nil,
		},
		"pattern, one turn": {
			[]string{"read", "mcp__srv__e*"},
			`,"max_turns":1`, false,
			[]string{"mcp__srv__echo", "mcp__srv__env"},
			[]string{"mcp__srv__read"},
		},
		"pattern, not trust": {
			[]string{"read", "mcp__srv__ec*"},
			"", true,
			[]string{"mcp__srv__echo"},
			[]string{"mcp__srv__env"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.txt": "one\n"})
			has := []script.Expect{
				script.NoTools(append([]string{"question", "write"}, c.others...)...),
				script.Tools(c.tools...),
			}
			if c.names[0] == "*" {
				has = has[1:]
			}
			w.with(
				script.New(
					"test",
					script.Turn{Match: "Go.", Answer: []script.Step{task("mine", "Look.", c.turns)}},
					script.Turn{
						Match: "Look.", Answer: []script.Step{script.Text("Said.")},
						Expect: []script.Expect{script.NoTools("mcp__srv__echo", "mcp__srv__env")},
					},
					script.Turn{Match: "Go.", Answer: []script.Step{script.Text("done")}},
					script.Turn{Match: "Look.", Expect: has, Answer: []script.Step{script.Text("Again.")}},
				), func(o *agentcore.Options) {
					o.Config = config.Default()
					allowing(o.Config)
					server := config.MCPServer{
						Command: mcptest.Program(t, w.dir),
						Env:     map[string]string{mcptest.Variable: "good"},
					}
					if c.project {
						server.Origin = config.Origin{Layer: config.LayerProject, File: w.path(".agentls/config.toml")}
					}
					o.Config.MCP["srv"] = server
				},
				&agent.Definition{Slug: "mine", Categories: []agent.Category{agent.Subagent}, Tools: c.names},
			)
			w.session.SetTrusted(!c.project)
			run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
			if got := w.wait(run); got.Output != "done" {
				t.Fatalf("got %+v", got)
			}
			w.session.SetTrusted(true)
			again, err := w.session.ResumeWith(w.ctx, w.children(run)[0].ID, agentcore.RunRequest{
				Prompt: "Go on.", Limits: agent.Limits{MaxTurns: 3},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := w.wait(again); got.Status != event.StatusCompleted || got.Output != "Again." {
				t.Errorf("got %+v", got)
			}
		})
	}
}
