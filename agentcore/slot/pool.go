// Package slot bounds how many runs work at the same time: in one session by a queue, on the machine by lock files.
package slot

import (
	"context"
	"slices"
	"sync"
)

// Pool gives a bounded number of slots in the order of the requests. Its methods may be called from any goroutine.
type Pool struct {
	limit func() int

	mu    sync.Mutex
	held  int
	queue []*waiter // the next one first
}

// waiter is one goroutine in the queue.
type waiter struct {
	got    chan struct{} // closed when the waiter has a slot
	moved  chan int      // its newest place in the queue, from 1
	absent bool          // the place is only reserved
}

func newWaiter() *waiter { return &waiter{got: make(chan struct{}), moved: make(chan int, 1)} }

// Reservation is a place in the queue for a caller who comes soon: later requests wait behind it, even while slots are
// free. It ends with AcquireReserved or Drop. A nil reservation stands for none. Its methods may be called from any
// goroutine.
type Reservation struct {
	pool *Pool
	w    *waiter
}

// Reserve takes a place at the end of the queue.
func (p *Pool) Reserve() *Reservation {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := newWaiter()
	w.absent = true
	p.queue = append(p.queue, w)
	return &Reservation{p, w}
}

// Drop gives the place up, unless it is already used.
func (r *Reservation) Drop() { r.end(false) }

// end ends the reservation and reports whether it was still held. With come, the waiter stays in the queue.
func (r *Reservation) end(come bool) bool {
	if r == nil {
		return false
	}
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	if !r.w.absent {
		return false
	}
	r.w.absent = false
	if !come {
		r.pool.queue = slices.DeleteFunc(r.pool.queue, func(w *waiter) bool { return w == r.w })
	}
	r.pool.advance()
	return true
}

// AcquireReserved is Acquire at a reserved place. If the place was dropped, or r is nil, it is Acquire at the end of
// the queue.
func (p *Pool) AcquireReserved(ctx context.Context, r *Reservation, moved func(position int)) error {
	if err := ctx.Err(); err != nil {
		r.Drop()
		return err
	}
	if !r.end(true) {
		return p.Acquire(ctx, false, moved)
	}
	return p.wait(ctx, r.w, moved)
}

// NewPool makes a pool. limit is called at every change; less than 1 counts as 1.
func NewPool(limit func() int) *Pool { return &Pool{limit: limit} }

// Acquire waits for a slot, or for the end of ctx, whose error it then returns. A caller with first goes before all who
// wait: it is for callers that gave a slot up for a while. moved may be nil; it is called on the caller's goroutine
// with the place in the queue, from 1, when the wait begins and when the place changes. It is not called if a slot is
// free at once.
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
	w := newWaiter()
	if first {
		p.queue = slices.Insert(p.queue, 0, w)
	} else {
		p.queue = append(p.queue, w)
	}
	p.advance()
	p.mu.Unlock()
	return p.wait(ctx, w, moved)
}

// wait waits in the queue.
func (p *Pool) wait(ctx context.Context, w *waiter, moved func(position int)) error {
	for {
		select {
		case <-w.got: // checked first, since the waiter has no place any more
			return nil
		default:
		}
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

// Waiting returns how many callers wait.
func (p *Pool) Waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue)
}

// leave removes a waiter from the queue, or gives its slot back if it got one meanwhile.
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

// advance gives free slots to the first waiters, and tells the others their places. A waiter behind a reserved place,
// for whom a slot is free as well, waits for no slot and is not told. The lock is held.
func (p *Pool) advance() {
	for len(p.queue) > 0 && !p.queue[0].absent && p.held < max(1, p.limit()) {
		close(p.queue[0].got)
		p.queue = slices.Delete(p.queue, 0, 1)
		p.held++
	}
	free := max(0, max(1, p.limit())-p.held)
	for i, w := range p.queue {
		select {
		case <-w.moved: // remove an older place that the waiter was not told yet
		default:
		}
		if i >= free {
			w.moved <- i - free + 1
		}
	}
}
