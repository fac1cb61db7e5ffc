// Package history reads what is stored of sessions of any process: their runs and conversations, as lists, as Markdown
// and as JSONL, which it also reads back as a new session. Nothing here runs.
package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/store"
)

// Reader reads the store, and adds the sessions that are copied or imported. Its methods may be called from any
// goroutine.
type Reader struct {
	store  *store.Store
	redact func(string) string
	live   func(event.RunID) (Run, bool)
	output func(event.RunID) string
	narrow func(permissions json.RawMessage) json.RawMessage
}

// Options are what a reader is told by the engine.
type Options struct {
	Store *store.Store
	// Redact takes secrets out of a text that is written for others.
	Redact func(string) string
	// Live returns what this process knows of one of its runs, and false for any other.
	Live func(event.RunID) (Run, bool)
	// Output is the absolute path of the file for the result of a run in the background.
	Output func(event.RunID) string
	// Narrow takes from the stored permissions of a run what a file that anybody may have written must not decide.
	Narrow func(permissions json.RawMessage) json.RawMessage
}

// New makes a reader.
func New(o Options) *Reader {
	return &Reader{store: o.Store, redact: o.Redact, live: o.Live, output: o.Output, narrow: o.Narrow}
}

// Session is what a listing says of a stored session, of whatever process.
type Session struct {
	store.Session
	// Status is the status of the latest root run; pending where there is none.
	Status event.Status
	// Runs counts the runs, children included, but for agentls's own.
	Runs int
	// OpenHunks is how many proposed hunks wait for the user.
	OpenHunks int
	// Usage is what all runs cost.
	Usage event.Usage
}

// Filter narrows a listing of sessions.
type Filter struct {
	// Roots are absolute paths of folders. Listed are the sessions on at least one of them; none means all sessions.
	Roots []string
	// Before is the last session of the page before; empty for the first page.
	Before event.SessionID
	// Limit is the largest number of sessions, 0 for all.
	Limit int
}

// Sessions lists the sessions in which something was done, the latest updated first, and says whether there are more.
// It reads the store.
func (h *Reader) Sessions(ctx context.Context, filter Filter) (list []Session, more bool, err error) {
	if err := h.flush(ctx); err != nil {
		return nil, false, err
	}
	limit := filter.Limit
	if limit > 0 {
		limit++ // one more tells whether there are more
	}
	// A window has a session as soon as it shows former findings. Where nobody has done anything in it, it has no runs.
	rows, err := h.store.Sessions(ctx, store.SessionFilter{
		Roots: filter.Roots, Ran: RoleHidden, Before: filter.Before, Limit: limit,
	})
	if err != nil {
		return nil, false, fmt.Errorf("list the sessions: %w", err)
	}
	if filter.Limit > 0 && len(rows) > filter.Limit {
		rows, more = rows[:filter.Limit], true
	}
	ids := make([]event.SessionID, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	overviews, err := h.store.Overviews(ctx, ids, RoleHidden)
	if err != nil {
		return nil, false, err
	}
	for _, row := range rows {
		o := overviews[row.ID]
		list = append(list, Session{
			Session: row, Status: o.Status, Runs: o.Runs, OpenHunks: o.OpenHunks, Usage: o.Usage,
		})
	}
	return list, more, nil
}

// Tree describes a session of any process, with its runs: each behind its parent, in the order of their creation. A
// session that is not stored is an Error of the kind not_found. It reads the store.
func (h *Reader) Tree(ctx context.Context, id event.SessionID) (Session, []Run, error) {
	if err := h.flush(ctx); err != nil {
		return Session{}, nil, err
	}
	row, err := h.Session(ctx, id)
	if err != nil {
		return Session{}, nil, err
	}
	return h.describe(ctx, row)
}

// Session returns a stored session; one that is not stored is an Error of the kind not_found.
func (h *Reader) Session(ctx context.Context, id event.SessionID) (store.Session, error) {
	row, err := h.store.Session(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return row, fault.Missing("session", string(id), "list the sessions with agent/sessions")
	}
	if err != nil {
		return row, fmt.Errorf("read the session %s: %w", id, err)
	}
	return row, nil
}

// flush waits until what was submitted so far is durable, so that a reader sees it.
func (h *Reader) flush(ctx context.Context) error {
	if err := h.store.Submit(store.Batch{}).Wait(ctx); err != nil {
		return fmt.Errorf("store what has happened before it is read: %w", err)
	}
	return nil
}

func (h *Reader) describe(ctx context.Context, row store.Session) (Session, []Run, error) {
	info := Session{Session: row, Status: event.StatusPending, Usage: event.NoUsage()}
	runs, err := h.shownRuns(ctx, row.ID)
	if err != nil {
		return info, nil, err
	}
	hunks, err := h.store.Hunks(ctx, row.ID, event.StateOpen)
	if err != nil {
		return info, nil, fmt.Errorf("list the edits of the session %s: %w", row.ID, err)
	}
	resumed, err := h.store.Resumed(ctx, row.ID)
	if err != nil {
		return info, nil, err
	}
	copied, err := h.store.CopiedTurns(ctx, row.ID)
	if err != nil {
		return info, nil, err
	}
	info.Runs, info.OpenHunks = len(runs), len(hunks)
	tree := make([]Run, 0, len(runs))
	for _, r := range runs {
		if r.Parent == "" { // a child's usage is counted in its parent's
			info.Usage = info.Usage.Add(r.Usage)
			info.Status = r.Status
		}
		run := RunOf(r)
		run.Turns += copied[r.ID]
		if run.Background {
			run.Output = h.output(run.ID)
		}
		// The runs of this process know more than what is stored.
		if live, ok := h.live(r.ID); ok {
			run.BudgetUsed, run.Message, run.Usage, run.Turns = live.BudgetUsed, live.Message, live.Usage, live.Turns
		}
		run.Resumes, run.Files = resumed[r.ID], ChangedFiles(row.Roots, r.FilesModified)
		tree = append(tree, run)
	}
	return info, tree, nil
}

// shownRuns are the stored runs of a session but for agentls's own, in the order of their creation.
func (h *Reader) shownRuns(ctx context.Context, id event.SessionID) ([]store.Run, error) {
	runs, err := h.store.Runs(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("list the runs of the session %s: %w", id, err)
	}
	return slices.DeleteFunc(runs, func(r store.Run) bool { return r.Role == RoleHidden }), nil
}
