package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

const storeUsage = `UPDATE run SET turns = max(turns, ?2),
	input_tokens = max(input_tokens, ?3), output_tokens = max(output_tokens, ?4), cached_tokens = max(cached_tokens, ?5),
	cost = CASE WHEN cost IS NULL OR ?6 IS NULL THEN NULL ELSE max(cost, ?6) END,
	own_input_tokens = max(own_input_tokens, ?7), own_output_tokens = max(own_output_tokens, ?8),
	own_cached_tokens = max(own_cached_tokens, ?9),
	own_cost = CASE WHEN own_cost IS NULL OR ?10 IS NULL THEN NULL ELSE max(own_cost, ?10) END
	WHERE id = ?1`

func (w *writer) applyUsage(u *RunUsage) error {
	err := w.exec(storeUsage, u.Run, u.Turns, u.Usage.InputTokens, u.Usage.OutputTokens,
		u.Usage.CachedTokens, u.Usage.Cost,
		u.Own.InputTokens, u.Own.OutputTokens, u.Own.CachedTokens, u.Own.Cost)
	if err != nil {
		return fmt.Errorf("store the usage of run %s: %w", u.Run, err)
	}
	return nil
}

// UsageKey is the key by which usage is added up.
type UsageKey string

// The keys of a sum.
const (
	UsageByRun     UsageKey = "run"
	UsageByAgent   UsageKey = "agent"
	UsageByModel   UsageKey = "model"
	UsageBySession UsageKey = "session"
	UsageByProject UsageKey = "project"
	UsageByDay     UsageKey = "day"
)

// usageKeys are the expressions of the keys. A project is identified by the roots of its sessions; days are days of
// UTC.
var usageKeys = map[UsageKey]string{
	UsageByRun:     "run.id",
	UsageByAgent:   "run.agent",
	UsageByModel:   "run.model",
	UsageBySession: "+run.session", // the + prevents SQLite from using an index without the other columns
	UsageByProject: "(SELECT roots FROM session WHERE id = run.session)",
	UsageByDay:     "date(run.created / 1000000, 'unixepoch')",
}

// UsageKeys returns all keys, in the order of the documentation.
func UsageKeys() []UsageKey {
	return []UsageKey{UsageByAgent, UsageByModel, UsageBySession, UsageByProject, UsageByDay, UsageByRun}
}

// UsageFilter says which runs are added up; an empty field, except By, excludes none.
type UsageFilter struct {
	By      UsageKey
	Session event.SessionID
	// Run is one run with all runs below it.
	Run event.RunID
	// Since is the earliest creation of a run.
	Since time.Time
}

// UsageRow is the sum of a group of runs.
type UsageRow struct {
	// Key is the run, agent, model, session, folders of the project (joined by ", ") or day (2026-01-02).
	Key string
	// Runs counts all runs, Ended those that ended by themselves (not cancelled, not interrupted), and Completed those
	// of them that completed their task.
	Runs, Ended, Completed int
	// Turns is the number of requests to models.
	Turns int
	// Duration is the time of the runs that have ended, together.
	Duration time.Duration
	// Usage counts every token once: each run's own tokens and, in a group of one run, its children's as well. Its cost
	// is unknown if the cost of any of them is.
	Usage event.Usage
	// KnownCost is the part of the cost that is known, in US dollars.
	KnownCost float64
	// Unpriced counts the runs whose own cost is unknown.
	Unpriced int
}

// UsageReport is the sums by one key.
type UsageReport struct {
	// Rows are the groups, the most expensive first, then by tokens; days in order.
	Rows  []UsageRow
	Total UsageRow
}

// Usage adds up the stored runs, without copies. An unknown key is an error.
func (r *runReader) Usage(ctx context.Context, filter UsageFilter) (UsageReport, error) {
	report, err := r.usage(ctx, filter)
	return report, r.explain(fmt.Sprintf("sum up the usage by %s", filter.By), err)
}

func (r *runReader) usage(ctx context.Context, filter UsageFilter) (UsageReport, error) {
	key, ok := usageKeys[filter.By]
	if !ok {
		return UsageReport{}, fmt.Errorf("usage cannot be summed up by %q", filter.By)
	}
	columns := ownUsage
	if filter.By == UsageByRun {
		columns = wholeUsage
	}
	rows, err := r.usageRows(ctx, key, columns, filter)
	if err != nil {
		return UsageReport{}, err
	}
	total, err := r.usageRows(ctx, "''", ownUsage, filter)
	if err != nil {
		return UsageReport{}, err
	}
	report := UsageReport{Rows: rows, Total: UsageRow{Usage: event.NoUsage()}}
	if len(total) > 0 {
		report.Total = total[0]
	}
	if filter.By == UsageByProject {
		for i := range report.Rows {
			var roots []string
			if err := json.Unmarshal([]byte(report.Rows[i].Key), &roots); err != nil {
				return UsageReport{}, fmt.Errorf("read the roots of a session: %w", err)
			}
			report.Rows[i].Key = strings.Join(roots, ", ")
		}
	}
	slices.SortFunc(report.Rows, func(a, b UsageRow) int {
		if filter.By == UsageByDay {
			return cmp.Compare(a.Key, b.Key)
		}
		return cmp.Or(cmp.Compare(b.KnownCost, a.KnownCost),
			cmp.Compare(b.Usage.InputTokens+b.Usage.OutputTokens, a.Usage.InputTokens+a.Usage.OutputTokens),
			cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Key, b.Key))
	})
	return report, nil
}

// The columns that are added up: what runs used themselves, and with their children. Rows of former versions may
// contain figures without bounds, for which a sum fails. So each figure is kept between 0 and 2^40 tokens, or a
// trillion dollars.
var (
	ownUsage = bounded("own_input_tokens") + ", " + bounded("own_output_tokens") + ", " + bounded("own_cached_tokens") + `,
		ifnull(sum(min(max(run.own_cost, 0), 1e12)), 0), sum(run.own_cost IS NULL), sum(run.own_cost IS NULL)`
	wholeUsage = bounded("input_tokens") + ", " + bounded("output_tokens") + ", " + bounded("cached_tokens") + `,
		ifnull(sum(min(max(ifnull(run.cost, run.own_cost), 0), 1e12)), 0), sum(run.cost IS NULL), sum(run.own_cost IS NULL)`
)

func bounded(column string) string {
	return fmt.Sprintf("sum(min(max(run.%s, 0), %d))", column, event.MaxTokens)
}

// usageQuery returns the statement that sums up columns by a key, and its arguments.
func usageQuery(key, columns string, filter UsageFilter) (string, []any) {
	var with string
	conditions, args := []string{"run.copied = 0"}, []any{}
	if filter.Run != "" {
		with = `WITH RECURSIVE tree (id) AS (SELECT ? UNION ALL SELECT child.id FROM run child JOIN tree ON child.parent_run = tree.id) `
		conditions, args = append(conditions, "run.id IN (SELECT id FROM tree)"), append(args, filter.Run)
	}
	if filter.Session != "" {
		conditions, args = append(conditions, "run.session = ?"), append(args, filter.Session)
	}
	if !filter.Since.IsZero() {
		conditions, args = append(conditions, "run.created >= ?"), append(args, micros{&filter.Since})
	}
	return with + "SELECT " + key + ` AS key, count(*), sum(run.status IN ('completed', 'failed', 'timeout')),
		sum(run.succeeded), sum(run.turns), sum(run.duration_ms), ` + columns +
		" FROM run WHERE " + strings.Join(conditions, " AND ") + " GROUP BY key", args
}

func (r *runReader) usageRows(ctx context.Context, key, columns string, filter UsageFilter) ([]UsageRow, error) {
	query, args := usageQuery(key, columns, filter)
	rows, err := r.readers.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []UsageRow
	for rows.Next() {
		var r UsageRow
		var unknown int
		err := rows.Scan(&r.Key, &r.Runs, &r.Ended, &r.Completed, &r.Turns, millis{&r.Duration},
			&r.Usage.InputTokens, &r.Usage.OutputTokens, &r.Usage.CachedTokens, &r.KnownCost, &unknown, &r.Unpriced)
		if err != nil {
			return nil, err
		}
		if unknown == 0 {
			cost := r.KnownCost
			r.Usage.Cost = &cost
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// DelegatedRun is the outcome of a child's run.
type DelegatedRun struct {
	// Succeeded says that it has completed its whole task.
	Succeeded bool
	Turns     int
	Duration  time.Duration
}

const delegatedRuns = `SELECT run.succeeded, run.turns, run.duration_ms FROM run
	WHERE run.agent = ?1 AND run.parent_run IS NOT NULL AND run.status IN ('completed', 'failed', 'timeout')
	AND run.turns > 0 AND (SELECT roots FROM session WHERE id = run.session) = ?2
	ORDER BY run.created DESC LIMIT ?3`

// DelegatedRuns returns the latest children of an agent type, at most limit, that ended by themselves in sessions on
// the same folders. Copies of runs do not count, since they asked no model.
func (r *runReader) DelegatedRuns(ctx context.Context, agent string, roots []string,
	limit int,
) ([]DelegatedRun, error) {
	runs, err := r.delegatedRuns(ctx, agent, roots, limit)
	return runs, r.explain("read how runs of "+agent+" went", err)
}

func (r *runReader) delegatedRuns(ctx context.Context, agent string, roots []string,
	limit int,
) ([]DelegatedRun, error) {
	rows, err := r.readers.QueryContext(ctx, delegatedRuns, agent, textArray{&roots}, orAll(limit))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var runs []DelegatedRun
	for rows.Next() {
		var r DelegatedRun
		if err := rows.Scan(&r.Succeeded, &r.Turns, millis{&r.Duration}); err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, rows.Err()
}
