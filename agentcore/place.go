package agentcore

import (
	"errors"
	"fmt"
	"sync"

	"github.com/agentls/agentls/agentcore/event"
)

// place is the right of a child to be at work, of which there are so many in a session and on the machine. A child gives it up while it
// waits for somebody, and comes back ahead of the queue, so that children which wait for their own children cannot stop each
// other. A user's own run has and needs none. Its methods may be called from any goroutine of the run.
type place struct {
	run *run

	mu sync.Mutex
	// release gives the slots back; nil while it has none.
	release func()
	// needs says that the run has begun and not ended: it has a place, or waits to get it back.
	needs bool
	away  int // how many calls of the run wait for somebody
}

// shownPositions are the places in the queue that are told each time they change; of those behind, every sixteenth is.
const shownPositions = 8

// take waits for a place. The error is that of the run's context.
func (p *place) take(first bool) error {
	r := p.run
	shown := ""
	waits := func(reason string) {
		if reason != shown {
			shown = reason
			r.setStatus(event.StatusWaiting, reason)
		}
	}
	err := r.session.slots.Acquire(r.ctx, first, func(position int) {
		if shown == "" || position <= shownPositions || position%16 == 0 {
			waits(fmt.Sprintf("waits for a free place, number %d in the queue", position))
		}
	})
	if err != nil {
		return err
	}
	unlock, err := r.engine.machine.Acquire(r.ctx, first, func() { waits("waits for a free place on this machine") })
	if err != nil && r.ctx.Err() != nil {
		r.session.slots.Release()
		return err
	}
	if err != nil {
		// The bound of this session holds; that of the machine is no reason to do nothing at all.
		r.notice(event.NoticeWarning, "children of other agentls processes cannot be counted: "+err.Error(), "make the state folder writable (see `agentls doctor`)")
		unlock = func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.needs = true
	p.release = func() {
		unlock()
		r.session.slots.Release()
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

// yield gives the place up while one call of the run waits for somebody. regain, which has to be called once, waits for it again when nothing
// of the run waits any more; its error is that of the run's context.
func (p *place) yield() (regain func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away++; p.away == 1 && p.release != nil {
		p.release()
		p.release = nil
	}
	return p.regain
}

func (p *place) regain() error {
	p.mu.Lock()
	p.away--
	wanted := p.away == 0 && p.needs && p.release == nil
	p.mu.Unlock()
	if !wanted {
		return p.run.ctx.Err()
	}
	return errors.Join(p.take(true), p.run.ctx.Err())
}
