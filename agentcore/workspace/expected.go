package workspace

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/agentls/agentls/agentcore/permission"
)

// expected is what there may be once everything is accepted that anybody has proposed in a view: the files of all
// layers, sessions and documents, whoever else sees them by now. Git takes a folder for a repository once a few names
// are in it, which several runs may bring, in any order. So nothing is forgotten while the view lives, and a path is
// here before it is judged. It has its own lock, under which nothing else is taken.
type expected struct {
	mu sync.Mutex
	// names are files and the folders that they are in, by folded absolute slash path, each with the names in it.
	names map[string]map[string]bool
	// spelled are the same by their absolute slash path, each with the names in it as they are spelled, by what they
	// have in common but for their letter case.
	spelled map[string]map[string][]string
	// texts are the versions of files that act by their name, such as `.git`, by the same paths.
	texts map[string][]string
	// generation counts the changes of what there may be, those of open documents included: whoever has judged by it
	// sees that it has to look again.
	generation atomic.Uint64
	// visited counts the names that a look below a path came by. Tests look at it, since counts tell how work grows.
	visited atomic.Int64
}

// add notes a file by its absolute path.
func (e *expected) add(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fold(foldedSlash(name))
	e.spell(filepath.ToSlash(name))
}

// fold notes a folded path. The lock is held.
func (e *expected) fold(at string) {
	if e.names == nil {
		e.names = make(map[string]map[string]bool)
	}
	for below := ""; ; at, below = path.Dir(at), path.Base(at) {
		inside, known := e.names[at]
		if inside == nil {
			inside = make(map[string]bool)
			e.names[at] = inside
		}
		if !known {
			e.generation.Add(1)
		}
		if below != "" {
			inside[below] = true
		}
		if known || at == path.Dir(at) {
			return
		}
	}
}

// spell notes how a path is spelled. The lock is held.
func (e *expected) spell(at string) {
	if e.spelled == nil {
		e.spelled = make(map[string]map[string][]string)
	}
	for dir := path.Dir(at); dir != at; at, dir = dir, path.Dir(dir) {
		name := path.Base(at)
		letters := caseless(name)
		inside := e.spelled[dir]
		if slices.Contains(inside[letters], name) {
			return
		}
		if inside == nil {
			inside = make(map[string][]string)
			e.spelled[dir] = inside
		}
		inside[letters] = append(inside[letters], name)
	}
}

// caseless is what names have in common that [strings.EqualFold] takes for one.
func caseless(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, name)
}

// inside reports whether anything may be below a path.
func (e *expected) inside(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.spelled[filepath.ToSlash(name)]) > 0
}

// twins reports whether anything may be in a folder that is called as a name but for its letter case.
func (e *expected) twins(dir, name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	spellings := e.spelled[filepath.ToSlash(dir)][caseless(name)]
	return slices.ContainsFunc(spellings, func(other string) bool { return other != name })
}

// write notes what a file is to hold, if that matters.
func (e *expected) write(name string, t *text) {
	e.add(name)
	if _, acts := permission.Protected(filepath.ToSlash(name)); !acts || t == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.texts == nil {
		e.texts = make(map[string][]string)
	}
	at := foldedSlash(name)
	e.texts[at] = uniqueStrings(e.texts[at], t.string())
	e.generation.Add(1)
}

// rename notes that what is expected at a path is expected at another one, too.
func (e *expected) rename(from, to string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, rest := range e.spelledBelow(filepath.ToSlash(from), "", nil) {
		e.spell(filepath.ToSlash(to) + rest)
	}
	from, to = foldedSlash(from), foldedSlash(to)
	for _, rest := range e.below(from, "", nil) {
		e.fold(to + rest)
		if texts := e.texts[from+rest]; texts != nil {
			e.texts[to+rest] = uniqueStrings(e.texts[to+rest], texts...)
			e.generation.Add(1)
		}
	}
}

// below lists a folded path and all below it, each without the path. The lock is held.
func (e *expected) below(at, rest string, list []string) []string {
	inside, known := e.names[at+rest]
	if !known {
		return list
	}
	list = append(list, rest)
	for name := range inside {
		e.visited.Add(1)
		list = e.below(at, rest+"/"+name, list)
	}
	return list
}

// spelledBelow is below for a path as it is spelled.
func (e *expected) spelledBelow(at, rest string, list []string) []string {
	list = append(list, rest)
	for _, names := range e.spelled[at+rest] {
		for _, name := range names {
			e.visited.Add(1)
			list = e.spelledBelow(at, rest+"/"+name, list)
		}
	}
	return list
}

func (e *expected) has(folded string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, known := e.names[folded]
	return known
}

func (e *expected) versions(folded string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.texts[folded])
}

func foldedSlash(name string) string { return permission.FoldPath(filepath.ToSlash(name)) }

// Expect tells that files are about to be proposed, so that each of them is judged with the others there (see
// [View.Protected]). Links are followed as far as they exist.
func (v *View) Expect(names ...string) {
	for _, name := range names {
		name = cleanPath(name)
		v.expected.addAt(name, v.places(name))
	}
}

// addAt is add for a path whose places are known: the one that it leads to is noted, too.
func (e *expected) addAt(name string, at []place) {
	e.add(name)
	if len(at) > 0 && at[0].inside && at[0].real != filepath.ToSlash(at[0].rel) {
		e.add(filepath.Join(at[0].root.Path, filepath.FromSlash(at[0].real)))
	}
}

// Together are files that are proposed at once, and the folders that they are in.
type Together map[string]bool

// NewTogether returns the set of some absolute paths.
func NewTogether(names ...string) Together {
	set := make(Together)
	for _, name := range names {
		for at := foldedSlash(cleanPath(name)); !set[at]; at = path.Dir(at) {
			set[at] = true
		}
	}
	return set
}

// Judge judges the paths of one batch, however many they are, by one look at each folder around them: one call, or what
// one command wrote. All of them have to be expected before (see [View.Expect]), so that of two runs that write at once
// one sees the other. What anybody proposes, opens or types meanwhile has it look again; what changes on the disk
// meanwhile counts for the next batch. One goroutine at a time may use it.
type Judge struct {
	view *View
	also Together
	// folders are what was seen around the paths, as long as the generation is that of what is expected.
	folders    map[*root]*permission.Judge
	generation uint64
	// names are those in folders of the disk, by what they are without their letter case.
	names map[string]map[string][]string
}

// onDisk lists the names in a folder of the disk that are a name but for its letter case, sorted, itself included. rel
// is the folder below the root.
func (j *Judge) onDisk(r *root, rel, name string) []string {
	dir := filepath.Join(r.Path, rel)
	inside, known := j.names[dir]
	if !known {
		inside = map[string][]string{}
		for _, other := range r.names(rel) {
			letters := caseless(other)
			inside[letters] = append(inside[letters], other)
		}
		if j.names == nil {
			j.names = map[string]map[string][]string{}
		}
		j.names[dir] = inside
	}
	return slices.Sorted(slices.Values(inside[caseless(name)]))
}

// Judge makes a judge for paths that are proposed together with others.
func (v *View) Judge(also Together) *Judge { return &Judge{view: v, also: also} }

// Protected reports why a file acts by itself, if it does: git, the editor or an agent would run what it says. It is
// judged by what would be there once all is accepted that any run has proposed, and what is proposed together with it.
// It may look at the disk.
func (j *Judge) Protected(name string) (why string, ok bool) {
	name = cleanPath(name)
	return j.protected(j.view.places(name))
}

func (j *Judge) protected(places []place) (why string, ok bool) {
	if now := j.view.expected.generation.Load(); now != j.generation || j.folders == nil {
		j.folders, j.generation = map[*root]*permission.Judge{}, now
	}
	for _, at := range places { // one root may lie in another
		folders := j.folders[at.root]
		if folders == nil {
			folders = permission.NewJudge(expectedTree{j.view, at.root, j.also}, filepath.ToSlash(at.root.Path))
			j.folders[at.root] = folders
		}
		rel := filepath.ToSlash(at.rel)
		if why, ok := folders.Protected(rel); ok {
			return why, true
		}
		if at.inside && at.real != rel {
			if why, ok := folders.Protected(at.real); ok {
				return why, true
			}
		}
	}
	return "", false
}

// Protected is [Judge.Protected] for a single path.
func (v *View) Protected(name string, also Together) (why string, ok bool) {
	return v.Judge(also).Protected(name)
}

// expectedTree is a workspace folder as it would be, for [permission.ProtectedBelow].
type expectedTree struct {
	view *View
	root *root
	also Together
}

// Has implements [permission.Tree].
func (t expectedTree) Has(rel string) bool {
	folded := foldedSlash(t.path(rel))
	if t.also[folded] || t.view.expected.has(folded) {
		return true
	}
	below, err := t.root.folders()
	if err != nil {
		return false // nothing is there yet
	}
	_, err = below.Stat(filepath.FromSlash(rel))
	return err == nil
}

// maxSettings bounds a file with git's settings, in bytes.
const maxSettings = 256 << 10

// Texts implements [permission.Tree].
func (t expectedTree) Texts(rel string) []string {
	name := t.path(rel)
	texts := t.view.expected.versions(foldedSlash(name))
	if disk, err := t.view.readDisk(name); err == nil && disk.text != nil {
		texts = append(texts, disk.text.string())
	}
	t.view.mu.Lock()
	if doc := t.view.docs[name]; doc != nil {
		texts = append(texts, doc.buffer.whole().string())
	}
	if a := t.view.anchors[name]; a != nil {
		for _, p := range a.piles {
			if own := p.text(a.now()); own != nil {
				texts = append(texts, own.string())
			}
		}
	}
	t.view.mu.Unlock()
	return slices.DeleteFunc(texts, func(text string) bool { return len(text) > maxSettings })
}

func (t expectedTree) path(rel string) string {
	return filepath.Join(t.root.Path, filepath.FromSlash(rel))
}
