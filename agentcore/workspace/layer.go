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

// Layer is a run's own view of the files: its edits above those of its parent, which is another layer or a session.
// Changes below show through at once. An edit that no longer fits the text below is left out of the layer's text and
// reported by Merge, but comes back when the text below lets it.
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
	// learned is what the run will know from its next turn on: what its calls were answered since NextTurn. The calls
	// of one answer of a model were made up before the model saw the result of any of them.
	learned map[string]sight
	// allowed are protected paths that the user let the run touch.
	allowed map[string]bool
	// followed is how many of the view's renames the paths of this layer have followed.
	followed int
}

// layerEdits are the layer's edits of the files below it. The layer's lock guards them.
type layerEdits struct {
	// files holds the edits by the file's path below the layer. moved finds that path by the path to which the layer
	// moves the file.
	files map[string]*layerFile
	moved map[string]string
	// generation counts the changes of files; dropped tells at which generation a path lost its edits.
	generation uint64
	dropped    map[string]uint64
	// journal holds these changes in order, at least those that still count. visited counts how many of them were
	// looked at; tests read it to see how the work grows.
	journal []layerChange
	visited int
	// lost are conflicts of edits that a later write gave up.
	lost []Conflict
}

// layerFile holds a layer's edits of one file, and what they make of the text that was last seen below.
type layerFile struct {
	patch
	// moveTo is the path at which the layer shows the file instead. movers are the authors of that move.
	moveTo string
	movers []Author

	below *text
	// occupant is the file at moveTo below the layer.
	occupant  *text
	rebased   patch
	conflicts []Conflict
	made      *text
	// stuck is true while the move does not fit, so that the file is shown at its path below.
	stuck bool
	// generation is the layer's generation in which the edits were made.
	generation uint64
}

// sight is what a run knows of a file: the stamp of a text, and whether the run knows all of that text.
type sight struct {
	stamp Stamp // empty where the run knows nothing of the file
	whole bool
}

func newLayerFile(p patch) *layerFile {
	return &layerFile{patch: p, below: p.base, rebased: p, made: p.text()}
}

// on fits the edits to the texts below.
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

// View returns the view that the layer belongs to.
func (l *Layer) View() *View { return l.view }

// Fork makes a layer above this one. Its cost does not depend on how much there is below.
func (l *Layer) Fork() *Layer { return newLayer(l.view, l.session, l) }

// Rehearse makes a fork for trying a call of the run itself: the fork knows the files that the run has seen. It is
// dropped afterwards; [Layer.Learn] keeps what the run was shown by it.
func (l *Layer) Rehearse() *Layer {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow()
	fork := l.Fork()
	maps.Copy(fork.seen, l.seen)
	maps.Copy(fork.learned, l.learned)
	return fork
}

// Learn notes what the run was shown by a layer of [Layer.Rehearse], so that the run knows it from its next turn on.
func (l *Layer) Learn(rehearsed *Layer) {
	rehearsed.mu.Lock()
	learned := maps.Clone(rehearsed.learned)
	rehearsed.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.Copy(l.learned, learned)
}

// below returns a file as it is without this layer's edits.
func (l *Layer) below(path string) (content, error) {
	if l.parent != nil {
		return l.parent.content(path)
	}
	return l.session.content(path)
}

// spot is what a layer finds below it for a path that it shows.
type spot struct {
	path string
	// key is the file's path below the layer, below is the file there.
	key   string
	below content
	err   error
	// moveTo is where the layer moves the file, target is the file there below the layer.
	moveTo      string
	target      content
	targetError error
}

// look reads what is below the layer for paths that it shows. It returns with the lock held, so that nothing moves
// before the caller has used the result.
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

// occupant is the file in the way of the file's move. On a disk that does not tell letter case apart, a file whose name
// changes only in letter case would be in its own way, and does not count.
func (s *spot) occupant() *text {
	switch {
	case s.moveTo == "", strings.EqualFold(s.moveTo, s.key) && s.target.text.same(s.below.text):
		return nil
	case s.targetError != nil:
		return newText("")
	}
	return s.target.text
}

// see returns what the layer makes of the file below. The lock is held.
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
// itself or looks like one that holds keys. It is called when the user has said so.
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

// writableBy is writable with the judge of a batch of paths.
func writableBy(j *Judge, l *Layer, path string) error {
	err := j.writable(path)
	var refused *FileError
	if errors.As(err, &refused) && refused.Kind == Protected && l.allows(path) {
		return nil
	}
	return err
}

// Read returns a file as the layer shows it. It remembers the stamp: the run counts as having seen the text from its
// next turn on. The path is absolute, as [View.Resolve] returns it, or the path of an open document. The error is a
// *FileError.
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

// NextTurn is called when the run has heard the answers to its calls: the files that the calls read count as seen from
// now on.
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

// Seen returns the stamp of the text that the run last wrote at a path, or last read there in an earlier turn.
func (l *Layer) Seen(path string) (Stamp, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow()
	s, ok := l.seen[cleanPath(path)]
	return s.stamp, ok
}

// SeenWhole is [Layer.Seen] for a run that knows the whole text: it has read the text, or made it from one that it had
// read. A run must know the whole text to replace it.
func (l *Layer) SeenWhole(path string) (Stamp, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow()
	s, ok := l.seen[cleanPath(path)]
	return s.stamp, ok && s.whole
}

// Forget makes the file count as not seen by the run, from the run's next turn on.
func (l *Layer) Forget(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learned[cleanPath(path)] = sight{}
}

// Glimpse notes that the run was shown a part of the text with this stamp. That is enough to edit the text in the next
// turn.
func (l *Layer) Glimpse(path string, stamp Stamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	path = cleanPath(path)
	former := l.seen[path]
	l.learned[path] = sight{stamp, former.whole && former.stamp == stamp}
}

// Write makes text the whole text of a file in this layer, and returns the file. base is the stamp of the text that the
// write is based on, empty where the file must not exist. Where another text is there, the error is a *FileError of
// kind Stale (or Exists) that carries that text. text is UTF-8 with its own line endings; see [Normalize].
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

// Delete deletes a file in this layer. base is as for [Layer.Write], and not empty.
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
			// The run deleted the file before, and the file below has changed since, which the run has not seen.
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

// writing returns where the edits of a path that is about to be written are kept, and these edits. Edits that do not
// fit are given up. The lock is held.
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

// stale is the error of a write that is based on another text than the present one.
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

// creatable refuses a new file below a file, or in the place of a folder.
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

// Changes returns what the layer changes in the files below it, sorted by path. A file that cannot be read is left out;
// Merge reports it.
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

// Merge brings the layer's edits into its parent by a three-way merge of lines. The parent is another layer or the
// session, where edits become hunks. Edits that collide with the text there are left out and reported. Afterwards the
// layer has no edits of its own and shows its parent's text, so that the run can go on. Edits of a file that cannot be
// read stay in the layer, and the error, a joined *FileError, names the file.
func (l *Layer) Merge() (MergeReport, error) {
	var report MergeReport
	var problems []error
	defer l.view.notices.run()
	for _, key := range l.keys() {
		l.mu.Lock()
		f := l.files[key]
		l.mu.Unlock()
		if f == nil {
			continue // a child has just taken this edit back
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
		// A child may have merged more edits into the layer meanwhile, which the next merge takes along. The merge of
		// the layer's own move may have moved the child's edits.
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

// merge adds the edits of a child layer to this one.
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
