package workspace

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// A session moves a file by a hunk of its own, which has no lines, in the pile of the old path. The other hunks of the
// pile refer to the text at the old path until the file is at the new one. The anchor of the new path knows who wants
// to come, so that it tells when something is there.

// moving returns the hunk that moves the file, if one counts.
func (p *pile) moving() *hunk {
	if h := p.mover(); h != nil && h.live() {
		return h
	}
	return nil
}

// mover returns the hunk that is to move the file and not settled, be it in conflict.
func (p *pile) mover() *hunk {
	if i := slices.IndexFunc(p.hunks, func(h *hunk) bool { return h.moveTo != "" && !h.settled() }); i >= 0 {
		return p.hunks[i]
	}
	return nil
}

// followMove looks after a hunk that moves the file.
func (h *hunk) followMove(next *text) {
	h.start, h.end = 0, 0
	switch {
	case h.pending: // the new path tells, or nobody does
	case next == nil:
		h.vanish()
	case h.gone:
		h.gone, h.notify = false, true
	}
}

// shownFile is where the editor has a file that a session shows at a path, and what is there.
type shownFile struct {
	path, origin string
	content      content
	err          error
}

// origin returns where the editor has the file that the session shows at a path. The lock is held.
func (s *Proposal) origin(path string) string {
	if b := s.view.anchors[path]; b != nil {
		if a := b.incoming[s]; a != nil {
			if p := a.piles[s]; p != nil && p.moving() != nil && p.moving().moveTo == path {
				return a.path
			}
		}
	}
	return path
}

// look reads files that the session shows, and brings what is anchored there up to date. It returns with the view's
// lock held; the caller runs the notices when it is not.
func (s *Proposal) look(paths ...string) []shownFile {
	v := s.view
	for {
		files := make([]shownFile, len(paths))
		v.mu.Lock()
		for i, path := range paths {
			files[i] = shownFile{path: path, origin: s.origin(path)}
		}
		v.mu.Unlock()
		targets := make(map[string]content)
		for i := range files {
			f := &files[i]
			f.content, f.err = v.content(f.origin)
			if f.origin != f.path {
				if c, err := v.content(f.path); err == nil {
					targets[f.path] = c
				}
			}
		}
		v.mu.Lock()
		for _, f := range files {
			if a := v.anchors[f.origin]; a != nil && f.err == nil {
				v.sync(a, f.content)
			}
		}
		for path, c := range targets {
			if b := v.anchors[path]; b != nil {
				v.sync(b, c)
			}
		}
		if !slices.ContainsFunc(files, func(f shownFile) bool { return s.origin(f.path) != f.origin }) {
			return files
		}
		v.mu.Unlock()
	}
}

// pile returns the session's hunks of a file. The lock is held.
func (s *Proposal) pile(a *anchor) *pile {
	p := a.piles[s]
	if p == nil {
		p = &pile{}
		a.piles[s] = p
	}
	return p
}

// place moves a file that the session shows, as a layer did. from has just been looked at, and is tied to a. The lock
// is held.
func (s *Proposal) place(a *anchor, from, to shownFile, movers []Author) (*Conflict, []event.HunkID) {
	v := s.view
	p := s.pile(a)
	own := p.text(a.now())
	if to.err != nil || to.origin != to.path {
		c := occupied(to.path, own, newText(""))
		if b := v.anchors[to.origin]; b != nil && b.piles[s] != nil && to.err == nil {
			c = occupied(to.path, own, b.piles[s].text(b.now()))
		}
		return &c, nil
	}
	moved := rename{from: from.path, to: to.path, session: s}
	if h := p.mover(); h != nil && (to.path == a.path || !h.live()) {
		h.settle(event.StateSuperseded, "a later move takes its place")
	}
	if to.path == a.path {
		v.renamed(moved)
		return nil, nil
	}
	b := v.anchor(to.path, to.content)
	other := s.pile(b)
	there := other.text(b.now())
	if other.moving() != nil {
		there = nil
	}
	alias := sameName(a.path, b.path) && b.now().same(a.now())
	if there != nil && !alias {
		c := occupied(to.path, own, there)
		v.drop(b, s)
		return &c, nil
	}
	v.renamed(moved)
	var ids []event.HunkID
	switch {
	case b.now() != nil && !alias:
		ids = s.placeOver(a, b, own, movers)
	case a.now() == nil:
		ids = p.takeAlong(other, movers)
		s.publish(b, other)
	default:
		h := p.moving()
		if h == nil {
			h = &hunk{id: event.NewHunkID(), state: event.StateOpen}
			p.hunks = append(p.hunks, h)
		} else {
			v.unlink(s, a, h.moveTo)
		}
		h.moveTo, h.authors, h.notify = to.path, authorsOf([]*hunk{h, {authors: movers}}), true
		v.link(s, a, b)
		v.drop(b, s)
		ids = append(ids, h.id)
	}
	return nil, ids
}

// placeOver moves a file, whose text is own, to where another one is, which goes away by another hunk: there is no
// renaming over it.
func (s *Proposal) placeOver(a, b *anchor, own *text, movers []Author) []event.HunkID {
	p, other := s.pile(a), s.pile(b)
	var ids []event.HunkID
	if other.moving() != nil {
		ids = s.unmove(b, other)
	}
	there := other.text(b.now())
	authors := authorsOf(p.patch(a.now()).hunks, []*hunk{{authors: movers}})
	ids = append(ids, s.stack(b, other, there, own, hunksBy(there, own, authors))...)
	s.publish(b, other)
	if h := p.mover(); h != nil {
		h.settle(event.StateSuperseded, "a later move takes its place")
	}
	return append(ids, s.stack(a, p, own, nil, hunksBy(own, nil, movers))...)
}

// takeAlong gives the hunks that make a new file to the pile of its new path.
func (p *pile) takeAlong(other *pile, movers []Author) (ids []event.HunkID) {
	for _, h := range p.hunks {
		if h.live() {
			h.notify = true
			h.authors = authorsOf([]*hunk{h, {authors: movers}})
			other.hunks = append(other.hunks, h)
			ids = append(ids, h.id)
		}
	}
	p.hunks = slices.DeleteFunc(p.hunks, (*hunk).live)
	return ids
}

// unmove makes a new file of one that the session moves, since its old path gets another text. The lock is held.
func (s *Proposal) unmove(a *anchor, p *pile) []event.HunkID {
	h, own := p.moving(), p.text(a.now())
	b := s.view.anchors[h.moveTo]
	authors := authorsOf(p.patch(a.now()).hunks, []*hunk{h})
	other := s.pile(b)
	ids := s.stack(b, other, nil, own, hunksBy(nil, own, authors))
	s.publish(b, other)
	h.settle(event.StateSuperseded, "another file took the old path, so the move became a new file")
	return ids
}

// hunksBy is hunksBetween for several authors.
func hunksBy(cur, next *text, authors []Author) []*hunk {
	hunks := hunksBetween(cur, next, Author{})
	sign(hunks, authors)
	return hunks
}

// sign makes hunks those of authors together. Which of several hunks fixes which finding is not known.
func sign(hunks []*hunk, authors []Author) {
	if len(hunks) > 1 {
		unknown := make([]Author, len(authors))
		for i, a := range authors {
			unknown[i] = Author{Run: a.Run, Agent: a.Agent, Reason: a.Reason}
		}
		authors = authorsOf([]*hunk{{authors: unknown}})
	}
	for _, h := range hunks {
		h.authors = authors
	}
}

// link lets the anchor of a path know of a file that a session wants to move there. The lock is held.
func (v *View) link(s *Proposal, a, b *anchor) {
	if b.incoming == nil {
		b.incoming = make(map[*Proposal]*anchor)
	}
	b.incoming[s] = a
	v.anchors[b.path] = b
}

// unlink undoes link. The lock is held.
func (v *View) unlink(s *Proposal, a *anchor, path string) {
	if b := v.anchors[path]; b != nil && b.incoming[s] == a {
		delete(b.incoming, s)
		v.release(b)
	}
}

// await links a file that the editor said it moved back, unless another one is to go there. The lock is held.
func (v *View) await(s *Proposal, a *anchor, path string) {
	b := v.anchors[path]
	if b == nil {
		b = newAnchor(path, content{})
	}
	if b.incoming[s] == nil {
		v.link(s, a, b)
	}
}

// takenAgain returns the old paths of accepted moves at which something is by now.
func (s *Proposal) takenAgain(ids []event.HunkID) []string {
	var paths []string
	s.view.mu.Lock()
	for _, at := range s.findUndos(ids...) {
		if u := at.undo; u.moveTo != "" && !sameName(u.moveTo, at.anchor.path) {
			paths = append(paths, u.moveTo)
		}
	}
	s.view.mu.Unlock()
	return slices.DeleteFunc(paths, func(path string) bool {
		c, err := s.view.content(path)
		return err == nil && c.text == nil
	})
}

// back returns the accepted move whose undo the editor said it has made, if there is one.
func (p *pile) back() *undo {
	if i := slices.IndexFunc(p.undos, func(u *undo) bool { return u.moveTo != "" && u.pending }); i >= 0 {
		return p.undos[i]
	}
	return nil
}

// arrive looks after the moves to a path of which the editor shows something else now. The lock is held.
func (v *View) arrive(b *anchor) {
	for s, a := range maps.Clone(b.incoming) {
		p := a.piles[s]
		if p == nil {
			continue
		}
		if b.now() != nil && v.docs[a.path] != nil && v.docs[b.path] == nil &&
			(p.back() != nil || p.mover() != nil && p.mover().pending) {
			continue // the editor is about to say that it is the document now, with text that it may not have saved
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

// departed looks after the moves of a file that is gone, which may be because somebody made them. The lock is held.
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

// renameAnchor takes what is tied to a file along that is at another path since from was renamed. The lock is held.
func (v *View) renameAnchor(a *anchor, path, at, from, to string) {
	v.cache.drop(path)
	v.cache.drop(at)
	b := v.anchors[at]
	if b == nil {
		b = newAnchor(at, content{})
		v.anchors[at] = b
	}
	for s, p := range maps.Clone(a.piles) {
		// A folder takes the targets of moves along below.
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
		next = a.last // it was seen to be gone before it was known where to
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

// join takes all that is tied to a file to where the file is now. The lock is held.
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
	// Nothing is at the old path now, as others may wait for.
	if v.release(a); v.anchors[a.path] == a {
		v.move(a, nil, v.clock.Add(1))
		v.markStale(a.path)
	}
}

// targets lists where a file is to be moved to, or back to. The lock is held.
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
