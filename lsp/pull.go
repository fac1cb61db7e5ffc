package lsp

import (
	"context"
	"maps"
	"slices"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/remark"
)

// Pull diagnostics (LSP 3.17). A client that can pull is not sure to do so, so diagnostics are pushed until its first
// pull; from then on open documents are pulled, and once it has pulled those of the workspace, all files. What it pulls
// is not pushed any more, so that nothing shows twice.

// pulls is what the client pulls, and was answered. The publisher's lock guards it.
type pulls struct {
	documents, workspace bool
	// told are the result ids of what the client was last answered, by path.
	told map[string]string
}

// pulled reports whether the client pulls the diagnostics of a file. Its lock is held.
func (p *publisher) pulled(path string) bool {
	return p.pulls.workspace || p.pulls.documents && p.server.documents.Get(path) != nil
}

// answered notes what the client was answered for a file, and has it pushed no more.
func (p *publisher) answered(path, result string, workspace bool) {
	if !p.server.client.OffersPull() {
		return // somebody's request by hand
	}
	p.mu.Lock()
	first := !p.pulls.documents || workspace && !p.pulls.workspace
	p.pulls.documents = true
	p.pulls.workspace = p.pulls.workspace || workspace
	if p.pulls.told == nil {
		p.pulls.told = map[string]string{}
	}
	if path != "" {
		p.pulls.told[path] = result
	}
	p.mu.Unlock()
	if first {
		p.touchShown()
	}
}

// fileDiagnostics are all diagnostics of a file, for the text of one version; -1 where it is not open.
func (s *Server) fileDiagnostics(ctx context.Context, session *agentcore.Session,
	path string,
) (list []protocol.Diagnostic, version int32, err error) {
	err = s.documents.Read(ctx, func() {
		list = []protocol.Diagnostic{}
		x, shown, err := s.documents.Text(path)
		version = shown
		if err == nil {
			list = append(list, s.diagnosticsOf(session, path, x)...)
			list = append(list, s.askDiagnostics(path, x)...)
			list = append(list, s.authoredDiagnostics(path, x, version >= 0)...)
		}
	})
	return list, version, err
}

// documentDiagnostic answers `textDocument/diagnostic`.
func (s *Server) documentDiagnostic(ctx context.Context, p *protocol.DocumentDiagnosticParams) (any, error) {
	path := document.Path(p.TextDocument.URI)
	list, _, err := s.fileDiagnostics(ctx, s.opened(), path)
	if err != nil {
		return nil, err
	}
	id, err := remark.ResultID(list)
	if err != nil {
		return nil, err
	}
	s.diagnostics.answered(path, id, false)
	if p.PreviousResultID != nil && *p.PreviousResultID == id {
		return &protocol.RelatedUnchangedDocumentDiagnosticReport{
			UnchangedDocumentDiagnosticReport: protocol.UnchangedDocumentDiagnosticReport{
				Kind:     "unchanged",
				ResultID: id,
			},
		}, nil
	}
	return &protocol.RelatedFullDocumentDiagnosticReport{
		FullDocumentDiagnosticReport: protocol.FullDocumentDiagnosticReport{Kind: "full", ResultID: &id, Items: list},
	}, nil
}

// workspaceDiagnostic answers `workspace/diagnostic`: every file that has any, and those that had.
func (s *Server) workspaceDiagnostic(ctx context.Context, p *protocol.WorkspaceDiagnosticParams) (any, error) {
	known := map[string]string{}
	uris := map[string]uri.URI{}
	for _, r := range p.PreviousResultIds {
		path := document.Path(r.URI)
		known[path], uris[path] = r.Value, r.URI
	}
	paths := map[string]bool{}
	for _, path := range append(s.documents.Paths(), slices.Collect(maps.Keys(known))...) {
		paths[path] = true
	}
	if session := s.opened(); session != nil {
		for _, path := range session.Remarked() {
			paths[path] = true
		}
	}
	for _, ask := range s.asks.listedAsks() {
		if host := s.askHost(ask); host != "" {
			paths[host] = true
		}
	}
	report := &protocol.WorkspaceDiagnosticReport{Items: []protocol.WorkspaceDocumentDiagnosticReport{}}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		list, version, err := s.fileDiagnostics(ctx, s.opened(), path)
		if err != nil {
			return nil, err
		}
		id, err := remark.ResultID(list)
		if err != nil {
			return nil, err
		}
		s.diagnostics.answered(path, id, true)
		u := uris[path]
		if u == "" {
			u = s.documents.URI(path)
		}
		var shown *int32
		if version >= 0 {
			shown = &version
		}
		previous, had := known[path]
		switch {
		case had && previous == id:
			report.Items = append(report.Items, &protocol.WorkspaceUnchangedDocumentDiagnosticReport{
				UnchangedDocumentDiagnosticReport: protocol.UnchangedDocumentDiagnosticReport{
					Kind:     "unchanged",
					ResultID: id,
				}, URI: u, Version: shown,
			})
		case had || len(list) > 0:
			report.Items = append(report.Items, &protocol.WorkspaceFullDocumentDiagnosticReport{
				FullDocumentDiagnosticReport: protocol.FullDocumentDiagnosticReport{
					Kind: "full", ResultID: &id,
					Items: list,
				}, URI: u, Version: shown,
			})
		}
	}
	s.diagnostics.answered("", "", true) // also where there was nothing to tell
	return report, nil
}
