package agentcore

import (
	"context"

	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/registry"
)

// ModelsWith is [Engine.Models] for an engine with these options that cannot be opened: no model needs the store.
func ModelsWith(ctx context.Context, o Options, agent, override string) ([]provider.Info, provider.Resolved, error) {
	e, err := prepare(&o)
	if err != nil {
		return nil, provider.Resolved{}, err
	}
	defer e.process.Client.CloseIdleConnections()
	e.process.Context = ctx
	e.agents = registry.Fixed(o.Agents)
	return e.Models(ctx, agent, override)
}

// Models lists the models that are set up, usable ones first. It also tells which one a run of an agent (empty for the
// default one) would use with an override (empty for none). Where no model is named otherwise, it asks servers on this
// machine, for a second at most, and no others.
func (e *Engine) Models(ctx context.Context, agent, override string) ([]provider.Info, provider.Resolved, error) {
	cfg := e.Config()
	definition, err := registry.Find(e.Agents(), agent, cfg)
	if err != nil {
		return nil, provider.Resolved{}, err
	}
	choice := provider.Choice{Override: override, Definition: definition.Model}.With(cfg)
	list, resolved := provider.List(ctx, choice, e.surroundings(), e.process.OpenModel)
	return list, resolved, nil
}
