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
