package workspace

import (
	"maps"
	"path/filepath"
	"sync"
)

// rename is a path that has changed for layers: for those above a layer, those of a session or, where neither is set,
// all.
type rename struct {
	from, to string
	layer    *Layer
	session  *Proposal
	// editor says that the editor renamed a file or a folder with all that is in it, and not an agent a file.
	editor bool
}

// reaches reports whether a layer has to follow.
func (r rename) reaches(l *Layer) bool {
	if r.layer == nil {
		return r.session == nil || r.session == l.session
	}
	for below := l.parent; below != nil; below = below.parent {
		if below == r.layer {
			return true
		}
	}
	return false
}

// path returns where a path is now.
func (r rename) path(path string) string { return renamed(path, r.from, r.to) }

// renamed returns where a path is once a file or folder was renamed.
func renamed(path, from, to string) string {
	switch rest, ok := within(from, path); {
	case !ok:
		return path
	case rest == ".":
		return to
	default:
		return filepath.Join(to, rest)
	}
}

// renames are all of a view, in their order. They have their own lock, under which nothing else is taken.
type renames struct {
	mu   sync.RWMutex
	list []rename
}

func (n *renames) add(r rename) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, r)
}

// renamed adds to the renames; what is expected of the files follows.
func (v *View) renamed(r rename) {
	v.renames.add(r)
	v.expected.rename(r.from, r.to)
}

func (n *renames) len() int {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return len(n.list)
}

// since returns those behind the first ones. Nobody changes the slice.
func (n *renames) since(first int) []rename {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.list[first:len(n.list):len(n.list)]
}

// follow takes the layer's edits to where the files below are by now. The lock is held.
func (l *Layer) follow() {
	for _, r := range l.view.renames.since(l.followed) {
		l.followed++
		if r.reaches(l) {
			l.rename(r)
		}
	}
}

func (l *Layer) rename(r rename) {
	moving := make(map[string]*layerFile)
	for key, f := range l.files {
		switch at := r.path(key); {
		case !r.editor && (key != r.from || f.base == nil): // a file that is new here is another one
		case at != key || f.moveTo != "" && r.path(f.moveTo) != f.moveTo && r.editor:
			moving[key] = f
		}
	}
	for key := range moving {
		l.set(key, nil)
	}
	for key, f := range moving {
		at := r.path(key)
		if f.moveTo != "" && r.editor {
			f.moveTo = r.path(f.moveTo)
		}
		switch {
		case f.moveTo == "":
		case f.moveTo == at:
			f.moveTo, f.movers = "", nil
		case key == r.from && f.moveTo != r.to:
			l.lose(at, []Conflict{{
				Base: f.base.string(), Ours: f.patch.text().string(), Theirs: f.below.string(), OursPath: f.moveTo,
				TheirsPath: at,
			}})
			f.moveTo, f.movers = "", nil
		}
		f.below, f.occupant, f.rebased, f.conflicts, f.made, f.stuck = f.base, nil, f.patch, nil, f.patch.text(), false
		if l.files[at] != nil {
			l.lose(at,
				[]Conflict{{Base: f.base.string(), Ours: f.patch.text().string(), Theirs: l.files[at].made.string()}})
			continue
		}
		l.set(at, f)
	}
	// What the run knows counts at both paths: it has not heard of the new one, and what it would write to the old one,
	// where nothing is now, was made from the text that has moved. At the new one it is enough for an edit: who writes
	// a whole file there may mean to make one.
	for _, known := range []map[string]sight{l.seen, l.learned} {
		for path, s := range maps.Clone(known) {
			if at := r.path(path); at != path && (r.editor || path == r.from) {
				if former := known[at]; former.stamp != s.stamp {
					known[at] = sight{stamp: s.stamp}
				}
			}
		}
	}
}
