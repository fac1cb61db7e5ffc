package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
)

// changes is how many rows were written so far.
func (s *Store) changes(t *testing.T) (n int) {
	t.Helper()
	count := func(w *writer) ([]event.Event, error) {
		row, err := w.queryRow("SELECT total_changes()")
		if err != nil {
			return nil, err
		}
		return nil, row.Scan(&n)
	}
	if err := s.submitOwn(count, nil).Wait(testContext(t)); err != nil {
		t.Fatal(err)
	}
	return n
}

// turnOf is what a turn of the run s1-r submits that makes one call, in the order of the engine.
func turnOf(n int) []Batch {
	call := ToolCall{ID: event.CallID(fmt.Sprint("c", n)), Run: "s1-r", Tool: "read", Effect: "read"}
	done := call
	done.Status, done.Output = event.CallOK, "package a"
	message := func(seq int, role string) Batch {
		id := event.MessageID(fmt.Sprint("m", seq))
		return Batch{
			Messages: []Message{{ID: id, Run: "s1-r", Seq: seq, Role: role, Parts: json.RawMessage("[]")}},
			Events:   []NewEvent{{Session: "s1", Run: "s1-r", Body: event.MessageCommitted{Message: id, Role: role}}},
		}
	}
	told := func(body event.Body) Batch {
		return Batch{Events: []NewEvent{{Session: "s1", Run: "s1-r", Body: body}}}
	}
	started, finished := told(event.ToolCallStarted{Call: call.ID}), told(event.ToolCallFinished{Call: call.ID})
	started.ToolCalls, finished.ToolCalls = []ToolCall{call}, []ToolCall{done}
	return []Batch{
		told(event.TurnStarted{Turn: n}), told(event.RunProgress{Turn: n}),
		{Usages: []RunUsage{{Run: "s1-r", Turns: n, Usage: event.Usage{InputTokens: int64(n)}}}},
		message(2*n, "assistant"), started, told(event.RunProgress{Turn: n}), finished, message(2*n+1, "tool"),
	}
}

// What the turns of a run write is committed in few transactions, and each row of them once.
func TestTurnsShareTransactions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	synctest.Test(t, func(t *testing.T) {
		transactions := 0
		s, err := Open(t.Context(), path, Options{Crash: func(p crash.Point) {
			for _, kind := range []string{crash.Intent, crash.Outcome, crash.Edits, crash.End, crash.Rows} {
				if p == crash.Commit(kind, crash.Applied) {
					transactions++
					return
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		begun := seed("s1")
		begun.ToolCalls = nil
		mustCommit(t, s, begun)
		before, reached := s.changes(t), transactions
		const turns = 60
		var last *Commit
		for n := range turns {
			for _, b := range turnOf(n + 1) {
				last = s.Submit(b)
			}
			time.Sleep(time.Millisecond) // the model thinks, by the clock of the bubble: it takes no time
		}
		if err := last.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		// Each turn has five events, two messages and a call, and each transaction the usage and the number of its
		// session. The crash points tell a transaction by each kind of rows that it holds.
		groups := turns/8 + 1
		if n := transactions - reached; n > 3*groups {
			t.Errorf("%d turns, a millisecond each, made %d transactions", turns, n)
		}
		if n := s.changes(t) - before; n > 8*turns+2*groups {
			t.Errorf("%d turns wrote %d rows", turns, n)
		}
		calls, err := s.ToolCalls(t.Context(), "s1-r")
		if err != nil || len(calls) != turns {
			t.Fatalf("there are %d calls, %v", len(calls), err)
		}
		for i, c := range calls {
			if c.ID != event.CallID(fmt.Sprint("c", i+1)) || c.Status != event.CallOK || c.Output == "" {
				t.Errorf("call %d is %+v", i, c)
			}
		}
		if run, err := s.Run(t.Context(), "s1-r"); err != nil || run.Turns != turns || run.Usage.InputTokens != turns {
			t.Errorf("the run has %d turns and %d tokens, %v", run.Turns, run.Usage.InputTokens, err)
		}
	})
}

// The prompt of an agent is written for the first of its runs, whatever their number.
func TestPromptIsWrittenOnce(t *testing.T) {
	s := newStore(t)
	mustCommit(t, s, seed("s1"))
	prompt := PromptOf("You look at code.")
	mustCommit(t, s, Batch{Prompts: []Prompt{prompt}})
	before := s.changes(t)
	for range 10 {
		mustCommit(t, s, Batch{Prompts: []Prompt{prompt}})
	}
	if n := s.changes(t) - before; n != 0 {
		t.Errorf("it was written %d times more", n)
	}
	if known, err := s.Prompt(t.Context(), prompt.ID); err != nil || known != prompt {
		t.Errorf("the prompt is %+v, %v", known, err)
	}
}

// A row goes to the database with one copy of each of its texts and numbers.
func TestRowCostsFewAllocations(t *testing.T) {
	s := newStore(t)
	mustCommit(t, s, seed("s1"))
	var each float64
	count := func(w *writer) ([]event.Event, error) {
		seq := 1000
		var err error
		each = testing.AllocsPerRun(100, func() {
			seq++
			m := Message{
				ID: "m-again", Run: "s1-r", Parent: "m-before", Seq: seq, Role: "user", Model: "p/m", Tokens: 1,
			}
			err = errors.Join(err, w.insert(messageTable, "message", string(m.ID), m.fields()))
		})
		return nil, err
	}
	if err := s.submitOwn(count, nil).Wait(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if each > 20 {
		t.Errorf("a message takes %v allocations", each)
	}
}

// Nothing that somebody waits for, and nothing but turns, waits for more.
func TestWhatIsAwaitedIsCommittedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		patient := func() *job {
			return &job{commit: &Commit{done: make(chan struct{}), queue: q}, patient: true}
		}
		took := func(push func()) time.Duration {
			began := time.Now()
			push()
			if len(q.take()) == 0 {
				t.Error("nothing was queued")
			}
			return time.Since(began)
		}
		alone := patient()
		for name, c := range map[string]struct {
			push func()
			want time.Duration
		}{
			"alone": {func() { q.push(alone, true) }, linger},
			"with one that is not patient": {func() {
				q.push(patient(), true)
				q.push(newJob(1), true)
			}, 0},
			"many": {func() {
				for range maxLingering {
					q.push(patient(), true)
				}
			}, 0},
			"awaited": {func() {
				j := patient()
				q.push(j, true)
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				_ = j.commit.Wait(ctx)
			}, 0},
			"watched": {func() {
				j := patient()
				q.push(j, true)
				j.commit.Done()
			}, 0},
		} {
			if got := took(c.push); got != c.want {
				t.Errorf("%s: it was taken after %v, want %v", name, got, c.want)
			}
		}
	})
	for _, b := range turnOf(1) {
		if !b.patient() {
			t.Errorf("%+v does not wait for more", b)
		}
	}
	status := func(s event.Status) Batch {
		return Batch{
			Runs: []Run{{ID: "r", Ending: Ending{Status: s}}}, Prompts: []Prompt{PromptOf("p")},
			Events: []NewEvent{{Body: event.RunStatusChanged{Status: s}}},
		}
	}
	if b := status(event.StatusRunning); !b.patient() {
		t.Error("that a run works does not wait for what it does")
	}
	for name, b := range map[string]Batch{
		"made": status(event.StatusPending), "waits": status(event.StatusWaiting), "ended": status(event.StatusFailed),
		"end": {Runs: []Run{{ID: "r"}}}, "question": {Asks: []Ask{{ID: "a"}}}, "hunk": {Hunks: []Hunk{{ID: "h"}}},
		"finding": {Findings: make([]Finding, 1)}, "notice": {Events: []NewEvent{{Body: event.Notice{}}}},
		"callback": {Committed: func() {}}, "said": {Unreads: []Unread{{Run: "r"}}},
	} {
		if b.patient() {
			t.Errorf("%s: it waits for more", name)
		}
	}
}

// What several batches of a transaction say of the same row comes to what they say one after another.
func TestLatestRowsAreThoseOfOneAfterAnother(t *testing.T) {
	cost := func(c float64) *float64 { return &c }
	run := func(title string, unread json.RawMessage) Batch {
		r := seed("s1").Runs[0]
		r.Title, r.Unread, r.Created = title, unread, time.UnixMicro(int64(len(title))).UTC()
		return Batch{Runs: []Run{r}}
	}
	usage := func(turns int, tokens int64, cost *float64) Batch {
		u := event.Usage{InputTokens: tokens, OutputTokens: 9 - tokens, Cost: cost}
		return Batch{Usages: []RunUsage{{Run: "s1-r", Turns: turns, Usage: u, Own: u}}}
	}
	call := func(id, status string) Batch {
		return Batch{ToolCalls: []ToolCall{
			{ID: event.CallID(id), Run: "s1-r", Tool: "read", Status: event.CallStatus(status)},
		}}
	}
	begun := seed("s1")
	begun.Events = nil
	sequence := []Batch{
		begun, run("one", json.RawMessage(`["a"]`)), usage(1, 3, cost(0.5)), call("c1", ""), call("c2", ""),
		{Unreads: []Unread{{Run: "s1-r", Texts: json.RawMessage(`["b"]`)}}},
		call("c2", "ok"), call("c1", "error"),
		run("three", nil), usage(2, 5, cost(0.25)), usage(1, 4, cost(0.75)), call("c3", "ok"),
		run("fourth", nil), usage(4, 7, nil), usage(3, 6, cost(9)), call("c3", "error"),
	}
	state := func(sequence []Batch, together bool) string {
		s := newStore(t)
		if together {
			var jobs []*job
			for _, b := range sequence {
				jobs = append(jobs, &job{commit: &Commit{done: make(chan struct{})}, batch: b})
			}
			own := func(w *writer) ([]event.Event, error) { return w.apply(jobs) }
			if err := s.submitOwn(own, nil).Wait(testContext(t)); err != nil {
				t.Fatal(err)
			}
		} else {
			for _, b := range sequence {
				mustCommit(t, s, b)
			}
		}
		runs, err := s.Runs(t.Context(), "s1")
		if err != nil {
			t.Fatal(err)
		}
		calls, err := s.ToolCalls(t.Context(), "s1-r")
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal([]any{runs, calls})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for n := range sequence {
		if got, want := state(sequence[:n+1], true), state(sequence[:n+1], false); got != want {
			t.Errorf("the first %d in one transaction:\n%s\none after another:\n%s", n+1, got, want)
		}
	}
}
