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
	// storedHunks is how many settled hunks of a session the store keeps. After every boundEvery further ones, the
	// oldest are removed.
	storedHunks, boundEvery = 2000, 100
)

// Hunks returns the hunks of the proposal that may be shown, in the order of their paths and lines. A hunk that waits
// for the user is shown once it would survive a crash.
func (b *Board) Hunks() []workspace.Hunk {
	hunks := b.proposal.Hunks()
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(hunks, func(h workspace.Hunk) bool {
		_, durable := b.durable[h.ID]
		return h.Waits() && !durable
	})
}

// hunksChanged stores and publishes hunks whose state, text or place has changed. The workspace calls it without locks,
// possibly on the goroutine that follows the editor's typing.
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

// hunkRow is the row of a hunk in the store.
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

// storePlaces stores the present places of the hunks, so that another process finds them at once. This is not done at
// every keystroke.
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

// Of returns the hunks that wait for the user and were written by these runs or the runs below them: own by them alone,
// shared by others, too.
func (b *Board) Of(ctx context.Context, runs ...event.RunID) (own, shared []workspace.Hunk, err error) {
	waiting := slices.DeleteFunc(b.proposal.Hunks(), func(h workspace.Hunk) bool { return !h.Waits() })
	return authored(ctx, b, waiting, runs...)
}

// AcceptedOf is [Board.Of] for accepted hunks that can be undone or are in conflict.
func (b *Board) AcceptedOf(ctx context.Context, runs ...event.RunID) (own, shared []workspace.Hunk, err error) {
	return authored(ctx, b, b.proposal.Accepted(), runs...)
}

// authored splits the hunks that these runs, or those below them, have written: own by them alone, shared by others,
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

// UndoableRuns returns the runs with accepted hunks that can be undone, also runs of former processes, the latest
// first. They are roots, since the edits of children are undone with them. A run whose session was deleted is left out.
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

// isOf reports whether a run is one of some, or below one of them.
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

// isBelow reports whether a run is below another one. parents remembers what was read.
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

// Undecided reports whether the proposal has hunks that wait for the user, open or in conflict.
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
