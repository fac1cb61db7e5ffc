package delivery

import (
	"context"
	"fmt"
	"slices"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/board"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/methods"
)

// Rewind answers `agent/rewind`: it rejects what the runs after a prompt proposed, and takes back what was accepted of
// it as [Desk.Undo] does. The conversations stay as they are; their runs are noted as gone back behind.
func (d *Desk) Rewind(ctx context.Context, p *methods.RewindParams) (*methods.RewindResult, error) {
	session, err := d.Kept(ctx)
	if err != nil {
		return nil, err
	}
	engine, err := d.Open(ctx)
	if err != nil {
		return nil, err
	}
	line, before, err := engine.History().Line(ctx, p.Run)
	if err != nil {
		return nil, err
	}
	result := &methods.RewindResult{After: before}
	for _, r := range line {
		if !r.Status.Final() {
			return nil, underWay(r)
		}
		result.Runs = append(result.Runs, r.ID)
	}
	if session != nil {
		if err := d.rewind(ctx, session, result); err != nil {
			return result, err
		}
	}
	return result, agentcore.SetRewound(ctx, engine, true, result.Runs...)
}

func underWay(r history.Run) error {
	return &fault.Error{
		Kind:   fault.NotAllowed,
		Detail: fmt.Sprintf("%s (%s) is still running, so nobody can go back to before it", r.Agent, r.ID),
		Hint:   "stop it first, or wait for its end",
	}
}

// rewind takes back what the runs of a result did.
func (d *Desk) rewind(ctx context.Context, session *agentcore.Session, result *methods.RewindResult) error {
	open, shared, err := session.Board().Of(ctx, result.Runs...)
	if err != nil {
		return err
	}
	accepted, both, err := session.Board().AcceptedOf(ctx, result.Runs...)
	if err != nil {
		return err
	}
	for _, h := range slices.Concat(shared, both) {
		result.Failed = append(result.Failed, methods.HunkFailure{
			Hunk: h.ID, Reason: "a run before the prompt wrote a part of it; decide about it by itself",
		})
	}
	defer workspace.Rewinding(session.Board().Proposal(), workspace.IDs(slices.Concat(accepted, open)))()
	// Accepted hunks are taken back first: open hunks follow the text, and would be in conflict with what is taken
	// back.
	if len(accepted) > 0 {
		a := &acceptance{decision: undoing{session.Board().Proposal()}, session: session, left: workspace.IDs(accepted)}
		undone, err := d.carryOut(ctx, a)
		if err != nil {
			return err
		}
		result.Undone, result.Failed = undone.Applied, append(result.Failed, undone.Failed...)
	}
	if len(open) == 0 {
		return nil
	}
	ids := workspace.IDs(open)
	failures, err := session.Board().Reject(ctx, ids)
	if err != nil {
		return err
	}
	for _, f := range failures {
		result.Failed = append(result.Failed, methods.HunkFailure{Hunk: f.ID, Reason: f.Reason})
	}
	result.Rejected = slices.DeleteFunc(ids, func(id event.HunkID) bool {
		return slices.ContainsFunc(failures, func(f workspace.HunkFailure) bool { return f.ID == id })
	})
	return nil
}

// Restore answers `agent/restore`: it proposes again what was gone back behind of the runs after a prompt.
func (d *Desk) Restore(ctx context.Context, p *methods.RestoreParams) (*methods.RestoreResult, error) {
	if _, err := d.Kept(ctx); err != nil {
		return nil, err
	}
	engine, err := d.Open(ctx)
	if err != nil {
		return nil, err
	}
	line, _, err := engine.History().Line(ctx, p.Run)
	if err != nil {
		return nil, err
	}
	result := &methods.RestoreResult{}
	for _, r := range line {
		result.Runs = append(result.Runs, r.ID)
	}
	session, err := d.Current(ctx) // a former session may have left nothing else
	if err != nil {
		return nil, err
	}
	hunks, failures, err := board.BringBack(ctx, session.Board(), result.Runs...)
	if err != nil {
		return nil, err
	}
	if len(hunks)+len(failures) == 0 {
		return nil, nothingToRestore(p.Run)
	}
	for _, h := range hunks {
		if h.State == event.StateOpen {
			result.Proposed = append(result.Proposed, h.ID)
			continue
		}
		failures = append(failures, workspace.HunkFailure{
			ID: h.ID, Reason: fmt.Sprintf("it is in the state %s: %s", h.State, h.Detail),
		})
	}
	for _, f := range failures {
		result.Failed = append(result.Failed, methods.HunkFailure{Hunk: f.ID, Reason: f.Reason})
	}
	return result, agentcore.SetRewound(ctx, engine, false, result.Runs...)
}

func nothingToRestore(run event.RunID) error {
	return &fault.Error{
		Kind:   fault.NotFound,
		Detail: fmt.Sprintf("no edit of the run %q was gone back behind that could be brought back", run),
		Hint: "only what agent/rewind has rejected or taken back can be; where another window did that, bring it back " +
			"there, or close that one",
	}
}
