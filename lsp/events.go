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
	"github.com/agentls/agentls/agentcore/price"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/lsp/short"
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
	defer s.status.wake()
	switch body := e.Body.(type) {
	case event.RunCreated:
		s.began(e.Run, body)
	case event.RunProgress:
		info, _ := s.runInfo(e.Run)
		s.live.report(e.Run, body, info.Working)
		s.changed(e.Run)
	case event.RunStatusChanged:
		s.live.turnTo(e.Run, body, e.Time)
		s.changed(e.Run)
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
		s.diagnostics.touch(event.FilePath(body.Finding.URI))
	case event.FindingCleared:
		s.diagnostics.touch(event.FilePath(body.URI))
	case event.ProposalChanged:
		s.proposalChanged(body)
	case event.Notice:
		s.notice(ctx, e.Run, body)
	case event.RunFinished:
		s.finished(ctx, e.Run, body)
	}
}

// began has a run shown from now on.
func (s *Server) began(id event.RunID, created event.RunCreated) {
	run := s.live.begin(id, created, s.pathOfAgents)
	s.place(run)
	s.progress.begin(run)
	s.inline.wake()
}

// changed has the newest state of a run shown.
func (s *Server) changed(id event.RunID) {
	s.progress.touch(id)
	s.inline.wake()
}

// pathOfAgents names a run by its agent and those above it, also where their runs are shown no more.
func (s *Server) pathOfAgents(id event.RunID) string {
	if run := s.live.get(id); run != nil {
		return run.path
	}
	info, known := s.runInfo(id)
	switch {
	case !known:
		return "…"
	case info.Parent != "":
		return s.pathOfAgents(info.Parent) + " ▸ " + info.Agent
	}
	return info.Agent
}

// proposalChanged has everything that shows hunks shown again.
func (s *Server) proposalChanged(p event.ProposalChanged) {
	for _, uri := range p.URIs {
		s.diagnostics.touch(event.FilePath(uri))
	}
	if session := s.opened(); session != nil {
		s.diagnostics.touch(s.diagnostics.hosted(session)...)
	}
	s.refresher.proposalChanged(p.Proposal)
	s.acceptor.wake()
}

// notice tells what a person should know. What concerns a child names it.
func (s *Server) notice(ctx context.Context, run event.RunID, n event.Notice) {
	text := "agentls: "
	if info, known := s.runInfo(run); known && info.Parent != "" {
		text += s.pathOfAgents(run) + ": "
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
	text := fmt.Sprintf("agentls: %s: %s was denied: %s", s.pathOfAgents(id), call.Tool,
		permission.Visible(call.Summary))
	if err := s.client.Log(ctx, protocol.MessageTypeInfo, text); err != nil {
		s.logger.Warn("a denied call could not be logged", "error", err)
	}
}

// finished ends the run's progress, tells what went wrong, and shows an answer that has no other place.
func (s *Server) finished(ctx context.Context, id event.RunID, f event.RunFinished) {
	summary := s.summary(id, f)
	s.live.end(id, f)
	s.progress.finish(id, summary)
	s.inline.wake()
	info, known := s.runInfo(id)
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

// summary is the end of a run in one line.
func (s *Server) summary(id event.RunID, f event.RunFinished) string {
	info, _ := s.runInfo(id)
	outcome := f.Result.Outcome
	parts := []string{fmt.Sprintf("%s %s", info.Agent, outcome)}
	switch {
	case f.Result.Error != nil:
		parts[0] += ": " + f.Result.Error.Detail
	case f.Reason != "" && f.Reason != string(outcome):
		parts[0] += ": " + f.Reason
	}
	if children := s.childrenOf(id); children != "" {
		parts = append(parts, children)
	}
	if info.Parent != "" {
		parts = append(parts, madeOf(f.Result)...)
	}
	if session := s.opened(); session != nil {
		findings, edits := session.Outcome(id)
		switch {
		case findings > 0:
			parts = append(parts, short.Count(findings, "finding"))
		case info.Agent == reviewerAgent && f.Status == event.StatusCompleted:
			parts = append(parts, "no findings")
		}
		// The edits of a child go to its parent when it ends, so that they are proposed at some moment around this one;
		// its files are named above.
		if edits > 0 && info.Parent == "" {
			parts = append(parts, short.Count(edits, "proposed edit"))
		}
	}
	if strings.HasPrefix(info.Model, provider.Offline+"/") {
		parts = append(parts, "no language model was used")
	}
	if f.Result.Usage.InputTokens+f.Result.Usage.OutputTokens > 0 {
		parts = append(parts, short.Count(int(f.Result.Usage.InputTokens+f.Result.Usage.OutputTokens), "token"))
	}
	if cost := f.Result.Usage.Cost; cost != nil && *cost > 0 {
		parts = append(parts, price.Dollars(*cost))
	}
	text := strings.Join(parts, ", ")
	if answer := said(f.Result); info.Parent != "" && answer != "" {
		text += ": " + answer
	}
	return text
}

// maxFailed is how many children are named that did not do their whole task.
const maxFailed = 2

// childrenOf says how many children a run had and which of them did not complete, "" for none.
func (s *Server) childrenOf(id event.RunID) string {
	run := s.live.get(id)
	if run == nil {
		return ""
	}
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	n, failed := run.counted()
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("%d children", n)
	if n == 1 {
		text = "1 child"
	}
	var named []string
	for _, child := range failed[:min(len(failed), maxFailed)] {
		named = append(named, fmt.Sprintf("%s %s: %s", child.agent, child.result.Outcome, child.title))
	}
	if more := len(failed) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("%d more did not complete", more))
	}
	if len(named) > 0 {
		text += " (" + strings.Join(named, "; ") + ")"
	}
	return text
}

// runInfo finds a run of this process.
func (s *Server) runInfo(id event.RunID) (history.Run, bool) {
	if s.engine == nil {
		return history.Run{}, false
	}
	info, err := s.engine.RunInfo(id)
	return info, err == nil
}
