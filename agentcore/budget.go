package agentcore

import (
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
)

// lastTurn names the limit that makes this turn the hand-over, or is empty.
func (r *run) lastTurn() string {
	used, took := r.usage(), r.clock.took()
	switch {
	case r.turn >= r.limits.MaxTurns:
		return "max_turns"
	case r.limits.Timeout > 0 && took > r.limits.Timeout-min(r.limits.Timeout/5, 30*time.Second):
		return "timeout"
	case r.limits.Tokens > 0 && used.InputTokens+used.OutputTokens >= r.limits.Tokens:
		return "max_tokens"
	case r.limits.Cost > 0 && used.Cost != nil && *used.Cost >= r.limits.Cost:
		return "max_cost"
	}
	return ""
}

func (r *run) addUsage(u model.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Usage = r.result.Usage.Add(event.Usage{InputTokens: u.Input, OutputTokens: u.Output, CachedTokens: u.Cached})
	r.result.Turns = r.turn
}
