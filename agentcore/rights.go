package agentcore

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/sandbox"
)

// startedOn reports whether the user named a file when starting the run, or the one above it all.
func (r *run) startedOn(path string) bool {
	root := r
	for root.parent != nil {
		root = root.parent
	}
	return slices.Contains(root.request.Context.Paths, path) || slices.Contains(root.request.Each, path)
}

// newRights are those of a run: what its parent may, and within that what its definition and the configuration let it.
func (r *run) newRights() authority.Rights {
	mode := cmp.Or(r.request.PermissionMode, authority.ModeOf(r.definition))
	if r.definition.Mode == agent.Planning {
		mode = permission.Plan // which binds those that it starts, too
	}
	r.mode = mode
	made := r.session.rights(r.config)
	made.Attached = func(path string) bool {
		_, attached, err := hostWorkspace{run: r}.Attached(path)
		return attached && err == nil
	}
	made.Pointed = r.startedOn
	made.Own = authority.Layers(r.definition, r.config, r.request.granted...)
	if r.former.binds() {
		made.Bound = r.former.bounds(r.parent, r.config)
	}
	var above *permission.Policy
	if r.parent != nil {
		above = r.parent.rights.Policy
	}
	made.Policy = made.Within(r.id, above,
		append(slices.Clone(made.Bound), authority.Boundary{Mode: mode, Rules: made.Own})...)
	return made
}

// bounds are what binds the run that goes on with a child: what bound it itself and the runs above it, by the rules
// of then and by those of today. A run that is above the new one as well binds it as it is now.
func (f *former) bounds(parent *run, cfg *config.Config) []authority.Boundary {
	var list []authority.Boundary
	add := func(more ...authority.Boundary) {
		for _, b := range more {
			if !slices.ContainsFunc(list, func(o authority.Boundary) bool { return reflect.DeepEqual(o, b) }) {
				list = append(list, b)
			}
		}
	}
	for _, a := range f.above {
		if parent == nil || !parent.descendsFrom(a.run) {
			add(authority.Boundary{Mode: a.powers.Mode, Rules: authority.Layers(a.definition, cfg)})
			add(a.powers.Bounds()...)
		}
	}
	add(f.powers.Bounds()...)
	return list
}

// descendsFrom reports whether the run is one, or was started by it or below it.
func (r *run) descendsFrom(id event.RunID) bool {
	for ; r != nil; r = r.parent {
		if r.id == id {
			return true
		}
	}
	return false
}

// rights are those of the session under a configuration, without a policy.
func (s *Session) rights(cfg *config.Config) authority.Rights {
	return authority.Rights{
		Session: s.ID, View: s.view, Decisions: s.engine.decisions,
		Level: func() permission.Level { return s.engine.sandboxLevel(cfg) },
	}
}

// sandboxLevel is how well commands are kept apart.
func (e *Engine) sandboxLevel(cfg *config.Config) permission.Level {
	if cfg.Sandbox == config.SandboxOff {
		return permission.None
	}
	switch e.sandboxReport().Level {
	case sandbox.None:
		return permission.None
	case sandbox.Full, sandbox.Bubblewrap:
		return permission.Full
	}
	return permission.Partial
}

// Explain says how a call would be decided for an agent, by which rule of which layer, and what an "always" would
// allow. Nothing is run. An empty agent means the default one; command is used where the tool is bash, otherwise
// subject is a path or host.
func (s *Session) Explain(agentName, toolName, subject string) (permission.Explanation, error) {
	cfg, skills := s.engine.Config(), cmp.Or(s.skills.Load(), s.engine.skills.Load())
	definition, err := s.engine.find(agentName, cfg)
	if err != nil {
		return permission.Explanation{}, err
	}
	own := s.rights(cfg)
	r := own.Alone(definition, cfg)
	r.Attached = func(path string) bool {
		_, err := skills.Read(path)
		return err == nil
	}
	return r.Explain(s.engine.tools, toolName, subject)
}

// ExplainRun says how a call would be decided for a run of this process, which its parents bind, as [Session.Explain]
// does for an agent.
func (e *Engine) ExplainRun(id event.RunID, toolName, subject string) (permission.Explanation, error) {
	r, err := e.run(id)
	if err != nil {
		return permission.Explanation{}, err
	}
	return r.rights.Explain(e.tools, toolName, subject)
}
