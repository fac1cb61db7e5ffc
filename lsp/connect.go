package lsp

import (
	"context"
	"encoding/json"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/statusline"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/client"
	"github.com/agentls/agentls/lsp/delivery"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/lending"
	"github.com/agentls/agentls/lsp/position"
	"github.com/agentls/agentls/lsp/remark"
	"github.com/agentls/agentls/lsp/surface"
	"github.com/agentls/agentls/lsp/wire"
)

// initializationOptions are the members of initialize's initializationOptions that are no keys of the configuration.
type initializationOptions struct {
	// Trusted is the editor's own answer to whether the user trusts the workspace; nil where it has none.
	Trusted *bool `json:"trusted"`
}

// introduced makes the editor from `initialize`. It also returns the editor's own answer to whether the user trusts the
// workspace; nil where it has none. It does not use the disk.
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
		// Options that are no object, or whose value is no truth value, are no answer. The user is told of options that
		// are no object when the settings are read.
		if err := json.Unmarshal(raw, &own); err != nil {
			own.Trusted = nil
		}
		e.settings.initial = json.RawMessage(raw)
	}
	view, err := workspace.Open(rootsOf(p), workspace.Options{})
	if err != nil {
		// An editor is not refused because of a folder that cannot be opened, since its open documents still work.
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
	lender := lending.New(lending.Means{
		Client: e.client, Documents: e.documents, View: e.view, Silence: e.options.ModelSilence,
	})
	r := newReloader(w, lender)
	t := newTrust(w, trusted, r.touch, r.again)
	r.trust, e.settings.trusted, w.joins = t, t.sources, t.inform
	c := &connected{window: w, reloader: r, authored: &authored{editor: e, vocabulary: r.vocabulary}}
	desk := c.surfaces()
	w.make, w.tried, r.shown, r.touched = c.openEngine, c.tried, c.settingsChanged, c.diagnostics.Touch
	w.joined = func() { c.diagnostics.Touch(e.documents.Paths()...) }
	interrupted := &recovery{window: w, pages: c.pages, looked: make(chan struct{})}
	starter := &launcher{window: w, trust: t, board: c.board, resumed: interrupted.resumed}
	interrupted.resumeRun = starter.Resume
	subscribed := &subscriptions{window: w, desk: desk, bySession: map[event.SessionID]*subscription{}}
	stored := &records{
		window: w, desk: desk, diagnostics: c.diagnostics, refresher: c.refresher, hosts: c.remarks.hosts,
		subscriptions: subscribed,
	}
	c.answers = answers{
		launcher: starter, Desk: desk, records: stored, subscriptions: subscribed,
		catalog: &catalog{window: w, reloader: r, trust: t}, permits: &permits{window: w, asks: c.asks}, trust: t,
		recovery: interrupted, Lender: lender, conversations: newConversations(w, desk, c.pages, starter),
	}
	return c
}

// surfaces makes the parts that show runs and what they found, ask and propose. It returns the part where proposals are
// decided on.
func (c *connected) surfaces() *delivery.Desk {
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
			return statusline.Run(ctx, c.engine.Redactor(), command, dir, input)
		},
		Tell: c.client.Custom.Status,
	})
	desk := delivery.NewDesk(delivery.Means{
		Client: c.client, Documents: c.documents, View: c.view, Form: c.form, Logger: c.logger,
		AnswerTime: c.options.AnswerTime, Crash: c.options.Crash, Open: c.open, Kept: c.kept, Current: c.current,
		Inquire: c.inquire, Present: c.pages.present, Moved: c.diagnostics.Clear,
	})
	c.unreviewed = delivery.NewUnreviewed(desk, c.opened, c.guarded, func(ctx context.Context, warning string) {
		c.tell(ctx, protocol.MessageTypeWarning, warning)
	})
	c.pages.desk, c.pages.board, c.pages.refresher = desk, c.board, c.refresher
	return desk
}
