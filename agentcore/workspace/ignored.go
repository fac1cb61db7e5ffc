package workspace

import (
	"path/filepath"
	"sync"
)

// Ignored tells what version control ignores, by gitignore(5) and the ignore files as the layer shows them. It
// remembers what it has read, so code that asks about many files should make one Ignored for each piece of work. Its
// method may be called from any goroutine.
type Ignored struct {
	layer *Layer

	mu      sync.Mutex
	folders map[string]folderRules
}

// folderRules are the patterns that hold in a folder, those of its own file included, or say that the folder itself is
// ignored.
type folderRules struct {
	rules   ignores
	ignored bool
}

// Ignored returns what is ignored below the roots, as the layer shows it from now on.
func (l *Layer) Ignored() *Ignored { return &Ignored{layer: l, folders: map[string]folderRules{}} }

// Has reports whether a file or folder, given by its absolute path, is ignored, or lies in an ignored folder. A root is
// never ignored, nor is anything outside of the roots.
func (g *Ignored) Has(path string, dir bool) bool {
	path = cleanPath(path)
	r, rel := g.layer.view.locate(path)
	if r == nil || rel == "." {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	above := g.folder(r, filepath.Dir(path))
	return above.ignored || above.rules.ignored(path, dir)
}

// folder returns the rules in a folder of the root. The lock is held.
func (g *Ignored) folder(r *root, dir string) folderRules {
	if known, ok := g.folders[dir]; ok {
		return known
	}
	var f folderRules
	if dir == r.Path {
		f.rules = ignoresAbove(g.layer, r, dir)
	} else {
		f = g.folder(r, filepath.Dir(dir))
		f.ignored = f.ignored || f.rules.ignored(dir, true)
	}
	if !f.ignored {
		f.rules = f.rules.enter(dir, isRepository(dir), excludes(g.layer, filepath.Join(dir, ".gitignore")))
	}
	g.folders[dir] = f
	return f
}
