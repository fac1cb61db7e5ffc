package run

import (
	"fmt"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/store"
)

// takeBudget narrows the limits of a new run to what its parent, or its session, has left. The error says that nothing
// is left.
func takeBudget(r *Run) error {
	above := r.session.Budget
	if r.parent != nil {
		above = r.parent.budget
	} else {
		above.setLimit(amount{r.config.BudgetTokens, r.config.BudgetCost})
	}
	left := above.left()
	// A run for one of several files may start without a budget and end by itself, so that those before it go on.
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
		r.limits.Timeout = max(rest, 1) // 0 would mean no limit
	}
	return nil
}

// spent is the error of a run for which nothing is left.
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

// addUsage counts what an answer of the model used, for the run and for all above it, and stores it. For what the
// provider did not report, budgets count a guess. It may be called for further requests of the same turn, too. It
// returns what the answer used.
func (r *Run) addUsage(request *model.Request, done model.Done) event.Usage {
	u, whole := done.Usage, done.Usage
	if !provider.IsOffline(r.model.Name()) { // the offline rules use no tokens
		whole = u.Complete(request, done.Message)
	}
	used := event.Usage{InputTokens: u.Input, OutputTokens: u.Output, CachedTokens: u.Cached}
	counted := amount{tokens: whole.Input + whole.Output}
	if r.price != nil {
		counted.cost = r.price.Cost(whole)
		// A provider that reports no tokens has still used some, so that the cost is known only where they are free.
		if free := r.price.Input == 0 && r.price.Output == 0; free || u != (model.Usage{}) {
			used.Cost = new(r.price.Cost(u))
		}
	}
	r.budget.add(counted)
	r.count(used)
	return used
}

// addCut counts a request that was cut off while the model answered. Nobody reports what it used. Where the price is
// not known either, the cost of the run is unknown from now on.
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
