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

// Decisions are the user's decisions, made in any process: which folders are trusted, and what was granted. Its methods
// may be called from any goroutine.
type Decisions struct {
	store  *store.Store
	grants grants
	// turn is a token for reading the decisions, or for changing them and then reading them, so that an older state
	// never replaces a newer one.
	turn chan struct{}
	news chan struct{} // has room for one value, which says that another process has changed folders

	mu      sync.Mutex
	folders map[string]decision // by real path
	// begun counts the reads so far; ended is the number of the last read that was completed.
	begun, ended uint64
}

// decision is what the user said about a folder, in a form that can be compared. Trusting the folder again, with its
// present files, is another decision.
type decision struct {
	trusted bool
	hash    string
	decided int64 // microseconds, as the store has them
}

// NewDecisions reads the decisions so far. It reads the disk.
func NewDecisions(ctx context.Context, s *store.Store) (*Decisions, error) {
	d := &Decisions{store: s, turn: make(chan struct{}, 1), news: make(chan struct{}, 1)}
	_, err := d.readNow(ctx)
	return d, err
}

// Trusts reports whether the user trusts a folder, by its real path, whatever files it has now.
func (d *Decisions) Trusts(root string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.folders[root].trusted
}

// replace takes in the stored decisions from the read with this number, and reports whether they have changed.
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

// takeTurn waits for the right to read or change the decisions. The returned function gives the right back.
func (d *Decisions) takeTurn(ctx context.Context) (done func(), err error) {
	select {
	case d.turn <- struct{}{}:
		return func() { <-d.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Read takes in what users of this process or any other have granted and trust by now. It reads the disk, unless
// another call begins to read after this one was made: the calls of many runs at the same time share a read.
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

// readNow is Read for a caller that has the turn. It reports whether the trusted folders have changed, and tells
// nobody.
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

// readEvery is how often Follow looks for decisions of other processes. Tool calls do not depend on this, since the
// engine looks before each call.
const readEvery = 2 * time.Second

// Follow reads the decisions every two seconds, and calls also for what else other processes may have changed. It calls
// tell when another process has changed which folders are trusted. It ends with ctx. A failure is reported once, until
// a reading succeeds again.
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
