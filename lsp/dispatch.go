package lsp

import (
	"context"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lsp/wire"
)

// notification works on the params of what needs no answer, on the reading goroutine.
type notification func(params jsonrpc2.RawMessage) error

// request answers the params of what wants an answer, on a goroutine of its own.
type request func(ctx context.Context, params jsonrpc2.RawMessage) (any, error)

// dispatch makes the tables of the methods of LSP.
func (c *connected) dispatch() {
	c.notifications = map[string]notification{
		protocol.MethodInitialized:                        func(jsonrpc2.RawMessage) error { return c.initialized() },
		protocol.MethodTextDocumentDidOpen:                decoded(c.didOpen),
		protocol.MethodTextDocumentDidChange:              decoded(c.didChange),
		protocol.MethodTextDocumentDidClose:               decoded(c.didClose),
		protocol.MethodTextDocumentDidSave:                decoded(c.didSave),
		protocol.MethodWorkspaceDidChangeWatchedFiles:     decoded(c.didChangeWatchedFiles),
		protocol.MethodWorkspaceDidRenameFiles:            decoded(c.didRenameFiles),
		protocol.MethodWorkspaceDidCreateFiles:            decoded(c.didCreateFiles),
		protocol.MethodWorkspaceDidDeleteFiles:            decoded(c.didDeleteFiles),
		protocol.MethodWorkspaceDidChangeWorkspaceFolders: decoded(c.didChangeWorkspaceFolders),
		protocol.MethodWorkspaceDidChangeConfiguration:    decoded(c.didChangeConfiguration),
		protocol.MethodWindowWorkDoneProgressCancel:       decoded(c.cancelProgress),
		protocol.MethodProgress:                           c.lending.progressed,
		protocol.MethodSetTrace:                           decoded(c.trace.follow),
	}
	c.requests = map[string]request{
		protocol.MethodShutdown: func(ctx context.Context, _ jsonrpc2.RawMessage) (any,
			error,
		) {
			return nil, c.shutdown(ctx)
		},
		protocol.MethodTextDocumentCodeAction:       answered(c.codeAction),
		protocol.MethodTextDocumentCodeLens:         answered(c.codeLens),
		protocol.MethodTextDocumentCompletion:       answered(c.authored.completion),
		protocol.MethodTextDocumentDiagnostic:       answered(c.diagnostics.Pull),
		protocol.MethodWorkspaceDiagnostic:          answered(c.workspaceDiagnostic),
		protocol.MethodTextDocumentInlayHint:        answered(c.board.Hints),
		protocol.MethodTextDocumentHover:            answered(c.hover),
		protocol.MethodTextDocumentDocumentSymbol:   answered(c.authored.documentSymbol),
		protocol.MethodWorkspaceExecuteCommand:      answered(c.executeCommand),
		protocol.MethodWorkspaceTextDocumentContent: answered(c.pages.textDocumentContent),
	}
}

func decoded[P any](do func(*P) error) notification {
	return func(params jsonrpc2.RawMessage) error {
		var p P
		if err := wire.Decode(params, &p); err != nil {
			return err
		}
		return do(&p)
	}
}

func answered[P, R any](do func(context.Context, *P) (R, error)) request {
	return func(ctx context.Context, params jsonrpc2.RawMessage) (any, error) {
		var p P
		if err := wire.Decode(params, &p); err != nil {
			return nil, err
		}
		return do(ctx, &p)
	}
}
