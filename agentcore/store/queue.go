package store

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// queue holds the jobs between Submit and the writer, in order. It owns its state by its lock.
type queue struct {
	mu     sync.Mutex
	room   sync.Cond // jobs were taken, or the queue was closed
	jobs   []*job
	bytes  int
	closed bool
	// ready has room for one token, which says that there are jobs or that the queue was closed.
	ready chan struct{}
}

func newQueue() *queue {
	q := &queue{ready: make(chan struct{}, 1)}
	q.room.L = &q.mu
	return q
}

// push appends a job; if it may wait, not before there is room. On a closed queue the job fails with ErrClosed.
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
	q.jobs = append(q.jobs, j)
	q.bytes += j.size
	q.mu.Unlock()
	q.wake()
}

// take returns all that is queued, in order. It waits for the first job; nil means that the queue is
// closed and empty. Only the writer calls it.
func (q *queue) take() []*job {
	for {
		q.mu.Lock()
		if len(q.jobs) > 0 || q.closed {
			jobs := q.jobs
			q.jobs, q.bytes = nil, 0
			q.room.Broadcast()
			q.mu.Unlock()
			return jobs
		}
		q.mu.Unlock()
		<-q.ready
	}
}

// close lets no more jobs in; those inside may still be taken.
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
