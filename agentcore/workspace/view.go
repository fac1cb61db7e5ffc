package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agentls/agentls/agentcore/permission"
)

// Options set limits. The zero value means the defaults.
type Options struct {
	// MaxFileSize is the size in bytes of the largest file that is read, from disk or as the editor shows it; 8 MiB by
	// default. Open documents follow their editor whatever their size.
	MaxFileSize int64
	// CacheSize bounds the texts of disk files that are kept, in bytes; 64 MiB by default.
	CacheSize int64
}

// folders are the workspace folders, and what lies in them on the disk. Any goroutine may use them.
type folders struct {
	options Options
	roots   atomic.Pointer[[]*root]
	cache   diskCache
}

// View is what the editor shows: disk roots, below the open documents. It owns its state, that of its
// sessions and that of its marks, under one lock, which is never held over a disk read or a callback. Its
// methods may be called from any goroutine.
//
// The view has one goroutine, which rereads changed files that somebody watches through hunks or marks;
// Close ends it.
type View struct {
	folders
	// clock orders what was seen of a file, so that a slow disk read never replaces newer text.
	clock   atomic.Uint64
	notices notices
	renames renames
	ended   chan struct{}
	// expected is what there would be with all that was proposed.
	expected expected

	mu      sync.Mutex
	docs    map[string]*document
	anchors map[string]*anchor
	// stale holds the paths which the goroutine has to reread, wake tells it, and settled is closed when
	// it has finished.
	stale   map[string]struct{}
	wake    chan struct{}
	settled chan struct{}
	closed  bool
	// held are the files of which the disk does not count for now, see Hold.
	held map[string]*hold
	// onDisk are the last changes of the disk that somebody told of, of which changes counts all.
	onDisk  []string
	changes uint64
}

// maxDiskChanges is how many changes of the disk are remembered.
const maxDiskChanges = 2000

type document struct {
	buffer  *Buffer
	version int32
	saved   *Buffer // as it was opened or saved last
}

// content is a text as a layer shows it; a nil text means that there is no such file.
type content struct {
	text    *text
	version int32
	format  Format
	seq     uint64
	open    bool
	secret  bool
}

func (c content) file(path string) File {
	return File{path, c.text.string(), c.text.stamp(), c.version, c.format}
}

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

// Roots returns the workspace folders in the editor's order.
func (f *folders) Roots() []Root {
	roots := *f.roots.Load()
	list := make([]Root, len(roots))
	for i, r := range roots {
		list[i] = r.Root
	}
	return list
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

// markStale asks the goroutine to reread a path. The lock is held.
func (v *View) markStale(path string) {
	if v.closed {
		return
	}
	v.stale[path] = struct{}{}
	if v.settled == nil {
		v.settled = make(chan struct{})
	}
	select {
	case v.wake <- struct{}{}:
	default:
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

// recheck reads what the editor shows and moves what is anchored to it. A file that cannot be read as a
// text counts as gone for its hunks.
func (v *View) recheck(path string, verify bool) {
	c, err := v.content(path)
	if err != nil {
		c.text = nil
	}
	v.mu.Lock()
	if a := v.anchors[path]; a != nil {
		v.sync(a, c)
		if verify {
			v.verify(a)
		}
	}
	v.mu.Unlock()
	v.notices.run()
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

// hold is a file that is held.
type hold struct {
	by     int  // so many callers of Hold
	missed bool // the disk was read meanwhile
}

// sync moves what is anchored to a file, given what was just read of it. The lock is held.
func (v *View) sync(a *anchor, c content) {
	if doc := v.docs[a.path]; doc != nil {
		if shown := doc.buffer.whole(); a.now() != shown {
			v.move(a, shown, v.clock.Add(1))
		}
		a.of(doc.buffer)
		return
	}
	if c.open || c.seq < a.seq {
		return
	}
	if h := v.held[a.path]; h != nil {
		h.missed = true
		return
	}
	v.move(a, c.text, c.seq)
}

// Read returns a file as the editor shows it. The path is absolute, as [View.Resolve] returns it, or that
// of an open document. The error is a *FileError.
func (v *View) Read(path string) (File, error) {
	path = cleanPath(path)
	c, err := v.content(path)
	if err == nil {
		err = v.readable(path, c, false)
	}
	if err != nil {
		return File{}, err
	}
	return c.file(path), nil
}

// readable refuses what is not there, what looks like a secret unless secrets may be read, and an open document that is
// too large.
func (f *folders) readable(path string, c content, secrets bool) error {
	if !secrets && (c.secret || permission.Secret(filepath.ToSlash(path))) {
		return f.secretError(path)
	}
	if c.text == nil {
		return &FileError{
			Kind: NotFound, Path: path, Detail: "no such file",
			Hint: "list the folder to see what is there",
		}
	}
	if size := int64(len(c.text.s)); size > f.options.MaxFileSize {
		return f.tooLarge(path, size)
	}
	return nil
}

// content returns what the editor shows: the open document, else the disk.
func (v *View) content(path string) (content, error) {
	seq := v.clock.Add(1)
	v.mu.Lock()
	doc := v.docs[path]
	v.mu.Unlock()
	if doc != nil {
		return content{
			text: doc.buffer.whole(), version: doc.version, format: Format{Encoding: "utf-8"}, seq: seq,
			open: true,
		}, nil
	}
	file, err := v.readDisk(path)
	return content{text: file.text, version: -1, format: file.format, seq: seq, secret: file.secret}, err
}

// cleanPath cleans a file path and leaves the name of a document without a file alone.
func cleanPath(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return path
}

// notices are callbacks that wait for the view's lock to be free. They run in order, one at a time, on
// the goroutine of whoever changed the view.
type notices struct {
	mu      sync.Mutex
	pending []func()
	running bool
}

func (n *notices) add(call func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending = append(n.pending, call)
}

// run calls what is pending. It returns at once where another goroutine is at it, which then runs them.
func (n *notices) run() {
	n.mu.Lock()
	if n.running {
		n.mu.Unlock()
		return
	}
	n.running = true
	defer func() {
		n.running = false
		n.mu.Unlock()
	}()
	for len(n.pending) > 0 {
		call := n.pending[0]
		n.pending = n.pending[1:]
		func() {
			n.mu.Unlock()
			// A callback that panics must not leave the lock free for the deferred call above.
			defer n.mu.Lock()
			call()
		}()
	}
}

// After calls back once the callbacks of all that happened before have run. It runs on the goroutine of whoever is just
// running callbacks, else on this one, and must not wait.
func (v *View) After(call func()) {
	v.notices.add(call)
	v.notices.run()
}

// documentsBelow lists the open documents in a folder. The lock is held.
func documentsBelow(docs map[string]*document, dir string) []string {
	var paths []string
	for path := range docs {
		if strings.HasPrefix(path, dir) {
			if rel, ok := within(dir, path); ok && rel != "." {
				paths = append(paths, path)
			}
		}
	}
	return paths
}
