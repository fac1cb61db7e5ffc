package workspace

import (
	"slices"

	"github.com/agentls/agentls/agentcore/event"
)

// Rewound is the detail of hunks that were rejected, or undone, because the user went back to before their prompt. The
// store finds what can be brought back by it.
const Rewound = "the user went back to before its prompt"

// Rewinding marks hunks, open and accepted ones, so that they are [Rewound] if they are rejected or undone before done
// is called; what the editor says it undid is, though its text may come later. It may be called from any goroutine.
func Rewinding(s *Proposal, ids []event.HunkID) (done func()) {
	s.view.mu.Lock()
	defer s.view.mu.Unlock()
	if s.rewinding == nil {
		s.rewinding = make(map[event.HunkID]bool)
	}
	for _, id := range ids {
		s.rewinding[id] = true
	}
	return func() {
		s.view.mu.Lock()
		defer s.view.mu.Unlock()
		for _, id := range ids {
			delete(s.rewinding, id)
		}
	}
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
