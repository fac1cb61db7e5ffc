package workspace

import (
	"github.com/agentls/agentls/agentcore/event"
)

// pile holds the hunks of one session in one file that are not settled: those that count, sorted and
// apart from each other, and those in conflict. It belongs to the view's lock.
type pile struct {
	hunks []*hunk
	// undos are accepted hunks, in the order in which they were accepted.
	undos []*undo
	// The text that the hunks make of base, once somebody asked for it.
	base, made *text
	valid      bool
}

// expectation is a text that the editor would show if it took hunks, and the changes that lead there.
type expectation struct {
	session *Proposal
	// undo says that the hunks are accepted ones which the text would lack.
	undo    bool
	ids     []event.HunkID
	text    string
	changes []change
}

// taken finds the hunks whose edits the next text has exactly, and nothing else: those that Edits returned
// last, or any single one. It needs no guess about how the texts are aligned.
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
