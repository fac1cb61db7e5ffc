package workspace

import (
	"path/filepath"
	"sync"
)

// Ignored tells what version control ignores, as gitignore(5) has it and the layer shows the ignore files. It remembers
// what it has read, so that whoever asks for many files makes one for each piece of work. Its method may be called from
// any goroutine.
type Ignored struct {
	layer *Layer

	mu      sync.Mutex
	folders map[string]folderRules
}

// folderRules are the patterns that hold in a folder, its own included, or that the folder is itself ignored.
type folderRules struct {
	rules   ignores
	ignored bool
}

// Ignored returns what is ignored below the roots, as the layer shows it from now on.
func (l *Layer) Ignored() *Ignored { return &Ignored{layer: l, folders: map[string]folderRules{}} }

// Has reports whether a file or folder, by its absolute path, is ignored, or one above it. A root, and what lies
// outside of them, is not.
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

// folder returns what holds in a folder of the root. The lock is held.
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
