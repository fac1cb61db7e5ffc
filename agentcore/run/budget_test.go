package run

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// node is a budget of a random tree with what the test knows of it.
type node struct {
	*Budget
	parent   *node
	children []*node
	waiting  bool   // a request is under way
	answered amount // by all of its own requests
	closed   bool
}

// sum adds up a value over the node and all below.
func (n *node) sum(of func(*node) amount) amount {
	total := of(n)
	for _, c := range n.children {
		total = total.plus(c.sum(of))
	}
	return total
}

// TestBudgetOfARandomTree lets runs of a random tree ask and be answered in a random order. What is counted above is
// always the sum of what is below, and no request goes out once a limit above it is reached, so that no limit is passed
// by more than the answers that were under way.
func TestBudgetOfARandomTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Costs are whole numbers here, so that sums of them are exact.
		draw := func(label string, least, most int64) amount {
			return amount{
				tokens: rapid.Int64Range(least, most).Draw(t, label+" tokens"),
				cost:   float64(rapid.Int64Range(least, most).Draw(t, label+" cost")),
			}
		}
		root := &node{Budget: NewBudget()}
		root.setLimit(draw("session", 0, 300))
		all := []*node{root}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			n := rapid.SampledFrom(all).Draw(t, "run")
			switch what := rapid.SampledFrom([]string{"delegate", "ask", "ask", "answer", "close"}).Draw(t, "what"); {
			case n.closed:
			case what == "delegate":
				child := &node{Budget: n.child(draw("limit", 0, 200)), parent: n}
				n.children, all = append(n.children, child), append(all, child)
			case n == root: // a session asks nothing itself
			case what == "ask" && !n.waiting:
				reached, busy := false, false
				for a := n; a != nil; a = a.parent {
					used, asked := a.sum(func(n *node) amount { return n.answered }),
						a.sum(func(n *node) amount { return n.request })
					reached = reached || a.limit.tokens > 0 && used.tokens >= a.limit.tokens || a.limit.cost > 0 &&
						used.cost >= a.limit.cost
					busy = busy || a.limit.tokens > 0 && used.tokens+asked.tokens >= a.limit.tokens ||
						a.limit.cost > 0 && used.cost+asked.cost >= a.limit.cost
				}
				ctx, cancel := context.WithCancel(context.Background())
				if busy && !reached {
					cancel() // it would wait for the others
				}
				_, goAhead, err := n.ask(ctx, draw("estimate", 0, 20), func() {})
				cancel()
				if goAhead == (reached || busy) || (err != nil) != (busy && !reached) {
					t.Fatalf("go ahead: %t, %v; limit reached: %t, room taken by others: %t", goAhead, err,
						reached, busy)
				}
				n.waiting = goAhead
			case what == "answer" && n.waiting:
				answer := draw("answer", 0, 60)
				n.add(answer)
				n.answered, n.waiting = n.answered.plus(answer), false
			case what == "close":
				n.close()
				n.closed, n.waiting = true, false
			}
			for _, n := range all {
				for what, is := range map[string]struct {
					kept amount
					part func(*node) amount
				}{
					"used":   {n.used, func(n *node) amount { return n.answered }},
					"asked":  {n.asked, func(n *node) amount { return n.request }},
					"spared": {n.spared, func(n *node) amount { return n.reserve }},
				} {
					if want := n.sum(is.part); is.kept != want {
						t.Fatalf("%s is %+v, and the sum of the parts %+v", what, is.kept, want)
					}
				}
				if !n.waiting && n.request != (amount{}) || n.closed && n.reserve != (amount{}) {
					t.Fatalf("something is still held: %+v", n.Budget)
				}
			}
		}
	})
}

// TestRunsShareABudget lets many runs of a tree work beside each other until all is used up.
func TestRunsShareABudget(t *testing.T) {
	const limit, most, children = 10_000, 90, 40
	session := NewBudget()
	session.setLimit(amount{tokens: limit})
	parent := session.child(amount{})
	var wait sync.WaitGroup
	for range children {
		child := parent.child(amount{})
		wait.Go(func() {
			defer child.close()
			for {
				reason, goAhead, err := child.ask(t.Context(), amount{tokens: most}, func() {})
				switch {
				case err != nil:
					t.Error(err)
					return
				case !goAhead:
					if reason != reasonTokens {
						t.Errorf("the reason is %q", reason)
					}
					return
				}
				child.add(amount{tokens: 1 + rand.Int64N(most)})
				if reason != "" {
					return // that was the hand-over
				}
			}
		})
	}
	wait.Wait()
	// A request is let through while what is used and under way leaves a token; one answer may be larger than was
	// thought.
	if session.used != parent.used || session.used.tokens > limit+children*most {
		t.Errorf("the session used %d tokens, its run %d, of %d", session.used.tokens, parent.used.tokens, limit)
	}
	if session.asked != (amount{}) || session.spared != (amount{}) {
		t.Errorf("something is still held: %+v", session)
	}
}

// TestHandOverIsReserved: the last turn comes while another like it still fits, for the run and for its parent.
func TestHandOverIsReserved(t *testing.T) {
	session := NewBudget()
	run := session.child(amount{tokens: 100})
	ask := func(b *Budget, wantReason string, wantGo bool) {
		t.Helper()
		if reason, goAhead, err := b.ask(t.Context(), amount{tokens: 1}, func() {}); reason != wantReason ||
			goAhead != wantGo || err != nil {
			t.Fatalf("%q, %t, %v; want %q, %t; the budget is %+v", reason, goAhead, err, wantReason, wantGo, b)
		}
	}
	ask(run, "", true)
	run.add(amount{tokens: 20})
	child := run.child(amount{})
	ask(child, "", true)
	child.add(amount{tokens: 20})
	// 60 are left, of which the parent keeps 20: enough for another turn of the child and its hand-over.
	ask(child, "", true)
	child.add(amount{tokens: 20})
	ask(child, reasonTokens, true)
	child.add(amount{tokens: 20})
	child.close()
	ask(run, reasonTokens, true)
	run.add(amount{tokens: 20})
	ask(run, reasonTokens, false)
	if run.used.tokens != 100 || session.used.tokens != 100 {
		t.Errorf("used: %d and %d", run.used.tokens, session.used.tokens)
	}
}

// TestRequestWaitsForOthers: where requests under way may use up what is left, another waits for their answers, and
// goes on or ends by what they were.
func TestRequestWaitsForOthers(t *testing.T) {
	for answer, want := range map[int64]bool{30: true, 100: false} {
		run := NewBudget().child(amount{tokens: 100})
		first, second := run.child(amount{}), run.child(amount{})
		if _, goAhead, err := first.ask(t.Context(), amount{tokens: 100}, func() {}); !goAhead || err != nil {
			t.Fatal(goAhead, err)
		}
		waits := 0
		_, goAhead, err := second.ask(t.Context(), amount{tokens: 100}, func() {
			if waits++; waits == 1 {
				first.add(amount{tokens: answer})
				first.close()
			}
		})
		if goAhead != want || err != nil || waits == 0 {
			t.Errorf("after an answer of %d: %t, %v, waited %d times", answer, goAhead, err, waits)
		}
	}
}
