package workspace

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

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
}

// rename notes that what is expected at a path is expected at another one, too.
func (e *expected) rename(from, to string) {
	from, to = foldedSlash(from), foldedSlash(to)
	e.mu.Lock()
	defer e.mu.Unlock()
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
		v.expected.add(name)
		if r, rel := v.locate(name); r != nil {
			if real, inside := r.real(rel); inside {
				v.expected.add(filepath.Join(r.Path, filepath.FromSlash(real)))
			}
		}
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

// Protected reports why a file acts by itself, if it does: git, the editor or an agent would run what it says. It is
// judged by what would be there once all is accepted that any run has proposed, and what is proposed together with it.
// It may look at the disk.
func (v *View) Protected(name string, also Together) (why string, ok bool) {
	name = cleanPath(name)
	for _, r := range *v.roots.Load() { // one may lie in another
		rel, inside := within(r.Path, name)
		if !inside {
			continue
		}
		t := expectedTree{v, r, also}
		if why, ok := permission.ProtectedBelow(t, filepath.ToSlash(r.Path), filepath.ToSlash(rel)); ok {
			return why, true
		}
		if real, inside := r.real(rel); inside && real != filepath.ToSlash(rel) {
			if why, ok := permission.ProtectedBelow(t, filepath.ToSlash(r.Path), real); ok {
				return why, true
			}
		}
	}
	return "", false
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
	dir, err := t.root.open()
	if err != nil {
		return false // nothing is there yet
	}
	_, err = dir.Stat(filepath.FromSlash(rel))
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
			if own := p.text(a.text); own != nil {
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
