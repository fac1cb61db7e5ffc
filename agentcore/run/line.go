package run

import (
	"context"

	"github.com/agentls/agentls/agentcore/slot"
)

// line is the place of a call that starts a child, in a queue of such calls of one turn. The calls are prepared at the
// same time; their children are made, shown and begin in the order in which the model made the calls. A call that needs
// time, for a question or a hook, leaves the line first, so that no other call waits behind it. A nil line belongs to a
// call that is alone in its turn. The goroutine of the call owns the line.
type line struct {
	at     *slot.Reservation // the child's place in the queue, until the child takes it
	before []chan struct{}   // closed when the calls in front have started their children or have left
	passed chan struct{}     // closed when this call has done so
	gone   bool              // whether passed is closed
}

// behind makes the line of the next call, with a place in the queue that was just reserved.
func (l *line) behind(at *slot.Reservation) *line {
	next := &line{at: at, passed: make(chan struct{})}
	if l != nil {
		next.before = append(l.before, l.passed) // no other call appends to what stands behind this one
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

// wait waits until the calls in front have started their children or have left. The error is that of ctx.
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

// started hands the place over to the child, and lets the next call start its own.
func (l *line) started() {
	if l != nil {
		l.at = nil
		l.leave()
	}
}

// leave gives the place up unless a child has it, and lets the calls behind pass.
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
