package agentcore

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/anthropic"
	"github.com/agentls/agentls/agentcore/model/gemini"
	"github.com/agentls/agentls/agentcore/model/offline"
	"github.com/agentls/agentls/agentcore/model/openai"
)

// Choice is what may decide which model a run gets, the first set one wins: the call's override, the
// definition, the parent, the configuration's default, a provider with a key, the offline rules. Each is
// "provider/model", a provider's name or a preset; "inherit" in a definition stands for the parent.
type Choice struct {
	Override   string
	Definition string
	Parent     string
	Config     *config.Config
}

func (c Choice) with(cfg *config.Config) Choice {
	c.Config = cfg
	if c.Definition == "inherit" {
		c.Definition = ""
	}
	return c
}

// Offline is the name of the model that is always there.
const Offline = "offline"

// defaultModels are asked when only a provider is known and its configuration lists no model.
var defaultModels = map[string]string{
	"anthropic": "claude-sonnet-4-5",
	"gemini":    "gemini-3.6-flash",
	"openai":    "gpt-5",
}

// Resolve returns the name "provider/model" that the choice comes to, and what decided it.
func (c Choice) Resolve(getenv func(string) string) (name, because string) {
	for _, candidate := range []struct{ name, because string }{
		{c.Override, "the call"},
		{c.Definition, "the agent's definition"},
		{c.Parent, "the parent run"},
		{c.Config.DefaultModel, "default_model"},
	} {
		if candidate.name == "" {
			continue
		}
		if preset, ok := c.Config.Presets[candidate.name]; ok {
			if preset.Model == "" {
				continue
			}
			return preset.Model, candidate.because + ", preset " + candidate.name
		}
		return candidate.name, candidate.because
	}
	for _, provider := range slices.Sorted(maps.Keys(c.Config.Providers)) {
		p := c.Config.Providers[provider]
		if _, ok := p.Key(getenv); ok && (defaultModels[p.Kind] != "" || len(p.Models) > 0) {
			return provider, "the key in " + p.KeyEnv
		}
	}
	return Offline, "no model is configured"
}

// wireModel makes the model that a choice comes to, on the wires of this module.
func (e *Engine) wireModel(c Choice) (model.Model, error) {
	name, because := c.Resolve(e.getenv)
	if name == Offline || strings.HasPrefix(name, Offline+"/") {
		return offline.New(), nil
	}
	provider, id, _ := strings.Cut(name, "/")
	p, ok := c.Config.Providers[provider]
	if !ok {
		return nil, &Error{
			Kind: "unknown_provider", Detail: fmt.Sprintf("%s asks for the model %q, but there is no provider %q", because, name, provider),
			Hint: "the providers are " + strings.Join(slices.Sorted(maps.Keys(c.Config.Providers)), ", ") + "; add [providers." + provider + "] to config.toml, or write " + Offline,
		}
	}
	if id == "" {
		id = defaultModels[p.Kind]
		if len(p.Models) > 0 {
			id = p.Models[0]
		}
	}
	if id == "" {
		return nil, &Error{Kind: "unknown_model", Detail: fmt.Sprintf("%s names the provider %q without a model", because, provider), Hint: "write it as " + provider + "/MODEL"}
	}
	key, found := p.Key(e.getenv)
	if p.KeyEnv != "" && !found {
		return nil, &Error{
			Kind: "no_key", Detail: fmt.Sprintf("the model %s/%s needs a key, and %s is not set", provider, id, p.KeyEnv),
			Hint: "set " + p.KeyEnv + " where the editor starts, or choose the model " + Offline,
		}
	}
	switch cmp.Or(p.Kind, provider) {
	case "anthropic":
		return anthropic.New(anthropic.Options{Name: provider, Model: id, BaseURL: p.BaseURL, Key: key, Headers: p.Headers, HTTPClient: e.client}), nil
	case "gemini":
		return gemini.New(gemini.Options{Name: provider, Model: id, BaseURL: p.BaseURL, Key: key, Headers: p.Headers, HTTPClient: e.client}), nil
	case "openai":
		options := openai.Options{Name: provider, Model: id, BaseURL: p.BaseURL, Key: key, Headers: p.Headers, HTTPClient: e.client}
		if p.API == "responses" {
			return openai.NewResponses(options), nil
		}
		return openai.New(options), nil
	}
	return nil, &Error{Kind: "unsupported_provider", Detail: fmt.Sprintf("the provider %q is of the kind %q, which this version does not speak", provider, p.Kind), Hint: "use a provider of the kind anthropic, gemini or openai"}
}
