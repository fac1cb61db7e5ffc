package workspace

import (
	"maps"
)

// reaches reports whether a layer has to follow the rename.
func (r rename) reaches(l *Layer) bool {
	if r.layer == 0 {
		return r.session == nil || r.session == l.session
	}
	for below := l.parent; below != nil; below = below.parent {
		if below.number == r.layer {
			return true
		}
	}
	return false
}

// follow moves the layer's edits to where the files below are now. The lock is held.
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
		// a file that the layer made is not the file that was renamed
		case !r.editor && (key != r.from || f.base == nil):
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
	// What the run knows of the file counts at both paths. The run has not heard of the new path, and what it would
	// write to the old path, where no file is now, was made from the text that has moved. At the new path it may edit
	// the file, but not replace it as a whole, since it may believe that it makes a new file.
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
