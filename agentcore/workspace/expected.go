package workspace

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agentls/agentls/agentcore/permission"
)

// expected is what there may be once everything is accepted that anybody has proposed in a view: the files of all
// layers, sessions and documents, whoever else sees them by now. Git takes a folder for a repository once a few names
// are in it, which several runs may bring, in any order. So nothing is forgotten while the view lives, and a path is
// here before it is judged. It has its own lock, under which nothing else is taken.
type expected struct {
	mu sync.Mutex
	// names are files and the folders that they are in, by folded absolute slash path.
	names map[string]bool
	// texts are the versions of files that act by their name, such as `.git`, by the same paths.
	texts map[string][]string
	// generation counts the changes of what there may be, those of open documents included: whoever has judged by it
	// sees that it has to look again.
	generation atomic.Uint64
}

// add notes a file by its absolute path.
func (e *expected) add(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.names == nil {
		e.names = make(map[string]bool)
	}
	for at := foldedSlash(name); !e.names[at]; at = path.Dir(at) {
		e.names[at] = true
		e.generation.Add(1)
	}
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
	from, to = foldedSlash(from), foldedSlash(to)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.generation.Add(1)
	for _, name := range slices.Collect(maps.Keys(e.names)) {
		if rest, ok := strings.CutPrefix(name, from); ok && (rest == "" || rest[0] == '/') {
			for at := to + rest; !e.names[at]; at = path.Dir(at) {
				e.names[at] = true
			}
			if texts := e.texts[name]; texts != nil {
				e.texts[to+rest] = uniqueStrings(e.texts[to+rest], texts...)
			}
		}
	}
}

func (e *expected) has(folded string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.names[folded]
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
		v.expect(name, v.places(name))
	}
}

func (v *View) expect(name string, at []place) {
	v.expected.add(name)
	if len(at) > 0 && at[0].inside && at[0].real != filepath.ToSlash(at[0].rel) {
		v.expected.add(filepath.Join(at[0].root.Path, filepath.FromSlash(at[0].real)))
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
