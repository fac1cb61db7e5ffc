package workspace

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// LayerFile is what a layer does to one file, in a form that can be stored: [Layer.Load] makes the same layer from it.
// It is never changed.
type LayerFile struct {
	// Path is where the layer shows the file or, for a deleted file, where the file was. It is absolute, and no two
	// files of a layer have the same.
	Path string
	// MovedFrom is where the file is below the layer, if the layer moves it; it is empty otherwise.
	MovedFrom string
	// Base is the text that the edits were made on, empty for a Created file. Text is the result of the edits, empty
	// for a Deleted file. Both are UTF-8 with their own line endings.
	Base, Text       string
	Created, Deleted bool
	// Stamp is that of Base, empty for a file that is Created.
	Stamp Stamp
	// Authors wrote the edits, oldest first.
	Authors []Author
	// Fixes are the places of the edits that fix a finding.
	Fixes []FixPlace
}

// FixPlace is where an edit that fixes a finding replaces lines of the base, 0-based, the end exclusive.
type FixPlace struct {
	Finding            event.FindingID
	StartLine, EndLine int
}

// fixPlaces are the places of those hunks that fix findings.
func fixPlaces(hunks []*hunk) (places []FixPlace) {
	for _, h := range hunks {
		for _, finding := range fixesOf(h.authors) {
			places = append(places, FixPlace{finding, h.start, h.end})
		}
	}
	return places
}

// authorsAt are the authors of a hunk: all those who fixed nothing, and those whose fix is in the hunk or touches it.
func (f *LayerFile) authorsAt(h *hunk) []Author {
	return slices.DeleteFunc(slices.Clone(f.Authors), func(a Author) bool {
		return a.Finding != "" && !slices.ContainsFunc(f.Fixes, func(p FixPlace) bool {
			return p.Finding == a.Finding && p.StartLine <= h.end && h.start <= p.EndLine
		})
	})
}

// Saved returns all that the layer does to files, sorted by path. It reads no file. Conflicts that only the next Merge
// would report are not part of it.
func (l *Layer) Saved() []LayerFile {
	changed, _, _ := l.SavedSince(0)
	return changed
}

// SavedSince returns what has changed since an earlier call returned the generation: the files to which the layer does
// something else now, sorted by path, and the paths at which it has no edits any more, sorted. Generation 0 is that of
// the empty layer. Its cost depends on the changes since then, not on the number of files, and it reads no file.
func (l *Layer) SavedSince(generation uint64) (changed []LayerFile, dropped []string, now uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow()
	since, _ := slices.BinarySearchFunc(l.journal, generation+1,
		func(c layerChange, first uint64) int { return cmp.Compare(c.generation, first) })
	for _, c := range l.journal[since:] {
		l.visited++
		switch {
		case !l.holds(c):
		case c.dropped && generation > 0:
			dropped = append(dropped, c.path)
		case !c.dropped:
			changed = append(changed, l.files[c.path].saved(c.path))
		}
	}
	slices.SortFunc(changed, func(a, b LayerFile) int { return cmp.Compare(a.Path, b.Path) })
	slices.Sort(dropped)
	return changed, dropped, l.generation
}

func (f *layerFile) saved(key string) LayerFile {
	own := f.patch.text()
	from := ""
	if f.moveTo != "" {
		from = key
	}
	return LayerFile{
		Path: f.path(key), MovedFrom: from,
		Base: f.base.string(), Text: own.string(),
		Created: f.base == nil, Deleted: own == nil,
		Stamp: f.base.stamp(), Authors: authorsOf(f.hunks, []*hunk{{authors: f.movers}}),
		Fixes: fixPlaces(f.hunks),
	}
}

// Load applies what a layer of an earlier process did to this layer, which was just forked and has no edits. Edits of a
// file whose text below has changed follow the change, as those of a living layer do. Load returns the edits that do
// not fit, sorted by path; Merge will report them again. A file that cannot be read now keeps its edits for later.
func (l *Layer) Load(files []LayerFile) []Conflict {
	l.mu.Lock()
	for _, saved := range files {
		path := cleanPath(saved.Path)
		l.view.expected.add(path)
		if saved.MovedFrom != "" {
			l.view.expected.add(cleanPath(saved.MovedFrom))
		}
		var base, own *text
		if !saved.Created {
			base = newText(saved.Base)
		}
		if !saved.Deleted {
			own = newText(saved.Text)
			l.view.expected.write(path, own)
		}
		edits := patch{base: base, hunks: hunksBetween(base, own, Author{})}
		for _, h := range edits.hunks {
			h.authors = saved.authorsAt(h)
		}
		f, key := newLayerFile(edits), path
		if saved.MovedFrom != "" {
			key, f.moveTo, f.movers = cleanPath(saved.MovedFrom), path, slices.Clone(saved.Authors)
		}
		l.set(key, f)
	}
	keys := slices.Sorted(maps.Keys(l.files))
	l.mu.Unlock()
	var conflicts []Conflict
	for _, key := range keys {
		s := l.look(key)[0]
		if f := l.files[s.key]; f != nil && s.err == nil {
			f.on(s.below.text, s.occupant())
			for _, c := range f.conflicts {
				c.Path = cmp.Or(c.Path, s.key)
				conflicts = append(conflicts, c)
			}
		}
		l.mu.Unlock()
	}
	slices.SortStableFunc(conflicts, func(a, b Conflict) int { return strings.Compare(a.Path, b.Path) })
	return conflicts
}

// layerChange is a change of a layer: new edits of the file at a path below, or none at a path any more.
type layerChange struct {
	path       string
	generation uint64
	dropped    bool
}

// note adds a change to the journal. Once most changes in it are outdated by later ones, it removes these. The lock is
// held.
func (e *layerEdits) note(c layerChange) {
	e.journal = append(e.journal, c)
	if len(e.journal) > 64+2*(len(e.files)+len(e.dropped)) {
		e.journal = slices.DeleteFunc(e.journal, func(c layerChange) bool { return !e.holds(c) })
	}
}

// holds reports whether no later change has made this one outdated. The lock is held.
func (e *layerEdits) holds(c layerChange) bool {
	if c.dropped {
		return e.dropped[c.path] == c.generation
	}
	f := e.files[c.path]
	return f != nil && f.generation == c.generation
}

// set makes f the layer's edits of the file that is at a path below; none where it is nil, or does nothing. The lock is
// held.
func (e *layerEdits) set(key string, f *layerFile) {
	old := e.files[key]
	if f != nil && len(f.hunks) == 0 && f.moveTo == "" {
		f = nil
	}
	if f == nil && old == nil {
		return
	}
	e.generation++
	if old != nil {
		delete(e.files, key)
		if e.moved[old.moveTo] == key {
			delete(e.moved, old.moveTo)
		}
		e.dropped[old.path(key)] = e.generation
		e.note(layerChange{old.path(key), e.generation, true})
	}
	if f != nil {
		f.generation = e.generation
		e.files[key] = f
		if f.moveTo != "" {
			e.moved[f.moveTo] = key
		}
		delete(e.dropped, f.path(key))
		e.note(layerChange{key, e.generation, false})
	}
}

// path is where the layer shows the file whose edits are kept at a key, or where it deletes it.
func (f *layerFile) path(key string) string { return cmp.Or(f.moveTo, key) }
