package lsp

import (
	"context"
	"fmt"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/wire"
)

// notification works on the params of a notification, on the reading goroutine.
type notification func(params jsonrpc2.RawMessage) error

// request makes the answer to the params of a request, on a goroutine of its own.
type request func(ctx context.Context, params jsonrpc2.RawMessage) (any, error)

// notifications are the methods of LSP that need no answer.
func notifications(c *connected) map[string]notification {
	return map[string]notification{
		protocol.MethodInitialized:                        func(jsonrpc2.RawMessage) error { return c.initialized() },
		protocol.MethodTextDocumentDidOpen:                decoded(c.didOpen),
		protocol.MethodTextDocumentDidChange:              decoded(c.didChange),
		protocol.MethodTextDocumentDidClose:               decoded(c.didClose),
		protocol.MethodTextDocumentDidSave:                decoded(c.didSave),
		protocol.MethodWorkspaceDidChangeWatchedFiles:     decoded(c.didChangeWatchedFiles),
		protocol.MethodWorkspaceDidRenameFiles:            decoded(c.didRenameFiles),
		protocol.MethodWorkspaceDidCreateFiles:            decoded(c.didChangeFiles),
		protocol.MethodWorkspaceDidDeleteFiles:            decoded(c.didChangeFiles),
		protocol.MethodWorkspaceDidChangeWorkspaceFolders: decoded(c.didChangeWorkspaceFolders),
		protocol.MethodWorkspaceDidChangeConfiguration:    decoded(c.settings.didChangeConfiguration),
		protocol.MethodWindowWorkDoneProgressCancel:       decoded(c.cancelProgress),
		protocol.MethodProgress:                           c.answers.Progressed,
		protocol.MethodSetTrace:                           decoded(c.trace.follow),
	}
}

// requests are the methods of LSP that want an answer.
func requests(c *connected) map[string]request {
	return map[string]request{
		protocol.MethodShutdown: func(ctx context.Context, _ jsonrpc2.RawMessage) (any, error) {
			return nil, c.shutdown(ctx)
		},
		protocol.MethodTextDocumentCodeAction:       answered(c.codeAction),
		protocol.MethodTextDocumentCodeLens:         answered(c.codeLens),
		protocol.MethodTextDocumentCompletion:       answered(c.completion),
		protocol.MethodTextDocumentDiagnostic:       answered(c.diagnostics.Pull),
		protocol.MethodWorkspaceDiagnostic:          answered(c.workspaceDiagnostic),
		protocol.MethodTextDocumentInlayHint:        answered(c.board.Hints),
		protocol.MethodTextDocumentFoldingRange:     answered(c.authored.folds),
		protocol.MethodTextDocumentDocumentLink:     answered(c.answers.links),
		protocol.MethodDocumentLinkResolve:          answered(c.answers.linked),
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

// executeCommand answers `workspace/executeCommand`. A client that does not know our protocol shows no
// results, so what a person has to see is shown to it by standard messages.
func (c *connected) executeCommand(ctx context.Context, p *protocol.ExecuteCommandParams) (any, error) {
	result, handled, err := methods.DispatchCommand(ctx, c.answers, p.Command, p.Arguments)
	if !handled {
		err = wire.InvalidParams(
			fmt.Errorf("there is no command %q; the server's commands are in its executeCommandProvider", p.Command))
	}
	if err != nil {
		err = failed(err)
		if c.client.HidesErrors() && ctx.Err() == nil {
			c.tell(ctx, protocol.MessageTypeError, "agentls: "+err.Error())
		}
		return nil, err
	}
	if !c.client.KnowsProtocol() {
		c.pages.present(ctx, result)
		if _, ok := result.(*methods.Transcript); ok {
			c.pages.presentTranscript(p.Arguments)
		}
	}
	return result, nil
}
