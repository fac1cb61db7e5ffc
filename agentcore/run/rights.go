package run

import (
	"cmp"
	"slices"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/sandbox"
)

// startedOn reports whether the user named a file when starting the run, or the one above it all.
func (r *spec) startedOn(path string) bool {
	root := r
	for root.parent != nil {
		root = &root.parent.spec
	}
	return slices.Contains(root.request.Context.Paths, path) || slices.Contains(root.request.Each, path)
}

// newRights are those of a run: what its parent may, and within that what its definition and the configuration let it.
func newRights(r *Run) authority.Rights {
	mode := cmp.Or(r.request.PermissionMode, authority.ModeOf(r.definition))
	if r.definition.Mode == agent.Planning {
		mode = permission.Plan // which binds those that it starts, too
	}
	r.mode = mode
	made := RightsOf(r.process, r.session, r.config)
	made.Attached = func(path string) bool {
		_, attached, err := hostWorkspace{run: r}.Attached(path)
		return attached && err == nil
	}
	made.Pointed = r.startedOn
	made.Own = authority.Layers(r.definition, r.config, r.request.granted...)
	if r.former.binds() {
		made.Bound = r.former.bounds(r.parent.descendsFrom, r.config)
	}
	var above *permission.Policy
	if r.parent != nil {
		above = r.parent.gate.rights.Policy
	}
	made.Policy = made.Within(r.id, above,
		append(slices.Clone(made.Bound), authority.Boundary{Mode: mode, Rules: made.Own})...)
	return made
}

// onlyOf decides on the calls of the tools that the run keeps for some calls alone, which are limited; nil where there
// are none.
func onlyOf(r *Run) (policy *permission.Policy, limited []string) {
	only := r.request.Only
	if only == nil {
		return nil, nil
	}
	layer := permission.Layer{Name: "the prompt's file"}
	for _, name := range only.Tools {
		whole := func(rule permission.Rule) bool { return rule.Tool == name && rule.Pattern == "" }
		if !slices.ContainsFunc(only.Calls, whole) {
			limited = append(limited, name)
			layer.Rules = append(layer.Rules, permission.Rule{Tool: name, Pattern: "*", Action: permission.Ask})
		}
	}
	if len(limited) == 0 {
		return nil, nil
	}
	layer.Rules = append(layer.Rules, only.Calls...)
	return r.gate.rights.Within(r.id, nil, authority.Boundary{Rules: []permission.Layer{layer}}), limited
}

// descendsFrom reports whether the run is one, or was started by it or below it.
func (r *Run) descendsFrom(id event.RunID) bool {
	for ; r != nil; r = r.parent {
		if r.id == id {
			return true
		}
	}
	return false
}

// RightsOf are those of a session under a configuration, without a policy.
func RightsOf(p *Process, s *Session, cfg *config.Config) authority.Rights {
	return authority.Rights{
		Session: s.ID, View: s.View, Decisions: p.Decisions,
		Level: func() permission.Level { return p.sandboxLevel(cfg) },
	}
}

// sandboxLevel is how well commands are kept apart.
func (p *Process) sandboxLevel(cfg *config.Config) permission.Level {
	if cfg.Sandbox == config.SandboxOff {
		return permission.None
	}
	level := p.Sandboxes.Level
	if level == nil {
		level = func() sandbox.Level { return p.Sandboxes.Report().Level }
	}
	switch level() {
	case sandbox.None:
		return permission.None
	case sandbox.Full, sandbox.Bubblewrap:
		return permission.Full
	}
	return permission.Partial
}
