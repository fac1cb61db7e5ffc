package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/remark"
	"github.com/agentls/agentls/lsp/wire"
)

// initializationOptions are ours beside the configuration keys, which may stand there too.
type initializationOptions struct {
	// Trusted is the editor's own answer whether the user trusts the workspace; nil where it has none.
	Trusted *bool `json:"trusted"`
}

// initialize answers with what the server can do. It runs on the reading goroutine and touches no disk.
func (s *Server) initialize(_ context.Context, p *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	s.client = client.New(s.conn, p, s.options.AnswerTime)
	s.trace.set(p.Trace)
	var offered []protocol.PositionEncodingKind
	if p.Capabilities.General != nil {
		offered = p.Capabilities.General.PositionEncodings
	}
	var options initializationOptions
	// Neovim writes an empty table as [].
	if raw := p.InitializationOptions; len(raw) > 0 && string(raw) != "null" && string(raw) != "[]" {
		// What is no object, or has no truth value there, is no answer; the former is told with the other settings.
		if err := json.Unmarshal(raw, &options); err != nil {
			options.Trusted = nil
		}
		s.settings.initial = json.RawMessage(raw)
	}
	view, err := workspace.Open(rootsOf(p), workspace.Options{})
	if err != nil {
		// A folder that cannot be opened is no reason to refuse an editor: its open documents still work.
		s.logger.Warn("a workspace folder cannot be opened", "error", err)
		if view, err = workspace.Open(nil, workspace.Options{}); err != nil {
			return nil, wire.InternalError(err)
		}
	}
	s.view = view
	s.documents = document.New(position.Negotiate(offered), view, s.authoredKind)
	s.form = remark.NewForm(s.client, s.documents.Encoding, view.Shown)
	s.surfaces()
	s.asks = newAsker(s)
	s.reloader = newReloader(s)
	s.trust = newTrust(s, options.Trusted)
	s.recovery = &recovery{server: s, looked: make(chan struct{})}
	return &protocol.InitializeResult{
		Capabilities: s.capabilities(),
		ServerInfo:   protocol.ServerInfo{Name: "agentls", Version: protocol.NewOptional(s.options.Version)},
	}, nil
}

func (s *Server) capabilities() protocol.ServerCapabilities {
	incremental := protocol.TextDocumentSyncKindIncremental
	c := protocol.ServerCapabilities{
		PositionEncoding: protocol.PositionEncodingKind(s.documents.Encoding),
		TextDocumentSync: &protocol.TextDocumentSyncOptions{
			OpenClose: new(true), Change: &incremental, Save: protocol.Boolean(true),
		},
		ExecuteCommandProvider: protocol.ExecuteCommandOptions{Commands: methods.Commands()},
		CodeActionProvider:     protocol.Boolean(true),
		Workspace: &protocol.WorkspaceOptions{
			WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{
				Supported:           new(true),
				ChangeNotifications: protocol.Boolean(true),
			},
		},
	}
	if s.client.TakesCodeActions() {
		c.CodeActionProvider = &protocol.CodeActionOptions{
			CodeActionKinds: []protocol.CodeActionKind{
				protocol.CodeActionKindQuickFix,
				protocol.CodeActionKindRefactorRewrite, menu.KindAgent,
			},
		}
	}
	if s.client.OffersPull() {
		c.DiagnosticProvider = &protocol.DiagnosticOptions{
			Identifier:           new(remark.Source),
			WorkspaceDiagnostics: !s.client.RefreshesWorkspaceAlone(),
		}
	}
	s.languageCapabilities(&c)
	if s.client.LensesAnnounced() {
		c.CodeLensProvider = &protocol.CodeLensOptions{}
	}
	if s.client.HintsAnnounced() {
		c.InlayHintProvider = protocol.Boolean(true)
	}
	c.Workspace.FileOperations = s.client.FileOperations()
	if s.client.TakesContent() {
		c.Workspace.TextDocumentContent = &protocol.TextDocumentContentOptions{Schemes: []string{document.Scheme}}
	}
	if raw, err := json.Marshal(client.Experimental{Agentls: &methods.Support{
		Version: methods.Version, Asks: true,
		Questions: true, Models: true, Diagnostics: true, Symbols: true,
	}}); err == nil {
		c.Experimental = raw
	}
	return c
}

// rootsOf returns the workspace folders; the two older members count only where the newest is absent.
func rootsOf(p *protocol.InitializeParams) []workspace.Root {
	var roots []workspace.Root
	if folders, ok := p.WorkspaceFolders.Get(); ok && len(folders) > 0 {
		for _, f := range folders {
			roots = appendRoot(roots, f.URI, f.Name)
		}
		return roots
	}
	//lint:ignore SA1019 older clients know no folders
	if p.RootURI != nil {
		//lint:ignore SA1019 older clients know no folders
		return appendRoot(nil, *p.RootURI, "")
	}
	//lint:ignore SA1019 the oldest clients know only a path
	if path, ok := p.RootPath.Get(); ok && path != "" {
		return appendRoot(nil, uri.File(path), "")
	}
	return nil
}

func appendRoot(roots []workspace.Root, u uri.URI, name string) []workspace.Root {
	path := document.Path(u)
	if path == string(u) {
		return roots // no file system we could read
	}
	if name == "" {
		name = filepath.Base(path)
	}
	return append(roots, workspace.Root{Path: path, Name: name})
}

// initialized opens the engine beside the connection.
func (s *Server) initialized(context.Context) error {
	if wrong := s.client.Misannounced(); wrong != nil {
		s.logger.Warn("the editor is taken for one that does not speak the custom methods", "error", wrong)
		s.goes(func(ctx context.Context) {
			if err := s.client.Log(ctx, protocol.MessageTypeWarning, "agentls: "+wrong.Error()); err != nil &&
				ctx.Err() == nil {
				s.logger.Warn("the editor does not take messages for its log", "error", err)
			}
		})
	}
	s.goes(func(ctx context.Context) {
		if err := s.client.FollowSettings(ctx); err != nil && ctx.Err() == nil {
			s.logger.Warn("the editor does not tell of changed settings", "error", err)
		}
	})
	s.goes(s.begin)
	return nil
}

// firstSettings reads the settings, and asks the editor for its own.
func (s *Server) firstSettings(ctx context.Context) {
	s.settings.load(s)
	asked := make(chan struct{})
	s.settings.renew(nil)
	s.goes(func(ctx context.Context) { s.followSettings(ctx, asked) })
	patience := time.NewTimer(settingsTime)
	defer patience.Stop()
	select {
	case <-asked:
	case <-patience.C: // they count when they come
	case <-ctx.Done():
	}
}

// serves starts what works with the engine, which is there now.
func (s *Server) serves(ctx context.Context) {
	s.goes(s.reloader.run) // which first reads what may have come while the engine was opened
	s.goes(s.watch)
	s.goes(s.announceLanguage)
	s.goes(s.refresher.Run)
	s.goes(s.board.Run)
	s.refresher.SettingsChanged()
	s.board.Wake()
	s.welcome(ctx)
}

// settingsTime bounds the wait for the editor's settings, which the first run needs.
const settingsTime = 2 * time.Second

// openEngine opens the engine with the settings that are known by now, and starts what reads its events.
func (s *Server) openEngine(ctx context.Context) error {
	loaded, err := s.reloader.load(ctx)
	if err != nil {
		return err
	}
	engine, err := agentcore.Open(ctx, s.engineOptions(loaded))
	if err != nil {
		return err
	}
	begun := false
	defer func() { // also where the reloader panics
		if !begun {
			s.engine = nil
			closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
			defer cancel()
			if err := engine.Close(closing); err != nil {
				s.logger.Warn("an engine that is not used did not end well", "error", err)
			}
		}
	}()
	s.engine = engine
	if err := s.reloader.begin(ctx); err != nil {
		return err
	}
	begun = true
	events := engine.Subscribe("", 0)
	s.goes(func(ctx context.Context) { s.pump(ctx, events) })
	s.goes(s.diagnostics.Run)
	s.goes(s.asks.run)
	s.goes(s.unreviewed.Run)
	return nil
}

// engineOptions are what the engine is made of.
func (s *Server) engineOptions(v *authoring.Vocabulary) agentcore.Options {
	o := s.options
	return agentcore.Options{
		StateDir: o.Dirs.State, Config: v.Config, Agents: v.Registry, Skills: v.Skills, OpenModel: o.OpenModel,
		Getenv:   o.Getenv,
		KeysFile: o.Dirs.Keys(), UserConfig: o.Dirs.File, Redactor: o.Redactor, Crash: o.Crash, Logger: s.logger,
		Name: s.client.Title(), TrustChanged: s.reloader.touch, Editor: s.lending,
	}
}

// watch asks for file events.
func (s *Server) watch(ctx context.Context) {
	if err := s.client.WatchFiles(ctx); err != nil && ctx.Err() == nil {
		s.logger.Warn("the editor sends no file events", "error", err)
	}
}

// welcome tells what was wrong with the settings, and brings back the findings and proposals of former sessions.
func (s *Server) welcome(ctx context.Context) {
	defer close(s.recovery.looked)
	restored := sync.OnceFunc(func() { close(s.restored) })
	defer restored() // also where a part of it panics: requests wait for both
	s.settings.tell(ctx, s)
	if text := s.engine.Repaired(); text != "" {
		s.tell(ctx, protocol.MessageTypeError, text)
	}
	var roots []string
	for _, r := range s.view.Roots() {
		roots = append(roots, r.Path)
	}
	if err := s.bringBack(ctx, roots); err != nil && ctx.Err() == nil {
		s.tell(ctx, protocol.MessageTypeWarning,
			"agentls could not bring back earlier findings and proposals: "+err.Error())
	}
	restored()
	s.recovery.begin(ctx, roots) // which finds what was proposed brought back
}

func (s *Server) bringBack(ctx context.Context, roots []string) error {
	left, err := s.engine.Left(ctx, roots)
	if err == nil && left {
		_, err = s.current(ctx)
	}
	return err
}

// shutdown answers `shutdown`: it interrupts the runs, and waits until the editor was told of the end of their
// progress.
func (s *Server) shutdown(ctx context.Context) error {
	select {
	case <-s.opening.ready:
	default:
		return nil // the engine is not there, and so is no run
	}
	s.engine.Interrupt()
	ctx, cancel := context.WithTimeout(ctx, shutdownTime)
	defer cancel()
	if err := errors.Join(s.board.Drain(ctx), s.board.End(ctx)); err != nil {
		s.logger.Warn("what is shown of runs did not end before the shutdown", "error", err)
	}
	return nil
}

// shutdownTime bounds the end of the engine when the editor has gone.
const shutdownTime = 2 * time.Second

// close ends the engine and every goroutine of the server.
func (s *Server) close() error {
	s.goesMu.Lock()
	s.stop()
	s.goesMu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	ended := make(chan struct{})
	go func() { s.wait.Wait(); close(ended) }()
	var errs []error
	select {
	case <-ended:
	case <-ctx.Done():
		errs = append(errs, errors.New("a part of the server did not end in time"))
	}
	select {
	case <-s.opening.ready:
		saving, cancel := context.WithTimeout(context.Background(), shutdownTime) // what is late must cost no data
		defer cancel()
		errs = append(errs, s.engine.Close(saving))
	default: // it was never opened
	}
	if s.board != nil {
		s.board.Close()
	}
	if s.view != nil {
		errs = append(errs, s.view.Close())
	}
	return errors.Join(errs...)
}

// tell shows a message to the user. If even that fails the connection is gone, and the log has to do.
func (s *Server) tell(ctx context.Context, kind protocol.MessageType, text string) {
	if err := s.client.Show(ctx, kind, text); err != nil {
		s.logger.Warn("a message could not be shown", "text", text, "error", err)
	}
}

func pointer[T any](v T) *T { return &v }
