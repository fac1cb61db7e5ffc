package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// TestSessionPages reads sessions in pages, of which several were updated in the same moment, some lie on two of the
// folders asked for, and some have only hidden runs: the pages together are what one list has.
func TestSessionPages(t *testing.T) {
	s, ctx := newStore(t), t.Context()
	draw := rand.New(rand.NewPCG(1, 2))
	folders := [][]string{{"/one"}, {"/two"}, {"/one", "/two"}, {"/three"}}
	var batch Batch
	var want []Session
	for i := range 60 {
		at := time.UnixMicro(int64(1_700_000_000_000_000 + draw.IntN(9)*1_000_000)).UTC()
		one := Session{
			ID: event.SessionID(fmt.Sprintf("s%02d", i)), Roots: folders[draw.IntN(4)], State: SessionClosed,
			Created: at, Updated: at,
		}
		batch.Sessions = append(batch.Sessions, one)
		role := []string{"hidden", "main", ""}[draw.IntN(3)]
		if role != "" {
			id := event.RunID(one.ID)
			batch.Runs = append(batch.Runs, Run{
				ID: id, Session: one.ID,
				Origin: Origin{Chain: id},
				Role:   role,
				Ending: Ending{Status: event.StatusCompleted},
			})
		}
		if role == "main" && one.Roots[0] != "/three" {
			want = append(want, one)
		}
	}
	mustCommit(t, s, batch)
	slices.SortFunc(want, func(a, b Session) int {
		if c := b.Updated.Compare(a.Updated); c != 0 {
			return c
		}
		return slices.Compare([]byte(b.ID), []byte(a.ID))
	})
	filter := SessionFilter{Roots: []string{"/one", "/two"}, Ran: "hidden", Limit: 4}
	var got []event.SessionID
	for {
		page := must(s.Sessions(ctx, filter))(t)
		for _, one := range page {
			got = append(got, one.ID)
		}
		if len(page) < filter.Limit {
			break
		}
		filter.Before = page[len(page)-1].ID
	}
	if !slices.EqualFunc(got, want, func(id event.SessionID, w Session) bool { return id == w.ID }) || len(got) < 9 {
		t.Errorf("the pages have %v, not %v", got, want)
	}
	filter.Before = "deleted"
	if page := must(s.Sessions(ctx, filter))(t); len(page) != 4 || page[0].ID != want[0].ID {
		t.Errorf("behind a session that is gone comes %+v, not the first page", page)
	}
}
