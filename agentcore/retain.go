package agentcore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/store"
)

// DeleteSession deletes a session and all that is under it: the rows, whose text is overwritten in the database and in
// its backups, and what its runs left in the state folder. Damaged databases that hold something of it are removed. One
// that is open in this process is ended first: its runs are cancelled and waited for, and its proposals and findings
// go. One that is open in another living process is refused with an Error of the kind in_use. It waits for the disk.
func (e *Engine) DeleteSession(ctx context.Context, id event.SessionID) error {
	deleted := e.deleteSession(ctx, id)
	if deleted != nil && !fault.Is(deleted, fault.NotFound) {
		return deleted
	}
	// Also for one that is not there any more: who deleted it may have been cut off here.
	if err := e.store.ForgetInCopies(ctx, id); err != nil {
		return &fault.Error{
			Kind:   fault.Store,
			Detail: fmt.Sprintf("the session %s is deleted, but not from each copy of the database: %v", id, err),
			Hint:   "remove the files that it names", Cause: err,
		}
	}
	return deleted
}

func (e *Engine) deleteSession(ctx context.Context, id event.SessionID) error {
	if _, err := e.history.Session(ctx, id); err != nil {
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
	left, err := keepers{e.stateDir, e.store}.leftovers(ctx, id)
	if err != nil {
		return err
	}
	err = e.store.DeleteSession(ctx, id)
	switch {
	case errors.Is(err, store.ErrInUse):
		if err := e.openElsewhere(ctx, id, fmt.Sprintf("the session %s", id),
			"close that editor or command, and delete the session then"); err != nil {
			return err
		}
		return &fault.Error{Kind: fault.InUse, Detail: fmt.Sprintf("the session %s is open in another agentls process",
			id), Hint: "close that editor or command, and delete the session then", Cause: err}
	case errors.Is(err, store.ErrNotFound):
		return fault.Missing("session", string(id), "list the sessions with agent/sessions")
	case err != nil:
		return err
	}
	e.crash.Reach(crash.Deleted)
	return left.remove()
}

// end cancels the session's runs, waits for their ends, and closes the session for good: no run starts in it any more,
// and nothing of it is stored.
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
		r.cancel(fault.ErrCancelled)
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

// Retain deletes the finished sessions that are older than the configuration keeps them, and the oldest ones while the
// state takes more room than it may; it returns how many. Then it gives their space back to the disk. Sessions that a
// living process has open stay. While the clock is not to be believed nothing goes for its age.
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
		if err := errors.Join(keepers{e.stateDir, e.store}.forgetStrays(ctx), e.store.ForgetCopies(now)); err != nil {
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

// DeleteOlder deletes the finished sessions that were last updated before a time, and returns their ids, the oldest
// first. Sessions that a living process has open stay.
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
	if fault.Is(err, fault.InUse, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// shrink deletes the oldest finished sessions until the state takes no more than size bytes.
func (e *Engine) shrink(ctx context.Context, size int64) (int, error) {
	deleted := 0
	var rows []store.Session
	for {
		used, err := keepers{e.stateDir, e.store}.size(ctx)
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
	// retainAfter is how long an engine works before it first looks for what is no longer kept, so that short commands
	// never wait for that, and retainEvery how often it looks again.
	retainAfter, retainEvery = 30 * time.Second, 6 * time.Hour
)

// retains deletes what is no longer kept from time to time, until ctx ends. It is a goroutine of the engine, which
// waits for it.
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
