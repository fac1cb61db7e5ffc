package provider

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/model"
)

// Info is a model that can be chosen.
type Info struct {
	// Name is "provider/model", or a preset's name.
	Name string
	// Title is a name for people, empty where there is none.
	Title string
	// ContextTokens is the size of its context, 0 if it is not known or has no bound.
	ContextTokens int64
	// Available says that a run could use the model now, as far as one can know without asking its server; otherwise
	// Reason says why not, and what to do.
	Available bool
	Reason    string
}

// List lists the models that are set up, the usable ones first, and says which one a choice yields, which it tries by
// open. If nothing else is named, it asks servers on this machine, for at most a second. It asks no other servers.
func List(ctx context.Context, c Choice, in Surroundings, open func(Choice) (model.Model, error)) ([]Info, Resolved) {
	cfg := c.Config
	resolved := c.Resolve(ctx, in)
	if provider, id, _ := strings.Cut(resolved.Name, "/"); id == "" {
		if p, ok := Named(cfg, provider, in.Getenv); ok && firstModel(p) != "" {
			resolved.Name = provider + "/" + firstModel(p)
		}
	}
	if _, err := open(c); err != nil {
		// A run would take this model, and fail to start.
		resolved.Order[len(resolved.Order)-1].Reason = err.Error()
		resolved.Because = err.Error()
	}
	var list []Info
	add := func(m Info) {
		if !slices.ContainsFunc(list, func(other Info) bool { return other.Name == m.Name }) {
			m.ContextTokens = cmp.Or(m.ContextTokens, Context(cfg, m.Name))
			list = append(list, m)
		}
	}
	for _, m := range configured(cfg, in) {
		add(m)
	}
	for _, c := range resolved.Order {
		if c.Source == sourceLocal && c.Chosen {
			add(Info{Name: c.Name, Available: true})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Presets)) {
		target := cfg.Presets[name].Model
		if target == "" {
			continue
		}
		info := Info{
			Name: name, Title: "the preset " + name + ": " + target, Available: true,
			ContextTokens: Context(cfg, target),
		}
		if _, err := Open(ctx, Choice{Override: name, Config: cfg}, in); err != nil {
			info.Available, info.Reason = false, err.Error()
		}
		add(info)
	}
	add(Info{Name: Offline, Title: "rules, no language model", Available: true})
	slices.SortStableFunc(list, func(a, b Info) int {
		switch {
		case a.Available == b.Available:
			return 0
		case a.Available:
			return -1
		}
		return 1
	})
	return list, resolved
}

// configured lists the models of the providers that are set up, and the models that the editor lends. It asks no
// server.
func configured(cfg *config.Config, in Surroundings) []Info {
	var list []Info
	for _, name := range cfg.ProviderNames() {
		p := cfg.Providers[name]
		reason := ""
		if _, found := p.Key(in.Getenv); p.KeyEnv != "" && !found {
			reason = "there is no key: set " + p.KeyEnv
		}
		ids := p.Models
		if len(ids) == 0 && defaultModels[p.Kind] != "" && (name == p.Kind) {
			ids = []string{defaultModels[p.Kind]}
		}
		for _, id := range ids {
			list = append(list, Info{Name: name + "/" + id, Available: reason == "", Reason: reason})
		}
	}
	if in.Editor != nil {
		models, lends := in.Editor.Lends()
		for _, m := range models {
			list = append(list, Info{
				Name: OfEditor + "/" + m.ID, Title: m.Title, ContextTokens: m.ContextTokens,
				Available: true,
			})
		}
		if lends && len(models) == 0 {
			list = append(list, Info{Name: OfEditor, Title: "the editor's choice", Available: true})
		}
	}
	return list
}

// maxWritable is how many models [Writable] names.
const maxWritable = 20

// Writable are presets and models that can be named in place of a model that is not available, as far as one can know
// without asking their servers; the offline rules are not among them.
func Writable(ctx context.Context, cfg *config.Config, in Surroundings) []string {
	var names []string
	for _, preset := range slices.Sorted(maps.Keys(cfg.Presets)) {
		if _, err := Open(ctx, Choice{Override: preset, Config: cfg}, in); err == nil &&
			cfg.Presets[preset].Model != "" {
			names = append(names, preset)
		}
	}
	for _, m := range configured(cfg, in) {
		if m.Available {
			names = append(names, m.Name)
		}
	}
	return names[:min(len(names), maxWritable)]
}
