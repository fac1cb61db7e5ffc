package lsp

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/position"
)

// codeAction answers `textDocument/codeAction`: what agents can do with the place, what was found there,
// and the edits that are proposed for it.
func (s *Server) codeAction(ctx context.Context, p *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	path := document.Path(p.TextDocument.URI)
	var err error
	if p.Range, err = s.documents.Follow(ctx, path, p.Range); err != nil {
		return nil, err
	}
	actions := menu.Nearby(append(s.authoredActions(path, p.Range), s.requestActions(path, p.Range)...))
	if session := s.opened(); session != nil {
		if x, _, err := s.documents.Text(path); err == nil {
			first, last := position.Touched(p.Range)
			actions = append(actions, s.askActions(path, x, first)...)
			actions = append(actions, menu.Nearby(s.desk.FindingActions(session, path, x, first, last))...)
			actions = append(actions, s.desk.Actions(session, path, x, first, last)...)
			actions = append(actions, s.desk.UndoActions(session, path, x, first, last)...)
		}
	}
	actions = append(actions, menu.Nearby(s.diagnosticActions(p))...)
	actions = append(actions, s.launchActions(p)...)
	actions = append(actions, s.agentActions(p)...)
	actions = append(actions, s.board.Stops(path)...)
	actions = append(actions, s.recovery.actions()...)
	return menu.Shown(actions, p.Context, s.client, func(hunks []event.HunkID) *protocol.WorkspaceEdit {
		return s.desk.Edit(s.opened(), hunks)
	})
}
