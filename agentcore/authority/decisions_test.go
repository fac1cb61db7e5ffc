package authority

import (
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/agentls/agentls/agentcore/store"
)

// TestReadsAreShared: calls that wait for the same turn are answered by one read, which began after each of them, and
// what was read before a call does not answer it.
func TestReadsAreShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agentls.db")
	synctest.Test(t, func(t *testing.T) {
		s, err := store.Open(t.Context(), path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		d, err := NewDecisions(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := d.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if d.begun != 3 {
			t.Fatalf("there were %d reads, want one for each call", d.begun)
		}
		done, err := d.takeTurn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 16 {
			go func() {
				if err := d.Read(t.Context()); err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait() // all of them wait for the turn
		if err := s.Submit(store.Batch{
			Trusted: []store.Trusted{{Root: "/w", Decision: trusted}},
		}).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		done()
		synctest.Wait()
		if !d.Trusts("/w") {
			t.Error("what was decided before the turn came is not known")
		}
		if d.begun != 4 {
			t.Errorf("16 calls at once made %d reads", d.begun-3)
		}
	})
}
