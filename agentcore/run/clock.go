package run

import (
	"sync"
	"time"
)

// clock measures how long a run has been at work, and ends it when its time is over, a moment after what it does
// then, so that it can hand over. Time in which it waits in the
// queue or for a person does not count. Its methods may be called from any goroutine.
type clock struct {
	above   *clock // of the run that started this one; nil for one of the user
	mu      sync.Mutex
	limit   time.Duration // 0 for none
	late    func()        // called when it is time to hand over, again where the clock has stood meanwhile
	over    func()        // called when the limit is reached
	used    time.Duration // before since
	since   time.Time     // zero while it stands
	waiting int           // how many wait for a person
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

// reserve is what is kept of the limit for the hand-over.
func (c *clock) reserve() time.Duration { return min(c.limit/5, 30*time.Second) }

// stop lets the clock stand until start was called as often: calls of one turn may wait beside each other.
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

// beforeHandOver is the time that is left before that, negative once it is over. It is not limited while the clock has
// no limit.
func (c *clock) beforeHandOver() (rest time.Duration, limited bool) {
	c.mu.Lock()
	limit, reserve := c.limit, c.reserve()
	c.mu.Unlock()
	if limit == 0 {
		return 0, false
	}
	return limit - reserve - c.took(), true
}

// took is the time that counts by now.
func (c *clock) took() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		return c.used
	}
	return c.used + time.Since(c.since)
}

// stopAll lets the clock stand, and those above it, until resume is called.
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

// forChild is what a child may take of the time, so that there is still time to hand over after it. It is not limited
// where neither this clock nor one above has a limit.
func (c *clock) forChild() (rest time.Duration, limited bool) {
	for at := c; at != nil; at = at.above {
		if own, ok := at.beforeHandOver(); ok && (!limited || own < rest) {
			rest, limited = own, true
		}
	}
	return rest, limited
}

// allowed is a limit of time as the run begins, which may be long after it was made: at most what those above have
// left. 0 is none.
func (c *clock) allowed(limit time.Duration) time.Duration {
	if rest, limited := c.above.forChild(); limited && (limit == 0 || rest < limit) {
		return max(rest, 1) // 0 would be no limit
	}
	return limit
}
