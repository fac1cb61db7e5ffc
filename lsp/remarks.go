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
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/surface"
)

// remarks are what there is to see in a file, by whoever found it. Its methods may be called from any goroutine.
type remarks struct {
	*window
	launches *surface.Launches
	asks     *asker
	authored *authored
}

// of are the diagnostics of a file for a text: findings, hunks and questions that are shown there, and what is
// wrong with a file of ours.
func (r *remarks) of(path string, x *workspace.Index, open bool) []protocol.Diagnostic {
	return slices.Concat(r.diagnosticsOf(r.opened(), path, x), r.asks.diagnostics(path, x),
		r.authored.diagnostics(path, x, open))
}

func (r *remarks) diagnosticsOf(session *agentcore.Session, path string, x *workspace.Index) []protocol.Diagnostic {
	list := []protocol.Diagnostic{}
	if session == nil {
		return list
	}
	fixes := map[event.HunkID]bool{}
	for _, f := range session.Board().Findings(path) {
		for _, id := range session.Board().Fix(f.ID) {
			fixes[id] = true
		}
		list = append(list, r.form.Finding(f, x))
	}
	for _, h := range session.Board().Hunks() {
		if h.Waits() && (h.Path == path || h.Create && r.host(h) == path) {
			d := r.form.Hunk(h, x)
			if fixes[h.ID] && h.State == event.StateOpen {
				d.Message = protocol.String("proposed edit: the fix of a finding") // which says the rest
			}
			list = append(list, d)
		}
	}
	return list
}

// hosts are the documents that show hunks of new files.
func (r *remarks) hosts(session *agentcore.Session) []string {
	now := map[string]bool{}
	for _, h := range session.Board().Hunks() {
		if !h.Create || !h.Waits() {
			continue
		}
		if path := r.host(h); path != "" {
			now[path] = true
		}
	}
	return slices.Collect(maps.Keys(now))
}

// host is the document that a hunk is shown in: its own or, for a new file, the one that its run was launched on; "" if
// there is none.
func (r *remarks) host(h workspace.Hunk) string {
	if !h.Create || r.documents.Get(h.Path) != nil {
		return h.Path
	}
	return r.launches.Path(h.Author.Run)
}

// listed are the files that have something to see, beside what is open.
func (r *remarks) listed() []string {
	var list []string
	if session := r.opened(); session != nil {
		list = session.Board().Remarked()
	}
	for _, ask := range r.asks.listedAsks() {
		if host := r.asks.host(ask); host != "" {
			list = append(list, host)
		}
	}
	return list
}

// codeLens answers `textDocument/codeLens`.
func (c *connected) codeLens(_ context.Context, p *protocol.CodeLensParams) ([]protocol.CodeLens, error) {
	if session := c.opened(); session != nil {
		return c.board.Lenses(p.TextDocument.URI, session.Board().ProposalID(), session.Board().Hunks())
	}
	return c.board.Lenses(p.TextDocument.URI, "", nil)
}

// cancelProgress is the user's click on a progress.
func (c *connected) cancelProgress(p *protocol.WorkDoneProgressCancelParams) error {
	token, ok := p.Token.(protocol.String)
	if !ok || !c.board.Shows(event.RunID(token)) {
		return fmt.Errorf("there is no progress %v", p.Token)
	}
	if !c.ready() {
		return nil // no run can exist before the engine
	}
	return c.engine.Cancel(event.RunID(token))
}

// workspaceDiagnostic answers `workspace/diagnostic`.
func (c *connected) workspaceDiagnostic(ctx context.Context, p *protocol.WorkspaceDiagnosticParams) (any, error) {
	return c.diagnostics.PullAll(ctx, p, c.remarks.listed())
}

// codeAction answers `textDocument/codeAction`: what agents can do with the place, what was found there,
// and the edits that are proposed for it.
func (c *connected) codeAction(ctx context.Context,
	p *protocol.CodeActionParams,
) ([]protocol.CommandOrCodeAction, error) {
	path := document.Path(p.TextDocument.URI)
	var err error
	if p.Range, err = c.documents.Follow(ctx, path, p.Range); err != nil {
		return nil, err
	}
	actions := menu.Nearby(append(c.authored.actions(path, p.Range), c.launcher.requestActions(path, p.Range)...))
	if session := c.opened(); session != nil {
		if x, _, err := c.documents.Text(path); err == nil {
			first, last := position.Touched(p.Range)
			actions = append(actions, c.asks.actions(path, x, first)...)
			actions = append(actions, menu.Nearby(c.desk.FindingActions(session, path, x, first, last))...)
			actions = append(actions, c.desk.Actions(session, path, x, first, last)...)
			actions = append(actions, c.desk.UndoActions(session, path, x, first, last)...)
		}
	}
	actions = append(actions, menu.Nearby(diagnosticActions(p))...)
	actions = append(actions, c.launcher.launchActions(p)...)
	actions = append(actions, c.launcher.agentActions(p)...)
	actions = append(actions, c.board.Stops(path)...)
	actions = append(actions, c.recovery.actions()...)
	return menu.Shown(actions, p.Context, c.client, func(hunks []event.HunkID) *protocol.WorkspaceEdit {
		return c.desk.Edit(c.opened(), hunks)
	})
}

// hover answers `textDocument/hover` in the files that people write for agentls. In any document it tells of the runs
// that are shown at the line. The answer is null where there is nothing to say.
func (c *connected) hover(ctx context.Context, p *protocol.HoverParams) (any, error) {
	path := document.Path(p.TextDocument.URI)
	if at, err := c.documents.Follow(ctx, path, protocol.Range{Start: p.Position, End: p.Position}); err == nil {
		if status := c.board.Hover(path, int(at.Start.Line)); status != "" {
			return &protocol.Hover{Contents: c.client.HoverText(status)}, nil
		}
	}
	sheet := c.authored.sheetOf(ctx, path)
	if sheet == nil {
		return nil, nil
	}
	text, r := sheet.Explain(c.reloader.vocabulary(), p.Position)
	if text == "" {
		return nil, nil
	}
	return &protocol.Hover{Contents: c.client.HoverText(text), Range: &r}, nil
}
