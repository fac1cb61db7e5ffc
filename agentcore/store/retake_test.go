package store

import (
	"slices"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

func TestRetake(t *testing.T) {
	// rewound is a session of which the root and its child proposed what was rejected in several ways.
	rewound := func(id event.SessionID, folder string) Batch {
		b := leftovers(id, folder)
		b.Hunks = nil
		for i, h := range []Hunk{
			{ID: "child", Run: "child", State: event.StateRejected, Detail: "rewound"},
			{ID: "root", Run: "root", State: event.StateRejected, Detail: "rewound"},
			{ID: "user", Run: "root", State: event.StateRejected},
			{ID: "open", Run: "root", State: event.StateOpen, Detail: "rewound"},
			{ID: "foreign", Run: "foreign", State: event.StateRejected, Detail: "rewound"},
		} {
			h.ID, h.Run = event.HunkID(id)+"-"+h.ID, event.RunID(id)+"-"+h.Run
			h.Proposal, h.Path, h.Updated = event.ProposalID(id), folder+"/a", time.UnixMicro(int64(i+1)).UTC()
			b.Hunks = append(b.Hunks, h)
		}
		b.Runs = append(b.Runs, Run{
			ID: event.RunID(id + "-foreign"), Session: id,
			Ending: Ending{Status: event.StatusCompleted},
		})
		return b
	}
	s, ctx := besideOthers(t, rewound), testContext(t)
	runs := []event.RunID{"dead-root", "elsewhere-root", "living-root", "mine-root"}
	retake := func(roots ...string) []string {
		return names(must(s.Retake(ctx, Proposal{ID: "mine", Session: "mine"}, roots, "rewound", runs))(t))
	}
	for range 2 { // what was taken stays to be taken, as long as nobody proposes it
		got := retake("/w")
		slices.Sort(got)
		if want := []string{"dead-child", "dead-root", "mine-child", "mine-root"}; !slices.Equal(got, want) {
			t.Errorf("took %q, want %q", got, want)
		}
	}
	if got := retake(); len(got) != 0 {
		t.Errorf("took %q of no folder", got)
	}
	if stored := must(s.Hunks(ctx, "mine", event.StateRejected))(t); len(stored) != 6 {
		t.Errorf("%d rejected hunks are stored for the session that took some, want 6", len(stored))
	}
	keptHunks(t, s, "living", "elsewhere")
}
