package lsp

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
)

// trace is what the client wants to hear in `$/logTrace` (LSP 3.18, "SetTrace Notification"): nothing until it says so
// in initialize or `$/setTrace`. Any goroutine may use it.
type trace struct{ value atomic.Value }

func (t *trace) set(v protocol.TraceValue) { t.value.Store(v) }

func (t *trace) get() protocol.TraceValue {
	v, _ := t.value.Load().(protocol.TraceValue)
	return v
}

// traceEvent tells a client that traces what happened in a run: the stored events, with their content if it is verbose.
func (m *pump) traceEvent(ctx context.Context, e event.Event) {
	wanted := m.trace.get()
	if wanted != protocol.TraceValueMessages && wanted != protocol.TraceValueVerbose || event.Transient(e.Body) {
		return
	}
	params := protocol.LogTraceParams{Message: e.Body.EventType() + " " + string(e.Run)}
	if wanted == protocol.TraceValueVerbose {
		raw, err := json.Marshal(e)
		if err != nil {
			m.logger.Warn("an event could not be traced", "type", e.Body.EventType(), "error", err)
			return
		}
		params.Verbose = new(string(raw))
	}
	if err := m.conn.Notify(ctx, protocol.MethodLogTrace, &params); err != nil {
		m.logger.Debug("an event could not be traced", "type", e.Body.EventType(), "error", err)
	}
}
