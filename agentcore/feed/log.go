// Package feed holds the events of a process in the order of their commits, and their readers. Each reader reads at its
// own speed, and gets each event exactly once.
package feed

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"sync"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
)

const (
	// keptEvents and keptBytes bound what the log keeps in memory; it holds up to twice as much before it drops the
	// older part. A reader that falls further behind gets the stored events from the store. It misses the transient
	// events, which are out of date then.
	keptEvents, keptBytes = 8192, 8 << 20
	// storedEvents is how many events of a session the store keeps. trimEvery is after how many further events the
	// older ones are removed.
	storedEvents, trimEvery = 20_000, 1000
)

// Log holds the published events of this process in the order of their commits. It owns the ring: the store's writer
// appends to it, subscriptions read it at their own speed, and nobody waits for a reader. Its methods may be called
// from any goroutine.
type Log struct {
	store *store.Store  // set before anybody subscribes
	ended chan struct{} // closed with the log

	mu     sync.Mutex
	ring   []entry
	first  uint64                     // position of ring[0]; positions count all events ever appended
	bytes  int                        // roughly the size of the ring's events
	last   map[event.SessionID]uint64 // the number of each session's last event
	grown  chan struct{}              // closed and replaced when the ring grows
	closed bool
	// untrimmed counts for each session the events that were stored since its older ones were last removed. long names
	// the sessions with too many.
	untrimmed map[event.SessionID]int
	long      chan event.SessionID
	// all are the readers of all sessions. Events that they have not read are not trimmed: these readers show this
	// process to people, who would otherwise wait for the end of a run that has ended.
	all []*Subscription
}

// entry is one event of the log.
type entry struct {
	event.Event
	// unsaved says that the store failed. Such an event has no number. Only the readers of all sessions get it, since
	// they show this process to people.
	unsaved bool
	bytes   int
}

// New makes a log without a store, whose writer may append to it while the store is opened.
func New() *Log {
	return &Log{
		ended: make(chan struct{}), last: map[event.SessionID]uint64{}, grown: make(chan struct{}),
		untrimmed: map[event.SessionID]int{}, long: make(chan event.SessionID, 64),
	}
}

// Use gives the log the store with the events that the log itself does not keep. It is called once, before Subscribe
// and Trim.
func (l *Log) Use(s *store.Store) { l.store = s }

// Append adds events that were committed, in their order. It does not wait.
func (l *Log) Append(events []event.Event) {
	entries := make([]entry, len(events))
	for i, e := range events {
		entries[i] = entry{Event: e, bytes: weight(e.Body)}
	}
	l.add(entries)
}

// AppendUnsaved adds an event that could not be stored, but of which people must hear. It does not wait.
func (l *Log) AppendUnsaved(e event.Event) {
	l.add([]entry{{Event: e, unsaved: true, bytes: weight(e.Body)}})
}

// weight is roughly an event's size in memory, in bytes; only texts of unbounded length are counted.
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

func (l *Log) add(entries []entry) {
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

// countLocked counts a stored event, and asks for its session to be trimmed after trimEvery of them. It does not wait:
// if too many sessions wait to be trimmed, the session's next event tries again.
func (l *Log) countLocked(session event.SessionID) {
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

// Close ends the subscriptions once they have read everything.
func (l *Log) Close() {
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
func (l *Log) read(session event.SessionID) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	read := uint64(math.MaxUint64)
	for _, s := range l.all {
		read = min(read, s.read[session])
	}
	return read
}

// Trim removes the older events of long sessions from the store, until ctx ends. Its caller waits for it before it
// closes the store.
func (l *Log) Trim(ctx context.Context, logger *slog.Logger) {
	for {
		select {
		case session := <-l.long:
			if err := l.store.TrimEvents(ctx, session, storedEvents, l.read(session)); err != nil && ctx.Err() == nil {
				logger.Warn("old events of a session stay", "session", session, "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}
