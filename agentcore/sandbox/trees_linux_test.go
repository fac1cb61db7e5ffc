//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// TestScanEnds: a look at a folder ends with its context, as does the wait for another one, and the next one finds what
// it left out.
func TestScanEnds(t *testing.T) {
	ws := t.TempDir()
	makeTree(t, ws, 500)
	write(t, filepath.Join(ws, "src/p00/internal/m49/a.key"), "secret")
	disk, err := os.OpenRoot(ws)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	var trees Trees
	defer trees.Close()
	ctx, cancel := context.WithCancel(t.Context())
	asked, held := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(asked) })
	secret := func(path string) bool {
		if strings.HasSuffix(path, "/f0.go") && ctx.Err() == nil {
			first()
			<-held
		}
		return strings.HasSuffix(path, ".key")
	}
	ended := make(chan error)
	go func() {
		_, _, err := trees.known.scan(ctx, ws, disk, secret)
		ended <- err
	}()
	<-asked
	gone, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := trees.known.scan(gone, ws, disk, secret); !errors.Is(err, context.Canceled) {
		t.Errorf("a look that waits for another one is told %v", err)
	}
	cancel()
	close(held)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a look that was cancelled is told %v", err)
	}
	if read := trees.asked(ws).Folders; read > 10 {
		t.Errorf("it has read %d of 54 folders", read)
	}
	secrets, _, err := trees.known.scan(t.Context(), ws, disk, secret)
	if err != nil || len(secrets) != 1 {
		t.Errorf("the next one finds %q, %v", secrets, err)
	}
}
