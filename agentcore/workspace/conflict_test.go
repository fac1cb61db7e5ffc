package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

// conflicted opens a file, has an agent edit it, and then the user type over the same line.
func conflicted(t *testing.T) (*View, *Proposal, string, Hunk) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	v, err := Open([]Root{{Path: dir}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	s := v.NewProposal(ProposalOptions{ID: "p"})
	v.SetDocument(path, "one\ntwo\nthree\n", 1)
	l := s.Fork()
	f, err := l.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Write(path, "one\nTWO\nthree\n", f.Stamp, Author{Agent: "coder"}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Merge(); err != nil {
		t.Fatal(err)
	}
	v.SetDocument(path, "one\nmine\nthree\n", 2)
	hunks := s.Hunks()
	if len(hunks) != 1 || hunks[0].State != event.StateConflict {
		t.Fatalf("there is no conflict: %+v", hunks)
	}
	return v, s, path, hunks[0]
}

func TestSides(t *testing.T) {
	_, s, path, h := conflicted(t)
	got, ok := s.Sides(h.ID)
	want := Conflict{Path: path, StartLine: 1, EndLine: 2, Base: "two\n", Ours: "TWO\n", Theirs: "mine\n"}
	if !ok || got != want {
		t.Errorf("Sides = %+v, %t, not %+v", got, ok, want)
	}
	if _, ok := s.Sides("nothing"); ok {
		t.Error("an unknown hunk has sides")
	}
}

func TestOverwrite(t *testing.T) {
	v, s, path, h := conflicted(t)
	if failed := s.Overwrite([]event.HunkID{h.ID, "nothing"}); len(failed) != 1 || failed[0].ID != "nothing" {
		t.Errorf("failures: %+v", failed)
	}
	edits, failed := s.Edits([]event.HunkID{h.ID})
	if len(failed) != 0 || len(edits) != 1 || edits[0].After() != "one\nTWO\nthree\n" || edits[0].Version != 2 {
		t.Fatalf("Edits = %+v, %+v", edits, failed)
	}
	if _, ok := s.Sides(h.ID); ok {
		t.Error("an open hunk has sides")
	}
	v.SetDocument(path, edits[0].After(), 3)
	if now, _ := s.Hunk(h.ID); now.State != event.StateAccepted {
		t.Errorf("after the edit the hunk is %+v", now)
	}
}

func TestOverwriteOfNothing(t *testing.T) {
	v, s, path, h := conflicted(t)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	v.CloseDocument(path)
	if err := v.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if failed := s.Overwrite([]event.HunkID{h.ID}); len(failed) != 1 {
		t.Errorf("a hunk of a file that is gone can be taken: %+v", failed)
	}
}
