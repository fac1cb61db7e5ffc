package lsp

import (
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/position"
)

// authoredDiagnostics returns the diagnostics of a file of ours. Of one that is not open only the errors count: nobody
// looks after the details of a file that is used as it is.
func (s *Server) authoredDiagnostics(path string, x *workspace.Index, open bool) []protocol.Diagnostic {
	kind := s.authoredKind(path)
	if kind == authoring.None {
		return nil
	}
	var list []protocol.Diagnostic
	for _, p := range authoring.NewSheet(kind, path, x, s.documents.Encoding).Problems(s.reloader.vocabulary()) {
		if open || p.Severity == event.SeverityError {
			list = append(list, s.form.Problem(kind, p, x))
		}
	}
	return list
}

// authoredActions mend what is wrong on the lines of an open document of ours.
func (s *Server) authoredActions(path string, r protocol.Range) []menu.Action {
	doc := s.documents.Get(path)
	if doc == nil || doc.Kind == authoring.None {
		return nil
	}
	first, last := position.Touched(r)
	var list []menu.Action
	for _, p := range s.sheet(doc).Problems(s.reloader.vocabulary()) {
		if p.Fix == nil || !position.Overlap(p.Span.StartLine, p.Span.EndLine, first, last) {
			continue
		}
		d := s.form.Problem(doc.Kind, p, doc.Index())
		edit := s.textEdit(doc, protocol.TextEdit{
			Range:   s.documents.Encoding.Span(doc.Index(), p.Fix.Span),
			NewText: p.Fix.New,
		})
		list = append(list, menu.Action{
			Title: "agentls: " + p.Fix.Title, Kind: protocol.CodeActionKindQuickFix,
			Diagnostic: &d, Preferred: true, Edit: &edit,
		})
	}
	return list
}

// textEdit is an edit of one document, with its version where the client takes that.
func (s *Server) textEdit(doc *document.Document, edit protocol.TextEdit) protocol.WorkspaceEdit {
	if !s.client.TakesDocumentChanges() {
		return protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{doc.URI: {edit}}}
	}
	change := &protocol.TextDocumentEdit{}
	change.TextDocument.URI, change.TextDocument.Version = doc.URI, &doc.Version
	change.Edits = append(change.Edits, &edit)
	return protocol.WorkspaceEdit{DocumentChanges: []protocol.DocumentChange{change}}
}
