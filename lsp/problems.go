package lsp

import (
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/document"
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
			list = append(list, s.problemDiagnostic(kind, p, x))
		}
	}
	return list
}

func (s *Server) problemDiagnostic(kind authoring.Kind, p agent.Problem, x *workspace.Index) protocol.Diagnostic {
	message := p.Message
	if p.Hint != "" {
		message += "; " + p.Hint
	}
	d := s.diagnostic(s.documents.Encoding.Span(x, p.Span), severities[p.Severity], message, diagnosticData{})
	d.Code = protocol.String(kind.Code())
	return d
}

// authoredActions mend what is wrong on the lines of an open document of ours.
func (s *Server) authoredActions(path string, r protocol.Range) []action {
	doc := s.documents.Get(path)
	if doc == nil || doc.Kind == authoring.None {
		return nil
	}
	first, last := position.Touched(r)
	var list []action
	for _, p := range s.sheet(doc).Problems(s.reloader.vocabulary()) {
		if p.Fix == nil || !position.Overlap(p.Span.StartLine, p.Span.EndLine, first, last) {
			continue
		}
		d := s.problemDiagnostic(doc.Kind, p, doc.Index())
		edit := s.textEdit(doc, protocol.TextEdit{
			Range:   s.documents.Encoding.Span(doc.Index(), p.Fix.Span),
			NewText: p.Fix.New,
		})
		list = append(list, action{
			title: "agentls: " + p.Fix.Title, kind: protocol.CodeActionKindQuickFix,
			diagnostic: &d, preferred: true, edit: &edit,
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

// editActionOf gives an action with an edit the form that the client takes; nil for a client that knows only commands.
func (s *Server) editActionOf(a action) protocol.CommandOrCodeAction {
	if !s.client.TakesCodeActions() {
		return nil
	}
	shown := &protocol.CodeAction{
		Title: a.title, Kind: &a.kind, Edit: a.edit,
		Diagnostics: []protocol.Diagnostic{*a.diagnostic},
	}
	if a.preferred && client.Yes(s.client.CodeAction().IsPreferredSupport) {
		shown.IsPreferred = new(true)
	}
	return shown
}
