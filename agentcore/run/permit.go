package run

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/network"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// gate is what decides on the calls of a run. Its methods may be called from any goroutine of the run.
type gate struct {
	*questions
	rights  authority.Rights
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
	switch decision.Action {
	case permission.Allow:
		g.allow(request.Paths)
		return "", nil
	case permission.Ask:
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

// editable returns why the run may not propose to change a file without a question, or nil. fix says that the change is
// the fix of a finding. Changes that come by another way than the edit tools are asked about by nobody: what would be
// asked for is left out, too.
func (g *gate) editable(path string, fix bool) error {
	paths, err := g.rights.Paths(path, true, nil)
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

// unrefused sets the outcome of a call that is refused, or cut off by the run's end, and reports true where it is
// neither.
func unrefused(refusal string, err error, status *event.CallStatus, text, summary *string) bool {
	switch {
	case err != nil:
		*status, *text, *summary = event.CallCancelled, "error: the call was cancelled", "cancelled"
	case strings.HasPrefix(refusal, "error: "): // it would fail, so nobody was asked
		*text, *summary = refusal, faultLine(strings.TrimPrefix(refusal, "error: "))
		*status = event.CallError
	case refusal != "":
		*status, *text, *summary = event.CallDenied, refusal, clip.FirstLine(strings.TrimPrefix(refusal, "denied: "))
	}
	return err == nil && refusal == ""
}

// deniedError is the error of a call that turned out to be denied while it was made.
type deniedError struct{ why, advice string }

func (e *deniedError) Error() string { return denied(permission.Decision{Advice: e.advice}, e.why) }

// denied is what the model is told of a call that may not be made: why, and what to do instead.
func denied(decision permission.Decision, why string) string {
	text := "denied: " + strings.TrimSuffix(why, ".")
	if decision.Advice != "" {
		text += ". " + strings.ToUpper(decision.Advice[:1]) + decision.Advice[1:]
	}
	return text
}

const (
	// maxDenials is of how many calls that were denied a child's result tells, maxDenial how much of each, in
	// characters.
	maxDenials = 10
	maxDenial  = 240
)

// noteDenial keeps what was not done, and why, for the run that started this one and for the user: a child ends well
// without it, and nobody would know. The advice that follows the reason is the child's own.
func (r *shared) noteDenial(c *call, refusal string) {
	why, _, _ := strings.Cut(strings.TrimPrefix(refusal, "denied: "), ". ")
	title := c.title
	if c.spec.Effect == tool.Delegates { // it begins with an agent's name
		title = "start " + title
	}
	r.addDenial("it was not allowed to " + title + ": " + why)
}

// noteForbidden keeps which changes of a command were left out, since a rule or the mode forbids them. The model reads
// that in the call's result. It returns them in a line, empty for none.
func (r *Run) noteForbidden(files []workspace.Taken) string {
	why, names, more := "", "", 0
	for _, file := range files {
		forbidden, ok := errors.AsType[*forbiddenError](file.Problem)
		switch {
		case !ok:
		case why == "":
			why, names = forbidden.reason, r.session.View.Shown(file.Path)
		default:
			more++
		}
	}
	if why == "" {
		return ""
	}
	if more > 0 {
		names += " and " + clip.Counted(more, "more file", "more files")
	}
	r.addDenial("it was not allowed to change " + names + " by a command: " + why)
	return names + ": " + why
}

// addDenial keeps one thing that was not allowed, once.
func (r *shared) addDenial(text string) {
	text = clip.Text(strings.Join(strings.Fields(text), " "), maxDenial)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.denials, text) {
		r.denials = append(r.denials, text)
	}
}

// denialWarnings are the denials for the run's result. The lock is held.
func (r *shared) denialWarnings() []string {
	list := r.denials
	if more := len(list) - maxDenials; more > 0 {
		list = append(slices.Clip(list[:maxDenials]), fmt.Sprintf("%d more calls were denied", more))
	}
	return list
}

// detailOf is the whole of what is asked for, as a person can check it. changes are those of the files that it edits.
func detailOf(request permission.Request, c *call, changes string) string {
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
	b.WriteString(changes)
	return strings.TrimSpace(b.String())
}
