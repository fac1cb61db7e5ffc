package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/model/catalog"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/spelling"
)

// catalogTime bounds how long one provider may take to list its models.
const catalogTime = 15 * time.Second

// checkCatalogs asks the usable providers for their models, all at once: whether they answer, whether the models that
// would be used exist, whether these call tools, and how large their context is. It asks no model anything.
func (v *environment) checkCatalogs(ctx context.Context, dirs config.Dirs, cfg *config.Config, client *http.Client,
	chosen string,
) []check {
	keys := v.keys(dirs)
	names := cfg.ProviderNames()
	if provider, _, _ := strings.Cut(chosen, "/"); !slices.Contains(names, provider) {
		names = append(names, provider) // Ollama, although it is not set up
	}
	results := make([][]check, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		asked, ok := provider.Named(cfg, name, keys.Get)
		if !ok {
			continue // the offline rules
		}
		key, found := asked.Key(keys.Get)
		if asked.KeyEnv != "" && !found {
			continue // the missing key was reported
		}
		group.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, catalogTime)
			defer cancel()
			entries, err := catalog.List(ctx, client, catalog.Server{
				Kind: asked.Kind, BaseURL: asked.BaseURL, Key: key,
				Headers: asked.Headers,
			})
			results[i] = catalogChecks(cfg, name, asked, chosen, entries, err)
		})
	}
	group.Wait()
	return slices.Concat(results...)
}

// catalogChecks says what a provider's list of models means for the models that would be used.
func catalogChecks(cfg *config.Config, name string, p config.Provider, chosen string, entries []catalog.Entry,
	err error,
) []check {
	wanted := wantedModels(cfg, name, p, chosen)
	bad := checkWarning
	if chosenOf(chosen, name) {
		bad = checkFailed // every run would fail
	}
	server := check{Name: "models of " + name, Outcome: checkOK}
	if err != nil {
		server.Outcome, server.Detail = bad, "cannot be listed: "+err.Error()
		server.Hint = "check base_url of [providers." + name + "], and whether its server runs: " +
			withoutPassword(p.BaseURL)
		var refused *catalog.Error
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			server.Detail = fmt.Sprintf("cannot be listed: it did not answer within %s", catalogTime)
		case !errors.As(err, &refused):
		case refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden:
			server.Hint = "check the key"
			if p.KeyEnv != "" {
				server.Hint += " in " + p.KeyEnv
			}
		case refused.Status == http.StatusNotFound || refused.Status == http.StatusMethodNotAllowed:
			// The server may still serve models.
			server.Outcome, server.Hint = checkWarning,
				"some servers have no list; check base_url of [providers."+name+"] where runs fail, too"
		}
		return []check{server}
	}
	server.Detail = "it answers, and has " + count(len(entries), "model")
	list := []check{server}
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	for _, id := range wanted {
		found := check{Name: name + "/" + id, Outcome: checkOK}
		i := slices.IndexFunc(entries, func(e catalog.Entry) bool { return e.ID == id || e.ID == id+":latest" })
		if i < 0 && len(entries) == 0 {
			continue
		}
		if i < 0 {
			found.Outcome, found.Detail = bad, "is not among the models of "+name
			if near := spelling.Nearest(id, ids); near != "" {
				found.Hint = "did you mean " + name + "/" + near + "?"
			} else {
				found.Hint = "it has " + fit(strings.Join(ids, ", "), 200)
			}
			list = append(list, found)
			continue
		}
		found.Detail, found.Hint = tellModel(cfg, name, entries[i])
		if found.Hint != "" {
			found.Outcome = checkWarning
		}
		list = append(list, found)
	}
	return list
}

// tellModel says what is known of a model, and what to do about missing facts.
func tellModel(cfg *config.Config, provider string, e catalog.Entry) (detail, hint string) {
	name := provider + "/" + e.ID
	set, known := cfg.ContextTokens(name), catalog.Known(provider, e)
	switch {
	case set > 0:
		detail = fmt.Sprintf("context of %d tokens, by the configuration", set)
		if e.ContextTokens > 0 && set > e.ContextTokens {
			hint = fmt.Sprintf("its server says %d: lower context_tokens in [models.%q]", e.ContextTokens, name)
		}
	case e.ContextTokens > 0:
		detail = fmt.Sprintf("context of %d tokens, by its server", e.ContextTokens)
		if table := catalog.Known(provider, catalog.Entry{ID: e.ID}); e.ContextTokens < table*9/10 {
			hint = fmt.Sprintf("agentls would assume %d: write context_tokens = %d in [models.%q]", table,
				e.ContextTokens, name)
		}
	default:
		detail = fmt.Sprintf("context of %d tokens, as is assumed of that name", known)
		if provider == "ollama" {
			hint = fmt.Sprintf(
				"Ollama cuts what is longer than its own limit off, often 4096 tokens: start it with "+
					"OLLAMA_CONTEXT_LENGTH=32768 or more, and write it to context_tokens in [models.%q]", name)
		}
	}
	switch e.Calls {
	case catalog.Yes:
		detail += "; calls tools"
	case catalog.No:
		detail += "; calls no tools"
		hint = "agents need a model that calls tools: choose another"
	case catalog.Unknown:
		detail += "; whether it calls tools is not told"
	}
	return detail, hint
}

// wantedModels are the models of a provider that runs would use: those of its list, of presets, and the default where
// nothing is named.
func wantedModels(cfg *config.Config, name string, p config.Provider, chosen string) []string {
	wanted := slices.Clone(p.Models)
	add := func(full string) {
		if provider, id, _ := strings.Cut(full, "/"); provider == name && id != "" && !slices.Contains(wanted, id) {
			wanted = append(wanted, id)
		}
	}
	add(chosen)
	for _, preset := range slices.Sorted(maps.Keys(cfg.Presets)) {
		add(cfg.Presets[preset].Model)
	}
	return wanted
}

// chosenOf reports whether a model belongs to a provider.
func chosenOf(chosen, provider string) bool {
	name, _, _ := strings.Cut(chosen, "/")
	return name == provider
}
