//go:build unix

package workspace

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestPipesAreNotOpened(t *testing.T) {
	v, dir := open(t, map[string]string{"a": ""})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Read(filepath.Join(dir, "pipe")); kind(err) != NotRegular {
		t.Errorf("got %v", err)
	}
	entries, err := v.NewProposal(ProposalOptions{}).Fork().List(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("got %+v, %v", entries, err)
	}
}
