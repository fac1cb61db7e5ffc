package lsp

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/delivery"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/surface"
)

// surfaces makes what shows runs, and what they found and propose.
func (s *Server) surfaces() {
	means := surface.Means{
		Client: s.client, Documents: s.documents, View: s.view, Form: s.form, Logger: s.logger,
		ConfigFile: s.options.Dirs.File, Notify: s.conn.Notify, Goes: s.goes, Guarded: s.guarded,
		Settings: s.settings.current, Info: s.runInfo,
	}
	s.board = surface.NewBoard(means)
	s.refresher = surface.NewRefresher(means)
	s.diagnostics = surface.NewDiagnostics(means, s.remarks, s.refresher.DiagnosticsChanged)
	s.launches = surface.NewLaunches(func(run event.RunID) (string, error) {
		return s.engine.History().LaunchedOn(s.background, run)
	}, s.logger)
	s.status = surface.NewStatus(surface.StatusMeans{
		Means: means, Board: s.board, Failing: s.failing, Fault: s.settings.fault, Facts: s.statusFacts,
		Command: func(ctx context.Context, command, dir string, input []byte) (string, error) {
			return s.engine.StatusCommand(ctx, command, dir, input)
		},
		Tell: methods.Client{Conn: s.conn}.Status,
	})
	s.desk = delivery.NewDesk(delivery.Means{
		Client: s.client, Documents: s.documents, View: s.view, Form: s.form, Logger: s.logger,
		AnswerTime: s.options.AnswerTime, Crash: s.options.Crash, Open: s.open, Kept: s.kept, Inquire: s.inquire,
		Present: s.present, Moved: s.diagnostics.Clear, RunInfos: runInfos,
	})
	s.unreviewed = delivery.NewUnreviewed(s.desk, s.opened, s.guarded, func(ctx context.Context, warning string) {
		s.tell(ctx, protocol.MessageTypeWarning, warning)
	})
}

// statusFacts are those of the server and its session.
func (s *Server) statusFacts() agentcore.StatusFacts {
	f := agentcore.StatusFacts{Version: s.options.Version}
	if roots := s.view.Roots(); len(roots) > 0 {
		f.Project, f.WorkingDirectory = roots[0].Name, roots[0].Path
		f.GitBranch = workspace.Branch(roots[0].Path)
	}
	if session := s.opened(); session != nil {
		f.Session = session.ID
		f.Asks, f.Findings = len(session.Asks()), len(session.Findings(""))
		for _, h := range session.Hunks() {
			if h.Waits() {
				f.Edits++
			}
		}
	}
	return f
}

// remarks are the diagnostics of a file for a text: findings, hunks and questions that are shown there, and what is
// wrong with a file of ours.
func (s *Server) remarks(path string, x *workspace.Index, open bool) []protocol.Diagnostic {
	return slices.Concat(s.diagnosticsOf(s.opened(), path, x), s.askDiagnostics(path, x),
		s.authoredDiagnostics(path, x, open))
}

func (s *Server) diagnosticsOf(session *agentcore.Session, path string, x *workspace.Index) []protocol.Diagnostic {
	list := []protocol.Diagnostic{}
	if session == nil {
		return list
	}
	fixes := map[event.HunkID]bool{}
	for _, f := range session.Findings(path) {
		for _, id := range session.Fix(f.ID) {
			fixes[id] = true
		}
		list = append(list, s.form.Finding(f, x))
	}
	for _, h := range session.Hunks() {
		if h.Waits() && (h.Path == path || h.Create && s.host(h) == path) {
			d := s.form.Hunk(h, x)
			if fixes[h.ID] && h.State == event.StateOpen {
				d.Message = protocol.String("proposed edit: the fix of a finding") // which says the rest
			}
			list = append(list, d)
		}
	}
	return list
}

// hosts are the documents that show hunks of new files.
func (s *Server) hosts(session *agentcore.Session) []string {
	now := map[string]bool{}
	for _, h := range session.Hunks() {
		if !h.Create || !h.Waits() {
			continue
		}
		if path := s.host(h); path != "" {
			now[path] = true
		}
	}
	return slices.Collect(maps.Keys(now))
}

// host is the document that a hunk is shown in: its own or, for a new file, the one that its run was launched on; "" if
// there is none.
func (s *Server) host(h workspace.Hunk) string {
	if !h.Create || s.documents.Get(h.Path) != nil {
		return h.Path
	}
	return s.launches.Path(h.Author.Run)
}

// workspaceDiagnostic answers `workspace/diagnostic`.
func (s *Server) workspaceDiagnostic(ctx context.Context, p *protocol.WorkspaceDiagnosticParams) (any, error) {
	var remarked []string
	if session := s.opened(); session != nil {
		remarked = session.Remarked()
	}
	for _, ask := range s.asks.listedAsks() {
		if host := s.askHost(ask); host != "" {
			remarked = append(remarked, host)
		}
	}
	return s.diagnostics.PullAll(ctx, p, remarked)
}

// codeLens answers `textDocument/codeLens`.
func (s *Server) codeLens(_ context.Context, p *protocol.CodeLensParams) ([]protocol.CodeLens, error) {
	if session := s.opened(); session != nil {
		return s.board.Lenses(p.TextDocument.URI, session.ProposalID(), session.Hunks())
	}
	return s.board.Lenses(p.TextDocument.URI, "", nil)
}

// inlayHint answers `textDocument/inlayHint`.
func (s *Server) inlayHint(_ context.Context, p *protocol.InlayHintParams) ([]protocol.InlayHint, error) {
	return s.board.Hints(p), nil
}

// cancelProgress is the user's click on a progress.
func (s *Server) cancelProgress(p *protocol.WorkDoneProgressCancelParams) error {
	token, ok := p.Token.(protocol.String)
	if !ok || !s.board.Shows(event.RunID(token)) {
		return fmt.Errorf("there is no progress %v", p.Token)
	}
	select {
	case <-s.opening.ready:
		return s.engine.Cancel(event.RunID(token))
	default:
		return nil // no run can exist before the engine
	}
}
