package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// maxDiskChanges is how many changes of the disk are remembered.
const maxDiskChanges = 2000

// Open makes a view on workspace folders. A folder that does not exist is no error: its files are not
// found until it does. The error says which path is not absolute.
func Open(roots []Root, options Options) (*View, error) {
	v := &View{
		folders: folders{options: Options{
			MaxFileSize: cmp.Or(options.MaxFileSize, 8<<20), CacheSize: cmp.Or(options.CacheSize, 64<<20),
		}},
		docs:    make(map[string]*document),
		anchors: make(map[string]*anchor),
		stale:   make(map[string]struct{}),
		held:    make(map[string]*hold),
		wake:    make(chan struct{}, 1),
		ended:   make(chan struct{}),
	}
	v.cache.limit = v.options.CacheSize
	v.roots.Store(&[]*root{})
	if err := v.SetRoots(roots); err != nil {
		return nil, err
	}
	go v.refresh()
	return v, nil
}

// Close ends the view's goroutine and closes the roots. The view must not be used afterwards; closing it
// twice is harmless.
func (v *View) Close() error {
	v.mu.Lock()
	if v.closed {
		v.mu.Unlock()
		<-v.ended
		return nil
	}
	v.closed = true
	close(v.wake)
	v.mu.Unlock()
	<-v.ended
	var problems []error
	for _, r := range *v.roots.Load() {
		problems = append(problems, r.close())
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("close the workspace folders: %w", err)
	}
	return nil
}

// Folders returns the paths of the workspace folders as they are now. They may come and go while a session is open;
// what a run may is fixed when it starts.
func (v *View) Folders() []string {
	var list []string
	for _, root := range v.Roots() {
		list = append(list, root.Path)
	}
	return list
}

// SetRoots replaces the workspace folders. Documents, hunks and marks stay. On an error, which says which
// path is not absolute, nothing changes.
func (v *View) SetRoots(roots []Root) error {
	for _, r := range roots {
		if !filepath.IsAbs(r.Path) {
			return fmt.Errorf("workspace folder %q: the path is not absolute", r.Path)
		}
	}
	var problems []error
	v.mu.Lock()
	previous := *v.roots.Load()
	next := make([]*root, 0, len(roots))
	for _, r := range roots {
		r.Path = filepath.Clean(r.Path)
		if slices.ContainsFunc(next, func(known *root) bool { return known.Path == r.Path }) {
			continue
		}
		kept := &handle{path: r.Path}
		if i := slices.IndexFunc(previous, func(former *root) bool { return former.Path == r.Path }); i >= 0 {
			kept = previous[i].handle
		}
		next = append(next, &root{Root: r, handle: kept})
	}
	nameRoots(next)
	v.roots.Store(&next)
	for path := range v.anchors {
		v.markStale(path)
	}
	v.mu.Unlock()
	for _, r := range previous {
		if !slices.ContainsFunc(next, func(kept *root) bool { return kept.handle == r.handle }) {
			problems = append(problems, r.close())
		}
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("close a former workspace folder: %w", err)
	}
	return nil
}

// SetDocument is [View.SetBuffer] for a text that is not edited in pieces.
func (v *View) SetDocument(path, content string, version int32) {
	v.SetBuffer(path, NewBuffer(content), version)
}

// SetBuffer tells that the editor opened a document or changed it: its whole text as UTF-8, and its
// version. Hunks and marks of the file follow. It never waits on I/O. Where there are none it costs next to nothing,
// and who reads the document first puts its text together; else its cost is a comparison of the old and the new text,
// the changed lines, and the file's hunks and marks. A path that is not absolute, such
// as "untitled:Untitled-1", names a document that has no file. Callbacks run before it returns, unless
// another goroutine is just running callbacks: then that one runs them.
func (v *View) SetBuffer(path string, b *Buffer, version int32) {
	path = cleanPath(path)
	v.mu.Lock()
	former := v.docs[path]
	opened, saved := former == nil, b
	if opened {
		v.expected.add(path)
	} else {
		saved = former.saved
	}
	v.docs[path] = &document{b, version, saved}
	v.expected.generation.Add(1)
	if a := v.anchors[path]; a != nil {
		if opened {
			a.save()
		}
		if seq := v.clock.Add(1); opened || !a.follow(v, b, seq) {
			v.move(a, b.whole(), seq)
			a.of(b)
		}
	}
	v.mu.Unlock()
	v.notices.run()
}

// CloseDocument tells that the editor closed a document: the disk shows again. Hunks and marks follow
// when the view's goroutine has read it.
func (v *View) CloseDocument(path string) {
	path = cleanPath(path)
	v.cache.drop(path)
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.docs, path)
	v.expected.generation.Add(1)
	if a := v.anchors[path]; a != nil {
		a.seq, a.closing = v.clock.Add(1), true
		v.markStale(path)
	}
}

// DiskChanged tells that a watcher or the editor saw files or folders change, appear or vanish. It does
// not wait on I/O: hunks and marks follow when the view's goroutine has reread the files (see
// [View.Settle]).
func (v *View) DiskChanged(paths []string) {
	changed := make(map[string]bool, len(paths))
	for _, path := range paths {
		path = cleanPath(path)
		changed[path] = true
		v.cache.drop(path)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for path := range changed {
		v.onDisk = append(v.onDisk, path)
		v.changes++
	}
	if over := len(v.onDisk) - maxDiskChanges; over > 0 {
		v.onDisk = slices.Delete(v.onDisk, 0, over)
	}
	for known := range v.anchors {
		if v.docs[known] != nil {
			continue
		}
		for at, above := known, ""; at != above; at, above = filepath.Dir(at), at {
			if changed[at] {
				v.markStale(known)
				break
			}
		}
	}
}

// DiskChanges returns the files and folders that DiskChanged told of since a number that it returned, 0 for the
// beginning, and the number now. Of very many the oldest are forgotten.
func (v *View) DiskChanges(since uint64) (paths []string, now uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	first := v.changes - uint64(len(v.onDisk))
	return slices.Clone(v.onDisk[min(max(since, first)-first, uint64(len(v.onDisk))):]), v.changes
}

// Settle waits until hunks and marks have followed every change that was told before the call, or until
// ctx ends, and then returns its error.
func (v *View) Settle(ctx context.Context) error {
	for {
		v.mu.Lock()
		settled := v.settled
		v.mu.Unlock()
		if settled == nil {
			return nil
		}
		select {
		case <-settled:
		case <-v.ended:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// refresh is the view's goroutine.
func (v *View) refresh() {
	defer close(v.ended)
	for range v.wake {
		v.mu.Lock()
		paths := make([]string, 0, len(v.stale))
		for path := range v.stale {
			paths = append(paths, path)
		}
		clear(v.stale)
		v.mu.Unlock()
		for _, path := range paths {
			v.recheck(path, false)
		}
		v.mu.Lock()
		if len(v.stale) == 0 && v.settled != nil {
			close(v.settled)
			v.settled = nil
		}
		v.mu.Unlock()
	}
}

// Recheck rereads a file after the editor said that it applied edits, so that their hunks are accepted or
// open again when it returns. It is for editors that write files which are not open themselves.
func (v *View) Recheck(path string) {
	path = cleanPath(path)
	v.cache.drop(path)
	v.mu.Lock()
	var targets []string
	if a := v.anchors[path]; a != nil {
		targets = a.targets()
	}
	v.mu.Unlock()
	for _, target := range targets {
		v.cache.drop(target)
		v.recheck(target, false)
	}
	v.recheck(path, true)
}

// Hold leaves hunks and marks of files where they are, whatever the disk has, until release is called: while an editor
// renames or deletes a file, the text that is there for a moment means nothing. Some close the document before they do
// it, others tell of the new name before they show its text. What documents show counts all the same. release may be
// called from any goroutine, once.
func (v *View) Hold(paths []string) (release func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	held := make([]string, len(paths))
	for i, path := range paths {
		held[i] = cleanPath(path)
		if v.held[held[i]] == nil {
			v.held[held[i]] = &hold{}
		}
		v.held[held[i]].by++
	}
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		for _, path := range held {
			h := v.held[path]
			if h.by--; h.by > 0 {
				continue
			}
			delete(v.held, path)
			if h.missed {
				v.cache.drop(path)
				v.markStale(path)
			}
		}
	}
}

// After calls back once the callbacks of all that happened before have run. It runs on the goroutine of whoever is just
// running callbacks, else on this one, and must not wait.
func (v *View) After(call func()) {
	v.notices.add(call)
	v.notices.run()
}

// SaveDocument tells that the editor saved a document as it shows it now. Accepted hunks of a document that is closed
// without being saved since they were accepted count as undone, since the text has gone back to what it was before. It
// does not wait on I/O.
func (v *View) SaveDocument(path string) {
	path = cleanPath(path)
	v.cache.drop(path)
	v.mu.Lock()
	defer v.mu.Unlock()
	doc := v.docs[path]
	if doc == nil {
		return
	}
	v.docs[path] = &document{doc.buffer, doc.version, doc.buffer}
	if a := v.anchors[path]; a != nil {
		a.save()
	}
}

// Generation counts the changes of what there may be: of open documents and of proposals. Where it is the same, a layer
// shows the same, as far as nobody has changed the disk.
func Generation(v *View) uint64 { return v.expected.generation.Load() }

// Documents lists the open documents of a view in a folder, an absolute path, and below it, sorted.
func Documents(v *View, dir string) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	paths := documentsBelow(v.docs, cleanPath(dir))
	slices.Sort(paths)
	return paths
}
