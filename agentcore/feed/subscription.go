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

// readEvents is how many events a reader gets from the store at a time, so that what it takes does not
// grow with how far it is behind.
const readEvents = 100

// ErrClosed ends a subscription when the engine is closed and everything was read.
var ErrClosed = errors.New("the engine is closed")

// Subscription reads events in order, without a gap and without a double. It belongs to one goroutine.
type Subscription struct {
	log     *Log
	session event.SessionID // empty: all sessions of this process
	// deserted, of a session that is not open in this process, looks whether its process still lives: all that is known
	// of the session is what is stored.
	deserted func(context.Context) error
	position uint64
	behind   bool // the ring no longer, or not yet, has what the reader wants: ask the store
	seen     map[event.SessionID]uint64
	read     map[event.SessionID]uint64 // seen as others may know it, by the log's lock, of a reader of all sessions
	backlog  []event.Event
	follower follower
}

// Subscribe starts reading at the events behind number since of a session. A session that is not open in this process
// comes with deserted, which stores the end of its runs where their process has died; of such a session the stored
// events come. With an empty session it reads all sessions of this process from now on.
func (l *Log) Subscribe(session event.SessionID, since uint64, deserted func(context.Context) error) *Subscription {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &Subscription{log: l, session: session, deserted: deserted, seen: map[event.SessionID]uint64{}}
	s.position = l.first + uint64(len(l.ring))
	if session != "" {
		s.seen[session] = since
		s.behind = true
	} else {
		maps.Copy(s.seen, l.last)
		s.read = maps.Clone(l.last)
		l.all = append(l.all, s)
	}
	return s
}

// Next returns the next event. It waits until there is one, ctx ends or the engine is closed
// ([ErrClosed]). It may read the disk when the reader is far behind. Where a reader of one session is so slow that the
// store has trimmed what it wants, it gets an [event.EventsTrimmed] in the place of that. The error is of the kind
// not_found once the session is not stored any more, where another process had it open. A reader of all sessions has to
// go on until it gets an error, or to be closed.
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

// missed reports whether there are stored events between the last one that a reader of one session has and this one.
func (s *Subscription) missed(e event.Event) bool {
	return s.session != "" && e.Session == s.session && !event.Transient(e.Body) && e.Seq > s.seen[e.Session]+1
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

// catchUp fills the backlog from the store with some of what was committed up to now. Once that is all of it, the
// reader goes on at the end that the ring had before.
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
		if len(events) > 0 && s.missed(events[0]) {
			first := events[0]
			gap := event.EventsTrimmed{Missing: int(first.Seq - seq - 1)}
			s.backlog = append(s.backlog,
				event.Event{Seq: first.Seq - 1, Session: session, Time: first.Time, Body: gap})
		}
		s.backlog = append(s.backlog, events...)
		more = more || len(events) == readEvents
	}
	if !more {
		s.position, s.behind = end, false
	}
	return nil
}

const (
	// A session of another process is looked at after followSoon, then less and less often, but every followLate at
	// least.
	followSoon, followLate = 25 * time.Millisecond, 400 * time.Millisecond
	// lookAfter is how often the reader of such a session sees to it that the process still lives.
	lookAfter = time.Second
)

// follower is how far the reader of another process's session is with looking for news.
type follower struct {
	pause  time.Duration
	looked time.Time // when the process was last seen to live
}

// follow waits until something new is stored of a session that another process has open. Where that process has died,
// its runs become interrupted, which is news.
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
		if err := s.deserted(ctx); err != nil && !errors.Is(err, store.ErrLocked) { // the next look does it
			return err
		}
	}
}
