package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/event"
)

// Layer is a run's own view of the files: its edits above those of its parent, which is another layer or a
// session. What changes below shows through at once; an edit that no longer fits what is below is left out
// of the text and reported by Merge, but comes back where what is below does.
//
// A layer has one owner, the run, which writes and merges; reads, and the merges of layers above it, may come from
// any goroutine. Its lock is not held while files are read.
type Layer struct {
	view    *View
	session *Proposal
	parent  *Layer // nil above the session
	number  uint64 // among the layers of the view

	mu sync.Mutex
	layerEdits
	seen map[string]sight
	// learned is what the run is about to know: what its calls have been answered since NextTurn. The calls of one
	// answer of a model were made up before it saw the result of any of them.
	learned map[string]sight
	// allowed are paths that the user let the run touch though they are protected.
	allowed map[string]bool
	// followed is how many of the view's renames the paths have followed.
	followed int
}

// layerEdits are what a layer makes of the files below it. The layer's lock guards them.
type layerEdits struct {
	// files holds the edits by the path that the file has below the layer; moved finds it by the path that the layer
	// moves it to.
	files map[string]*layerFile
	moved map[string]string
	// generation counts the changes of files; dropped tells when a path lost its edits.
	generation uint64
	dropped    map[string]uint64
	// journal are these changes in their order, of which all are there that still hold; visited counts how many of them
	// were looked at. Tests look at it, since counts tell how work grows.
	journal []layerChange
	visited int
	// lost are conflicts of edits that a later write left behind.
	lost []Conflict
}

// layerFile is a layer's edits of one file, and what they make of the text that was last below.
type layerFile struct {
	patch
	// moveTo is where the layer shows the file instead, movers are who moved it.
	moveTo string
	movers []Author

	below *text
	// occupant is what is at moveTo below the layer.
	occupant  *text
	rebased   patch
	conflicts []Conflict
	made      *text
	// stuck says that the move does not fit, so that the file is shown where it is below.
	stuck bool
	// generation is the layer's when the edits were made.
	generation uint64
}

// sight is what a run knows of a file: the stamp, and whether it knows all of that text.
type sight struct {
	stamp Stamp // empty for nothing
	whole bool
}

func newLayerFile(p patch) *layerFile {
	return &layerFile{patch: p, below: p.base, rebased: p, made: p.text()}
}

// on makes the edits fit the texts below.
func (f *layerFile) on(below, occupant *text) {
	if (f.below == below || f.below.same(below)) && f.occupant.same(occupant) {
		return
	}
	f.below, f.occupant = below, occupant
	f.rebased, f.conflicts = f.rebase(below)
	f.made = f.rebased.text()
	f.stuck = f.moveTo != "" && (below == nil || occupant != nil)
	switch {
	case !f.stuck:
	case below == nil:
		f.conflicts = moved{f.patch, f.moveTo, f.movers}.gone()
	default:
		f.conflicts = append(f.conflicts, occupied(f.moveTo, f.made, occupant))
	}
}

func newLayer(v *View, s *Proposal, parent *Layer) *Layer {
	return &Layer{
		view: v, session: s, parent: parent, number: v.layers.Add(1), followed: v.renames.len(),
		layerEdits: layerEdits{
			files: make(map[string]*layerFile), moved: make(map[string]string), dropped: make(map[string]uint64),
		},
		seen: make(map[string]sight), learned: make(map[string]sight),
	}
}

// View returns the view that the layer stands on.
func (l *Layer) View() *View { return l.view }

// Fork makes a layer above this one. It costs the same however much there is below.
func (l *Layer) Fork() *Layer { return newLayer(l.view, l.session, l) }

// Rehearse is a fork for trying a call of the run itself: it knows the files that the run has seen. The fork is dropped
// afterwards; what its run was shown by it can be kept with [Layer.Learn].
func (l *Layer) Rehearse() *Layer {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow()
	fork := l.Fork()
	maps.Copy(fork.seen, l.seen)
	maps.Copy(fork.learned, l.learned)
	return fork
}

// Learn notes what the run was shown by a layer of [Layer.Rehearse], so that it knows it from its next turn on.
func (l *Layer) Learn(rehearsed *Layer) {
	rehearsed.mu.Lock()
	learned := maps.Clone(rehearsed.learned)
	rehearsed.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.Copy(l.learned, learned)
}

// below returns a file as it is without the layer's edits.
func (l *Layer) below(path string) (content, error) {
	if l.parent != nil {
		return l.parent.content(path)
	}
	return l.session.content(path)
}

// spot is what a layer finds below it for a path that it shows.
type spot struct {
	path string
	// key is the path that the file has below the layer, below what is there.
	key   string
	below content
	err   error
	// moveTo is where the layer moves the file, target what is there below the layer.
	moveTo      string
	target      content
	targetError error
}

// look reads what is below the layer for paths that it shows. It returns with the lock held, so that nothing moves
// between the look and what is made of it.
func (l *Layer) look(paths ...string) []spot {
	for {
		spots := make([]spot, len(paths))
		l.mu.Lock()
		l.follow()
		at := l.followed
		for i, path := range paths {
			spots[i] = l.spot(path)
		}
		l.mu.Unlock()
		for i := range spots {
			s := &spots[i]
			s.below, s.err = l.below(s.key)
			if s.moveTo == "" {
				continue
			}
			s.target, s.targetError = l.below(s.moveTo)
		}
		l.mu.Lock()
		l.follow()
		if l.followed == at && !slices.ContainsFunc(spots, func(s spot) bool {
			now := l.spot(s.path)
			return now.key != s.key || now.moveTo != s.moveTo
		}) {
			return spots
		}
		l.mu.Unlock()
	}
}

func (e *layerEdits) spot(path string) spot {
	key := path
	if from, ok := e.moved[path]; ok {
		key = from
	}
	s := spot{path: path, key: key}
	if f := e.files[key]; f != nil {
		s.moveTo = f.moveTo
	}
	return s
}

// occupant is what stands in the way of the file's move. On a disk that does not tell letter case apart, a file whose
// name changes in nothing else is in its own way.
func (s *spot) occupant() *text {
	switch {
	case s.moveTo == "", strings.EqualFold(s.moveTo, s.key) && s.target.text.same(s.below.text):
		return nil
	case s.targetError != nil:
		return newText("")
	}
	return s.target.text
}

// see returns what the layer makes of what is below. The lock is held.
func (e *layerEdits) see(s spot) (content, error) {
	c, f := s.below, e.files[s.key]
	if s.err != nil || f == nil {
		return c, s.err
	}
	f.on(c.text, s.occupant())
	switch moved := f.moveTo != "" && !f.stuck; {
	case s.path != s.key && !moved:
		return s.target, s.targetError
	case s.path != s.key:
		c.version = -1
	case moved:
		c.text = nil
		return c, nil
	}
	c.text = f.made
	return c, nil
}

func (l *Layer) content(path string) (content, error) {
	s := l.look(path)[0]
	defer l.mu.Unlock()
	return l.see(s)
}

// Allow lets the run, and the layers above this one, read and write a file that is otherwise refused because it acts by
// itself or looks like one that holds keys: the user said so.
func (l *Layer) Allow(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.allowed == nil {
		l.allowed = map[string]bool{}
	}
	l.allowed[cleanPath(path)] = true
}

func (l *Layer) allows(path string) bool {
	for ; l != nil; l = l.parent {
		l.mu.Lock()
		allowed := l.allowed[path]
		l.mu.Unlock()
		if allowed {
			return true
		}
	}
	return false
}

// writable returns why the run may not write to a path, or nil.
func writable(l *Layer, path string) error { return writableBy(l.view.Judge(nil), l, path) }

// writableBy is writable for the paths of one batch.
func writableBy(j *Judge, l *Layer, path string) error {
	err := j.writable(path)
	var refused *FileError
	if errors.As(err, &refused) && refused.Kind == Protected && l.allows(path) {
		return nil
	}
	return err
}

// Read returns a file as the layer shows it, and remembers its stamp as what the run will have seen from its next turn
// on. The path is absolute, as [View.Resolve] returns it, or that of an open document. The error is a *FileError.
func (l *Layer) Read(path string) (File, error) {
	path = cleanPath(path)
	c, err := l.content(path)
	if err == nil {
		err = l.view.readable(path, c, l.allows(path))
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
	l.follow()
	s, ok := l.seen[cleanPath(path)]
	return s.stamp, ok
}

// SeenWhole is [Layer.Seen] of a run that knows the whole text: it read it, or wrote it from one that it had read.
// Whoever replaces the whole text needs to.
func (l *Layer) SeenWhole(path string) (Stamp, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow()
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
	judge := l.view.Judge(nil)
	if err := writableBy(judge, l, path); err != nil {
		return File{}, err
	}
	if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		return File{}, &FileError{
			Kind: Binary, Path: path, Detail: "the new text is not UTF-8 text",
			Hint: "write text only",
		}
	}
	if int64(len(text)) > l.view.options.MaxFileSize {
		return File{}, l.view.tooLarge(path, int64(len(text)))
	}
	if base == "" {
		if err := creatable(judge, l, path); err != nil {
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
	if err := writable(l, path); err != nil {
		return err
	}
	if base == "" {
		return &FileError{
			Kind: NotFound, Path: path, Detail: "no such file",
			Hint: "list the folder to see what is there",
		}
	}
	_, err := l.put(path, nil, base, author)
	return err
}

func (l *Layer) put(path string, next *text, base Stamp, author Author) (content, error) {
	allowed := l.allows(path)
	s := l.look(path)[0]
	defer l.mu.Unlock()
	c, err := l.see(s)
	if err != nil {
		return c, err
	}
	if c.secret && !allowed {
		return c, l.view.secretError(path)
	}
	if err := stale(path, c, c.text, base); err != nil {
		return c, err
	}
	if f := l.files[s.key]; next == nil && f != nil && f.patch.text() == nil {
		if _, known := l.seen[path]; !known {
			// The run deleted it before, which what is below now does not let: the run has not seen that.
			return c, changedSince(path, c, "was changed since it was deleted")
		}
	}
	l.view.expected.write(path, next)
	key, own := l.writing(s)
	f := newLayerFile(own.write(next, author))
	if g := l.files[key]; g != nil && next != nil {
		f.moveTo, f.movers = g.moveTo, g.movers
	}
	l.set(key, f)
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

// writing returns where the edits of a path that is about to be written are kept, and what they are; what does not
// fit of them is given up. The lock is held.
func (e *layerEdits) writing(s spot) (key string, own patch) {
	f := e.files[s.key]
	if f == nil {
		return s.key, patch{base: s.below.text}
	}
	f.on(s.below.text, s.occupant())
	e.lose(s.key, f.conflicts)
	switch {
	case f.stuck:
		e.set(s.key, newLayerFile(f.rebased))
		if s.path != s.key {
			return s.path, patch{base: s.target.text}
		}
	case f.moveTo != "" && s.path == s.key:
		e.unmove(s.key)
		return s.key, e.files[s.key].patch
	}
	return s.key, f.rebased
}

// stale reports that a write is based on another text than the one that is there.
func stale(path string, c content, shown *text, base Stamp) error {
	if shown.stamp() == base {
		return nil
	}
	c.text = shown
	e := changedSince(path, c, "was changed since it was read")
	switch {
	case shown == nil:
		e.Detail, e.Hint = "is gone since it was read", "write it as a new file if it is still wanted"
	case base == "":
		e.Kind, e.Detail, e.Hint = Exists, "exists already", "read it first, then edit it"
	}
	return e
}

func changedSince(path string, c content, detail string) *FileError {
	e := &FileError{Kind: Stale, Path: path, Detail: detail, Hint: "look at its text as it is now, and edit that"}
	if c.text != nil {
		e.Current = new(c.file(path))
	}
	return e
}

// creatable refuses a new file below a file, or where a folder is.
func creatable(judge *Judge, l *Layer, path string) error {
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
			return &FileError{
				Kind: NotRegular, Path: path, Detail: fmt.Sprintf("%s is a file, not a folder", full),
				Hint: "choose another folder",
			}
		}
	}
	for _, below := range overlay(l, path) {
		if below != nil {
			return &FileError{Kind: Directory, Path: path, Detail: "is a folder", Hint: "choose another name"}
		}
	}
	return clash(judge, l, path)
}

func (e *layerEdits) lose(path string, conflicts []Conflict) {
	for _, c := range conflicts {
		c.Path = cmp.Or(c.Path, path)
		e.lost = append(e.lost, c)
	}
}

// Changes returns what the layer does to the files below it, sorted by path. A file that cannot be read is
// left out; Merge tells about it.
func (l *Layer) Changes() []Change {
	var changes []Change
	for _, key := range l.keys() {
		s := l.look(key)[0]
		f := l.files[s.key]
		if f == nil || s.err != nil {
			l.mu.Unlock()
			continue
		}
		c := s.below
		f.on(c.text, s.occupant())
		change := Change{Path: s.key, Authors: f.authors()}
		if f.moveTo != "" && !f.stuck {
			change.Path = f.moveTo
		}
		made, conflicts := f.made, len(f.conflicts)
		l.mu.Unlock()
		if change.Path == s.key && c.text.same(made) && conflicts == 0 {
			continue
		}
		if c.text != nil {
			before := c.file(s.key)
			change.Before = &before
		}
		if c.text = made; made != nil {
			if change.Path != s.key {
				c.version = -1
			}
			after := c.file(change.Path)
			change.After = &after
		}
		changes = append(changes, change)
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes
}

// authors lists who made the edits, oldest first.
func (f *layerFile) authors() []Author {
	return authorsOf(f.rebased.hunks, []*hunk{{authors: f.movers}})
}

// keys lists the files that the layer has edits of, as they are called below it.
func (l *Layer) keys() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow()
	return slices.Sorted(maps.Keys(l.files))
}

// paths lists the paths where the layer shows something else than what is below.
func (l *Layer) paths() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow()
	return slices.Concat(slices.Collect(maps.Keys(l.files)), slices.Collect(maps.Keys(l.moved)))
}

// Merge brings the layer's edits into its parent by a three-way merge of lines: into another layer, or into
// the session, where they become hunks. Edits that collide with what is there are left out and reported.
// Afterwards the layer has no edits of its own and shows its parent's text, so that the run can go on. Where
// a file cannot be read its edits stay in the layer, and the error, a joined *FileError, tells which.
func (l *Layer) Merge() (MergeReport, error) {
	var report MergeReport
	var problems []error
	defer l.view.notices.run()
	for _, key := range l.keys() {
		l.mu.Lock()
		f := l.files[key]
		l.mu.Unlock()
		if f == nil {
			continue // a child has just taken it back
		}
		edits := moved{f.patch, f.moveTo, f.movers}
		var conflicts []Conflict
		var err error
		if l.parent != nil {
			conflicts, err = l.parent.merge(key, edits)
		} else {
			var ids []event.HunkID
			conflicts, ids, err = l.session.merge(key, edits)
			report.Hunks = append(report.Hunks, ids...)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		l.mu.Lock()
		// A child may have merged more into it meanwhile, which the next merge takes along; the merge of its own move
		// may have moved it.
		for at, now := range l.files {
			if now == f {
				l.set(at, nil)
				break
			}
		}
		l.lose(key, conflicts)
		l.mu.Unlock()
	}
	l.mu.Lock()
	report.Conflicts, l.lost = l.lost, nil
	l.mu.Unlock()
	return report, errors.Join(problems...)
}

// merge takes the edits of a child layer in.
func (l *Layer) merge(path string, edits moved) ([]Conflict, error) {
	paths := []string{path}
	if edits.to != "" {
		paths = append(paths, edits.to)
	}
	spots := l.look(paths...)
	defer l.mu.Unlock()
	c, err := l.see(spots[0])
	if err != nil {
		return nil, err
	}
	shown := c.text
	over, conflicts := edits.rebase(shown)
	if len(over.hunks) > 0 {
		key, own := l.writing(spots[0])
		next := over.text()
		f := newLayerFile(own.compose(own.text(), next, over.hunks))
		if g := l.files[key]; g != nil && next != nil {
			f.moveTo, f.movers = g.moveTo, g.movers
		}
		l.set(key, f)
	}
	if edits.to == "" {
		return conflicts, nil
	}
	target, err := l.see(spots[1])
	switch {
	case shown == nil:
		return edits.gone(), nil
	case err != nil:
		return append(conflicts, occupied(edits.to, over.text(), newText(""))), nil
	case target.text != nil && !(strings.EqualFold(path, edits.to) && target.text.same(shown)):
		return append(conflicts, occupied(edits.to, over.text(), target.text)), nil
	}
	l.place(spots[0], spots[1], edits.movers)
	return conflicts, nil
}

// Fork makes a layer for a run above the proposal.
func (s *Proposal) Fork() *Layer { return newLayer(s.view, s, nil) }
