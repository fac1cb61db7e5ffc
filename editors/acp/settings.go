package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	protocol "github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
)

// The ids of the options of a session.
const (
	optionMode   = "mode"
	optionAgent  = "agent"
	optionModel  = "model"
	optionEffort = "effort"
)

// byDefault is the value of an option that leaves the choice to the agent or the model.
const byDefault = "default"

// allModes are the modes of a session: the permission modes of agentls.
func allModes() []protocol.Mode {
	of := func(m permission.Mode, name, description string) protocol.Mode {
		return protocol.Mode{ID: string(m), Name: name, Description: description}
	}
	return []protocol.Mode{
		of(permission.Default, "Default", "Asks where a rule says so, and before edits are written"),
		of(permission.Plan, "Plan", "Changes nothing, and asks for each command that no rule allows"),
		of(permission.AcceptEdits, "Accept edits",
			"Writes edits without asking, but for files that are protected or that instruct agents"),
		of(permission.Bypass, "Bypass", "Asks for nothing but edits of protected files"),
	}
}

// described is a session as it is told to the client. The caller must not hold the session's lock.
func (s *session) describe(ctx context.Context) (sessionResult, error) {
	options, err := s.options(ctx)
	return sessionResult{Modes: protocol.Modes{Current: s.mode(), Available: allModes()}, Options: options}, err
}

// mode is the mode of the coming turn.
func (s *session) mode() string {
	s.mu.Lock()
	chosen := s.chosen
	s.mu.Unlock()
	if chosen.mode != "" {
		return chosen.mode
	}
	engine := s.project.Engine
	own := permission.Default
	if d, err := engine.Agents().Find(cmp.Or(chosen.agent, engine.Config().DefaultAgent)); err == nil {
		if own = authority.ModeOf(d); d.Mode == agent.Planning {
			own = permission.Plan
		}
	}
	return string(cmp.Or(own, permission.Default))
}

// options are what the user can choose for the coming turns.
func (s *session) options(ctx context.Context) ([]configOption, error) {
	s.mu.Lock()
	chosen, begun := s.chosen, s.last != ""
	s.mu.Unlock()
	engine := s.project.Engine
	modeOption := configOption{
		ID: optionMode, Name: "Mode", Category: "mode", Type: "select", Current: s.mode(),
		Description: "How much it asks",
	}
	for _, m := range allModes() {
		modeOption.add(m.ID, m.Name, m.Description)
	}
	who := cmp.Or(chosen.agent, engine.Config().DefaultAgent)
	agents := configOption{
		ID: optionAgent, Name: "Agent", Type: "select", Current: who,
		Description: "Whom you talk with; a conversation that has begun keeps its agent",
	}
	for _, d := range engine.Agents().List(agent.Primary) {
		if !begun || d.Slug == who {
			agents.add(d.Slug, d.Slug, d.Description)
		}
	}
	agents.ensure(who)
	models, resolved, err := engine.Models(ctx, chosen.agent, chosen.model)
	if err != nil {
		return nil, err
	}
	which := configOption{
		ID: optionModel, Name: "Model", Category: "model", Type: "select", Current: resolved.Name,
		Description: "Who answers",
	}
	for _, m := range models {
		if m.Available {
			which.add(m.Name, cmp.Or(m.Title, m.Name), "")
		}
	}
	which.ensure(resolved.Name)
	effort := configOption{
		ID: optionEffort, Name: "Effort", Category: "thought_level", Type: "select",
		Current: cmp.Or(chosen.effort, byDefault), Description: "How much the model thinks",
	}
	effort.add(byDefault, "Default", "The agent's or the model's own")
	for _, e := range model.Efforts {
		effort.add(e, e, "")
	}
	return []configOption{modeOption, agents, which, effort}, nil
}

func (o *configOption) add(value, name, description string) {
	o.Options = append(o.Options, protocol.ConfigValue{Value: value, Name: name, Description: description})
}

// ensure adds a value that is not among those of the option.
func (o *configOption) ensure(value string) {
	if !o.has(value) {
		o.add(value, value, "")
	}
}

func (o *configOption) has(value string) bool {
	return slices.ContainsFunc(o.Options, func(v protocol.ConfigValue) bool { return v.Value == value })
}

// setMode answers session/set_mode.
func (a *Agent) setMode(ctx context.Context, p *modeParams) (any, error) {
	s, err := a.find(p.Session)
	if err != nil {
		return nil, err
	}
	if p.Mode == "" {
		return nil, missing("modeId")
	}
	if _, err := s.choose(ctx, optionMode, p.Mode); err != nil {
		return nil, err
	}
	a.behind = append(a.behind, func() {
		if options, err := s.options(ctx); err == nil {
			s.update(configUpdate{"config_option_update", options})
		}
	})
	return struct{}{}, nil
}

// setOption answers session/set_config_option.
func (a *Agent) setOption(ctx context.Context, p *configParams) (any, error) {
	s, err := a.find(p.Session)
	if err != nil {
		return nil, err
	}
	var value string
	if err := json.Unmarshal(p.Value, &value); err != nil {
		return nil, invalidParams("params.value is no string; give one of the values of the option")
	}
	options, err := s.choose(ctx, p.Option, value)
	if err != nil {
		return nil, err
	}
	if p.Option == optionMode {
		a.behind = append(a.behind, func() { s.update(modeUpdate{"current_mode_update", value}) })
	}
	return configResult{options}, nil
}

// choose chooses a value of an option for the coming turns, and returns the options as they are then.
func (s *session) choose(ctx context.Context, id, value string) ([]configOption, error) {
	options, err := s.options(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(options, func(o configOption) bool { return o.ID == id })
	if at < 0 {
		return nil, invalidParams("params.configId: there is no option %q", id)
	}
	if !options[at].has(value) {
		return nil, invalidParams("%s: there is no %s %q", id, options[at].Name, value)
	}
	s.mu.Lock()
	switch id {
	case optionMode:
		s.chosen.mode = value
	case optionAgent:
		s.chosen.agent = value
	case optionModel:
		s.chosen.model = value
	case optionEffort:
		s.chosen.effort = value
		if value == byDefault {
			s.chosen.effort = ""
		}
	}
	s.mu.Unlock()
	return s.options(ctx)
}
