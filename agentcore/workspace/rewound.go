package workspace

import (
	"slices"

	"github.com/agentls/agentls/agentcore/event"
)

// Rewound is the detail of hunks that were rejected, or undone, because the user went back to before their prompt. The
// store finds what can be brought back by it.
const Rewound = "the user went back to before its prompt"

// Rewinding marks hunks, open and accepted ones, so that they are [Rewound] if they are rejected or undone before done
// is called. It may be called from any goroutine.
func Rewinding(s *Proposal, ids []event.HunkID) (done func()) {
	mark := func(on bool) {
		s.view.mu.Lock()
		defer s.view.mu.Unlock()
		for _, at := range s.find(ids...) {
			at.hunk.rewinding = on
		}
		for _, at := range s.findUndos(ids...) {
			if on || !at.undo.pending { // the text that lacks it may still be on its way
				at.undo.rewinding = on
			}
		}
	}
	mark(true)
	return func() { mark(false) }
}

// why is the detail of a hunk that is rejected or undone.
func (h *hunk) why(otherwise string) string {
	if h.rewinding {
		return Rewound
	}
	return otherwise
}

// Reopen proposes hunks again that were rejected or undone, of this process or of a former one, as [Proposal.Restore]
// adopts open hunks: a hunk is open where its lines still stand, and in conflict where they do not. It may be called
// from any goroutine.
func Reopen(s *Proposal, hunks []Hunk) {
	again := slices.Clone(hunks)
	s.view.mu.Lock()
	for i := range again {
		again[i].State, again[i].Detail = event.StateOpen, ""
	}
	s.kept = slices.DeleteFunc(s.kept, func(known Hunk) bool {
		return slices.ContainsFunc(again, func(h Hunk) bool { return h.ID == known.ID })
	})
	s.view.mu.Unlock()
	s.Restore(again)
}
