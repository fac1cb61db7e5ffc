package lsp

import (
	"maps"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/surface"
)

// remarks collects what a file shows: findings, hunks, questions, and the problems of files that people write for
// agentls. Its methods may be called from any goroutine.
type remarks struct {
	*window
	launches *surface.Launches
	asks     *asker
	authored *authored
}

// of returns the diagnostics of all remarks on a file, at their places in the text.
func (r *remarks) of(path string, x *workspace.Index, open bool) []protocol.Diagnostic {
	return slices.Concat(r.diagnosticsOf(r.opened(), path, x), r.asks.diagnostics(path, x),
		r.authored.diagnostics(path, x, open), r.refusals(path, x, open))
}

func (r *remarks) diagnosticsOf(session *agentcore.Session, path string, x *workspace.Index) []protocol.Diagnostic {
	list := []protocol.Diagnostic{}
	if session == nil {
		return list
	}
	fixes := map[event.HunkID]bool{}
	for _, f := range session.Board().Findings(path) {
		for _, id := range session.Board().Fix(f.ID) {
			fixes[id] = true
		}
		list = append(list, r.form.Finding(f, x))
	}
	for _, h := range session.Board().Hunks() {
		if h.Waits() && (h.Path == path || h.Create && r.host(h) == path) {
			d := r.form.Hunk(h, x)
			if fixes[h.ID] && h.State == event.StateOpen {
				d.Message = protocol.String("proposed edit: the fix of a finding") // the finding says the rest
			}
			list = append(list, d)
		}
	}
	return list
}

// hosts are the documents that show hunks of new files.
func (r *remarks) hosts(session *agentcore.Session) []string {
	now := map[string]bool{}
	for _, h := range session.Board().Hunks() {
		if !h.Create || !h.Waits() {
			continue
		}
		if path := r.host(h); path != "" {
			now[path] = true
		}
	}
	return slices.Collect(maps.Keys(now))
}

// host is the document in which a hunk is shown: its own or, for a new file, the document on which its run was
// launched; "" if there is none.
func (r *remarks) host(h workspace.Hunk) string {
	if !h.Create || r.documents.Get(h.Path) != nil {
		return h.Path
	}
	return r.launches.Path(h.Author.Run)
}

// listed are the files with remarks, beside the problems of files that people write for agentls.
func (r *remarks) listed() []string {
	var list []string
	if session := r.opened(); session != nil {
		list = session.Board().Remarked()
	}
	for _, ask := range r.asks.listedAsks() {
		if host := r.asks.host(ask); host != "" {
			list = append(list, host)
		}
	}
	return list
}
