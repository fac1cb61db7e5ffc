package provider

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/anthropic"
	"github.com/agentls/agentls/agentcore/model/gemini"
	"github.com/agentls/agentls/agentcore/model/offline"
	"github.com/agentls/agentls/agentcore/model/openai"
	"github.com/agentls/agentls/agentcore/spelling"
)

// Offline is the name of the model that is always there.
const Offline = "offline"

// IsOffline reports whether a model's name is that of the offline rules, which have no tokens and cost nothing.
func IsOffline(name string) bool { return name == Offline || strings.HasPrefix(name, Offline+"/") }

// defaultModels are asked when only a provider is known and its configuration lists no model.
var defaultModels = map[string]string{
	"anthropic": "claude-sonnet-4-5",
	"gemini":    "gemini-3.6-flash",
	"openai":    "gpt-5",
}

// Open makes the model that a choice comes to, on the wires of this module. It asks servers of this machine as
// [Choice.Resolve] does, and no model. An error is a [fault.Error] that says what is missing.
func Open(ctx context.Context, c Choice, in Surroundings) (model.Model, error) {
	resolved := c.Resolve(ctx, in)
	if IsOffline(resolved.Name) {
		return offline.New(), nil
	}
	if provider, id, _ := strings.Cut(resolved.Name, "/"); provider == OfEditor {
		return lentModel(in.Editor, id, resolved.Because)
	}
	w, err := resolved.wire(c.Config, in.Getenv)
	if err != nil {
		if several := serving(c.Config, in, resolved.Name); len(several) > 1 {
			return nil, &fault.Error{
				Kind: fault.UnknownModel, Detail: fmt.Sprintf("%s asks for the model %q, which several providers have",
					resolved.Because, resolved.Name),
				Hint: "write " + strings.Join(several, " or "),
			}
		}
		return nil, err
	}
	p, provider, id, key := w.Provider, w.name, w.model, w.key
	options := openai.Options{ // the same for all wires
		Name: provider, Model: id, BaseURL: p.BaseURL, Key: key, Headers: p.Headers, HTTPClient: in.Client,
	}
	switch cmp.Or(p.Kind, provider) {
	case "anthropic":
		return anthropic.New(options), nil
	case "gemini":
		return gemini.New(options), nil
	case "openai":
		if p.API == "responses" {
			return openai.NewResponses(options), nil
		}
		return openai.New(options), nil
	}
	return nil, &fault.Error{
		Kind:   fault.UnsupportedProvider,
		Detail: fmt.Sprintf("the provider %q is of the kind %q, which this version does not speak", provider, p.Kind),
		Hint:   "use a provider of the kind anthropic, gemini or openai",
	}
}

// wire is where a model is asked.
type wire struct {
	config.Provider
	name, model, key string
}

// wire finds where the model is asked, or says what is missing for that.
func (r Resolved) wire(cfg *config.Config, getenv func(string) string) (wire, error) {
	provider, id, named := strings.Cut(r.Name, "/")
	p, ok := Named(cfg, provider, getenv)
	if !ok {
		return wire{}, noProvider(r, cfg, provider, named)
	}
	if id == "" {
		id = firstModel(p)
	}
	if id == "" {
		return wire{}, &fault.Error{
			Kind:   fault.UnknownModel,
			Detail: fmt.Sprintf("%s names the provider %q without a model", r.Because, provider),
			Hint:   "write it as " + provider + "/MODEL",
		}
	}
	key, found := p.Key(getenv)
	if p.KeyEnv != "" && !found {
		return wire{}, &fault.Error{
			Kind: fault.NoKey, Detail: fmt.Sprintf("the model %s/%s needs a key, and %s is not set", provider,
				id, p.KeyEnv),
			Hint: "set " + p.KeyEnv + " where the editor starts, or choose the model " + Offline,
		}
	}
	return wire{p, provider, id, key}, nil
}

// noProvider says that there is no provider of a name, which may have been meant as that of a preset where no model
// follows it.
func noProvider(r Resolved, cfg *config.Config, provider string, named bool) error {
	known := slices.Sorted(maps.Keys(cfg.Providers))
	kind, hint := "provider", "the providers are "+strings.Join(known, ", ")
	if !named {
		kind = "preset or provider"
		if presets := slices.Sorted(maps.Keys(cfg.Presets)); len(presets) > 0 {
			hint = "the presets are " + strings.Join(presets, ", ") + ", " + hint
			known = append(presets, known...)
		}
	}
	if near := spelling.Nearest(provider, known); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return &fault.Error{
		Kind: fault.UnknownProvider, Detail: fmt.Sprintf("%s asks for the model %q, but there is no %s %q", r.Because,
			r.Name, kind, provider),
		Hint: hint + "; add [providers." + provider + "] to config.toml, or write " + Offline,
	}
}

// Usable returns why no request could go to the model that a choice has come to, or nil where nothing is missing as far
// as one can tell without asking its server. An editor's model is taken to be there.
func (r Resolved) Usable(cfg *config.Config, getenv func(string) string) error {
	if provider, _, _ := strings.Cut(r.Name, "/"); IsOffline(r.Name) || provider == OfEditor {
		return nil
	}
	_, err := r.wire(cfg, getenv)
	return err
}
