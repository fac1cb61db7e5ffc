package workspace

import (
	"path/filepath"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

// TestBlankNewFile shows a new file as Neovim does: first as one empty line, then with its text.
func TestBlankNewFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	v, err := Open([]Root{{Path: dir}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	s := v.NewProposal(ProposalOptions{ID: "p"})
	l := s.Fork()
	if _, err := l.Write(path, "one\n", "", Author{}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Merge(); err != nil {
		t.Fatal(err)
	}
	id := s.Hunks()[0].ID
	v.SetDocument(path, "\n", 1)
	edits, failed := s.Edits([]event.HunkID{id})
	if len(failed) != 0 || len(edits) != 1 || edits[0].After() != "one\n" {
		t.Fatalf("over an empty line the edit is %+v, %+v", edits, failed)
	}
	s.Confirm([]event.HunkID{id}, true, "")
	v.SetDocument(path, "one\n", 2)
	if h, _ := s.Hunk(id); h.State != event.StateAccepted {
		t.Errorf("the hunk is %+v", h)
	}
	if back := s.Accepted(); len(back) != 1 || !back[0].Delete {
		t.Errorf("its undo is %+v", back)
	}
}
