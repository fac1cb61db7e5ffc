package agentcore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/store"
)

// decisions are what the user said about folders, in whatever process. The methods may be called from any goroutine.
type decisions struct {
	// turn is a token for who reads them, or changes them and reads them after that, so that a former state never
	// replaces a later one.
	turn chan struct{}
	news chan struct{} // has room for one: another process has changed folders

	mu      sync.Mutex
	folders map[string]decision // by real path
}

// decision is what the user said about a folder, in a form that can be compared: to trust it again, as it is by now, is
// another one.
type decision struct {
	trusted bool
	hash    string
	decided int64 // microseconds, as the store has them
}

func newDecisions() *decisions {
	return &decisions{turn: make(chan struct{}, 1), news: make(chan struct{}, 1)}
}

// trusts reports whether the user trusts a folder, whatever lies in it.
func (d *decisions) trusts(root string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.folders[root].trusted
}

// replace takes in what is stored, and reports whether that is something else than before.
func (d *decisions) replace(rows []store.Trusted) (changed bool) {
	folders := make(map[string]decision, len(rows))
	for _, row := range rows {
		folders[row.Root] = decision{trusted: row.Decision == trusted, hash: row.Hash, decided: row.Decided.UnixMicro()}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	changed = !maps.Equal(folders, d.folders)
	d.folders = folders
	return changed
}

// takeTurn waits for the right to read or change what is decided. The function that it returns gives it back.
func (d *decisions) takeTurn(ctx context.Context) (done func(), err error) {
	select {
	case d.turn <- struct{}{}:
		return func() { <-d.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// readDecisions takes in what users have granted and whom they trust by now, in this process or any other. It reads the
// disk.
func (e *Engine) readDecisions(ctx context.Context) error {
	done, err := e.decisions.takeTurn(ctx)
	if err != nil {
		return err
	}
	defer done()
	changed, err := e.readDecisionsNow(ctx)
	if changed {
		select {
		case e.decisions.news <- struct{}{}:
		default:
		}
	}
	return err
}

// readDecisionsNow is readDecisions for who has the turn. It reports whether other folders are trusted than before, and
// tells nobody.
func (e *Engine) readDecisionsNow(ctx context.Context) (changed bool, err error) {
	grants, err := e.store.ProjectGrants(ctx)
	if err != nil {
		return false, fmt.Errorf("read the permissions that were granted: %w", err)
	}
	e.grants.meet(grants)
	folders, err := e.store.TrustedRoots(ctx)
	if err != nil {
		return false, fmt.Errorf("read the trusted folders: %w", err)
	}
	return e.decisions.replace(folders), nil
}

// decisionsEvery is how often the engine looks for what was decided in other processes. Tool calls do not depend on
// that: before each, the engine looks anyway.
const decisionsEvery = 2 * time.Second

// readAgents takes in which agents other processes have registered.
func (e *Engine) readAgents(ctx context.Context) error {
	e.agents.mu.Lock()
	defer e.agents.mu.Unlock()
	return e.agents.read(ctx, e)
}

// followDecisions tells when another process has changed which folders are trusted, until ctx ends.
func (e *Engine) followDecisions(ctx context.Context, tell func()) {
	ticker := time.NewTicker(decisionsEvery)
	defer ticker.Stop()
	failing := false
	for {
		select {
		case <-e.decisions.news:
			tell()
		case <-ticker.C:
			err := errors.Join(e.readDecisions(ctx), e.readAgents(ctx))
			if err != nil && !failing && ctx.Err() == nil {
				e.logger.Warn("what other processes decide is not noticed at once", "error", err)
			}
			failing = err != nil
		case <-ctx.Done():
			return
		}
	}
}
