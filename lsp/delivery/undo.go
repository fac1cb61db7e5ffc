package delivery

import (
	"context"
	"fmt"
	"slices"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/remark"
	"github.com/agentls/agentls/lsp/short"
)

// Undo answers `agent/undo`.
func (d *Desk) Undo(ctx context.Context, p *methods.UndoParams) (*methods.AcceptResult, error) {
	session, err := d.Kept(ctx)
	if err != nil {
		return nil, err
	}
	if session == nil {
		return nil, nothingToUndo(p.Run)
	}
	undoable, err := session.Board().Undoable(ctx, p.Run)
	if err != nil {
		return nil, err
	}
	ids := slices.Clone(p.Hunks)
	if len(ids) == 0 {
		for _, h := range undoable {
			ids = append(ids, h.ID)
		}
	}
	// Edits of another run must not be undone by mistake. An edit that can no longer be undone fails with its reason.
	var foreign []event.HunkID
	for _, h := range session.Board().Proposal().Accepted() {
		if slices.Contains(ids, h.ID) &&
			!slices.ContainsFunc(undoable, func(own workspace.Hunk) bool { return own.ID == h.ID }) {
			foreign = append(foreign, h.ID)
		}
	}
	ids = slices.DeleteFunc(ids, func(id event.HunkID) bool { return slices.Contains(foreign, id) })
	if len(ids)+len(foreign) == 0 {
		return nil, nothingToUndo(p.Run)
	}
	a := &acceptance{decision: undoing{session.Board().Proposal()}, session: session, left: uniqueHunks(ids)}
	for _, id := range foreign {
		a.fail(id, fmt.Sprintf("it is an edit of another run than %s", p.Run))
	}
	if len(a.left) == 0 {
		return &a.result, nil
	}
	return d.carryOut(ctx, a)
}

func nothingToUndo(run event.RunID) error {
	return &fault.Error{
		Kind: fault.NotFound, Detail: fmt.Sprintf("no accepted edit of the run %q can be undone", run),
		Hint: "only accepted edits can be, the last thousand of this workspace; an edit that is still open is " +
			"rejected with agent/proposal/reject",
	}
}

// undoing is the decision to take accepted hunks back.
type undoing struct{ proposal *workspace.Proposal }

func (d undoing) edits(ids []event.HunkID) ([]workspace.FileEdit, []workspace.HunkFailure) {
	return d.proposal.UndoEdits(ids)
}

func (d undoing) confirm(ids []event.HunkID, applied bool, reason string) {
	d.proposal.ConfirmUndo(ids, applied, reason)
}

func (d undoing) outcome(id event.HunkID) (outcome, string) {
	if h, known := d.proposal.Hunk(id); !known || h.State != event.StateAccepted {
		return outcomeMade, ""
	}
	for _, h := range d.proposal.Accepted() {
		if h.ID != id {
			continue
		}
		if h.State == event.StateConflict {
			return outcomeFailed, "it was not undone: " + h.Detail
		}
		return outcomeOpen, ""
	}
	return outcomeFailed, "it cannot be undone any more"
}

func (d undoing) label(edits []workspace.FileEdit) string {
	count := 0
	for _, e := range edits {
		count += max(1, len(e.Edits))
	}
	return "undo " + short.Count(count, "edit")
}

// UndoActions take back accepted edits: those on the lines, one by one, and all edits of their agent in the file.
func (d *Desk) UndoActions(session *agentcore.Session, path string, x *workspace.Index, first, last int) []menu.Action {
	if !d.Client.AppliesEdits() {
		return nil
	}
	var list []menu.Action
	inFile := map[event.RunID][]event.HunkID{}
	agents := map[event.RunID]string{}
	var touched []event.RunID
	for _, h := range session.Board().Proposal().Accepted() {
		if h.Path != path || h.State != event.StateOpen {
			continue
		}
		inFile[h.Author.Run] = append(inFile[h.Author.Run], h.ID)
		agents[h.Author.Run] = remark.Agent(h.Author)
		if from, to := remark.Lines(h, x); !position.Overlap(from, to, first, last) {
			continue
		}
		what := "this edit"
		switch {
		case h.Delete:
			what = "the new file"
		case h.MoveTo != "":
			what = "the rename"
		}
		list = append(list, menu.Action{
			Title:   "agentls: Undo " + what + " of " + remark.Agent(h.Author) + remark.Because(h.Author.Reason),
			Kind:    menu.KindUndo,
			Command: methods.CommandUndo, Argument: methods.UndoParams{Run: h.Author.Run, Hunks: []event.HunkID{h.ID}},
		})
		if !slices.Contains(touched, h.Author.Run) {
			touched = append(touched, h.Author.Run)
		}
	}
	for _, run := range touched {
		if len(inFile[run]) > 1 {
			list = append(list, menu.Action{
				Title: fmt.Sprintf("agentls: Undo everything %s did in this file (%d)", agents[run],
					len(inFile[run])),
				Kind:    menu.KindUndo,
				Command: methods.CommandUndo, Argument: methods.UndoParams{Run: run, Hunks: inFile[run]},
			})
		}
	}
	return list
}
