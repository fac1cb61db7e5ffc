package run

import (
	"maps"
	"slices"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/workspace"
)

// What others may know of a run, and do to it, from any goroutine.

// ID is the run's.
func (r *spec) ID() event.RunID { return r.id }

// In is the session that the run belongs to.
func (r *spec) In() *Session { return r.session }

// OfUser reports whether the user started the run, and no other run did.
func (r *spec) OfUser() bool { return r.parent == nil }

// Agent is the slug of the run's definition.
func (r *spec) Agent() string { return r.definition.Slug }

// Request is what was asked for.
func (r *spec) Request() Request { return r.request }

// Cancel ends the run and all below it; an ended run stays as it is. It returns at once.
func (r *resources) Cancel(cause error) { r.cancel(cause) }

// HandOver makes it time for the run to hand over, as its clock does once what is left of the time is kept for that.
func (r *resources) HandOver() { r.stopWorking(errTimeout) }

// Done is closed when the run's end is durable.
func (r *resources) Done() <-chan struct{} { return r.done }

// Rights are what the run's calls may do.
func (r *resources) Rights() authority.Rights { return r.gate.rights }

// SaidPlan is the file of the plan that was the run's last word, about which the user was not asked; empty for none.
func (r *resources) SaidPlan() string { return r.plan.saidIn() }

// Unreviewed reports whether an open hunk of the run may be applied without the user's review: the mode of the run, and
// of all above it, is accept_edits or bypass, and the hunk's files are such as the run may change without being asked,
// whatever was granted for one call, and instruct no agent. It may read the disk.
func (r *resources) Unreviewed(h workspace.Hunk) bool {
	if mode := r.gate.rights.Policy.Mode(); mode != permission.AcceptEdits && mode != permission.Bypass {
		return false
	}
	if instructs(r.book, h.Path) || instructs(r.book, h.MoveTo) {
		return false // what agents are told from now on is for the user to see
	}
	request := permission.Request{Tool: "edit", Effect: permission.Propose}
	judge := r.gate.rights.View.Judge(nil)
	for _, name := range []string{h.Path, h.MoveTo} {
		if name == "" {
			continue
		}
		paths, err := r.gate.rights.Paths(name, true, judge)
		if err != nil {
			return false // what cannot be looked at is the user's to decide
		}
		request.Paths = append(request.Paths, paths...)
	}
	return r.gate.rights.Policy.Decide(request, nil).Action == permission.Allow
}

// Touched are the files that the run proposed to change, absolute. The run's goroutine may call it, and whoever saw the
// run's end.
func (r *conversation) Touched() []string { return slices.Collect(maps.Keys(r.touched)) }

// Transcript writes the run's conversation down for somebody who sums it up, in about limit bytes. The run's goroutine
// may call it.
func (r *conversation) Transcript(limit int) string { return transcript(r.messages, limit) }
