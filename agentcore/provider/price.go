package provider

import (
	"strings"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/price"
)

// Price returns what a model costs, by its full name: what the user's configuration says, else the public price where
// it is asked at its vendor's own address. It is nil where that is not known.
func Price(cfg *config.Config, name string) *price.Price {
	if set, ok := cfg.Price(name); ok {
		return &price.Price{Rates: price.Rates{
			Input: *set.Input, Output: *set.Output, Cached: set.Cached,
			Written: set.Written,
		}}
	}
	if IsOffline(name) {
		return &price.Price{}
	}
	provider, id, _ := strings.Cut(name, "/")
	if public, ok := price.Of(cfg.Providers[provider].BaseURL, id); ok {
		return &public
	}
	return nil
}

// Window is how many tokens a request to a model and its answer may have: what the configuration says, what the model
// itself does, or what is known of its name; 0 for no bound.
func Window(cfg *config.Config, m model.Model) int64 {
	if tokens := cfg.ContextTokens(m.Name()); tokens > 0 {
		return tokens
	}
	return model.ContextTokens(m)
}

// Context is the size of a model's context by the configuration, else by its name.
func Context(cfg *config.Config, name string) int64 {
	if tokens := cfg.ContextTokens(name); tokens > 0 {
		return tokens
	}
	return model.KnownContext(name)
}
