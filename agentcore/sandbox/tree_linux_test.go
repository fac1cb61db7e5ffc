//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentls/agentls/agentcore/beneath"
)

// newTestTree is the tree of a folder. owners tells whether it asks for the owners of files.
func newTestTree(t testing.TB, dir string, owners bool) *tree {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := newTree(view{root: dir, disk: root}, func(path string) bool { return strings.HasSuffix(path, ".key") })
	if err != nil {
		t.Fatal(err)
	}
	tr.owners = owners
	t.Cleanup(func() {
		if err := tr.close(); err != nil {
			t.Error(err)
		}
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	return tr
}

// BenchmarkScan looks for secrets, and for strange owners, in a tree that nothing is known of and in one that has not
// changed.
func BenchmarkScan(b *testing.B) {
	for _, files := range []int{10, 1000, 10_000, 100_000} {
		dir := b.TempDir()
		makeTree(b, dir, files)
		made := time.Now()
		for name, owners := range map[string]bool{"secrets": false, "owners": true} {
			b.Run(fmt.Sprintf("%s/first/files=%d", name, files), func(b *testing.B) {
				for b.Loop() {
					tr := newTestTree(b, dir, owners)
					if _, _, err := tr.scan(); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%s/next/files=%d", name, files), func(b *testing.B) {
				tr := newTestTree(b, dir, owners)
				for time.Since(made) < settled+time.Second {
					if _, _, err := tr.scan(); err != nil {
						b.Fatal(err)
					}
				}
				if _, _, err := tr.scan(); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if _, _, err := tr.scan(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// scanned are the names of the secrets of a tree, and what was asked of the system for them.
func scanned(t *testing.T, tr *tree) (string, beneath.Calls) {
	t.Helper()
	before := tr.below.Calls()
	secrets, foreign, err := tr.scan()
	if err != nil || len(foreign) > 0 {
		t.Fatal(foreign, err)
	}
	for i, s := range secrets {
		secrets[i] = strings.TrimPrefix(s, tr.root+"/")
	}
	after := tr.below.Calls()
	return strings.Join(secrets, " "), beneath.Calls{Folders: after.Folders - before.Folders, Looks: after.Looks - before.Looks}
}

// TestScanCalls: a folder is opened once, whatever its depth, and then looked at with one call until it changes.
func TestScanCalls(t *testing.T) {
	dir := t.TempDir()
	makeTree(t, dir, 500)
	write(t, filepath.Join(dir, "src/p00/internal/m07/a.key"), "")
	const folders = 1 + 3 + 50
	tr := newTestTree(t, dir, false)
	tr.settled = -time.Hour // touch sees to the ticks of the clock
	const key = "src/p00/internal/m07/a.key"
	if got, calls := scanned(t, tr); got != key || calls != (beneath.Calls{Folders: folders}) {
		t.Errorf("first: %s with %+v", got, calls)
	}
	for range 3 {
		if got, calls := scanned(t, tr); got != key || calls != (beneath.Calls{Looks: folders}) {
			t.Errorf("again: %s with %+v", got, calls)
		}
	}
	touch(t, filepath.Join(dir, "src/p00/internal/m03"), "b.key")
	if got, calls := scanned(t, tr); got != "src/p00/internal/m03/b.key "+key || calls != (beneath.Calls{Folders: 1, Looks: folders}) {
		t.Errorf("one more: %s with %+v", got, calls)
	}
	touch(t, filepath.Join(dir, "src/p00/internal"), "new/deep/c.key")
	if got, calls := scanned(t, tr); got != "src/p00/internal/m03/b.key "+key+" src/p00/internal/new/deep/c.key" ||
		calls != (beneath.Calls{Folders: 3, Looks: folders}) {
		t.Errorf("a new folder: %s with %+v", got, calls)
	}
	fresh := newTestTree(t, dir, true)
	if _, calls := scanned(t, fresh); calls != (beneath.Calls{Folders: folders + 2, Looks: 503}) {
		t.Errorf("with owners: %+v", calls)
	}
}

// touch makes a file below a folder, in another tick of the clock than the folder's last change.
func touch(t *testing.T, dir, name string) {
	t.Helper()
	changed := func() unix.Timespec {
		var s unix.Stat_t
		if err := unix.Lstat(dir, &s); err != nil {
			t.Fatal(err)
		}
		return s.Ctim
	}
	for before := changed(); changed() == before; {
		write(t, filepath.Join(dir, "tick"), "")
		if err := os.Remove(filepath.Join(dir, "tick")); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, name), "")
}

// TestScanNow: what is there when a scan begins is found, also where it came in the same tick of the clock as the last
// scan, or where the folder was given its former time again.
func TestScanNow(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "a/b")
	write(t, filepath.Join(folder, "text"), "")
	tr := newTestTree(t, dir, false)
	for i := range 50 {
		if got, _ := scanned(t, tr); got != "" {
			t.Fatalf("%d: %s", i, got)
		}
		key := filepath.Join(folder, "new.key")
		info, err := os.Stat(folder)
		if err != nil {
			t.Fatal(err)
		}
		write(t, key, "")
		if err := os.Chtimes(folder, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		if got, _ := scanned(t, tr); got != "a/b/new.key" {
			t.Fatalf("%d: %q", i, got)
		}
		if err := os.Remove(key); err != nil {
			t.Fatal(err)
		}
	}
}

// TestScanLinks: a folder that becomes a link is not entered, wherever it leads, and what was known of it is forgotten.
func TestScanLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for _, in := range []string{dir + "/a", dir + "/other", outside} {
		write(t, filepath.Join(in, "b/a.key"), "")
	}
	tr := newTestTree(t, dir, false)
	tr.settled = -time.Hour
	if got, _ := scanned(t, tr); got != "a/b/a.key other/b/a.key" {
		t.Fatal(got)
	}
	for _, to := range []string{outside, "other", "elsewhere", "a"} {
		touch(t, dir, "text")
		if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(dir, "a")); err != nil {
			t.Fatal(err)
		}
		if got, _ := scanned(t, tr); got != "other/b/a.key" {
			t.Errorf("a link to %s: %s", to, got)
		}
	}
	// The very same folder, by a link in its place.
	touch(t, dir, "text")
	if err := os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("moved", filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	if got, _ := scanned(t, tr); got != "moved/b/a.key" {
		t.Error(got)
	}
}

// TestScanDeep: a path may be longer than a call takes.
func TestScanDeep(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	rel := strings.TrimSuffix(strings.Repeat(strings.Repeat("d", 200)+"/", 25), "/")
	if err := root.MkdirAll(rel, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile(rel+"/a.key", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tr := newTestTree(t, dir, false)
	tr.settled = -time.Hour
	for range 2 {
		if got, _ := scanned(t, tr); got != rel+"/a.key" {
			t.Errorf("%d bytes are found", len(got))
		}
	}
}
