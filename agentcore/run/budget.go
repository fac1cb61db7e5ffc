package run

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/store"
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

// Neither can overflow: an answer has at most 2^31 tokens, see [model.Usage.Plausible], and a bounded cost.
func (a amount) plus(b amount) amount  { return amount{a.tokens + b.tokens, a.cost + b.cost} }
func (a amount) minus(b amount) amount { return amount{a.tokens - b.tokens, a.cost - b.cost} }

// Budget is what a session, or a run with its children, may use and has used. The budgets of a session are a tree,
// whose root is the session's own and guards all by its lock: a request is let through only where every budget above
// has room, so that children beside each other share what is left. Its methods may be called from any goroutine.
type Budget struct {
	tree  *budgetTree
	above *Budget // nil for the session's
	limit amount  // 0 in a part: none

	// Each of these includes the budgets below.
	used   amount
	asked  amount // by requests under way, estimated
	spared amount // for hand-overs

	// What this run alone has in them: of its request under way, and for its hand-over. That will cost about what the
	// last turn did.
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

// left returns what may still be used, by this budget and all above. A part without a limit is -1.
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

// costLimited reports whether this budget, or one above, has a limit of the cost.
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
	roomHandOver      // for one more answer, which is to be the last
	roomLater         // perhaps, once requests under way have ended
	roomNone
)

// ask waits until there is room for a request of about the estimated size, and reserves it until the answer is added or
// close is called. Where there is little room left, limit names what makes this request the last one; where there is
// none, go ahead is false and nothing is reserved. Waits is called before each wait; ctx ends it, with its error.
func (b *Budget) ask(ctx context.Context, estimate amount, waits func()) (limit string, goAhead bool, err error) {
	for {
		b.tree.mu.Lock()
		limit, found := b.room()
		if found == roomEnough || found == roomHandOver {
			if b.reserve != (amount{}) {
				estimate = b.reserve // the last answer knows better
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

// room looks at this budget and all above, and returns what the tightest has, with the reason where that is not
// enough. The caller holds the lock.
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
				// After another turn like the last there would be none left for the hand-over.
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

// hold replaces what the run's request under way may use. The caller holds the lock.
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

// spare replaces what is kept for the run's hand-over. The caller holds the lock.
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

// close gives back what the run held, that of a request without an answer too.
func (b *Budget) close() {
	b.tree.mu.Lock()
	defer b.tree.mu.Unlock()
	b.spare(amount{})
	b.hold(amount{})
}

// takeBudget narrows the limits of a new run to what its parent, or its session, has left. It is an error if that is
// nothing.
func (r *Run) takeBudget() error {
	above := r.session.Budget
	if r.parent != nil {
		above = r.parent.budget
	} else {
		above.setLimit(amount{r.config.BudgetTokens, r.config.BudgetCost})
	}
	left := above.left()
	// One of many, a file each, ends by itself, so that those before it go on.
	oneOfMany := r.parent != nil && r.task == nil && r.request.pass == 0
	switch {
	case oneOfMany:
	case left.tokens == 0:
		return r.spent("tokens")
	case left.cost == 0:
		return r.spent("cost")
	}
	if left.tokens > 0 && (r.limits.Tokens == 0 || left.tokens < r.limits.Tokens) {
		r.limits.Tokens = left.tokens
	}
	if left.cost > 0 && (r.limits.Cost == 0 || left.cost < r.limits.Cost) {
		r.limits.Cost = left.cost
	}
	r.budget = above.child(amount{r.limits.Tokens, r.limits.Cost})
	rest, limited := r.clock.above.forChild()
	switch {
	case limited && rest <= 0 && !oneOfMany:
		return r.spent("time")
	case limited && (r.limits.Timeout == 0 || rest < r.limits.Timeout):
		r.limits.Timeout = max(rest, 1) // 0 would be no limit
	}
	return nil
}

// spent is the error of a run for which there is nothing left.
func (r *spec) spent(what string) error {
	if r.parent == nil {
		return &fault.Error{
			Kind: fault.NotAllowed, Detail: fmt.Sprintf("the session has used up its budget of %s", what),
			Hint: fmt.Sprintf("raise budget.%s in your configuration, which counts at once, or start a new session",
				what),
		}
	}
	return &fault.Error{
		Kind: fault.NotAllowed,
		Detail: fmt.Sprintf("there is no %s left of the budget that %s shares with its children", what,
			r.parent.definition.Slug),
		Hint: "do the rest without delegating, or hand over what there is",
	}
}

// admit waits until the run's budgets have room for its next request. A limit that is not empty says what makes that
// the last one. If goAhead is false, the limit is reached, and nothing may be sent any more.
func (r *Run) admit() (limit string, goAhead bool, err error) {
	limit, goAhead, err = r.budget.ask(r.ctx, r.estimate(), func() {
		r.idle("waits for other answers, since little of the budget is left", 0)
	})
	if err != nil || !goAhead {
		return limit, false, err
	}
	switch {
	case r.turn >= r.limits.MaxTurns:
		return reasonTurns, true, nil
	case r.late(), r.clock.handOverDue():
		return reasonTime, true, nil
	}
	return limit, true, nil
}

// estimate is about what the input of the run's first request uses: four bytes are a token, more or less. Later the
// last answer tells, and the whole conversation is not looked at again.
func (r *Run) estimate() amount {
	if r.turn > 1 {
		return amount{}
	}
	size := len(r.system)
	for _, m := range r.messages {
		size += len(m.Text())
	}
	estimate := amount{tokens: int64(size / 4)}
	if r.price != nil {
		estimate.cost = r.price.Cost(model.Usage{Input: estimate.tokens})
	}
	return estimate
}

// cutOff ends the run by a limit that leaves no request for a hand-over.
func (r *Run) cutOff(limit string) {
	r.tasks.end(errStarterEnded)
	left := r.tasks.left()
	r.turn-- // it did not take place
	r.notice(event.NoticeWarning, fmt.Sprintf("%s was ended by its limit (%s) before it could hand over",
		r.definition.Slug, limit), "start it again with a larger limit, or a smaller task")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Reason = limit
	nothing := fmt.Sprintf("The limit of this run was reached (%s) before there was an answer.", limit)
	r.result.Output = cmp.Or(r.lastText, nothing) + left
}

// addUsage counts what an answer of the model used, for the run and for all above it, and stores it. Budgets count a
// guess of what the provider did not report. It may be called for further requests of the same turn, too. It returns
// what the answer used.
func (r *Run) addUsage(request *model.Request, done model.Done) event.Usage {
	u, whole := done.Usage, done.Usage
	if !provider.IsOffline(r.model.Name()) { // the rules have no tokens
		whole = u.Complete(request, done.Message)
	}
	used := event.Usage{InputTokens: u.Input, OutputTokens: u.Output, CachedTokens: u.Cached}
	counted := amount{tokens: whole.Input + whole.Output}
	if r.price != nil {
		counted.cost = r.price.Cost(whole)
		// A provider that reports no tokens has not answered for nothing.
		if free := r.price.Input == 0 && r.price.Output == 0; free || u != (model.Usage{}) {
			used.Cost = new(r.price.Cost(u))
		}
	}
	r.budget.add(counted)
	r.count(used)
	return used
}

// addCut counts a request that was cut off while the model answered. What it used nobody tells; where no price is
// known either, the cost is unknown from now on, and not that of the answers alone.
func (r *Run) addCut(asked model.Model) {
	if provider.Price(r.config, asked.Name()) == nil && !provider.IsOffline(asked.Name()) {
		r.count(event.Usage{})
	}
}

// count adds what was used to the run and to all above it, and stores it.
func (r *Run) count(used event.Usage) {
	r.session.recording.Lock()
	defer r.session.recording.Unlock()
	var usages []store.RunUsage
	for a := r; a != nil; a = a.parent {
		a.mu.Lock()
		a.result.Usage = a.result.Usage.Add(used)
		if a == r {
			a.own = a.own.Add(used)
			a.result.Turns = a.turn
		}
		usages = append(usages, store.RunUsage{Run: a.id, Turns: a.result.Turns, Usage: a.result.Usage, Own: a.own})
		a.mu.Unlock()
	}
	r.tell(store.Batch{Usages: usages})
}

// tellUnpriced warns that a limit of the cost does not hold for the run, unless its parent has said so.
func (r *Run) tellUnpriced() {
	if r.price != nil || !r.budget.costLimited() || r.parent != nil && r.parent.model.Name() == r.model.Name() {
		return
	}
	r.notice(event.NoticeWarning,
		fmt.Sprintf("the price of %s is not known, so what it costs does not count towards the limit of the cost",
			r.model.Name()),
		fmt.Sprintf("set [prices.%q] in your config.toml, or limit the tokens", r.model.Name()))
}
