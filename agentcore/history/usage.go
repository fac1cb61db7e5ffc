package history

import (
	"context"

	"github.com/agentls/agentls/agentcore/store"
)

// Usage sums up the stored runs, also the runs of other processes. A session or run that is not stored is an Error of
// the kind not_found. It waits until what was submitted so far is durable.
func (h *Reader) Usage(ctx context.Context, filter store.UsageFilter) (store.UsageReport, error) {
	if err := h.flush(ctx); err != nil {
		return store.UsageReport{}, err
	}
	if filter.Session != "" {
		if _, err := h.Session(ctx, filter.Session); err != nil {
			return store.UsageReport{}, err
		}
	}
	if filter.Run != "" {
		if _, err := h.run(ctx, filter.Run); err != nil {
			return store.UsageReport{}, err
		}
	}
	return h.store.Usage(ctx, filter)
}
