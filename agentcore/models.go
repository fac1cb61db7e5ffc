package agentcore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/registry"
)

// surroundings are where the engine finds models.
func (e *Engine) surroundings() provider.Surroundings {
	return provider.Surroundings{Getenv: e.getenv, Editor: e.editor, Local: e.local.Find, Client: e.client}
}

// wireModel makes the model that a choice comes to.
func (e *Engine) wireModel(c provider.Choice) (model.Model, error) {
	return provider.Open(e.ctx, c, e.surroundings())
}

// ModelsWith is [Engine.Models] for an engine with these options that cannot be opened: no model needs the store.
func ModelsWith(ctx context.Context, o Options, agent, override string) ([]provider.Info, provider.Resolved, error) {
	e, err := prepare(&o)
	if err != nil {
		return nil, provider.Resolved{}, err
	}
	defer e.client.CloseIdleConnections()
	e.ctx = ctx
	e.agents = registry.Fixed(o.Agents)
	return e.Models(ctx, agent, override)
}

// Models lists the models that are set up, those that can be used first, and tells which one a run of an agent (empty
// for the default one) would take with an override (empty for none). It asks servers of this machine where nothing else
// is named, for a second at most, and no others.
func (e *Engine) Models(ctx context.Context, agent, override string) ([]provider.Info, provider.Resolved, error) {
	cfg := e.Config()
	definition, err := e.find(agent, cfg)
	if err != nil {
		return nil, provider.Resolved{}, err
	}
	choice := provider.Choice{Override: override, Definition: definition.Model}.With(cfg)
	list, resolved := provider.List(ctx, choice, e.surroundings(), e.openModel)
	return list, resolved, nil
}

// modelRefused is the error of a run that did not start, for the model that asked for it: where the model that it
// named, or that of the agent's definition, cannot be had, the error says which it may write instead.
func (e *Engine) modelRefused(name string, cfg *config.Config, err error) error {
	failed, known := errors.AsType[*fault.Error](err)
	if !known || !slices.Contains([]fault.Kind{fault.UnknownProvider, fault.UnknownModel, fault.NoKey, fault.NoModel},
		failed.Kind) {
		return err
	}
	others := strings.Join(provider.Writable(e.ctx, cfg, e.surroundings()), ", ")
	if others != "" {
		others += " or "
	}
	if name == "" {
		return fmt.Errorf("%s; give the call a model: inherit for yours, or %s%s; or choose another agent",
			failed.Detail, others, provider.Offline)
	}
	return fmt.Errorf("model: %s; write %s%s, or leave it out", failed.Detail, others, provider.Offline)
}
