package store

import (
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

// What is read before each call of a tool is prepared once, and not for each call.
func TestReadsArePreparedOnce(t *testing.T) {
	s := newStore(t)
	for range 10 {
		if _, err := s.ProjectGrants(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.TrustedRoots(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.fixed.kept); n != 2 {
		t.Errorf("%d queries are kept, want those of the grants and of the folders", n)
	}
	if _, err := s.Findings(t.Context(), FindingFilter{Session: "s", State: FindingOpen}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CallsOf(t.Context(), make([]Message, 3)); err != nil {
		t.Fatal(err)
	}
	if n := len(s.fixed.kept); n != 2 {
		t.Errorf("%d queries are kept after two that are put together", n)
	}
}

// What is said of sessions in a list is read by the same two queries, whatever their number.
func TestListsOfSessionsArePreparedOnce(t *testing.T) {
	s := newStore(t)
	for _, id := range []event.SessionID{"s1", "s2"} {
		mustCommit(t, s, seed(id))
	}
	ids := []event.SessionID{"s1", "s2", "none"}
	for n := range len(ids) {
		all, err := s.Overviews(t.Context(), ids[:n+1], "hidden")
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids[:min(n+1, 2)] {
			if o := all[id]; o.Runs != 1 || o.OpenHunks != 1 || o.Status != event.StatusRunning {
				t.Errorf("session %s of %d is %+v", id, n+1, o)
			}
		}
		if len(all) != min(n+1, 2) {
			t.Errorf("there are %d sessions, want %d", len(all), min(n+1, 2))
		}
	}
	if n := len(s.fixed.kept); n != 2 {
		t.Errorf("%d queries were prepared, want 2", n)
	}
}
