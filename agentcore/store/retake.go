package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// Retake gives a proposal the rejected hunks with a detail, below any of the folders, that these runs, or those below
// them, wrote, in the order of their last change. Hunks of sessions that are open in another living process stay there.
// The hunks stay rejected until they are stored anew. The session of the proposal must be stored; Retake stores the
// proposal. It may be called from any goroutine, and waits until it is durable.
func (s *Store) Retake(ctx context.Context, into Proposal, roots []string, detail string,
	runs []event.RunID,
) ([]Hunk, error) {
	if len(roots) == 0 {
		return nil, nil
	}
	var found []Hunk
	take := func(w *writer) (_ []event.Event, err error) {
		written, args := belowRuns(runs)
		below, places := belowRoots(roots)
		condition := "h.state = 'rejected' AND h.detail = ? AND h." + written + " AND " + below
		args = append(append([]any{detail}, args...), places...)
		dead, err := w.dead(`id IN (SELECT session FROM proposal WHERE id IN (SELECT h.proposal FROM hunk AS h WHERE `+
			condition+`))`, args...)
		if err != nil {
			return nil, err
		}
		from := append([]any{into.Session}, dead...)
		found, err = selectRows[Hunk](context.Background(), w.conn, hunkTable,
			"AS h WHERE "+condition+" AND proposal IN (SELECT id FROM proposal WHERE session IN (?"+
				strings.Repeat(", ?", len(dead))+")) ORDER BY updated, id", append(args, from...)...)
		if err != nil {
			return nil, fmt.Errorf("read the hunks that were rejected: %w", err)
		}
		if len(found) == 0 {
			return nil, nil
		}
		if err := w.insert(proposalTable, "proposal", string(into.ID), into.fields()); err != nil {
			return nil, err
		}
		for _, h := range found {
			if err := w.exec("UPDATE hunk SET proposal = ? WHERE id = ?", into.ID, h.ID); err != nil {
				return nil, fmt.Errorf("take over hunk %s: %w", h.ID, err)
			}
		}
		return nil, nil
	}
	if err := s.submitOwn(take, nil).Wait(ctx); err != nil {
		return nil, err
	}
	return found, nil
}
