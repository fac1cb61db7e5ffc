package lsp

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/delivery"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/position"
)

// authored helps with the files that people write for agentls. Its methods may be called from any goroutine.
type authored struct {
	*editor
	// vocabulary is what these files can name.
	vocabulary func() *authoring.Vocabulary
}

// sheet outlines a document that is ours.
func (a *authored) sheet(doc *document.Document) *authoring.Sheet {
	return authoring.NewSheet(doc.Kind, doc.Path, doc.Index(), a.documents.Encoding)
}

// sheetOf outlines a document of ours as it was open when the request was read; nil for any other.
func (a *authored) sheetOf(ctx context.Context, path string) *authoring.Sheet {
	doc := a.documents.At(ctx).Get(path)
	if doc == nil || doc.Kind == authoring.None {
		return nil
	}
	return a.sheet(doc)
}

// completion answers `textDocument/completion` in the files that people write for agentls, and null in any other.
func (a *authored) completion(ctx context.Context, p *protocol.CompletionParams) (protocol.CompletionResult, error) {
	sheet := a.sheetOf(ctx, document.Path(p.TextDocument.URI))
	if sheet == nil {
		return nil, nil
	}
	return sheet.Complete(a.vocabulary(), p.Position, a.client.CompletionDoc), nil
}

// documentSymbol answers `textDocument/documentSymbol` for the files that people write for agentls, and null for any
// other.
func (a *authored) documentSymbol(ctx context.Context,
	p *protocol.DocumentSymbolParams,
) (protocol.DocumentSymbolResult, error) {
	sheet := a.sheetOf(ctx, document.Path(p.TextDocument.URI))
	if sheet == nil {
		return nil, nil
	}
	tree := sheet.Symbols()
	if client.Yes(a.client.Symbols().HierarchicalDocumentSymbolSupport) {
		return protocol.DocumentSymbolSlice(tree), nil
	}
	return protocol.SymbolInformationSlice(authoring.Flattened(tree, p.TextDocument.URI)), nil
}

// folds answers `textDocument/foldingRange` in conversations, and null in any other document.
func (a *authored) folds(ctx context.Context, p *protocol.FoldingRangeParams) ([]protocol.FoldingRange, error) {
	sheet := a.sheetOf(ctx, document.Path(p.TextDocument.URI))
	if sheet == nil {
		return nil, nil
	}
	return sheet.Folds(), nil
}

// The registrations of the language features. A client that takes registrations asks us only about our own files. To
// any other client, the features are announced for all documents, and answered with null at once for files that are not
// ours.

// announce announces the features to a client that has them but takes no registrations for them.
func announce(to *client.Client, c *protocol.ServerCapabilities) {
	t := to.TextDocument()
	if t.Completion != nil && !client.Yes(t.Completion.DynamicRegistration) {
		c.CompletionProvider = &protocol.CompletionOptions{}
	}
	if t.Hover != nil && !client.Yes(t.Hover.DynamicRegistration) {
		c.HoverProvider = protocol.Boolean(true)
	}
	if t.DocumentSymbol != nil && !client.Yes(t.DocumentSymbol.DynamicRegistration) {
		c.DocumentSymbolProvider = protocol.Boolean(true)
	}
	if t.FoldingRange != nil && !client.Yes(t.FoldingRange.DynamicRegistration) {
		c.FoldingRangeProvider = protocol.Boolean(true)
	}
}

// register registers the features that are not announced.
func (a *authored) register(ctx context.Context) {
	a.warn(ctx, "the editor takes no help for agentls's own files", a.registrations(ctx))
}

// registrations registers the features with a client that takes registrations. Package surface registers hovers, which
// are about runs, too.
func (a *authored) registrations(ctx context.Context) error {
	selector := authoring.Selector(a.options.Dirs.File)
	where := protocol.TextDocumentRegistrationOptions{DocumentSelector: &selector}
	var list []protocol.Registration
	add := func(announced *bool, method string, options any) error {
		if !client.Yes(announced) {
			return nil
		}
		one, err := client.Registration(method, method, options)
		list = append(list, one)
		return err
	}
	if err := add(a.client.Completion().DynamicRegistration, protocol.MethodTextDocumentCompletion,
		&protocol.CompletionRegistrationOptions{
			TextDocumentRegistrationOptions: where,
			CompletionOptions:               protocol.CompletionOptions{TriggerCharacters: authoring.Triggers()},
		}); err != nil {
		return err
	}
	if err := add(a.client.Symbols().DynamicRegistration, protocol.MethodTextDocumentDocumentSymbol,
		&protocol.DocumentSymbolRegistrationOptions{TextDocumentRegistrationOptions: where}); err != nil {
		return err
	}
	talks := authoring.Conversations()
	if err := add(a.client.Folds().DynamicRegistration, protocol.MethodTextDocumentFoldingRange,
		&protocol.FoldingRangeRegistrationOptions{
			TextDocumentRegistrationOptions: protocol.TextDocumentRegistrationOptions{DocumentSelector: &talks},
		}); err != nil {
		return err
	}
	if len(list) == 0 {
		return nil
	}
	return a.client.RegisterAll(ctx, list...)
}

// diagnostics returns the diagnostics of a file of ours. For a file that is not open, these are only the errors, since
// nobody is working on it.
func (a *authored) diagnostics(path string, x *workspace.Index, open bool) []protocol.Diagnostic {
	kind := a.authoredKind(path)
	if kind == authoring.None {
		return nil
	}
	var list []protocol.Diagnostic
	for _, p := range authoring.NewSheet(kind, path, x, a.documents.Encoding).Problems(a.vocabulary()) {
		if open || p.Severity == event.SeverityError {
			list = append(list, a.form.Problem(kind, p, x))
		}
	}
	return list
}

// actions mend what is wrong on the lines of an open document of ours.
func (a *authored) actions(path string, r protocol.Range) []menu.Action {
	doc := a.documents.Get(path)
	if doc == nil || doc.Kind == authoring.None {
		return nil
	}
	first, last := position.Touched(r)
	var list []menu.Action
	for _, p := range a.sheet(doc).Problems(a.vocabulary()) {
		if p.Fix == nil || !position.Overlap(p.Span.StartLine, p.Span.EndLine, first, last) {
			continue
		}
		d := a.form.Problem(doc.Kind, p, doc.Index())
		edit := delivery.EditOf(a.client, doc, protocol.TextEdit{
			Range:   a.documents.Encoding.Span(doc.Index(), p.Fix.Span),
			NewText: p.Fix.New,
		})
		list = append(list, menu.Action{
			Title: "agentls: " + p.Fix.Title, Kind: protocol.CodeActionKindQuickFix,
			Diagnostic: &d, Preferred: true, Edit: &edit,
		})
	}
	return list
}
