package workspace

import (
	"slices"

	"github.com/agentls/agentls/agentcore/event"
)

// shownFile is a file that a session shows at a path: where the editor has it, and its text there.
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

// look reads files that the session shows, and updates everything that is anchored there. It returns with the view's
// lock held. The caller must run the notices after releasing it.
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

// place moves a file that the session shows, as a layer did. from was just looked at and is tied to a. The lock is
// held.
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

// placeOver moves a file, whose text is own, to a path where another file is deleted by another hunk: no file can be
// renamed over that one.
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

// unmove turns a file that the session moves into a new file, since its old path gets another text. The lock is held.
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

// takenAgain returns the old paths of accepted moves at which another file is now.
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
