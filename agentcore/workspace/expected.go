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
