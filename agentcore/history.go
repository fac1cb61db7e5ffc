package agentcore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
)

// SessionInfo is what a listing says of a stored session, of whatever process.
type SessionInfo struct {
	store.Session
	// Status is that of the latest root run; pending where there is none.
	Status event.Status
	// Runs counts the runs, children included, but for agentls's own.
	Runs int
	// OpenHunks is how many proposed hunks wait for the user.
	OpenHunks int
	// Usage is what all runs cost.
	Usage event.Usage
}

// SessionFilter narrows a listing of sessions.
type SessionFilter struct {
	// Roots are the absolute paths of folders of which a session has one; none means all sessions.
	Roots []string
	// Before is the last session of the page before; empty for the first page.
	Before event.SessionID
	// Limit is the largest number of sessions, 0 for all.
	Limit int
}

// Sessions lists the sessions in which something was done, the latest updated first, and says whether there are more. It reads the
// store.
func (e *Engine) Sessions(ctx context.Context, filter SessionFilter) (list []SessionInfo, more bool, err error) {
	if err := e.flush(ctx); err != nil {
		return nil, false, err
	}
	roots := filter.Roots
	if len(roots) == 0 {
		roots = []string{""}
	}
	var rows []store.Session
	for _, root := range roots {
		found, err := e.store.Sessions(ctx, store.SessionFilter{Root: root})
		if err != nil {
			return nil, false, fmt.Errorf("list the sessions on %s: %w", root, err)
		}
		for _, row := range found {
			if !slices.ContainsFunc(rows, func(r store.Session) bool { return r.ID == row.ID }) {
				rows = append(rows, row)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b store.Session) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(b.ID, a.ID))
	})
	if filter.Before != "" {
		at := slices.IndexFunc(rows, func(r store.Session) bool { return r.ID == filter.Before })
		rows = rows[at+1:] // all of them if there is no such session any more
	}
	for some := range slices.Chunk(rows, overviewed) {
		ids := make([]event.SessionID, len(some))
		for i, row := range some {
			ids[i] = row.ID
		}
		overviews, err := e.store.Overviews(ctx, ids, RoleHidden)
		if err != nil {
			return nil, false, err
		}
		for _, row := range some {
			o, ran := overviews[row.ID]
			switch {
			case !ran:
				// A window has a session as soon as it shows former findings; nobody has done anything in it.
			case filter.Limit > 0 && len(list) == filter.Limit:
				return list, true, nil
			default:
				list = append(list, SessionInfo{Session: row, Status: o.Status, Runs: o.Runs, OpenHunks: o.OpenHunks, Usage: o.Usage})
			}
		}
	}
	return list, false, nil
}

// overviewed is how many sessions are looked at with one query.
const overviewed = 128

// SessionTree describes a session of any process, with its runs: each behind its parent, in the order of their creation. A session
// that is not stored is an Error of the kind not_found. It reads the store.
func (e *Engine) SessionTree(ctx context.Context, id event.SessionID) (SessionInfo, []RunInfo, error) {
	if err := e.flush(ctx); err != nil {
		return SessionInfo{}, nil, err
	}
	row, err := e.storedSession(ctx, id)
	if err != nil {
		return SessionInfo{}, nil, err
	}
	return e.describe(ctx, row)
}

func (e *Engine) storedSession(ctx context.Context, id event.SessionID) (store.Session, error) {
	row, err := e.store.Session(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return row, notFound("session", string(id), "list the sessions with agent/sessions")
	}
	if err != nil {
		return row, fmt.Errorf("read the session %s: %w", id, err)
	}
	return row, nil
}

// flush waits until what was submitted so far is durable, so that a reader sees it.
func (e *Engine) flush(ctx context.Context) error {
	if err := e.store.Submit(store.Batch{}).Wait(ctx); err != nil {
		return fmt.Errorf("store what has happened before it is read: %w", err)
	}
	return nil
}

func (e *Engine) describe(ctx context.Context, row store.Session) (SessionInfo, []RunInfo, error) {
	info := SessionInfo{Session: row, Status: event.StatusPending, Usage: event.NoUsage()}
	runs, err := e.shownRuns(ctx, row.ID)
	if err != nil {
		return info, nil, err
	}
	hunks, err := e.store.Hunks(ctx, row.ID, event.StateOpen)
	if err != nil {
		return info, nil, fmt.Errorf("list the edits of the session %s: %w", row.ID, err)
	}
	resumed, err := e.store.Resumed(ctx, row.ID)
	if err != nil {
		return info, nil, err
	}
	copied, err := e.store.CopiedTurns(ctx, row.ID)
	if err != nil {
		return info, nil, err
	}
	info.Runs, info.OpenHunks = len(runs), len(hunks)
	tree := make([]RunInfo, 0, len(runs))
	for _, r := range runs {
		if r.Parent == "" { // a child's usage is counted in its parent's
			info.Usage = info.Usage.Add(r.Usage)
			info.Status = r.Status
		}
		run := runInfoOf(r)
		run.Turns += copied[r.ID]
		if run.Background {
			run.Output = e.outputOf(run.ID)
		}
		// The runs of this process know more than what is stored.
		if live, err := e.RunInfo(r.ID); err == nil {
			run.BudgetUsed, run.Message, run.Usage, run.Turns = live.BudgetUsed, live.Message, live.Usage, live.Turns
		}
		run.Resumes, run.Files = resumed[r.ID], changedFiles(row.Roots, r.FilesModified)
		tree = append(tree, run)
	}
	return info, tree, nil
}

// runInfoOf is what is stored of a run, for a listing.
func runInfoOf(r store.Run) RunInfo {
	info := RunInfo{
		ID: r.ID, Session: r.Session, Parent: r.Parent, Agent: r.Agent, Role: worksAs(r.Role, r.Depth), Depth: r.Depth, Title: r.Title, Model: r.Model,
		Status: r.Status, Reason: r.Reason, Created: r.Created, Finished: r.Completed, Turns: r.Turns, Usage: r.Usage, Message: r.Summary,
		BudgetUsed: r.BudgetUsed, Background: r.Background,
	}
	if r.URI != "" {
		info.Path = event.FilePath(r.URI)
	}
	info.Outcome = r.Outcome()
	return info
}

// changedFiles are the files of a stored list as people name them: from the folder of the session, behind its name
// where there are several.
func changedFiles(roots []string, stored json.RawMessage) []string {
	var paths []string
	if json.Unmarshal(stored, &paths) != nil {
		return nil // there is no list
	}
	for i, path := range paths {
		for _, root := range roots {
			rel, err := filepath.Rel(root, path)
			if err != nil || !filepath.IsLocal(rel) {
				continue
			}
			if len(roots) > 1 {
				rel = filepath.Join(filepath.Base(root), rel)
			}
			paths[i] = filepath.ToSlash(rel)
			break
		}
	}
	return paths
}

// shownRuns are the stored runs of a session but for agentls's own, in the order of their creation.
func (e *Engine) shownRuns(ctx context.Context, id event.SessionID) ([]store.Run, error) {
	runs, err := e.store.Runs(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("list the runs of the session %s: %w", id, err)
	}
	return slices.DeleteFunc(runs, func(r store.Run) bool { return r.Role == RoleHidden }), nil
}

// DeleteSession deletes a session and all that is under it: the rows, whose text is overwritten in the database and in its backups, and what its runs
// left in the state folder. Damaged databases that hold something of it are removed. One that is open in this process is ended first: its runs are cancelled and waited for, and its proposals and
// findings go. One that is open in another living process is refused with an Error of the kind in_use. It waits for the disk.
func (e *Engine) DeleteSession(ctx context.Context, id event.SessionID) error {
	deleted := e.deleteSession(ctx, id)
	var refused *Error
	if deleted != nil && (!errors.As(deleted, &refused) || refused.Kind != "not_found") {
		return deleted
	}
	// Also for one that is not there any more: who deleted it may have been cut off here.
	if err := e.store.ForgetInCopies(ctx, id); err != nil {
		return &Error{Kind: "store", Detail: fmt.Sprintf("the session %s is deleted, but not from each copy of the database: %v", id, err), Hint: "remove the files that it names", Cause: err}
	}
	return deleted
}

func (e *Engine) deleteSession(ctx context.Context, id event.SessionID) error {
	if _, err := e.storedSession(ctx, id); err != nil {
		return err
	}
	e.mu.Lock()
	open := e.sessions[id]
	e.mu.Unlock()
	if open != nil {
		if err := open.end(ctx); err != nil {
			return err
		}
	}
	left, err := e.leftovers(ctx, id)
	if err != nil {
		return err
	}
	err = e.store.DeleteSession(ctx, id)
	switch {
	case errors.Is(err, store.ErrInUse):
		if err := e.openElsewhere(ctx, id, fmt.Sprintf("the session %s", id), "close that editor or command, and delete the session then"); err != nil {
			return err
		}
		return &Error{Kind: "in_use", Detail: fmt.Sprintf("the session %s is open in another agentls process", id), Hint: "close that editor or command, and delete the session then", Cause: err}
	case errors.Is(err, store.ErrNotFound):
		return notFound("session", string(id), "list the sessions with agent/sessions")
	case err != nil:
		return err
	}
	e.crash.Reach(crash.Deleted)
	return left.remove()
}

// end cancels the session's runs, waits for their ends, and closes the session for good: no run starts in it any more, and nothing of it is
// stored.
func (s *Session) end(ctx context.Context) error {
	s.starting.Lock()
	s.ended = true
	s.starting.Unlock()
	e := s.engine
	e.mu.Lock()
	var runs []*run
	for _, r := range e.runs {
		if r.session == s {
			runs = append(runs, r)
		}
	}
	e.mu.Unlock()
	for _, r := range runs {
		r.cancel(errCancelled)
	}
	for _, r := range runs {
		select {
		case <-r.done:
		case <-ctx.Done():
			return fmt.Errorf("wait for the end of the session's runs: %w", context.Cause(ctx))
		}
	}
	if err := s.errands.end(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	_, open := e.sessions[s.ID]
	delete(e.sessions, s.ID)
	for _, r := range runs {
		delete(e.runs, r.id)
	}
	e.mu.Unlock()
	if open { // else another call has been here
		s.close()
	}
	return nil
}

// Retain deletes the finished sessions that are older than the configuration keeps them, and the oldest ones while the state takes more room than it
// may; it returns how many. Then it gives their space back to the disk. Sessions that a living process has open stay. While the clock is not to be
// believed nothing goes for its age.
func (e *Engine) Retain(ctx context.Context) (int, error) {
	c, deleted, now := e.Config(), 0, e.now()
	steady, err := e.store.ClockSteady(ctx, now)
	if err != nil {
		return deleted, err
	}
	if !steady {
		e.logger.Info("nothing is deleted by its age today, since the clock has jumped", "now", now)
	}
	if steady && c.RetentionDays > 0 {
		n, err := e.DeleteOlder(ctx, now.AddDate(0, 0, -c.RetentionDays))
		if deleted += len(n); err != nil {
			return deleted, err
		}
	}
	if steady {
		if err := errors.Join(e.forgetStrays(ctx), e.store.ForgetCopies(now)); err != nil {
			return deleted, err
		}
	}
	if c.RetentionSize > 0 {
		n, err := e.shrink(ctx, c.RetentionSize)
		if deleted += n; err != nil {
			return deleted, err
		}
	}
	return deleted, e.store.Vacuum(ctx)
}

// DeleteOlder deletes the finished sessions that were last updated before a time, and returns their ids, the oldest first. Sessions that a living
// process has open stay.
func (e *Engine) DeleteOlder(ctx context.Context, before time.Time) ([]event.SessionID, error) {
	rows, err := e.store.Finished(ctx, before)
	if err != nil {
		return nil, err
	}
	deleted := []event.SessionID{}
	for _, row := range rows {
		gone, err := e.deleteFinished(ctx, row.ID)
		if err != nil {
			return deleted, err
		}
		if gone {
			deleted = append(deleted, row.ID)
		}
	}
	return deleted, nil
}

// deleteFinished deletes a session, but where another process was quicker to use or delete it.
func (e *Engine) deleteFinished(ctx context.Context, id event.SessionID) (bool, error) {
	err := e.deleteSession(ctx, id)
	var refused *Error
	if errors.As(err, &refused) && (refused.Kind == "in_use" || refused.Kind == "not_found") {
		return false, nil
	}
	return err == nil, err
}

// shrink deletes the oldest finished sessions until the state takes no more than size bytes.
func (e *Engine) shrink(ctx context.Context, size int64) (int, error) {
	deleted := 0
	var rows []store.Session
	for {
		used, err := e.stateSize(ctx)
		if err != nil || used <= size {
			return deleted, err
		}
		if deleted == 0 {
			if rows, err = e.store.Finished(ctx, time.Time{}); err != nil {
				return deleted, err
			}
		}
		gone := false
		for len(rows) > 0 && !gone {
			if gone, err = e.deleteFinished(ctx, rows[0].ID); err != nil {
				return deleted, err
			}
			rows = rows[1:]
		}
		if !gone {
			return deleted, nil // what is left is in use, or no session's
		}
		deleted++
	}
}

const (
	// retainAfter is how long an engine works before it first looks for what is no longer kept, so that short commands never wait for that,
	// and retainEvery how often it looks again.
	retainAfter, retainEvery = 30 * time.Second, 6 * time.Hour
)

// retains deletes what is no longer kept from time to time, until ctx ends. It is a goroutine of the engine, which waits for it.
func (e *Engine) retains(ctx context.Context) {
	timer := time.NewTimer(retainAfter)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		deleted, err := e.Retain(ctx)
		if err != nil && ctx.Err() == nil {
			e.logger.Warn("old sessions stay", "error", err)
		}
		if deleted > 0 {
			e.logger.Info("old sessions were deleted", "sessions", deleted)
		}
		timer.Reset(retainEvery)
	}
}
