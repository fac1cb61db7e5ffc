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

// Whoever cannot start an agent hears why: there is none, it is broken, or it is not open to the run.
func TestWhyAnAgentIsNotStarted(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"lead":   "---\nname: lead\ndescription: d\ncategory: primary\nsubagents: [explore, sole]\n---\nLead.\n",
		"sole":   "---\nname: sole\ndescription: d\ncategory: subagent\ntools: [websearch]\n---\nSearch.\n",
		"mine":   "---\nname: mine\ndescription: d\ncategory: primary\n---\nDo.\n",
		"broken": "---\nname: broken\ndescription: d\ntimeout: soon\n---\nDo.\n",
	} {
		if err := os.MkdirAll(filepath.Join(dir, "agents"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "agents", name+".md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	var loader agent.Loader
	folders := []agent.Folders{{Layer: agent.LayerUser, Dir: dir, Format: agent.Native}}
	registry, err := loader.Load(w.ctx, folders, agent.Known{})
	if err != nil {
		t.Fatal(err)
	}
	begins, may := `you cannot start the agent "`, `" (you can start explore): `
	w.with(
		script.New(
			"test",
			script.Turn{Answer: []script.Step{
				task("explor", "x", ""), task("quite-another", "x", ""), task("broken", "x", ""),
				task("title", "x", ""),
				task("mine", "x", ""), task("general", "x", ""), task("sole", "x", ""),
			}},
			script.Turn{Answer: []script.Step{script.Text("done")}, Expect: []script.Expect{
				script.Last(begins + "explor" + may + "there is no agent of that name; did you mean explore?"),
				script.Last(begins + "quite-another" + may + "there is no agent of that name"),
				script.Last(begins + "broken" + may + "the definition of the agent broken has an error: "),
				script.Last("broken.md:4"), script.Last(begins + "title" + may + "agentls alone starts it"),
				script.Last("it is not a subagent, so only the user starts it"),
				script.Last("this run could give it none of the tools of its definition"),
				script.Last("the definition of lead does not name it as a subagent"),
			}},
		), func(o *agentcore.Options) { o.Agents = registry },
	)
	w.finishes(agentcore.RunRequest{Agent: "lead", Prompt: "Go."})
}

// A run at the depth limit, and one in the background, hears why it has no tool to delegate by; one whose definition
// has none hears nothing of limits.
func TestWhyThereIsNoTask(t *testing.T) {
	again := []script.Step{task("explore", "x", ""), call("task_wait", `{}`)}
	limit := `there is no tool "task" here, since the depth limit of delegation is reached (max_depth = 1): do it yourself; the tools are read`
	aside := `there is no tool "task" here, since a task in the background does not delegate: do it yourself; the tools are read`
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	for _, c := range []struct {
		depth       int
		agent, more string
		told        string
	}{
		{1, "mine", "", limit},
		{3, "mine", inBackground, aside},
		{3, "explore", "", `there is no tool "task" here; the tools are read`},
	} {
		w.with(
			script.New(
				"test",
				script.Turn{Match: "Go.", Answer: []script.Step{task(c.agent, "Look.", c.more)}},
				script.Turn{Match: "Look.", Answer: again},
				script.Turn{Match: "Look.", Answer: []script.Step{script.Text("Looked.")}, Expect: []script.Expect{
					script.Result("task", c.told), script.Result("task_wait", "there is no tool \"task_wait\" here"),
				}},
				script.Turn{Match: "Go.", Times: script.Any, Answer: []script.Step{script.Text("done")}},
			), func(o *agentcore.Options) {
				o.Config = config.Default()
				o.Config.MaxDepth = c.depth
			},
			&agent.Definition{
				Slug: "mine", Categories: []agent.Category{agent.Subagent},
				Tools: []string{"read", "task"},
			},
		)
		w.finishes(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	}
}

// Tools that nobody can be asked for, and such as the user does not give, are a denial of the call, of which the result
// of the run tells.
func TestToolsThatAreNotGiven(t *testing.T) {
	why := `allowed_tools: explore does not get edit: the user is not asked about a subagent's calls (subagent_ask = "deny")`
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	w.with(
		script.New(
			"test",
			script.Turn{Match: "Go.", Answer: []script.Step{task("lead", "Lead.", "")}},
			script.Turn{
				Match:  "Lead.",
				Answer: []script.Step{task("explore", "Mend it.", `,"allowed_tools":["edit"]`)},
			},
			script.Turn{
				Match: "Lead.", Answer: []script.Step{script.Text("Led.")},
				Expect: []script.Expect{script.Result("task", "denied: "+why+". Leave them out")},
			},
			script.Turn{
				Match: "Go.", Answer: []script.Step{script.Text("done")},
				Expect: []script.Expect{
					script.Result("task", "warning: it was not allowed to start explore: Mend it.: "+why),
				},
			},
		), nil,
		&agent.Definition{
			Slug: "lead", Categories: []agent.Category{agent.Subagent}, Tools: []string{"read", "edit", "task"},
			Subagents: []string{"explore"},
		},
	)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	if got := w.wait(run); got.Output != "done" {
		t.Errorf("got %+v", got)
	}
	if got := w.wait(w.children(run)[0].ID).ToolCalls; len(got) != 1 || got[0].Status != event.CallDenied {
		t.Errorf("the calls are %+v", got)
	}
}
