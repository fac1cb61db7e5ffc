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

// completion completes in the files that people write for agentls; the answer is null in any other.
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
	if t.DocumentLink != nil && !client.Yes(t.DocumentLink.DynamicRegistration) {
		c.DocumentLinkProvider = &protocol.DocumentLinkOptions{ResolveProvider: new(true)}
	}
}

// conversationCompletion is the id of the completion in conversations, which has other triggers.
const conversationCompletion = protocol.MethodTextDocumentCompletion + "/conversation"

// register registers the features that are not announced.
func (a *authored) register(ctx context.Context) {
	a.warn(ctx, "the editor takes no help for agentls's own files", a.registrations(ctx))
}

// registrations registers the features with a client that takes registrations. Package surface registers hovers, which
// are about runs, too.
func (a *authored) registrations(ctx context.Context) error {
	ours := authoring.Selector(a.options.Dirs.File)
	files, talks := authoring.Files(a.options.Dirs.File), authoring.Conversations()
	in := func(s *protocol.DocumentSelector) protocol.TextDocumentRegistrationOptions {
		return protocol.TextDocumentRegistrationOptions{DocumentSelector: s}
	}
	completion := func(s *protocol.DocumentSelector, triggers []string) *protocol.CompletionRegistrationOptions {
		return &protocol.CompletionRegistrationOptions{
			TextDocumentRegistrationOptions: in(s),
			CompletionOptions:               protocol.CompletionOptions{TriggerCharacters: triggers},
		}
	}
	completes, symbols, folds := a.client.Completion(), a.client.Symbols(), a.client.Folds()
	var links protocol.DocumentLinkClientCapabilities
	if l := a.client.TextDocument().DocumentLink; l != nil {
		links = *l
	}
	var list []protocol.Registration
	for _, one := range []struct {
		taken      *bool
		id, method string
		options    any
	}{
		{
			completes.DynamicRegistration, protocol.MethodTextDocumentCompletion, protocol.MethodTextDocumentCompletion,
			completion(&files, authoring.Triggers()),
		},
		{
			completes.DynamicRegistration, conversationCompletion, protocol.MethodTextDocumentCompletion,
			completion(&talks, authoring.PromptTriggers()),
		},
		{
			symbols.DynamicRegistration, protocol.MethodTextDocumentDocumentSymbol,
			protocol.MethodTextDocumentDocumentSymbol,
			&protocol.DocumentSymbolRegistrationOptions{TextDocumentRegistrationOptions: in(&ours)},
		},
		{
			folds.DynamicRegistration, protocol.MethodTextDocumentFoldingRange, protocol.MethodTextDocumentFoldingRange,
			&protocol.FoldingRangeRegistrationOptions{TextDocumentRegistrationOptions: in(&talks)},
		},
		{
			links.DynamicRegistration, protocol.MethodTextDocumentDocumentLink, protocol.MethodTextDocumentDocumentLink,
			&protocol.DocumentLinkRegistrationOptions{
				TextDocumentRegistrationOptions: in(&talks),
				DocumentLinkOptions:             protocol.DocumentLinkOptions{ResolveProvider: new(true)},
			},
		},
	} {
		if !client.Yes(one.taken) {
			continue
		}
		r, err := client.Registration(one.id, one.method, one.options)
		if err != nil {
			return err
		}
		list = append(list, r)
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
