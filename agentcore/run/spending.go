package run

import (
	"cmp"
	"fmt"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/store"
)

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
