package agentcore

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/run"
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

// notices submits events and waits until they are stored.
func notices(t *testing.T, s *Session, n int) {
	t.Helper()
	for i := range n {
		s.shared.Events.SubmitNow(store.Batch{}, "", event.Notice{Level: event.NoticeInfo, Message: fmt.Sprint(i)})
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// openBeside opens another engine on the state folder of one, as another process would.
func openBeside(t *testing.T, e *Engine, name string) *Engine {
	t.Helper()
	other, err := Open(t.Context(), Options{StateDir: e.process.StateDir, Name: name})
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
	const batch = 100 // a reader takes fewer from the store at a time than are to be read
	e, s := openEngine(t)
	other := openBeside(t, e, "")
	notices(t, s, 3*batch)
	events := other.Subscribe(s.ID, 0)
	for round := range 3 {
		for i := range 3 * batch {
			next, err := events.Next(t.Context())
			if seq := uint64(round*3*batch + i + 1); err != nil || next.Seq != seq {
				t.Fatalf("event %d is %+v, %v", seq, next, err)
			}
		}
		if round < 2 {
			notices(t, s, 3*batch)
		}
	}
	owner, err := other.store.Owner(t.Context(), s.ID)
	if err != nil || !owner.Alive || owner.Own || owner.PID != os.Getpid() ||
		owner.String() != fmt.Sprintf("another agentls process (%d)", os.Getpid()) {
		t.Errorf("the session is open in %+v, %v", owner, err)
	}
	if err := e.Retention().Delete(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := events.Next(t.Context()); !fault.Is(err, fault.NotFound) {
		t.Errorf("the reader of a deleted session gets %v", err)
	}
}

// What an engine remembers of runs does not grow for ever.
func TestEndedRunsAreForgotten(t *testing.T) {
	e := &Engine{runs: map[event.RunID]*run.Run{}}
	for i := range keptRuns + 1 {
		id := event.RunID(fmt.Sprint(i))
		e.runs[id] = &run.Run{}
		e.retire(id)
	}
	if _, err := e.run("0"); err == nil || len(e.runs) != keptRuns {
		t.Errorf("%d runs are remembered (%v), want the newest %d", len(e.runs), err, keptRuns)
	}
}
