package agentcore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/workspace"
)

func openEngine(t *testing.T) (*Engine, *Session) {
	t.Helper()
	e, err := Open(t.Context(), Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	view, err := workspace.Open([]workspace.Root{{Path: dir}}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.OpenSession(t.Context(), view, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := view.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, s
}

// A reader of all sessions that falls far behind, in a session that began after it, misses nothing.
func TestReaderFallsBehind(t *testing.T) {
	const n = 3 * keptEvents
	e, s := openEngine(t)
	all := e.Subscribe("", 0)
	for i := range n {
		s.submitNow(store.Batch{}, "", event.Notice{Level: event.NoticeInfo, Message: fmt.Sprint(i)})
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
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

// notices submits events and waits until they are stored.
func notices(t *testing.T, s *Session, n int) {
	t.Helper()
	for i := range n {
		s.submitNow(store.Batch{}, "", event.Notice{Level: event.NoticeInfo, Message: fmt.Sprint(i)})
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A reader of one session learns that what it wants was trimmed, and goes on behind that.
func TestReaderOfTrimmedEvents(t *testing.T) {
	e, s := openEngine(t)
	late := e.Subscribe(s.ID, 7)
	notices(t, s, 500)
	if err := e.store.TrimEvents(t.Context(), s.ID, 100, math.MaxUint64); err != nil {
		t.Fatal(err)
	}
	next, err := late.Next(t.Context())
	if body, ok := next.Body.(event.EventsTrimmed); err != nil || !ok || body.Missing != 393 || next.Seq != 400 || next.Session != s.ID {
		t.Fatalf("the first event is %+v, %v", next, err)
	}
	for seq := uint64(401); seq <= 500; seq++ {
		if next, err = late.Next(t.Context()); err != nil || next.Seq != seq {
			t.Fatalf("event %d is %+v, %v", seq, next, err)
		}
	}
	if first, last, err := e.store.SeqRange(t.Context(), s.ID); first != 401 || last != 500 || err != nil {
		t.Errorf("the events from %d to %d are stored, %v", first, last, err)
	}
}

// Long sessions are trimmed by the engine, but for what a reader of all sessions has not read.
func TestLongSessionsAreTrimmed(t *testing.T) {
	const n = storedEvents + 2*trimEvery
	e, s := openEngine(t)
	slow := e.Subscribe("", 0)
	notices(t, s, n)
	if read := e.log.read(s.ID); read != 0 {
		t.Fatalf("a reader that has read nothing lets go the events up to %d", read)
	}
	for i := range n {
		if next, err := slow.Next(t.Context()); err != nil || next.Seq != uint64(i+1) {
			t.Fatalf("event %d is %+v, %v", i+1, next, err)
		}
	}
	notices(t, s, trimEvery)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		first, last, err := e.store.SeqRange(t.Context(), s.ID)
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

// What the log keeps in memory is bounded by its size, too.
func TestLogIsBoundedByItsSize(t *testing.T) {
	l := newEventLog()
	for i := range 200 {
		l.append([]event.Event{{Seq: uint64(i + 1), Session: "s", Body: event.MessageCommitted{Text: strings.Repeat("x", 1<<20)}}})
	}
	if l.bytes > 2*keptBytes || len(l.ring) == 0 || l.first+uint64(len(l.ring)) != 200 {
		t.Errorf("%d events of %d bytes are kept, from %d", len(l.ring), l.bytes, l.first)
	}
}

// openBeside opens another engine on the state folder of one, as another process would.
func openBeside(t *testing.T, e *Engine, name string) *Engine {
	t.Helper()
	other, err := Open(t.Context(), Options{StateDir: e.stateDir, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := other.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return other
}

// A reader in another process gets the stored events, also those of a later time, and learns that the session is gone.
func TestReaderInAnotherProcess(t *testing.T) {
	e, s := openEngine(t)
	other := openBeside(t, e, "")
	notices(t, s, 3*readEvents)
	events := other.Subscribe(s.ID, 0)
	for round := range 3 {
		for i := range 3 * readEvents {
			next, err := events.Next(t.Context())
			if seq := uint64(round*3*readEvents + i + 1); err != nil || next.Seq != seq {
				t.Fatalf("event %d is %+v, %v", seq, next, err)
			}
		}
		if round < 2 {
			notices(t, s, 3*readEvents)
		}
	}
	owner, err := other.store.Owner(t.Context(), s.ID)
	if err != nil || !owner.Alive || owner.Own || owner.PID != os.Getpid() || owner.String() != fmt.Sprintf("another agentls process (%d)", os.Getpid()) {
		t.Errorf("the session is open in %+v, %v", owner, err)
	}
	if err := e.DeleteSession(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	var refusal *fault.Error
	if _, err := events.Next(t.Context()); !errors.As(err, &refusal) || refusal.Kind != "not_found" {
		t.Errorf("the reader of a deleted session gets %v", err)
	}
}

// What an engine remembers of runs does not grow for ever.
func TestEndedRunsAreForgotten(t *testing.T) {
	e := &Engine{runs: map[event.RunID]*run{}}
	for i := range keptRuns + 1 {
		id := event.RunID(fmt.Sprint(i))
		e.runs[id] = &run{id: id}
		e.retire(id)
	}
	if _, err := e.run("0"); err == nil || len(e.runs) != keptRuns {
		t.Errorf("%d runs are remembered (%v), want the newest %d", len(e.runs), err, keptRuns)
	}
}
