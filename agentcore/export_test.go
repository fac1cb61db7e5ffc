package agentcore

import (
	"time"

	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/slot"
)

// ForceSandbox makes the engine take a report for what the machine offers. It must come before the first command.
func (e *Engine) ForceSandbox(report sandbox.Report) {
	e.probe.Do(func() { e.probed = report })
}

// Slots are those of the session's children.
func (s *Session) Slots() *slot.Pool { return s.slots }

func init() { mcpPatience = 5 * time.Minute }
