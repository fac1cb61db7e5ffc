package workspace

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// A session moves a file by a hunk of its own, which has no lines and is in the pile of the old path. The other hunks
// of the pile refer to the text at the old path until the file is at the new one. The anchor of the new path knows
// which files are to be moved there, so that it can report when a file appears.

// await links a file whose move the editor reports to have undone, unless another file is to go there. The lock is
// held.
func (v *View) await(s *Proposal, a *anchor, path string) {
	b := v.anchors[path]
	if b == nil {
		b = newAnchor(path, content{})
	}
	if b.incoming[s] == nil {
		v.link(s, a, b)
	}
}

// arrive updates the moves to a path at which the editor now shows another text. The lock is held.
func (v *View) arrive(b *anchor) {
	for s, a := range maps.Clone(b.incoming) {
		p := a.piles[s]
		if p == nil {
			continue
		}
		if b.now() != nil && v.docs[a.path] != nil && v.docs[b.path] == nil &&
			(p.back() != nil || p.mover() != nil && p.mover().pending) {
			continue // the editor will soon show the file as this document, perhaps with text that is not saved
		}
		if u := p.back(); u != nil && u.moveTo == b.path && b.now() != nil {
			v.join(a, b)
			continue
		}
		h := p.mover()
		switch {
		case h == nil || h.moveTo != b.path:
			continue
		case b.now() == nil:
			if h.state == event.StateConflict {
				h.settle(event.StateOpen, "")
			}
		case h.pending, a.now() == nil && b.now().same(a.last):
			v.join(a, b)
			continue
		case sameName(a.path, b.path) && b.now().same(a.now()):
		default:
			h.settle(event.StateConflict, "a file of this name appeared where it is to go")
		}
		s.publish(a, p)
	}
}

// departed updates the moves of a file that is gone, perhaps because somebody made one of them. The lock is held.
func (v *View) departed(a *anchor) {
	for s := range maps.Clone(a.piles) {
		p := a.piles[s]
		if p == nil {
			continue
		}
		path, told := "", false
		if h, u := p.mover(), p.back(); h != nil {
			path, told = h.moveTo, h.pending
		} else if u != nil {
			path, told = u.moveTo, true
		}
		if b := v.anchors[path]; b != nil && b.now() != nil && (told || b.now().same(a.last)) {
			v.join(a, b)
			return
		}
	}
}

// Rename tells that the editor renamed a file or a folder. Hunks, marks and open documents below from are at the new
// paths afterwards, new files that are proposed there and targets of moves too, and runs' layers follow. A hunk that
// moves the file to just there is accepted; one that moves it elsewhere is superseded. It does not wait on I/O: what
// the disk holds at the new paths is looked at by the view's goroutine. Changed gets the hunks with their new paths. It
// may be called before or after the old document is closed and the new one is opened.
func (v *View) Rename(from, to string) {
	from, to = cleanPath(from), cleanPath(to)
	if from == to {
		return
	}
	defer v.notices.run()
	v.mu.Lock()
	defer v.mu.Unlock()
	for path, doc := range maps.Clone(v.docs) {
		if at := renamed(path, from, to); at != path {
			if v.docs[at] == nil {
				v.docs[at] = doc
			}
			delete(v.docs, path)
			v.cache.drop(path)
			v.cache.drop(at)
		}
	}
	v.renamed(rename{from: from, to: to, editor: true})
	for _, path := range slices.Sorted(maps.Keys(v.anchors)) {
		if at, a := renamed(path, from, to), v.anchors[path]; at != path && a != nil {
			v.renameAnchor(a, path, at, from, to)
		}
	}
}

// renameAnchor moves everything that is tied to a file to the file's new path, after from was renamed. The lock is
// held.
func (v *View) renameAnchor(a *anchor, path, at, from, to string) {
	v.cache.drop(path)
	v.cache.drop(at)
	b := v.anchors[at]
	if b == nil {
		b = newAnchor(at, content{})
		v.anchors[at] = b
	}
	for s, p := range maps.Clone(a.piles) {
		// The targets of moves into a renamed folder are renamed below.
		if h := p.mover(); h != nil && path == from && h.moveTo != to {
			v.renamed(rename{from: h.moveTo, to: to, session: s})
			h.settle(event.StateSuperseded, "the user renamed the file to "+filepath.Base(to))
			s.publish(a, p)
		}
	}
	for s, x := range maps.Clone(a.incoming) {
		if p := x.piles[s]; p != nil && p.mover() != nil && path != from {
			h := p.mover()
			h.moveTo, h.notify = at, true
			delete(a.incoming, s)
			v.link(s, x, b)
			s.publish(x, p)
		}
	}
	next := a.now()
	if doc := v.docs[at]; doc != nil {
		next = doc.buffer.whole()
	} else if next == nil {
		next = a.last // the file was seen to be gone before its new path was known
	}
	for _, p := range a.piles {
		if h := p.mover(); h != nil && h.moveTo == at {
			h.pending = true
		}
	}
	v.move(b, next, v.clock.Add(1))
	v.join(a, b)
	if v.anchors[at] == b {
		v.markStale(at)
	}
}

// join moves everything that is tied to a file to the anchor of the file's present path. The lock is held.
func (v *View) join(a, b *anchor) {
	for s, p := range maps.Clone(a.piles) {
		if h := p.mover(); h != nil && h.moveTo == b.path {
			h.gone = false
			h.reverse = &hunk{moveTo: a.path, state: event.StateOpen}
			h.settle(event.StateAccepted, "")
		}
		for _, u := range p.undos {
			if u.moveTo == b.path {
				u.gone = false
				u.settle(event.StateAccepted, "")
			}
		}
		s.publish(a, p)
	}
	v.renamed(rename{from: a.path, to: b.path})
	if !a.now().same(b.now()) {
		from := a.path
		v.move(a, b.now(), b.seq)
		v.anchors[from] = a
	}
	v.anchors[b.path] = b
	if b.saved == nil {
		b.saved = a.saved
	}
	for m := range a.marks {
		m.anchor = b
		b.marks[m] = struct{}{}
	}
	piles := a.piles
	a.marks, a.piles, a.expected = make(map[*Mark]struct{}), make(map[*Proposal]*pile), nil
	for s, p := range piles {
		if h := p.mover(); h != nil {
			if target := v.anchors[h.moveTo]; target != nil {
				v.link(s, b, target)
			}
		}
		for _, h := range p.hunks {
			h.notify = true
		}
		for _, u := range p.undos {
			switch {
			case u.moveTo == "":
				u.accepted.Path, u.moved = b.path, true
			case u.accepted.MoveTo != b.path:
				u.accepted.MoveTo, u.moved = b.path, true
			}
		}
		own := s.pile(b)
		own.hunks, own.undos = append(own.hunks, p.hunks...), append(own.undos, p.undos...)
		own.arrange()
		s.publish(b, own)
	}
	v.release(b)
	// The old path is free now, for which other moves may wait.
	if v.release(a); v.anchors[a.path] == a {
		v.move(a, nil, v.clock.Add(1))
		v.markStale(a.path)
	}
}

// targets lists the paths to which a file is to be moved, or moved back. The lock is held.
func (a *anchor) targets() []string {
	var paths []string
	for _, p := range a.piles {
		if h := p.mover(); h != nil {
			paths = append(paths, h.moveTo)
		}
		if u := p.back(); u != nil {
			paths = append(paths, u.moveTo)
		}
	}
	slices.SortFunc(paths, strings.Compare)
	return slices.Compact(paths)
}

// renamed adds a rename, and moves what is expected of the files along.
func (v *View) renamed(r rename) {
	v.renames.add(r)
	v.expected.rename(r.from, r.to)
}
