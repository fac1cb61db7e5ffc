package store

import (
	"encoding/json"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/event"
)

// The queue's bounds. Submit blocks while one of them is reached; a single batch may be larger.
const (
	maxQueued      = 1 << 14
	maxQueuedBytes = 64 << 20
)

// queue holds the jobs between Submit and the writer, in order. It owns its state by its lock.
type queue struct {
	mu     sync.Mutex
	room   sync.Cond // jobs were taken, or the queue was closed
	jobs   []*job
	bytes  int
	closed bool
	// since is when the first of the jobs came. hasty says that the jobs must not wait for more.
	since time.Time
	hasty bool
	// ready has room for one token, which says that there are jobs or that the queue is closed.
	ready chan struct{}
}

func newQueue() *queue {
	q := &queue{ready: make(chan struct{}, 1)}
	q.room.L = &q.mu
	return q
}

// linger is how long patient jobs wait for others, so that turns of several runs, or several turns of one, share a
// transaction: a transaction costs more than the rows of a turn. Nobody notices so short a time.
const linger = 10 * time.Millisecond

// When there are this many jobs, or they are this large, they do not wait for more.
const (
	maxLingering      = 1024
	maxLingeringBytes = 1 << 20
)

// push appends a job. If wait is set, it waits until there is room. On a closed queue, the job fails with ErrClosed.
func (q *queue) push(j *job, wait bool) {
	q.mu.Lock()
	for wait && !q.closed && len(q.jobs) > 0 && (len(q.jobs) >= maxQueued || q.bytes+j.size > maxQueuedBytes) {
		q.room.Wait()
	}
	if q.closed {
		q.mu.Unlock()
		j.commit.finish(ErrClosed)
		return
	}
	if len(q.jobs) == 0 {
		q.since = time.Now()
	}
	q.jobs = append(q.jobs, j)
	q.bytes += j.size
	news := len(q.jobs) == 1
	if !q.hasty && (!j.patient || len(q.jobs) >= maxLingering || q.bytes >= maxLingeringBytes) {
		q.hasty, news = true, true
	}
	q.mu.Unlock()
	if news {
		q.wake()
	}
}

// hurry lets no job wait for more.
func (q *queue) hurry() {
	q.mu.Lock()
	news := !q.hasty && len(q.jobs) > 0
	q.hasty = q.hasty || news
	q.mu.Unlock()
	if news {
		q.wake()
	}
}

// take returns all queued jobs, in order. It waits for the first job and, if all jobs are patient, a moment for more.
// It returns nil when the queue is closed and empty. Only the writer calls it.
func (q *queue) take() []*job {
	for {
		q.mu.Lock()
		queued, left := len(q.jobs) > 0, linger-time.Since(q.since)
		if q.closed || queued && (q.hasty || left <= 0) {
			jobs := q.jobs
			q.jobs, q.bytes, q.hasty = nil, 0, false
			q.room.Broadcast()
			q.mu.Unlock()
			return jobs
		}
		q.mu.Unlock()
		if !queued {
			<-q.ready
			continue
		}
		timer := time.NewTimer(left)
		select {
		case <-q.ready:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// close lets no more jobs in. Jobs that are queued may still be taken.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.room.Broadcast()
	q.mu.Unlock()
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// cutMiddle shortens a text to at most limit bytes, keeping both ends and whole characters.
func cutMiddle(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const mark = "\n[… cut …]\n"
	half := (limit - len(mark)) / 2
	head, tail := half, len(text)-half
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	// Cloned so that the long text can be freed.
	return strings.Clone(text[:head] + mark + text[tail:])
}

// job is a batch in the queue, or some other transaction of the store's own.
type job struct {
	commit *Commit
	batch  Batch
	// bodies are the encoded events; the body of a transient event is empty.
	bodies []json.RawMessage
	// own is a transaction of the store itself, which runs alone. The events that it returns are published like those
	// of a batch.
	own func(*writer) ([]event.Event, error)
	// after runs when own is committed.
	after func(*writer)
	// size is about the number of bytes that the job keeps in memory.
	size int
	// patient jobs may wait a moment for others.
	patient bool
}
