package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Proposal is a proposal as it is stored.
type Proposal struct {
	store.Proposal
	// Hunks are those that wait for the user or were settled lately, by file, then by place. A place is that of the
	// text which the process showed that has the session open.
	Hunks []workspace.Hunk
}

// Proposals returns what is stored of the proposals of a session that have hunks which wait for the user. A session
// that is not stored is an Error of the kind not_found. It reads the store.
func (h *Reader) Proposals(ctx context.Context, session event.SessionID) ([]Proposal, error) {
	if _, err := h.Session(ctx, session); err != nil {
		return nil, err
	}
	proposals, err := h.store.Proposals(ctx, session)
	if err != nil {
		return nil, fmt.Errorf("read the proposals of the session %s: %w", session, err)
	}
	rows, err := h.store.Hunks(ctx, session, "")
	if err != nil {
		return nil, fmt.Errorf("read the edits of the session %s: %w", session, err)
	}
	var list []Proposal
	for _, p := range proposals {
		stored := Proposal{Proposal: p}
		for _, row := range rows {
			if row.Proposal == p.ID {
				stored.Hunks = append(stored.Hunks, HunkOf(row))
			}
		}
		if slices.ContainsFunc(stored.Hunks, workspace.Hunk.Waits) {
			list = append(list, stored)
		}
	}
	return list, nil
}

// Hunks returns the stored hunks of a session in a state, or all of them for "". It reads the store.
func (h *Reader) Hunks(ctx context.Context, session event.SessionID,
	state event.ProposalState,
) ([]workspace.Hunk, error) {
	rows, err := h.store.Hunks(ctx, session, state)
	if err != nil {
		return nil, fmt.Errorf("read the edits of the session %s: %w", session, err)
	}
	list := make([]workspace.Hunk, len(rows))
	for i, row := range rows {
		list[i] = HunkOf(row)
	}
	return list, nil
}

// HunkOf is a row as a hunk.
func HunkOf(row store.Hunk) workspace.Hunk {
	return workspace.Hunk{
		ID: row.ID, Path: row.Path, State: row.State, StartLine: row.StartLine, EndLine: row.EndLine,
		Before: row.Before, After: row.After, Create: row.Create, Delete: row.Delete, MoveTo: row.MoveTo,
		Detail: row.Detail,
		Author: workspace.Author{Run: row.Run, Agent: row.Agent, Reason: row.Reason}, Stamp: workspace.Stamp(row.Stamp),
		Place: workspace.Place{StartLine: row.PlaceStart, EndLine: row.PlaceEnd, Above: row.Above, Below: row.Below},
	}
}
