package lsp

import (
	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/delivery"
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
		edit := delivery.EditOf(s.client, doc, protocol.TextEdit{
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
