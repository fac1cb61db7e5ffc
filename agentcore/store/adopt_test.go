package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// leftovers is a session that proposed something in a folder, with a run and its child.
func leftovers(id event.SessionID, folder string) Batch {
	root, child := event.RunID(id+"-root"), event.RunID(id+"-child")
	b := Batch{
		Sessions: []Session{{ID: id, State: SessionOpen}},
		Runs: []Run{
			{ID: root, Session: id, Ending: Ending{Status: event.StatusRunning}},
			{
				ID: child, Session: id,
				Origin: Origin{Parent: root, Depth: 1},
				Ending: Ending{Status: event.StatusRunning},
			},
		},
		LayerFiles: []LayerFile{{Session: id, Run: child, Path: folder + "/layer", Own: "mine"}},
		Proposals:  []Proposal{{ID: event.ProposalID(id), Session: id}},
	}
	for i, state := range []event.ProposalState{
		event.StateOpen, event.StateConflict, event.StateAccepted,
		event.StateRejected, event.StateSuperseded,
	} {
		b.Hunks = append(b.Hunks, Hunk{
			ID: event.HunkID(fmt.Sprintf("%s-%s", id, state)), Proposal: event.ProposalID(id), Path: folder + "/a",
			State: state, Updated: time.UnixMicro(int64(i + 1)).UTC(),
		})
	}
	return b
}

// besideOthers is a store with the session "mine". A process that is gone made the sessions "dead" and, on another
// folder, "elsewhere" in the same file; a process that lives made "living".
func besideOthers(t *testing.T, session func(id event.SessionID, folder string) Batch) *Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	former := must(Open(testContext(t), path, Options{}))(t)
	mustCommit(t, former, session("dead", "/w"))
	mustCommit(t, former, session("elsewhere", "/w2"))
	abandon(t, former)
	other := openStore(t, path, Options{})
	mustCommit(t, other, session("living", "/w"))
	s := openStore(t, path, Options{})
	mustCommit(t, s, session("mine", "/w"))
	return s
}

// keptHunks checks that sessions still have their five hunks.
func keptHunks(t *testing.T, s *Store, sessions ...event.SessionID) {
	t.Helper()
	for _, id := range sessions {
		if stored := must(s.Hunks(testContext(t), id, ""))(t); len(stored) != 5 {
			t.Errorf("session %s has %d of its 5 hunks left", id, len(stored))
		}
	}
}

func adopt(t *testing.T, s *Store, into event.SessionID, keep int) Adopted {
	t.Helper()
	mustCommit(t, s, Batch{Sessions: []Session{{ID: into, State: SessionOpen}}})
	return must(s.Adopt(testContext(t), Proposal{ID: event.ProposalID(into), Session: into}, []string{"/w"}, keep))(t)
}

func names(hunks []Hunk) []string {
	var list []string
	for _, h := range hunks {
		list = append(list, string(h.ID))
	}
	return list
}

func TestAdopt(t *testing.T) {
	s, ctx := besideOthers(t, leftovers), testContext(t)
	if left := must(s.Left(ctx, []string{"/w"}))(t); !left {
		t.Error("nothing is left")
	}
	got := adopt(t, s, "next", 10)
	if want := []string{"dead-open", "dead-conflict", "dead-accepted"}; !slices.Equal(names(got.Hunks), want) {
		t.Errorf("got the hunks %q, want %q", names(got.Hunks), want)
	}
	if len(got.LayerFiles) != 1 || got.LayerFiles[0].Own != "mine" || got.LayerFiles[0].Session != "next" {
		t.Errorf("got the layers %+v", got.LayerFiles)
	}
	if len(got.Runs) != 2 || got.Runs[0].ID != "dead-root" || got.Runs[1].ID != "dead-child" {
		t.Errorf("got the runs %+v", got.Runs)
	}
	if stored := must(s.Hunks(ctx, "next", ""))(t); len(stored) != 3 {
		t.Errorf("%d hunks are stored for the session that took them over", len(stored))
	}
	if stored := must(s.LayerFiles(ctx, "next"))(t); len(stored) != 1 {
		t.Errorf("%d files of layers are stored for the session that took them over", len(stored))
	}
	keptHunks(t, s, "living", "mine", "elsewhere")

	// Nothing is left for a second one, until the session is closed.
	if left := must(s.Left(ctx, []string{"/w"}))(t); left {
		t.Error("something is left")
	}
	if again := adopt(t, s, "second", 10); !again.empty() {
		t.Errorf("taken over twice: %+v", again)
	}
	mustCommit(t, s, Batch{Sessions: []Session{{ID: "next", State: SessionClosed}}})
	if again := adopt(t, s, "third", 10); len(again.Hunks) != 3 || len(again.LayerFiles) != 1 {
		t.Errorf("of a closed session: %+v", again)
	}
}

func TestAdoptTakesTheNewestAccepted(t *testing.T) {
	s := newStore(t)
	b := Batch{
		Sessions:  []Session{{ID: "former", State: SessionClosed}},
		Proposals: []Proposal{{ID: "p", Session: "former"}},
	}
	for i := range 5 {
		b.Hunks = append(b.Hunks, Hunk{
			ID: event.HunkID(fmt.Sprint(i)), Proposal: "p", Path: "/w/a", State: event.StateAccepted,
			Updated: time.UnixMicro(int64(i)).UTC(),
		})
	}
	mustCommit(t, s, b)
	if got := names(adopt(t, s, "next", 2).Hunks); !slices.Equal(got, []string{"3", "4"}) {
		t.Errorf("got %q", got)
	}
}

func TestSettledHunksAreBounded(t *testing.T) {
	s, ctx := newStore(t), testContext(t)
	b := leftovers("s", "/w")
	b.HunksBounded = []HunkBound{{Proposal: "s", Keep: 2}}
	mustCommit(t, s, b)
	got := names(must(s.Hunks(ctx, "s", ""))(t))
	slices.Sort(got)
	if want := []string{"s-conflict", "s-open", "s-rejected", "s-superseded"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
