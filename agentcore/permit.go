package agentcore

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// newPolicy makes what a run may do: what its parent may, and within that what its definition and the configuration
// let it.
func (r *run) newPolicy() *permission.Policy {
	layers := policyLayers(r.definition, r.config)
	mode := modeOf(r.definition)
	if r.request.PermissionMode != "" {
		mode = r.request.PermissionMode
	}
	r.mode = mode
	if r.parent != nil {
		return r.parent.policy.Child(r.id, mode, layers)
	}
	setup := permission.Setup{Layers: layers, Mode: mode, Session: r.session.ID, Run: r.id, Roots: r.session.roots, Home: homeDir()}
	if r.former == nil || len(r.former.above) == 0 {
		return permission.New(setup)
	}
	// What was a child stays bound by those above it.
	above := r.former.above
	setup.Layers, setup.Mode = policyLayers(above[0].definition, r.config), above[0].powers.Mode
	policy := permission.New(setup)
	for _, a := range above[1:] {
		policy = policy.Child(r.id, a.powers.Mode, policyLayers(a.definition, r.config))
	}
	return policy.Child(r.id, mode, layers)
}

// modeOf is the mode that a definition asks for. One of a project may only ask for less: a file that came with a repository does not
// spare the user any question.
func modeOf(d *agent.Definition) permission.Mode {
	mode := permission.Mode(d.PermissionMode)
	if d.Source.Layer == agent.LayerProject && mode != permission.Plan {
		return permission.Default
	}
	return mode
}

// policyLayers are the rules for an agent, the weakest first.
func policyLayers(d *agent.Definition, cfg *config.Config) []permission.Layer {
	var layers []permission.Layer
	if set, ok := permission.Set(d.Permissions); ok {
		layers = append(layers, set)
	}
	if len(d.Rules) > 0 {
		layers = append(layers, permission.Layer{Name: "agent " + d.Slug, Narrow: d.Source.Layer == agent.LayerProject, Rules: d.Rules})
	}
	if len(cfg.NetworkAllow) > 0 {
		network := permission.Layer{Name: "network.allow"}
		for _, host := range cfg.NetworkAllow {
			network.Rules = append(network.Rules, permission.Rule{Tool: "webfetch", Pattern: host, Action: permission.Allow})
		}
		layers = append(layers, network)
	}
	for _, p := range cfg.Permissions {
		name := p.Origin.Layer.String()
		if len(layers) == 0 || layers[len(layers)-1].Name != name {
			layers = append(layers, permission.Layer{Name: name, Narrow: p.Origin.Layer == config.LayerProject})
		}
		last := &layers[len(layers)-1]
		last.Rules = append(last.Rules, permission.Rule{Tool: p.Tool, Pattern: p.Pattern, Action: permission.Action(p.Action)})
	}
	return layers
}

// homeDir is the user's home folder, empty where there is none.
func homeDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// effects are what the tools' effects are to a policy; permissionRequest knows those of commands and hosts better.
var effects = map[tool.Effect]permission.Effect{
	tool.Reads: permission.Read, tool.Delegates: permission.Internal, tool.Notes: permission.Internal, tool.Proposes: permission.Propose, tool.Acts: permission.External,
}

// permissionRequest is a call as a policy sees it. It fails where a file that the call names can be none.
func (r *run) permissionRequest(spec tool.Spec, arguments json.RawMessage) (permission.Request, error) {
	request := permission.Request{Tool: spec.Name, Effect: effects[spec.Effect]}
	access := tool.AccessOf(spec, arguments)
	request.Call, request.Hosts = access.Call, access.Hosts
	if access.Command != "" {
		request.Effect, request.Command, request.Dir = permission.Execute, access.Command, r.session.home()
		request.Sandbox = r.sandboxLevel()
	}
	if len(access.Hosts) > 0 {
		request.Effect = permission.Network
	}
	for _, name := range access.Paths {
		paths, err := r.permissionPaths(name, spec.Effect == tool.Proposes)
		if err != nil {
			if _, attached, failure := (host{run: r}).Attached(name); spec.Effect == tool.Reads && attached && failure == nil {
				continue // the run may know it although it lies elsewhere: a skill's file, a command's output
			}
			return request, err
		}
		request.Paths = append(request.Paths, paths...)
	}
	return request, nil
}

// mayRead reports whether a file that a search comes across may be shown: it is left out where read of it is denied, by a rule or since it looks
// like one with secrets, and where a rule wants the user to be asked.
func (r *run) mayRead(name, toolName string) bool {
	names := []permission.Path{{Name: name}}
	if info, err := os.Lstat(name); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			names = append(names, permission.Path{Name: real})
		}
	}
	for _, t := range []string{"read", toolName} {
		d := r.policy.Decide(permission.Request{Tool: t, Effect: permission.Read, Paths: names}, r.engine.grants.all())
		// Outside of the workspace the call itself was asked for.
		if d.Action == permission.Deny || d.Action == permission.Ask && d.Rule != nil {
			return false
		}
	}
	return true
}

// permissionPaths is a file as a policy sees it: by its name, and where a link leads.
func (r *run) permissionPaths(name string, write bool) ([]permission.Path, error) {
	resolved, err := r.session.view.Resolve(name)
	if err != nil {
		if _, attached, _ := (host{run: r}).Attached(name); !write && attached {
			return nil, nil // of a skill, or what a command put out: the run may read it
		}
		return nil, err
	}
	if !filepath.IsAbs(resolved) {
		return nil, nil // a document without a file
	}
	names := []string{resolved}
	if real, err := filepath.EvalSymlinks(resolved); err == nil && real != resolved {
		names = append(names, real)
	}
	paths := make([]permission.Path, len(names))
	for i, name := range names {
		paths[i] = permission.Path{Name: name, Write: write}
		if write {
			paths[i].Protected, _ = r.session.view.Protected(name)
			paths[i].Linked = linked(name)
		}
	}
	return paths, nil
}

// permit decides whether a call may be made, and asks the user where the policy does not know. The refusal is for the
// model, empty where it may. The error is that of the run's context.
func (r *run) permit(c *call) (refusal string, err error) {
	request, err := r.permissionRequest(c.spec, c.arguments)
	if err != nil {
		// What cannot be found cannot be decided on: a call with no file to decide on would be allowed.
		return denied(permission.Decision{Advice: "name a file of the workspace"}, err.Error()), nil
	}
	if refusal := r.untrusted(request); refusal != "" {
		return refusal, nil
	}
	decision := c.narrowed(r.policy.Decide(request, r.engine.grants.all()))
	switch decision.Action {
	case permission.Allow:
		r.allow(request.Paths)
		return "", nil
	case permission.Ask:
		answer, err := r.askUser(c, decision, detailOf(request, c))
		if err != nil {
			return "", err
		}
		if answer.Allow {
			r.allow(request.Paths)
			return "", nil
		}
		why := answer.Reason
		if why == "" {
			why = "the user said no"
		}
		return denied(decision, why), nil
	}
	return denied(decision, decision.Reason), nil
}

// Unreviewed reports whether an open hunk may be applied without the user's review: the mode of the run that wrote it,
// and of all above it, is accept_edits or bypass, nobody else wrote into it, and its files are such as the run may change without
// being asked, whatever was granted for one call. It may read the disk.
func (s *Session) Unreviewed(h workspace.Hunk) bool {
	if h.State != event.StateOpen || h.Shared {
		return false
	}
	r, err := s.engine.run(h.Author.Run)
	if err != nil || r.session != s {
		return false // of a former process, or long over
	}
	if mode := r.policy.Mode(); mode != permission.AcceptEdits && mode != permission.Bypass {
		return false
	}
	request := permission.Request{Tool: "edit", Effect: permission.Propose}
	for _, name := range []string{h.Path, h.MoveTo} {
		if name == "" {
			continue
		}
		paths, err := r.permissionPaths(name, true)
		if err != nil {
			return false // what cannot be looked at is the user's to decide
		}
		request.Paths = append(request.Paths, paths...)
	}
	return r.policy.Decide(request, nil).Action == permission.Allow
}

// allow lets the run's layer at files that it refuses by itself: what looks like a secret or acts by itself. A policy
// allows those only where a rule or the user says so.
// Nothing else is let through, or a file that becomes a link to one of those later would be, too.
func (r *run) allow(paths []permission.Path) {
	guarded := func(p permission.Path) bool { return p.Protected != "" || permission.Secret(filepath.ToSlash(p.Name)) }
	if !slices.ContainsFunc(paths, guarded) {
		return
	}
	for _, p := range paths { // a link and where it leads are two of them
		r.layer.Allow(p.Name)
	}
}

// permitted is permit as execute needs it: it sets the outcome of a call that may not be made.
func (r *run) permitted(c *call, status *event.CallStatus, text, summary *string) bool {
	refusal, err := r.permit(c)
	return unrefused(refusal, err, status, text, summary)
}

// unrefused sets the outcome of a call that is refused, or cut off by the run's end, and reports true where it is neither.
func unrefused(refusal string, err error, status *event.CallStatus, text, summary *string) bool {
	switch {
	case err != nil:
		*status, *text, *summary = event.CallCancelled, "error: the call was cancelled", "cancelled"
	case refusal != "":
		*status, *text, *summary = event.CallDenied, refusal, firstLine(strings.TrimPrefix(refusal, "denied: "))
	}
	return err == nil && refusal == ""
}

func denied(decision permission.Decision, why string) string {
	text := "denied: " + why
	if decision.Advice != "" {
		text += ". " + decision.Advice
	}
	return text
}

// detailOf is the whole of what is asked for, as a person can check it.
func detailOf(request permission.Request, c *call) string {
	if request.Command != "" {
		return permission.Visible(request.Command)
	}
	var b strings.Builder
	for _, p := range request.Paths {
		fmt.Fprintln(&b, permission.Visible(p.Name))
	}
	for _, h := range request.Hosts {
		fmt.Fprintln(&b, permission.Visible(h))
	}
	if b.Len() == 0 {
		return permission.Visible(string(c.arguments))
	}
	return strings.TrimSpace(b.String())
}

// Explain says how a call would be decided for an agent, by which rule of which layer, and what an "always" would allow.
// Nothing is run. An empty agent means the default one; command is used where the tool is bash, otherwise subject is a
// path or host.
func (s *Session) Explain(agentName, toolName, subject string) (permission.Explanation, error) {
	r, err := s.engine.newRun(s, nil, RunRequest{Agent: agentName, Prompt: "explain"})
	if err != nil {
		return permission.Explanation{}, err
	}
	defer r.cancel(nil)
	return r.explain(toolName, subject)
}

// ExplainRun says how a call would be decided for a run of this process, which its parents bind, as [Session.Explain] does
// for an agent.
func (e *Engine) ExplainRun(id event.RunID, toolName, subject string) (permission.Explanation, error) {
	r, err := e.run(id)
	if err != nil {
		return permission.Explanation{}, err
	}
	return r.explain(toolName, subject)
}

func (r *run) explain(toolName, subject string) (permission.Explanation, error) {
	name, ok := tool.Resolve(toolName)
	if !ok {
		name = toolName
	}
	t := r.engine.tools[name]
	if t == nil {
		return permission.Explanation{}, notFound("tool", toolName, "see the tools of an agent with `agentls agents show`")
	}
	spec := t.Spec()
	arguments, err := json.Marshal(tool.ArgumentsFor(spec, subject))
	if err != nil {
		return permission.Explanation{}, fmt.Errorf("put %q into a call of %s: %w", subject, name, err)
	}
	request, err := r.permissionRequest(spec, arguments)
	if err != nil {
		return permission.Explanation{}, fmt.Errorf("find %q: %w", subject, err)
	}
	return r.policy.Explain(request, r.engine.grants.all()), nil
}

// pause stops the clocks of the run and of those above it while it waits for somebody, and shows that it does. The function that it
// returns ends that.
func (r *run) pause(reason string) (resume func()) {
	for above := r; above != nil; above = above.parent {
		above.clock.stop()
	}
	goOn := r.waits(reason)
	return func() {
		goOn()
		for above := r; above != nil; above = above.parent {
			above.clock.start()
		}
	}
}

// awaited is one thing that a run waits for: children, or what the reason says.
type awaited struct {
	reason   string
	children []*run
}

// waits shows that the run waits, and lets others have its place meanwhile. The function that it returns ends that. Calls of one turn
// may wait beside each other.
func (r *run) waits(reason string) (resume func()) { return r.waitsOn(&awaited{reason: reason}) }

func (r *run) waitsOn(w *awaited) (resume func()) {
	regain := r.place.yield()
	r.telling.Lock()
	defer r.telling.Unlock()
	r.waitings = append(r.waitings, w)
	r.setStatus(event.StatusWaiting, r.waitReason())
	return func() {
		err := regain()
		r.telling.Lock()
		defer r.telling.Unlock()
		r.waitings = slices.DeleteFunc(r.waitings, func(other *awaited) bool { return other == w })
		switch {
		case err != nil:
		case len(r.waitings) > 0:
			r.setStatus(event.StatusWaiting, r.waitReason())
		default:
			r.setStatus(event.StatusRunning, "")
		}
	}
}

// waitReason says what the run waits for: a person before its children, since that is what can be helped.
func (r *run) waitReason() string {
	var children []*run
	for _, w := range slices.Backward(r.waitings) {
		if w.children == nil {
			return w.reason
		}
		for _, child := range w.children {
			if !child.ended() && !slices.Contains(children, child) {
				children = append(children, child)
			}
		}
	}
	if len(children) == 0 { // they have ended just now
		return r.waitings[0].reason
	}
	return waitsFor(children)
}
