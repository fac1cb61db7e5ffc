package lsp

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/wire"
)

// Usage answers `agent/usage`.
func (r *records) Usage(ctx context.Context, p *methods.UsageParams) (*methods.UsageReport, error) {
	engine, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	by := store.UsageKey(cmp.Or(p.By, methods.UsageGroupSession))
	if !slices.Contains(store.UsageKeys(), by) {
		return nil,
			wire.InvalidParams(
				fmt.Errorf("usage cannot be summed up by %q; write by as run, agent, model, session, project or day",
					by))
	}
	sums, err := engine.History().Usage(ctx, store.UsageFilter{By: by, Session: p.Session, Run: p.Run, Since: p.Since})
	if err != nil {
		return nil, err
	}
	report := &methods.UsageReport{Total: usageRow(sums.Total)}
	for _, row := range sums.Rows {
		report.Rows = append(report.Rows, usageRow(row))
	}
	return report, nil
}

func usageRow(r store.UsageRow) methods.UsageRow {
	return methods.UsageRow{
		Key: r.Key, Runs: r.Runs, Ended: r.Ended, Completed: r.Completed, Turns: r.Turns,
		DurationMs: r.Duration.Milliseconds(),
		Usage:      r.Usage, KnownCost: r.KnownCost,
	}
}
