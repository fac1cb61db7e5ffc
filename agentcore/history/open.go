package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
)

// Events returns the numbers of the first and the last stored event of a session, 0 where it has none or is not stored.
// It reads the store.
func (h *Reader) Events(ctx context.Context, session event.SessionID) (first, last uint64, err error) {
	first, last, err = h.store.SeqRange(ctx, session)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return 0, 0, fmt.Errorf("read which events of the session %s are stored: %w", session, err)
	}
	return first, last, nil
}

// Findings returns the findings of a session that are stored as open. It reads the store.
func (h *Reader) Findings(ctx context.Context, session event.SessionID) ([]event.Finding, error) {
	rows, err := h.store.Findings(ctx, store.FindingFilter{Session: session, State: store.FindingOpen})
	if err != nil {
		return nil, fmt.Errorf("read the findings of the session %s: %w", session, err)
	}
	var list []event.Finding
	for _, row := range rows {
		list = append(list, row.Finding)
	}
	return list, nil
}

// Ask is a stored question.
type Ask struct {
	store.Ask
	// Agent is the agent of the run which asks.
	Agent string
}

// Asks returns the open questions of a session. A session that is not stored is an Error of the kind not_found. It
// reads the store.
func (h *Reader) Asks(ctx context.Context, session event.SessionID) ([]Ask, error) {
	if _, err := h.Session(ctx, session); err != nil {
		return nil, err
	}
	rows, err := h.store.Asks(ctx, session)
	if err != nil {
		return nil, fmt.Errorf("read the questions of the session %s: %w", session, err)
	}
	var list []Ask
	for _, row := range rows {
		if row.State != store.AskOpen {
			continue
		}
		run, err := h.store.Run(ctx, row.Run)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, fmt.Errorf("read who asks in the session %s: %w", session, err)
		}
		list = append(list, Ask{row, run.Agent})
	}
	return list, nil
}

// LaunchedOn finds the document that a run, or the first one above it that has any, was launched on; "" where there is
// none, or the session of one of them was deleted. It reads the store.
func (h *Reader) LaunchedOn(ctx context.Context, run event.RunID) (path string, err error) {
	for run != "" {
		row, err := h.store.Run(ctx, run)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return "", nil
		case err != nil:
			return "", fmt.Errorf("read the run %s: %w", run, err)
		case row.URI != "":
			return event.FilePath(row.URI), nil
		}
		run = row.Parent
	}
	return "", nil
}
