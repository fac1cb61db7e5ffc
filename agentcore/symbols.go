package agentcore

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/langserver"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// symbolTime bounds a question to a language server, its start included.
	symbolTime = 90 * time.Second
	// editorTime bounds what the editor is asked about its documents.
	editorTime = 10 * time.Second
	// maxCounted is how many files are looked at to find out what a workspace is written in.
	maxCounted = 3000
)

// Symbols asks the editor where it lends its servers and shows what the run sees, else a language server of the
// session.
func (h hostChecks) Symbols(ctx context.Context, q tool.SymbolQuery) (tool.Symbols, error) {
	r := h.run
	ctx, cancel := context.WithTimeout(ctx, symbolTime)
	defer cancel()
	if list, ok := h.editorSymbols(ctx, q); ok {
		return tool.Symbols{List: list, Source: "the editor's language server"}, nil
	}
	about := q.Path
	if about == "" {
		about = h.typical(ctx)
	}
	server, installed := languageFor(r.config, about)
	switch {
	case about == "":
		return tool.Symbols{}, &tool.WithheldError{
			Reason: "the workspace has no files of a language that a server is known for",
		}
	case server.Name == "":
		return tool.Symbols{}, &tool.WithheldError{
			Reason: fmt.Sprintf("no language server is known for %s; the user can set one in [languages]",
				cmp.Or("*"+filepath.Ext(about), filepath.Base(about))),
		}
	case !installed:
		return tool.Symbols{}, &tool.WithheldError{Reason: server.Command[0] + " is not on this machine"}
	}
	if reason := r.withholdsLanguages(server); reason != "" {
		return tool.Symbols{}, &tool.WithheldError{Reason: reason}
	}
	ofCall(h).progress("waiting for " + server.Command[0])
	client, done, err := r.asking(ctx, server, q.Path)
	if err != nil {
		return tool.Symbols{}, fmt.Errorf("%s: %w", server.Command[0], err)
	}
	defer done()
	var places []langserver.Place
	switch q.Kind {
	case tool.FindDefinition:
		places, err = client.Definition(ctx, q.Path, q.Line, q.Column)
	case tool.FindReferences:
		places, err = client.References(ctx, q.Path, q.Line, q.Column)
	case tool.ListDocument:
		places, err = client.Document(ctx, q.Path)
	default:
		places, err = client.Workspace(ctx, q.Name)
	}
	if err != nil {
		return tool.Symbols{}, fmt.Errorf("%s: %w", server.Command[0], err)
	}
	found := tool.Symbols{Source: filepath.Base(server.Command[0])}
	for _, p := range places {
		found.List = append(found.List, tool.Symbol{
			Path: h.asOpened(p.Path), Name: p.Name, Kind: p.Kind, Container: p.Container,
			Span: event.Span{StartLine: p.Line, StartColumn: p.Column, EndLine: p.EndLine, EndColumn: p.EndColumn},
		})
	}
	return found, nil
}

// asOpened is a path below a workspace folder as the folder was opened, where a server names it without symbolic links.
func (h hostChecks) asOpened(path string) string {
	for _, root := range h.run.session.view.Folders() {
		real, err := filepath.EvalSymlinks(root)
		if err != nil || real == root {
			continue
		}
		if rel, err := filepath.Rel(real, path); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(root, rel)
		}
	}
	return path
}

// editorSymbols asks the editor, unless the run sees anything else than what the editor shows.
func (h hostChecks) editorSymbols(ctx context.Context, q tool.SymbolQuery) ([]tool.Symbol, bool) {
	editor := h.run.engine.editor
	if editor == nil || !editor.LendsSymbols() || !h.seesWhatTheEditorShows(q.Path) {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, editorTime)
	defer cancel()
	list, err := editor.Symbols(ctx, q)
	if err != nil {
		h.run.engine.logger.Warn("the editor lends no symbols", "error", err)
	}
	return list, err == nil && len(list) > 0 // else a server of ours may know more
}

// seesWhatTheEditorShows reports whether the run's text of a file, and of all files like it, is the editor's.
func (h hostChecks) seesWhatTheEditorShows(path string) bool {
	layer := h.run.layer.Fork()
	for changed := range layer.Snapshot().Files() {
		if path != "" && filepath.Ext(changed) != filepath.Ext(path) {
			continue
		}
		own, err := layer.Read(changed)
		shown, missing := h.run.session.view.Read(changed)
		if (err == nil) != (missing == nil) || own.Stamp != shown.Stamp {
			return false
		}
	}
	return true
}

// typical is a file of the kind that the workspace has most of among those that a language server is installed for;
// empty for none.
func (h hostChecks) typical(ctx context.Context) string {
	layer := h.run.layer.Fork()
	counts, samples := map[string]int{}, map[string]string{}
	seen := 0
	for _, root := range h.run.session.view.Folders() {
		for entry, err := range layer.Walk(ctx, root, workspace.WalkOptions{}) {
			if seen++; err != nil || seen > maxCounted {
				break
			}
			if ext := filepath.Ext(entry.Path); !entry.Dir && ext != "" {
				counts[ext]++
				samples[ext] = entry.Path
			}
		}
	}
	best, installed := "", false
	for ext, n := range counts {
		server, there := languageFor(h.run.config, samples[ext])
		if server.Name == "" {
			continue
		}
		better := best == "" || there && !installed
		if there == installed && best != "" {
			better = n > counts[best] || n == counts[best] && ext < best
		}
		if better {
			best, installed = ext, there
		}
	}
	return samples[best]
}

// EditorDiagnostics asks the editor what its servers say of a file, where it lends that. They are about the text that
// it shows.
func (h hostChecks) EditorDiagnostics(ctx context.Context, path string) []tool.Diagnostic {
	editor := h.run.engine.editor
	if editor == nil || !editor.LendsDiagnostics() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, editorTime)
	defer cancel()
	list, err := editor.Diagnostics(ctx, path)
	if err != nil {
		h.run.engine.logger.Warn("the editor lends no diagnostics", "error", err)
		return nil
	}
	return slices.DeleteFunc(list, func(d tool.Diagnostic) bool { return d.Path != path })
}
