package workspace

import (
	"slices"

	"github.com/agentls/agentls/agentcore/event"
)

// taken finds the hunks whose edits are exactly the difference to the next text: those that Edits returned last, or any
// single one. It needs no guess about how the texts are aligned.
func (a *anchor) taken(from, next *text) *expectation {
	for i := range a.expected {
		if a.expected[i].text == next.s {
			return &a.expected[i]
		}
	}
	for s, p := range a.piles {
		for _, h := range p.hunks {
			if h.edits() && !h.create && !h.delete && next.is(from, h) {
				return &expectation{session: s, ids: []event.HunkID{h.id}, changes: []change{h.change()}}
			}
		}
	}
	for s, p := range a.piles {
		if back := p.takenBack(from, next); back != nil {
			back.session = s
			return back
		}
	}
	return nil
}

// patch returns the hunks that count, as a patch of the shown text.
func (p *pile) patch(base *text) patch {
	result := patch{base: base}
	for _, h := range p.hunks {
		if h.edits() {
			result.hunks = append(result.hunks, h)
		}
	}
	return result
}

// text returns what the session layer shows.
func (p *pile) text(base *text) *text {
	if !p.valid || p.base != base {
		p.base, p.made, p.valid = base, p.patch(base).text(), true
	}
	return p.made
}

// move moves the hunks along with a change of the file. from is the text that their lines refer to: the previous text
// or, for a file that was gone, its last text; nil where there never was one. changes lead from it to next, which is
// nil for a file that is gone. lost says what became of everything that was done since the last save.
func (p *pile) move(from, next *text, changes []change, taken *expectation, lost loss, s *Proposal) {
	p.valid = false
	exact := taken != nil && taken.session == s && !taken.undo
	p.moveUndos(from, next, changes, taken, lost, s)
	for _, h := range p.hunks {
		switch {
		case exact && !h.create && slices.Contains(taken.ids, h.id):
			h.reverse = h.taken(changes)
			h.shift(changes)
			h.settle(event.StateAccepted, "")
		case h.moveTo != "":
			h.followMove(next)
			continue
		case h.create:
			h.followCreate(next)
		case h.delete:
			h.followDelete(next)
		case next == nil:
			h.vanish()
		default:
			if h.gone {
				h.gone, h.notify = false, true
			}
			h.follow(from, next, changes, exact)
		}
		// The editor said that it took the hunk, and now shows another text without it. Editors make an
		// empty file first and fill it then.
		if h.pending && !(h.create && next != nil && blank(next)) {
			h.settle(event.StateOpen, untaken)
		}
	}
	p.arrange()
}

// arrange sorts the hunks. A hunk that overlaps another one no longer counts.
func (p *pile) arrange() {
	slices.SortStableFunc(p.hunks, inOrder)
	var previous *hunk
	for _, h := range p.hunks {
		if !h.edits() {
			continue
		}
		if previous != nil && (h.start < previous.end || h.start == h.end && previous.start == h.start) {
			h.home, h.homeAt = h.before, 0
			h.settle(event.StateConflict, "it overlaps another edit")
			continue
		}
		previous = h
	}
}

// moveUndos moves the accepted hunks along with a change of the file, as [pile.move] does with the open ones.
func (p *pile) moveUndos(from, next *text, changes []change, taken *expectation, lost loss, s *Proposal) {
	if taken != nil && taken.session != s {
		taken = nil
	}
	landed := make(map[event.HunkID]int)
	for _, u := range p.undos {
		if taken != nil && taken.undo && slices.Contains(taken.ids, u.id) {
			landed[u.id] = u.lands(changes)
			u.settle(event.StateAccepted, "")
		}
	}
	var standing map[string]bool
	if lost == maybeLost {
		standing = p.traces(next)
	}
	for _, u := range p.undos {
		if u.settled() || lost != nothingLost && u.revert(next, lost, standing) {
			continue
		}
		u.move(from, next, changes, taken, landed)
		if u.pending && u.moveTo == "" && !(u.create && next != nil && blank(next)) {
			u.settle(event.StateOpen, unmade)
		}
	}
}

// takenBack finds the accepted hunks whose removal is the only change in the next text: any single one, or all that
// were accepted together, as the editor's own undo does it.
func (p *pile) takenBack(from, next *text) *expectation {
	for i := 0; i < len(p.undos); {
		j, delta := i, 0
		var group []*hunk
		for ; j < len(p.undos) && p.undos[j].batch == p.undos[i].batch; j++ {
			u := p.undos[j]
			if u.create || u.delete || u.moveTo != "" || u.gone || u.state != event.StateOpen && !u.pending {
				continue
			}
			if next.is(from, &u.hunk) {
				return &expectation{undo: true, ids: []event.HunkID{u.id}, changes: []change{u.change()}}
			}
			group = append(group, &u.hunk)
			delta += len(u.after) - len(u.before)
		}
		i = j
		if len(group) < 2 || len(next.s)-len(from.s) != delta {
			continue
		}
		slices.SortFunc(group, inOrder)
		if overlap(group) || apply(from, group).s != next.s {
			continue
		}
		back := &expectation{undo: true}
		for _, h := range group {
			back.ids = append(back.ids, h.id)
			back.changes = append(back.changes, h.change())
		}
		return back
	}
	return nil
}

func overlap(sorted []*hunk) bool {
	for i, h := range sorted[1:] {
		if h.start < sorted[i].end {
			return true
		}
	}
	return false
}

// moving returns the hunk that moves the file, if one counts.
func (p *pile) moving() *hunk {
	if h := p.mover(); h != nil && h.live() {
		return h
	}
	return nil
}

// mover returns the hunk that is to move the file and is not settled; it may be in conflict.
func (p *pile) mover() *hunk {
	if i := slices.IndexFunc(p.hunks, func(h *hunk) bool { return h.moveTo != "" && !h.settled() }); i >= 0 {
		return p.hunks[i]
	}
	return nil
}

// back returns the accepted move that the editor reports to have undone, if there is one.
func (p *pile) back() *undo {
	if i := slices.IndexFunc(p.undos, func(u *undo) bool { return u.moveTo != "" && u.pending }); i >= 0 {
		return p.undos[i]
	}
	return nil
}

// takeAlong moves the hunks that make a new file to the pile of its new path.
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

// move moves one undo along with a change of the file. taken says which other hunks of the session the change took or
// undid; landed tells at which lines the undone ones are.
func (u *undo) move(from, next *text, changes []change, taken *expectation, landed map[event.HunkID]int) {
	switch {
	case u.moveTo != "":
		u.followMove(next)
	case u.create:
		u.followCreate(next)
	case u.delete:
		u.followDelete(next)
	case next == nil:
		u.vanish()
	case taken != nil && !taken.undo:
		u.gone = false
		i, j := spanOf(changes, u.start, u.end)
		i, j = u.reach(changes, i, j, false)
		u.cover(from, changes, taken.ids)
		u.followSpan(from, next, changes, i, j, false)
		if u.settled() {
			u.settle(event.StateConflict, "a later edit took it back") // the later edit can be undone
		}
	default:
		u.gone = false
		if !u.uncover(next, landed) {
			u.follow(from, next, changes, false)
		}
	}
}
