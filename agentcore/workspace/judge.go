package workspace

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/agentls/agentls/agentcore/permission"
)

// writable returns why a path may not be written, or nil. It follows links as far as they exist. From then on, the path
// counts as one that will exist.
func (j *Judge) writable(name string) error {
	v := j.view
	places := v.places(name)
	if len(places) == 0 {
		return v.outside(name)
	}
	rel, real := places[0].rel, places[0].real
	if rel == "." {
		return &FileError{Kind: Directory, Path: name, Detail: "is a folder", Hint: "name a file in it"}
	}
	if !places[0].inside {
		return &FileError{
			Kind: Outside, Path: name, Detail: "leads out of the workspace through a symbolic link",
			Hint: "only files inside the workspace folders can be changed",
		}
	}
	// added before it is judged, so that of two runs that write at the same time, one sees the other's path
	v.expected.addAt(name, places)
	if why, ok := j.protected(places); ok {
		return &FileError{
			Kind: Protected, Path: name, Detail: "is protected: " + why,
			Hint: "leave it as it is, and tell the user what to change there",
		}
	}
	if permission.Secret(filepath.ToSlash(rel)) || permission.Secret(real) {
		return v.secretError(name)
	}
	return nil
}

// Expect announces files that are about to be proposed, so that each of them is judged as if the others existed (see
// [View.Protected]). It follows links as far as they exist.
func (v *View) Expect(names ...string) {
	for _, name := range names {
		name = cleanPath(name)
		v.expected.addAt(name, v.places(name))
	}
}

// addAt is add for a path whose places are known. It also adds the path that a link leads to.
func (e *expected) addAt(name string, at []place) {
	e.add(name)
	if len(at) > 0 && at[0].inside && at[0].real != filepath.ToSlash(at[0].rel) {
		e.add(filepath.Join(at[0].root.Path, filepath.FromSlash(at[0].real)))
	}
}

// Together are files that are proposed at the same time, and their folders.
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

// Judge judges the paths of one batch, such as one call or all that one command wrote, and looks only once at each
// folder around them. All paths must be expected before (see [View.Expect]), so that of two runs that write at the same
// time, one sees the other. It looks again after anybody has proposed, opened or typed something; changes on the disk
// count only for the next batch. Only one goroutine may use it at a time.
type Judge struct {
	view *View
	also Together
	// folders are what was seen around the paths. They hold as long as the generation of the expected paths is the
	// same.
	folders    map[*root]*permission.Judge
	generation uint64
	// names are the names in folders of the disk, grouped by what they are without letter case.
	names map[string]map[string][]string
}

// onDisk lists the names in a folder of the disk that are equal to name in any letter case, name itself included,
// sorted. rel is the folder below the root.
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

// Protected reports whether a file acts by itself, and why: git, the editor or an agent would carry out what it says.
// It judges the state in which everything that any run has proposed is accepted, together with the paths of this batch.
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

// expectedTree is a workspace folder as it would be with everything accepted, for [permission.ProtectedBelow].
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
		return false // nothing exists there yet
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
