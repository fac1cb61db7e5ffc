package run

import (
	"context"
	"sync"
)

// The reasons of runs that were ended by a limit, as in RunResult.
const (
	reasonTurns  = "max_turns"
	reasonTime   = "timeout"
	reasonTokens = "max_tokens"
	reasonCost   = "max_cost"
)

// amount is what requests use up: tokens, input and output together without what a cache served, and US dollars where
// the price is known.
type amount struct {
	tokens int64
	cost   float64
}

// No sum can overflow: an answer has at most 2^31 tokens, see [model.Usage.Plausible], and its cost is bounded.
func (a amount) plus(b amount) amount  { return amount{a.tokens + b.tokens, a.cost + b.cost} }
func (a amount) minus(b amount) amount { return amount{a.tokens - b.tokens, a.cost - b.cost} }

// Budget is what a session, or a run with its children, may use and has used. The budgets of a session form a tree. Its
// root is the budget of the session, whose lock guards the whole tree. A request is let through only where every budget
// above it has room, so that children that run beside each other share what is left. Its methods may be called from any
// goroutine.
type Budget struct {
	tree  *budgetTree
	above *Budget // nil for the session's
	limit amount  // a part that is 0 has no limit

	// Each of these includes what the budgets below have.
	used   amount
	asked  amount // estimates for the requests under way
	spared amount // kept for the hand-overs

	// These are the shares of this run alone: for its request under way, and for its hand-over, which will cost about
	// what the last turn did.
	request, reserve amount
}

// budgetTree is what the budgets of a session share.
type budgetTree struct {
	mu      sync.Mutex
	changed chan struct{} // closed, and replaced, when a request under way has ended
}

func NewBudget() *Budget { return &Budget{tree: &budgetTree{changed: make(chan struct{})}} }

// child makes the budget of a run below this one.
func (b *Budget) child(limit amount) *Budget { return &Budget{tree: b.tree, above: b, limit: limit} }

// setLimit changes what may be used in all.
func (b *Budget) setLimit(limit amount) {
	b.tree.mu.Lock()
	defer b.tree.mu.Unlock()
	b.limit = limit
}

// left returns what may still be used under this budget and all above it. A part without a limit is -1.
func (b *Budget) left() amount {
	b.tree.mu.Lock()
	defer b.tree.mu.Unlock()
	least := amount{-1, -1}
	for ; b != nil; b = b.above {
		rest := b.limit.minus(b.used)
		if rest.tokens = max(rest.tokens, 0); b.limit.tokens > 0 && (least.tokens < 0 || rest.tokens < least.tokens) {
			least.tokens = rest.tokens
		}
		if rest.cost = max(rest.cost, 0); b.limit.cost > 0 && (least.cost < 0 || rest.cost < least.cost) {
			least.cost = rest.cost
		}
	}
	return least
}

// costLimited reports whether this budget, or one above it, limits the cost.
func (b *Budget) costLimited() bool { return b.left().cost >= 0 }

// share is how much of the limit is used, in percent.
func (b *Budget) share() int {
	b.tree.mu.Lock()
	defer b.tree.mu.Unlock()
	share := 0
	if b.limit.tokens > 0 {
		share = int(min(b.used.tokens, b.limit.tokens) * 100 / b.limit.tokens)
	}
	if b.limit.cost > 0 {
		share = max(share, int(min(b.used.cost/b.limit.cost, 1)*100))
	}
	return share
}

// room is what the budgets have left for a request.
type room int

const (
	roomEnough   room = iota
	roomHandOver      // there is room for one more answer, which has to be the last
	roomLater         // there may be room once requests under way have ended
	roomNone
)

// ask waits until there is room for a request of about the estimated size. It reserves that room until add counts the
// answer or close is called. Where little room is left, limit names the limit because of which this request must be the
// last. Where no room is left, goAhead is false and nothing is reserved. ask calls waits before each wait. When ctx
// ends, ask returns its error.
func (b *Budget) ask(ctx context.Context, estimate amount, waits func()) (limit string, goAhead bool, err error) {
	for {
		b.tree.mu.Lock()
		limit, found := b.room()
		if found == roomEnough || found == roomHandOver {
			if b.reserve != (amount{}) {
				estimate = b.reserve // what the last answer used is a better estimate
			}
			b.hold(estimate)
			b.tree.mu.Unlock()
			return limit, true, nil
		}
		changed := b.tree.changed
		b.tree.mu.Unlock()
		if found == roomNone {
			return limit, false, nil
		}
		waits()
		select {
		case <-changed:
		case <-ctx.Done():
			return "", false, ctx.Err()
		}
	}
}

// room looks at this budget and all above it. It returns how much room the tightest of them has and, where that is not
// enough, which limit is the reason. The caller holds the lock.
func (b *Budget) room() (limit string, least room) {
	for a := b; a != nil; a = a.above {
		rest := a.limit.minus(a.used)
		others := a.asked.minus(b.request)
		spared := a.spared.minus(b.reserve)
		check := func(reason string, limited bool, rest, asked, spared, next float64) {
			found := roomEnough
			switch {
			case !limited:
			case rest <= 0:
				found = roomNone
			case rest-asked <= 0:
				found = roomLater
			case next > 0 && rest-asked-spared < 2*next:
				// After another turn like the last, nothing would be left for the hand-over.
				found = roomHandOver
			}
			if found > least {
				limit, least = reason, found
			}
		}
		check(reasonTokens, a.limit.tokens > 0, float64(rest.tokens), float64(others.tokens), float64(spared.tokens),
			float64(b.reserve.tokens))
		check(reasonCost, a.limit.cost > 0, rest.cost, others.cost, spared.cost, b.reserve.cost)
	}
	return limit, least
}

// hold sets what the run's request under way may use. The caller holds the lock.
func (b *Budget) hold(request amount) {
	change := request.minus(b.request)
	b.request = request
	for a := b; a != nil; a = a.above {
		a.asked = a.asked.plus(change)
	}
	if request == (amount{}) {
		close(b.tree.changed)
		b.tree.changed = make(chan struct{})
	}
}

// spare sets what is kept for the run's hand-over. The caller holds the lock.
func (b *Budget) spare(reserve amount) {
	change := reserve.minus(b.reserve)
	b.reserve = reserve
	for a := b; a != nil; a = a.above {
		a.spared = a.spared.plus(change)
	}
}

// add counts an answer, and ends its request.
func (b *Budget) add(answer amount) {
	b.tree.mu.Lock()
	defer b.tree.mu.Unlock()
	for a := b; a != nil; a = a.above {
		a.used = a.used.plus(answer)
	}
	b.spare(answer)
	b.hold(amount{})
}

// close gives back what the run has reserved, also for a request that was never answered.
func (b *Budget) close() {
	b.tree.mu.Lock()
	defer b.tree.mu.Unlock()
	b.spare(amount{})
	b.hold(amount{})
}
