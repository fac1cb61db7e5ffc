// Package provider finds the model for a run, opens it, and knows prices and context sizes of models.
package provider

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/secret"
)

// Choice are the names that may decide which model a run gets. The first one that is set counts: the call's override,
// the definition, the parent, the run that is continued, the configuration's default. If none is set, the first of
// these counts: a provider with a key, the editor's model, a local server that answers, the offline rules. Each name is
// "provider/model", a provider's name, a preset, or a model that only one provider serves; "inherit" in a definition
// stands for the parent.
type Choice struct {
	Override   string
	Definition string
	Parent     string
	Former     string
	Config     *config.Config
}

// With returns the choice for a configuration, with "inherit" replaced by what it stands for.
func (c Choice) With(cfg *config.Config) Choice {
	c.Config = cfg
	if c.Override == "inherit" { // models write this for a child that is to have their own model
		c.Override = ""
		if c.Parent != "" {
			c.Definition = ""
		}
	}
	if c.Definition == "inherit" {
		c.Definition = ""
	}
	return c
}

// Candidate is a name that may decide which model a run gets, in words for people.
type Candidate struct {
	// Source says where the name comes from.
	Source string
	// Name is the model, or the provider; empty if there is none from this source.
	Name string
	// Reason says why the candidate counts or does not count; it may be empty.
	Reason string
	// Chosen says that it decides.
	Chosen bool
}

// Resolved is the outcome of a choice.
type Resolved struct {
	// Name is "provider/model", or only a provider, whose first model is taken then.
	Name string
	// Because is the source that decided.
	Because string
	// Preset is the preset that led to Name, empty for none.
	Preset string
	// Order are the candidates that were looked at, up to the one that decided.
	Order []Candidate
}

// Surroundings are where a model is searched if none is named.
type Surroundings struct {
	// Getenv reads the environment and the other places of keys, as secret.Keys.Get does.
	Getenv func(string) string
	// Editor lends models; nil for none.
	Editor Editor
	// Local finds a server on this machine that answers, returns a model of it, "" if there is none, and says why, as
	// [LocalServers.Find] does. If it is nil, no server is looked for.
	Local func(ctx context.Context, cfg *config.Config) (name, reason string)
	// Client sends the requests of the models that [Open] makes; it may be nil if nothing is opened.
	Client *http.Client
}

// The sources of a choice, in order.
const (
	sourceCall       = "the call"
	sourceDefinition = "the agent's definition"
	sourceParent     = "the parent run"
	sourceFormer     = "the run that it goes on with"
	sourceDefault    = "default_model"
	sourceKey        = "a provider with a key"
	sourceEditor     = "the editor's model"
	sourceLocal      = "a local server"
	sourceOffline    = "the offline rules"
)

// Resolve finds the model of the choice. If no model is named, it asks servers on this machine, for at most a second.
func (c Choice) Resolve(ctx context.Context, in Surroundings) Resolved {
	c = c.With(c.Config)
	var r Resolved
	for _, named := range []Candidate{
		{Source: sourceCall, Name: c.Override},
		{Source: sourceDefinition, Name: c.Definition},
		{Source: sourceParent, Name: c.Parent},
		{Source: sourceFormer, Name: c.Former},
		{Source: sourceDefault, Name: c.Config.DefaultModel},
	} {
		if named.Name == "" {
			named.Reason = "names no model"
		} else if preset, ok := c.Config.Presets[named.Name]; ok {
			named.Reason = "the preset " + named.Name
			if named.Name = preset.Model; preset.Model == "" {
				named.Reason += " names no model"
			}
		} else if full := serving(c.Config, in, named.Name); len(full) == 1 {
			named.Name, named.Reason = full[0], "the one that serves "+named.Name
		}
		if r.take(named) {
			if preset, ok := strings.CutPrefix(named.Reason, "the preset "); ok {
				r.Preset = preset
				r.Because += ", preset " + preset
			}
			return r
		}
	}
	for _, find := range []func() Candidate{
		func() Candidate { return c.keyed(in) },
		func() Candidate { return lent(in.Editor) },
		func() Candidate {
			local := Candidate{Source: sourceLocal, Reason: "none is looked for"}
			if in.Local != nil {
				local.Name, local.Reason = in.Local(ctx, c.Config)
			}
			return local
		},
	} {
		if r.take(find()) {
			r.Because = cmp.Or(r.Order[len(r.Order)-1].Reason, r.Because)
			return r
		}
	}
	r.take(Candidate{Source: sourceOffline, Name: Offline, Reason: "they are always there"})
	r.Because = "no model is configured"
	return r
}

// serving are the models, as "provider/model", for which a name without a provider may stand: the models of providers
// that can be used, or else of all providers. There are none for a name with more than a model's name in it.
func serving(cfg *config.Config, in Surroundings, id string) []string {
	if _, provider := cfg.Providers[id]; provider || strings.Contains(id, "/") || id == Offline || id == OfEditor ||
		id == Ollama {
		return nil
	}
	usable, keyless := Served(cfg, in)
	if models := agent.Serving(usable, id); len(models) > 0 {
		return models
	}
	return agent.Serving(keyless, id)
}

// Served are the models of providers that can be used, and the models of providers that lack their key, in the form of
// agent.Known.
func Served(cfg *config.Config, in Surroundings) (usable, keyless []string) {
	usable, keyless = []string{}, []string{}
	for _, name := range cfg.ProviderNames() {
		p := cfg.Providers[name]
		to := &usable
		if lacksKey(p, in) {
			to = &keyless
		}
		if len(p.Models) > 0 || name != p.Kind {
			for _, id := range p.Models {
				*to = append(*to, name+"/"+id)
			}
			continue
		}
		for _, prefix := range families[p.Kind] {
			*to = append(*to, name+"/"+prefix+"*")
		}
	}
	if in.Editor != nil {
		models, _ := in.Editor.Lends()
		for _, m := range models {
			usable = append(usable, OfEditor+"/"+m.ID)
		}
	}
	return usable, keyless
}

// lacksKey reports whether a provider's key is missing, as far as the environment shows.
func lacksKey(p config.Provider, in Surroundings) bool {
	if p.KeyEnv == "" || secret.InKeyring(p.KeyEnv) {
		// the keyring is not asked for every definition, since it may ask the user
		return false
	}
	_, found := p.Key(in.Getenv)
	return !found
}

// Locked are the names that stand for a model of a provider without its key, in the form of agent.Known.
func Locked(cfg *config.Config, in Surroundings) map[string]string {
	locked := map[string]string{}
	for name, p := range cfg.Providers {
		if lacksKey(p, in) {
			locked[name+"/"] = p.KeyEnv
		}
	}
	for name, preset := range cfg.Presets {
		provider, _, _ := strings.Cut(preset.Model, "/")
		if key := locked[provider+"/"]; key != "" {
			locked[name] = key
		}
	}
	return locked
}

// families are the beginnings of the names of vendors' models. By these, nobody needs to list a vendor's models.
var families = map[string][]string{
	"anthropic": {"claude-"}, "gemini": {"gemini-"},
	"openai": {"gpt-", "o1", "o3", "o4"},
}

// take adds a candidate; if the candidate names a model, it decides.
func (r *Resolved) take(c Candidate) bool {
	c.Chosen = c.Name != ""
	r.Order = append(r.Order, c)
	if c.Chosen {
		r.Name, r.Because = c.Name, c.Source
	}
	return c.Chosen
}

// keyed finds a provider with a key: first the ones that the user has added, in the order of the files, then the
// vendors.
func (c Choice) keyed(in Surroundings) Candidate {
	found := Candidate{Source: sourceKey, Reason: "none has a key"}
	for _, name := range c.Config.ProviderNames() {
		p := c.Config.Providers[name]
		if _, ok := p.Key(in.Getenv); ok && (defaultModels[p.Kind] != "" || len(p.Models) > 0) {
			found.Name, found.Reason = name+"/"+firstModel(p), "the key in "+p.KeyEnv
			return found
		}
	}
	return found
}

// firstModel is the model that a provider takes if none is named, "" if it is not known.
func firstModel(p config.Provider) string {
	if len(p.Models) > 0 {
		return p.Models[0]
	}
	return defaultModels[p.Kind]
}

func lent(editor Editor) Candidate {
	found := Candidate{Source: sourceEditor, Reason: "the editor lends no model"}
	if editor == nil {
		return found
	}
	models, lends := editor.Lends()
	if !lends {
		return found
	}
	found.Name, found.Reason = OfEditor, "the editor lends its model"
	if len(models) > 0 {
		found.Name += "/" + models[0].ID
	}
	return found
}
