package lsp

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/lsp/authoring"
)

// opening opens the engine beside the connection, so that no message waits for the disk. What was in the way of a try
// may be gone later, such as a lock of the database: whoever needs the engine has it tried again, and so does the time.
// It has its own lock.
type opening struct {
	// ready is closed when the engine is there; what runs without it looks whether it is.
	ready chan struct{}
	first *try
	// settled says that the settings were read and asked for; the tries own it, of which there is one at a time.
	settled bool

	mu     sync.Mutex
	latest *try
	failed error // why the newest try that has ended did; nil before it and once the engine is there
}

// try is one attempt to open the engine. err is set when done is closed, which it always is.
type try struct {
	done chan struct{}
	err  error
}

func newOpening() opening {
	first := &try{done: make(chan struct{})}
	return opening{ready: make(chan struct{}), first: first, latest: first}
}

// retryInterval is how often the engine is tried again where nobody asks for it.
const retryInterval = 15 * time.Second

// begin makes the first try, and further ones until the engine is there.
func (s *Server) begin(ctx context.Context) {
	s.tryOpen(ctx, s.opening.first)
	s.goes(s.status.Run)
	again := time.NewTicker(retryInterval)
	defer again.Stop()
	for {
		select {
		case <-s.opening.ready:
			return
		case <-again.C:
			if _, err := s.open(ctx); err != nil {
				s.logger.Debug("the engine was tried again", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// trying returns the try that is under way or has opened the engine; where the newest one failed, it begins another.
func (s *Server) trying() *try {
	o := &s.opening
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case <-o.latest.done:
		if o.latest.err != nil {
			next := &try{done: make(chan struct{})}
			o.latest = next
			s.goes(func(ctx context.Context) { s.tryOpen(ctx, next) })
		}
	default:
	}
	return o.latest
}

// tryOpen makes one try, says how it ended, and starts what works with the engine.
func (s *Server) tryOpen(ctx context.Context, t *try) {
	o := &s.opening
	t.err = s.caught(func() error {
		if o.settled {
			s.settings.load(s)
		} else {
			s.firstSettings(ctx)
			o.settled = true
		}
		return s.openEngine(ctx)
	})
	o.mu.Lock()
	news := t.err != nil && (o.failed == nil || o.failed.Error() != t.err.Error())
	o.failed = t.err
	o.mu.Unlock()
	if t.err == nil {
		close(o.ready)
	}
	close(t.done)
	s.status.Wake()
	switch {
	case t.err == nil:
		s.serves(ctx)
	case news && ctx.Err() == nil: // else the editor has gone
		s.tell(ctx, protocol.MessageTypeError, "agentls cannot work: "+s.cannotWork(t.err).Error())
	}
}

// failing returns why the engine is not there although it was tried; nil where it is there, or nobody knows yet.
func (s *Server) failing() error {
	s.opening.mu.Lock()
	defer s.opening.mu.Unlock()
	return s.opening.failed
}

// cannotWork says what is in the way of the engine, and what to do.
func (s *Server) cannotWork(err error) error {
	var own *fault.Error
	if errors.As(err, &own) {
		return own
	}
	dir := s.options.Dirs.State
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

// open returns the engine. It waits for the try that is under way, or for another one where the newest failed.
func (s *Server) open(ctx context.Context) (*agentcore.Engine, error) {
	t := s.trying()
	if err := s.awaits(ctx, t.done); err != nil {
		return nil, err
	}
	if t.err != nil {
		return nil, s.cannotWork(t.err)
	}
	return s.engine, nil
}

// offered returns what can be named, for requests that need no store: where the engine could not be opened, what files
// say.
func (s *Server) offered(ctx context.Context) (*authoring.Vocabulary, error) {
	if err := s.awaits(ctx, s.opening.first.done); err != nil {
		return nil, err
	}
	return s.reloader.vocabulary(), nil
}

// awaits waits until a channel is closed, ctx ends or the server does.
func (s *Server) awaits(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.background.Done():
		return &fault.Error{Kind: fault.ShuttingDown, Detail: "the server is shutting down", Hint: "send nothing more"}
	}
}
