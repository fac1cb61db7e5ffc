package store

import "testing"

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
