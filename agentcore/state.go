package agentcore

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/agentcore/store"
)

// State is the open store of a state folder. It holds which folders are trusted, which decides on the configuration
// that an engine begins with. So a caller opens the state first, and then hands it to [Open].
type State struct {
	store *store.Store

	mu     sync.Mutex // guards the fields below
	engine *Engine
	damage error // damage that was found before there was an engine
}

// OpenState opens the store of options' StateDir, for an engine with the same options. It waits for the disk. A state
// that is not handed to an engine must be closed.
func OpenState(ctx context.Context, o Options) (*State, error) {
	s := &State{}
	options := store.Options{
		Committed: func(events []event.Event) { s.engine.committed(events) }, // only an engine submits
		Failed:    func(events []store.NewEvent, err error) { s.engine.commitFailed(events, err) },
		Damaged:   s.damaged, Name: o.Name, Crash: o.Crash, Logger: o.Logger,
	}
	if o.Redactor != nil {
		options.Redact = o.Redactor.Text
	}
	var err error
	if s.store, err = store.Open(ctx, filepath.Join(o.StateDir, "agentls.db"), options); err != nil {
		return nil, fmt.Errorf("open the state in %s: %w", o.StateDir, err)
	}
	return s, nil
}

// FolderTrust tells how far the user trusts a folder.
func (s *State) FolderTrust(ctx context.Context, root string) (authority.FolderTrust, error) {
	return authority.ReadTrust(ctx, s.store, root)
}

// Repaired says, for a person, what OpenState did with a damaged database; "" if it was sound.
func (s *State) Repaired() string { return repaired(s.store) }

// Close closes the store, which may be closed already.
func (s *State) Close(ctx context.Context) error { return s.store.Close(ctx) }

// use connects the engine with the store, so that the engine hears of commits and faults.
func (s *State) use(e *Engine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engine = e
	if s.damage != nil {
		tellDamage(e.log, s.damage)
	}
}

// damaged runs on the store's goroutine.
func (s *State) damaged(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.damage = err; s.engine != nil {
		tellDamage(s.engine.log, err)
	}
}

// tellDamage tells people that the database was found to be damaged.
func tellDamage(log *feed.Log, err error) {
	log.AppendUnsaved(event.Event{Time: time.Now().UTC(), Body: event.Notice{
		Level: event.NoticeError, Message: "the database of agentls is damaged: " + err.Error(),
		Hint: "restart agentls: it repairs the database then, and keeps the damaged file",
	}})
}

func repaired(s *store.Store) string {
	if r := s.Recovery(); r != nil {
		return r.String()
	}
	return ""
}
