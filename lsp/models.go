package lsp

import (
	"context"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/lsp/methods"
)

// Models answers `agent/models`.
func (c *catalog) Models(ctx context.Context, p *methods.ModelsParams) (*methods.ModelList, error) {
	v, err := c.offered(ctx)
	if err != nil {
		return nil, err
	}
	var models []provider.Info
	var resolved provider.Resolved
	if c.ready() {
		models, resolved, err = c.engine.Models(ctx, p.Agent, p.Model)
	} else {
		models, resolved, err = agentcore.ModelsWith(ctx, c.engineOptions(v), p.Agent, p.Model)
	}
	if err != nil {
		return nil, err
	}
	list := &methods.ModelList{Default: resolved.Name, Reason: resolved.Because}
	for _, m := range models {
		list.Models = append(list.Models,
			methods.ModelInfo{
				Name: m.Name, Title: m.Title, ContextTokens: m.ContextTokens, Available: m.Available,
				Reason: m.Reason,
			})
	}
	for _, c := range resolved.Order {
		list.Order = append(list.Order, methods.ModelCandidate{
			Source: c.Source, Name: c.Name, Reason: c.Reason,
			Chosen: c.Chosen,
		})
	}
	return list, nil
}
