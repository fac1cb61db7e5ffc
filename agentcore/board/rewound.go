package board

import (
	"context"
	"fmt"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/workspace"
)

// BringBack proposes again what was [workspace.Rewound] of these runs and the runs below them, also in a former
// process, and returns those hunks as they are now, and why others stay away. It waits until that is durable. It may be
// called from any goroutine.
func BringBack(ctx context.Context, b *Board, runs ...event.RunID) ([]workspace.Hunk, []workspace.HunkFailure, error) {
	rows, err := b.events.Store.Retake(ctx, rowOf(b), b.view.Folders(), workspace.Rewound, runs)
	if err != nil {
		return nil, nil, fmt.Errorf("read what was gone back behind: %w", err)
	}
	var again, now []workspace.Hunk
	var failures []workspace.HunkFailure
	for _, row := range rows {
		h := history.HunkOf(row)
		if own, ok := b.proposal.Hunk(h.ID); ok { // its text is not redacted
			own.Stamp, own.Place = h.Stamp, h.Place
			h = own
		} else if secret.Holds(row.After) {
			failures = append(failures, workspace.HunkFailure{ID: h.ID, Reason: unstored})
			continue
		}
		again = append(again, h)
	}
	workspace.Reopen(b.proposal, again)
	if err := b.events.Store.Submit(store.Batch{}).Wait(ctx); err != nil {
		return nil, nil, fmt.Errorf("store what is proposed again: %w", err)
	}
	for _, h := range again {
		if h, ok := b.proposal.Hunk(h.ID); ok {
			now = append(now, h)
		}
	}
	return now, failures, nil
}

// rowOf is the row of a board's proposal in the store while that is open.
func rowOf(b *Board) store.Proposal {
	now := time.Now().UTC()
	return store.Proposal{
		ID: b.id, Session: b.events.Session, Title: b.title(), State: event.StateOpen, Created: now, Updated: now,
	}
}
