package agentcore

import (
	"context"
	"testing"
	"testing/synctest"
)

// TestMergesWaitForAcceptedHunks: while the editor takes hunks, no run changes them; a run that is stopped does not
// wait.
func TestMergesWaitForAcceptedHunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Session{}
		release := s.HoldMerges()
		merged, done := false, make(chan bool)
		go func() { done <- s.unlessHeld(t.Context(), func() { merged = true }) }()
		synctest.Wait()
		if merged {
			t.Error("merged while hunks are taken")
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if s.unlessHeld(stopped, func() { t.Error("a stopped run merged while hunks are taken") }) {
			t.Error("a stopped run counts as merged")
		}
		release()
		if !<-done || !merged {
			t.Error("not merged afterwards")
		}
		if !s.unlessHeld(stopped, func() {}) {
			t.Error("a stopped run was not merged when nobody held the merges")
		}
	})
}
