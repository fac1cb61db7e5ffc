package lending

import (
	"cmp"
	"context"
	"fmt"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/methods"
)

// LendsSymbols reports whether the editor answers `agent/symbols`.
func (l *Lender) LendsSymbols() bool { return l.Client.Announced().Symbols }

// LendsDiagnostics reports whether the editor answers `agent/diagnostics`.
func (l *Lender) LendsDiagnostics() bool { return l.Client.Announced().Diagnostics }

// Symbols asks the editor's own language servers.
func (l *Lender) Symbols(ctx context.Context, q tool.SymbolQuery) ([]tool.Symbol, error) {
	p := &methods.SymbolsParams{Query: methods.SymbolQuery(q.Kind)}
	switch q.Kind {
	case tool.ListWorkspace:
		p.Name = q.Name
	case tool.FindDefinition, tool.FindReferences:
		x, err := l.shown(q.Path)
		if err != nil {
			return nil, err
		}
		at := l.Documents.Encoding.Span(x,
			event.Span{StartLine: q.Line, StartColumn: q.Column, EndLine: q.Line, EndColumn: q.Column})
		p.Position = &at.Start
	}
	if q.Path != "" && q.Kind != tool.ListWorkspace {
		p.URI = uri.File(q.Path)
	}
	answer, err := l.Client.Custom.Symbols(ctx, p)
	if err != nil {
		return nil, err
	}
	texts := map[string]*workspace.Index{}
	var list []tool.Symbol
	for _, s := range answer.Symbols {
		path := document.Path(s.URI)
		if path == string(s.URI) {
			continue // no file, such as one inside an archive
		}
		list = append(list, tool.Symbol{
			Path: path, Span: l.spanOf(texts, path, s.Range), Name: s.Name, Kind: s.Kind, Container: s.Container,
		})
	}
	return list, nil
}

// Diagnostics returns what the editor's own language servers say of a file.
func (l *Lender) Diagnostics(ctx context.Context, path string) ([]tool.Diagnostic, error) {
	answer, err := l.Client.Custom.Diagnostics(ctx, &methods.EditorDiagnosticsParams{URI: uri.File(path)})
	if err != nil {
		return nil, err
	}
	texts := map[string]*workspace.Index{}
	var list []tool.Diagnostic
	for _, d := range answer.Documents {
		if document.Path(d.URI) != path {
			continue
		}
		if err := l.Documents.Reach(ctx, path, d.Version); err != nil {
			return nil, err
		}
		for _, one := range d.Diagnostics {
			list = append(list, tool.Diagnostic{
				Path: path, Span: l.spanOf(texts, path, one.Range), Severity: event.Severity(one.Severity),
				Source: cmp.Or(one.Source, "editor"), Code: one.Code, Message: one.Message,
			})
		}
	}
	return list, nil
}

// shown is the text of a file as the editor shows it, by its lines. The view refuses files that look like secrets, also
// open ones.
func (l *Lender) shown(path string) (*workspace.Index, error) {
	file, err := l.View.Read(path)
	if err != nil {
		return nil, fmt.Errorf("read what the editor shows: %w", err)
	}
	return workspace.NewIndex(file.Text), nil
}

// spanOf is a range of the editor with columns in bytes. In a file that cannot be read, such as one of a library, the
// columns stay as the editor sent them.
func (l *Lender) spanOf(texts map[string]*workspace.Index, path string, r protocol.Range) event.Span {
	x, known := texts[path]
	if !known {
		x, _ = l.shown(path) // nil where it cannot be read
		texts[path] = x
	}
	span := event.Span{
		StartLine: int(r.Start.Line), StartColumn: int(r.Start.Character), EndLine: int(r.End.Line),
		EndColumn: int(r.End.Character),
	}
	if x == nil {
		return span
	}
	e := l.Documents.Encoding
	span.StartColumn, span.EndColumn = e.Column(x, r.Start), e.Column(x, r.End)
	return span
}
