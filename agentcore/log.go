package agentcore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/store"
)

const (
	// keptEvents and keptBytes bound what the log keeps in memory; it holds up to twice as much before it drops the
	// older part. A reader that falls further behind gets the stored events from the store; the transient ones that it
	// missed are no facts any more.
	keptEvents, keptBytes = 8192, 8 << 20
	// readEvents is how many events a reader gets from the store at a time, so that what it takes does not
	// grow with how far it is behind.
	readEvents = 100
	// storedEvents is how many events of a session the store keeps, and trimEvery after how many more the older ones go.
	storedEvents, trimEvery = 20_000, 1000
)

// eventLog is the published events of this process in order of commit. It owns the ring; the store's
// writer appends, subscriptions read at their own speed, and nobody waits for a reader.
type eventLog struct {
	store *store.Store
	ended chan struct{} // closed with the log

	mu     sync.Mutex
	ring   []entry
	first  uint64                     // position of ring[0]; positions count all events ever appended
	bytes  int                        // about what ring holds
	last   map[event.SessionID]uint64 // the number of each session's last event
	grown  chan struct{}              // closed and replaced when the ring grows
	closed bool
	// untrimmed counts each session's events that were stored since its older ones were last removed, and long names the
	// sessions with too many.
	untrimmed map[event.SessionID]int
	long      chan event.SessionID
	// all are the readers of all sessions, from which nothing is trimmed that they have not read: they show this process to people, who
	// would wait for the end of a run that was over.
	all []*Subscription
}

// entry is one event of the log.
type entry struct {
	event.Event
	// unsaved says that the store failed. Such an event has no number, and only the readers of all sessions,
	// who show this process to people, get it.
	unsaved bool
	bytes   int
}

func newEventLog() *eventLog {
	return &eventLog{
		ended: make(chan struct{}), last: map[event.SessionID]uint64{}, grown: make(chan struct{}),
		untrimmed: map[event.SessionID]int{}, long: make(chan event.SessionID, 64),
	}
}

// append adds events that were committed.
func (l *eventLog) append(events []event.Event) {
	entries := make([]entry, len(events))
	for i, e := range events {
		entries[i] = entry{Event: e, bytes: weight(e.Body)}
	}
	l.add(entries)
}

// appendUnsaved adds an event that could not be stored, and that people have to hear of all the same.
func (l *eventLog) appendUnsaved(e event.Event) {
	l.add([]entry{{Event: e, unsaved: true, bytes: weight(e.Body)}})
}

// weight is about how many bytes an event takes in memory; only texts without a bound are counted.
func weight(body event.Body) int {
	const fixed = 256
	switch b := body.(type) {
	case event.RunCreated:
		return fixed + len(b.Prompt)
	case event.MessageCommitted:
		return fixed + len(b.Text)
	case event.TextDelta:
		return fixed + len(b.Text)
	case event.ReasoningDelta:
		return fixed + len(b.Text)
	case event.RunFinished:
		return fixed + len(b.Result.Output) + 64*(len(b.Result.ToolCalls)+len(b.Result.Children))
	case event.ToolCallFinished:
		return fixed + len(b.Summary)
	case event.FindingReported:
		return fixed + len(b.Finding.Message)
	case event.Notice:
		return fixed + len(b.Message)
	}
	return fixed
}

func (l *eventLog) add(entries []entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		l.bytes += e.bytes
		if e.unsaved {
			continue
		}
		l.last[e.Session] = e.Seq
		if !event.Transient(e.Body) {
			l.countLocked(e.Session)
		}
	}
	l.ring = append(l.ring, entries...)
	if len(l.ring) > 2*keptEvents || l.bytes > 2*keptBytes {
		surplus := 0
		for len(l.ring)-surplus > keptEvents || l.bytes > keptBytes {
			l.bytes -= l.ring[surplus].bytes
			surplus++
		}
		l.ring = slices.Clone(l.ring[surplus:])
		l.first += uint64(surplus)
	}
	close(l.grown)
	l.grown = make(chan struct{})
}

// countLocked counts a stored event, and has its session trimmed after trimEvery of them. It waits for nobody: where too much is to be
// trimmed already, the session's next event tries again.
func (l *eventLog) countLocked(session event.SessionID) {
	l.untrimmed[session]++
	if l.untrimmed[session] < trimEvery {
		return
	}
	select {
	case l.long <- session:
		delete(l.untrimmed, session)
	default:
	}
}

func (l *eventLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return // an engine may be closed twice
	}
	l.closed = true
	close(l.ended)
	close(l.grown)
	l.grown = make(chan struct{})
}

// read returns the number up to which all readers of all sessions have read a session.
func (l *eventLog) read(session event.SessionID) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	read := uint64(math.MaxUint64)
	for _, s := range l.all {
		read = min(read, s.read[session])
	}
	return read
}

// trims removes the older events of long sessions from the store, until ctx ends. It is a goroutine of the engine, which waits for it.
func (e *Engine) trims(ctx context.Context) {
	for {
		select {
		case session := <-e.log.long:
			if err := e.store.TrimEvents(ctx, session, storedEvents, e.log.read(session)); err != nil && ctx.Err() == nil {
				e.logger.Warn("old events of a session stay", "session", session, "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// ErrClosed ends a subscription when the engine is closed and everything was read.
var ErrClosed = errors.New("the engine is closed")

// Subscription reads events in order, without a gap and without a double. It belongs to one goroutine.
type Subscription struct {
	engine  *Engine
	log     *eventLog
	session event.SessionID // empty: all sessions of this process
	// foreign says that the session is not open in this process: all that is known of it is what is stored.
	foreign  bool
	position uint64
	behind   bool // the ring no longer, or not yet, has what the reader wants: ask the store
	seen     map[event.SessionID]uint64
	read     map[event.SessionID]uint64 // seen as others may know it, by the log's lock, of a reader of all sessions
	backlog  []event.Event
	follower follower
}

// Subscribe starts reading at the events behind number since of a session, which may be one of another
// process, of which the stored events come. With an empty session it reads all sessions of this process from now on.
func (e *Engine) Subscribe(session event.SessionID, since uint64) *Subscription {
	_, err := e.Session(session)
	e.log.mu.Lock()
	defer e.log.mu.Unlock()
	s := &Subscription{engine: e, log: e.log, session: session, seen: map[event.SessionID]uint64{}}
	s.position = e.log.first + uint64(len(e.log.ring))
	if session != "" {
		s.seen[session] = since
		s.behind = true
		s.foreign = err != nil
	} else {
		maps.Copy(s.seen, e.log.last)
		s.read = maps.Clone(e.log.last)
		e.log.all = append(e.log.all, s)
	}
	return s
}

// Next returns the next event. It waits until there is one, ctx ends or the engine is closed
// ([ErrClosed]). It may read the disk when the reader is far behind. Where a reader of one session is so slow that the store has
// trimmed what it wants, it gets an [event.EventsTrimmed] in the place of that. The error is of the kind not_found once
// the session is not stored any more, where another process had it open. A reader of all sessions has to go on until it gets an error.
func (s *Subscription) Next(ctx context.Context) (event.Event, error) {
	next, err := s.next(ctx)
	if s.session == "" {
		s.log.mu.Lock()
		defer s.log.mu.Unlock()
		switch {
		case err != nil:
			s.log.all = slices.DeleteFunc(s.log.all, func(other *Subscription) bool { return other == s })
		case !event.Transient(next.Body):
			s.read[next.Session] = max(s.read[next.Session], next.Seq)
		}
	}
	return next, err
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
		if !s.behind && !s.foreign && s.position < end {
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
		if s.foreign {
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

// catchUp fills the backlog from the store with some of what was committed up to now. Once that is all of it, the reader goes on
// at the end that the ring had before.
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
			s.backlog = append(s.backlog, event.Event{Seq: first.Seq - 1, Session: session, Time: first.Time, Body: gap})
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
	// A session of another process is looked at after followSoon, then less and less often, but every followLate at least.
	followSoon, followLate = 25 * time.Millisecond, 400 * time.Millisecond
	// lookAfter is how often the reader of such a session sees to it that the process still lives.
	lookAfter = time.Second
)

// follower is how far the reader of another process's session is with looking for news.
type follower struct {
	pause  time.Duration
	looked time.Time // when the process was last seen to live
}

// follow waits until something new is stored of a session that another process has open. Where that process has died, its runs become
// interrupted, which is news.
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
		if err := s.engine.interruptDeserted(ctx, s.session); err != nil && !errors.Is(err, store.ErrLocked) { // the next look does it
			return err
		}
	}
}
