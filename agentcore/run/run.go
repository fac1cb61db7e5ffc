package run

import (
	"context"

	"github.com/agentls/agentls/agentcore/event"
)

// live is the run from its first to its last event.
func (r *Run) live() {
	err := r.guarded("the run", r.work)
	r.request.at.Drop()
	r.tasks.inbox.shut()
	r.tasks.end(errStarterEnded)
	r.closeCommands()
	if merge := r.guarded("the merge of its edits", r.lastMerge); err == nil {
		err = merge
	}
	if err != nil && r.ctx.Err() != nil {
		err = context.Cause(r.ctx) // what it died of, not where
	}
	r.finish(err)
}

// stopped is the cause where the run, or one above it, was stopped. Its own context ends a moment after theirs, in
// which it may have been given the place that they left.
func (r *Run) stopped() error {
	for above := r; above != nil; above = above.parent {
		if above.ctx.Err() != nil {
			return context.Cause(above.ctx)
		}
	}
	return nil
}

// work waits for a place and does what the run is for.
func (r *Run) work() error {
	if r.parent != nil {
		if err := r.place.take(r.ctx, r.request.at); err != nil {
			return err
		}
		defer r.place.leave()
		if err := r.stopped(); err != nil {
			return err
		}
	}
	r.setStatus(event.StatusRunning, "")
	r.clock.begin(r.clock.allowed(r.limits.Timeout), func() { r.stopWorking(errTimeout) }, func() { r.cancel(errTimeout) })
	defer r.clock.end()
	if err := r.startHooks(); err != nil {
		return err
	}
	if r.parent == nil {
		r.tellWithheld()
	}
	if len(r.request.Each) > 0 {
		return r.fanOut()
	}
	do := r.converse
	if r.request.iterates() {
		do = r.iterate
	} else if err := r.startServers(); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	r.takeComment()
	if !r.request.iterates() { // its passes have plans
		r.keepPlan()
	}
	return nil
}
