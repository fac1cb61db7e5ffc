package surface

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// told counts what an editor was told of one progress.
type told struct{ begins, reports, ends int }

// TestHundredsOfChildren: hundreds of children that report all the time are told at a bounded rate all together, each
// with its beginning and its end; the run that started them is not held up by them, nor is anybody by an editor that
// does not answer for one of them. The clock is the test's own.
func TestHundredsOfChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const children, seconds, silent = 512, 20, "child-7"
		var mu sync.Mutex
		counts := map[event.RunID]*told{}
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		var live liveRuns
		b := &progressBoard{
			Means: Means{
				Goes:   func(do func(context.Context)) { group.Go(func() { do(ctx) }) },
				Logger: slog.New(slog.DiscardHandler),
			}, runs: map[event.RunID]*runProgress{},
			mains:    pace{interval: time.Second / reportsPerSecond, burst: 8},
			children: pace{interval: time.Second / reportsPerSecond, burst: 8},
		}
		b.speaker = func(ctx context.Context, p *runProgress) (speaker, error) {
			if p.run.id == silent {
				<-ctx.Done()
				return speaker{}, ctx.Err()
			}
			one := &told{}
			mu.Lock()
			counts[p.run.id] = one
			mu.Unlock()
			return speaker{
				interval: progressInterval, state: func() (string, uint32) {
					live.mu.Lock()
					defer live.mu.Unlock()
					return p.run.facts(true), p.run.percent
				},
				begin:  func(string, uint32) bool { one.begins++; return true },
				report: func(string, uint32) bool { one.reports++; return true },
				end:    func(string) bool { one.ends++; return true },
			}, nil
		}
		unknown := func(event.RunID) string { return "…" }
		runs := []event.RunID{"root"}
		b.begin(live.begin("root", event.RunCreated{Agent: "coder", Title: "all"}, unknown))
		for i := range children {
			id := event.RunID(fmt.Sprintf("child-%d", i))
			runs = append(runs, id)
			b.begin(live.begin(id, event.RunCreated{Agent: "explore", Parent: "root", Depth: 1, Title: "one"}, unknown))
		}
		if got, want := live.get("child-3").titled(), "coder ▸ explore: one"; got != want {
			t.Errorf("it is titled %q, not %q", got, want)
		}
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for n := range seconds * 20 {
			<-tick.C
			for _, id := range runs {
				live.report(id, event.RunProgress{Turn: n, Message: fmt.Sprint("step ", n), BudgetUsed: n / 10}, "")
				b.touch(id)
			}
		}
		for i := len(runs) - 1; i >= 0; i-- {
			live.end(runs[i], event.RunFinished{Status: event.StatusCompleted})
			b.finish(runs[i], "done")
		}
		synctest.Wait()
		if left := len(b.runs); left != 1 {
			t.Errorf("%d progresses are left, only that which the editor does not answer for should be", left)
		}
		cancel()
		group.Wait()
		reports := 0
		for _, id := range runs {
			one := counts[id]
			switch {
			case id == silent:
			case one == nil || one.begins != 1 || one.ends != 1:
				t.Errorf("%s: %+v", id, one)
			case id != "root":
				reports += one.reports
			}
		}
		if most := reportsPerSecond*seconds + 8; reports == 0 || reports > most {
			t.Errorf("there were %d reports of children in %d s, at most %d are fine", reports, seconds, most)
		}
		// It may report ten times a second, whatever its children do.
		if root := counts["root"]; root.reports < 9*seconds || root.reports > 10*seconds {
			t.Errorf("in %d s the root was told %+v", seconds, *root)
		}
		if live.any() || len(live.runs) > 0 {
			t.Errorf("%d runs are still shown", len(live.runs))
		}
	})
}

// TestLostParent: a child whose parent is shown no more is titled by what is known of it.
func TestLostParent(t *testing.T) {
	var live liveRuns
	r := live.begin("b", event.RunCreated{Agent: "explore", Parent: "a", Depth: 1, Title: "find\u202e it"},
		func(id event.RunID) string {
			return map[event.RunID]string{"a": "coder"}[id]
		})
	if got, want := r.titled(), `coder ▸ explore: find\u202e it`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	live.end("b", event.RunFinished{Status: event.StatusFailed})
	if live.any() {
		t.Error("it has ended and is still shown")
	}
}

func TestEscaped(t *testing.T) {
	if got, want := escaped("a_b [c](d) <e> `f`"), "a\\_b \\[c\\](d) \\<e\\> \\`f\\`"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
