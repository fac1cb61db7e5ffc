package store

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore/event"
)

func dollars(cost float64) *float64 { return &cost }

// worked is a run that has ended, with what it used itself and with its children.
func worked(id event.RunID, session event.SessionID, parent event.RunID, agent, model string, status event.Status, own,
	whole event.Usage,
) Run {
	return Run{
		ID: id, Session: session,
		Origin: Origin{Parent: parent},
		Agent:  agent, Model: model,
		Ending: Ending{Status: status},
		Spent:  Spent{Turns: 2, Own: own, Usage: whole, Duration: 1500 * time.Millisecond},

		Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

func TestUsage(t *testing.T) {
	s := newStore(t)
	small, large := event.Usage{InputTokens: 10, OutputTokens: 1, CachedTokens: 5, Cost: dollars(0.25)}, event.Usage{
		InputTokens: 100, OutputTokens: 10, Cost: dollars(0.5),
	}
	unpriced := event.Usage{InputTokens: 7}
	later := worked("r4", "s2", "", "coder", "b", event.StatusFailed, unpriced, unpriced)
	later.Created = time.Date(2026, 1, 4, 0, 0, 0, 0, time.UTC)
	alive := worked("r5", "s2", "", "coder", "a", event.StatusRunning, event.NoUsage(), event.NoUsage())
	alive.Created, alive.Duration, alive.Turns = later.Created, 0, 0
	mustCommit(t, s, Batch{
		Sessions: []Session{{ID: "s1", Roots: []string{"/w", "/v"}}, {ID: "s2", Roots: []string{"/x"}}},
		Runs: []Run{
			worked("r1", "s1", "", "coder", "a", event.StatusCompleted, small, small.Add(large).Add(large)),
			worked("r2", "s1", "r1", "explore", "a", event.StatusCompleted, large, large),
			worked("r3", "s1", "r1", "explore", "b", event.StatusTimeout, large, large),
			later, alive,
		},
	})
	row := func(key string, runs, ended, completed, turns int, duration time.Duration, u event.Usage, known float64,
		unpriced int,
	) UsageRow {
		return UsageRow{key, runs, ended, completed, turns, duration, u, known, unpriced}
	}
	const each = 1500 * time.Millisecond
	tree := small.Add(large).Add(large)
	rest := unpriced
	whole := tree.Add(rest)
	total := row("", 5, 4, 2, 8, 4*each, whole, 1.25, 1)
	for _, c := range []struct {
		filter UsageFilter
		rows   []UsageRow
		total  UsageRow
	}{
		{UsageFilter{By: UsageByAgent}, []UsageRow{
			row("explore", 2, 2, 1, 4, 2*each, large.Add(large), 1, 0),
			row("coder", 3, 2, 1, 4, 2*each, small.Add(unpriced), 0.25, 1),
		}, total},
		{UsageFilter{By: UsageByModel}, []UsageRow{
			row("a", 3, 2, 2, 4, 2*each, small.Add(large), 0.75, 0),
			row("b", 2, 2, 0, 4, 2*each, large.Add(unpriced), 0.5, 1),
		}, total},
		{UsageFilter{By: UsageByProject}, []UsageRow{
			row("/w, /v", 3, 3, 2, 6, 3*each, tree, 1.25, 0),
			row("/x", 2, 1, 0, 2, each, rest, 0, 1),
		}, total},
		{UsageFilter{By: UsageByDay}, []UsageRow{
			row("2026-01-02", 3, 3, 2, 6, 3*each, tree, 1.25, 0),
			row("2026-01-04", 2, 1, 0, 2, each, rest, 0, 1),
		}, total},
		{
			UsageFilter{By: UsageBySession, Session: "s1"},
			[]UsageRow{row("s1", 3, 3, 2, 6, 3*each, tree, 1.25, 0)},
			row("", 3, 3, 2, 6, 3*each, tree, 1.25, 0),
		},
		{
			UsageFilter{By: UsageBySession, Since: later.Created},
			[]UsageRow{row("s2", 2, 1, 0, 2, each, rest, 0, 1)},
			row("", 2, 1, 0, 2, each, rest, 0, 1),
		},
		{UsageFilter{By: UsageByRun, Run: "r1"}, []UsageRow{
			row("r1", 1, 1, 1, 2, each, tree, 1.25, 0), row("r2", 1, 1, 1, 2, each, large, 0.5, 0),
			row("r3", 1, 1, 0, 2, each, large, 0.5, 0),
		}, row("", 3, 3, 2, 6, 3*each, tree, 1.25, 0)},
		{
			UsageFilter{By: UsageByAgent, Run: "r3"},
			[]UsageRow{row("explore", 1, 1, 0, 2, each, large, 0.5, 0)},
			row("", 1, 1, 0, 2, each, large, 0.5, 0),
		},
		{UsageFilter{By: UsageByDay, Session: "s3"}, nil, UsageRow{Usage: event.NoUsage()}},
	} {
		got, err := s.Usage(testContext(t), c.filter)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(UsageReport{c.rows, c.total}, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.filter, diff)
		}
	}
	if _, err := s.Usage(testContext(t), UsageFilter{By: "weather"}); err == nil ||
		!strings.Contains(err.Error(), "weather") {
		t.Errorf("by weather: %v", err)
	}
}

// TestUsageSumsUp: by whatever key, the rows of a random forest of runs make the same total.
func TestUsageSumsUp(t *testing.T) {
	s := newStore(t)
	stored := 0
	rapid.Check(t, func(t *rapid.T) {
		stored++
		session := event.SessionID(fmt.Sprintf("s%d", stored))
		b := Batch{
			Sessions: []Session{
				{ID: session, Roots: []string{rapid.SampledFrom([]string{"/a", "/b"}).Draw(t, "root")}},
			},
		}
		want := event.NoUsage()
		for i := range rapid.IntRange(1, 12).Draw(t, "runs") {
			own := event.Usage{
				InputTokens:  rapid.Int64Range(0, 1000).Draw(t, "input"),
				OutputTokens: rapid.Int64Range(0, 1000).Draw(t, "output"),
			}
			if rapid.IntRange(0, 5).Draw(t, "priced") > 0 {
				own.Cost = dollars(float64(rapid.IntRange(0, 64).Draw(t, "cost")) / 64) // sums are exact
			}
			want = want.Add(own)
			r := worked(event.RunID(fmt.Sprintf("%s-r%d", session, i)), session, "",
				rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "agent"),
				rapid.SampledFrom([]string{"m", "n"}).Draw(t, "model"), event.StatusCompleted, own, own)
			if i > 0 {
				r.Parent = b.Runs[rapid.IntRange(0, i-1).Draw(t, "parent")].ID
			}
			r.Created = r.Created.AddDate(0, 0, rapid.IntRange(0, 3).Draw(t, "day"))
			for parent := r.Parent; parent != ""; {
				for j := range b.Runs {
					if b.Runs[j].ID == parent {
						b.Runs[j].Usage = b.Runs[j].Usage.Add(own)
						parent = b.Runs[j].Parent
						break
					}
				}
			}
			b.Runs = append(b.Runs, r)
		}
		if err := s.Submit(b).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, by := range UsageKeys() {
			report, err := s.Usage(t.Context(), UsageFilter{By: by, Session: session})
			if err != nil {
				t.Fatal(err)
			}
			sum := event.NoUsage()
			for _, row := range report.Rows {
				if by != UsageByRun || row.Key == string(b.Runs[0].ID) {
					sum = sum.Add(row.Usage)
				}
			}
			if diff := cmp.Diff(want, report.Total.Usage); diff != "" {
				t.Fatalf("the total (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, sum); diff != "" {
				t.Fatalf("the rows by %s (-want +got):\n%s", by, diff)
			}
		}
	})
}

// TestUsageGrows: counts of a run only grow, whatever order they come in, and an unknown cost stays unknown.
func TestUsageGrows(t *testing.T) {
	s, ctx := newStore(t), testContext(t)
	mustCommit(t, s,
		Batch{
			Sessions: []Session{{ID: "s1"}},
			Runs:     []Run{{ID: "r1", Session: "s1", Spent: Spent{Usage: event.NoUsage(), Own: event.NoUsage()}}},
		})
	use := func(turns int, tokens int64, cost *float64) {
		u := event.Usage{InputTokens: tokens, OutputTokens: tokens, CachedTokens: tokens, Cost: cost}
		mustCommit(t, s, Batch{Usages: []RunUsage{{Run: "r1", Turns: turns, Usage: u.Add(u), Own: u}}})
	}
	use(2, 20, dollars(0.5))
	use(1, 10, dollars(0.25))
	r := must(s.Run(ctx, "r1"))(t)
	if r.Turns != 2 || r.Own.InputTokens != 20 || r.Usage.OutputTokens != 40 || *r.Own.Cost != 0.5 ||
		*r.Usage.Cost != 1 {
		t.Errorf("after an older report came last: %+v, %+v", r.Own, r.Usage)
	}
	use(3, 30, nil)
	use(2, 20, dollars(0.5))
	if r = must(s.Run(ctx, "r1"))(t); r.Turns != 3 || r.Own.CachedTokens != 30 || r.Own.Cost != nil ||
		r.Usage.Cost != nil {
		t.Errorf("after an unknown cost: %+v, %+v", r.Own, r.Usage)
	}
}

// queryPlan is how SQLite carries a statement out.
func queryPlan(t *testing.T, s *Store, query string, args ...any) string {
	t.Helper()
	rows, err := s.readers.QueryContext(testContext(t), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, detail)
	}
	return strings.Join(steps, "\n")
}

// TestLayerFileIsFoundByItsPath: who takes a thousand files out of a layer must not look at all of them each time.
func TestLayerFileIsFoundByItsPath(t *testing.T) {
	s := newStore(t)
	for path, want := range map[string]string{
		"/w/a.go": "(session=? AND <expr>=? AND path=?)", "": "(session=? AND <expr>=?)",
	} {
		key := LayerKey{Session: "s1", Run: "r1", Path: path}
		query, of := key.removal()
		if got := queryPlan(t, s, query, of...); !strings.Contains(got, "USING INDEX") ||
			!strings.HasSuffix(got, want) {
			t.Errorf("%q: %s", path, got)
		}
	}
}

// TestUsageReadsIndexesAlone: a run's row holds its whole prompt and answer, so the sums must not read it.
func TestUsageReadsIndexesAlone(t *testing.T) {
	s := newStore(t)
	for by, key := range usageKeys {
		for _, filter := range []UsageFilter{{}, {Since: time.Now()}} {
			if by == UsageByRun {
				continue // it names each run
			}
			query, args := usageQuery(key, ownUsage, filter)
			if got := queryPlan(t, s, query, args...); !strings.Contains(got, "run USING COVERING INDEX run_usage") {
				t.Errorf("by %s: %s", by, got)
			}
		}
	}
	roots := []string{"/w"}
	if got := queryPlan(t, s, delegatedRuns, "explore", textArray{&roots}, 5); !strings.Contains(got,
		"SEARCH run USING COVERING INDEX run_delegated (agent=?)") || strings.Contains(got, "TEMP B-TREE") {
		t.Errorf("delegated runs: %s", got)
	}
}

func TestDelegatedRuns(t *testing.T) {
	s := newStore(t)
	b := Batch{Sessions: []Session{{ID: "s1", Roots: []string{"/w"}}, {ID: "s2", Roots: []string{"/v"}}}}
	add := func(session event.SessionID, parent event.RunID, agent string, status event.Status) {
		id := event.RunID(fmt.Sprint("r", len(b.Runs)))
		r := worked(id, session, parent, agent, "m", status, event.NoUsage(), event.NoUsage())
		r.Created, r.Turns = r.Created.Add(time.Duration(len(b.Runs))*time.Second), len(b.Runs)
		b.Runs = append(b.Runs, r)
	}
	add("s1", "", "explore", event.StatusCompleted) // a user's own
	add("s1", "r0", "explore", event.StatusCompleted)
	add("s1", "r0", "explore", event.StatusCancelled)
	add("s1", "r0", "explore", event.StatusTimeout)
	add("s1", "r0", "tester", event.StatusCompleted)
	add("s1", "r0", "explore", event.StatusFailed)
	add("s2", "", "explore", event.StatusCompleted)
	add("s2", "r6", "explore", event.StatusCompleted)
	mustCommit(t, s, b)
	const each = 1500 * time.Millisecond
	want := []DelegatedRun{{false, 5, each}, {false, 3, each}, {true, 1, each}}
	for limit := range 4 {
		got := must(s.DelegatedRuns(testContext(t), "explore", []string{"/w"}, limit))(t)
		expect := want
		if limit > 0 {
			expect = want[:limit]
		}
		if diff := cmp.Diff(expect, got); diff != "" {
			t.Errorf("the latest %d (-want +got):\n%s", limit, diff)
		}
	}
}

// TestSuccessIsMoreThanTheStatus: a run that was cut off by a limit, or handed over that it failed or left something,
// is no success, in sums and in what is told of former delegations; event.Outcome says the same of it.
func TestSuccessIsMoreThanTheStatus(t *testing.T) {
	s := newStore(t)
	b := Batch{Sessions: []Session{{ID: "s1", Roots: []string{"/w"}}}}
	root := worked("r0", "s1", "", "coder", "m", event.StatusCompleted, event.NoUsage(), event.NoUsage())
	b.Runs = append(b.Runs, root)
	var want []DelegatedRun
	for i, test := range []struct {
		status  event.Status
		reason  string
		handed  event.ChildStatus
		success bool
	}{
		{event.StatusCompleted, "", "", true},
		{event.StatusCompleted, "", event.ChildStatusCompleted, true},
		{event.StatusCompleted, "", event.ChildStatusFailed, false},
		{event.StatusCompleted, "", event.ChildStatusPartial, false},
		{event.StatusCompleted, "max_turns", "", false},
		{event.StatusCompleted, "repeats", event.ChildStatusCompleted, false},
		{event.StatusTimeout, "timeout", event.ChildStatusCompleted, false},
	} {
		r := worked(event.RunID(fmt.Sprint("c", i)), "s1", "r0", "tester", "m", test.status, event.NoUsage(),
			event.NoUsage())
		r.Created, r.Reason = r.Created.Add(-time.Duration(i)*time.Second), test.reason
		handed := event.ChildResult{Status: test.handed}
		r.Result = must(json.Marshal(handed))(t)
		b.Runs = append(b.Runs, r)
		want = append(want, DelegatedRun{test.success, 2, r.Duration})
		if got := event.Outcome(test.status, test.reason, &handed) == event.ChildStatusCompleted; got != test.success {
			t.Errorf("the outcome of %+v: %t", test, got)
		}
	}
	mustCommit(t, s, b)
	if diff := cmp.Diff(want, must(s.DelegatedRuns(testContext(t), "tester", []string{"/w"}, 0))(t)); diff != "" {
		t.Errorf("delegated runs (-want +got):\n%s", diff)
	}
	for _, row := range must(s.Usage(testContext(t), UsageFilter{By: UsageByAgent}))(t).Rows {
		if row.Key == "tester" && (row.Ended != 7 || row.Completed != 2) {
			t.Errorf("the usage is %+v", row)
		}
	}
}

// TestUsageOfFormerVersions: what runs used themselves is worked out from what was stored with their children.
func TestUsageOfFormerVersions(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "a.db"), testContext(t)
	s := must(open(ctx, path, Options{}, embedded[:2]))(t)
	insert := func(w *writer) ([]event.Event, error) {
		return nil, w.exec(`
			INSERT INTO session (id, title, roots, state, agent, model, permission_mode) VALUES ('s1', '', '["/w"]', 'closed', '', '', '');
			INSERT INTO run (id, session, parent_run, chain, agent, role, depth, title, uri, model, prompt, request_type, request, context_mode, context_tokens,
				response, summary, status, reason, max_turns, max_duration_ms, max_tokens, max_cost, turns, input_tokens, output_tokens, cached_tokens, duration_ms)
			SELECT value ->> 'id', 's1', value ->> 'parent', value ->> 'chain', 'coder', '', 0, '', '', value ->> 'model', '', '', '', '', 0,
				'', '', 'completed', '', 0, 0, 0, 0, value ->> 'turns', value ->> 'input', 1, 0, 0
			FROM json_each('[
				{"id": "r1", "chain": "r1", "model": "a/m", "turns": 0, "input": 30},
				{"id": "r2", "chain": "r1", "parent": "r1", "model": "a/m", "turns": 1, "input": 10},
				{"id": "r3", "chain": "r1", "parent": "r1", "model": "a/m", "turns": 1, "input": 20},
				{"id": "r4", "chain": "r4", "model": "offline/rules", "turns": 3, "input": 0}]')`)
	}
	if err := s.submitOwn(insert, nil).Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, path, Options{})
	for id, want := range map[event.RunID]struct {
		own         int64
		known, free bool
	}{"r1": {0, false, true}, "r2": {10, false, false}, "r3": {20, false, false}, "r4": {0, true, true}} {
		r := must(s.Run(ctx, id))(t)
		if r.Own.InputTokens != want.own || (r.Usage.Cost != nil) != want.known || (r.Own.Cost != nil) != want.free {
			t.Errorf("%s: own %+v, whole %+v", id, r.Own, r.Usage)
		}
	}
}

// BenchmarkUsage sums up what a busy quarter of a year leaves.
func BenchmarkUsage(b *testing.B) {
	s := newStore(b)
	text := strings.Repeat("prompt ", 2000)
	for i := range 50 {
		batch := Batch{Sessions: []Session{{ID: event.SessionID(fmt.Sprint("s", i)), Roots: []string{"/w"}}}}
		for j := range 100 {
			r := worked(event.RunID(fmt.Sprintf("r%d-%d", i, j)), batch.Sessions[0].ID, "", "coder", "m",
				event.StatusCompleted, event.NoUsage(), event.NoUsage())
			if j > 0 {
				r.Parent, r.Agent = batch.Runs[0].ID, "explore"
			}
			r.Request, r.Response = text, text
			batch.Runs = append(batch.Runs, r)
		}
		mustCommit(b, s, batch)
	}
	b.Run("sum", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Usage(b.Context(), UsageFilter{By: UsageByAgent}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("delegated", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.DelegatedRuns(b.Context(), "explore", []string{"/w"}, 50); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestUsageWithoutBounds sums up figures that no run can have, from this version and in rows of former ones.
func TestUsageWithoutBounds(t *testing.T) {
	s := newStore(t)
	wild := event.Usage{
		InputTokens: math.MaxInt64, OutputTokens: -1, CachedTokens: math.MinInt64,
		Cost: dollars(math.Inf(1)),
	}
	less := event.Usage{InputTokens: 7, OutputTokens: 2, Cost: dollars(-1)}
	mustCommit(t, s, Batch{
		Sessions: []Session{{ID: "s1", Roots: []string{"/w"}}},
		Runs: []Run{
			worked("r1", "s1", "", "coder", "a", event.StatusCompleted, wild, wild),
			worked("r2", "s1", "", "coder", "a", event.StatusCompleted, wild, wild),
			worked("r3", "s1", "", "coder", "a", event.StatusRunning, less, less),
		},
		Usages: []RunUsage{{Run: "r3", Usage: wild, Own: wild}},
	})
	check := func(when string) {
		t.Helper()
		report, err := s.Usage(t.Context(), UsageFilter{By: UsageByAgent})
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		u := report.Total.Usage
		if u.InputTokens <= 0 || u.OutputTokens < 0 || u.OutputTokens > 2 || u.CachedTokens != 0 ||
			math.IsInf(report.Total.KnownCost, 0) {
			t.Errorf("%s: the sum is %+v, %g", when, u, report.Total.KnownCost)
		}
		overviews, err := s.Overviews(t.Context(), []event.SessionID{"s1"}, "hidden")
		if u := overviews["s1"].Usage; err != nil || u.InputTokens <= 0 || u.OutputTokens < 0 || u.CachedTokens != 0 {
			t.Errorf("%s: the session used %+v, %v", when, u, err)
		}
	}
	check("as they are stored now")
	former, err := openDatabase(s.path, time.Second, writing)
	if err != nil {
		t.Fatal(err)
	}
	defer former.Close()
	if _, err := former.Exec(`UPDATE run SET own_input_tokens = 9223372036854775807, own_output_tokens = -1, input_tokens = 9223372036854775807,
		output_tokens = -5, own_cost = 9e999, cost = 9e999`); err != nil {
		t.Fatal(err)
	}
	check("as a former version stored them")
}
