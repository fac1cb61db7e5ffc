package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/prompt"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/workspace"
)

// finish stores the end of the run, and waits until that is durable.
func (r *Run) finish(err error) {
	r.mu.Lock()
	r.finished = time.Now().UTC()
	r.result.DurationMs = r.finished.Sub(r.created).Milliseconds()
	r.result.Turns = r.turn
	r.last.BudgetUsed = r.budgetUsed(r.turn, 0)
	if r.result.Output == "" {
		r.result.Output = r.lastText
	}
	if err != nil {
		r.result.Status, r.result.Reason, r.result.Error = r.endBy(err)
	} else {
		r.result.Status = event.StatusCompleted
	}
	if r.reports() {
		r.readAnswer()
	}
	if len(r.touched) > 0 {
		r.result.Proposal = r.session.Board.ProposalID()
	}
	for _, path := range slices.Sorted(maps.Keys(r.touched)) {
		r.result.Files = append(r.result.Files, r.session.View.Relative(path))
	}
	if r.reports() {
		r.result.Result = r.childResult(r.session.View, r.touched)
	}
	r.result.Outcome = event.Outcome(r.result.Status, r.result.Reason, r.result.Result)
	result, tests := r.result, r.tests
	r.mu.Unlock()
	if tests.seen && r.parent != nil { // tests that a child ran are no invention of the run that tells of them
		r.parent.sawTests(tests)
	}
	if result.Status == event.StatusCompleted && result.Reason == "" {
		r.session.Board.ClearFormer(r.finder(), r.request.Context.covers)
	}
	if r.parent == nil && result.Status != event.StatusInterrupted {
		// where the process ends, it records itself in which state the session stays
		r.session.Ended(r)
	}
	commit := r.record(store.Batch{}, event.RunFinished{
		Status: result.Status, Reason: result.Reason, Result: result, Usage: result.Usage,
	})
	// The store answers every commit, also with an error; there is nothing to cancel here.
	if err := commit.Wait(context.Background()); err != nil {
		r.unstored(err)
	}
}

// endBy returns the status, the reason and the failure that a run ends with for the error of its work. A run that was
// cut off has not failed.
func (r *spec) endBy(err error) (event.Status, string, *event.Failure) {
	switch {
	case errors.Is(err, errTimeout):
		return event.StatusTimeout, "timeout", &event.Failure{
			Kind: "timeout", Detail: fmt.Sprintf("the run used up its %s", prompt.Duration(r.limits.Timeout)),
			Hint: "give it a smaller task, or a larger timeout in the agent's definition",
		}
	case errors.Is(err, ErrShutdown):
		return event.StatusInterrupted, "agentls was shut down", nil
	case errors.Is(err, fault.ErrCancelled), errors.Is(err, context.Canceled):
		return event.StatusCancelled, "cancelled", nil
	}
	failure := fault.Explain(err)
	return event.StatusFailed, failure.Kind, &failure
}

// unstored marks a run as failed whose end could not be stored, and tells the surfaces of this process.
func (r *Run) unstored(err error) {
	failure := fault.Explain(fault.Unstored(err))
	r.mu.Lock()
	r.result.Status, r.result.Reason, r.result.Error = event.StatusFailed, failure.Kind, &failure
	r.result.Outcome = event.ChildStatusFailed
	result := r.result
	r.mu.Unlock()
	r.process.Unsaved(event.Event{
		Session: r.session.ID, Run: r.id, Time: time.Now().UTC(),
		Body: event.RunFinished{Status: result.Status, Reason: result.Reason, Result: result, Usage: result.Usage},
	})
}

// collision says which edit was left out.
func collision(name string, c workspace.Conflict) string {
	return fmt.Sprintf("%s: an edit of lines %d to %d collides with another change and was left out", name,
		c.StartLine+1, c.EndLine)
}

// lastMerge is mergeLayer at the run's end. Where a run was stopped while the editor applies hunks, what cannot be
// merged is dropped; where the engine ends, it stays in the store for the next process.
func (r *Run) lastMerge() error {
	if r.mergeLayer() {
		return nil
	}
	if errors.Is(context.Cause(r.ctx), ErrShutdown) {
		r.notice(event.NoticeWarning,
			"the edits of its last turn wait for the next start, since agentls was shut down while the editor "+
				"applied others", "")
		return nil
	}
	r.notice(event.NoticeWarning,
		"the edits of its last turn were left out, since it was stopped while the editor applied others",
		"run the agent again if they are still wanted")
	r.stored.Drop()
	return nil
}

// mergeLayer merges the run's edits into its parent's layer, or into the session's, where they become hunks. It reports
// false where the run was stopped while it waited for the editor to apply other hunks.
func (r *Run) mergeLayer() bool {
	changes := r.layer.Changes()
	if len(changes) == 0 && len(r.layer.Saved()) == 0 {
		return true
	}
	for _, c := range changes {
		r.touched[c.Path] = c.Before == nil || r.touched[c.Path]
	}
	var report workspace.MergeReport
	var err error
	merge := func() { report, err = r.layer.Merge() }
	if r.parent != nil {
		merge()
	} else if !r.session.UnlessHeld(r.ctx, merge) {
		return false
	}
	r.process.Crash.Reach(crash.Merging)
	r.stored.SaveMerge()
	if err != nil {
		r.notice(event.NoticeError, "the proposed edits could not be merged: "+err.Error(), "run the agent again")
		return true
	}
	for _, c := range report.Conflicts {
		r.collides(r.definition.Slug, r.session.View.Shown(c.Path), c)
		r.notice(event.NoticeWarning, collision(r.session.View.Shown(c.Path), c),
			"run the agent again on the text as it is now")
	}
	if len(report.Hunks) > 0 {
		r.session.Board.LinkHunks()
	}
	return true
}
