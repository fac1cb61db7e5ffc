package servers

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/langserver"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// symbolTime bounds a question to a language server, its start included.
	symbolTime = 90 * time.Second
	// EditorTime bounds what the editor is asked about its documents.
	EditorTime = 10 * time.Second
	// maxCounted is how many files are looked at to find out what a workspace is written in.
	maxCounted = 3000
)

// Editor lends its own language servers. Its methods may be called from any goroutine.
type Editor interface {
	// LendsSymbols reports whether it answers Symbols. It never waits.
	LendsSymbols() bool
	// Symbols asks them, on the text that the editor shows.
	Symbols(ctx context.Context, query tool.SymbolQuery) ([]tool.Symbol, error)
}

// Asking is the run that asks a language server.
type Asking struct {
	Caller
	Config *config.Config
	// Layer is what the run sees.
	Layer *workspace.Layer
	// Editor is nil where there is none.
	Editor Editor
	// Withholds says why a program that reads the project's own code may not run, or nothing.
	Withholds func(argv []string) string
	// Progress tells people what is waited for.
	Progress func(message string)
}

// Symbols asks the editor where it lends its servers and shows what the run sees, else a language server of the
// session.
func (s *Set) Symbols(ctx context.Context, q tool.SymbolQuery, a Asking) (tool.Symbols, error) {
	ctx, cancel := context.WithTimeout(ctx, symbolTime)
	defer cancel()
	if list, ok := s.editorSymbols(ctx, q, a); ok {
		return tool.Symbols{List: list, Source: "the editor's language server"}, nil
	}
	about := q.Path
	if about == "" {
		about = typical(ctx, a.Layer.Fork(), folders(s.setup.View), a.Config)
	}
	server, installed := languageFor(a.Config, about)
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
	if reason := a.Withholds(server.Command); reason != "" {
		return tool.Symbols{}, &tool.WithheldError{Reason: reason}
	}
	a.Progress("waiting for " + server.Command[0])
	client, done, err := s.asking(ctx, server, q.Path, a)
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
			Path: asOpened(folders(s.setup.View), p.Path), Name: p.Name, Kind: p.Kind, Container: p.Container,
			Span: event.Span{StartLine: p.Line, StartColumn: p.Column, EndLine: p.EndLine, EndColumn: p.EndColumn},
		})
	}
	return found, nil
}

// asOpened is a path below a workspace folder as the folder was opened, where a server names it without symbolic links.
func asOpened(folders []string, path string) string {
	for _, root := range folders {
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
func (s *Set) editorSymbols(ctx context.Context, q tool.SymbolQuery, a Asking) ([]tool.Symbol, bool) {
	if a.Editor == nil || !a.Editor.LendsSymbols() || !seesWhatTheEditorShows(a.Layer.Fork(), s.setup.View, q.Path) {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, EditorTime)
	defer cancel()
	list, err := a.Editor.Symbols(ctx, q)
	if err != nil {
		s.setup.Logger.Warn("the editor lends no symbols", "error", err)
	}
	return list, err == nil && len(list) > 0 // else a server of ours may know more
}

// seesWhatTheEditorShows reports whether a fork of a run's layer has the editor's text of a file, and of all files like
// it.
func seesWhatTheEditorShows(layer *workspace.Layer, view *workspace.View, path string) bool {
	for changed := range layer.Snapshot().Files() {
		if path != "" && filepath.Ext(changed) != filepath.Ext(path) {
			continue
		}
		own, err := layer.Read(changed)
		shown, missing := view.Read(changed)
		if (err == nil) != (missing == nil) || own.Stamp != shown.Stamp {
			return false
		}
	}
	return true
}

// typical is a file of the kind that the workspace has most of among those that a language server is installed for;
// empty for none.
func typical(ctx context.Context, layer *workspace.Layer, folders []string, cfg *config.Config) string {
	counts, samples := map[string]int{}, map[string]string{}
	seen := 0
	for _, root := range folders {
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
		server, there := languageFor(cfg, samples[ext])
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

// folders are the workspace folders as they are now.
func folders(view *workspace.View) []string {
	var list []string
	for _, root := range view.Roots() {
		list = append(list, root.Path)
	}
	return list
}
