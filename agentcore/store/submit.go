package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// Submit queues a batch for the writer and returns at once; it does not wait for the disk. Batches
// are committed in the order of Submit, several in one transaction where they come fast: what comes in each turn of a
// run waits up to 10 ms for more, unless somebody waits for its commit. Back
// pressure: Submit blocks while 16,384 batches or 64 MiB wait, and the writer always gets on: it gives
// up a transaction that stays locked after Options.BusyTimeout. After Close the commit fails with
// ErrClosed. Any goroutine may call it, except the callback Options.Committed, which must not block.
//
// Transient events ([event.Transient]) are not stored; they are published in their place with the
// number of the last stored event. A batch of them alone causes no transaction.
func (s *Store) Submit(b Batch) *Commit { return s.submit(b, true) }

// SubmitNow is Submit without the back pressure, for goroutines that must not wait for the disk. Its callers
// bound by other means how much they submit.
func (s *Store) SubmitNow(b Batch) *Commit { return s.submit(b, false) }

func (s *Store) submit(b Batch, wait bool) *Commit {
	j := &job{commit: &Commit{done: make(chan struct{}), queue: s.queue}, batch: b}
	j.batch.redact(s.options.Redact)
	j.size = j.batch.size()
	j.batch.Events = slices.Clone(j.batch.Events)
	j.batch.ToolCalls = slices.Clone(j.batch.ToolCalls)
	for i := range j.batch.ToolCalls {
		c := &j.batch.ToolCalls[i]
		c.Output = cutMiddle(c.Output, MaxOutput)
	}
	j.bodies = make([]json.RawMessage, len(b.Events))
	now := time.Now()
	for i := range j.batch.Events {
		e := &j.batch.Events[i]
		if e.Body == nil {
			j.commit.finish(fmt.Errorf("store an event of session %s: it has no body", e.Session))
			return j.commit
		}
		if e.Time.IsZero() {
			e.Time = now
		}
		// What is published equals what is read back later.
		e.Time = time.UnixMicro(e.Time.UnixMicro()).UTC()
		if event.Transient(e.Body) {
			continue
		}
		body, err := event.EncodeBody(e.Body)
		if err == nil && len(body) == 0 {
			err = fmt.Errorf("the %s event has no text", e.Body.EventType())
		}
		if err != nil {
			j.commit.finish(fmt.Errorf("store an event of session %s: %w", e.Session, err))
			return j.commit
		}
		j.bodies[i] = body
		j.size += len(body)
	}
	j.patient = j.batch.patient()
	s.queue.push(j, wait)
	return j.commit
}

func (s *Store) submitOwn(own func(*writer) ([]event.Event, error), after func(*writer)) *Commit {
	j := &job{commit: &Commit{done: make(chan struct{}), queue: s.queue}, own: own, after: after}
	s.queue.push(j, true)
	return j.commit
}
