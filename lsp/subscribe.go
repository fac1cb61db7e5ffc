package lsp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/lsp/asking"
	"github.com/agentls/agentls/lsp/listing"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/wire"
)

// subscriptions are the sessions of which the client gets events. It has its own lock; the zero value is ready.
type subscriptions struct {
	mu        sync.Mutex
	bySession map[event.SessionID]*subscription
}

// subscription is one session of which the client gets events. Its goroutine begins behind the answer to the request,
// and ends when it is stopped, the session is deleted or the server ends.
type subscription struct {
	stop context.CancelFunc
	done chan struct{} // closed when nothing more is sent
}

// of returns the subscription to a session, nil for none.
func (s *subscriptions) of(id event.SessionID) *subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bySession[id]
}

// replace puts a subscription in the place of the former one to the same session, which it stops and returns; nil for
// none.
func (s *subscriptions) replace(id event.SessionID, next *subscription) *subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	former := s.bySession[id]
	if former != nil {
		former.stop()
	}
	if s.bySession == nil {
		s.bySession = map[event.SessionID]*subscription{}
	}
	s.bySession[id] = next
	return former
}

// drop forgets a subscription that has ended.
func (s *subscriptions) drop(id event.SessionID, ended *subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bySession[id] == ended {
		delete(s.bySession, id)
	}
}

// Subscribe answers `agent/subscribe`, and has `agent/event` sent behind the answer.
func (r *records) Subscribe(ctx context.Context, p *methods.SubscribeParams) (*methods.SubscribeResult, error) {
	engine, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	id := p.Session
	if id == "" {
		session, err := r.current(ctx)
		if err != nil {
			return nil, err
		}
		id = session.ID
	}
	if session, err := engine.Session(id); err == nil {
		if err := session.Flush(ctx); err != nil {
			return nil, fmt.Errorf("store the session before reading it: %w", err)
		}
	}
	snapshot, err := r.snapshot(ctx, engine, id)
	if err != nil {
		return nil, err
	}
	result := &methods.SubscribeResult{Sessions: []methods.SessionSnapshot{*snapshot}}
	since := snapshot.Seq
	if p.Since != nil {
		first, last, err := engine.History().Events(ctx, id)
		if err != nil {
			return nil, err
		}
		// What is above the last number was never sent by this database.
		if result.Reset = *p.Since+1 < first || *p.Since > last; !result.Reset {
			since = *p.Since
		}
	}
	events := engine.Subscribe(id, since)
	forwarding, stop := context.WithCancel(r.background)
	next := &subscription{stop: stop, done: make(chan struct{})}
	ended := func() {
		stop()
		r.subscriptions.drop(id, next)
		close(next.done)
	}
	// What was asked for before must not come behind the new answer, as if it were what follows the snapshot.
	if former := r.subscriptions.replace(id, next); former != nil {
		select {
		case <-former.done:
		case <-ctx.Done():
			ended()
			return nil, ctx.Err()
		}
	}
	wire.AfterAnswer(ctx, func() {
		r.goes(func(context.Context) {
			defer ended()
			r.forward(forwarding, id, events)
		})
	})
	return result, nil
}

// forward sends the events of a session at the client's own speed. While the client does not read, nothing is kept for
// it but its place.
func (r *records) forward(ctx context.Context, id event.SessionID, events *feed.Subscription) {
	for {
		e, err := events.Next(ctx)
		if err == nil {
			err = r.client.Custom.Event(ctx, &e)
		}
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil, errors.Is(err, feed.ErrClosed), errors.Is(err, wire.ErrClosed),
			errors.Is(err, wire.ErrNotReady):
			return // nobody waits for more
		}
		r.logger.Error("events are no longer sent", "session", id, "error", err)
		r.tell(ctx, protocol.MessageTypeError,
			"agentls can send no more events of this session: "+err.Error()+". Subscribe again")
		return
	}
}

// snapshot is what is known of a session, of whatever process.
func (r *records) snapshot(ctx context.Context, engine *agentcore.Engine,
	id event.SessionID,
) (*methods.SessionSnapshot, error) {
	// The number is taken first: what happens meanwhile is told again, and nothing is missed.
	_, seq, err := engine.History().Events(ctx, id)
	if err != nil {
		return nil, err
	}
	info, tree, err := engine.History().Tree(ctx, id)
	if err != nil {
		return nil, err
	}
	snapshot := &methods.SessionSnapshot{Session: listing.Session(info), Seq: seq, Tree: listing.Runs(tree)}
	session, err := engine.Session(id)
	if err != nil {
		return snapshot, r.addStored(ctx, engine, snapshot)
	}
	snapshot.Findings = session.Board().Findings("")
	for _, ask := range session.Asks() {
		snapshot.Asks = append(snapshot.Asks, asking.OnWire(ask))
	}
	if session.Board().Undecided() {
		err = r.documents.Read(ctx, func() { snapshot.Proposals = []methods.Proposal{r.desk.Of(session)} })
	}
	return snapshot, err
}

// addStored adds to the snapshot of a session that is not open here what is stored of it.
func (r *records) addStored(ctx context.Context, engine *agentcore.Engine, snapshot *methods.SessionSnapshot) error {
	id := snapshot.Session.ID
	var err error
	if snapshot.Findings, err = engine.History().Findings(ctx, id); err != nil {
		return err
	}
	if snapshot.Asks, err = asking.Stored(ctx, engine.History(), id); err != nil {
		return err
	}
	snapshot.Proposals, err = r.desk.Stored(ctx, engine.History(), id)
	return err
}
