package lsp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/lsp/surface"
)

// pump reads what happens and hands it to the surfaces. It is the only reader of its subscription, and it
// waits for no answer of the client.
func (s *Server) pump(ctx context.Context, events *feed.Subscription) {
	for {
		e, err := events.Next(ctx)
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, feed.ErrClosed) {
				s.tell(ctx, protocol.MessageTypeError,
					"agentls can show no more news: "+err.Error()+". Restart the server")
			}
			return
		}
		s.guarded(func() { s.surface(ctx, e) })
	}
}

// surface shows one event on the standard surfaces.
func (s *Server) surface(ctx context.Context, e event.Event) {
	s.traceEvent(ctx, e)
	defer s.status.Wake()
	switch body := e.Body.(type) {
	case event.RunCreated:
		s.board.Began(e.Run, body)
	case event.RunProgress:
		s.board.Reported(e.Run, body)
	case event.RunStatusChanged:
		s.board.Turned(e.Run, body, e.Time)
	case event.MessageCommitted:
		s.transcriptChanged(e.Run)
	case event.ToolCallFinished:
		s.transcriptChanged(e.Run)
		s.refused(ctx, e.Run, body)
	case event.AskOpened:
		s.asks.opened(e.Session, body.Ask)
	case event.AskResolved:
		s.asks.resolved(body.Ask)
	case event.FindingReported:
		s.diagnostics.Touch(event.FilePath(body.Finding.URI))
	case event.FindingCleared:
		s.diagnostics.Touch(event.FilePath(body.URI))
	case event.ProposalChanged:
		s.proposalChanged(body)
	case event.Notice:
		s.notice(ctx, e.Run, body)
	case event.RunFinished:
		s.finished(ctx, e.Run, body)
	}
}

// proposalChanged has everything that shows hunks shown again.
func (s *Server) proposalChanged(p event.ProposalChanged) {
	for _, uri := range p.URIs {
		s.diagnostics.Touch(event.FilePath(uri))
	}
	if session := s.opened(); session != nil {
		s.diagnostics.Touch(s.diagnostics.Hosted(s.hosts(session))...)
	}
	s.refresher.ProposalChanged(p.Proposal)
	s.unreviewed.Wake()
}

// notice tells what a person should know. What concerns a child names it.
func (s *Server) notice(ctx context.Context, run event.RunID, n event.Notice) {
	text := "agentls: "
	if info, known := s.runInfo(run); known && info.Parent != "" {
		text += s.board.Path(run) + ": "
	}
	text += n.Message
	if n.Hint != "" {
		text += "; " + n.Hint
	}
	switch n.Level {
	case event.NoticeError:
		s.tell(ctx, protocol.MessageTypeError, text)
	case event.NoticeWarning:
		s.tell(ctx, protocol.MessageTypeWarning, text)
	default:
		if err := s.client.Log(ctx, protocol.MessageTypeInfo, text); err != nil {
			s.logger.Warn("a notice could not be logged", "error", err)
		}
	}
}

// refused tells of a call that was not allowed, which changes what comes of a run.
func (s *Server) refused(ctx context.Context, id event.RunID, call event.ToolCallFinished) {
	if call.Status != event.CallDenied {
		return
	}
	text := fmt.Sprintf("agentls: %s: %s was denied: %s", s.board.Path(id), call.Tool,
		permission.Visible(call.Summary))
	if err := s.client.Log(ctx, protocol.MessageTypeInfo, text); err != nil {
		s.logger.Warn("a denied call could not be logged", "error", err)
	}
}

// finished ends the run's progress, tells what went wrong, and shows an answer that has no other place.
func (s *Server) finished(ctx context.Context, id event.RunID, f event.RunFinished) {
	info, known := s.runInfo(id)
	var out *surface.Outcome
	if session := s.opened(); session != nil {
		findings, edits := session.Outcome(id)
		out = &surface.Outcome{Findings: findings, Edits: edits, Reviewed: info.Agent == reviewerAgent}
	}
	summary := s.board.Ended(id, f, out)
	if known && info.Parent != "" {
		return // its parent speaks for it
	}
	if _, announced := s.client.PublishDiagnostics(); !announced && known {
		s.logFindings(ctx, id, info.Path)
	}
	switch f.Status {
	case event.StatusCompleted, event.StatusCancelled, event.StatusInterrupted: // its progress, or the log, says so
		s.openPlan(id)
	default:
		if s.client.Announced().Endings {
			return
		}
		text := "agentls: " + summary
		if f.Result.Error != nil && f.Result.Error.Hint != "" {
			text += "; " + f.Result.Error.Hint
		}
		s.tell(ctx, protocol.MessageTypeError, text)
	}
}

// logFindings tells the findings on a file, after a run that has made some, to a client that takes no diagnostics.
func (s *Server) logFindings(ctx context.Context, run event.RunID, path string) {
	session := s.opened()
	if session == nil {
		return
	}
	if found, _ := session.Outcome(run); found == 0 {
		return
	}
	var b strings.Builder
	for _, f := range session.Findings(path) {
		fmt.Fprintf(&b, "%s:%d: %s: %s\n", s.view.Shown(event.FilePath(f.URI)), f.Span.StartLine+1,
			f.Severity, f.Message)
	}
	if b.Len() == 0 {
		return
	}
	if err := s.client.Log(ctx, protocol.MessageTypeInfo, strings.TrimSuffix(b.String(), "\n")); err != nil {
		s.logger.Warn("the findings could not be logged", "error", err)
	}
}

// runInfo finds a run of this process.
func (s *Server) runInfo(id event.RunID) (history.Run, bool) {
	if s.engine == nil {
		return history.Run{}, false
	}
	info, err := s.engine.RunInfo(id)
	return info, err == nil
}
