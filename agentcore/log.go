package agentcore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
)

// keptEvents is how many events the log keeps in memory. A reader that falls further behind gets the
// stored ones from the store; the transient ones it missed are no facts any more.
const keptEvents = 8192

// eventLog is the published events of this process in order of commit. It owns the ring; the store's
// writer appends, subscriptions read at their own speed, and nobody waits for a reader.
type eventLog struct {
	store *store.Store

	mu     sync.Mutex
	ring   []entry
	first  uint64                     // position of ring[0]; positions count all events ever appended
	last   map[event.SessionID]uint64 // the number of each session's last event
	grown  chan struct{}              // closed and replaced when the ring grows
	closed bool
}

// entry is one event of the log.
type entry struct {
	event.Event
	// unsaved says that the store failed. Such an event has no number, and only the readers of all sessions,
	// who show this process to people, get it.
	unsaved bool
}

func newEventLog() *eventLog {
	return &eventLog{last: map[event.SessionID]uint64{}, grown: make(chan struct{})}
}

// append adds events that were committed.
func (l *eventLog) append(events []event.Event) {
	entries := make([]entry, len(events))
	for i, e := range events {
		entries[i].Event = e
	}
	l.add(entries)
}

// appendUnsaved adds an event that could not be stored, and that people have to hear of all the same.
func (l *eventLog) appendUnsaved(e event.Event) { l.add([]entry{{e, true}}) }

func (l *eventLog) add(entries []entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		if !e.unsaved {
			l.last[e.Session] = e.Seq
		}
	}
	l.ring = append(l.ring, entries...)
	if surplus := len(l.ring) - keptEvents; surplus > keptEvents {
		l.ring = append([]entry(nil), l.ring[surplus:]...)
		l.first += uint64(surplus)
	}
	close(l.grown)
	l.grown = make(chan struct{})
}

func (l *eventLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	close(l.grown)
	l.grown = make(chan struct{})
}

// ErrClosed ends a subscription when the engine is closed and everything was read.
var ErrClosed = errors.New("the engine is closed")

// Subscription reads events in order, without a gap and without a double. It belongs to one goroutine.
type Subscription struct {
	log      *eventLog
	session  event.SessionID // empty: all sessions of this process
	position uint64
	behind   bool // the ring no longer, or not yet, has what the reader wants: ask the store
	seen     map[event.SessionID]uint64
	backlog  []event.Event
}

// Subscribe starts reading at the events behind number since of a session, which may be one of an
// earlier process. With an empty session it reads all sessions from now on.
func (e *Engine) Subscribe(session event.SessionID, since uint64) *Subscription {
	e.log.mu.Lock()
	defer e.log.mu.Unlock()
	s := &Subscription{log: e.log, session: session, seen: map[event.SessionID]uint64{}}
	s.position = e.log.first + uint64(len(e.log.ring))
	if session != "" {
		s.seen[session] = since
		s.behind = true
	} else {
		maps.Copy(s.seen, e.log.last)
	}
	return s
}

// Next returns the next event. It waits until there is one, ctx ends or the engine is closed
// ([ErrClosed]). It may read the disk when the reader is far behind.
func (s *Subscription) Next(ctx context.Context) (event.Event, error) {
	for {
		if len(s.backlog) > 0 {
			next := s.backlog[0]
			s.backlog = s.backlog[1:]
			if s.wants(next) {
				return next, nil
			}
			continue
		}
		s.log.mu.Lock()
		end := s.log.first + uint64(len(s.log.ring))
		s.behind = s.behind || s.position < s.log.first
		grown, closed := s.log.grown, s.log.closed
		if !s.behind && s.position < end {
			next := s.log.ring[s.position-s.log.first]
			s.position++
			s.log.mu.Unlock()
			if next.unsaved && s.session == "" || !next.unsaved && s.wants(next.Event) {
				return next.Event, nil
			}
			continue
		}
		s.log.mu.Unlock()
		if s.behind {
			if err := s.catchUp(ctx, end); err != nil {
				return event.Event{}, err
			}
			continue
		}
		if closed {
			return event.Event{}, ErrClosed
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return event.Event{}, ctx.Err()
		}
	}
}

// wants drops the events of other sessions and those that the reader already has. A transient event carries the
// number of the stored one before it: when the reader has a later one, from the store, it is news no more.
func (s *Subscription) wants(e event.Event) bool {
	if s.session != "" && e.Session != s.session {
		return false
	}
	if event.Transient(e.Body) {
		return e.Seq >= s.seen[e.Session]
	}
	if e.Seq <= s.seen[e.Session] {
		return false
	}
	s.seen[e.Session] = e.Seq
	return true
}

// catchUp fills the backlog from the store with what was committed up to now, and moves on to the end.
func (s *Subscription) catchUp(ctx context.Context, end uint64) error {
	sessions := []event.SessionID{s.session}
	if s.session == "" {
		s.log.mu.Lock()
		sessions = slices.Sorted(maps.Keys(s.log.last))
		s.log.mu.Unlock()
	}
	for _, session := range sessions {
		seq := s.seen[session]
		events, err := s.log.store.Events(ctx, session, seq, 0)
		if err != nil {
			return fmt.Errorf("read the events of session %s behind %d: %w", session, seq, err)
		}
		s.backlog = append(s.backlog, events...)
	}
	s.position, s.behind = end, false
	return nil
}
