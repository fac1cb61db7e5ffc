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

// expected holds all paths that may exist once everything is accepted that anybody has proposed in a view: the files of
// all layers, sessions and documents, whether or not somebody still sees them. Git takes a folder for a repository once
// it holds a few names, which several runs may bring in any order. So nothing is forgotten while the view lives, and a
// path is added before it is judged. It has its own lock; no other lock is taken while it is held.
type expected struct {
	mu sync.Mutex
	// names maps the absolute slash path of each folder, folded to one letter case, to the names in the folder.
	names map[string]map[string]bool
	// spelled does so for paths as they are spelled. The names in a folder are grouped by what they are without letter
	// case.
	spelled map[string]map[string][]string
	// texts are the versions of files that act by their name, such as `.git`, by folded path.
	texts map[string][]string
	// generation counts changes of what there may be, open documents included, so that a judge that has looked before
	// sees that it must look again.
	generation atomic.Uint64
	// visited counts the names that a look below a path passes. Tests read it to see how the work grows.
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

// caseless maps names that [strings.EqualFold] takes for equal to the same text.
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

// twins reports whether the folder may hold a name that differs from this one in letter case alone.
func (e *expected) twins(dir, name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	spellings := e.spelled[filepath.ToSlash(dir)][caseless(name)]
	return slices.ContainsFunc(spellings, func(other string) bool { return other != name })
}

// write notes the text that a file is to have, if the text matters.
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

// rename notes that all that is expected at and below one path is expected at another one, too.
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

// below lists a folded path and all paths below it, each without the path in front. The lock is held.
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
