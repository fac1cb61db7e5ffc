//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/beneath"
)

// sharing opens a box above a folder with files in folders of ten, whose secrets it asks the trees for.
func sharing(t *testing.T, trees *Trees, ws string) *Box {
	t.Helper()
	box, _ := open(t, nil, func(o *Options) {
		o.Roots, o.Trees = []string{ws}, trees
		o.Secret = func(path string) bool { return strings.HasSuffix(path, ".key") }
	})
	if !box.report.Overlay {
		t.Fatalf("this machine has no overlays: %+v", box.report)
	}
	return box
}

// asked is what was asked of the system for a folder's tree up to now.
func (t *Trees) asked(ws string) beneath.Calls {
	t.known.mu.Lock()
	defer t.known.mu.Unlock()
	s := t.known.byRoot[ws]
	if s == nil || s.tree == nil {
		return beneath.Calls{}
	}
	return s.tree.below.Calls()
}

// TestTreesAreShared: what one box has read of a folder no other reads again, but what has come meanwhile is hidden
// from its commands, also where the folder itself was replaced.
func TestTreesAreShared(t *testing.T) {
	var trees Trees
	ws := filepath.Join(t.TempDir(), "work")
	makeTree(t, ws, 500)
	write(t, filepath.Join(ws, "src/a.key"), "secret")
	shows := func(box *Box, name string) string {
		t.Helper()
		r, err := box.Run(t.Context(), Command{Script: "cat " + name + " 2>/dev/null || echo hidden"})
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Output)
	}
	first := sharing(t, &trees, ws)
	s, _ := trees.known.of(ws)
	if err := s.open(ws, first.roots[0].view.(*overlayView).disk, first.options.Secret); err != nil {
		t.Fatal(err)
	}
	s.tree.settled = -time.Hour // what was just made is believed
	first.Ahead()
	read := trees.asked(ws)
	if read.Folders != 1+3+50 {
		t.Errorf("ahead of a command %+v was asked for", read)
	}
	for _, box := range []*Box{first, sharing(t, &trees, ws)} {
		if got := shows(box, "src/a.key"); got != "hidden\n" {
			t.Errorf("a command is shown %q", got)
		}
	}
	if now := trees.asked(ws); now.Folders != read.Folders {
		t.Errorf("two commands have read %d folders", now.Folders-read.Folders)
	}
	write(t, filepath.Join(ws, "src/p00/b.key"), "secret")
	if got := shows(sharing(t, &trees, ws), "src/p00/b.key"); got != "hidden\n" {
		t.Errorf("a command is shown %q", got)
	}
	if err := os.Rename(ws, ws+"-old"); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(ws, "src/other.key"), "secret")
	if got := shows(sharing(t, &trees, ws), "src/other.key"); got != "hidden\n" {
		t.Errorf("where the folder was replaced, a command is shown %q", got)
	}
	if err := trees.Close(); err != nil {
		t.Error(err)
	}
}
