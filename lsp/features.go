package lsp

import (
	"context"
	"fmt"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/lsp/conversation"
	"github.com/agentls/agentls/lsp/document"
)

// codeLens answers `textDocument/codeLens`.
func (c *connected) codeLens(_ context.Context, p *protocol.CodeLensParams) ([]protocol.CodeLens, error) {
	if conversation.Is(document.Path(p.TextDocument.URI)) {
		if settings := c.settings.current(); settings == nil || !settings.CodeLens {
			return nil, nil
		}
		return c.answers.lenses(p.TextDocument.URI)
	}
	if session := c.opened(); session != nil {
		return c.board.Lenses(p.TextDocument.URI, session.Board().ProposalID(), session.Board().Hunks())
	}
	return c.board.Lenses(p.TextDocument.URI, "", nil)
}

// cancelProgress ends the run of a progress on which the user has clicked "cancel".
func (c *connected) cancelProgress(p *protocol.WorkDoneProgressCancelParams) error {
	token, ok := p.Token.(protocol.String)
	if !ok || !c.board.Shows(event.RunID(token)) {
		return fmt.Errorf("there is no progress %v", p.Token)
	}
	if !c.ready() {
		return nil // without an engine there is no run
	}
	return c.engine.Cancel(event.RunID(token))
}

// workspaceDiagnostic answers `workspace/diagnostic`.
func (c *connected) workspaceDiagnostic(ctx context.Context, p *protocol.WorkspaceDiagnosticParams) (any, error) {
	return c.diagnostics.PullAll(ctx, p, c.remarks.listed())
}

// completion answers `textDocument/completion` in the files that people write for agentls, and null in any other.
func (c *connected) completion(ctx context.Context, p *protocol.CompletionParams) (protocol.CompletionResult, error) {
	if list, ok, err := c.answers.complete(ctx, p); ok || err != nil {
		return list, err
	}
	return c.authored.completion(ctx, p)
}

// hover answers `textDocument/hover` in the files that people write for agentls. In any document, it tells about the
// runs that are shown at the line. The answer is null where there is nothing to say.
func (c *connected) hover(ctx context.Context, p *protocol.HoverParams) (any, error) {
	path := document.Path(p.TextDocument.URI)
	if at, err := c.documents.Follow(ctx, path, protocol.Range{Start: p.Position, End: p.Position}); err == nil {
		if status := c.board.Hover(path, int(at.Start.Line)); status != "" {
			return &protocol.Hover{Contents: c.client.HoverText(status)}, nil
		}
	}
	if text, r, err := c.answers.explain(ctx, p.TextDocument.URI, p.Position); text != "" || err != nil {
		return &protocol.Hover{Contents: c.client.HoverText(text), Range: &r}, err
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
