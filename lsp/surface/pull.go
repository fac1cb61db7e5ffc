package surface

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/remark"
)

// Pull diagnostics (LSP 3.17). A client that can pull is not sure to do so, so diagnostics are pushed until its first
// pull; from then on open documents are pulled, and once it has pulled those of the workspace, all files. What it pulls
// is not pushed any more, so that nothing shows twice.

// pulls is what the client pulls, and was answered. The Diagnostics's lock guards it.
type pulls struct {
	documents, workspace bool
	// told are the result ids of what the client was last answered, by path.
	told map[string]string
}

// pulled reports whether the client pulls the diagnostics of a file. Its lock is held.
func (p *Diagnostics) pulled(path string) bool {
	return p.pulls.workspace || p.pulls.documents && p.Documents.Get(path) != nil
}

// answered notes what the client was answered for a file, and has it pushed no more.
func (p *Diagnostics) answered(path, result string, workspace bool) {
	if !p.Client.OffersPull() {
		return // somebody's request by hand
	}
	p.mu.Lock()
	first := !p.pulls.documents || workspace && !p.pulls.workspace
	p.pulls.documents = true
	p.pulls.workspace = p.pulls.workspace || workspace
	if path != "" {
		p.pulls.told[path] = result
	}
	p.mu.Unlock()
	if first {
		p.TouchShown()
	}
}

// Of are all diagnostics of a file, for the text of one version; -1 where it is not open.
func (p *Diagnostics) Of(ctx context.Context, path string) (list []protocol.Diagnostic, version int32, err error) {
	err = p.Documents.Read(ctx, func() {
		list = []protocol.Diagnostic{}
		x, shown, err := p.Documents.Text(path)
		version = shown
		if err == nil { // else nothing can be said of it
			list = append(list, p.remarks(path, x, version >= 0)...)
		}
	})
	return list, version, err
}

// Pull answers `textDocument/diagnostic`.
func (p *Diagnostics) Pull(ctx context.Context, asked *protocol.DocumentDiagnosticParams) (any, error) {
	path := document.Path(asked.TextDocument.URI)
	list, _, err := p.Of(ctx, path)
	if err != nil {
		return nil, err
	}
	id, err := remark.ResultID(list)
	if err != nil {
		return nil, err
	}
	p.answered(path, id, false)
	if asked.PreviousResultID != nil && *asked.PreviousResultID == id {
		return &protocol.RelatedUnchangedDocumentDiagnosticReport{UnchangedDocumentDiagnosticReport: unchanged(id)}, nil
	}
	return &protocol.RelatedFullDocumentDiagnosticReport{FullDocumentDiagnosticReport: full(id, list)}, nil
}

func unchanged(id string) protocol.UnchangedDocumentDiagnosticReport {
	return protocol.UnchangedDocumentDiagnosticReport{Kind: "unchanged", ResultID: id}
}

func full(id string, list []protocol.Diagnostic) protocol.FullDocumentDiagnosticReport {
	return protocol.FullDocumentDiagnosticReport{Kind: "full", ResultID: &id, Items: list}
}

// PullAll answers `workspace/diagnostic`: those of the open documents, of what else is remarked, and of the files that
// had some.
func (p *Diagnostics) PullAll(ctx context.Context, asked *protocol.WorkspaceDiagnosticParams,
	remarked []string,
) (any, error) {
	known := map[string]string{}
	uris := map[string]uri.URI{}
	for _, r := range asked.PreviousResultIds {
		path := document.Path(r.URI)
		known[path], uris[path] = r.Value, r.URI
	}
	paths := slices.Sorted(slices.Values(slices.Concat(p.Documents.Paths(), remarked,
		slices.Collect(maps.Keys(known)))))
	report := &protocol.WorkspaceDiagnosticReport{Items: []protocol.WorkspaceDocumentDiagnosticReport{}}
	for _, path := range slices.Compact(paths) {
		list, version, err := p.Of(ctx, path)
		if err != nil {
			return nil, err
		}
		id, err := remark.ResultID(list)
		if err != nil {
			return nil, err
		}
		p.answered(path, id, true)
		u := cmp.Or(uris[path], p.Documents.URI(path))
		var shown *int32
		if version >= 0 {
			shown = &version
		}
		previous, had := known[path]
		switch {
		case had && previous == id:
			report.Items = append(report.Items, &protocol.WorkspaceUnchangedDocumentDiagnosticReport{
				UnchangedDocumentDiagnosticReport: unchanged(id), URI: u, Version: shown,
			})
		case had || len(list) > 0:
			report.Items = append(report.Items, &protocol.WorkspaceFullDocumentDiagnosticReport{
				FullDocumentDiagnosticReport: full(id, list), URI: u, Version: shown,
			})
		}
	}
	p.answered("", "", true) // also where there was nothing to tell
	return report, nil
}
