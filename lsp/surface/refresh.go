package surface

import (
	"context"
	"maps"
	"slices"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/lsp/client"
)

// watchedDiffs is how many diff documents are kept up to date; those that were shown first are dropped first.
const watchedDiffs = 100

// Refresher tells the client to ask again: for lenses, for diagnostics that it pulls, and for the texts of our own
// documents. Code that changes something notifies it without waiting; one goroutine sends the requests, since each
// waits for an answer.
type Refresher struct {
	Means
	news chan struct{} // has room for one: something below is to be done

	mu     sync.Mutex
	lenses bool // are to be asked for again
	pulled bool // the client has pulled diagnostics that are outdated
	looked bool // the settings may have changed whether there are lenses
	diffs  []diffDocument
	stale  map[uri.URI]bool

	on bool // the user wanted lenses when it was last looked; owned by Run
}

// diffDocument is a virtual document that the client has asked for.
type diffDocument struct {
	uri      uri.URI
	proposal event.ProposalID
}

// NewRefresher makes a refresher, whose requests Run sends.
func NewRefresher(m Means) *Refresher {
	return &Refresher{Means: m, news: make(chan struct{}, 1), stale: map[uri.URI]bool{}}
}

// Watch keeps a virtual document up to date from now on: a diff of a proposal, or a plan, which has none.
func (r *Refresher) Watch(u uri.URI, proposal event.ProposalID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := diffDocument{u, proposal}
	r.diffs = slices.DeleteFunc(r.diffs, func(known diffDocument) bool { return known == d })
	r.diffs = append(r.diffs, d)
	if n := len(r.diffs) - watchedDiffs; n > 0 {
		r.diffs = slices.Delete(r.diffs, 0, n)
	}
}

// ProposalChanged says that hunks of a proposal are other than they were. It never waits.
func (r *Refresher) ProposalChanged(proposal event.ProposalID) {
	r.mu.Lock()
	r.lenses = true
	for _, d := range r.diffs {
		if d.proposal == proposal {
			r.stale[d.uri] = true
		}
	}
	r.mu.Unlock()
	wake(r.news)
}

// TextChanged says that a virtual document has another text, for a client that has asked for it. It never waits.
func (r *Refresher) TextChanged(u uri.URI) {
	r.mu.Lock()
	if slices.ContainsFunc(r.diffs, func(d diffDocument) bool { return d.uri == u }) {
		r.stale[u] = true
	}
	r.mu.Unlock()
	wake(r.news)
}

// DiagnosticsChanged says that diagnostics which the client pulls are others than it was told. It never waits.
func (r *Refresher) DiagnosticsChanged() {
	r.mu.Lock()
	r.pulled = true
	r.mu.Unlock()
	wake(r.news)
}

// SettingsChanged says that the user may want lenses now, or none any more. It never waits.
func (r *Refresher) SettingsChanged() {
	r.mu.Lock()
	r.looked = true
	r.mu.Unlock()
	wake(r.news)
}

// Run sends requests until ctx ends.
func (r *Refresher) Run(ctx context.Context) {
	for {
		select {
		case <-r.news:
		case <-ctx.Done():
			return
		}
		r.mu.Lock()
		lenses, looked, pulled, stale := r.lenses, r.looked, r.pulled, slices.Sorted(maps.Keys(r.stale))
		r.lenses, r.looked, r.pulled = false, false, false
		clear(r.stale)
		r.mu.Unlock()
		if lenses || looked {
			r.tell(ctx, "lenses", r.renewLenses(ctx, lenses))
		}
		if pulled && r.Client.RefreshesDiagnostics() {
			r.tell(ctx, "diagnostics", r.Client.Call(ctx, protocol.MethodWorkspaceDiagnosticRefresh, nil, nil))
		}
		for _, u := range stale {
			if r.Client.TakesContent() {
				params := protocol.TextDocumentContentRefreshParams{URI: u}
				r.tell(ctx, string(u), r.Client.Call(ctx, protocol.MethodWorkspaceTextDocumentContentRefresh,
					&params, nil))
			}
		}
	}
}

// renewLenses registers the lenses with a client that takes registrations, or takes the registration back. It tells any
// other client to ask for lenses again when the user wants them or no longer does. changed says that the lenses that
// the client has are outdated.
func (r *Refresher) renewLenses(ctx context.Context, changed bool) error {
	c, on := r.Client, lensesOn(r.Settings())
	switched := on != r.on
	if switched && client.Yes(c.CodeLens().DynamicRegistration) {
		if err := registerAnywhere(ctx, c, "lenses", protocol.MethodTextDocumentCodeLens, on); err != nil {
			return err
		}
		r.on = on
		return nil // the client asks by itself
	}
	r.on = on
	if !switched && !(on && changed) || !c.RefreshesLenses() {
		return nil
	}
	return c.Call(ctx, protocol.MethodWorkspaceCodeLensRefresh, nil, nil)
}

func (r *Refresher) tell(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		r.Logger.Warn("the editor does not show what is new", "what", what, "error", err)
	}
}
