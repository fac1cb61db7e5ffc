package workspace

import (
	"github.com/agentls/agentls/agentcore/event"
)

// Sides returns both sides of a hunk in conflict: Base is what the agent saw at the lines, Ours what it proposes for
// them, and Theirs what stands there now. For a move, they are the file and the other file that is in its way. It
// reports false for a hunk that is in no conflict, is not known, or whose file is gone.
func (s *Proposal) Sides(id event.HunkID) (Conflict, bool) {
	v := s.view
	v.mu.Lock()
	defer v.mu.Unlock()
	at := s.find(id)[id]
	a, h := at.anchor, at.hunk
	if h == nil || h.gone || a.now() == nil || h.state != event.StateConflict {
		return Conflict{}, false
	}
	if h.moveTo != "" {
		b := v.anchors[h.moveTo]
		if b == nil || b.now() == nil {
			return Conflict{}, false
		}
		return occupied(h.moveTo, a.piles[s].text(a.now()), b.now()), true
	}
	base, ours := h.sides()
	return Conflict{
		Path: a.path, StartLine: h.start, EndLine: h.end,
		Base: base, Ours: ours, Theirs: a.now().index().Slice(h.start, h.end),
	}, true
}

// sides returns the text that the lines of a conflict had, and what the hunk makes of it.
func (h *hunk) sides() (base, ours string) {
	if h.create || h.delete {
		return h.before, h.after
	}
	home := NewIndex(h.home)
	return h.home, home.Slice(0, h.homeAt) + h.after + home.Slice(h.homeAt+countLines(h.before), home.Len())
}

// Overwrite opens hunks in conflict again, at the user's choice: each then replaces what stands at its lines with the
// agent's text for them. Open hunks stay as they are; any other hunk is returned as a failure.
func (s *Proposal) Overwrite(ids []event.HunkID) []HunkFailure {
	v := s.view
	defer v.notices.run()
	s.reread(ids)
	v.mu.Lock()
	defer v.mu.Unlock()
	var failures []HunkFailure
	piles := make(map[*anchor]*pile)
	all := s.find(ids...)
	for id := range once(ids) {
		a, p, h := all[id].anchor, all[id].pile, all[id].hunk
		switch {
		case h == nil:
			failures = append(failures, HunkFailure{id, s.whySettled(id)})
		case h.state != event.StateConflict && !h.gone:
		case h.gone || a.now() == nil:
			failures = append(failures, HunkFailure{id, "the file is gone; reject the edit, or ask the agent again"})
		case h.moveTo != "":
			failures = append(failures,
				HunkFailure{id, "another file is where it is to go; move that one away, or reject the move"})
		default:
			_, h.after = h.sides()
			h.before = a.now().index().Slice(h.start, h.end)
			h.create = false // the file is there, with another text
			h.settle(event.StateOpen, "")
			if h.before == h.after && !h.delete {
				h.settle(event.StateAccepted, "the text is already there")
			}
			p.valid = false
			p.arrange()
			if h.state == event.StateConflict {
				failures = append(failures,
					HunkFailure{id, "it overlaps another edit; accept or reject that one first"})
			}
			piles[a] = p
		}
	}
	s.publishAll(piles)
	return failures
}
