package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

const (
	// clockGap is how far the clock may go on between two looks before it counts as having jumped: a machine may be off
	// for a weekend.
	clockGap = 4 * 24 * time.Hour
	// clockTrial is how long a clock that has jumped must run evenly before it is believed. After a long absence, old
	// data is deleted that much later; but a clock that was wrong for an hour costs nobody any data.
	clockTrial = 24 * time.Hour
)

// ClockSteady notes the time, and reports whether the clock is to be believed where something is deleted by its age. It
// is not for a day after a jump was noticed, in either direction and by any process.
func (s *Store) ClockSteady(ctx context.Context, now time.Time) (bool, error) {
	var steady bool
	look := func(w *writer) ([]event.Event, error) {
		var seen, since time.Time
		row, err := w.queryRow("SELECT seen, steady FROM clock")
		if err == nil {
			err = row.Scan(micros{&seen}, micros{&since})
		}
		switch gap := now.Sub(seen); {
		case errors.Is(err, sql.ErrNoRows):
			since = now.Add(-clockTrial) // no jump is known
		case err != nil:
			return nil, fmt.Errorf("read what the clock said before: %w", err)
		case gap < -time.Minute || gap > clockGap:
			since = now
		}
		steady = now.Sub(since) >= clockTrial
		err = w.exec(
			"INSERT INTO clock (id, seen, steady) VALUES (1, ?1, ?2) ON CONFLICT (id) DO UPDATE SET seen = "+
				"?1, steady = ?2",
			micros{&now}, micros{&since})
		if err != nil {
			return nil, fmt.Errorf("store what the clock says: %w", err)
		}
		return nil, nil
	}
	if err := s.submitOwn(look, nil).Wait(ctx); err != nil {
		return false, err
	}
	return steady, nil
}
