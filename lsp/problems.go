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

// diagnostics returns the diagnostics of a file of ours. Of one that is not open only the errors count: nobody
// looks after the details of a file that is used as it is.
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
