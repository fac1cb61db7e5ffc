package authority

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/store"
)

// Decisions are what the user decided, in whatever process: which folders are trusted, and what was granted. Its
// methods may be called from any goroutine.
type Decisions struct {
	store  *store.Store
	grants grants
	// turn is a token for who reads them, or changes them and reads them after that, so that a former state never
	// replaces a later one.
	turn chan struct{}
	news chan struct{} // has room for one: another process has changed folders

	mu      sync.Mutex
	folders map[string]decision // by real path
	// begun counts the reads so far, and ended is the number of the last one that was made to its end.
	begun, ended uint64
}

// decision is what the user said about a folder, in a form that can be compared: to trust it again, as it is by now, is
// another one.
type decision struct {
	trusted bool
	hash    string
	decided int64 // microseconds, as the store has them
}

// NewDecisions reads what the user has decided so far. It reads the disk.
func NewDecisions(ctx context.Context, s *store.Store) (*Decisions, error) {
	d := &Decisions{store: s, turn: make(chan struct{}, 1), news: make(chan struct{}, 1)}
	_, err := d.readNow(ctx)
	return d, err
}

// Trusts reports whether the user trusts a folder, by its real path, whatever lies in it.
func (d *Decisions) Trusts(root string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.folders[root].trusted
}

// replace takes in what is stored, by the read of that number, and reports whether that is something else than before.
func (d *Decisions) replace(rows []store.Trusted, number uint64) (changed bool) {
	folders := make(map[string]decision, len(rows))
	for _, row := range rows {
		folders[row.Root] = decision{trusted: row.Decision == trusted, hash: row.Hash, decided: row.Decided.UnixMicro()}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	changed = !maps.Equal(folders, d.folders)
	d.folders, d.ended = folders, number
	return changed
}

// takeTurn waits for the right to read or change what is decided. The function that it returns gives it back.
func (d *Decisions) takeTurn(ctx context.Context) (done func(), err error) {
	select {
	case d.turn <- struct{}{}:
		return func() { <-d.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Read takes in what users have granted and whom they trust by now, in this process or any other. It reads the
// disk, but where another call has begun to after this one was made: the calls of many runs at once share a read.
func (d *Decisions) Read(ctx context.Context) error {
	d.mu.Lock()
	before := d.begun
	d.mu.Unlock()
	done, err := d.takeTurn(ctx)
	if err != nil {
		return err
	}
	defer done()
	d.mu.Lock()
	read := d.ended > before
	d.mu.Unlock()
	if read {
		return nil
	}
	changed, err := d.readNow(ctx)
	if changed {
		select {
		case d.news <- struct{}{}:
		default:
		}
	}
	return err
}

// readNow is Read for who has the turn. It reports whether other folders are trusted than before, and
// tells nobody.
func (d *Decisions) readNow(ctx context.Context) (changed bool, err error) {
	d.mu.Lock()
	d.begun++
	number := d.begun
	d.mu.Unlock()
	grants, err := d.store.ProjectGrants(ctx)
	if err != nil {
		return false, fmt.Errorf("read the permissions that were granted: %w", err)
	}
	d.grants.meet(grants)
	folders, err := d.store.TrustedRoots(ctx)
	if err != nil {
		return false, fmt.Errorf("read the trusted folders: %w", err)
	}
	return d.replace(folders, number), nil
}

// readEvery is how often Follow looks for what was decided in other processes. Tool calls do not depend on that: before
// each, the engine looks anyway.
const readEvery = 2 * time.Second

// Follow reads the decisions every two seconds, and also what else other processes may have changed. It tells when one
// of them has changed which folders are trusted, until ctx ends. Failures are told once each time that they begin.
func (d *Decisions) Follow(ctx context.Context, tell func(), also func(context.Context) error, failed func(error)) {
	ticker := time.NewTicker(readEvery)
	defer ticker.Stop()
	failing := false
	for {
		select {
		case <-d.news:
			tell()
		case <-ticker.C:
			err := errors.Join(d.Read(ctx), also(ctx))
			if err != nil && !failing && ctx.Err() == nil {
				failed(err)
			}
			failing = err != nil
		case <-ctx.Done():
			return
		}
	}
}
