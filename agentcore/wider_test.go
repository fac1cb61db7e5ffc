package agentcore_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
)

// subjects are calls of each kind, by tool.
var subjects = [][2]string{
	{"read", "a.go"},
	{"read", ".env"},
	{"edit", "a.go"},
	{"write", "docs/x.md"},
	{"write", ".vscode/settings.json"},
	{"bash", "go test ./..."},
	{"bash", "git push --force"},
	{"bash", "rm -rf /"},
}

// powersOf are what a run may do: 0 for what is denied, 1 for what is asked for, 2 for what is allowed.
func (w *world) powersOf(id event.RunID) []int {
	w.t.Helper()
	var powers []int
	for _, s := range subjects {
		e, err := w.engine.ExplainRun(id, s[0], s[1])
		if err != nil {
			w.t.Fatal(err)
		}
		powers = append(powers, map[permission.Action]int{
			permission.Deny: 0, permission.Ask: 1,
			permission.Allow: 2,
		}[e.Action])
	}
	return powers
}

// within fails where a run may do more than another.
func within(t *testing.T, what string, inner, outer []int) {
	t.Helper()
	for i, s := range subjects {
		if inner[i] > outer[i] {
			t.Errorf("%s: %s of %q is %d, wider than %d", what, s[0], s[1], inner[i], outer[i])
		}
	}
}

func anyOf[T any](random *rand.Rand, list ...T) T { return list[random.IntN(len(list))] }

// powerful makes a definition with any rules and modes.
func powerful(random *rand.Rand, slug, prompt string, category agent.Category) *agent.Definition {
	d := &agent.Definition{
		Slug: slug, Instruction: agent.Instruction{Prompt: prompt}, Categories: []agent.Category{category},
		PermissionMode: anyOf(random, "", "default", "plan", "accept_edits", "bypass"),
		Permissions:    anyOf(random, "", "", "primary", "planner", "explorer", "researcher"),
	}
	for range random.IntN(4) {
		d.Rules = append(d.Rules, permission.Rule{
			Tool:    anyOf(random, "edit", "write", "read", "bash", "*"),
			Pattern: anyOf(random, "", "*", "a.go", "**/*.md", "git *", "go *"),
			Action:  anyOf(random, permission.Allow, permission.Allow, permission.Ask, permission.Deny),
		})
	}
	return d
}

// TestWiderChild starts children with definitions of all kinds below parents of all kinds: whatever a child's
// definition, mode or call says, it may do nothing that its parent may not; neither may the run that goes on with it
// later, or what it starts.
func TestWiderChild(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	random := rand.New(rand.NewPCG(6, 4))
	var definitions []*agent.Definition
	var turns []script.Turn
	more := []string{
		"", `,"model":"other/model"`, `,"allowed_tools":["read","edit","bash"]`,
		`,"allowed_tools":["Read","write"],"max_turns":9`, inBackground,
	}
	for i := range rounds {
		name := func(what string) (slug, mark string) {
			return fmt.Sprintf("%s-%d", what, i), fmt.Sprintf("You are %s %d.", what, i)
		}
		parentSlug, parentMark := name("parent")
		childSlug, childMark := name("child")
		grandSlug, grandMark := name("grand")
		parent, child := powerful(random, parentSlug, parentMark, agent.Primary), powerful(random, childSlug, childMark,
			agent.Subagent)
		child.Categories = append(child.Categories, agent.Primary)
		grand := powerful(random, grandSlug, grandMark, agent.Subagent)
		parent.Subagents, child.Subagents, grand.Subagents = []string{childSlug, grandSlug}, []string{
			grandSlug,
		}, []string{}
		if i%4 == 3 {
			parent.Mode = agent.Planning
		}
		if i%8 == 3 { // nothing else binds it
			parent.Permissions, parent.Rules, child.Permissions, child.Rules, child.PermissionMode = "", nil,
				"", nil, "bypass"
		}
		if i%8%len(more) == 2 {
			child.Tools = []string{"read", "task"} // what it is given beyond that is asked for
		}
		definitions = append(definitions, parent, child, grand)
		turns = append(turns,
			script.Turn{Match: parentMark, Answer: []script.Step{task(childSlug, "Do.", more[i%8%len(more)])}},
			script.Turn{
				Match: grandMark, Times: script.Any,
				Answer: []script.Step{script.Gate(fmt.Sprint("grand", i)), script.Text("done")},
			},
			script.Turn{Match: childMark, Times: script.Any, Then: func(request *model.Request) []script.Step {
				if len(request.Messages) == 1 {
					return []script.Step{script.Gate(fmt.Sprint("child", i)), task(grandSlug, "Do it.", "")}
				}
				return []script.Step{script.Text("done")}
			}},
			script.Turn{Match: parentMark, Times: script.Any, Answer: []script.Step{script.Text("done")}},
		)
	}
	w := newWorld(t, map[string]string{"a.go": "package a\n", ".env": "A=b\n", "docs/x.md": "x\n"})
	w.with(script.New("test", turns...), func(o *agentcore.Options) {
		o.Config = config.Default()
		o.Config.Sandbox = config.SandboxOff // so that commands are decided on by the rules
	}, definitions...)
	w.session.SetTrusted(true)
	grands, refused := 0, 0
	for i := range rounds {
		parent, child := definitions[3*i], definitions[3*i+1]
		what := fmt.Sprintf("round %d, %s below %s (%s%s)", i, child.PermissionMode, parent.PermissionMode, parent.Mode,
			more[i%8%len(more)])
		request := agentcore.RunRequest{
			Agent: parent.Slug, Prompt: "Go.",
			PermissionMode: anyOf(random, "", "", permission.AcceptEdits, permission.Bypass),
		}
		root := w.start(request)
		runs := map[string]event.RunID{}
		w.until(func(e event.Event) bool {
			switch body := e.Body.(type) {
			case event.AskOpened: // more tools
				w.answer(w.session.Asks()[0], authority.Answer{Allow: true})
			case event.RunCreated:
				runs[body.Agent] = e.Run
			}
			return runs[child.Slug] != "" || ended(root)(e)
		})
		if runs[child.Slug] == "" { // none of them has a tool that it names
			refused++
			continue
		}
		w.reached(fmt.Sprint("child", i))
		ofParent, ofChild := w.powersOf(root), w.powersOf(runs[child.Slug])
		within(t, what, ofChild, ofParent)
		if parent.Mode == agent.Planning && ofChild[2]+ofChild[3] > 0 {
			t.Errorf("%s: the child of a planning run may edit", what)
		}
		w.model.Release(fmt.Sprint("child", i))
		w.model.Release(fmt.Sprint("grand", i))
		w.until(func(e event.Event) bool {
			if body, ok := e.Body.(event.RunCreated); ok {
				runs[body.Agent] = e.Run
			}
			return e.Run == root && ended(root)(e)
		})
		if grand := runs[definitions[3*i+2].Slug]; grand != "" {
			within(t, what+", grandchild", w.powersOf(grand), ofChild)
			grands++
		}
		again, err := w.session.Resume(w.ctx, runs[child.Slug], "More.")
		if err != nil {
			t.Fatal(err)
		}
		w.wait(again)
		within(t, what+", resumed", w.powersOf(again), ofChild)
	}
	if grands < rounds/4 || refused > rounds/4 {
		t.Errorf("%d children have started others, and %d were not started", grands, refused)
	}
	// A run for each file is its parent, in parts.
	for i := range rounds {
		root := w.start(agentcore.RunRequest{
			Agent: definitions[3*i].Slug, Prompt: "Go.",
			Each: []string{w.path("a.go")}, PermissionMode: permission.Bypass,
		})
		w.wait(root)
		for _, child := range w.children(root) {
			within(t, fmt.Sprintf("round %d, for a file", i), w.powersOf(child.ID), w.powersOf(root))
		}
	}
}
