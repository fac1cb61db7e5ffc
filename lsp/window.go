package lsp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/statusline"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/workspace"
)

// window is the engine and the session of one window of the editor. Its methods may be called from any goroutine.
type window struct {
	*editor
	opening opening
	// engine is set before opening.ready is closed, and must not be used before.
	engine *agentcore.Engine
	// restored is closed when what former sessions left was brought back, or could not be.
	restored chan struct{}

	joining sync.Mutex                        // held while the window's session is made
	session atomic.Pointer[agentcore.Session] // the window's session, made by its first run

	// make opens the engine. tried is called after each try; news says that the try failed for another reason than the
	// last.
	make  func(context.Context) error
	tried func(ctx context.Context, err error, news bool)
	// joins is called with the session before anybody else has it, and joined when others can have it.
	joins  func(*agentcore.Session)
	joined func()
}

// opening is the state of opening the engine. The engine is opened by a goroutine of its own, so that no message waits
// for the disk. The cause of a failed try, such as a lock of the database, may disappear. So each request that needs
// the engine starts another try, and so does a ticker. opening has its own lock.
type opening struct {
	// ready is closed when the engine is there.
	ready chan struct{}
	first *try

	mu     sync.Mutex
	latest *try
	failed error // why the newest finished try failed; nil before that, and once the engine is there
}

// try is one attempt to open the engine. err is set when done is closed, which it always is.
type try struct {
	done chan struct{}
	err  error
}

// newWindow makes a window of an editor; the caller must set its functions.
func newWindow(e *editor) *window {
	first := &try{done: make(chan struct{})}
	return &window{
		editor: e, opening: opening{ready: make(chan struct{}), first: first, latest: first},
		restored: make(chan struct{}),
	}
}

// retryInterval is how often another try is made if no request needs the engine.
const retryInterval = 15 * time.Second

// trying returns the try that is running or that has opened the engine. If the newest try failed, it starts another
// one.
func (w *window) trying() *try {
	o := &w.opening
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case <-o.latest.done:
		if o.latest.err != nil {
			next := &try{done: make(chan struct{})}
			o.latest = next
			w.goes(func(ctx context.Context) { w.tryOpen(ctx, next) })
		}
	default:
	}
	return o.latest
}

// tryOpen makes one try, and says how it ended.
func (w *window) tryOpen(ctx context.Context, t *try) {
	o := &w.opening
	t.err = w.caught(func() error { return w.make(ctx) })
	o.mu.Lock()
	news := t.err != nil && (o.failed == nil || o.failed.Error() != t.err.Error())
	o.failed = t.err
	o.mu.Unlock()
	if t.err == nil {
		close(o.ready)
	}
	close(t.done)
	w.tried(ctx, t.err, news)
}

// ready reports whether the engine is there.
func (w *window) ready() bool {
	select {
	case <-w.opening.ready:
		return true
	default:
		return false
	}
}

// failing returns why the last try to open the engine failed; nil if the engine is there, or no try has ended yet.
func (w *window) failing() error {
	w.opening.mu.Lock()
	defer w.opening.mu.Unlock()
	return w.opening.failed
}

// cannotWork says what prevents the engine from being opened, and what to do.
func (w *window) cannotWork(err error) error {
	var own *fault.Error
	if errors.As(err, &own) {
		return own
	}
	dir := w.options.Dirs.State
	hint := "make the folder " + dir + " writable, or name another in AGENTLS_STATE and restart the server"
	switch {
	case errors.Is(err, store.ErrLocked):
		hint = "end the process that has locked it, or wait for it"
	case errors.Is(err, store.ErrFull):
		hint = "free some space in " + dir + ", or name another folder in AGENTLS_STATE and restart the server"
	case errors.Is(err, store.ErrNewer):
		hint = "update this agentls, or name another folder in AGENTLS_STATE and restart the server"
	}
	return &fault.Error{
		Kind: fault.StateUnavailable, Detail: err.Error(), Hint: hint + "; the next request tries again", Cause: err,
	}
}

// open returns the engine. It waits for the running try, or starts another one if the newest failed.
func (w *window) open(ctx context.Context) (*agentcore.Engine, error) {
	t := w.trying()
	if err := w.awaits(ctx, t.done); err != nil {
		return nil, err
	}
	if t.err != nil {
		return nil, w.cannotWork(t.err)
	}
	return w.engine, nil
}

// current returns the window's session; the first call makes it. Its first run gives it a title.
func (w *window) current(ctx context.Context) (*agentcore.Session, error) {
	engine, err := w.open(ctx)
	if err != nil {
		return nil, err
	}
	w.joining.Lock()
	defer w.joining.Unlock()
	if session := w.session.Load(); session != nil {
		return session, nil
	}
	session, err := engine.ContinueSession(ctx, w.view, "")
	if err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	w.joins(session)
	w.session.Store(session)
	w.joined()
	return session, nil
}

// kept returns the window's session with what former sessions left, or nil if there is nothing. It waits until that is
// known, so that a request right after the start finds it.
func (w *window) kept(ctx context.Context) (*agentcore.Session, error) {
	if _, err := w.open(ctx); err != nil {
		return nil, err
	}
	if err := w.awaits(ctx, w.restored); err != nil {
		return nil, err
	}
	return w.opened(), nil
}

// opened returns the window's session, or nil if nothing was started yet. It never waits.
func (w *window) opened() *agentcore.Session { return w.session.Load() }

// runInfo finds a run of this process.
func (w *window) runInfo(id event.RunID) (history.Run, bool) {
	if w.engine == nil {
		return history.Run{}, false
	}
	info, err := w.engine.RunInfo(id)
	return info, err == nil
}

// statusFacts are the facts about the server and its session for the status line.
func (w *window) statusFacts() statusline.Facts {
	f := statusline.Facts{Version: w.options.Version}
	if roots := w.view.Roots(); len(roots) > 0 {
		f.Project, f.WorkingDirectory = roots[0].Name, roots[0].Path
		f.GitBranch = workspace.Branch(roots[0].Path)
	}
	if session := w.opened(); session != nil {
		f.Session = session.ID
		f.Asks, f.Findings = len(session.Asks()), len(session.Board().Findings(""))
		for _, h := range session.Board().Hunks() {
			if h.Waits() {
				f.Edits++
			}
		}
	}
	return f
}

// bringBack opens the window's session if former sessions have left something on its folders.
func (w *window) bringBack(ctx context.Context, roots []string) error {
	left, err := w.engine.Left(ctx, roots)
	if err == nil && left {
		_, err = w.current(ctx)
	}
	return err
}
