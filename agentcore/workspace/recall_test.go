package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

// What a run no longer has before its eyes it knows in part: by the same stamp, but not whole.
func TestRecall(t *testing.T) {
	v, dir := open(t, map[string]string{"a": five, "b": five})
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	layer := v.NewProposal(ProposalOptions{}).Fork()
	for _, path := range []string{a, b} {
		if _, err := layer.Read(path); err != nil {
			t.Fatal(err)
		}
	}
	layer.NextTurn()
	before, _ := layer.Seen(b)
	layer.Recall(func(path string) bool { return path == a })
	if _, ok := layer.SeenWhole(a); !ok {
		t.Error("the file that is still shown is forgotten")
	}
	if _, ok := layer.SeenWhole(b); ok {
		t.Error("a file that is shown no more is known whole")
	}
	if now, ok := layer.Seen(b); !ok || now != before {
		t.Errorf("the stamp of a file that is shown no more is %q, want %q", now, before)
	}
}

// A file that the editor renames is known whole under the name that the run knows, and in part under the new one: the
// run may mean to make a file of that name.
func TestKnownUnderANewName(t *testing.T) {
	v, dir := open(t, map[string]string{"a": five})
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	layer := v.NewProposal(ProposalOptions{}).Fork()
	read, err := layer.Read(a)
	if err != nil {
		t.Fatal(err)
	}
	layer.NextTurn()
	if err := os.Rename(a, b); err != nil {
		t.Fatal(err)
	}
	v.Rename(a, b)
	if stamp, ok := layer.SeenWhole(a); !ok || stamp != read.Stamp {
		t.Errorf("the old name is known as %q, %t", stamp, ok)
	}
	if stamp, ok := layer.Seen(b); !ok || stamp != read.Stamp {
		t.Errorf("the new name is known as %q, %t", stamp, ok)
	}
	if _, ok := layer.SeenWhole(b); ok {
		t.Error("a run that does not know of the new name may write a whole file there")
	}
}
