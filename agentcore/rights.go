package agentcore

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/mcpname"
	"github.com/agentls/agentls/agentcore/network"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// rights are what decides on the calls of a run, or of an agent that does not run: they need neither a model nor a
// layer. They do not change, and any goroutine may ask.
type rights struct {
	session *Session
	config  *config.Config
	policy  *permission.Policy
	// own are the rules of the run itself, without those of the runs above it.
	own []permission.Layer
	// bound are those of the runs that it goes on with, which bind it, too.
	bound []boundary
	// attached reports whether a file outside of the workspace may be read nevertheless: a skill's, a command's output.
	attached func(path string) bool
	// pointed reports whether the user started the run, or the one above it all, on a file. It is nil where nothing
	// runs.
	pointed func(path string) bool
}

// startedOn reports whether the user named a file when starting the run, or the one above it all.
func (r *run) startedOn(path string) bool {
	root := r
	for root.parent != nil {
		root = root.parent
	}
	return slices.Contains(root.request.Context.Paths, path) || slices.Contains(root.request.Each, path)
}

// newRights are those of a run: what its parent may, and within that what its definition and the configuration let it.
func (r *run) newRights() rights {
	mode := cmp.Or(r.request.PermissionMode, modeOf(r.definition))
	if r.definition.Mode == agent.Planning {
		mode = permission.Plan // which binds those that it starts, too
	}
	r.mode = mode
	made := rights{session: r.session, config: r.config, attached: func(path string) bool {
		_, attached, err := hostWorkspace{run: r}.Attached(path)
		return attached && err == nil
	}, pointed: r.startedOn}
	made.own = policyLayers(r.definition, r.config, r.request.granted...)
	if r.former.binds() {
		made.bound = r.former.bounds(r.parent, r.config)
	}
	if r.parent != nil {
		made.policy = r.parent.rights.policy
	}
	for _, b := range append(slices.Clone(made.bound), boundary{mode, made.own}) {
		if made.policy == nil {
			made.policy = r.session.policy(r.id, b.Mode, b.Rules)
		} else {
			made.policy = made.policy.Child(r.id, b.Mode, b.Rules)
		}
	}
	return made
}

// bounds are what binds the run that goes on with a child: what bound it itself and the runs above it, by the rules
// of then and by those of today. A run that is above the new one as well binds it as it is now.
func (f *former) bounds(parent *run, cfg *config.Config) []boundary {
	var list []boundary
	add := func(more ...boundary) {
		for _, b := range more {
			if !slices.ContainsFunc(list, func(o boundary) bool { return reflect.DeepEqual(o, b) }) {
				list = append(list, b)
			}
		}
	}
	for _, a := range f.above {
		if parent == nil || !parent.descendsFrom(a.run) {
			add(boundary{a.powers.Mode, policyLayers(a.definition, cfg)})
			add(a.powers.bounds()...)
		}
	}
	add(f.powers.bounds()...)
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

// policy is that of a root run with rules.
func (s *Session) policy(id event.RunID, mode permission.Mode, layers []permission.Layer) *permission.Policy {
	return permission.New(permission.Setup{
		Layers: layers, Mode: mode, Session: s.ID, Run: id, Roots: s.folders(), Home: homeDir(),
	})
}

// modeOf is the mode that a definition asks for. One of a project may only ask for less: a file that came with a
// repository does not spare the user any question.
func modeOf(d *agent.Definition) permission.Mode {
	mode := permission.Mode(d.PermissionMode)
	if d.Source.Layer == agent.LayerProject && mode != permission.Plan {
		return permission.Default
	}
	return mode
}

// policyLayers are the rules for an agent, the weakest first. What its definition denies of tools that the user granted
// beside its own, as a whole, is left out: the user's word on this very run is the later one. Rules of the
// configuration, and those of the runs above, stay.
func policyLayers(d *agent.Definition, cfg *config.Config, granted ...string) []permission.Layer {
	var layers []permission.Layer
	if set, ok := permission.Set(d.Permissions); ok {
		layers = append(layers, set)
	}
	if len(d.Rules) > 0 {
		layers = append(layers, permission.Layer{
			Name: "agent " + d.Slug, Narrow: d.Source.Layer == agent.LayerProject,
			Rules: canonical(d.Rules),
		})
	}
	for i := range layers {
		layers[i].Rules = slices.DeleteFunc(layers[i].Rules, func(rule permission.Rule) bool {
			whole := rule.Action == permission.Deny && rule.Pattern == ""
			return whole && slices.ContainsFunc(granted, func(name string) bool {
				return rule.Tool == name || permission.EditsAs(rule.Tool, name)
			})
		})
	}
	if allowed, err := network.Parse(cfg.NetworkAllow); err == nil && len(cfg.NetworkAllow) > 0 {
		// the configuration was checked
		named := permission.Layer{Name: "network.allow"}
		for address := range allowed.All() {
			named.Rules = append(named.Rules,
				permission.Rule{Tool: "webfetch", Pattern: address, Action: permission.Allow})
		}
		layers = append(layers, named)
	}
	if cfg.WebsearchKind != "" {
		// Whoever names a search engine wants it to be asked.
		layers = append(layers,
			permission.Layer{
				Name:  "websearch.kind",
				Rules: []permission.Rule{{Tool: "websearch", Action: permission.Allow}},
			})
	}
	for _, p := range cfg.Permissions {
		name := p.Origin.Layer.String()
		root := p.Origin.Folder()
		if len(layers) == 0 || layers[len(layers)-1].Name != name || layers[len(layers)-1].Root != root {
			layers = append(layers,
				permission.Layer{Name: name, Root: root, Narrow: p.Origin.Layer == config.LayerProject})
		}
		last := &layers[len(layers)-1]
		last.Rules = append(last.Rules, canonical([]permission.Rule{p.Rule()})...)
	}
	return layers
}

// canonical returns the rules with the names that calls are decided by, whatever spelling of a tool they have: a rule
// on "Bash" that bound nothing would be a hole that nobody sees.
func canonical(rules []permission.Rule) []permission.Rule {
	rules = slices.Clone(rules)
	for i := range rules {
		rules[i].Tool, _ = tool.Resolve(rules[i].Tool)
	}
	return rules
}

// RuleProblems returns a warning for each permission rule of a configuration that can bind no call, since there is no
// such tool.
func RuleProblems(cfg *config.Config) []config.Problem {
	var list []config.Problem
	for i, p := range cfg.Permissions {
		if _, known := tool.Resolve(p.Tool); known || strings.ContainsAny(p.Tool, "*?[") {
			continue
		}
		hint := "write the name of a tool, or * for all"
		if near := tool.Nearest(p.Tool); near != "" {
			hint = "did you mean " + near + "?"
		}
		problem := config.Problem{
			Source: p.Origin.Layer.String(), File: p.Origin.File, Line: p.Origin.Line,
			Key:     fmt.Sprintf("permission[%d].tool", i),
			Message: fmt.Sprintf("there is no tool %q, so this rule binds nothing", p.Tool), Hint: hint,
			Severity: config.SeverityWarning,
		}
		if problem.Line > 0 {
			problem.Column = 1
		}
		list = append(list, problem)
	}
	return list
}

// homeDir is the user's home folder, empty where there is none.
func homeDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// effects are what the tools' effects are to a policy.
var effects = map[tool.Effect]permission.Effect{
	tool.Reads: permission.Read, tool.Fetches: permission.Network, tool.Delegates: permission.Internal,
	tool.Notes:    permission.Internal,
	tool.Proposes: permission.Propose, tool.Asks: permission.Internal, tool.Acts: permission.External,
	tool.Executes: permission.Execute,
}

// reach is the most that a call of a tool could come to, whatever its arguments are.
func (r *rights) reach(spec tool.Spec) permission.Action {
	level := permission.None
	if spec.Effect == tool.Executes {
		level = r.sandboxLevel()
	}
	return r.policy.Reach(spec.Name, effects[spec.Effect], level, r.grants())
}

// request is a call as a policy sees it. It fails where a file that the call names can be none, and where its tool does
// not declare what it reaches for: nothing could be decided on then.
func (r *rights) request(spec tool.Spec, access *tool.Access) (permission.Request, error) {
	request := permission.Request{Tool: spec.Name, Effect: effects[spec.Effect]}
	if access == nil {
		return request, fmt.Errorf("the tool %s does not declare what it reaches for", spec.Name)
	}
	request.Call, request.Hosts = access.Call, access.Hosts
	switch {
	case access.Command != "":
		request.Command, request.Dir, request.Sandbox = access.Command, r.session.home(), r.sandboxLevel()
	case spec.Effect == tool.Executes:
		request.Effect = permission.External // no rule of command lines knows it
	case spec.Effect == tool.Fetches && len(access.Hosts) == 0 && !access.Network:
		request.Effect = permission.Read // it reaches nothing, and the tool says so
	}
	var together []string
	for _, name := range access.Paths {
		if resolved, err := r.session.view.Resolve(name); err == nil && spec.Effect == tool.Proposes {
			together = append(together, resolved)
		}
	}
	also := workspace.NewTogether(together...)
	for _, name := range access.Paths {
		paths, err := r.paths(name, spec.Effect == tool.Proposes, also)
		if err != nil {
			if spec.Effect == tool.Reads && r.attached(name) {
				continue // the run may know it although it lies elsewhere
			}
			return request, err
		}
		request.Paths = append(request.Paths, paths...)
	}
	return request, nil
}

// paths is a file as a policy sees it: by its name, and where a link leads. It is judged with those there that the same
// call names.
func (r *rights) paths(name string, write bool, also workspace.Together) ([]permission.Path, error) {
	resolved, err := r.session.view.Resolve(name)
	if err != nil {
		if !write && r.attached(name) {
			return nil, nil // of a skill, or what a command put out: the run may read it
		}
		return nil, err
	}
	if !filepath.IsAbs(resolved) {
		return nil, nil // a document without a file
	}
	names := []string{resolved}
	if real, err := filepath.EvalSymlinks(resolved); err == nil {
		if real = r.belowRoot(real); real != resolved {
			names = append(names, real)
		}
	}
	paths := make([]permission.Path, len(names))
	for i, name := range names {
		paths[i] = permission.Path{Name: name, Write: write}
		if i > 0 {
			paths[i].Through = resolved
		}
		paths[i].Pointed = !write && r.pointed != nil && r.pointed(resolved)
		if write {
			paths[i].Protected, _ = r.session.view.Protected(name, also)
			paths[i].Linked = linked(name)
		}
	}
	return paths, nil
}

// belowRoot is a path without links as the workspace names it, where a folder of the workspace was itself opened by a
// link.
func (r *rights) belowRoot(real string) string {
	for _, root := range r.session.view.Roots() {
		at, err := filepath.EvalSymlinks(root.Path)
		if err != nil || at == root.Path {
			continue
		}
		if rel, err := filepath.Rel(at, real); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(root.Path, rel)
		}
	}
	return real
}

// unsandboxed tells that commands run as the user would run them.
func (r *rights) unsandboxed() bool {
	return r.config.Sandbox == config.SandboxOff || r.session.engine.sandboxReport().Level == sandbox.None
}

// sandboxLevel is how well commands are kept apart.
func (r *rights) sandboxLevel() permission.Level {
	if r.unsandboxed() {
		return permission.None
	}
	switch r.session.engine.sandboxReport().Level {
	case sandbox.Full, sandbox.Bubblewrap:
		return permission.Full
	}
	return permission.Partial
}

// grants are those that hold.
func (r *rights) grants() []permission.Grant { return r.session.engine.grants.holding(time.Now()) }

// mayRead reports whether a file that a search comes across may be shown: it is left out where read of it is denied, by
// a rule or since it looks like one with secrets, and where a rule wants the user to be asked.
func (r *rights) mayRead(name, toolName string) bool {
	names := []permission.Path{{Name: name}}
	if info, err := os.Lstat(name); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			names = append(names, permission.Path{Name: real})
		}
	}
	for _, t := range []string{"read", toolName} {
		d := r.policy.Decide(permission.Request{Tool: t, Effect: permission.Read, Paths: names}, r.grants())
		// Outside of the workspace the call itself was asked for.
		if d.Action == permission.Deny || d.Action == permission.Ask && d.Rule != nil {
			return false
		}
	}
	return true
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
	policy := s.policy("", modeOf(definition), policyLayers(definition, cfg))
	r := rights{session: s, config: cfg, policy: policy, attached: func(path string) bool {
		_, err := skills.Read(path)
		return err == nil
	}}
	return r.explain(toolName, subject)
}

// ExplainRun says how a call would be decided for a run of this process, which its parents bind, as [Session.Explain]
// does for an agent.
func (e *Engine) ExplainRun(id event.RunID, toolName, subject string) (permission.Explanation, error) {
	r, err := e.run(id)
	if err != nil {
		return permission.Explanation{}, err
	}
	return r.rights.explain(toolName, subject)
}

func (r *rights) explain(toolName, subject string) (permission.Explanation, error) {
	name, ok := tool.Resolve(toolName)
	if !ok {
		name = toolName
	}
	if mcpname.Is(name) {
		// Whether the server has it is not asked: a rule may speak of it all the same.
		return r.policy.Explain(permission.Request{Tool: name, Effect: permission.External}, r.grants()), nil
	}
	t := r.session.engine.tools[name]
	if t == nil {
		return permission.Explanation{}, fault.Missing("tool", toolName,
			"see the tools of an agent with `agentls agents show`")
	}
	spec := t.Spec()
	access := spec.Subject.Access(subject)
	request, err := r.request(spec, &access)
	if err != nil {
		return permission.Explanation{}, fmt.Errorf("find %q: %w", subject, err)
	}
	return r.policy.Explain(request, r.grants()), nil
}
