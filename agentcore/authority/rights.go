package authority

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/mcpname"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Rights decide on the calls of a run, or of an agent that does not run, since they need neither a model nor a layer.
// They do not change, and any goroutine may use them.
type Rights struct {
	Session   event.SessionID
	View      *workspace.View
	Policy    *permission.Policy
	Decisions *Decisions
	// Level is how well commands are kept apart. Its first call looks at the machine.
	Level func() permission.Level
	// Own are the rules of the run itself, without those of the runs above it.
	Own []permission.Layer
	// Bound are the boundaries of the runs that this run goes on with. They bind it, too.
	Bound []Boundary
	// Attached reports whether a file outside of the workspace may be read, such as one of a skill or a command's
	// output.
	Attached func(path string) bool
	// Pointed reports whether the user started the run, or the root above it, on a file. It is nil where nothing runs.
	Pointed func(path string) bool
}

// effects maps the effects of tools to those of policies.
var effects = map[tool.Effect]permission.Effect{
	tool.Reads: permission.Read, tool.Fetches: permission.Network, tool.Delegates: permission.Internal,
	tool.Notes:    permission.Internal,
	tool.Proposes: permission.Propose, tool.Asks: permission.Internal, tool.Acts: permission.External,
	tool.Executes: permission.Execute,
}

// Reach is the most that any call of a tool could be allowed, whatever its arguments.
func (r *Rights) Reach(spec tool.Spec) permission.Action {
	level := permission.None
	if spec.Effect == tool.Executes {
		level = r.Level()
	}
	return r.Policy.Reach(spec.Name, effects[spec.Effect], level, r.Grants())
}

// Request is a call as a policy sees it. The error says that a named file cannot exist, or that the tool does not
// declare what it reaches for, so that there would be nothing to decide on.
func (r *Rights) Request(spec tool.Spec, access *tool.Access) (permission.Request, error) {
	request := permission.Request{Tool: spec.Name, Effect: effects[spec.Effect]}
	if access == nil {
		return request, fmt.Errorf("the tool %s does not declare what it reaches for", spec.Name)
	}
	request.Call, request.Hosts = access.Call, access.Hosts
	switch {
	case access.Command != "":
		request.Command, request.Dir, request.Sandbox = access.Command, Home(r.View), r.Level()
	case spec.Effect == tool.Executes:
		request.Effect = permission.External // no rule on command lines fits it
	case spec.Effect == tool.Fetches && len(access.Hosts) == 0 && !access.Network:
		request.Effect = permission.Read // it reaches nothing, as its tool declares
	}
	var together []string
	for _, name := range access.Paths {
		if resolved, err := r.View.Resolve(name); err == nil && spec.Effect == tool.Proposes {
			together = append(together, resolved)
		}
	}
	judge := r.View.Judge(workspace.NewTogether(together...))
	for _, name := range access.Paths {
		paths, err := r.Paths(name, spec.Effect == tool.Proposes, judge)
		if err != nil {
			if spec.Effect == tool.Reads && r.Attached(name) {
				continue // the run may know the file although it lies outside
			}
			return request, err
		}
		request.Paths = append(request.Paths, paths...)
	}
	return request, nil
}

// Paths is a file as a policy sees it: its name, and the path that a link leads to. judge has judged the files that are
// written together with it.
func (r *Rights) Paths(name string, write bool, judge *workspace.Judge) ([]permission.Path, error) {
	resolved, err := r.View.Resolve(name)
	if err != nil {
		if !write && r.Attached(name) {
			return nil, nil // a file of a skill or a command's output, which the run may read
		}
		return nil, err
	}
	if !filepath.IsAbs(resolved) {
		return nil, nil // a document without a file
	}
	names := []string{resolved}
	if !r.View.Plain(resolved) {
		if real, err := filepath.EvalSymlinks(resolved); err == nil {
			if real = r.belowRoot(real); real != resolved {
				names = append(names, real)
			}
		}
	}
	paths := make([]permission.Path, len(names))
	for i, name := range names {
		paths[i] = permission.Path{Name: name, Write: write}
		if i > 0 {
			paths[i].Through = resolved
		}
		paths[i].Pointed = !write && r.Pointed != nil && r.Pointed(resolved)
		if write {
			paths[i].Protected, _ = judge.Protected(name)
			paths[i].Linked = linked(name)
		}
	}
	return paths, nil
}

// belowRoot is a path without links in terms of the workspace, where a workspace folder was itself opened through a
// link.
func (r *Rights) belowRoot(real string) string {
	for _, root := range r.View.Roots() {
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

// Within returns the policy of a run that is bound by the run above it, whose policy is nil for none, and by its own
// boundaries, one after the other.
func (r *Rights) Within(run event.RunID, above *permission.Policy, bounds ...Boundary) *permission.Policy {
	for _, b := range bounds {
		if above != nil {
			above = above.Child(run, b.Mode, b.Rules)
			continue
		}
		above = permission.New(permission.Setup{
			Layers: b.Rules, Mode: b.Mode, Session: r.Session, Run: run, Roots: r.View.Folders(), Home: UserHome(),
		})
	}
	return above
}

// Alone are the rights of an agent that is bound by no run above it.
func (r *Rights) Alone(d *agent.Definition, cfg *config.Config) Rights {
	alone := *r
	alone.Policy = r.Within("", nil, Boundary{ModeOf(d), Layers(d, cfg)})
	return alone
}

// Below are the rights of an agent that a run with these rights starts.
func (r *Rights) Below(d *agent.Definition, cfg *config.Config) Rights {
	below := *r
	mode := ModeOf(d)
	if d.Mode == agent.Planning {
		mode = permission.Plan
	}
	below.Policy = r.Within("", r.Policy, Boundary{mode, Layers(d, cfg)})
	return below
}

// Unsandboxed reports that commands run as if the user ran them.
func (r *Rights) Unsandboxed() bool { return r.Level() == permission.None }

// Grants are the grants that hold.
func (r *Rights) Grants() []permission.Grant { return r.Decisions.Hold() }

// MayRead reports whether a file that a search finds may be shown. It may not where a rule denies reading it or wants
// the user to be asked, or where the file looks like one with secrets.
func (r *Rights) MayRead(name, toolName string) bool { return r.WhyUnread(name, toolName) == "" }

// WhyUnread says why MayRead reports false, "" where it reports true.
func (r *Rights) WhyUnread(name, toolName string) string {
	if info, err := os.Lstat(name); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			return r.whyUnread(toolName, permission.Path{Name: name}, permission.Path{Name: real})
		}
	}
	return r.whyUnread(toolName, permission.Path{Name: name})
}

// MayReadPlain is MayRead for a file that was seen to be no symbolic link. It does not look at the disk.
func (r *Rights) MayReadPlain(name, toolName string) bool {
	return r.whyUnread(toolName, permission.Path{Name: name}) == ""
}

// whyUnread is WhyUnread for a file with all of its names.
func (r *Rights) whyUnread(toolName string, names ...permission.Path) string {
	grants, plain := r.Grants(), len(names) == 1 && !permission.Secret(filepath.ToSlash(names[0].Name))
	for _, t := range []string{"read", toolName} {
		if plain && r.Policy.ReadsFreely(t, grants) {
			continue
		}
		d := r.Policy.Decide(permission.Request{Tool: t, Effect: permission.Read, Paths: names}, grants)
		// Outside of the workspace, the user was asked about the call itself.
		if d.Action == permission.Deny || d.Action == permission.Ask && d.Rule != nil {
			return cmp.Or(d.Reason, "it may not be read")
		}
	}
	return ""
}

// Explain says how a call of one of the tools would be decided, by which rule of which layer, and what an "always"
// would allow. Nothing is run.
func (r *Rights) Explain(tools map[string]tool.Tool, toolName, subject string) (permission.Explanation, error) {
	name, ok := tool.Resolve(toolName)
	if !ok {
		name = toolName
	}
	if mcpname.Is(name) {
		// It does not matter whether the server has the tool, since a rule may name it.
		return r.Policy.Explain(permission.Request{Tool: name, Effect: permission.External}, r.Grants()), nil
	}
	t := tools[name]
	if t == nil {
		return permission.Explanation{}, fault.Missing("tool", toolName,
			"see the tools of an agent with `agentls agents show`")
	}
	spec := tool.Brief(t)
	access := spec.Subject.Access(subject)
	request, err := r.Request(spec, &access)
	if err != nil {
		return permission.Explanation{}, fmt.Errorf("find %q: %w", subject, err)
	}
	return r.Policy.Explain(request, r.Grants()), nil
}
