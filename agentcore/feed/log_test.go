package feed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// session is the one session of the tests.
const session = event.SessionID("s")

// fed is a log whose events come from a store.
type fed struct {
	*Log
	store *store.Store
}

func open(t *testing.T) fed {
	t.Helper()
	f := fed{Log: New()}
	var err error
	if f.store, err = store.Open(t.Context(), filepath.Join(t.TempDir(), "agentls.db"),
		store.Options{Committed: f.Append}); err != nil {
		t.Fatal(err)
	}
	f.Use(f.store)
	ctx, cancel := context.WithCancel(context.Background())
	trimmed := make(chan struct{})
	go func() {
		defer close(trimmed)
		f.Trim(ctx, slog.New(slog.DiscardHandler))
	}()
	t.Cleanup(func() {
		cancel()
		<-trimmed
		if err := f.store.Close(context.Background()); err != nil {
			t.Error(err)
		}
		f.Close()
	})
	if err := f.store.Submit(store.Batch{
		Sessions: []store.Session{{ID: session, State: store.SessionOpen}},
	}).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

// notices submits n events and waits until they are stored.
func (f fed) notices(t *testing.T, n int) {
	t.Helper()
	var last *store.Commit
	for i := range n {
		last = f.store.Submit(store.Batch{
			Events: []store.NewEvent{
				{Session: session, Body: event.Notice{Level: event.NoticeInfo, Message: fmt.Sprint(i)}},
			},
		})
	}
	if err := last.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A reader of all sessions that falls far behind, in a session that began after it, misses nothing.
func TestReaderFallsBehind(t *testing.T) {
	const n = 3 * keptEvents
	f := open(t)
	all := f.Subscribe("", 0, nil)
	f.notices(t, n)
	for i := range n {
		next, err := all.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if body, ok := next.Body.(event.Notice); !ok || body.Message != fmt.Sprint(i) {
			t.Fatalf("event %d is %+v", i, next)
		}
	}
}

// A reader of one session learns that what it wants was trimmed, and goes on behind that.
func TestReaderOfTrimmedEvents(t *testing.T) {
	f := open(t)
	late := f.Subscribe(session, 7, nil)
	f.notices(t, 500)
	if err := f.store.TrimEvents(t.Context(), session, 100, math.MaxUint64); err != nil {
		t.Fatal(err)
	}
	next, err := late.Next(t.Context())
	if body, ok := next.Body.(event.EventsTrimmed); err != nil || !ok || body.Missing != 393 || next.Seq != 400 ||
		next.Session != session {
		t.Fatalf("the first event is %+v, %v", next, err)
	}
	for seq := uint64(401); seq <= 500; seq++ {
		if next, err = late.Next(t.Context()); err != nil || next.Seq != seq {
			t.Fatalf("event %d is %+v, %v", seq, next, err)
		}
	}
	if first, last, err := f.store.SeqRange(t.Context(), session); first != 401 || last != 500 || err != nil {
		t.Errorf("the events from %d to %d are stored, %v", first, last, err)
	}
}

// A reader that comes while a message is written gets the beginning of that message, once, and nothing of older ones.
func TestReaderComesInTheMiddle(t *testing.T) {
	f := open(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	said := func(text string) {
		t.Helper()
		if err := f.store.Submit(store.Batch{
			Events: []store.NewEvent{{Session: session, Body: event.TextDelta{Text: text}}},
		}).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	f.notices(t, 1)
	said("an older message")
	f.notices(t, 1)
	said("The ")
	said("sum ")
	for _, since := range []uint64{0, 1, 2} {
		late := f.Subscribe(session, since, nil)
		for range 2 - since {
			if next, err := late.Next(ctx); err != nil || event.Transient(next.Body) {
				t.Fatalf("since %d: the event is %+v, %v", since, next, err)
			}
		}
		for _, want := range []string{"The ", "sum "} {
			next, err := late.Next(ctx)
			if body, ok := next.Body.(event.TextDelta); err != nil || !ok || body.Text != want {
				t.Fatalf("since %d: the event is %+v, %v, not %q", since, next, err, want)
			}
		}
		ended, end := context.WithCancel(ctx)
		end()
		if next, err := late.Next(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("since %d: there is one more event: %+v, %v", since, next, err)
		}
	}
}

// A reader gets no event of this process before those who wait for its commit have heard of that.
func TestReaderIsNotAheadOfTheLog(t *testing.T) {
	f := open(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	f.notices(t, 1)
	late := f.Subscribe(session, 1, nil)
	early := 0
	if err := f.store.Submit(store.Batch{
		Events: []store.NewEvent{{Session: session, Body: event.Notice{Message: "committed"}}},
		Committed: func() {
			if err := late.catchUp(ctx, 0); err != nil { // the row is in the store by now
				t.Error(err)
			}
			early = len(late.backlog)
		},
	}).Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if early > 0 {
		t.Error("the event was read while it was committed")
	}
	if next, err := late.Next(ctx); err != nil || next.Seq != 2 {
		t.Errorf("the event is %+v, %v", next, err)
	}
}

// Long sessions are trimmed by the engine, but for what a reader of all sessions has not read.
func TestLongSessionsAreTrimmed(t *testing.T) {
	const n = storedEvents + 2*trimEvery
	f := open(t)
	slow := f.Subscribe("", 0, nil)
	f.notices(t, n)
	if read := f.read(session); read != 0 {
		t.Fatalf("a reader that has read nothing lets go the events up to %d", read)
	}
	for i := range n {
		if next, err := slow.Next(t.Context()); err != nil || next.Seq != uint64(i+1) {
			t.Fatalf("event %d is %+v, %v", i+1, next, err)
		}
	}
	f.notices(t, trimEvery)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		first, last, err := f.store.SeqRange(t.Context(), session)
		if err != nil || last != n+trimEvery {
			t.Fatalf("the last event is %d, %v", last, err)
		}
		if first > 1 && first <= n-storedEvents+trimEvery+1 {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the events from %d on are still stored", first)
		}
	}
}

// A reader of all sessions that is closed holds nothing back, whatever it has not read, and no other reader with it.
func TestClosedReaderHoldsNothingBack(t *testing.T) {
	f := open(t)
	closed, reads := f.Subscribe("", 0, nil), f.Subscribe("", 0, nil)
	f.notices(t, 3)
	for range 2 {
		if _, err := reads.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		closed.Close()
		if read := f.read(session); read != 2 {
			t.Errorf("the events up to %d are let go, not 2", read)
		}
	}
	reads.Close()
	if read := f.read(session); read != math.MaxUint64 {
		t.Errorf("without a reader the events up to %d are let go", read)
	}
}

// What the log keeps in memory is bounded by its size, too.
func TestLogIsBoundedByItsSize(t *testing.T) {
	l := New()
	for i := range 200 {
		l.Append([]event.Event{
			{Seq: uint64(i + 1), Session: "s", Body: event.MessageCommitted{Text: strings.Repeat("x", 1<<20)}},
		})
	}
	if l.bytes > 2*keptBytes || len(l.ring) == 0 || l.first+uint64(len(l.ring)) != 200 {
		t.Errorf("%d events of %d bytes are kept, from %d", len(l.ring), l.bytes, l.first)
	}
}
