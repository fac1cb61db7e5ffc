package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/lsp/delivery"
	"github.com/agentls/agentls/lsp/surface"
)

// pump hands events to the surfaces. Its goroutine is run.
type pump struct {
	*window
	trace       *trace
	board       *surface.Board
	status      *surface.Status
	diagnostics *surface.Diagnostics
	refresher   *surface.Refresher
	unreviewed  *delivery.Unreviewed
	asks        *asker
	pages       *pages
	// hosts are the documents that show hunks of new files.
	hosts func(*agentcore.Session) []string
}

// run reads the events and hands them to the surfaces. It is the only reader of its subscription, and waits for no
// answer of the client.
func (m *pump) run(ctx context.Context, events *feed.Subscription) {
	for {
		e, err := events.Next(ctx)
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, feed.ErrClosed) {
				m.tell(ctx, protocol.MessageTypeError,
					"agentls can show no more news: "+err.Error()+". Restart the server")
			}
			return
		}
		m.guarded(func() { m.surface(ctx, e) })
	}
}

// surface shows one event on the standard surfaces.
func (m *pump) surface(ctx context.Context, e event.Event) {
	m.traceEvent(ctx, e)
	defer m.status.Wake()
	switch body := e.Body.(type) {
	case event.RunCreated:
		m.board.Began(e.Run, body)
	case event.RunProgress:
		m.board.Reported(e.Run, body)
	case event.RunStatusChanged:
		m.board.Turned(e.Run, body, e.Time)
	case event.MessageCommitted:
		m.pages.transcriptChanged(e.Run)
	case event.ToolCallFinished:
		m.pages.transcriptChanged(e.Run)
		m.refused(ctx, e.Run, body)
	case event.AskOpened:
		m.asks.begun(e.Session, body.Ask)
	case event.AskResolved:
		m.asks.resolved(body.Ask)
	case event.FindingReported:
		m.diagnostics.Touch(event.FilePath(body.Finding.URI))
	case event.FindingCleared:
		m.diagnostics.Touch(event.FilePath(body.URI))
	case event.ProposalChanged:
		m.proposalChanged(body)
	case event.Notice:
		m.notice(ctx, e.Run, body)
	case event.RunFinished:
		m.finished(ctx, e.Run, body)
	}
}

// proposalChanged shows everything again that shows hunks.
func (m *pump) proposalChanged(p event.ProposalChanged) {
	for _, uri := range p.URIs {
		m.diagnostics.Touch(event.FilePath(uri))
	}
	if session := m.opened(); session != nil {
		m.diagnostics.Touch(m.diagnostics.Hosted(m.hosts(session))...)
	}
	m.refresher.ProposalChanged(p.Proposal)
	m.unreviewed.Wake()
}

// notice shows a notice of a run to the user. The text about a child begins with the child's name.
func (m *pump) notice(ctx context.Context, run event.RunID, n event.Notice) {
	text := "agentls: "
	if info, known := m.runInfo(run); known && info.Parent != "" {
		text += m.board.Path(run) + ": "
	}
	text += n.Message
	if n.Hint != "" {
		text += "; " + n.Hint
	}
	switch n.Level {
	case event.NoticeError:
		m.tell(ctx, protocol.MessageTypeError, text)
	case event.NoticeWarning:
		m.tell(ctx, protocol.MessageTypeWarning, text)
	default:
		m.log(ctx, protocol.MessageTypeInfo, text)
	}
}

// refused logs a call that was denied, since that affects the result of the run.
func (m *pump) refused(ctx context.Context, id event.RunID, call event.ToolCallFinished) {
	if call.Status != event.CallDenied {
		return
	}
	text := fmt.Sprintf("agentls: %s: %s was denied: %s", m.board.Path(id), call.Tool, permission.Visible(call.Summary))
	m.log(ctx, protocol.MessageTypeInfo, text)
}

// finished ends the run's progress, tells what went wrong, and shows an answer that has no other place.
func (m *pump) finished(ctx context.Context, id event.RunID, f event.RunFinished) {
	info, known := m.runInfo(id)
	var out *surface.Outcome
	if session := m.opened(); session != nil {
		findings, edits := session.Board().Outcome(id)
		out = &surface.Outcome{Findings: findings, Edits: edits, Reviewed: info.Agent == reviewerAgent}
	}
	summary := m.board.Ended(id, f, out)
	if known && info.Parent != "" {
		return // its parent's result tells of it
	}
	if _, announced := m.client.PublishDiagnostics(); !announced && known {
		m.logFindings(ctx, id, info.Path)
	}
	switch f.Status {
	case event.StatusCompleted, event.StatusCancelled, event.StatusInterrupted: // its progress or the log says so
		m.pages.openPlan(id)
	default:
		if m.client.Announced().Endings {
			return
		}
		text := "agentls: " + summary
		if f.Result.Error != nil && f.Result.Error.Hint != "" {
			text += "; " + f.Result.Error.Hint
		}
		m.tell(ctx, protocol.MessageTypeError, text)
	}
}

// logFindings logs the findings on a file after a run that has found something, for a client without diagnostics.
func (m *pump) logFindings(ctx context.Context, run event.RunID, path string) {
	session := m.opened()
	if session == nil {
		return
	}
	if found, _ := session.Board().Outcome(run); found == 0 {
		return
	}
	var b strings.Builder
	for _, f := range session.Board().Findings(path) {
		fmt.Fprintf(&b, "%s:%d: %s: %s\n", m.view.Shown(event.FilePath(f.URI)), f.Span.StartLine+1,
			f.Severity, f.Message)
	}
	if b.Len() == 0 {
		return
	}
	m.log(ctx, protocol.MessageTypeInfo, strings.TrimSuffix(b.String(), "\n"))
}

// trace is what the client wants to get by `$/logTrace` (LSP 3.18, "SetTrace Notification"): nothing until it says so
// in initialize or `$/setTrace`. Any goroutine may use it.
type trace struct{ value atomic.Value }

func (t *trace) set(v protocol.TraceValue) { t.value.Store(v) }

// follow answers `$/setTrace`.
func (t *trace) follow(p *protocol.SetTraceParams) error {
	t.set(p.Value)
	return nil
}

func (t *trace) get() protocol.TraceValue {
	v, _ := t.value.Load().(protocol.TraceValue)
	return v
}

// traceEvent sends a stored event of a run to a client that traces, with its content if the client wants details.
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
	if err := m.client.Notify(ctx, protocol.MethodLogTrace, &params); err != nil {
		m.logger.Debug("an event could not be traced", "type", e.Body.EventType(), "error", err)
	}
}
