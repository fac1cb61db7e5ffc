package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// DeleteSession removes a session and everything that belongs to it, after what was submitted before. It overwrites the
// text in the file and empties the write-ahead log; while a reader holds the log, that is done later and the Logger is
// told. The error is ErrNotFound for a session that does not exist, and ErrInUse for one that is open in another living
// process. The caller must make sure that this process no longer uses the session.
func (s *Store) DeleteSession(ctx context.Context, id event.SessionID) error {
	remove := func(w *writer) ([]event.Event, error) {
		row, err := w.queryRow("DELETE FROM session WHERE id = ? RETURNING ifnull(owner, '')", id)
		if err != nil {
			return nil, err
		}
		var owner string
		err = row.Scan(&owner)
		if errors.Is(err, sql.ErrNoRows) {
			err = ErrNotFound
		}
		if err == nil && owner != w.store.owner.id {
			var alive bool
			if alive, err = ownerFolder(w.store.path).alive(owner); alive {
				err = ErrInUse // the error rolls the deletion back
			}
		}
		if err != nil {
			return nil, fmt.Errorf("delete session %s: %w", id, err)
		}
		return nil, nil
	}
	const patience = 200 * time.Millisecond
	return s.submitOwn(remove, func(w *writer) { w.wipe(patience) }).Wait(ctx)
}

// Finished returns the sessions that are open in no living process and were last updated before a time, the oldest
// first. With a zero time, it returns all. Sessions of this process count as open until they are stored as closed.
func (r *runReader) Finished(ctx context.Context, before time.Time) ([]Session, error) {
	finished, err := r.finished(ctx, before)
	return finished, r.explain("look for finished sessions", err)
}

func (r *runReader) finished(ctx context.Context, before time.Time) ([]Session, error) {
	owned, err := selectRows[ownedSession](ctx, r.readers, ownedTable,
		"WHERE ?1 IS NULL OR ifnull(updated, 0) < ?1 ORDER BY updated, id", micros{&before})
	if err != nil {
		return nil, err
	}
	alive := map[string]bool{r.owner.id: true, "": false}
	var finished []Session
	for _, row := range owned {
		lives, known := alive[row.owner]
		if !known {
			if lives, err = ownerFolder(r.path).alive(row.owner); err != nil {
				return nil, err
			}
			alive[row.owner] = lives
		}
		if !lives {
			finished = append(finished, row.Session)
		}
	}
	return finished, nil
}

// Size returns how many bytes of the file are in use, without the space of deleted rows.
func (r *reader) Size(ctx context.Context) (int64, error) {
	var size int64
	err := r.readers.QueryRowContext(ctx,
		"SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, "+
			"pragma_page_size").Scan(&size)
	return size, r.explain("read the size", err)
}

// vacuumStep is how many pages are given back in one transaction: about a megabyte, so that other commits wait only a
// few milliseconds.
const vacuumStep = 256

// Vacuum gives the pages of deleted rows back to the disk, in short transactions between which others commit. It
// returns when none are left or ctx ends. Only files that were made with auto_vacuum can shrink; an older file uses
// these pages again.
func (s *Store) Vacuum(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("give free pages of the file back: %w", context.Cause(ctx))
		}
		var freed int
		step := func(w *writer) ([]event.Event, error) {
			rows, err := w.conn.QueryContext(context.Background(),
				fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumStep))
			if err != nil {
				return nil, fmt.Errorf("give free pages of the file back: %w", err)
			}
			defer rows.Close()
			for rows.Next() { // each step frees a page
				freed++
			}
			return nil, rows.Err()
		}
		if err := s.submitOwn(step, nil).Wait(ctx); err != nil {
			return err
		}
		if freed < vacuumStep {
			return nil
		}
	}
}
