package workspace

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Layer is a run's own view of the files: its edits above those of its parent, which is another layer or a
// session. What changes below shows through at once; an edit that no longer fits what is below is left out
// of the text and reported by Merge, but comes back where what is below does.
//
// A layer has one owner, the run, which writes and merges; reads, and the merges of layers above it, may come from
// any goroutine. Its lock is not held while files are read.
type Layer struct {
	view    *View
	session *Session
	parent  *Layer // nil above the session

	mu    sync.Mutex
	files map[string]*layerFile
	seen  map[string]sight
	// learned is what the run is about to know: what its calls have been answered since NextTurn. The calls of one answer
	// of a model were made up before it saw the result of any of them.
	learned map[string]sight
	// generation counts the changes of files; dropped tells when a path lost its edits.
	generation uint64
	dropped    map[string]uint64
	// lost are conflicts of edits that a later write left behind.
	lost []Conflict
}

// sight is what a run knows of a file: the stamp, and whether it knows all of that text.
type sight struct {
	stamp Stamp // empty for nothing
	whole bool
}

// layerFile is a layer's edits of one file, and what they make of the text that was last below.
type layerFile struct {
	patch
	below     *text
	rebased   patch
	conflicts []Conflict
	made      *text
	// generation is the layer's when the edits were made.
	generation uint64
}

func newLayerFile(p patch) *layerFile {
	return &layerFile{patch: p, below: p.base, rebased: p, made: p.text()}
}

// on makes the edits fit the text below.
func (f *layerFile) on(below *text) {
	if f.below == below || f.below.same(below) {
		return
	}
	f.below = below
	f.rebased, f.conflicts = f.rebase(below)
	f.made = f.rebased.text()
}

func newLayer(v *View, s *Session, parent *Layer) *Layer {
	return &Layer{
		view: v, session: s, parent: parent,
		files: make(map[string]*layerFile), seen: make(map[string]sight), learned: make(map[string]sight), dropped: make(map[string]uint64),
	}
}

// View returns the view that the layer stands on.
func (l *Layer) View() *View { return l.view }

// Fork makes a layer above this one. It costs the same however much there is below.
func (l *Layer) Fork() *Layer { return newLayer(l.view, l.session, l) }

// below returns a file as it is without the layer's edits.
func (l *Layer) below(path string) (content, error) {
	if l.parent != nil {
		return l.parent.content(path)
	}
	return l.session.content(path)
}

func (l *Layer) content(path string) (content, error) {
	c, err := l.below(path)
	if err != nil {
		return c, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.text = l.shown(path, c.text)
	return c, nil
}

// shown returns what the layer makes of a text. The lock is held.
func (l *Layer) shown(path string, below *text) *text {
	f := l.files[path]
	if f == nil {
		return below
	}
	f.on(below)
	return f.made
}

// Read returns a file as the layer shows it, and remembers its stamp as what the run will have seen from its next turn on. The path is
// absolute, as [View.Resolve] returns it, or that of an open document. The error is a *FileError.
func (l *Layer) Read(path string) (File, error) {
	path = cleanPath(path)
	c, err := l.content(path)
	if err == nil {
		err = l.view.readable(path, c)
	}
	if err != nil {
		return File{}, err
	}
	file := c.file(path)
	l.mu.Lock()
	l.learned[path] = sight{file.Stamp, true}
	l.mu.Unlock()
	return file, nil
}

// NextTurn tells that the run hears what its calls were answered: what they read counts as seen from now on.
func (l *Layer) NextTurn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for path, s := range l.learned {
		if l.seen[path] = s; s.stamp == "" {
			delete(l.seen, path)
		}
	}
	clear(l.learned)
}

// Seen returns the stamp of what the run last read, in an earlier turn, or wrote at a path.
func (l *Layer) Seen(path string) (Stamp, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.seen[cleanPath(path)]
	return s.stamp, ok
}

// SeenWhole is [Layer.Seen] of a run that knows the whole text: it read it, or wrote it from one that it had read. Whoever replaces
// the whole text needs to.
func (l *Layer) SeenWhole(path string) (Stamp, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.seen[cleanPath(path)]
	return s.stamp, ok && s.whole
}

// Forget makes the run one that has not seen the file, from its next turn on.
func (l *Layer) Forget(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learned[cleanPath(path)] = sight{}
}

// Glimpse notes that the run was shown a part of the text with the stamp, enough to edit that in its next turn.
func (l *Layer) Glimpse(path string, stamp Stamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	path = cleanPath(path)
	former := l.seen[path]
	l.learned[path] = sight{stamp, former.whole && former.stamp == stamp}
}

// Write makes text the whole text of a file in this layer, and returns the file. base is the stamp of the
// text that the write is based on, empty where the file must not exist; with another text there, the error
// is a *FileError of kind Stale (or Exists), which carries it. text is UTF-8 with its own line endings; see
// [Normalize].
func (l *Layer) Write(path, text string, base Stamp, author Author) (File, error) {
	path = cleanPath(path)
	if err := l.view.writable(path); err != nil {
		return File{}, err
	}
	if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		return File{}, &FileError{Kind: Binary, Path: path, Detail: "the new text is not UTF-8 text", Hint: "write text only"}
	}
	if int64(len(text)) > l.view.options.MaxFileSize {
		return File{}, l.view.tooLarge(path, int64(len(text)))
	}
	if base == "" {
		if err := l.creatable(path); err != nil {
			return File{}, err
		}
	}
	next := newText(text)
	c, err := l.put(path, next, base, author)
	if err != nil {
		return File{}, err
	}
	return c.file(path), nil
}

// Delete takes a file away in this layer. base is as for [Layer.Write], and not empty.
func (l *Layer) Delete(path string, base Stamp, author Author) error {
	path = cleanPath(path)
	if err := l.view.writable(path); err != nil {
		return err
	}
	if base == "" {
		return &FileError{Kind: NotFound, Path: path, Detail: "no such file", Hint: "list the folder to see what is there"}
	}
	_, err := l.put(path, nil, base, author)
	return err
}

func (l *Layer) put(path string, next *text, base Stamp, author Author) (content, error) {
	c, err := l.below(path)
	if err != nil {
		return c, err
	}
	if c.secret {
		return c, l.view.secretError(path)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	shown := l.shown(path, c.text)
	if err := stale(path, c, shown, base); err != nil {
		return c, err
	}
	edits := patch{base: c.text}
	if f := l.files[path]; f != nil {
		edits = f.rebased
		l.lose(path, f.conflicts)
	}
	if edits = edits.write(next, author); len(edits.hunks) == 0 {
		l.set(path, nil)
	} else {
		l.set(path, newLayerFile(edits))
	}
	former, learned := l.seen[path], l.learned[path]
	l.seen[path] = sight{next.stamp(), base == "" || former.whole && former.stamp == base}
	delete(l.learned, path)
	if learned.whole && learned.stamp == base {
		l.learned[path] = sight{next.stamp(), true}
	}
	if next == nil {
		delete(l.seen, path)
		delete(l.learned, path)
	}
	c.text = next
	return c, nil
}

// stale reports that a write is based on another text than the one that is there.
func stale(path string, c content, shown *text, base Stamp) error {
	if shown.stamp() == base {
		return nil
	}
	e := &FileError{Kind: Stale, Path: path, Detail: "was changed since it was read", Hint: "look at its text as it is now, and edit that"}
	switch {
	case shown == nil:
		e.Detail, e.Hint = "is gone since it was read", "write it as a new file if it is still wanted"
		return e
	case base == "":
		e.Kind, e.Detail, e.Hint = Exists, "exists already", "read it first, then edit it"
	}
	c.text = shown
	file := c.file(path)
	e.Current = &file
	return e
}

// creatable refuses a new file below a file, or where a folder is.
func (l *Layer) creatable(path string) error {
	r, rel := l.view.locate(path)
	if r == nil {
		return l.view.outside(path)
	}
	for dir := filepath.Dir(rel); dir != "."; dir = filepath.Dir(dir) {
		full := filepath.Join(r.Path, dir)
		c, err := l.content(full)
		if kind := (*FileError)(nil); errors.As(err, &kind) && kind.Kind == Directory {
			break
		}
		if err != nil || c.text != nil {
			return &FileError{Kind: NotRegular, Path: path, Detail: fmt.Sprintf("%s is a file, not a folder", full), Hint: "choose another folder"}
		}
	}
	for _, below := range l.overlay(path) {
		if below != nil {
			return &FileError{Kind: Directory, Path: path, Detail: "is a folder", Hint: "choose another name"}
		}
	}
	return nil
}

func (l *Layer) lose(path string, conflicts []Conflict) {
	for _, c := range conflicts {
		c.Path = path
		l.lost = append(l.lost, c)
	}
}

// Changes returns what the layer does to the files below it, sorted by path. A file that cannot be read is
// left out; Merge tells about it.
func (l *Layer) Changes() []Change {
	var changes []Change
	for _, path := range l.paths() {
		c, err := l.below(path)
		if err != nil {
			continue
		}
		l.mu.Lock()
		f := l.files[path]
		if f == nil {
			l.mu.Unlock()
			continue
		}
		f.on(c.text)
		change := Change{Path: path, Authors: authorsOf(f.rebased.hunks)}
		made := f.made
		conflicts := len(f.conflicts)
		l.mu.Unlock()
		if c.text.same(made) && conflicts == 0 {
			continue
		}
		if c.text != nil {
			before := c.file(path)
			change.Before = &before
		}
		if c.text = made; made != nil {
			after := c.file(path)
			change.After = &after
		}
		changes = append(changes, change)
	}
	return changes
}

// paths lists the files that the layer has edits of.
func (l *Layer) paths() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.files))
}

// Merge brings the layer's edits into its parent by a three-way merge of lines: into another layer, or into
// the session, where they become hunks. Edits that collide with what is there are left out and reported.
// Afterwards the layer has no edits of its own and shows its parent's text, so that the run can go on. Where
// a file cannot be read its edits stay in the layer, and the error, a joined *FileError, tells which.
func (l *Layer) Merge() (MergeReport, error) {
	var report MergeReport
	var problems []error
	for _, path := range l.paths() {
		var below content
		var err error
		if l.parent != nil {
			below, err = l.parent.below(path)
		} else {
			below, err = l.view.content(path)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		l.mu.Lock()
		f := l.files[path]
		l.mu.Unlock()
		if f == nil {
			continue // a child has just taken it back
		}
		edits := f.patch
		var conflicts []Conflict
		if l.parent != nil {
			conflicts = l.parent.merge(path, below, edits)
		} else {
			found, ids := l.session.merge(path, below, edits)
			conflicts = found
			report.Hunks = append(report.Hunks, ids...)
		}
		l.mu.Lock()
		if l.files[path] == f { // else a child merged more into it meanwhile, which the next merge takes along
			l.set(path, nil)
		}
		l.lose(path, conflicts)
		l.mu.Unlock()
	}
	l.mu.Lock()
	report.Conflicts, l.lost = l.lost, nil
	l.mu.Unlock()
	return report, errors.Join(problems...)
}

// merge takes the edits of a child layer in.
func (l *Layer) merge(path string, below content, edits patch) []Conflict {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := patch{base: below.text}
	if f := l.files[path]; f != nil {
		f.on(below.text)
		own = f.rebased
		l.lose(path, f.conflicts)
	}
	shown := own.text()
	over, conflicts := edits.rebase(shown)
	own = own.compose(shown, over.text(), over.hunks)
	if len(own.hunks) == 0 {
		l.set(path, nil)
	} else {
		l.set(path, newLayerFile(own))
	}
	return conflicts
}
