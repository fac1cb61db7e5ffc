package run

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/network"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/servers"
	"github.com/agentls/agentls/agentcore/toolset"
	"github.com/agentls/agentls/agentcore/workspace"
)

// gate is what decides on the calls of a run. Its methods may be called from any goroutine of the run.
type gate struct {
	*questions
	rights  authority.Rights
	only    *permission.Policy // decides on the limited tools, of which its prompt leaves some calls; nil for none
	limited []string
	plan    *plan
	trusted func() bool
	network []string // the hosts that the configuration allows
	layer   func() *workspace.Layer
	// preview tries a call that proposes edits, and returns what it would change.
	preview func(c *call, paths []permission.Path) (string, error)
}

// permit decides whether a call may be made, and asks the user where the policy does not know. The refusal is for the
// model, empty where it may. The error is that of the run's context.
func (g *gate) permit(c *call) (refusal string, err error) {
	if refusal := g.plan.refuses(c.spec); refusal != "" {
		return refusal, nil
	}
	request, err := g.rights.Request(c.spec, c.access)
	if err != nil {
		// What cannot be found cannot be decided on: a call with no file to decide on would be allowed.
		return denied(permission.Decision{}, err.Error()), nil
	}
	if refusal, err := g.untrustedNow(request); refusal != "" || err != nil {
		return refusal, err
	}
	changed := g.external(c, &request)
	decision := c.narrowed(g.rights.Policy.Decide(request, g.rights.Grants()))
	if decision.Action != permission.Deny && slices.Contains(g.limited, request.Tool) {
		if kept := g.only.Decide(request, nil); kept.Action != permission.Allow {
			return denied(permission.Decision{Advice: "go on without it"},
				"the prompt that started this run keeps this tool for other calls alone ("+kept.Reason+")"), nil
		}
	}
	switch decision.Action {
	case permission.Allow:
		g.allow(request.Paths)
		return "", nil
	case permission.Ask:
		if c.unasked {
			return denied(decision, decision.Reason), nil
		}
		if changed != "" {
			decision.Reason = changed + "; " + decision.Reason
		}
		if refused := g.unreachable(request.Hosts); refused != nil {
			return denied(permission.Decision{Advice: refused.Hint()}, refused.Error()), nil
		}
		changes, err := g.preview(c, request.Paths)
		if err != nil {
			return "error: " + err.Error(), g.ctx.Err() // no answer would help
		}
		answer, err := g.askUser(c, decision, detailOf(request, c, changes))
		if err != nil {
			return "", err
		}
		if answer.Allow {
			return g.still(request)
		}
		why := answer.Reason
		if why == "" {
			why = "the user said no"
		}
		reason := strings.TrimPrefix(decision.Reason, ": ")
		if c.version != "" { // what it is decided by are hashes
			reason = strings.Replace(reason, " "+request.Call, "", 1)
		}
		return denied(decision, fmt.Sprintf("%s (%s)", why, reason)), nil
	}
	return denied(decision, decision.Reason), nil
}

// unreachable returns why one of the hosts of a call is refused whatever the user answers, or nil.
func (g *gate) unreachable(hosts []string) *network.Refusal {
	allowed, err := network.Parse(g.network)
	if err != nil {
		return nil // the connection itself tells what is wrong with the configuration
	}
	for _, host := range hosts {
		if refused := allowed.Refuses(host); refused != nil {
			return refused
		}
	}
	return nil
}

// still lets a call be made that the user has just allowed, unless the workspace lost its trust while the question was
// open.
func (g *gate) still(request permission.Request) (refusal string, err error) {
	if refusal, err := g.untrustedNow(request); refusal != "" || err != nil {
		return refusal, err
	}
	g.allow(request.Paths)
	return "", nil
}

// untrustedNow takes in what was decided meanwhile, in whatever process, so that it counts from this call on, and
// returns why the call may not even be decided on, or "". The error is that of the run's context.
func (g *gate) untrustedNow(request permission.Request) (refusal string, err error) {
	if err := g.decisions.Read(g.ctx); err != nil {
		if g.ctx.Err() != nil {
			return "", g.ctx.Err()
		}
		return denied(permission.Decision{Advice: "tell the user"}, err.Error()), nil
	}
	return g.untrusted(request), nil
}

// editable returns why the run may not propose to change a file without a question, or nil. judge is that of all the
// files which change at once, nil for one alone; fix says that the change is the fix of a finding. Changes that come by
// another way than the edit tools are asked about by nobody: what would be asked for is left out, too.
func (g *gate) editable(judge *workspace.Judge, path string, fix bool) error {
	if judge == nil {
		judge = g.rights.View.Judge(nil)
	}
	paths, err := g.rights.Paths(path, true, judge)
	if err != nil {
		return err
	}
	d := g.rights.Policy.Decide(permission.Request{Tool: "edit", Effect: permission.Propose, Paths: paths, Fix: fix},
		g.rights.Grants())
	switch d.Action {
	case permission.Allow:
		return nil
	case permission.Ask:
		return &workspace.FileError{
			Kind: workspace.Protected, Path: path, Detail: "needs a question: " + d.Reason,
			Hint: "make this change with the edit tools, which ask",
		}
	}
	return &forbiddenError{d.Reason, workspace.FileError{
		Kind: workspace.Protected, Path: path, Detail: "may not be changed: " + d.Reason, Hint: d.Advice,
	}}
}

// forbiddenError says that a rule or the mode of the run denies a change of a file.
type forbiddenError struct {
	reason  string
	problem workspace.FileError
}

func (e *forbiddenError) Error() string { return e.problem.Error() }

// Unwrap has the file's problem told as others are.
func (e *forbiddenError) Unwrap() error { return &e.problem }

// allow lets the run's layer at files that it refuses by itself: what looks like a secret or acts by itself. A policy
// allows those only where a rule or the user says so.
// Nothing else is let through, or a file that becomes a link to one of those later would be, too.
func (g *gate) allow(paths []permission.Path) {
	guarded := func(p permission.Path) bool { return p.Protected != "" || permission.Secret(filepath.ToSlash(p.Name)) }
	if !slices.ContainsFunc(paths, guarded) {
		return
	}
	for _, p := range paths { // a link and where it leads are two of them
		g.layer().Allow(p.Name)
	}
}

// permitted is permit as execute needs it: it sets the outcome of a call that may not be made.
func (g *gate) permitted(c *call, status *event.CallStatus, text, summary *string) bool {
	refusal, err := g.permit(c)
	return unrefused(refusal, err, status, text, summary)
}

// external makes a request for a call of a tool of an MCP server one on that version of the tool alone: what was
// allowed of it before it changed counts no more. Rules of the configuration name no version. changed says to the user
// why he is asked again; empty where it is the first time.
func (g *gate) external(c *call, request *permission.Request) (changed string) {
	t, ok := c.tool.(servers.Tool)
	if !ok {
		return ""
	}
	var news bool
	if c.version, request.Call, news = t.Decided(); news {
		return "the server has changed what it says of this tool since the run began"
	}
	for _, g := range g.rights.Grants() {
		if g.Tool == request.Tool && g.Decision == permission.Allow && g.Pattern != "" && g.Pattern != request.Call {
			return "what was allowed before was another version of this tool: the server has changed what it says of " +
				"it, or is another one"
		}
	}
	return ""
}

// untrusted returns why a command may not run in a workspace that the user does not trust, or "". It may not even in a
// full sandbox, since what it runs is the workspace's own.
func (g *gate) untrusted(request permission.Request) string {
	if request.Command == "" || g.trusted() {
		return ""
	}
	return denied(permission.Decision{Advice: toolset.WithoutCommands}, toolset.UntrustedCommands)
}
