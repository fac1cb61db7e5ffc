package agentcore

import (
	"context"
	"fmt"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
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
