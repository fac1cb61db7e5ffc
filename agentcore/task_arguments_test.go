package agentcore_test

import (
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
)

// A task takes no more turns than the definition or, where that has no limit, the configuration has, and the parent is
// told.
func TestTaskTurnsAreBounded(t *testing.T) {
	w := newWorld(t, nil)
	w.with(script.New("test",
		script.Turn{Match: "Go.", Answer: []script.Step{task("mine", "Do it.", `,"max_turns":99`), task("mine", "Do less.", `,"max_turns":7`)}},
		script.Turn{Match: "Do it.", Expect: []script.Expect{script.System("limits: 8 turns")}, Answer: []script.Step{script.Text("Done.")}},
		script.Turn{Match: "Do less.", Expect: []script.Expect{script.System("limits: 7 turns")}, Answer: []script.Step{script.Text("Less.")}},
		script.Turn{
			Match: "Go.", Answer: []script.Step{script.Text("done")},
			Expect: []script.Expect{script.Last("limit: mine takes at most 8 turns, not the 99 that you asked for\n"), script.NotLast("the 7 that")},
		},
	), func(o *agentcore.Options) {
		o.Config = config.Default()
		o.Config.DefaultMaxTurns = 8
	}, own("mine"))
	w.finishes(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
}

// A model that cannot be had is answered with those that can be written, and with nothing that only a user can do.
func TestTaskModelIsRefusedWithTheOthers(t *testing.T) {
	cfg := configured(t, "[providers.box]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodels = [\"small\", \"large\"]\n"+
		"[providers.locked]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nkey_env = \"LOCKED\"\nmodels = [\"secret\"]\n"+
		"[presets.fast]\nmodel = \"box/small\"\n")
	w := newWorld(t, nil)
	turns := script.New("test",
		script.Turn{Match: "Go.", Answer: []script.Step{task("mine", "Do it.", `,"model":"nothing-4"`)}},
		script.Turn{
			Match: "Go.", Answer: []script.Step{script.Text("done")},
			Expect: []script.Expect{
				script.Last(`model: there is no "nothing-4"`), script.Last("write fast, box/small, box/large or offline, or leave it out"),
				script.NotLast("locked"), script.NotLast("config.toml"),
			},
		},
	)
	w.with(turns, func(o *agentcore.Options) {
		o.Config = cfg
		o.OpenModel = func(c agentcore.Choice) (model.Model, error) {
			if c.Override == "nothing-4" {
				return nil, &fault.Error{Kind: fault.UnknownProvider, Detail: `there is no "nothing-4"`, Hint: "add it to config.toml"}
			}
			return turns, nil
		}
	}, own("mine"))
	w.finishes(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
}

// A model may be named without its provider, where one alone of those that can be used serves it.
func TestBareModel(t *testing.T) {
	const text = "[providers.one]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodels = [\"only\", \"both\", \"keyed\"]\n" +
		"[providers.two]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodels = [\"both\", \"one\"]\n" +
		"[providers.three]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nkey_env = \"THREE\"\nmodels = [\"keyed\", \"locked\"]\n" +
		"[presets.only-fast]\nmodel = \"one/only\"\n"
	cfg := configured(t, text)
	in := agentcore.Surroundings{Getenv: func(string) string { return "" }, Editor: lender{models: []agentcore.LentModel{{ID: "lent"}}}}
	for name, want := range map[string]string{
		"only": "one/only", "keyed": "one/keyed", "locked": "three/locked", "lent": "editor/lent", "both": "both", "one": "one", "none": "none",
		"two/other": "two/other", "only-fast": "one/only", "offline": "offline", "gpt-5": "openai/gpt-5",
	} {
		if got := (agentcore.Choice{Override: name, Config: cfg}).Resolve(t.Context(), in); got.Name != want {
			t.Errorf("%s is %s, want %s", name, got.Name, want)
		}
	}
	_, _, err := agentcore.ModelsWith(t.Context(), agentcore.Options{
		StateDir: t.TempDir(), Config: cfg, Getenv: in.Getenv, Agents: agent.NewRegistry(own("coder")),
	}, "coder", "only")
	if err != nil {
		t.Error(err)
	}
	_, resolved, _ := agentcore.ModelsWith(t.Context(), agentcore.Options{
		StateDir: t.TempDir(), Config: cfg, Getenv: in.Getenv, Agents: agent.NewRegistry(own("coder")),
	}, "coder", "both")
	if !strings.Contains(resolved.Because, "one/both or two/both") {
		t.Errorf("of two that serve it, it is told %q", resolved.Because)
	}
}

// An agent whose own model cannot be had is answered for a model, too: it can start it with another one.
func TestTaskOfAnAgentWithoutAKey(t *testing.T) {
	w := newWorld(t, nil)
	locked := own("locked")
	locked.Model = "vault/big"
	turns := script.New("test",
		script.Turn{Match: "Go.", Answer: []script.Step{task("locked", "Do it.", "")}},
		script.Turn{
			Match: "Go.", Answer: []script.Step{task("locked", "Do it.", `,"model":"inherit"`)},
			Expect: []script.Expect{
				script.Last("start locked: the model vault/big needs a key, and VAULT is not set; give the call a model: inherit for yours, or box/small or offline; " +
					"or choose another agent"),
				script.NotLast("where the editor starts"),
			},
		},
		script.Turn{Match: "Do it.", Answer: []script.Step{script.Text("It is done.")}},
		script.Turn{Match: "Go.", Answer: []script.Step{script.Text("done")}, Expect: []script.Expect{script.Last("It is done.")}},
	)
	cfg := configured(t, "[providers.box]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodels = [\"small\"]\n"+
		"[providers.vault]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nkey_env = \"VAULT\"\nmodels = [\"big\"]\n")
	w.with(turns, func(o *agentcore.Options) {
		o.Config = cfg
		o.OpenModel = func(c agentcore.Choice) (model.Model, error) {
			in := agentcore.Surroundings{Getenv: func(string) string { return "" }}
			if resolved := c.Resolve(t.Context(), in); resolved.Name == "vault/big" {
				return nil, resolved.Usable(cfg, &agentcore.LocalServers{}, in.Getenv)
			}
			return turns, nil
		}
	}, locked)
	w.finishes(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
}
