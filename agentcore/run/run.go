package run

import (
	"context"

	"github.com/agentls/agentls/agentcore/event"
)

// engine carries a run from its start to its last word. It works through the run: calls, questions, edits and their
// events are the same for each engine.
type engine interface {
	// carry returns when the last word is spoken. The error says why there is none, or is that of the run's context.
	carry() error
}

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
		err = context.Cause(r.ctx) // the cause of the end, not the call that noticed it
	}
	r.finish(err)
}

// stopped returns the cause where the run, or one above it, was stopped. The run's own context ends a moment after
// theirs, and in that moment the run may have been given the place that they left.
func stopped(r *Run) error {
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
		if err := stopped(r); err != nil {
			return err
		}
	}
	r.setStatus(event.StatusRunning, "")
	r.clock.begin(r.clock.allowed(r.limits.Timeout), func() { r.stopWorking(errTimeout) },
		func() { r.cancel(errTimeout) })
	defer r.clock.end()
	if err := r.startHooks(); err != nil {
		return err
	}
	if r.parent == nil {
		r.tellWithheld()
	}
	var carries engine = &loop{Run: r}
	switch {
	case len(r.request.Each) > 0:
		return fan{r}.carry() // such a run has children to do the rest
	case r.request.iterates():
		carries = iteration{r}
	case r.request.Remember != "":
		carries = memo{r}
	case r.definition.IsProgram():
		carries = newForeign(r)
	default:
		if err := r.startServers(); err != nil {
			return err
		}
		if err := runCommands(r); err != nil {
			return err
		}
	}
	if err := carries.carry(); err != nil {
		return err
	}
	r.takeComment()
	if !r.request.iterates() { // the passes of an iterated run have the plans
		r.keepPlan()
	}
	return nil
}
