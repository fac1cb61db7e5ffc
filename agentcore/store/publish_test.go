package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore/event"
)

// plan is one batch of the property test.
type plan struct {
	// fault is what is wrong with the batch, empty for a sound one.
	fault  string
	events []NewEvent
}

var (
	planSessions = []event.SessionID{"s0", "s1", "s2"}
	planFaults   = []string{"", "", "", "no run", "no session"}
)

// group is batches that meet in one transaction, and says which of the COMMITs then fail.
type group struct {
	plans  []plan
	refuse []bool
}

// drawGroups makes all that a case does. A draw may end the case, so that nothing may wait meanwhile.
func drawGroups(t *rapid.T) []group {
	groups := make([]group, rapid.IntRange(1, 6).Draw(t, "groups"))
	number := 0
	for i := range groups {
		groups[i].refuse = rapid.SliceOfN(rapid.Bool(), 0, 5).Draw(t, "refuse")
		for range rapid.IntRange(1, 5).Draw(t, "batches") {
			groups[i].plans = append(groups[i].plans, drawPlan(t, number))
			number++
		}
	}
	return groups
}

// drawPlan makes a batch whose events carry its number.
func drawPlan(t *rapid.T, number int) plan {
	p := plan{fault: rapid.SampledFrom(planFaults).Draw(t, "fault")}
	for range rapid.IntRange(0, 3).Draw(t, "events") {
		e := NewEvent{
			Session: rapid.SampledFrom(planSessions).Draw(t, "session"),
			Time:    time.UnixMicro(int64(number)).UTC(),
		}
		if rapid.Bool().Draw(t, "transient") {
			e.Body = event.TextDelta{Text: fmt.Sprint(number)}
		} else {
			e.Body = event.TurnStarted{Turn: number}
		}
		p.events = append(p.events, e)
	}
	return p
}

func (p plan) batch() Batch {
	b := Batch{Sessions: []Session{{ID: planSessions[0], Title: "touched"}}, Events: p.events}
	switch p.fault {
	case "no run":
		b.Messages = []Message{{ID: "m", Run: "nobody"}}
	case "no session":
		b.Events = append(b.Events[:len(b.Events):len(b.Events)], NewEvent{Session: "nobody", Body: event.Notice{}})
	}
	return b
}

// observer sees what a store publishes, and looks at the file through a connection of its own.
type observer struct {
	file *connection
	// refuse says for the next COMMITs whether they fail. Only the writer's goroutine uses it.
	refuse []bool

	mu       sync.Mutex
	commits  []*Commit // by the numbers of the batches
	events   []event.Event
	problems []string
}

func (o *observer) problem(format string, args ...any) {
	o.problems = append(o.problems, fmt.Sprintf(format, args...))
}

// committed is Options.Committed.
func (o *observer) committed(events []event.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range events {
		number := int(e.Time.UnixMicro())
		select {
		case <-o.commits[number].Done():
			o.problem("batch %d was acknowledged before event %d of %s was published", number, e.Seq, e.Session)
		default:
		}
		if event.Transient(e.Body) {
			continue
		}
		found, err := texts(context.Background(), o.file, "SELECT body FROM event WHERE session = ? AND seq = ?",
			e.Session, int64(e.Seq))
		switch {
		case err != nil:
			o.problem("look for event %d of %s: %v", e.Seq, e.Session, err)
		case len(found) == 0:
			o.problem("event %d of %s was published before it was in the file", e.Seq, e.Session)
		case found[0] != fmt.Sprintf(`{"turn":%d}`, number):
			o.problem("event %d of %s was published for batch %d, the file has %s", e.Seq, e.Session, number, found)
		}
	}
	o.events = append(o.events, events...)
}

// injectRefusals makes COMMIT fail when the observer says so, by SQLite's commit hook.
func (o *observer) injectRefusals(s *Store) error {
	return s.submitOwn(func(w *writer) ([]event.Event, error) {
		return nil, w.conn.Raw(func(driver any) error {
			driver.(sqlite.HookRegisterer).RegisterCommitHook(func() int32 {
				if len(o.refuse) == 0 {
					return 0
				}
				refused := o.refuse[0]
				o.refuse = o.refuse[1:]
				if refused {
					return 1
				}
				return 0
			})
			return nil
		})
	}, nil).Wait(context.Background())
}

func wasRefused(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_COMMITHOOK
}

// TestPublishedIsCommitted: whatever fails, an event is published if and only if its batch is
// acknowledged as committed, before the acknowledgement, after the COMMIT, in the order of Submit, and
// with numbers that have no gap.
func TestPublishedIsCommitted(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) { checkPublished(t, folder) })
}

func checkPublished(t *rapid.T, folder string) {
	groups := drawGroups(t)
	ctx, cancel := context.WithTimeout(context.Background(), watchdog)
	defer cancel()
	noError := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp(folder, "")
	noError(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "a.db")
	o := &observer{}
	s, err := Open(ctx, path, Options{Committed: o.committed})
	noError(err)
	defer func() { noError(s.Close(ctx)) }()
	o.file, err = dial(ctx, path, time.Second, reading)
	noError(err)
	defer func() { noError(o.file.close()) }()
	var sessions Batch
	for _, id := range planSessions {
		sessions.Sessions = append(sessions.Sessions, Session{ID: id})
	}
	noError(s.Submit(sessions).Wait(ctx))
	noError(o.injectRefusals(s))

	var plans []plan
	for _, g := range groups {
		// The writer waits at the gate, so that the batches of a group meet in one transaction.
		gate := make(chan struct{})
		held := s.submitOwn(func(*writer) ([]event.Event, error) {
			<-gate
			return nil, nil
		}, func(*writer) { o.refuse = g.refuse })
		o.mu.Lock()
		for _, p := range g.plans {
			o.commits = append(o.commits, s.Submit(p.batch()))
		}
		o.mu.Unlock()
		plans = append(plans, g.plans...)
		close(gate)
		noError(held.Wait(ctx))
		noError(o.settle(ctx))
	}
	o.check(ctx, t, s, plans)
}

// settle waits until every batch has its fate, and ends the refusals, which the next gate must not meet.
func (o *observer) settle(ctx context.Context) error {
	for _, c := range o.commits {
		select {
		case <-c.Done():
		case <-ctx.Done():
			return errors.New("a batch has no fate")
		}
	}
	o.refuse = nil
	return nil
}

// check compares what was published with what was acknowledged, and with the file.
func (o *observer) check(ctx context.Context, t *rapid.T, s *Store, plans []plan) {
	for _, problem := range o.problems {
		t.Error(problem)
	}
	last := map[event.SessionID]uint64{}
	stored := map[event.SessionID][]event.Event{}
	var want []event.Event
	for number, p := range plans {
		err := o.commits[number].Wait(ctx)
		if p.fault != "" && err == nil || p.fault == "" && err != nil && !wasRefused(err) {
			t.Errorf("batch %d (fault %q): %v", number, p.fault, err)
		}
		if err != nil {
			continue
		}
		for _, e := range p.events {
			if !event.Transient(e.Body) {
				last[e.Session]++
			}
			numbered := event.Event{Seq: last[e.Session], Session: e.Session, Time: e.Time, Body: e.Body}
			want = append(want, numbered)
			if !event.Transient(e.Body) {
				stored[e.Session] = append(stored[e.Session], numbered)
			}
		}
	}
	if diff := cmp.Diff(want, o.events); diff != "" {
		t.Errorf("published is not what was acknowledged (-acknowledged +published):\n%s", diff)
	}
	for _, id := range planSessions {
		events, err := s.Events(ctx, id, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(stored[id], events); diff != "" {
			t.Errorf("the file is not what was acknowledged (-acknowledged +file):\n%s", diff)
		}
	}
}
