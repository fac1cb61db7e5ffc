package lsp

import (
	"context"
	"encoding/json"
	"path/filepath"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/delivery"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/lending"
	"github.com/agentls/agentls/lsp/menu"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/remark"
	"github.com/agentls/agentls/lsp/surface"
	"github.com/agentls/agentls/lsp/wire"
)

// connected is the server of an editor that has introduced itself: `initialize` makes the whole of it, and nothing of
// it is replaced afterwards. Each part says in its own file who may call it.
type connected struct {
	*window
	trace trace
	// the methods of LSP
	notifications map[string]notification
	requests      map[string]request

	// what the editor shows
	board       *surface.Board
	status      *surface.Status
	diagnostics *surface.Diagnostics
	refresher   *surface.Refresher
	remarks     *remarks
	pages       *pages
	asks        *asker

	// what becomes of proposals
	desk       *delivery.Desk
	unreviewed *delivery.Unreviewed

	// what files say
	authored *authored
	reloader *reloader
	trust    *trust

	// what answers the custom protocol, beside others
	launcher *launcher
	records  *records
	catalog  *catalog
	permits  *permits
	recovery *recovery
	lender   *lending.Lender

	// settled says that the settings were read and asked for; the tries to open the engine own it, of which there is
	// one at a time.
	settled bool
}

// answers answers the requests of schema/agent.metamodel.json, which says what each does.
type answers struct {
	*launcher
	*delivery.Desk
	*records
	*catalog
	*permits
	*trust
	*recovery
	*lending.Lender
}

var _ methods.CommandServer = answers{}

func (c *connected) answers() answers {
	return answers{c.launcher, c.desk, c.records, c.catalog, c.permits, c.trust, c.recovery, c.lender}
}

// initializationOptions are ours beside the configuration keys, which may stand there too.
type initializationOptions struct {
	// Trusted is the editor's own answer whether the user trusts the workspace; nil where it has none.
	Trusted *bool `json:"trusted"`
}

// introduced makes the editor of `initialize`, and tells whether the editor itself says that the user trusts the
// workspace; nil where it has no answer. It touches no disk.
func introduced(w *work, o *Options, conn *wire.Conn, p *protocol.InitializeParams) (*editor, *bool, error) {
	e := &editor{
		work: w, options: o, client: client.New(conn, p, o.AnswerTime),
		settings: &settings{options: o, news: make(chan struct{}, 1)},
	}
	var offered []protocol.PositionEncodingKind
	if p.Capabilities.General != nil {
		offered = p.Capabilities.General.PositionEncodings
	}
	var own initializationOptions
	// Neovim writes an empty table as [].
	if raw := p.InitializationOptions; len(raw) > 0 && string(raw) != "null" && string(raw) != "[]" {
		// What is no object, or has no truth value there, is no answer; the former is told with the other settings.
		if err := json.Unmarshal(raw, &own); err != nil {
			own.Trusted = nil
		}
		e.settings.initial = json.RawMessage(raw)
	}
	view, err := workspace.Open(rootsOf(p), workspace.Options{})
	if err != nil {
		// A folder that cannot be opened is no reason to refuse an editor: its open documents still work.
		w.logger.Warn("a workspace folder cannot be opened", "error", err)
		if view, err = workspace.Open(nil, workspace.Options{}); err != nil {
			return nil, nil, wire.InternalError(err)
		}
	}
	e.view = view
	e.documents = document.New(position.Negotiate(offered), view, e.authoredKind)
	e.form = remark.NewForm(e.client, e.documents.Encoding, view.Shown)
	w.failed = func(text string) { e.tell(w.background, protocol.MessageTypeError, text) }
	return e, own.Trusted, nil
}

// connect makes the server of an editor. trusted is the editor's own answer whether the user trusts the workspace.
func connect(e *editor, trusted *bool) *connected {
	w := newWindow(e)
	c := &connected{window: w, lender: lending.New(lending.Means{
		Client: e.client, Documents: e.documents, Silence: e.options.ModelSilence,
	})}
	w.make, w.tried = c.makeEngine, c.tried
	c.reloader = newReloader(w, c.lender)
	c.trust = newTrust(w, trusted, c.reloader.touch, c.reloader.again)
	c.reloader.trust, e.settings.trusted, w.joins = c.trust, c.trust.sources, c.trust.inform
	c.authored = &authored{editor: e, vocabulary: c.reloader.vocabulary}
	c.surfaces()
	c.reloader.touched = c.diagnostics.Touch
	c.reloader.shown = func() {
		c.refresher.SettingsChanged()
		c.board.Wake()
		c.status.Wake()
	}
	w.joined = func() { c.diagnostics.Touch(e.documents.Paths()...) }
	c.recovery = &recovery{window: w, pages: c.pages, looked: make(chan struct{})}
	c.launcher = &launcher{window: w, trust: c.trust, board: c.board, resumed: c.recovery.resumed}
	c.recovery.resumeRun = c.launcher.Resume
	c.catalog = &catalog{window: w, reloader: c.reloader, trust: c.trust, engineOptions: c.engineOptions}
	c.permits = &permits{window: w, asks: c.asks}
	c.records = &records{
		window: w, desk: c.desk, diagnostics: c.diagnostics, refresher: c.refresher, hosts: c.remarks.hosts,
	}
	c.dispatch()
	return c
}

// surfaces makes what shows runs, and what they found, ask and propose.
func (c *connected) surfaces() {
	launches := surface.NewLaunches(func(run event.RunID) (string, error) {
		return c.engine.History().LaunchedOn(c.background, run)
	}, c.logger)
	c.pages = &pages{window: c.window}
	c.asks = newAsker(c.window, launches, c.pages.showPlan)
	c.remarks = &remarks{window: c.window, launches: launches, asks: c.asks, authored: c.authored}
	means := surface.Means{
		Client: c.client, Documents: c.documents, View: c.view, Form: c.form, Logger: c.logger,
		ConfigFile: c.options.Dirs.File, Goes: c.goes, Guarded: c.guarded,
		Settings: c.settings.current, Info: c.runInfo,
	}
	c.board, c.refresher = surface.NewBoard(means), surface.NewRefresher(means)
	c.diagnostics = surface.NewDiagnostics(means, c.remarks.of, c.refresher.DiagnosticsChanged)
	c.asks.touch = c.diagnostics.Touch
	c.status = surface.NewStatus(surface.StatusMeans{
		Means: means, Board: c.board, Failing: c.failing, Fault: c.settings.fault, Facts: c.statusFacts,
		Command: func(ctx context.Context, command, dir string, input []byte) (string, error) {
			return c.engine.StatusCommand(ctx, command, dir, input)
		},
		Tell: c.client.Custom.Status,
	})
	c.desk = delivery.NewDesk(delivery.Means{
		Client: c.client, Documents: c.documents, View: c.view, Form: c.form, Logger: c.logger,
		AnswerTime: c.options.AnswerTime, Crash: c.options.Crash, Open: c.open, Kept: c.kept, Inquire: c.inquire,
		Present: c.pages.present, Moved: c.diagnostics.Clear,
	})
	c.unreviewed = delivery.NewUnreviewed(c.desk, c.opened, c.guarded, func(ctx context.Context, warning string) {
		c.tell(ctx, protocol.MessageTypeWarning, warning)
	})
	c.pages.desk, c.pages.board, c.pages.refresher = c.desk, c.board, c.refresher
}

// capabilities are what is announced to the editor.
func (c *connected) capabilities() protocol.ServerCapabilities {
	incremental := protocol.TextDocumentSyncKindIncremental
	can := protocol.ServerCapabilities{
		PositionEncoding: protocol.PositionEncodingKind(c.documents.Encoding),
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
	if c.client.TakesCodeActions() {
		can.CodeActionProvider = &protocol.CodeActionOptions{
			CodeActionKinds: []protocol.CodeActionKind{
				protocol.CodeActionKindQuickFix,
				protocol.CodeActionKindRefactorRewrite, menu.KindAgent,
			},
		}
	}
	if c.client.OffersPull() {
		can.DiagnosticProvider = &protocol.DiagnosticOptions{
			Identifier:           new(remark.Source),
			WorkspaceDiagnostics: !c.client.RefreshesWorkspaceAlone(),
		}
	}
	c.authored.announce(&can)
	if c.client.LensesAnnounced() {
		can.CodeLensProvider = &protocol.CodeLensOptions{}
	}
	if c.client.HintsAnnounced() {
		can.InlayHintProvider = protocol.Boolean(true)
	}
	can.Workspace.FileOperations = c.client.FileOperations()
	if c.client.TakesContent() {
		can.Workspace.TextDocumentContent = &protocol.TextDocumentContentOptions{Schemes: []string{document.Scheme}}
	}
	if raw, err := json.Marshal(client.Experimental{Agentls: &methods.Support{
		Version: methods.Version, Asks: true,
		Questions: true, Models: true, Diagnostics: true, Symbols: true,
	}}); err == nil {
		can.Experimental = raw
	}
	return can
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
