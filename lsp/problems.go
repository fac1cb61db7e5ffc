package lsp

import (
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/spelling"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/outline"
)

// codes tell an editor's list of problems what kind of file one is in.
var codes = map[authored]string{definitionText: "agent", skillText: "skill", configText: "config"}

// authoredProblems returns what is wrong with a text of ours, by the code that loads it.
func (s *Server) authoredProblems(kind authored, path, text string) []agent.Problem {
	v := s.reloader.vocabulary()
	switch kind {
	case definitionText:
		file := agent.Parse(path, text)
		file.Validate(v.known())
		return file.Problems
	case skillText:
		return skill.Parse(path, text).Problems
	case configText:
		layer := config.LayerProject
		if path == s.options.Dirs.File {
			layer = config.LayerUser
		}
		return append(newSheet(kind, path, text).configProblems(v, layer), agent.UnseenProblems(path, text)...)
	}
	return nil
}

// configProblems returns what is wrong with a configuration by itself, and the names in it that nothing has.
func (t *sheet) configProblems(v *vocabulary, layer config.Layer) []agent.Problem {
	text := t.outline.Text
	x := workspace.NewIndex(text)
	var list []agent.Problem
	for _, p := range config.Check([]byte(text), layer, t.path) {
		severity := event.SeverityWarning
		if p.Severity == config.SeverityError {
			severity = event.SeverityError
		}
		offset := 0
		if p.Line > 0 {
			line := min(p.Line-1, max(x.Len()-1, 0))
			offset = min(x.Start(line)+p.Column-1, len(text))
		}
		place := t.outline.At(offset)
		span := place.Word
		if span.Start == span.End {
			span.End = offset + len(firstLine(text[offset:]))
		}
		problem := agent.Problem{File: t.path, Span: spanOf(x, span), Severity: severity, Key: p.Key, Message: p.Message, Hint: p.Hint}
		if place.Kind == outline.Key {
			problem.Fix = t.respelt(x, place)
		}
		list = append(list, problem)
	}
	for _, n := range t.outline.Nodes {
		if problem, wrong := t.unknownName(v, x, n); wrong {
			list = append(list, problem)
		}
	}
	return list
}

// respelt replaces a key that is not known here by the nearest that is.
func (t *sheet) respelt(x *workspace.Index, place outline.Place) *agent.Fix {
	var known []string
	for _, k := range t.below(place.Path) {
		known = append(known, k.name())
	}
	word := place.Word.In(t.outline.Text)
	near := spelling.Nearest(word, known)
	if near == "" || slices.Contains(known, word) || slices.Contains(known, "*") {
		return nil
	}
	return &agent.Fix{Title: "Replace " + word + " by " + near, Span: spanOf(x, place.Word), New: near}
}

// unknownName finds a name in the configuration that nothing has.
func (t *sheet) unknownName(v *vocabulary, x *workspace.Index, n outline.Node) (agent.Problem, bool) {
	k, known := t.find(n.Path)
	quoted := n.Value.In(t.outline.Text)
	if !known || k.names == "" || len(quoted) < 3 || !strings.ContainsAny(quoted[:1], `"'`) || quoted[len(quoted)-1] != quoted[0] {
		return agent.Problem{}, false
	}
	at := outline.Span{Start: n.Value.Start + 1, End: n.Value.End - 1}
	name := at.In(t.outline.Text)
	var names []string
	has := false
	switch k.names {
	case "agent":
		for _, w := range v.words("agent") {
			names = append(names, w.name)
		}
		has = slices.Contains(v.registry.Names(), name)
	case "model":
		provider, _, qualified := strings.Cut(name, "/")
		names = v.known().Presets
		has = slices.Contains(names, name) || qualified && slices.Contains(v.known().Providers, provider)
		if qualified {
			for _, p := range v.known().Providers {
				names = append(names, p+strings.TrimPrefix(name, provider))
			}
		}
		// A preset or provider of this very text counts before it is saved.
		for _, other := range t.outline.Nodes {
			if len(other.Path) > 1 && (other.Path[0] == "presets" && other.Path[1] == name || qualified && other.Path[0] == "providers" && other.Path[1] == provider) {
				has = true
			}
		}
		if !qualified && len(names) == 0 {
			has = true // a bare model, which the only provider may know
		}
	case "tool":
		for _, w := range v.words("tool") {
			names = append(names, w.name)
		}
		_, resolves := v.known().ResolveTool(name)
		has = resolves || strings.ContainsAny(name, "*?[")
	}
	if has {
		return agent.Problem{}, false
	}
	p := agent.Problem{
		File: t.path, Span: spanOf(x, at), Severity: event.SeverityWarning, Key: strings.Join(n.Path, "."),
		Message: "there is no " + k.names + " " + name,
	}
	if near := spelling.Nearest(name, names); near != "" {
		p.Hint = "did you mean " + near + "?"
		p.Fix = &agent.Fix{Title: "Replace " + name + " by " + near, Span: p.Span, New: near}
	}
	return p, true
}

// spanOf is a part of a text by lines and columns.
func spanOf(x *workspace.Index, s outline.Span) event.Span {
	start, end := x.LineAt(s.Start), x.LineAt(s.End)
	return event.Span{StartLine: start, StartColumn: s.Start - x.Start(start), EndLine: end, EndColumn: s.End - x.Start(end)}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimRight(line, "\r")
}

// authoredDiagnostics returns the diagnostics of a file of ours. Of one that is not open only the errors count: nobody
// looks after the details of a file that is used as it is.
func (s *Server) authoredDiagnostics(path string, x *workspace.Index, open bool) []protocol.Diagnostic {
	kind := s.authoredKind(path)
	var list []protocol.Diagnostic
	for _, p := range s.authoredProblems(kind, path, x.Text()) {
		if open || p.Severity == event.SeverityError {
			list = append(list, s.problemDiagnostic(kind, p, x))
		}
	}
	return list
}

func (s *Server) problemDiagnostic(kind authored, p agent.Problem, x *workspace.Index) protocol.Diagnostic {
	message := p.Message
	if p.Hint != "" {
		message += "; " + p.Hint
	}
	d := s.diagnostic(s.documents.encoding.Span(x, p.Span), severities[p.Severity], message, diagnosticData{})
	d.Code = protocol.String(codes[kind])
	return d
}

// authoredActions mend what is wrong on the lines of an open document of ours.
func (s *Server) authoredActions(path string, r protocol.Range) []action {
	doc := s.documents.get(path)
	if doc == nil || doc.kind == notOurs {
		return nil
	}
	first, last := touchedLines(r)
	var list []action
	for _, p := range s.authoredProblems(doc.kind, path, doc.index().Text()) {
		if p.Fix == nil || !overlaps(p.Span.StartLine, p.Span.EndLine, first, last) {
			continue
		}
		d := s.problemDiagnostic(doc.kind, p, doc.index())
		edit := s.textEdit(doc, protocol.TextEdit{Range: s.documents.encoding.Span(doc.index(), p.Fix.Span), NewText: p.Fix.New})
		list = append(list, action{title: "agentls: " + p.Fix.Title, kind: protocol.CodeActionKindQuickFix, diagnostic: &d, preferred: true, edit: &edit})
	}
	return list
}

// textEdit is an edit of one document, with its version where the client takes that.
func (s *Server) textEdit(doc *document, edit protocol.TextEdit) protocol.WorkspaceEdit {
	if !s.client.TakesDocumentChanges() {
		return protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{doc.uri: {edit}}}
	}
	change := &protocol.TextDocumentEdit{}
	change.TextDocument.URI, change.TextDocument.Version = doc.uri, &doc.version
	change.Edits = append(change.Edits, &edit)
	return protocol.WorkspaceEdit{DocumentChanges: []protocol.DocumentChange{change}}
}

// editActionOf gives an action with an edit the form that the client takes; nil for a client that knows only commands.
func (s *Server) editActionOf(a action) protocol.CommandOrCodeAction {
	if !s.client.TakesCodeActions() {
		return nil
	}
	shown := &protocol.CodeAction{Title: a.title, Kind: &a.kind, Edit: a.edit, Diagnostics: []protocol.Diagnostic{*a.diagnostic}}
	if a.preferred && client.Yes(s.client.CodeAction().IsPreferredSupport) {
		shown.IsPreferred = pointer(true)
	}
	return shown
}
