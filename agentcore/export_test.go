package agentcore

import (
	"context"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/prompt"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/slot"
	"github.com/agentls/agentls/agentcore/store"
)

// ForceSandbox makes the engine take a report for what the machine offers. It must come before the first command.
func (e *Engine) ForceSandbox(report sandbox.Report) {
	e.process.Sandbox = func() sandbox.Report { return report }
}

// Store is the engine's own.
func (e *Engine) Store() *store.Store { return e.store }

// Slots are those of the session's children.
func (s *Session) Slots() *slot.Pool { return s.shared.Slots }

func init() { mcpPatience = 5 * time.Minute }

// Late makes it time for a run to hand over, as its clock does once what is left is kept for that.
func (e *Engine) Late(id event.RunID) {
	if r, err := e.run(id); err == nil {
		r.HandOver()
	}
}

// Idle waits until nothing is asked in the background for the session.
func (e *Engine) Idle(ctx context.Context, s *Session) error { s.errands.wait.Wait(); return ctx.Err() }

// Duration is how a limit of time is told.
var Duration = prompt.Duration

// Delegation is what a prompt is told of how subagents have done.
func (s *Session) Delegation(ctx context.Context, subagents []string) (string, error) {
	return s.shared.Delegation(ctx, subagents)
}
