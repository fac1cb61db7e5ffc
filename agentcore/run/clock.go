package run

import (
	"sync"
	"time"
)

// clock measures how long a run has been at work. When the time for work is over, it tells the run to hand over; when
// the limit is reached, it ends the run. Time in which the run waits in the queue or for a person does not count. Its
// methods may be called from any goroutine.
type clock struct {
	above   *clock // of the run that started this one; nil for a run of the user
	mu      sync.Mutex
	limit   time.Duration // 0 for none
	late    func()        // called when it is time to hand over, and again each time the clock goes on after that
	over    func()        // called when the limit is reached
	used    time.Duration // before the moment in since
	since   time.Time     // zero while the clock stands still
	waiting int           // how many calls wait for a person
	begun   bool
	timers  []*time.Timer
}

// begin starts the clock for the first time.
func (c *clock) begin(limit time.Duration, late, over func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit, c.late, c.over, c.begun = limit, late, over, true
	c.run()
}

func (c *clock) run() {
	c.since = time.Now()
	if c.limit > 0 {
		c.timers = []*time.Timer{
			time.AfterFunc(max(0, c.limit-c.reserve()-c.used), c.late), time.AfterFunc(max(0, c.limit-c.used), c.over),
		}
	}
}

func (c *clock) halt() {
	if c.since.IsZero() {
		return
	}
	c.used += time.Since(c.since)
	c.since = time.Time{}
	for _, timer := range c.timers {
		timer.Stop()
	}
	c.timers = nil
}

// reserve is the part of the limit that is kept for the hand-over.
func (c *clock) reserve() time.Duration { return min(c.limit/5, 30*time.Second) }

// stop makes the clock stand still until start was called as often as stop: calls of one turn may wait at the same
// time.
func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting++; c.waiting == 1 {
		c.halt()
	}
}

func (c *clock) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting--; c.waiting == 0 && c.begun {
		c.run()
	}
}

// end stops the clock for good.
func (c *clock) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.halt()
	c.begun = false
}

// handOverDue reports whether so little of the time is left that the next answer must be the last.
func (c *clock) handOverDue() bool {
	rest, limited := c.beforeHandOver()
	return limited && rest < 0
}

// beforeHandOver returns how much time is left until the hand-over, negative once it is due. limited is false for a
// clock without a limit.
func (c *clock) beforeHandOver() (rest time.Duration, limited bool) {
	c.mu.Lock()
	limit, reserve := c.limit, c.reserve()
	c.mu.Unlock()
	if limit == 0 {
		return 0, false
	}
	return limit - reserve - c.took(), true
}

// took is the time that has counted so far.
func (c *clock) took() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		return c.used
	}
	return c.used + time.Since(c.since)
}

// stopAll makes this clock and all above it stand still until resume is called.
func (c *clock) stopAll() (resume func()) {
	for at := c; at != nil; at = at.above {
		at.stop()
	}
	return func() {
		for at := c; at != nil; at = at.above {
			at.start()
		}
	}
}

// forChild returns how much time a child may take, so that enough is left to hand over after it. limited is false where
// neither this clock nor one above has a limit.
func (c *clock) forChild() (rest time.Duration, limited bool) {
	for at := c; at != nil; at = at.above {
		if own, ok := at.beforeHandOver(); ok && (!limited || own < rest) {
			rest, limited = own, true
		}
	}
	return rest, limited
}

// allowed bounds a limit of time when the run begins, which may be long after the limit was set: by what the clocks
// above have left. 0 means no limit.
func (c *clock) allowed(limit time.Duration) time.Duration {
	if rest, limited := c.above.forChild(); limited && (limit == 0 || rest < limit) {
		return max(rest, 1) // 0 would mean no limit
	}
	return limit
}
