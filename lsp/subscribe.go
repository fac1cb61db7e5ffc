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
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/lsp/asking"
	"github.com/agentls/agentls/lsp/delivery"
	"github.com/agentls/agentls/lsp/listing"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/wire"
)

// subscriptions are the sessions of which the client gets events. Its methods may be called from any goroutine.
type subscriptions struct {
	*window
	desk *delivery.Desk

	mu        sync.Mutex
	bySession map[event.SessionID]*subscription
}

// subscription is one session of which the client gets events. Its goroutine begins after the answer to the request,
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

// replace sets the subscription to a session. It stops and returns the former one; nil for none.
func (s *subscriptions) replace(id event.SessionID, next *subscription) *subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	former := s.bySession[id]
	if former != nil {
		former.stop()
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

// Subscribe answers `agent/subscribe`, after which `agent/event` is sent.
func (s *subscriptions) Subscribe(ctx context.Context, p *methods.SubscribeParams) (*methods.SubscribeResult, error) {
	engine, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	id := p.Session
	if id == "" {
		session, err := s.current(ctx)
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
	snapshot, err := s.snapshot(ctx, engine, id)
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
		// This database has never sent an event with a number above the last one.
		if result.Reset = *p.Since+1 < first || *p.Since > last; !result.Reset {
			since = *p.Since
		}
	}
	events := engine.Subscribe(id, since)
	forwarding, stop := context.WithCancel(s.background)
	next := &subscription{stop: stop, done: make(chan struct{})}
	ended := func() {
		stop()
		s.drop(id, next)
		close(next.done)
	}
	// Events of the former subscription must not come after the new answer, as if they followed its snapshot.
	if former := s.replace(id, next); former != nil {
		select {
		case <-former.done:
		case <-ctx.Done():
			ended()
			return nil, ctx.Err()
		}
	}
	wire.AfterAnswer(ctx, func() {
		s.goes(func(context.Context) {
			defer ended()
			s.forward(forwarding, id, events)
		})
	})
	return result, nil
}

// forward sends the events of a session as fast as the client reads them. While the client does not read, only its
// position is kept.
func (s *subscriptions) forward(ctx context.Context, id event.SessionID, events *feed.Subscription) {
	for {
		e, err := events.Next(ctx)
		if err == nil {
			err = s.client.Custom.Event(ctx, &e)
		}
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil, errors.Is(err, feed.ErrClosed), errors.Is(err, wire.ErrClosed),
			errors.Is(err, wire.ErrNotReady):
			return // the client wants no more
		}
		s.logger.Error("events are no longer sent", "session", id, "error", err)
		s.tell(ctx, protocol.MessageTypeError,
			"agentls can send no more events of this session: "+err.Error()+". Subscribe again")
		return
	}
}

// snapshot is what is known of a session, whichever process has it open.
func (s *subscriptions) snapshot(ctx context.Context, engine *agentcore.Engine,
	id event.SessionID,
) (*methods.SessionSnapshot, error) {
	// The number is read first: events that happen while the rest is read are sent again, and none is missed.
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
		return snapshot, s.addStored(ctx, engine.History(), snapshot)
	}
	snapshot.Findings = session.Board().Findings("")
	for _, ask := range session.Asks() {
		snapshot.Asks = append(snapshot.Asks, asking.OnWire(ask))
	}
	if session.Board().Undecided() {
		err = s.documents.Read(ctx, func() { snapshot.Proposals = []methods.Proposal{s.desk.Of(session)} })
	}
	return snapshot, err
}

// addStored adds what is stored to the snapshot of a session that is not open in this process.
func (s *subscriptions) addStored(ctx context.Context, stored *history.Reader,
	snapshot *methods.SessionSnapshot,
) (err error) {
	id := snapshot.Session.ID
	if snapshot.Findings, err = stored.Findings(ctx, id); err != nil {
		return err
	}
	if snapshot.Asks, err = asking.Stored(ctx, stored, id); err != nil {
		return err
	}
	snapshot.Proposals, err = s.desk.Stored(ctx, stored, id)
	return err
}
