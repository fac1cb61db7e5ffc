package lsp

import (
	"encoding/json"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/remark"
)

// capabilities are what is announced to an editor.
func capabilities(e *editor) protocol.ServerCapabilities {
	incremental := protocol.TextDocumentSyncKindIncremental
	can := protocol.ServerCapabilities{
		PositionEncoding: protocol.PositionEncodingKind(e.documents.Encoding),
		TextDocumentSync: &protocol.TextDocumentSyncOptions{
			OpenClose: new(true), Change: &incremental, Save: protocol.Boolean(true),
		},
		ExecuteCommandProvider: protocol.ExecuteCommandOptions{Commands: methods.Commands()},
		CodeActionProvider:     protocol.Boolean(true),
		Workspace: &protocol.WorkspaceOptions{
			WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{
				Supported:           new(true),
				ChangeNotifications: protocol.Boolean(true),
			},
		},
	}
	if e.client.TakesCodeActions() {
		can.CodeActionProvider = &protocol.CodeActionOptions{
			CodeActionKinds: []protocol.CodeActionKind{
				protocol.CodeActionKindQuickFix, protocol.CodeActionKindRefactorRewrite, menu.KindAgent,
			},
		}
	}
	if e.client.OffersPull() {
		can.DiagnosticProvider = &protocol.DiagnosticOptions{
			Identifier:           new(remark.Source),
			WorkspaceDiagnostics: !e.client.RefreshesWorkspaceAlone(),
		}
	}
	announce(e.client, &can)
	if e.client.LensesAnnounced() {
		can.CodeLensProvider = &protocol.CodeLensOptions{}
	}
	if e.client.HintsAnnounced() {
		can.InlayHintProvider = protocol.Boolean(true)
	}
	can.Workspace.FileOperations = e.client.FileOperations()
	if e.client.TakesContent() {
		can.Workspace.TextDocumentContent = &protocol.TextDocumentContentOptions{Schemes: []string{document.Scheme}}
	}
	if raw, err := json.Marshal(client.Experimental{Agentls: &methods.Support{
		Version: methods.Version, Asks: true, Questions: true, Models: true, Diagnostics: true, Symbols: true,
	}}); err == nil {
		can.Experimental = raw
	}
	return can
}
