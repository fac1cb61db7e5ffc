package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/event"
)

// published collects what a store publishes.
type published struct {
	mu     sync.Mutex
	events []event.Event
	calls  int
}

func (p *published) add(events []event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, events...)
	p.calls++
}

func (p *published) all() []event.Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.events
}

func TestConcurrentSubmitters(t *testing.T) {
	var p published
	var s *Store
	path := filepath.Join(t.TempDir(), "a.db")
	checked := make(chan error, 1)
	s = openStore(t, path, Options{Committed: func(events []event.Event) {
		// What is published can be read: it is committed.
		e := events[len(events)-1]
		stored, err := s.Events(context.Background(), e.Session, e.Seq-1, 1)
		if err == nil && (len(stored) != 1 || stored[0].Seq != e.Seq) {
			err = fmt.Errorf("event %d of %s was published, but the file has %v", e.Seq, e.Session, stored)
		}
		if err != nil {
			select {
			case checked <- err:
			default:
			}
		}
		p.add(events)
	}})
	ctx := testContext(t)
	const submitters, each = 16, 200
	mustCommit(t, s, Batch{Sessions: []Session{{ID: "even"}, {ID: "odd"}}})
	var wait sync.WaitGroup
	for n := range submitters {
		wait.Go(func() {
			session := []event.SessionID{"even", "odd"}[n%2]
			var last *Commit
			for i := range each {
				last = s.Submit(Batch{Events: []NewEvent{
					{Session: session, Run: event.RunID(fmt.Sprint(n)), Body: event.TurnStarted{Turn: i}},
				}})
			}
			if err := last.Wait(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	select {
	case err := <-checked:
		t.Fatal(err)
	default:
	}
	seqs := map[event.SessionID]uint64{}
	turns := map[event.RunID]int{}
	for _, e := range p.all() {
		if seqs[e.Session]++; e.Seq != seqs[e.Session] {
			t.Fatalf("event %d of %s has the number %d", seqs[e.Session], e.Session, e.Seq)
		}
		if turn := e.Body.(event.TurnStarted).Turn; turn != turns[e.Run] {
			t.Fatalf("submitter %s: turn %d came after %d", e.Run, turn, turns[e.Run]-1)
		}
		turns[e.Run]++
	}
	if n := len(p.all()); n != submitters*each {
		t.Fatalf("%d events were published", n)
	}
	var stored []event.Event
	for session := range seqs {
		stored = append(stored, must(s.Events(ctx, session, 0, 0))(t)...)
	}
	byPlace := func(events []event.Event) map[string]event.Event {
		all := map[string]event.Event{}
		for _, e := range events {
			all[fmt.Sprint(e.Session, e.Seq)] = e
		}
		return all
	}
	if diff := cmp.Diff(byPlace(p.all()), byPlace(stored)); diff != "" {
		t.Fatalf("what was published is not what is stored (-published +stored):\n%s", diff)
	}
}

func TestTransientEventsAreNotStored(t *testing.T) {
	var p published
	s := openStore(t, filepath.Join(t.TempDir(), "a.db"), Options{Committed: p.add})
	delta := NewEvent{Session: "s1", Body: event.TextDelta{Text: "a"}}
	notice := NewEvent{Session: "s1", Body: event.Notice{}}
	mustCommit(t, s, Batch{Sessions: []Session{{ID: "s1"}}})
	mustCommit(t, s, Batch{Events: []NewEvent{delta, notice, delta}})
	mustCommit(t, s, Batch{Events: []NewEvent{delta}})
	mustCommit(t, s, Batch{Events: []NewEvent{notice}})
	var seqs []uint64
	for _, e := range p.all() {
		seqs = append(seqs, e.Seq)
	}
	if diff := cmp.Diff([]uint64{0, 1, 1, 1, 2}, seqs); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
	if stored := must(s.Events(t.Context(), "s1", 0, 0))(t); len(stored) != 2 {
		t.Errorf("%d events are stored", len(stored))
	}
}

func TestFailedBatchTakesNoOtherWithIt(t *testing.T) {
	var p published
	s := openStore(t, filepath.Join(t.TempDir(), "a.db"), Options{Committed: p.add})
	ctx := testContext(t)
	mustCommit(t, s, Batch{Sessions: []Session{{ID: "s1"}}})
	release := hold(t, s)
	notice := func(session event.SessionID) Batch {
		return Batch{Events: []NewEvent{{Session: session, Body: event.Notice{Message: "m"}}}}
	}
	bad := notice("s1")
	bad.Messages = []Message{{ID: "m1", Run: "nobody"}}
	good1, failed1, failed2, good2 := s.Submit(notice("s1")), s.Submit(bad), s.Submit(notice("nobody")),
		s.Submit(notice("s1"))
	release()
	if err := errors.Join(good1.Wait(ctx), good2.Wait(ctx)); err != nil {
		t.Error(err)
	}
	if err := failed1.Wait(ctx); err == nil || !strings.Contains(err.Error(), "message m1") {
		t.Errorf("a message without a run: %v", err)
	}
	if err := failed2.Wait(ctx); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "session nobody") {
		t.Errorf("an event without a session: %v", err)
	}
	if events := p.all(); len(events) != 2 || events[0].Seq != 1 || events[1].Seq != 2 {
		t.Errorf("published: %+v", events)
	}
	for _, body := range []event.Body{nil, event.Unknown{Type: "Odd"}} {
		if err := s.Submit(Batch{Events: []NewEvent{{Session: "s1", Body: body}}}).Wait(ctx); err == nil {
			t.Errorf("an event with the body %#v was accepted", body)
		}
	}
}

// A batch that cannot be stored does not give each of many others a transaction of its own.
func TestFailedBatchCostsFewTransactions(t *testing.T) {
	var p published
	s := openStore(t, filepath.Join(t.TempDir(), "a.db"), Options{Committed: p.add})
	mustCommit(t, s, Batch{Sessions: []Session{{ID: "s1"}}})
	release := hold(t, s)
	const all = 1000
	commits := make([]*Commit, all)
	for i := range all {
		session := event.SessionID("s1")
		if i == all/3 {
			session = "nobody"
		}
		commits[i] = s.Submit(Batch{Events: []NewEvent{{Session: session, Body: event.Notice{}}}})
	}
	release()
	for i, c := range commits {
		if err := c.Wait(testContext(t)); errors.Is(err, ErrNotFound) != (i == all/3) {
			t.Fatalf("batch %d: %v", i, err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.events) != all-1 || p.calls > 10 {
		t.Errorf("%d events in %d transactions, want one for each halving", len(p.events), p.calls)
	}
}

func TestQueuedBatchesShareATransaction(t *testing.T) {
	var p published
	s := openStore(t, filepath.Join(t.TempDir(), "a.db"), Options{Committed: p.add})
	mustCommit(t, s, Batch{Sessions: []Session{{ID: "s1"}}})
	release := hold(t, s)
	var last *Commit
	for range 100 {
		last = s.Submit(Batch{Events: []NewEvent{{Session: "s1", Body: event.Notice{}}}})
	}
	release()
	if err := last.Wait(testContext(t)); err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.events) != 100 || p.calls != 1 {
		t.Errorf("%d events in %d transactions", len(p.events), p.calls)
	}
}

// hold keeps the writer busy until release is called, so that what is submitted meanwhile is one group.
func hold(t *testing.T, s *Store) (release func()) {
	held, gate := make(chan struct{}), make(chan struct{})
	c := s.submitOwn(func(*writer) ([]event.Event, error) {
		close(held)
		<-gate
		return nil, nil
	}, nil)
	<-held
	return func() {
		close(gate)
		if err := c.Wait(testContext(t)); err != nil {
			t.Error(err)
		}
	}
}

func TestFullDisk(t *testing.T) {
	var p published
	s := openStore(t, filepath.Join(t.TempDir(), "a.db"), Options{Committed: p.add})
	ctx := testContext(t)
	mustCommit(t, s, Batch{Sessions: []Session{{ID: "s1"}}})
	limit := func(pages string) {
		t.Helper()
		err := s.submitOwn(func(w *writer) ([]event.Event, error) {
			return nil, w.exec("PRAGMA max_page_count = " + pages)
		}, nil).Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
	}
	// One is less than the file has; SQLite takes the present size then.
	limit("1")
	large := NewEvent{Session: "s1", Body: event.Notice{Message: strings.Repeat("x", 1<<20)}}
	for range 3 {
		err := s.Submit(Batch{Events: []NewEvent{large}}).Wait(ctx)
		if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), filepath.Dir(s.Path())) {
			t.Fatalf("on a full disk: %v", err)
		}
	}
	// The writer goes on, at once with what is small, and with the rest when there is room.
	mustCommit(t, s, Batch{Sessions: []Session{{ID: "s1", Title: "t"}}})
	limit("1000000")
	mustCommit(t, s, Batch{Events: []NewEvent{large}})
	if events := p.all(); len(events) != 1 || events[0].Seq != 1 {
		t.Fatalf("published: %d events", len(events))
	}
}

func TestLockedFile(t *testing.T) {
	var p published
	s := openStore(t, filepath.Join(t.TempDir(), "a.db"), Options{Committed: p.add, BusyTimeout: 20 * time.Millisecond})
	ctx := testContext(t)
	mustCommit(t, s, Batch{Sessions: []Session{{ID: "s1"}}})
	other := must(dial(ctx, s.Path(), time.Second, writing))(t)
	defer other.close()
	if _, err := other.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	notice := Batch{Events: []NewEvent{{Session: "s1", Body: event.Notice{}}}}
	for range 2 {
		if err := s.Submit(notice).Wait(ctx); !errors.Is(err, ErrLocked) {
			t.Fatalf("while another holds the lock: %v", err)
		}
	}
	if _, err := s.Session(ctx, "s1"); err != nil {
		t.Fatalf("a reader needs no lock: %v", err)
	}
	if _, err := other.ExecContext(ctx, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	mustCommit(t, s, notice)
	if events := p.all(); len(events) != 1 || events[0].Seq != 1 {
		t.Fatalf("published: %+v", events)
	}
}

func TestCloseDoesNotWaitForALock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := must(Open(testContext(t), path, Options{BusyTimeout: time.Hour}))(t)
	ctx := testContext(t)
	mustCommit(t, s, Batch{Sessions: []Session{{ID: "s1"}}})
	other := must(dial(ctx, path, time.Second, writing))(t)
	defer other.close()
	if _, err := other.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	blocked := s.Submit(Batch{Sessions: []Session{{ID: "s2"}}})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("close: %v", err)
	}
	if err := blocked.Wait(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("what could not be saved: %v", err)
	}
}

func TestCloseDoesNotWaitForAReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := must(Open(testContext(t), path, Options{BusyTimeout: time.Hour}))(t)
	ctx := testContext(t)
	mustCommit(t, s, seed("s1"))
	other := must(dial(ctx, path, time.Second, reading))(t)
	defer other.close()
	tx := must(other.BeginTx(ctx, nil))(t)
	if found := must(texts(ctx, tx, "SELECT id FROM session"))(t); len(found) != 1 {
		t.Fatalf("sessions: %v", found)
	}
	// The deleted text cannot be wiped as long as the reader stays.
	if err := s.DeleteSession(ctx, "s1"); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	closed := make(chan error, 1)
	go func() { closed <- s.Close(ended) }()
	select {
	case err := <-closed:
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("close: %v", err)
		}
	case <-ctx.Done():
		t.Error("Close waits for a reader")
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	s := newStore(t)
	release := hold(t, s)
	c := s.Submit(Batch{Sessions: []Session{{ID: "s1"}}})
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the user left")
	cancel(cause)
	if err := c.Wait(ctx); !errors.Is(err, cause) {
		t.Errorf("wait: %v", err)
	}
	release()
	if err := c.Wait(testContext(t)); err != nil {
		t.Error(err)
	}
}

func TestTwoStoresShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	var p published
	stores := []*Store{openStore(t, path, Options{Committed: p.add}), openStore(t, path, Options{Committed: p.add})}
	ctx := testContext(t)
	mustCommit(t, stores[0], Batch{Sessions: []Session{{ID: "s1"}}})
	const each = 100
	var wait sync.WaitGroup
	for _, s := range stores {
		wait.Go(func() {
			for range each {
				if err := s.Submit(Batch{
					Events: []NewEvent{{Session: "s1", Body: event.Notice{}}},
				}).Wait(ctx); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	seen := map[uint64]bool{}
	for _, e := range p.all() {
		if seen[e.Seq] {
			t.Fatalf("number %d was given twice", e.Seq)
		}
		seen[e.Seq] = true
	}
	if last := must(stores[0].LastSeq(ctx, "s1"))(t); len(seen) != 2*each || last != 2*each {
		t.Fatalf("%d events, the last has number %d", len(seen), last)
	}
}
