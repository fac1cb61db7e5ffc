package board

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// AdoptedUndos is how many accepted hunks of ended sessions a session takes over.
	AdoptedUndos = 1000
	// storedHunks is how many settled hunks of a session are kept in the store, and boundEvery after how many more the
	// others are removed.
	storedHunks, boundEvery = 2000, 100
)

// Hunks returns the hunks of the proposal that may be shown, in the order of their paths and lines: one that
// waits for the user is there once it would survive a crash.
func (b *Board) Hunks() []workspace.Hunk {
	hunks := b.proposal.Hunks()
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(hunks, func(h workspace.Hunk) bool {
		_, durable := b.durable[h.ID]
		return h.Waits() && !durable
	})
}

// hunksChanged stores hunks whose state, text or place changed, and tells about it. The workspace
// calls it without locks, possibly on the goroutine that follows the editor's typing.
func (b *Board) hunksChanged(changed []workspace.Hunk) {
	if len(changed) == 0 {
		return
	}
	states := workspace.Tally(b.proposal)
	open, conflict := states[event.StateOpen], states[event.StateConflict]
	state := event.StateOpen
	switch {
	case open+conflict > 0:
	case states[event.StateAccepted] > 0:
		state = event.StateAccepted
	default:
		state = event.StateRejected
	}
	uris := map[string]bool{}
	now := time.Now().UTC()
	batch := store.Batch{Committed: func() { b.hunksStored(changed) }}
	last := changed[len(changed)-1].Author
	title := b.title()
	settled := 0
	for _, h := range changed {
		uris[event.FileURI(h.Path)] = true
		batch.Hunks = append(batch.Hunks, b.hunkRow(h, now))
		if !h.Waits() {
			settled++
		}
	}
	b.mu.Lock()
	b.proposing = last
	if b.unbounded += settled; b.unbounded >= boundEvery {
		b.unbounded = 0
		batch.HunksBounded = []store.HunkBound{{Proposal: b.id, Keep: storedHunks}}
	}
	b.mu.Unlock()
	batch.Proposals = []store.Proposal{{
		ID: b.id, Session: b.events.Session, Run: last.Run, Agent: last.Agent, Title: title,
		State: state, Created: now, Updated: now,
	}}
	b.events.SubmitNow(batch, last.Run, event.ProposalChanged{
		Proposal: b.id, State: state, URIs: slices.Sorted(maps.Keys(uris)), Open: open,
		Conflict: conflict,
	})
}

// hunksStored notes which hunks would survive a crash. It runs on the store's goroutine.
func (b *Board) hunksStored(hunks []workspace.Hunk) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range hunks {
		if h.Waits() {
			b.durable[h.ID] = struct{}{}
		} else {
			delete(b.durable, h.ID)
		}
	}
}

// hunkRow is a hunk as it is stored.
func (b *Board) hunkRow(h workspace.Hunk, now time.Time) store.Hunk {
	return store.Hunk{
		ID: h.ID, Proposal: b.id, Path: h.Path, State: h.State,
		StartLine: h.StartLine, EndLine: h.EndLine, Before: h.Before, After: h.After,
		Create: h.Create, Delete: h.Delete, MoveTo: h.MoveTo, Detail: h.Detail,
		PlaceStart: h.Place.StartLine, PlaceEnd: h.Place.EndLine, Above: h.Place.Above, Below: h.Place.Below,
		Stamp: string(h.Stamp),
		Run:   h.Author.Run, Agent: h.Author.Agent, Reason: h.Author.Reason, Created: now, Updated: now,
	}
}

// storePlaces stores where the hunks stand by now, which is not done at every key, so that another process finds them
// at once.
func (b *Board) storePlaces() {
	var batch store.Batch
	now := time.Now().UTC()
	for i, h := range b.proposal.Left() {
		// The times keep the order in which hunks were accepted.
		batch.Hunks = append(batch.Hunks, b.hunkRow(h, now.Add(time.Duration(i)*time.Microsecond)))
	}
	if len(batch.Hunks) > 0 {
		b.events.Submit(batch, "")
	}
}

// Undoable returns the accepted hunks of a run and of the runs below it, also of a former process, that can be undone
// or are in conflict (see [workspace.Proposal.Accepted]).
func (b *Board) Undoable(ctx context.Context, run event.RunID) ([]workspace.Hunk, error) {
	own, shared, err := authored(ctx, b, b.proposal.Accepted(), run)
	for _, h := range shared {
		last, err := b.isOf(ctx, h.Author.Run, []event.RunID{run}, map[event.RunID]event.RunID{})
		if err != nil {
			return nil, err
		}
		if last {
			own = append(own, h)
		}
	}
	return own, err
}

// Of returns the hunks that wait for the user and that runs, or the runs below them, have written: all of it, or only a
// part of it.
func (b *Board) Of(ctx context.Context, runs ...event.RunID) (own, shared []workspace.Hunk, err error) {
	waiting := slices.DeleteFunc(b.proposal.Hunks(), func(h workspace.Hunk) bool { return !h.Waits() })
	return authored(ctx, b, waiting, runs...)
}

// AcceptedOf is [Board.Of] for accepted hunks that can be undone or are in conflict.
func (b *Board) AcceptedOf(ctx context.Context, runs ...event.RunID) (own, shared []workspace.Hunk, err error) {
	return authored(ctx, b, b.proposal.Accepted(), runs...)
}

// authored returns the hunks that runs, or those below them, have written, and apart those into which others wrote,
// too.
func authored(ctx context.Context, b *Board, hunks []workspace.Hunk, runs ...event.RunID,
) (own, shared []workspace.Hunk, err error) {
	parents := map[event.RunID]event.RunID{}
	for _, h := range hunks {
		wrote, others := false, false
		for _, run := range h.Runs {
			is, err := b.isOf(ctx, run, runs, parents)
			if err != nil {
				return nil, nil, err
			}
			wrote, others = wrote || is, others || !is
		}
		switch {
		case wrote && !others:
			own = append(own, h)
		case wrote:
			shared = append(shared, h)
		}
	}
	return own, shared, nil
}

// UndoableRuns returns the runs with accepted hunks that can be undone, also of former processes, the latest first.
// They are roots: what their children did is undone with them. A run whose session was deleted is not among them.
func (b *Board) UndoableRuns(ctx context.Context) ([]history.Run, error) {
	seen := map[event.RunID]bool{}
	var list []history.Run
	for _, h := range b.proposal.Accepted() {
		if h.State != event.StateOpen {
			continue
		}
		id := h.Author.Run
		for id != "" && !seen[id] {
			seen[id] = true
			row, err := b.events.Store.Run(ctx, id)
			if errors.Is(err, store.ErrNotFound) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("read the run of an accepted edit: %w", err)
			}
			if row.Parent == "" {
				list = append(list, history.RunOf(row))
			}
			id = row.Parent
		}
	}
	slices.SortFunc(list, func(a, b history.Run) int { return b.Created.Compare(a.Created) })
	return list, nil
}

// isOf reports whether a run is one of some, or was made by one of them or by one below it.
func (b *Board) isOf(ctx context.Context, run event.RunID, some []event.RunID,
	parents map[event.RunID]event.RunID,
) (bool, error) {
	for _, ancestor := range some {
		if run == ancestor {
			return true, nil
		}
		if below, err := b.isBelow(ctx, run, ancestor, parents); below || err != nil {
			return below, err
		}
	}
	return false, nil
}

// isBelow reports whether a run was made by another one, or by one below it. parents remembers what was read.
func (b *Board) isBelow(ctx context.Context, run, ancestor event.RunID,
	parents map[event.RunID]event.RunID,
) (bool, error) {
	for run != "" {
		parent, known := parents[run]
		if !known {
			row, err := b.events.Store.Run(ctx, run)
			switch {
			case errors.Is(err, store.ErrNotFound): // its session was deleted
			case err != nil:
				return false, fmt.Errorf("read the run of an accepted edit: %w", err)
			}
			parent = row.Parent
			parents[run] = parent
		}
		if parent == ancestor {
			return true, nil
		}
		run = parent
	}
	return false, nil
}

// Undecided reports whether the proposal has hunks that wait for the user: open ones, or such in conflict.
func (b *Board) Undecided() bool {
	return slices.ContainsFunc(b.proposal.Hunks(), workspace.Hunk.Waits)
}

// Proposing returns the run and agent behind the newest hunks.
func (b *Board) Proposing() (event.RunID, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.proposing.Run, b.proposing.Agent
}

// Reject closes hunks without applying them.
func (b *Board) Reject(ctx context.Context, ids []event.HunkID) ([]workspace.HunkFailure, error) {
	failed := b.proposal.Reject(ids)
	if err := b.events.Store.Submit(store.Batch{}).Wait(ctx); err != nil {
		return failed, fmt.Errorf("store the rejected hunks: %w", err)
	}
	return failed, nil
}
