package workspace

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// keptHunks is how many settled hunks a proposal remembers.
const keptHunks = 1000

// keptUndos is how many accepted hunks of a session can be undone; the oldest are forgotten first. Each costs the
// memory of its two texts and, at each change of its file, a comparison of places.
const keptUndos = 1000

// undone is the detail of a hunk that was accepted and then taken back.
const undone = "undone"

// publish removes settled hunks, reports what changed, and forgets an empty pile. The lock is held. The caller runs the
// notices after releasing it.
func (s *Proposal) publish(a *anchor, p *pile) {
	p.valid = false
	changed := s.publishUndos(a, p)
	batch := s.view.clock.Add(1)
	p.hunks = slices.DeleteFunc(p.hunks, func(h *hunk) bool {
		if h.notify || h.settled() {
			h.notify = false
			if h.state == event.StateAccepted && h.settled() && h.reverse == nil {
				// The hunk was merged into its lines.
				h.reverse = h.merged(a.now(), h.start, h.end, h.home, h.homeAt)
			}
			changed = append(changed, a.hunk(h))
		}
		if h.settled() && h.moveTo != "" {
			s.view.unlink(s, a, h.moveTo)
		}
		if h.settled() {
			accepted := changed[len(changed)-1]
			s.kept = append(s.kept, accepted)
			if h.state == event.StateAccepted {
				s.remember(p, h, accepted, batch)
			}
		}
		return h.settled()
	})
	p.remark(a.now(), batch)
	if n := len(s.kept) - keptHunks; n > 0 {
		s.kept = slices.Delete(s.kept, 0, n)
	}
	s.view.drop(a, s)
	if len(changed) == 0 || s.options.Changed == nil {
		return
	}
	if len(s.untold.hunks) == 0 {
		s.view.notices.add(func() { tell(s) })
	}
	for _, h := range changed {
		s.untold.hunks, s.untold.texts = append(s.untold.hunks, h), append(s.untold.texts, a.now())
	}
}

// tell hands the changed hunks to Changed. Changes of many files are handed over in one call, so that the cost is that
// of these files: the receiver counts all hunks, and stores what it gets, once for each call. It runs without locks.
func tell(s *Proposal) {
	s.view.mu.Lock()
	all, texts := s.untold.hunks, s.untold.texts
	s.untold = untold{}
	s.view.mu.Unlock()
	if s.closed.Load() {
		return
	}
	last := make(map[event.HunkID]int, len(all))
	for i := range all {
		last[all[i].ID] = i
	}
	order := make([]int, 0, len(last))
	for i := range all {
		if last[all[i].ID] == i {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return byPlace(all[i], all[j]) })
	changed, of := make([]Hunk, len(order)), make([]*text, len(order))
	for at, i := range order {
		changed[at], of[at] = all[i], texts[i]
	}
	stamp(changed, of)
	s.options.Changed(changed)
}

// drop forgets a proposal's pile in a file if it is empty. The lock is held.
func (v *View) drop(a *anchor, s *Proposal) {
	if p := a.piles[s]; p != nil && len(p.hunks) == 0 && len(p.undos) == 0 {
		delete(a.piles, s)
		v.release(a)
	}
}

// stamp adds to hunks the stamps of their texts and the lines around them. It hashes the texts, so that no lock is held
// meanwhile.
func stamp(hunks []Hunk, texts []*text) {
	for i := range hunks {
		hunks[i].Stamp = texts[i].stamp()
		p, x := &hunks[i].Place, texts[i].index()
		p.Above = x.Slice(max(p.StartLine-placeLines, 0), p.StartLine)
		p.Below = x.Slice(p.EndLine, p.EndLine+placeLines)
	}
}

func byPlace(a, b Hunk) int {
	return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine),
		cmp.Compare(a.EndLine, b.EndLine))
}

// publishUndos removes the accepted hunks that are undone, and returns those that people should be told of. The lock is
// held.
func (s *Proposal) publishUndos(a *anchor, p *pile) []Hunk {
	var changed []Hunk
	p.undos = slices.DeleteFunc(p.undos, func(u *undo) bool {
		back := u.settled()
		if back && u.moveTo != "" {
			s.view.unlink(s, a, u.moveTo)
		}
		if u.moved && !back && !u.pending {
			if u.state == event.StateOpen {
				u.accepted = a.accepted(u)
			}
			s.keep(u.accepted)
			changed = append(changed, u.accepted)
		}
		u.moved = false
		if back || u.pending {
			u.accepted.State, u.accepted.Detail = event.StateRejected, undone
			if u.rewound = u.rewound || s.rewinding[u.id]; u.rewound {
				u.accepted.Detail = Rewound
			}
		} else if u.accepted.State == event.StateRejected {
			u.accepted.State, u.accepted.Detail = event.StateAccepted, u.detail
		} else {
			return false
		}
		u.accepted.Stamp = ""
		u.accepted.Place = Place{StartLine: u.start, EndLine: u.end}
		if told := s.keep(u.accepted); told || back && u.rewound {
			// What was rewound is told of again once the text lacks it, so that its place is stored as it is there.
			changed = append(changed, u.accepted)
		}
		if back {
			s.undoable = slices.DeleteFunc(s.undoable, func(id event.HunkID) bool { return id == u.id })
		}
		return back
	})
	return changed
}

// remember keeps a hunk that was just accepted for an undo. The lock is held.
func (s *Proposal) remember(p *pile, h *hunk, accepted Hunk, batch uint64) {
	r := h.reverse
	if r == nil || r.settled() {
		return
	}
	r.id, r.authors, r.notify = h.id, h.authors, false
	// Without a copy, these parts would keep whole texts in memory.
	r.before, r.after = strings.Clone(r.before), strings.Clone(r.after)
	accepted.Before, accepted.After = strings.Clone(accepted.Before), strings.Clone(accepted.After)
	p.undos = append(p.undos, &undo{hunk: *r, accepted: accepted, batch: batch})
	s.undoable = append(s.undoable, h.id)
	if len(s.undoable) > keptUndos {
		if at, ok := s.findUndos(s.undoable[0])[s.undoable[0]]; ok {
			at.pile.undos = slices.DeleteFunc(at.pile.undos, func(other *undo) bool { return other == at.undo })
			s.view.drop(at.anchor, s)
		}
		s.undoable = slices.Delete(s.undoable, 0, 1)
	}
}

// accepted is an accepted hunk as others see it, and as another process restores it: what an undo would take back now.
// The lock is held.
func (a *anchor) accepted(u *undo) Hunk {
	h := a.hunk(&u.hunk)
	h.State, h.Detail, h.Current = event.StateAccepted, u.accepted.Detail, ""
	h.Before, h.After, h.Create, h.Delete = h.After, h.Before, h.Delete, h.Create
	if h.MoveTo != "" {
		h.Path, h.MoveTo = h.MoveTo, h.Path
	}
	return h
}

// keep remembers a settled hunk. news reports whether anybody has to be told. The lock is held.
func (s *Proposal) keep(h Hunk) (news bool) {
	if i := slices.IndexFunc(s.kept, func(known Hunk) bool { return known.ID == h.ID }); i >= 0 {
		news = s.kept[i].State != h.State || s.kept[i].Detail != h.Detail
		s.kept[i] = h
		return news
	}
	s.kept = append(s.kept, h)
	return true
}

// hunk is what others see of a hunk, without the stamp. The lock is held.
func (a *anchor) hunk(h *hunk) Hunk {
	result := Hunk{
		ID: h.id, Path: a.path, State: h.state, StartLine: h.start, EndLine: h.end, Before: h.before, After: h.after,
		Create: h.create, Delete: h.delete, MoveTo: h.moveTo, Author: joinAuthors(h.authors), Fixes: fixesOf(h.authors),
		Runs: runsOf(h.authors), Detail: h.detail,
		Place: Place{StartLine: h.start, EndLine: h.end},
	}
	if r := h.reverse; r != nil {
		result.Place = Place{StartLine: r.start, EndLine: r.end}
	}
	switch {
	case h.gone:
		result.State, result.Detail = event.StateConflict, "the file is gone"
	case h.state == event.StateConflict:
		result.Current = a.now().index().Slice(h.start, h.end)
	}
	return result
}

// located is where a hunk or an undo is kept.
type located struct {
	anchor *anchor
	pile   *pile
	hunk   *hunk
	undo   *undo
}

// find returns where the hunks with these ids are kept; settled hunks are left out. It walks over all hunks once,
// however many ids there are. The lock is held.
func (s *Proposal) find(ids ...event.HunkID) map[event.HunkID]located {
	return locate(s, ids, func(p *pile, take func(event.HunkID, located)) {
		for _, h := range p.hunks {
			take(h.id, located{hunk: h})
		}
	})
}

// findUndos is find for accepted hunks that can be undone, or are in conflict. The lock is held.
func (s *Proposal) findUndos(ids ...event.HunkID) map[event.HunkID]located {
	return locate(s, ids, func(p *pile, take func(event.HunkID, located)) {
		for _, u := range p.undos {
			take(u.id, located{undo: u})
		}
	})
}

// locate finds hunks or undos of piles by their ids; the first of several with one id counts. The lock is held.
func locate(s *Proposal, ids []event.HunkID, each func(p *pile, take func(event.HunkID, located)),
) map[event.HunkID]located {
	found := make(map[event.HunkID]located, len(ids))
	for _, id := range ids {
		found[id] = located{}
	}
	for _, a := range s.view.anchors {
		p := a.piles[s]
		if p == nil {
			continue
		}
		each(p, func(id event.HunkID, at located) {
			s.visited++
			if known, wanted := found[id]; wanted && known.anchor == nil {
				at.anchor, at.pile = a, p
				found[id] = at
			}
		})
	}
	maps.DeleteFunc(found, func(_ event.HunkID, at located) bool { return at.anchor == nil })
	return found
}

// link tells the anchor of a path of a file that a session wants to move there. The lock is held.
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

// pile returns the session's hunks of a file. The lock is held.
func (s *Proposal) pile(a *anchor) *pile {
	p := a.piles[s]
	if p == nil {
		p = &pile{}
		a.piles[s] = p
	}
	return p
}

// verify opens hunks again that the editor reported as taken but whose text the file lacks. The lock is held.
func (v *View) verify(a *anchor) {
	for s, p := range a.piles {
		for _, h := range p.hunks {
			if h.pending {
				h.settle(event.StateOpen, untaken)
				h.gone = h.moveTo != "" && a.now() == nil
			}
		}
		for _, u := range p.undos {
			if u.pending {
				if u.moveTo != "" {
					v.unlink(s, a, u.moveTo)
				}
				u.settle(event.StateOpen, unmade)
			}
		}
		s.publish(a, p)
	}
}
