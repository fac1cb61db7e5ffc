// Package retention deletes sessions: sessions that the user names, and sessions that are older, or take more space,
// than the configuration permits.
package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/store"
)

// Retention deletes sessions of a state folder. Its methods wait on the disk, and may be called from any goroutine.
type Retention struct {
	StateDir string
	Store    *store.Store
	History  *history.Reader
	Crash    crash.Hook
	Now      func() time.Time
	Config   func() *config.Config
	Logger   *slog.Logger
	// End ends a session that this process has open, and waits until it has ended.
	End func(ctx context.Context, id event.SessionID) error
	// InUse is the error for an action that only the process with an open session can do, nil if no other process has
	// it open.
	InUse func(ctx context.Context, session event.SessionID, what, hint string) error
}

// Delete deletes a session with everything that belongs to it: its rows, whose text is overwritten in the database and
// in its backups, and the files of its runs in the state folder. Damaged databases that contain a part of it are
// removed. If this process has the session open, it is ended first: its runs are cancelled and waited for, and its
// proposals and findings are dropped. If another living process has it open, the error is of the kind in_use. It waits
// for the disk.
func (r *Retention) Delete(ctx context.Context, id event.SessionID) error {
	deleted := r.deleteSession(ctx, id)
	if deleted != nil && !fault.Is(deleted, fault.NotFound) {
		return deleted
	}
	// This is also done for a session that is already gone: the process that deleted it may have been cut off here.
	if err := r.Store.ForgetInCopies(ctx, id); err != nil {
		return &fault.Error{
			Kind:   fault.Store,
			Detail: fmt.Sprintf("the session %s is deleted, but not from each copy of the database: %v", id, err),
			Hint:   "remove the files that it names", Cause: err,
		}
	}
	return deleted
}

func (r *Retention) deleteSession(ctx context.Context, id event.SessionID) error {
	if _, err := r.History.Session(ctx, id); err != nil {
		return err
	}
	if err := r.End(ctx, id); err != nil {
		return err
	}
	left, err := keepers{r.StateDir, r.Store}.leftovers(ctx, id)
	if err != nil {
		return err
	}
	err = r.Store.DeleteSession(ctx, id)
	switch {
	case errors.Is(err, store.ErrInUse):
		if err := r.InUse(ctx, id, fmt.Sprintf("the session %s", id),
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
	r.Crash.Reach(crash.Deleted)
	return left.remove()
}

// Retain deletes the finished sessions that are older than the configuration permits, and the oldest ones while the
// state is larger than it may be; it returns how many. Then it gives their space back to the disk. It keeps sessions
// that a living process has open. While the clock seems wrong, it deletes no session because of its age.
func (r *Retention) Retain(ctx context.Context) (int, error) {
	c, deleted, now := r.Config(), 0, r.Now()
	steady, err := r.Store.ClockSteady(ctx, now)
	if err != nil {
		return deleted, err
	}
	if !steady {
		r.Logger.Info("nothing is deleted by its age today, since the clock has jumped", "now", now)
	}
	if steady && c.RetentionDays > 0 {
		n, err := r.DeleteOlder(ctx, now.AddDate(0, 0, -c.RetentionDays))
		if deleted += len(n); err != nil {
			return deleted, err
		}
	}
	if steady {
		if err := errors.Join(keepers{r.StateDir, r.Store}.forgetStrays(ctx), r.Store.ForgetCopies(now)); err != nil {
			return deleted, err
		}
	}
	if c.RetentionSize > 0 {
		n, err := r.shrink(ctx, c.RetentionSize)
		if deleted += n; err != nil {
			return deleted, err
		}
	}
	return deleted, r.Store.Vacuum(ctx)
}

// DeleteOlder deletes the finished sessions that were last updated before a time, and returns their ids, the oldest
// first. It keeps sessions that a living process has open.
func (r *Retention) DeleteOlder(ctx context.Context, before time.Time) ([]event.SessionID, error) {
	rows, err := r.Store.Finished(ctx, before)
	if err != nil {
		return nil, err
	}
	deleted := []event.SessionID{}
	for _, row := range rows {
		gone, err := r.deleteFinished(ctx, row.ID)
		if err != nil {
			return deleted, err
		}
		if gone {
			deleted = append(deleted, row.ID)
		}
	}
	return deleted, nil
}

// deleteFinished deletes a session, unless another process has opened or deleted it meanwhile.
func (r *Retention) deleteFinished(ctx context.Context, id event.SessionID) (bool, error) {
	err := r.deleteSession(ctx, id)
	if fault.Is(err, fault.InUse, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// shrink deletes the oldest finished sessions until the state is not larger than size bytes.
func (r *Retention) shrink(ctx context.Context, size int64) (int, error) {
	deleted := 0
	var rows []store.Session
	for {
		used, err := keepers{r.StateDir, r.Store}.size(ctx)
		if err != nil || used <= size {
			return deleted, err
		}
		if deleted == 0 {
			if rows, err = r.Store.Finished(ctx, time.Time{}); err != nil {
				return deleted, err
			}
		}
		gone := false
		for len(rows) > 0 && !gone {
			if gone, err = r.deleteFinished(ctx, rows[0].ID); err != nil {
				return deleted, err
			}
			rows = rows[1:]
		}
		if !gone {
			return deleted, nil // the rest is in use, or belongs to no session
		}
		deleted++
	}
}

const (
	// retainAfter is how long an engine works before it first deletes old sessions, so that short commands never wait
	// for that. retainEvery is the time between two such deletions.
	retainAfter, retainEvery = 30 * time.Second, 6 * time.Hour
)

// Follow deletes old sessions from time to time, until ctx ends. The caller runs it as a goroutine, and waits for it.
func (r *Retention) Follow(ctx context.Context) {
	timer := time.NewTimer(retainAfter)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		deleted, err := r.Retain(ctx)
		if err != nil && ctx.Err() == nil {
			r.Logger.Warn("old sessions stay", "error", err)
		}
		if deleted > 0 {
			r.Logger.Info("old sessions were deleted", "sessions", deleted)
		}
		timer.Reset(retainEvery)
	}
}
