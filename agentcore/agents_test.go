package agentcore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model/script"
)

// custom is an agent that a program could register.
func custom() *agent.Definition {
	return &agent.Definition{
		Slug: "haiku", Title: "Haiku", Description: "Writes a haiku.", Categories: []agent.Category{agent.Primary},
		Mode:   agent.Agentic,
		Limits: agent.Limits{MaxTurns: 2, Timeout: time.Minute}, Tools: []string{"read_file"},
		Subagents: []string{"explore"},
		Aliases:   []string{"poet"}, ID: "the-id",
		Instruction: agent.Instruction{Prompt: "Write of {{topic}}.", Variables: map[string]string{"topic": "frogs"}},
	}
}

func TestRegisteredAgentsAreThereAfterARestart(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n"},
		script.Turn{
			Expect: []script.Expect{script.Tools("read"), script.NoTools("grep", "edit")},
			Answer: []script.Step{script.Text("A frog.")},
		},
		script.Turn{Answer: []script.Step{script.Text("A pond.")}},
	)
	d := custom()
	if err := w.engine.Registry().Register(w.ctx, d); err != nil {
		t.Fatal(err)
	}
	d.Prompt = "changed by the caller"
	want := custom()
	want.Tools = []string{"read"}
	want.Source = agent.Source{Layer: agent.LayerRuntime}
	for _, name := range []string{"haiku", "poet", "the-id"} {
		got, err := w.engine.Agents().Find(name)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s (-want +got), %v:\n%s", name, err, diff)
		}
	}
	if result := w.wait(w.start(agentcore.RunRequest{Agent: "poet", Prompt: "Write."})); result.Output != "A frog." {
		t.Errorf("the run's result is %v", result)
	}
	w.closeEngine()
	w.open()
	if got, err := w.engine.Agents().Find("haiku"); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("after a restart: %v, %v", got, err)
	}
	want.Title = "Better"
	if err := w.engine.Registry().Update(w.ctx, want); err != nil {
		t.Fatal(err)
	}
	rows, err := w.engine.Store().Agents(w.ctx)
	if err != nil || len(rows) != 1 || rows[0].Slug != "haiku" || rows[0].ID != "the-id" || rows[0].Created.IsZero() ||
		!rows[0].Updated.After(rows[0].Created) {
		t.Errorf("the rows are %v, %v", rows, err)
	}
	w.closeEngine()
	w.open()
	if got, err := w.engine.Agents().Find("haiku"); err != nil || got.Title != "Better" {
		t.Errorf("after an update: %v, %v", got, err)
	}
	if err := w.engine.Registry().Unregister(w.ctx, "haiku"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.engine.Agents().Find("haiku"); err == nil {
		t.Error("it is still there")
	}
	if result := w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go on."})); result.Output != "A pond." {
		t.Errorf("the run's result is %v", result)
	}
	w.closeEngine()
	w.open()
	if _, err := w.engine.Agents().Find("haiku"); err == nil {
		t.Error("it came back")
	}
}

func TestWrongDefinitionsAreNotRegistered(t *testing.T) {
	w := newWorld(t, nil)
	if err := w.engine.Registry().Register(w.ctx, custom()); err != nil {
		t.Fatal(err)
	}
	before := w.engine.Agents()
	for name, test := range map[string]struct {
		change func(*agent.Definition)
		wants  []string
	}{
		"everything": {func(d *agent.Definition) {
			*d = agent.Definition{
				Slug: "Not A Slug", Tools: []string{"raed"}, Subagents: []string{"explor"},
				Sampling:    agent.Sampling{Model: "openia/x"},
				Instruction: agent.Instruction{Skills: []string{"agentsl"}, Prompt: "{{naem}}"},
				Categories:  []agent.Category{"primry"},
			}
		}, []string{
			`name is "Not A Slug"`, `no tool "raed"`, `no agent "explor"`, `no provider "openia"`,
			"did you mean openai?", `category is "primry"`, "no variable naem", `no skill "agentsl"`,
		}},
		"registered already": {func(*agent.Definition) {}, []string{"there is already an agent haiku"}},
		"taken alias": {
			func(d *agent.Definition) { d.Slug, d.Aliases = "other", []string{"Explore"} },
			[]string{"the alias Explore is taken by the agent explore"},
		},
		"cycle": {func(d *agent.Definition) {
			d.Slug, d.Aliases, d.Tools, d.Subagents = "other", nil, nil, []string{"other"}
		}, []string{"the delegation never ends"}},
		"prompt of a file": {func(d *agent.Definition) {
			d.Slug, d.Aliases, d.Prompt, d.PromptFile = "other", nil, "",
				"x.md"
		}, []string{"no folder to read prompt_file from"}},
		"limits": {
			func(d *agent.Definition) { d.Slug, d.Aliases, d.Limits.MaxTurns = "other", nil, -1 },
			[]string{`max_turns is "-1"`},
		},
	} {
		d := custom()
		test.change(d)
		err := w.engine.Registry().Register(w.ctx, d)
		var failure *fault.Error
		if !errors.As(err, &failure) || failure.Kind != "invalid_definition" {
			t.Errorf("%s: the error is %v", name, err)
			continue
		}
		for _, want := range test.wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q is not in %v", name, want, err)
			}
		}
	}
	if w.engine.Agents() != before {
		t.Error("a refused definition has changed the registry")
	}
	var failure *fault.Error
	other := custom()
	other.Slug = "coder"
	for what, err := range map[string]error{
		"an update of a built-in agent":     w.engine.Registry().Update(w.ctx, other),
		"the removal of a built-in agent":   w.engine.Registry().Unregister(w.ctx, "coder"),
		"the removal of an agent not there": w.engine.Registry().Unregister(w.ctx, "nobody"),
	} {
		if !errors.As(err, &failure) || failure.Kind != "not_found" || !strings.Contains(failure.Hint, "haiku") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, problems, err := w.engine.Registry().UpdateText(w.ctx, "haiku", agent.TOML,
		"[[agents]]\nname='other'\ncategory='primary'\ndescription='d'\nprompt='p'\n"); err != nil ||
		!agent.Failed(problems) || problems[len(problems)-1].Span.StartLine != 1 {
		t.Errorf("an update with another name: %v, %v", problems, err)
	}
	for _, text := range []string{
		"",
		"[[agents]]\nname='o'\ncategory='primary'\nprompt='p'\n[[agents]]\nname='p'\ncategory='primary'\nprompt='p'\n",
	} {
		if d, problems, err := w.engine.Registry().RegisterText(w.ctx, agent.TOML, text); d != nil || err != nil ||
			!agent.Failed(problems) {
			t.Errorf("%q: %v, %v, %v", text, d, problems, err)
		}
	}
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	other.Slug, other.Aliases, other.ID = "late", nil, ""
	if err := w.engine.Registry().Register(ctx, other); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	if err := w.engine.Registry().Unregister(ctx, "haiku"); !errors.Is(err, context.Canceled) {
		t.Errorf("a removal with an ended context: %v", err)
	}
}

func TestARunKeepsItsDefinition(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n"},
		script.Turn{Answer: []script.Step{script.Gate("unregistered"), call("read", `{"path": "a.txt"}`)}},
		script.Turn{
			Expect: []script.Expect{script.Tools("read"), script.NoTools("grep")},
			Answer: []script.Step{script.Text("Done.")},
		})
	if err := w.engine.Registry().Register(w.ctx, custom()); err != nil {
		t.Fatal(err)
	}
	id := w.start(agentcore.RunRequest{Agent: "haiku", Prompt: "Read."})
	if err := w.engine.Registry().Unregister(w.ctx, "haiku"); err != nil {
		t.Fatal(err)
	}
	w.model.Release("unregistered")
	if result := w.wait(id); result.Status != event.StatusCompleted || result.Output != "Done." {
		t.Errorf("the result is %v", result)
	}
	if _, err := w.session.Start(w.ctx, agentcore.RunRequest{Agent: "haiku", Prompt: "Again."}); err == nil {
		t.Error("an agent that is gone was started")
	}
}

func TestNewDefinitionsCountAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	if err := w.engine.Registry().Register(w.ctx, custom()); err != nil {
		t.Fatal(err)
	}
	base := custom()
	base.Aliases, base.ID = nil, ""
	base.Source = agent.Source{Layer: agent.LayerUser, Path: "/haiku.md"}
	file := custom()
	file.Slug, file.Aliases, file.ID = "from-a-file", nil, ""
	w.engine.Registry().SetBase(agent.NewRegistry(base, file))
	var slugs []string
	for _, d := range w.engine.Agents().All() {
		slugs = append(slugs, d.Slug+" "+d.Source.Layer.String())
	}
	if !slices.Equal(slugs, []string{"from-a-file builtin", "haiku runtime"}) {
		t.Errorf("the agents are %v", slugs)
	}
	if got := w.engine.Agents().Shadows("haiku"); len(got) != 1 || got[0] != base.Source {
		t.Errorf("it hides %v", got)
	}
}

// An agent is described in code, registered, and there from then on.
func ExampleEngine_Registry() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	engine, err := agentcore.Open(ctx, agentcore.Options{StateDir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = engine.Registry().Register(ctx, &agent.Definition{
		Slug:        "go-reviewer",
		Description: "Reviews Go code for errors that are dropped.",
		Categories:  []agent.Category{agent.Primary, agent.Subagent},
		Tools:       []string{"read", "grep", "report_finding"},
		Subagents:   []string{},
		Permissions: "explorer",
		Instruction: agent.Instruction{Prompt: "Look for errors that are dropped in {{project}}, and report each."},
	})
	fmt.Println(err)
	err = engine.Registry().Register(ctx, &agent.Definition{
		Slug: "broken", Description: "Does nothing.",
		Categories: []agent.Category{agent.Primary}, Tools: []string{"raed"},
		Instruction: agent.Instruction{Prompt: "Read."},
	})
	fmt.Println(err)
	d, err := engine.Agents().Find("go-reviewer")
	fmt.Println(d.Slug, d.Source, d.Tools, err)
	fmt.Println(engine.Close(ctx))
	// Output:
	// <nil>
	// the agent "broken" cannot be registered: there is no tool "raed" (did you mean read?)
	// go-reviewer registered at run time [read grep report_finding] <nil>
	// <nil>
}

// TestForeignDefinitionsAreRegisteredWhole: a definition in the form of another tool is registered with all that it
// names, or not at all.
func TestForeignDefinitionsAreRegisteredWhole(t *testing.T) {
	w := newWorld(t, nil)
	for name, test := range map[string]struct {
		format agent.Format
		text   string
		wants  []string // nil where it is registered
	}{
		"custom": {agent.JSON, `{"Agents": {"Custom": [{"Slug": "x", "Name": "X", "Description": "d", "SystemPrompt": "p", "CanSpawnSubagents": true,
			"ProviderId": "nobody", "ModelId": "m", "AllowedSubagentTypes": ["explore", "nobody"],
			"Tools": {"Mode": "OnlyThese", "ToolList": ["fly", "read"], "Overrides": {"read": {"DefaultArguments": {"lmit": 1}}}}}]}}`, []string{
			`there is no tool "fly"`, `there is no agent "nobody"`, `no provider "nobody"`,
			`read has no argument "lmit"`,
		}},
		"role": {
			agent.JSON,
			`{"AgentRoles": {"Roles": [{"RoleId": "x", "SystemPrompt": "p", "CanDelegate": true, "AllowedDelegations": ["nobody"]}]}}`,
			[]string{`there is no agent "nobody"`},
		},
		"a role alone": {
			"",
			`{"RoleId": "x", "SystemPrompt": "p", "CanDelegate": true, "AllowedDelegations": ["nobody"]}`,
			[]string{`there is no agent "nobody"`},
		},
		"a custom alone": {
			agent.JSON,
			`{"Name": "X", "Slug": "x", "SystemPrompt": "p", "Tools": {"Mode": "OnlyThese", "ToolList": ["fly"]}}`,
			[]string{`there is no tool "fly"`},
		},
		"a right role":   {"", `{"RoleId": "x", "SystemPrompt": "p"}`, nil},
		"a right custom": {"", `{"Name": "X", "Slug": "x", "SystemPrompt": "p"}`, nil},
		"one in a list":  {"", `[{"Name": "X", "Slug": "x", "SystemPrompt": "p"}]`, nil},
		"custom, one":    {"", `{"Custom": [{"Name": "X", "Slug": "x", "SystemPrompt": "p"}]}`, nil},
		"roles, one":     {"", `{"Roles": [{"RoleId": "x", "SystemPrompt": "p"}]}`, nil},
		"typed": {
			agent.TOML, "[[agents]]\nagent_type = 'x'\nwhen_to_use = 'd'\ntools = ['fly']\n",
			[]string{`there is no tool "fly"`},
		},
		"claude": {
			agent.Claude, "---\nname: x\ndescription: d\ntools: Fly\nskills: none-such\n---\nDo.\n",
			[]string{`there is no tool "Fly"`, `there is no skill "none-such"`},
		},
		"right": {
			agent.Claude, "---\nname: x\ndescription: d\ntools: Read, Grep\nmodel: sonnet\n---\nDo.\n",
			nil,
		},
	} {
		d, problems, err := w.engine.Registry().RegisterText(w.ctx, test.format, test.text)
		if err != nil || (d != nil) != (test.wants == nil) {
			t.Errorf("%s: it is %v, %v, %v", name, d, problems, err)
		}
		for _, want := range test.wants {
			if !slices.ContainsFunc(problems, func(p agent.Problem) bool {
				return p.Severity == event.SeverityError && strings.Contains(p.Message, want) &&
					!strings.Contains(p.Message, "left out")
			}) {
				t.Errorf("%s: %s is not an error among %v", name, want, problems)
			}
		}
		if d != nil {
			if err := w.engine.Registry().Unregister(w.ctx, d.Slug); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestTakenAliasIsToldOnce: that a name is taken is one problem of a definition that is registered.
func TestTakenAliasIsToldOnce(t *testing.T) {
	w := newWorld(t, nil)
	_, problems, err := w.engine.Registry().RegisterText(w.ctx, agent.TOML,
		"[[agents]]\nname = 'x'\ncategory = 'primary'\ndescription = 'd'\nprompt = 'p'\naliases = ['explore']\n")
	if err != nil || len(problems) != 1 || problems[0].Severity != event.SeverityError {
		t.Errorf("the problems are %v, %v", problems, err)
	}
}
