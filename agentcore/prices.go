package agentcore

import (
	"strings"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/price"
)

// priceOf returns what a model costs, by its full name: what the user's configuration says, else the public price where it
// is asked at its vendor's own address. It is nil where that is not known.
func priceOf(cfg *config.Config, name string) *price.Price {
	if set, ok := cfg.Price(name); ok {
		return &price.Price{Rates: price.Rates{Input: *set.Input, Output: *set.Output, Cached: set.Cached, Written: set.Written}}
	}
	if name == Offline || strings.HasPrefix(name, Offline+"/") {
		return &price.Price{}
	}
	provider, id, _ := strings.Cut(name, "/")
	if public, ok := price.Of(cfg.Providers[provider].BaseURL, id); ok {
		return &public
	}
	return nil
}
