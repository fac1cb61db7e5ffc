// Package retention deletes sessions: those that the user names, and those that are older, or take more room, than the
// configuration keeps.
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
	// End ends a session that this process has open, and waits for that.
	End func(ctx context.Context, id event.SessionID) error
	// InUse is the refusal of what only the process can do that has a session open, nil where no other one has it.
	InUse func(ctx context.Context, session event.SessionID, what, hint string) error
}

// Delete deletes a session and all that is under it: the rows, whose text is overwritten in the database and in
// its backups, and what its runs left in the state folder. Damaged databases that hold something of it are removed. One
// that is open in this process is ended first: its runs are cancelled and waited for, and its proposals and findings
// go. One that is open in another living process is refused with an Error of the kind in_use. It waits for the disk.
func (r *Retention) Delete(ctx context.Context, id event.SessionID) error {
	deleted := r.deleteSession(ctx, id)
	if deleted != nil && !fault.Is(deleted, fault.NotFound) {
		return deleted
	}
	// Also for one that is not there any more: who deleted it may have been cut off here.
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

// Retain deletes the finished sessions that are older than the configuration keeps them, and the oldest ones while the
// state takes more room than it may; it returns how many. Then it gives their space back to the disk. Sessions that a
// living process has open stay. While the clock is not to be believed nothing goes for its age.
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
// first. Sessions that a living process has open stay.
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

// deleteFinished deletes a session, but where another process was quicker to use or delete it.
func (r *Retention) deleteFinished(ctx context.Context, id event.SessionID) (bool, error) {
	err := r.deleteSession(ctx, id)
	if fault.Is(err, fault.InUse, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// shrink deletes the oldest finished sessions until the state takes no more than size bytes.
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

// Follow deletes what is no longer kept from time to time, until ctx ends. It is a goroutine of its caller, who
// waits for it.
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
