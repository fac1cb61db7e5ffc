package agentcore

import (
	"cmp"
	"context"
	"errors"
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

// surroundings are where the engine finds models.
func (e *Engine) surroundings() Surroundings {
	return Surroundings{Getenv: e.getenv, Editor: e.editor, Local: e.local.Find}
}

// lentModel is a model that the editor lends, by its id.
func (e *Engine) lentModel(id, because string) (model.Model, error) {
	var models []LentModel
	lends := false
	if e.editor != nil {
		models, lends = e.editor.Lends()
	}
	if !lends {
		return nil, &fault.Error{
			Kind: fault.NoModel, Detail: because + " asks for the editor's own model, and this editor lends none",
			Hint: "choose another model, such as " + Offline,
		}
	}
	if len(models) == 0 {
		if id == "default" {
			id = ""
		}
		return e.editor.LentModel(id), nil
	}
	var ids []string
	for _, m := range models {
		ids = append(ids, m.ID)
	}
	if id == "" || id == "default" && !slices.Contains(ids, id) {
		id = ids[0]
	}
	if !slices.Contains(ids, id) {
		return nil, &fault.Error{
			Kind: fault.UnknownModel, Detail: fmt.Sprintf("%s asks for the editor's model %q, which it does not lend", because, id),
			Hint: "it lends " + strings.Join(ids, ", "),
		}
	}
	return e.editor.LentModel(id), nil
}

// defaultModels are asked when only a provider is known and its configuration lists no model.
var defaultModels = map[string]string{
	"anthropic": "claude-sonnet-4-5",
	"gemini":    "gemini-3.6-flash",
	"openai":    "gpt-5",
}

// wireModel makes the model that a choice comes to, on the wires of this module.
func (e *Engine) wireModel(c Choice) (model.Model, error) {
	resolved := c.Resolve(e.ctx, e.surroundings())
	if resolved.offline() {
		return offline.New(), nil
	}
	if provider, id, _ := strings.Cut(resolved.Name, "/"); provider == EditorProvider {
		return e.lentModel(id, resolved.Because)
	}
	w, err := resolved.wire(c.Config, e.local, e.getenv)
	if err != nil {
		if several := serving(c.Config, e.surroundings(), resolved.Name); len(several) > 1 {
			return nil, &fault.Error{
				Kind: fault.UnknownModel, Detail: fmt.Sprintf("%s asks for the model %q, which several providers have", resolved.Because, resolved.Name),
				Hint: "write " + strings.Join(several, " or "),
			}
		}
		return nil, err
	}
	p, provider, id, key := w.Provider, w.name, w.model, w.key
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
	return nil, &fault.Error{Kind: fault.UnsupportedProvider, Detail: fmt.Sprintf("the provider %q is of the kind %q, which this version does not speak", provider, p.Kind), Hint: "use a provider of the kind anthropic, gemini or openai"}
}

// wire is where a model is asked.
type wire struct {
	config.Provider
	name, model, key string
}

func (r Resolved) offline() bool {
	return r.Name == Offline || strings.HasPrefix(r.Name, Offline+"/")
}

// wire finds where the model is asked, or says what is missing for that.
func (r Resolved) wire(cfg *config.Config, local *LocalServers, getenv func(string) string) (wire, error) {
	provider, id, named := strings.Cut(r.Name, "/")
	p, ok := local.Provider(cfg, provider)
	if !ok {
		return wire{}, noProvider(r, cfg, provider, named)
	}
	if id == "" {
		id = firstModel(p)
	}
	if id == "" {
		return wire{}, &fault.Error{Kind: fault.UnknownModel, Detail: fmt.Sprintf("%s names the provider %q without a model", r.Because, provider), Hint: "write it as " + provider + "/MODEL"}
	}
	key, found := p.Key(getenv)
	if p.KeyEnv != "" && !found {
		return wire{}, &fault.Error{
			Kind: fault.NoKey, Detail: fmt.Sprintf("the model %s/%s needs a key, and %s is not set", provider, id, p.KeyEnv),
			Hint: "set " + p.KeyEnv + " where the editor starts, or choose the model " + Offline,
		}
	}
	return wire{p, provider, id, key}, nil
}

// noProvider says that there is no provider of a name, which may have been meant as that of a preset where no model follows it.
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
		Kind: fault.UnknownProvider, Detail: fmt.Sprintf("%s asks for the model %q, but there is no %s %q", r.Because, r.Name, kind, provider),
		Hint: hint + "; add [providers." + provider + "] to config.toml, or write " + Offline,
	}
}

// Usable returns why no request could go to the model that a choice has come to, or nil where nothing is missing as far as one can tell without
// asking its server. An editor's model is taken to be there.
func (r Resolved) Usable(cfg *config.Config, local *LocalServers, getenv func(string) string) error {
	if provider, _, _ := strings.Cut(r.Name, "/"); r.offline() || provider == EditorProvider {
		return nil
	}
	_, err := r.wire(cfg, local, getenv)
	return err
}

// ModelInfo is a model that can be chosen.
type ModelInfo struct {
	// Name is "provider/model", or that of a preset.
	Name string
	// Title is a name for people, empty where there is none.
	Title string
	// ContextTokens is the size of its context, 0 where that is not known or has no bound.
	ContextTokens int64
	// Available says that a run could use it now, as far as one can tell without asking its server; Reason is why not, and what to do.
	Available bool
	Reason    string
}

// ModelsWith is [Engine.Models] for an engine with these options that cannot be opened: no model needs the store.
func ModelsWith(ctx context.Context, o Options, agent, override string) ([]ModelInfo, Resolved, error) {
	e, err := prepare(&o)
	if err != nil {
		return nil, Resolved{}, err
	}
	defer e.client.CloseIdleConnections()
	e.ctx = ctx
	e.agents.now.Store(o.Agents)
	return e.Models(ctx, agent, override)
}

// Models lists the models that are set up, those that can be used first, and tells which one a run of an agent (empty for the default one) would take with an
// override (empty for none). It asks servers of this machine where nothing else is named, for a second at most, and no others.
func (e *Engine) Models(ctx context.Context, agent, override string) ([]ModelInfo, Resolved, error) {
	cfg := e.Config()
	definition, err := e.find(agent, cfg)
	if err != nil {
		return nil, Resolved{}, err
	}
	resolved := Choice{Override: override, Definition: definition.Model}.with(cfg).Resolve(ctx, e.surroundings())
	if provider, id, _ := strings.Cut(resolved.Name, "/"); id == "" {
		if p, ok := e.local.Provider(cfg, provider); ok && firstModel(p) != "" {
			resolved.Name = provider + "/" + firstModel(p)
		}
	}
	if _, err := e.openModel(Choice{Override: override, Definition: definition.Model}.with(cfg)); err != nil {
		// A run would take it, and not start.
		resolved.Order[len(resolved.Order)-1].Reason = err.Error()
		resolved.Because = err.Error()
	}
	var list []ModelInfo
	add := func(m ModelInfo) {
		if !slices.ContainsFunc(list, func(other ModelInfo) bool { return other.Name == m.Name }) {
			m.ContextTokens = cmp.Or(m.ContextTokens, contextOf(cfg, m.Name))
			list = append(list, m)
		}
	}
	for _, m := range e.configured(cfg) {
		add(m)
	}
	for _, c := range resolved.Order {
		if c.Source == sourceLocal && c.Chosen {
			add(ModelInfo{Name: c.Name, Available: true})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Presets)) {
		target := cfg.Presets[name].Model
		if target == "" {
			continue
		}
		info := ModelInfo{Name: name, Title: "the preset " + name + ": " + target, Available: true, ContextTokens: contextOf(cfg, target)}
		if _, err := e.wireModel(Choice{Override: name, Config: cfg}); err != nil {
			info.Available, info.Reason = false, err.Error()
		}
		add(info)
	}
	add(ModelInfo{Name: Offline, Title: "rules, no language model", Available: true})
	slices.SortStableFunc(list, func(a, b ModelInfo) int {
		switch {
		case a.Available == b.Available:
			return 0
		case a.Available:
			return -1
		}
		return 1
	})
	return list, resolved, nil
}

// configured lists the models of the providers that are set up, and those that the editor lends. It asks nobody.
func (e *Engine) configured(cfg *config.Config) []ModelInfo {
	var list []ModelInfo
	for _, name := range cfg.ProviderNames() {
		p := cfg.Providers[name]
		reason := ""
		if _, found := p.Key(e.getenv); p.KeyEnv != "" && !found {
			reason = "there is no key: set " + p.KeyEnv
		}
		ids := p.Models
		if len(ids) == 0 && defaultModels[p.Kind] != "" && (name == p.Kind) {
			ids = []string{defaultModels[p.Kind]}
		}
		for _, id := range ids {
			list = append(list, ModelInfo{Name: name + "/" + id, Available: reason == "", Reason: reason})
		}
	}
	if e.editor != nil {
		models, lends := e.editor.Lends()
		for _, m := range models {
			list = append(list, ModelInfo{Name: EditorProvider + "/" + m.ID, Title: m.Title, ContextTokens: m.ContextTokens, Available: true})
		}
		if lends && len(models) == 0 {
			list = append(list, ModelInfo{Name: EditorProvider, Title: "the editor's choice", Available: true})
		}
	}
	return list
}

// maxWritable is how many models an error names.
const maxWritable = 20

// modelRefused is the error of a run that did not start, for the model that asked for it: where the model that it named, or
// that of the agent's definition, cannot be had, the error says which it may write instead.
func (e *Engine) modelRefused(name string, cfg *config.Config, err error) error {
	failed, known := errors.AsType[*fault.Error](err)
	if !known || !slices.Contains([]fault.Kind{fault.UnknownProvider, fault.UnknownModel, fault.NoKey, fault.NoModel}, failed.Kind) {
		return err
	}
	var names []string
	for _, preset := range slices.Sorted(maps.Keys(cfg.Presets)) {
		if _, err := e.wireModel(Choice{Override: preset, Config: cfg}); err == nil && cfg.Presets[preset].Model != "" {
			names = append(names, preset)
		}
	}
	for _, m := range e.configured(cfg) {
		if m.Available {
			names = append(names, m.Name)
		}
	}
	others := strings.Join(names[:min(len(names), maxWritable)], ", ")
	if others != "" {
		others += " or "
	}
	if name == "" {
		return fmt.Errorf("%s; give the call a model: inherit for yours, or %s%s; or choose another agent", failed.Detail, others, Offline)
	}
	return fmt.Errorf("model: %s; write %s%s, or leave it out", failed.Detail, others, Offline)
}

// windowOf is how many tokens a request to a model and its answer may have: what the configuration says, what the model itself does, or what
// is known of its name; 0 for no bound.
func windowOf(cfg *config.Config, m model.Model) int64 {
	if tokens := cfg.ContextTokens(m.Name()); tokens > 0 {
		return tokens
	}
	return model.ContextTokens(m)
}

// contextOf is the size of a model's context by the configuration, else by its name.
func contextOf(cfg *config.Config, name string) int64 {
	if tokens := cfg.ContextTokens(name); tokens > 0 {
		return tokens
	}
	return model.KnownContext(name)
}
