package run

import (
	"context"
	"fmt"
	"sync"

	"github.com/agentls/agentls/agentcore/slot"
)

// place is the right of a child to be at work. A session and the machine have only so many. A child gives its place up
// while it waits for somebody, and comes back ahead of the queue, so that children that wait for their own children
// cannot block each other. A user's own run has none and needs none. Its methods may be called from any goroutine of
// the run.
type place struct {
	session *slot.Pool
	machine *slot.Machine
	// waits shows people what the run waits for. alone tells them why the slots of the machine cannot be counted.
	waits func(reason string)
	alone func(err error)

	taking sync.Mutex // held by the call that waits for the place
	mu     sync.Mutex
	// release gives the slots back; nil while the run has no place.
	release func()
	// needs is true from the run's begin to its end: it has a place then, or waits to get one back.
	needs bool
	away  int // how many calls of the run wait for somebody
}

// shownPositions is up to which position in the queue each change is shown; behind it, every sixteenth position is.
const shownPositions = 8

// take waits for a place, at the reserved position in the queue if there is one. The error is that of ctx.
func (p *place) take(ctx context.Context, at *slot.Reservation) error {
	return p.acquire(ctx, false, at)
}

func (p *place) acquire(ctx context.Context, first bool, at *slot.Reservation) error {
	shown := ""
	waits := func(reason string) {
		if reason != shown {
			shown = reason
			p.waits(reason)
		}
	}
	tell := func(position int) {
		if shown == "" || position <= shownPositions || position%16 == 0 {
			waits(fmt.Sprintf("waits for a free place, number %d in the queue", position))
		}
	}
	var err error
	if first {
		err = p.session.Acquire(ctx, true, tell)
	} else {
		err = p.session.AcquireReserved(ctx, at, tell)
	}
	if err != nil {
		return err
	}
	unlock, err := p.machine.Acquire(ctx, first, func() { waits("waits for a free place on this machine") })
	if err != nil {
		if ctx.Err() != nil {
			p.session.Release()
			return ctx.Err()
		}
		p.alone(err)
		unlock = func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.needs = true
	p.release = func() {
		unlock()
		p.session.Release()
	}
	return nil
}

// leave gives the place back for good.
func (p *place) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.needs = false
	if p.release != nil {
		p.release()
		p.release = nil
	}
}

// yield gives the place up while one call of the run waits for somebody. regain, which is called once when that is
// over, waits for a place again if no other call of the run waits any more. Its error is that of ctx.
func (p *place) yield() (regain func(ctx context.Context) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away++; p.away == 1 && p.release != nil {
		p.release()
		p.release = nil
	}
	return p.regain
}

func (p *place) regain(ctx context.Context) error {
	p.mu.Lock()
	p.away--
	p.mu.Unlock()
	// Another call may have waited and ended in the meantime and brought the place back: no second one is taken.
	p.taking.Lock()
	defer p.taking.Unlock()
	p.mu.Lock()
	wanted := p.away == 0 && p.needs && p.release == nil
	p.mu.Unlock()
	if wanted {
		if err := p.acquire(ctx, true, nil); err != nil {
			return err
		}
	}
	return ctx.Err()
}
