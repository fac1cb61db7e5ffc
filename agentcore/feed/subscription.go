package feed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/store"
)

// readEvents is how many events a reader gets from the store at a time, so that its memory does not grow with how far
// it is behind.
const readEvents = 100

// ErrClosed ends a subscription when the engine is closed and everything was read.
var ErrClosed = errors.New("the engine is closed")

// Subscription reads events in order, each exactly once. It belongs to one goroutine.
type Subscription struct {
	log     *Log
	session event.SessionID // empty: all sessions of this process
	// deserted checks whether the process of a session that is open elsewhere still lives. All that is known of such a
	// session is in the store.
	deserted func(context.Context) error
	position uint64
	behind   bool // the ring no longer, or not yet, has the next event: read it from the store
	seen     map[event.SessionID]uint64
	read     map[event.SessionID]uint64 // guarded by the log's lock; only for a reader of all sessions
	backlog  []event.Event
	follower follower
}

// Subscribe starts reading at the events behind number since of a session. If the session is not open in this process,
// deserted must be given: it stores the end of the session's runs if their process has died, and the reader gets the
// stored events. With an empty session, it reads all sessions of this process from now on.
func (l *Log) Subscribe(session event.SessionID, since uint64, deserted func(context.Context) error) *Subscription {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &Subscription{log: l, session: session, deserted: deserted, seen: map[event.SessionID]uint64{}}
	if session != "" {
		s.seen[session] = since
		s.position, s.behind = l.first, true
	} else {
		s.position = l.first + uint64(len(l.ring))
		maps.Copy(s.seen, l.last)
		s.read = maps.Clone(l.last)
		l.all = append(l.all, s)
	}
	return s
}

// Next returns the next event. It waits until there is one, ctx ends or the engine is closed ([ErrClosed]). It may read
// the disk if the reader is far behind. If a reader of one session is so slow that the store has trimmed its next
// events, it gets an [event.EventsTrimmed] in their place. The error is of the kind not_found once a session that
// another process had open is no longer stored.
// A reader of all sessions must call Next until it gets an error, or be closed.
func (s *Subscription) Next(ctx context.Context) (event.Event, error) {
	next, err := s.next(ctx)
	if s.session == "" {
		s.log.mu.Lock()
		defer s.log.mu.Unlock()
		switch {
		case err != nil:
			s.leave()
		case !event.Transient(next.Body):
			s.read[next.Session] = max(s.read[next.Session], next.Seq)
		}
	}
	return next, err
}

// Close says that nothing more is read, so that no events are kept for that. Any goroutine may call it, also twice.
func (s *Subscription) Close() {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.leave()
}

// leave takes the reader from those of all sessions. The log's lock is held.
func (s *Subscription) leave() {
	s.log.all = slices.DeleteFunc(s.log.all, func(other *Subscription) bool { return other == s })
}

func (s *Subscription) next(ctx context.Context) (event.Event, error) {
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
		if !s.behind && s.deserted == nil && s.position < end {
			next := s.log.ring[s.position-s.log.first]
			s.position++
			s.log.mu.Unlock()
			switch {
			case next.unsaved:
				if s.session == "" {
					return next.Event, nil
				}
			case s.missed(next.Event):
				s.behind = true // another process has stored something in between
			case s.wants(next.Event):
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
		if s.deserted != nil {
			if err := s.follow(ctx); err != nil {
				return event.Event{}, err
			}
			continue
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return event.Event{}, ctx.Err()
		}
	}
}

// missed reports whether stored events lie between e and the last event that a reader of one session got.
func (s *Subscription) missed(e event.Event) bool {
	return s.session != "" && e.Session == s.session && !event.Transient(e.Body) && e.Seq > s.seen[e.Session]+1
}

// wants drops the events of other sessions, and events that the reader already has. A transient event has the number of
// the stored event before it: if the reader already has a later event, from the store, the transient one is out of
// date.
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

// catchUp fills the backlog from the store with some of what was committed up to now. Once it has all of that, a reader
// of all sessions continues at the end that the ring had before. A reader of one session continues behind the last
// event that it got from the store, since the transient events there are the beginning of what is being said.
func (s *Subscription) catchUp(ctx context.Context, end uint64) error {
	sessions := []event.SessionID{s.session}
	if s.session == "" {
		s.log.mu.Lock()
		sessions = slices.Sorted(maps.Keys(s.log.last))
		s.log.mu.Unlock()
	}
	more := false
	for _, session := range sessions {
		seq := s.seen[session]
		events, err := s.log.store.Events(ctx, session, seq, readEvents)
		if err != nil {
			return fmt.Errorf("read the events of session %s behind %d: %w", session, seq, err)
		}
		full := len(events) == readEvents
		if s.deserted == nil {
			events = s.log.published(session, events)
		}
		if len(events) > 0 && s.missed(events[0]) {
			first := events[0]
			gap := event.EventsTrimmed{Missing: int(first.Seq - seq - 1)}
			s.backlog = append(s.backlog,
				event.Event{Seq: first.Seq - 1, Session: session, Time: first.Time, Body: gap})
		}
		s.backlog = append(s.backlog, events...)
		more = more || full && len(events) == readEvents
	}
	switch {
	case more:
		return nil
	case s.session == "":
		s.position = end
	default:
		last := s.seen[s.session]
		if n := len(s.backlog); n > 0 {
			last = s.backlog[n-1].Seq
		}
		s.position = max(s.position, s.log.behind(s.session, last))
	}
	s.behind = false
	return nil
}

// published leaves out events that this process has committed, but not published yet: they come with the ring, behind
// what their commit does elsewhere.
func (l *Log) published(session event.SessionID, events []event.Event) []event.Event {
	l.mu.Lock()
	last, known := l.last[session]
	l.mu.Unlock()
	if !known {
		return events
	}
	return slices.DeleteFunc(events, func(e event.Event) bool { return e.Seq > last })
}

// behind is the position behind the last stored event of a session up to a number, or that of the oldest event that
// the log keeps.
func (l *Log) behind(session event.SessionID, number uint64) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, e := range slices.Backward(l.ring) {
		if e.Session == session && !e.unsaved && !event.Transient(e.Body) && e.Seq <= number {
			return l.first + uint64(i) + 1
		}
	}
	return l.first
}

const (
	// Another process's session is checked again after followSoon, then at growing intervals up to followLate.
	followSoon, followLate = 25 * time.Millisecond, 400 * time.Millisecond
	// lookAfter is how often the reader of such a session checks that the process still lives.
	lookAfter = time.Second
)

// follower is the state of a reader that waits for news of another process's session.
type follower struct {
	pause  time.Duration
	looked time.Time // when the process was last seen to live
}

// follow waits until a new event of a session that another process has open is stored. If that process has died, its
// runs become interrupted, which is a new event.
func (s *Subscription) follow(ctx context.Context) error {
	f := &s.follower
	for {
		f.pause = min(max(2*f.pause, followSoon), followLate)
		timer := time.NewTimer(f.pause)
		select {
		case <-timer.C:
		case <-s.log.ended:
			timer.Stop()
			return ErrClosed
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		last, err := s.log.store.LastSeq(ctx, s.session)
		if errors.Is(err, store.ErrNotFound) {
			return fault.Missing("session", string(s.session), "it was deleted; list the sessions with agent/sessions")
		}
		if err != nil {
			return fmt.Errorf("look for news of the session %s: %w", s.session, err)
		}
		if last > s.seen[s.session] {
			f.pause, s.behind = 0, true
			return nil
		}
		if time.Since(f.looked) < lookAfter {
			continue
		}
		f.looked = time.Now()
		if err := s.deserted(ctx); err != nil && !errors.Is(err, store.ErrLocked) { // the next check does it
			return err
		}
	}
}
