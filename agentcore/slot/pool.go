// Package slot bounds how many runs are at work at once: in one session by a queue, on the machine by lock files.
package slot

import (
	"context"
	"slices"
	"sync"
)

// Pool hands out a bounded number of slots in the order in which they were asked for. Its methods may be called from any
// goroutine.
type Pool struct {
	limit func() int

	mu    sync.Mutex
	held  int
	queue []*waiter // the next one first
}

// waiter is one goroutine in the queue.
type waiter struct {
	got   chan struct{} // closed when it has the slot
	moved chan int      // its newest place in the queue, from 1
}

// NewPool makes a pool. limit is asked at every change; less than 1 counts as 1.
func NewPool(limit func() int) *Pool { return &Pool{limit: limit} }

// Acquire waits for a slot, or for the end of ctx, whose error it returns then. first goes ahead of all who wait: those that gave
// a slot up come back so. moved may be nil; it is called on the caller's goroutine with the place in the queue, from 1, when
// the wait begins and when that changes, and never where a slot is free at once.
func (p *Pool) Acquire(ctx context.Context, first bool, moved func(position int)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.mu.Lock()
	if p.held < max(1, p.limit()) && (first || len(p.queue) == 0) {
		p.held++
		p.mu.Unlock()
		return nil
	}
	w := &waiter{got: make(chan struct{}), moved: make(chan int, 1)}
	if first {
		p.queue = slices.Insert(p.queue, 0, w)
	} else {
		p.queue = append(p.queue, w)
	}
	p.advance()
	p.mu.Unlock()
	for {
		select {
		case <-w.got:
			return nil
		case position := <-w.moved:
			if moved != nil {
				moved(position)
			}
		case <-ctx.Done():
			p.leave(w)
			return ctx.Err()
		}
	}
}

// Release gives a slot back.
func (p *Pool) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held--
	p.advance()
}

// Waiting returns how many wait.
func (p *Pool) Waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue)
}

// leave takes a waiter out of the queue, or gives its slot back where it has got it meanwhile.
func (p *Pool) leave(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.queue, w); i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
	} else {
		p.held--
	}
	p.advance()
}

// advance hands free slots to those in front and tells the others where they are. The lock is held.
func (p *Pool) advance() {
	for len(p.queue) > 0 && p.held < max(1, p.limit()) {
		close(p.queue[0].got)
		p.queue = slices.Delete(p.queue, 0, 1)
		p.held++
	}
	for i, w := range p.queue {
		select {
		case <-w.moved: // what it was not told yet is old
		default:
		}
		w.moved <- i + 1
	}
}
