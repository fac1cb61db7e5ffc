package run

import (
	"context"

	"github.com/agentls/agentls/agentcore/slot"
)

// line is where a call that starts a child stands among those of its turn. They are prepared beside each other, and
// their children are made, shown and begin in the order in which the model made the calls. Whoever needs time, for a
// question or a hook, leaves the line first, so that nobody waits behind it. A nil line is that of a call without
// company. It belongs to the goroutine of its call.
type line struct {
	at     *slot.Reservation // the child's place in the queue, until it is the child's
	before []chan struct{}   // closed when the calls in front have started their children, or have left
	passed chan struct{}     // closed when this one has
	gone   bool              // passed is closed
}

// behind is the next in line, with a place in the queue that was just taken.
func (l *line) behind(at *slot.Reservation) *line {
	next := &line{at: at, passed: make(chan struct{})}
	if l != nil {
		next.before = append(l.before, l.passed) // nobody else appends to what is behind it
	}
	return next
}

// place is the child's place in the queue; nil for none.
func (l *line) place() *slot.Reservation {
	if l == nil {
		return nil
	}
	return l.at
}

// wait waits until those in front have started their children, or have left. The error is that of ctx.
func (l *line) wait(ctx context.Context) error {
	if l == nil || l.gone {
		return nil
	}
	for _, passed := range l.before {
		select {
		case <-passed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// started hands the place over to the child, and lets the next one start its own.
func (l *line) started() {
	if l != nil {
		l.at = nil
		l.leave()
	}
}

// leave gives the place up, where no child has it, and lets those behind pass.
func (l *line) leave() {
	if l == nil {
		return
	}
	l.at.Drop()
	if !l.gone {
		l.gone = true
		close(l.passed)
	}
}
