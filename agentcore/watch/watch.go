// Package watch reports changes in a few folders and files, whatever made them. It also notices a file that appears
// later, a file that an editor replaces by renaming another one, and a file behind a symbolic link.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Target is a file or a folder to watch. It need not exist.
type Target struct {
	// Path is absolute and clean.
	Path string
	// Base is a folder above Path, or the folder of Path. The folders between the two are watched, too, so that it is
	// noticed if one of them is created, moved or removed. Empty means the folder that contains Path.
	Base string
	// Depth is how many levels of folders in the folder Path are watched; 0 means only its own entries.
	Depth int
}

// maxFolders bounds the folders that are watched: each needs memory of the kernel, of which a user can have little.
const maxFolders = 2000

// Options of a Watcher.
type Options struct {
	// Changed is called with the paths that have changed, sorted, after a burst of changes has ended; always on the
	// Watcher's own goroutine. A nil list means that anything may have changed.
	Changed func(paths []string)
	// Failed is called with the system's error if changes cannot be noticed; on the same goroutine.
	Failed func(error)
	// Quiet is the time without changes that ends a burst. 0 means 50 ms. A burst is reported after ten times Quiet at
	// the latest.
	Quiet time.Duration
}

// Watcher watches targets until it is closed. Its goroutine owns the set of watched folders; the methods may be called
// from any goroutine.
type Watcher struct {
	options Options
	notify  *fsnotify.Watcher
	wanted  chan []Target
	cancel  context.CancelFunc
	ended   chan struct{}

	// Owned by run.
	targets []Target
	watched map[string]bool
	linked  map[string]bool // the files to which symbolic links lead
	full    bool            // it was reported that maxFolders is reached
}

// Start begins to watch. It fails if the system has no watches left.
func Start(targets []Target, o Options) (*Watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	if o.Quiet <= 0 {
		o.Quiet = 50 * time.Millisecond
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &Watcher{
		options: o, notify: notify, wanted: make(chan []Target), cancel: cancel, ended: make(chan struct{}),
		watched: map[string]bool{},
	}
	w.targets = slices.Clone(targets)
	w.sync()
	go func() {
		defer close(w.ended)
		w.run(ctx)
	}()
	return w, nil
}

// Set replaces the targets. It also reports a change, with nil, since nobody knows what changed before. It waits for a
// running call of Changed, so Changed itself must not call it.
func (w *Watcher) Set(targets []Target) {
	select {
	case w.wanted <- slices.Clone(targets):
	case <-w.ended:
	}
}

// Close ends the watch and waits for its goroutine, and thus for a running call of Changed. It may be called twice.
func (w *Watcher) Close() error {
	w.cancel()
	<-w.ended
	if err := w.notify.Close(); err != nil {
		return fmt.Errorf("end the watch: %w", err)
	}
	return nil
}

// run handles the system's events until ctx ends.
func (w *Watcher) run(ctx context.Context) {
	b := newBurst(w.options.Quiet)
	for {
		select {
		case <-ctx.Done():
			return
		case targets := <-w.wanted:
			w.targets = targets
			w.sync()
			b.add("")
		case e, open := <-w.notify.Events:
			if !open {
				return
			}
			if !w.concerns(e.Name) {
				continue
			}
			if !e.Has(fsnotify.Write) {
				w.sync() // folders may have been created or removed
			}
			b.add(e.Name)
		case err, open := <-w.notify.Errors:
			if !open {
				return
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				w.sync()
				b.add("")
				continue
			}
			w.options.Failed(fmt.Errorf("watch files: %w", err))
		case <-b.over():
			w.options.Changed(b.take())
		}
	}
}

// concerns reports whether a path is a target, in a target, above one, or behind a link in one.
func (w *Watcher) concerns(name string) bool {
	if w.linked[name] {
		return true
	}
	return slices.ContainsFunc(w.targets, func(t Target) bool { return within(name, t.Path) || within(t.Path, name) })
}

// within reports whether a path is a folder or something below it; both are clean.
func within(name, folder string) bool {
	rest, ok := strings.CutPrefix(name, folder)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(folder, string(filepath.Separator)))
}

// sync makes the watched folders those that the targets need now.
func (w *Watcher) sync() {
	// Watches are added from the top down. So a folder that is created meanwhile lies in a folder that is already
	// watched, and causes an event of its own.
	needed := map[string]bool{}
	w.linked = map[string]bool{}
	for _, t := range w.targets {
		w.way(t, needed)
		w.below(t.Path, t.Depth, needed)
	}
	for folder := range w.watched {
		if needed[folder] {
			continue
		}
		delete(w.watched, folder)
		_ = w.notify.Remove(folder) // fails if the folder is gone; the events of a needless watch concern no target
	}
}

// way watches the folders from a target's base to the folder that contains the target. If the base does not exist, it
// watches the nearest folder above it.
func (w *Watcher) way(t Target, needed map[string]bool) {
	above := filepath.Dir(t.Path)
	base := t.Base
	if base == "" || !within(above, base) {
		base = above
	}
	var folders []string
	for folder := above; ; folder = filepath.Dir(folder) {
		folders = append(folders, folder)
		if within(base, folder) && isFolder(folder) || folder == filepath.Dir(folder) {
			break
		}
	}
	for _, folder := range slices.Backward(folders) {
		if !isFolder(folder) {
			return
		}
		w.add(folder, needed)
	}
}

// below watches a folder and its contents, down to a depth. If the path is a link to a file, it watches the file.
func (w *Watcher) below(path string, depth int, needed map[string]bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		w.link(path, needed)
	}
	if !isFolder(path) || !w.add(path, needed) {
		return
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return // the loader that reads the folder reports the error
	}
	for _, entry := range entries {
		name := filepath.Join(path, entry.Name())
		switch {
		case depth > 0 && (entry.IsDir() || entry.Type()&fs.ModeSymlink != 0):
			w.below(name, depth-1, needed)
		case entry.Type()&fs.ModeSymlink != 0:
			w.link(name, needed)
		}
	}
}

// link watches the file to which a link leads. A folder behind a link is watched by the link's own name.
func (w *Watcher) link(path string, needed map[string]bool) {
	file, err := filepath.EvalSymlinks(path)
	if err != nil || isFolder(file) {
		return
	}
	w.linked[file] = true
	w.add(filepath.Dir(file), needed)
}

// add watches a folder; it reports whether it could.
func (w *Watcher) add(folder string, needed map[string]bool) bool {
	if needed[folder] {
		return true
	}
	if len(needed) >= maxFolders {
		if !w.full {
			w.full = true
			w.options.Failed(fmt.Errorf("changes are noticed in %d folders only, not in %s", maxFolders, folder))
		}
		return false
	}
	// Adding a watched folder again costs little, and repairs the watch if another folder has taken its place.
	if err := w.notify.Add(folder); err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fsnotify.ErrClosed) && !w.watched[folder] {
			w.options.Failed(fmt.Errorf("changes in %s are not noticed: %w", folder, err))
		}
		return false
	}
	needed[folder], w.watched[folder] = true, true
	return true
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// burst collects changes until none comes for a while. It belongs to one goroutine.
type burst struct {
	quiet time.Duration
	timer *time.Timer // nil while nothing was collected
	last  time.Time   // when the burst ends at the latest
	paths map[string]bool
	all   bool
}

func newBurst(quiet time.Duration) *burst { return &burst{quiet: quiet, paths: map[string]bool{}} }

// add collects a path, "" for any.
func (b *burst) add(path string) {
	b.all = b.all || path == ""
	b.paths[path] = true
	now := time.Now()
	if b.timer == nil {
		b.timer, b.last = time.NewTimer(b.quiet), now.Add(10*b.quiet)
		return
	}
	b.timer.Reset(max(0, min(b.quiet, b.last.Sub(now))))
}

// over yields a value when the burst has ended; it never does while there is none.
func (b *burst) over() <-chan time.Time {
	if b.timer == nil {
		return nil
	}
	return b.timer.C
}

// take returns the paths of the burst, nil for any, and begins a new one.
func (b *burst) take() []string {
	var paths []string
	if !b.all {
		paths = slices.Sorted(maps.Keys(b.paths))
	}
	*b = *newBurst(b.quiet)
	return paths
}
