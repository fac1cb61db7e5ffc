package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agentls/agentls/agentcore/beneath"
	"github.com/agentls/agentls/agentcore/beside"
	"github.com/agentls/agentls/agentcore/permission"
)

// Scanned is what [Scan] made of a file. Err is a *FileError; for most files without a result its kind is Binary or
// TooLarge.
type Scanned[T any] struct {
	Path string
	// Plain is that of [Entry], where files are only listed.
	Plain  bool
	Result T
	Err    error
}

// scanChunk is how many files of a folder one goroutine looks at in one go.
const scanChunk = 16

// Scan lists and reads the files below a folder that [Layer.Walk] would list, in the same order, and makes a result of
// each file that is wanted. It reads several files at once, ahead of what is yielded, so that want and read are called
// from several goroutines at once. data is UTF-8, except for files in another encoding that have neither a byte order
// mark nor a zero byte; these are as on the disk. read must not keep data. If read is nil, Scan lists the files and
// opens none. The run does not count as having seen them. Files that look like secrets are left out unless they were
// allowed. The error is that of the start, or of ctx, and comes last. When the sequence ends, all goroutines have
// ended.
func Scan[T any](ctx context.Context, l *Layer, dir string, want func(path string) bool,
	read func(path string, data []byte) T,
) iter.Seq2[Scanned[T], error] {
	return func(yield func(Scanned[T], error) bool) {
		s := scan[T]{layer: l, want: want, read: read}
		s.from(ctx, cleanPath(dir), yield)
	}
}

// from scans what is below a folder.
func (s *scan[T]) from(ctx context.Context, dir string, yield func(Scanned[T], error) bool) {
	l := s.layer
	r, _ := l.view.locate(dir)
	if r == nil {
		yield(Scanned[T]{}, l.view.outside(dir))
		return
	}
	overlay := overlay(l, dir)
	if _, err := listFolder(l, dir, overlay); err != nil {
		yield(Scanned[T]{}, err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	s.ctx, s.root, s.overlay = ctx, r, newShade(dir, overlay)
	s.more = sync.NewCond(&s.mu)
	top := &scanFolder[T]{path: dir, done: make(chan struct{}), depth: 1}
	if !s.all {
		top.rules = ignoresAbove(l, r, dir)
	}
	s.push(func(*scratch) { s.list(top) })
	var workers beside.Group
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			defer cancel() // after a panic, the rest of the results is not awaited
			s.work()
		})
	}
	defer func() {
		cancel()
		s.stop()
		defer func() {
			for _, left := range s.stack { // each only lets go of its folder now
				left(&scratch{})
			}
		}()
		workers.Wait()
	}()
	if s.walk(top, yield) && ctx.Err() != nil {
		yield(Scanned[T]{}, ctx.Err())
	}
}

// scan is a running call of Scan or Walk. Its goroutines take work from the top of a stack, so that they stay close to
// what is yielded next.
type scan[T any] struct {
	ctx     context.Context
	layer   *Layer
	root    *root
	overlay shade
	want    func(path string) bool           // nil for every file
	read    func(path string, data []byte) T // nil lists
	// folder is yielded for each folder, before the folder's entries; nil for nothing.
	folder *T
	// all also scans what version control ignores; depth bounds the levels of folders, 0 for none.
	all   bool
	depth int

	mu      sync.Mutex
	more    *sync.Cond
	stack   []func(*scratch)
	stopped bool
}

// scratch is what one goroutine reads into.
type scratch struct{ data []byte }

// scanFolder is a folder. items is set when done is closed.
type scanFolder[T any] struct {
	path  string
	depth int // 1 for the start
	rules ignores
	done  chan struct{}
	items []scanItem[T]
}

// scanItem is a folder, or a file of a chunk.
type scanItem[T any] struct {
	folder *scanFolder[T]
	chunk  *scanChunked[T]
	index  int
}

// scanChunked are some files of a folder. results is set when done is closed.
type scanChunked[T any] struct {
	names   []string
	links   []bool
	results []Scanned[T]
	done    chan struct{}
}

// push puts work on the stack: the first on top.
func (s *scan[T]) push(work ...func(*scratch)) {
	slices.Reverse(work)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stack = append(s.stack, work...)
	s.more.Broadcast()
}

func (s *scan[T]) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	s.more.Broadcast()
}

// work does what is on the stack, until the scan stops.
func (s *scan[T]) work() {
	var own scratch
	for {
		s.mu.Lock()
		for len(s.stack) == 0 && !s.stopped {
			s.more.Wait()
		}
		if s.stopped {
			s.mu.Unlock()
			return
		}
		next := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		s.mu.Unlock()
		next(&own)
	}
}

// walk yields the entries of a folder in order. It reports false where the consumer wants no more, and true at the end,
// also at the end of ctx.
func (s *scan[T]) walk(f *scanFolder[T], yield func(Scanned[T], error) bool) bool {
	select {
	case <-f.done:
	case <-s.ctx.Done():
		return true
	}
	for i := range f.items {
		item := &f.items[i]
		if item.folder != nil {
			if !s.walk(item.folder, yield) {
				return false
			}
			item.folder = nil // frees the memory of what was yielded
			continue
		}
		select {
		case <-item.chunk.done:
		case <-s.ctx.Done():
			return true
		}
		if s.ctx.Err() != nil {
			return true // also where both were ready, since nothing is yielded after the end of ctx
		}
		result := item.chunk.results[item.index]
		item.chunk.results[item.index] = Scanned[T]{}
		if result.Path != "" && !yield(result, nil) {
			return false
		}
	}
	return true
}

// list reads the entries of a folder, and pushes them onto the stack. A folder that cannot be read counts as empty,
// since it may have vanished.
func (s *scan[T]) list(f *scanFolder[T]) {
	defer close(f.done)
	if s.ctx.Err() != nil {
		return
	}
	dir, entries := s.open(f.path)
	shown := s.overlay.in(f.path)
	if dir == nil && len(shown) == 0 {
		return
	}
	listed := s.entries(f, entries, shown)
	rules := f.rules
	if !s.all {
		rules = s.rules(f, listed)
	}
	s.push(s.plan(f, dir, listed, rules)...)
}

// rules are the ignore patterns that hold in a folder.
func (s *scan[T]) rules(f *scanFolder[T], entries []listed) ignores {
	var own []ignorePattern
	repository := false
	for _, e := range entries {
		switch e.name {
		case ".git":
			repository = true
		case ".gitignore":
			own = excludes(s.layer, filepath.Join(f.path, e.name))
		}
	}
	return f.rules.enter(f.path, repository, own)
}

// plan adds the entries of a folder to its list, and returns the work that has to be done for them.
func (s *scan[T]) plan(f *scanFolder[T], dir *beneath.Folder, entries []listed, rules ignores) []func(*scratch) {
	// The last user of the handle closes it.
	var users atomic.Int32
	users.Add(1)
	release := func() {
		if users.Add(-1) == 0 && dir != nil {
			_ = dir.Close() // it was only read
		}
	}
	defer release()
	var work []func(*scratch)
	var names, chunk *scanChunked[T]
	name := func(found Scanned[T]) {
		if names == nil {
			names = &scanChunked[T]{done: f.done}
		}
		f.items = append(f.items, scanItem[T]{chunk: names, index: len(names.results)})
		names.results = append(names.results, found)
	}
	for _, e := range entries {
		path := entryPath(f.path, e.name)
		if strings.EqualFold(e.name, ".git") || !s.all && rules.ignored(path, e.dir) {
			continue
		}
		if e.dir {
			if s.folder != nil {
				name(Scanned[T]{Path: path, Plain: e.plain, Result: *s.folder})
			}
			if e.link || s.depth > 0 && f.depth >= s.depth {
				continue
			}
			below := &scanFolder[T]{path: path, depth: f.depth + 1, rules: rules, done: make(chan struct{})}
			f.items = append(f.items, scanItem[T]{folder: below})
			work = append(work, func(*scratch) { s.list(below) })
			chunk = nil
			continue
		}
		if s.want != nil && !s.want(path) {
			continue
		}
		if s.read == nil {
			name(Scanned[T]{Path: path, Plain: e.plain})
			continue
		}
		if chunk == nil || len(chunk.names) == scanChunk {
			next := &scanChunked[T]{done: make(chan struct{})}
			chunk = next
			users.Add(1)
			work = append(work, func(own *scratch) {
				defer release()
				s.files(f.path, dir, next, own)
			})
		}
		f.items = append(f.items, scanItem[T]{chunk: chunk, index: len(chunk.names)})
		chunk.names, chunk.links = append(chunk.names, e.name), append(chunk.links, e.link)
	}
	return work
}

// entryPath is the path of an entry of a folder, which may be the top of a file system.
func entryPath(folder, name string) string {
	if strings.HasSuffix(folder, string(filepath.Separator)) {
		return folder + name
	}
	return folder + string(filepath.Separator) + name
}

// listed is one entry of a folder.
type listed struct {
	name      string
	dir, link bool
	plain     bool // as an Entry is
}

// open opens a folder of the disk; nil for what is none.
func (s *scan[T]) open(path string) (*beneath.Folder, []beneath.Entry) {
	top, err := s.root.folders()
	if err != nil {
		return nil, nil
	}
	rel, ok := within(s.root.Path, path)
	if !ok {
		return nil, nil
	}
	dir, err := top.Open(rel, beneath.Follow)
	if err != nil {
		return nil, nil
	}
	entries, err := dir.Entries()
	if err != nil {
		_ = dir.Close() // it was only read
		return nil, nil
	}
	return dir, entries
}

// entries merges what is on the disk with what documents and layers show, sorted as Walk has it.
func (s *scan[T]) entries(f *scanFolder[T], onDisk []beneath.Entry, shown map[string]shaded) []listed {
	list := make([]listed, 0, len(onDisk)+len(shown))
	for _, entry := range onDisk {
		e := listed{name: entry.Name, dir: entry.Type.IsDir(), plain: true}
		switch kind := entry.Type; {
		case kind&fs.ModeSymlink != 0:
			rel, _ := within(s.root.Path, f.path)
			kind = s.root.target(filepath.Join(rel, e.name))
			if !kind.IsDir() && !kind.IsRegular() {
				continue // it leads out, or nowhere
			}
			e.link, e.dir, e.plain = true, kind.IsDir(), false
		case !e.dir && !kind.IsRegular():
			continue
		}
		over, there := shown[e.name]
		switch {
		case !there:
		case over.folder:
			e.dir, e.link, e.plain = true, false, false
		case over.gone && !e.dir:
			continue
		case !over.gone:
			e.dir, e.link, e.plain = false, false, false
		}
		list = append(list, e)
	}
	if len(shown) > 0 {
		have := make(map[string]bool, len(list))
		for _, e := range list {
			have[e.name] = true
		}
		for name, over := range shown {
			if !have[name] && (over.folder || !over.gone) {
				list = append(list, listed{name: name, dir: over.folder})
			}
		}
	}
	slices.SortFunc(list, func(a, b listed) int { return strings.Compare(a.name, b.name) })
	return list
}

// files reads the files of a chunk.
func (s *scan[T]) files(folder string, dir *beneath.Folder, chunk *scanChunked[T], own *scratch) {
	defer close(chunk.done)
	chunk.results = make([]Scanned[T], len(chunk.names))
	for i, name := range chunk.names {
		if s.ctx.Err() != nil {
			return
		}
		path := filepath.Join(folder, name)
		result := Scanned[T]{Path: path}
		if t, over := s.overlay.texts[path]; over || chunk.links[i] || dir == nil {
			result.Err = s.slowly(path, t, &result.Result)
		} else {
			result.Err = s.file(dir, name, path, own, &result.Result)
		}
		var problem *FileError
		if errors.As(result.Err, &problem) && problem.Kind != Binary && problem.Kind != TooLarge {
			continue // a secret, or it vanished
		}
		chunk.results[i] = result
	}
}

// slowly reads a file that is not just a file on the disk.
func (s *scan[T]) slowly(path string, t *text, result *T) error {
	file, err := s.layer.Fork().Read(path)
	if err != nil {
		return err
	}
	if t != nil {
		file.Text = t.s // the text of the same moment as the rest
	}
	*result = s.read(path, []byte(file.Text))
	return nil
}

// file reads a regular file of the disk. The path to it has no symbolic link. If the file itself has become one, it is
// refused.
func (s *scan[T]) file(dir *beneath.Folder, name, path string, own *scratch, result *T) error {
	if permission.Secret(filepath.ToSlash(path)) && !s.layer.allows(path) {
		return s.layer.view.secretError(path)
	}
	data, size, err := dir.ReadFile(name, &own.data, s.layer.view.options.MaxFileSize)
	switch {
	case errors.Is(err, beneath.ErrTooLong):
		return s.layer.view.tooLarge(path, size)
	case err != nil:
		return ioError(path, "cannot be read", err)
	}
	text, ok := scanned(data)
	if !ok {
		return &FileError{Kind: Binary, Path: path, Detail: "is not a text file", Hint: "search text files"}
	}
	*result = s.read(path, text)
	return nil
}

// scanned returns the part of a file's bytes that is searched. It reports false for a file that is no text.
func scanned(data []byte) ([]byte, bool) {
	switch {
	case len(data) >= 2 && (data[0] == 0xff && data[1] == 0xfe || data[0] == 0xfe && data[1] == 0xff):
		text, _, ok := Decode(data)
		return []byte(text), ok
	case len(data) >= 3 && data[0] == 0xef && data[1] == 0xbb && data[2] == 0xbf:
		data = data[3:]
	}
	return data, bytes.IndexByte(data, 0) < 0
}

// shade holds the files that documents and layers show below a folder.
type shade struct {
	texts   map[string]*text
	folders map[string]map[string]shaded
}

// shaded is an entry of a folder that documents or layers have.
type shaded struct {
	folder bool // with something in it
	gone   bool
}

func newShade(dir string, overlay map[string]*text) shade {
	s := shade{overlay, map[string]map[string]shaded{}}
	for path, t := range overlay {
		for at, over := path, (shaded{gone: t == nil}); at != dir; at, over = filepath.Dir(at), (shaded{folder: true}) {
			if t == nil && over.folder {
				break // a deleted file makes no folder
			}
			in := s.folders[filepath.Dir(at)]
			if in == nil {
				in = map[string]shaded{}
				s.folders[filepath.Dir(at)] = in
			}
			if known := in[filepath.Base(at)]; !known.folder {
				in[filepath.Base(at)] = over
			}
			if filepath.Dir(at) == at {
				break
			}
		}
	}
	return s
}

// in returns what is shown in a folder, by name.
func (s shade) in(dir string) map[string]shaded { return s.folders[dir] }
