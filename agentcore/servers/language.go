package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/langserver"
	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// maxLanguageStarts is how often one language server is started in a session.
const maxLanguageStarts = 3

// languages are the language servers of a session, which its runs share. Each server is started when it is first
// needed, sees the texts of the run that asks, and ends with the session or when the workspace is no longer trusted.
// Its methods may be called from any goroutine.
type languages struct {
	mu      sync.Mutex
	closed  bool
	servers map[string]*language // by name
}

// language is one language server.
type language struct {
	starting chan struct{} // holds a token while somebody starts it

	mu     sync.Mutex // guards what follows
	client *langserver.Client
	starts int
	disk   uint64 // the state of the disk of which the server was told
}

// get returns a server, which need not be running yet.
func (l *languages) get(name string) (*language, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errors.New("the session has ended")
	}
	if l.servers == nil {
		l.servers = map[string]*language{}
	}
	if l.servers[name] == nil {
		l.servers[name] = &language{starting: make(chan struct{}, 1)}
	}
	return l.servers[name], nil
}

// end ends all servers and waits for that; a later question starts them again.
func (l *languages) end() {
	l.mu.Lock()
	servers := slices.Collect(maps.Values(l.servers))
	l.servers = nil
	l.mu.Unlock()
	for _, s := range servers {
		s.starting <- struct{}{} // wait until a start in progress is done
		s.mu.Lock()
		client := s.client
		s.client, s.starts = nil, maxLanguageStarts // for callers that still have it
		s.mu.Unlock()
		<-s.starting
		if client != nil {
			client.Close()
		}
	}
}

// close ends all servers for good.
func (l *languages) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.end()
}

// languageFor returns the server for a file, and whether it is installed.
func languageFor(cfg *config.Config, path string) (server langserver.Server, installed bool) {
	for _, s := range languagesOf(cfg) {
		if !s.Knows(path) {
			continue
		}
		if _, err := exec.LookPath(s.Command[0]); err == nil {
			return s, true
		}
		if server.Name == "" {
			server = s
		}
	}
	return server, false
}

// languagesOf are the servers of the configuration, followed by the well-known ones that it does not replace.
func languagesOf(cfg *config.Config) []langserver.Server {
	var list []langserver.Server
	for _, name := range slices.Sorted(maps.Keys(cfg.Languages)) {
		if set := cfg.Languages[name]; len(set.Command) > 0 && len(set.Files) > 0 {
			list = append(list, langserver.Server{Name: name, Command: set.Command, Files: set.Files})
		}
	}
	for _, s := range langserver.WellKnown() {
		set, replaced := cfg.Languages[s.Name]
		switch {
		case !replaced:
			list = append(list, s)
		case len(set.Command) > 0 && len(set.Files) == 0: // it replaces only the command
			s.Command = set.Command
			list = append(list, s)
		}
	}
	return list
}

// asking returns a server that sees what the run sees, and that no other caller uses until done is called.
func (s *Set) asking(ctx context.Context, spec langserver.Server, path string, a Asking) (
	client *langserver.Client, done func(), err error,
) {
	server, err := s.languages.get(spec.Name)
	if err != nil {
		return nil, nil, err
	}
	client, err = server.running(ctx, s.setup, a.Caller, spec)
	if err != nil {
		return nil, nil, err
	}
	server.mu.Lock()
	changed, now := s.setup.View.DiskChanges(server.disk)
	server.disk = now
	server.mu.Unlock()
	changed = slices.DeleteFunc(changed,
		func(path string) bool { return !spec.Knows(path) && filepath.Ext(path) != ".mod" })
	done, err = client.Use(ctx, textsFor(a.Layer.Fork(), spec, path), changed)
	return client, done, err
}

// textsFor are the texts of a fork of a run's layer that differ from the disk, of files that the server knows, and the
// text of the file in question.
func textsFor(layer *workspace.Layer, spec langserver.Server, path string) []langserver.Text {
	var texts []langserver.Text
	seen := map[string]bool{}
	add := func(path string) {
		if seen[path] || !spec.Knows(path) {
			return
		}
		seen[path] = true
		file, err := layer.Read(path)
		if err != nil {
			file.Text = "" // the run has removed the file
		}
		texts = append(texts, langserver.Text{Path: path, Text: file.Text})
	}
	for changed := range layer.Snapshot().Files() {
		add(changed)
	}
	if path != "" {
		add(path)
	}
	return texts
}

// running returns the server's client. It starts the server if it is not running.
func (s *language) running(ctx context.Context, setup Setup, c Caller, spec langserver.Server) (
	*langserver.Client, error,
) {
	select {
	case s.starting <- struct{}{}:
		defer func() { <-s.starting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	client, starts := s.client, s.starts
	s.mu.Unlock()
	if client != nil {
		select {
		case <-client.Ended():
		default:
			return client, nil
		}
	}
	if starts >= maxLanguageStarts {
		return nil, fmt.Errorf("%s has ended %d times in this session and is not started again",
			spec.Command[0], starts)
	}
	_, now := setup.View.DiskChanges(0)
	client, err := startLanguage(ctx, setup, c, spec)
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() == nil {
		s.starts++
	}
	s.client, s.disk = client, now
	return client, err
}

// startLanguage starts a server in a sandbox of its own, without network. The server sees the folders as they are on
// the disk, even if they change later, and cannot change anything.
func startLanguage(ctx context.Context, setup Setup, c Caller, spec langserver.Server) (*langserver.Client, error) {
	ignored := setup.Proposal.Fork().Ignored()
	options, _, err := c.Sandbox.Options(func() *workspace.Ignored { return ignored })
	if err != nil {
		return nil, err
	}
	live, err := command.Live(ctx, options, sandbox.Command{Argv: spec.Command, Offline: true},
		func(exit process.Exit, words []byte, err error) string {
			return setup.Redactor.Text(command.Ending("it", exit, words, err))
		})
	if err != nil {
		return nil, err
	}
	layer := setup.Proposal.Fork()
	return langserver.Start(ctx, live, langserver.Options{
		Roots: folders(setup.View), Server: spec,
		Read: func(path string) (string, bool) {
			file, err := layer.Fork().Read(path)
			return file.Text, err == nil
		},
	})
}

const (
	// symbolTime bounds a question to a language server, with its start.
	symbolTime = 90 * time.Second
	// EditorTime bounds a question to the editor about its documents.
	EditorTime = 10 * time.Second
	// maxCounted is how many files are looked at to find the language of a workspace.
	maxCounted = 3000
)

// Editor lends its own language servers. Its methods may be called from any goroutine.
type Editor interface {
	// LendsSymbols reports whether the editor answers Symbols. It never waits.
	LendsSymbols() bool
	// Symbols asks the editor's language servers, about the texts that the editor shows.
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
	// Withholds says why a program that reads the project's own code may not run, empty if it may.
	Withholds func(argv []string) string
	// Progress tells people what is waited for.
	Progress func(message string)
}

// Symbols asks the editor if it lends its servers and shows what the run sees, or else a language server of the
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

// asOpened converts a path that a server names without symbolic links to a path below the workspace folder as it was
// opened.
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

// editorSymbols asks the editor, unless the run sees other texts than the editor shows.
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
	return list, err == nil && len(list) > 0 // without an answer, the session's server may know more
}

// seesWhatTheEditorShows reports whether a fork of a run's layer has the editor's text of a file, and of all files of
// its kind.
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

// typical is a file of the most frequent kind in the workspace, among the kinds for which a language server is
// installed; empty for none.
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
