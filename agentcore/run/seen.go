package run

import (
	"maps"
	"slices"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/workspace"
)

// What others may know of a run and do to it, from any goroutine.

// ID is the id of the run.
func (r *spec) ID() event.RunID { return r.id }

// In is the session that the run belongs to.
func (r *spec) In() *Session { return r.session }

// OfUser reports whether the user started the run, and no other run did.
func (r *spec) OfUser() bool { return r.parent == nil }

// Agent is the slug of the run's definition.
func (r *spec) Agent() string { return r.definition.Slug }

// Request is what the run was asked for.
func (r *spec) Request() Request { return r.request }

// Cancel ends the run and all below it, and returns at once. A run that has ended stays as it is.
func (r *resources) Cancel(cause error) { r.cancel(cause) }

// HandOver tells the run that it is time to hand over, as its clock does.
func (r *resources) HandOver() { r.stopWorking(errTimeout) }

// Done is closed when the run's end is durable.
func (r *resources) Done() <-chan struct{} { return r.done }

// Rights are what the run's calls may do.
func (r *resources) Rights() authority.Rights { return r.gate.rights }

// SaidPlan is the file of the plan that was the run's last word, about which the user was not asked; empty for none.
func (r *resources) SaidPlan() string { return r.plan.saidIn() }

// Unreviewed reports whether an open hunk of the run may be applied without the user's review. The mode of the run, and
// of all above it, must be accept_edits or bypass. The run must be allowed to change the hunk's files without a
// question, by more than a grant for one call, and the files must not instruct agents. It may read the disk.
func (r *resources) Unreviewed(h workspace.Hunk) bool {
	if mode := r.gate.rights.Policy.Mode(); mode != permission.AcceptEdits && mode != permission.Bypass {
		return false
	}
	if instructs(r.book, h.Path) || instructs(r.book, h.MoveTo) {
		return false // the user has to see a change of what agents are told
	}
	request := permission.Request{Tool: "edit", Effect: permission.Propose}
	judge := r.gate.rights.View.Judge(nil)
	for _, name := range []string{h.Path, h.MoveTo} {
		if name == "" {
			continue
		}
		paths, err := r.gate.rights.Paths(name, true, judge)
		if err != nil {
			return false // the user decides about a file that cannot be read
		}
		request.Paths = append(request.Paths, paths...)
	}
	return r.gate.rights.Policy.Decide(request, nil).Action == permission.Allow
}

// Touched are the files that the run proposed to change, as absolute paths. The run's goroutine may call it, or code
// that has seen the run's end.
func (r *conversation) Touched() []string { return slices.Collect(maps.Keys(r.touched)) }

// Transcript writes the run's conversation down for a model that sums it up, in about limit bytes. The run's goroutine
// may call it.
func (r *conversation) Transcript(limit int) string { return transcript(r.messages, limit) }
