package history

import (
	"context"
	"slices"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
)

// Line is a run and the runs of the user that went on with it, directly or not, oldest first, and the run that it went
// on with itself, empty for none. It reads the store, and waits until what was submitted so far is durable. The error
// is of the kind not_found where there is no such run of the user.
func (h *Reader) Line(ctx context.Context, id event.RunID) (runs []Run, before event.RunID, err error) {
	first, err := h.Run(ctx, id)
	if err != nil {
		return nil, "", err
	}
	if first.Parent != "" {
		return nil, "", fault.Missing("prompt of the run", string(id),
			"name the run that the user started: it is above this one")
	}
	resumed, err := h.store.Resumed(ctx, first.Session)
	if err != nil {
		return nil, "", err
	}
	seen := map[event.RunID]bool{}
	for next := []event.RunID{id}; len(next) > 0; next = next[1:] {
		if seen[next[0]] {
			continue
		}
		seen[next[0]] = true
		row, err := h.run(ctx, next[0])
		if err != nil {
			return nil, "", err
		}
		runs = append(runs, RunOf(row))
		later, err := h.store.Resumptions(ctx, row.Session)
		if err != nil {
			return nil, "", err
		}
		for _, l := range later[row.ID] {
			if l.Root {
				next = append(next, l.Run)
			}
		}
	}
	slices.SortStableFunc(runs, func(a, b Run) int { return a.Created.Compare(b.Created) })
	return runs, resumed[id], nil
}
