package agentcore_test

import (
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/config/configtest"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/provider"
)

// A task takes no more turns than the definition or, where that has no limit, the configuration has, and the parent is
// told.
func TestTaskTurnsAreBounded(t *testing.T) {
	w := newWorld(t, nil)
	w.with(script.New("test",
		script.Turn{Match: "Go.", Answer: []script.Step{
			task("mine", "Do it.", `,"max_turns":99`),
			task("mine", "Do less.", `,"max_turns":7`),
		}},
		endsOf("Do it.", script.System("limits: 8 turns")), endsOf("Do less.", script.System("limits: 7 turns")),
		endsOf("Go.", script.Last("limit: mine takes at most 8 turns, not the 99 that you asked for\n"),
			script.NotLast("the 7 that")),
	), func(o *agentcore.Options) {
		o.Config = config.Default()
		o.Config.DefaultMaxTurns = 8
	}, own("mine"))
	w.finishes(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
}

// A model that cannot be had is answered with those that can be written, and with nothing that only a user can do.
func TestTaskModelIsRefusedWithTheOthers(t *testing.T) {
	cfg := configtest.User(t,
		"[providers.box]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodels = [\"small\", \"large\"]\n"+
			"[providers.locked]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nkey_env = "+
			"\"LOCKED\"\nmodels = "+
			"[\"secret\"]\n"+
			"[presets.fast]\nmodel = \"box/small\"\n")
	w := newWorld(t, nil)
	turns := script.New("test",
		script.Turn{Match: "Go.", Answer: []script.Step{task("mine", "Do it.", `,"model":"nothing-4"`)}},
		script.Turn{
			Match: "Go.", Answer: []script.Step{script.Text("done")},
			Expect: []script.Expect{
				script.Last(`model: there is no "nothing-4"`),
				script.Last("write fast, box/small, box/large or offline, or leave it out"),
				script.NotLast("locked"), script.NotLast("config.toml"),
			},
		},
	)
	w.with(turns, func(o *agentcore.Options) {
		o.Config = cfg
		o.OpenModel = func(c provider.Choice) (model.Model, error) {
			if c.Override == "nothing-4" {
				return nil, &fault.Error{
					Kind: fault.UnknownProvider, Detail: `there is no "nothing-4"`,
					Hint: "add it to config.toml",
				}
			}
			return turns, nil
		}
	}, own("mine"))
	w.finishes(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
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
				script.Last(
					"start locked: the model vault/big needs a key, and VAULT is not set; give the call a model: " +
						"inherit for yours, or box/small or offline; " +
						"or choose another agent"),
				script.NotLast("where the editor starts"),
			},
		},
		script.Turn{Match: "Do it.", Answer: []script.Step{script.Text("It is done.")}},
		script.Turn{
			Match: "Go.", Answer: []script.Step{script.Text("done")},
			Expect: []script.Expect{script.Last("It is done.")},
		},
	)
	cfg := configtest.User(t,
		"[providers.box]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodels = [\"small\"]\n"+
			"[providers.vault]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nkey_env = \"VAULT\"\nmodels "+
			"= [\"big\"]\n")
	w.with(turns, func(o *agentcore.Options) {
		o.Config = cfg
		o.OpenModel = func(c provider.Choice) (model.Model, error) {
			in := provider.Surroundings{Getenv: func(string) string { return "" }}
			if resolved := c.Resolve(t.Context(), in); resolved.Name == "vault/big" {
				return nil, resolved.Usable(cfg, in.Getenv)
			}
			return turns, nil
		}
	}, locked)
	w.finishes(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
}
