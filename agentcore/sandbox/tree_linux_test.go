//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
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
	tr, err := newTree(dir, root, func(path string) bool { return strings.HasSuffix(path, ".key") })
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
					if _, _, err := tr.scan(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%s/next/files=%d", name, files), func(b *testing.B) {
				tr := newTestTree(b, dir, owners)
				for time.Since(made) < settled+time.Second {
					if _, _, err := tr.scan(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
				if _, _, err := tr.scan(b.Context()); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if _, _, err := tr.scan(b.Context()); err != nil {
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
	secrets, foreign, err := tr.scan(t.Context())
	if err != nil || len(foreign) > 0 {
		t.Fatal(foreign, err)
	}
	for i, s := range secrets {
		secrets[i] = strings.TrimPrefix(s, tr.root+"/")
	}
	after := tr.below.Calls()
	return strings.Join(secrets, " "), beneath.Calls{
		Folders: after.Folders - before.Folders, Looks: after.Looks - before.Looks,
	}
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
	if got, calls := scanned(t, tr); got != "src/p00/internal/m03/b.key "+key ||
		calls != (beneath.Calls{Folders: 1, Looks: folders}) {
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

// nextTick waits until the clock of a file system has moved on.
func nextTick(t *testing.T, dir string) {
	t.Helper()
	name := filepath.Join(dir, "tick")
	now := func() unix.Timespec {
		var s unix.Stat_t
		if err := errors.Join(os.WriteFile(name, nil, 0o644), os.Chmod(name, 0o644), unix.Stat(name, &s)); err != nil {
			t.Fatal(err)
		}
		return s.Ctim
	}
	for from := now(); now() == from; {
	}
}

// newWatchedTree is a tree of few folders that is watched.
func newWatchedTree(t *testing.T, dir string) *tree {
	t.Helper()
	tr := newTestTree(t, dir, false)
	tr.settled, tr.watchFrom = -time.Hour, 0
	scanned(t, tr)
	if tr.watch.Load() == nil {
		t.Fatal("nothing is watched")
	}
	return tr
}

// TestScanWatched: a command in a tree that is watched asks for nothing, whatever the tree, and for a folder that has
// changed alone.
func TestScanWatched(t *testing.T) {
	dir := t.TempDir()
	makeTree(t, dir, 2000)
	write(t, filepath.Join(dir, "src/p00/internal/m07/a.key"), "")
	tr := newWatchedTree(t, dir)
	const key = "src/p00/internal/m07/a.key"
	for range 3 {
		if got, calls := scanned(t, tr); got != key || calls != (beneath.Calls{}) {
			t.Errorf("nothing has changed: %s with %+v", got, calls)
		}
	}
	write(t, filepath.Join(dir, "src/p01/internal/m03/f1.go"), "other text")
	if got, calls := scanned(t, tr); got != key || calls != (beneath.Calls{}) {
		t.Errorf("a text has changed: %s with %+v", got, calls)
	}
	write(t, filepath.Join(dir, "src/p01/internal/m03/b.key"), "")
	if got, calls := scanned(t, tr); got != key+" src/p01/internal/m03/b.key" || calls != (beneath.Calls{Folders: 1}) {
		t.Errorf("one more: %s with %+v", got, calls)
	}
	scanned(t, tr)
	if got, calls := scanned(t, tr); got != key+" src/p01/internal/m03/b.key" || calls != (beneath.Calls{}) {
		t.Errorf("again: %s with %+v", got, calls)
	}
	if most := watchLimit(); tr.watch.Load().taken.Load() < 200 || tr.watch.Load().taken.Load() > most {
		t.Errorf("%d folders are watched, of at most %d", tr.watch.Load().taken.Load(), most)
	}
}

// TestScanWatchedRandomly: whatever is made, moved, removed or swapped for a link, a tree that is watched knows what
// one that looks for the first time does.
func TestScanWatchedRandomly(t *testing.T) {
	top := t.TempDir()
	dir, outside := filepath.Join(top, "work"), filepath.Join(top, "outside")
	write(t, filepath.Join(outside, "a.key"), "")
	makeTree(t, dir, 100)
	tr := newWatchedTree(t, dir)
	random := rand.New(rand.NewPCG(3, 4))
	folders := func() []string {
		list := []string{dir, outside}
		for _, from := range []string{dir, outside} {
			err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
				if err == nil && e.IsDir() && path != from {
					list = append(list, path)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return list
	}
	found := 0
	for i := range 1000 {
		nextTick(t, top)
		var did []string
		for range 1 + random.IntN(4) {
			list := folders()
			at, other := list[random.IntN(len(list))], list[random.IntN(len(list))]
			name := fmt.Sprintf("n%d", random.IntN(6))
			switch random.IntN(8) {
			case 0, 1:
				did = append(did, fmt.Sprint("file ", at, os.WriteFile(filepath.Join(at, name+".key"), nil, 0o644)))
			case 2:
				did = append(did, fmt.Sprint("remove ", at, os.Remove(filepath.Join(at, name+".key"))))
			case 3:
				did = append(did, fmt.Sprint("folder ", at, os.MkdirAll(filepath.Join(at, name, "deep"), 0o755)))
			case 4, 5:
				if at != dir && at != outside {
					did = append(did, fmt.Sprint("move ", at, other, os.Rename(at, filepath.Join(other, name))))
				}
			case 6:
				did = append(did, fmt.Sprint("link ", at, other, os.Symlink(other, filepath.Join(at, name))))
			case 7:
				if at != dir && at != outside && random.IntN(3) == 0 {
					did = append(did, fmt.Sprint("all ", at, os.RemoveAll(at)))
				} else if at != dir && at != outside && other != dir && other != outside {
					did = append(did,
						fmt.Sprint("swap ", at, other,
							unix.Renameat2(unix.AT_FDCWD, at, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)))
				}
			}
		}
		fresh := newTestTree(t, dir, false)
		want, _ := scanned(t, fresh)
		if got, _ := scanned(t, tr); got != want {
			t.Fatalf("%d: after %q\n got %s\nwant %s", i, did, got, want)
		}
		found += strings.Count(want, ".key")
	}
	if found < 1000 || tr.watch.Load() == nil {
		t.Errorf("%d keys were found, with %v", found, tr.watch.Load())
	}
}

// TestScanLost: where more has changed than the kernel keeps for who does not ask, everything is looked at.
func TestScanLost(t *testing.T) {
	dir := t.TempDir()
	makeTree(t, dir, 100)
	tr := newWatchedTree(t, dir)
	nextTick(t, dir)
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Fatal(err)
	}
	most, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "src/p00/internal")
	for i := range most/2 + 1 {
		name := filepath.Join(folder, fmt.Sprint("m03/", i))
		if err := errors.Join(os.Mkdir(name, 0o755), os.Remove(name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(folder, "m07/a.key"), "")
	if got, _ := scanned(t, tr); got != "src/p00/internal/m07/a.key" || tr.watch.Load() != nil {
		t.Errorf("found %q, and still watched: %v", got, tr.watch.Load() != nil)
	}
	scanned(t, tr)
	if got, calls := scanned(t, tr); got != "src/p00/internal/m07/a.key" || calls != (beneath.Calls{}) {
		t.Errorf("watched again: %s with %+v", got, calls)
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
