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

// gate decides on the calls of a run. Its methods may be called from any goroutine of the run.
type gate struct {
	*questions
	rights  authority.Rights
	only    *permission.Policy // decides on the limited tools, of which its prompt leaves some calls; nil for none
	limited []string
	plan    *plan
	trusted func() bool
	network []string // the hosts that the configuration allows
	layer   func() *workspace.Layer
	// preview tries a call that proposes edits. It returns what the call would change.
	preview func(c *call, paths []permission.Path) (string, error)
}

// permit decides whether a call may be made. Where the policy leaves that open, it asks the user. The refusal is for
// the model, and empty where the call may be made. The error is that of the run's context.
func (g *gate) permit(c *call) (refusal string, err error) {
	if refusal := g.plan.refuses(c.spec); refusal != "" {
		return refusal, nil
	}
	request, err := g.rights.Request(c.spec, c.access)
	if err != nil {
		// A call whose files cannot be found is denied: with no file to decide on, it would be allowed.
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
			return "error: " + err.Error(), g.ctx.Err() // the call fails whatever the user answers
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
		if c.version != "" { // the request names the tool by hashes, which say nothing to a person
			reason = strings.Replace(reason, " "+request.Call, "", 1)
		}
		return denied(decision, fmt.Sprintf("%s (%s)", why, reason)), nil
	}
	return denied(decision, decision.Reason), nil
}

// unreachable returns why one of the hosts of a call is refused even if the user allows it, or nil.
func (g *gate) unreachable(hosts []string) *network.Refusal {
	allowed, err := network.Parse(g.network)
	if err != nil {
		return nil // the connection itself reports what is wrong with the configuration
	}
	for _, host := range hosts {
		if refused := allowed.Refuses(host); refused != nil {
			return refused
		}
	}
	return nil
}

// still checks a call again that the user has just allowed: the workspace may have lost its trust while the question
// was open.
func (g *gate) still(request permission.Request) (refusal string, err error) {
	if refusal, err := g.untrustedNow(request); refusal != "" || err != nil {
		return refusal, err
	}
	g.allow(request.Paths)
	return "", nil
}

// untrustedNow reads what was decided meanwhile in any process, so that it counts from this call on. It returns why the
// call may not even be decided on, or "". The error is that of the run's context.
func (g *gate) untrustedNow(request permission.Request) (refusal string, err error) {
	if err := g.decisions.Read(g.ctx); err != nil {
		if g.ctx.Err() != nil {
			return "", g.ctx.Err()
		}
		return denied(permission.Decision{Advice: "tell the user"}, err.Error()), nil
	}
	return g.untrusted(request), nil
}

// editable returns why the run may not propose to change a file without a question, or nil. judge is the one for all
// files that change together, nil for a file alone. fix says that the change is the fix of a finding. Nobody is asked
// about changes that do not come by the edit tools: where the user would have to be asked, the change is left out.
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

// forbiddenError says that a rule or the mode of the run forbids changing a file.
type forbiddenError struct {
	reason  string
	problem workspace.FileError
}

func (e *forbiddenError) Error() string { return e.problem.Error() }

// Unwrap makes the file's problem be reported as other problems are.
func (e *forbiddenError) Unwrap() error { return &e.problem }

// allow opens the run's layer for files that it refuses by itself: those that look like a secret, and those that
// programs act on. A policy allows such a file only where a rule or the user says so. No other file is opened: it could
// become a link to one of these later.
func (g *gate) allow(paths []permission.Path) {
	guarded := func(p permission.Path) bool { return p.Protected != "" || permission.Secret(filepath.ToSlash(p.Name)) }
	if !slices.ContainsFunc(paths, guarded) {
		return
	}
	for _, p := range paths { // a link and the file that it leads to are two of them
		g.layer().Allow(p.Name)
	}
}

// permitted is permit for execute: it sets the outcome of a call that may not be made, and reports false for it.
func (g *gate) permitted(c *call, status *event.CallStatus, text, summary *string) bool {
	refusal, err := g.permit(c)
	return unrefused(refusal, err, status, text, summary)
}

// external narrows a request for a call of an MCP server's tool to the tool's present version, so that what was allowed
// before the tool changed does not count. Rules of the configuration name no version. changed tells the user why he is
// asked again; it is empty the first time.
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

// untrusted returns why a command may not run in a workspace that the user does not trust, or "". A full sandbox does
// not help, since what the command runs is the workspace's own.
func (g *gate) untrusted(request permission.Request) string {
	if request.Command == "" || g.trusted() {
		return ""
	}
	return denied(permission.Decision{Advice: toolset.WithoutCommands}, toolset.UntrustedCommands)
}
