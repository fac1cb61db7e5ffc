package agentcore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/store"
)

func TestDelegation(t *testing.T) {
	w := newWorld(t, nil)
	tell := func(want string) {
		t.Helper()
		got, err := w.session.Delegation(w.ctx, []string{"tester", "explore", "critic", "nobody"})
		if err != nil || got != want {
			t.Errorf("%v; got\n%s\nwant\n%s", err, got, want)
		}
	}
	tell("")
	root := event.NewRunID()
	b := store.Batch{
		Runs: []store.Run{{
			ID: root, Session: w.session.ID, Agent: "coder", Ending: store.Ending{Status: event.StatusCompleted},
			Created: time.Now(),
		}},
	}
	children := func(n int, agent string, status event.Status, turns int, took time.Duration) {
		for i := range n {
			b.Runs = append(b.Runs, store.Run{
				ID: event.NewRunID(), Session: w.session.ID,
				Origin: store.Origin{Parent: root},
				Agent:  agent,
				Ending: store.Ending{Status: status},
				Spent:  store.Spent{Turns: turns + i, Duration: took}, Created: time.Now(),
			})
		}
	}
	children(13, "explore", event.StatusCompleted, 1, 40*time.Second)
	children(1, "explore", event.StatusTimeout, 20, time.Hour)
	children(9, "explore", event.StatusCancelled, 1, time.Second)
	children(2, "critic", event.StatusCompleted, 1, time.Second)
	children(3, "tester", event.StatusFailed, 1, 90*time.Second)
	if err := w.engine.Store().Submit(b).Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	tell("tester: 3 runs, 0 % completed, median 2 turns, 1m30s\nexplore: 14 runs, 92 % completed, median 7 turns, 40 s")
	b.Runs = b.Runs[:1]
	children(60, "tester", event.StatusCompleted, 0, time.Millisecond)
	for i := range b.Runs[1:] {
		b.Runs[i+1].Turns = 1
	}
	if err := w.engine.Store().Submit(b).Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	tell("tester: 50 runs, 100 % completed, median 1 turn, 1 s\nexplore: 14 runs, 92 % completed, median 7 turns, 40 s")
}

func TestUsageOfWhatIsNotThere(t *testing.T) {
	w := newWorld(t, nil)
	for _, filter := range []store.UsageFilter{
		{By: store.UsageByDay, Session: "s0"},
		{By: store.UsageByDay, Run: "r0"},
	} {
		_, err := w.engine.History().Usage(w.ctx, filter)
		var failure *fault.Error
		if !errors.As(err, &failure) || failure.Kind != "not_found" {
			t.Errorf("%s: %v", fmt.Sprint(filter), err)
		}
	}
	report, err := w.engine.History().Usage(w.ctx, store.UsageFilter{By: store.UsageByDay, Session: w.session.ID})
	if err != nil || len(report.Rows) != 0 || report.Total.Runs != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}
