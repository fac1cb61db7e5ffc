package run

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/agentls/agentls/agentcore/event"
)

// pause stops the clocks of the run and of the runs above it while the run waits for a person, and shows the reason.
// resume ends the waiting.
func (w *waitList) pause(reason string) (resume func()) {
	start := w.clock.stopAll()
	goOn := w.waits(reason)
	return func() {
		goOn()
		start()
	}
}

// waitList is what a run waits for, the oldest first. Its lock also puts the changes of the run's status into order.
type waitList struct {
	ctx    context.Context // the run's
	place  *place
	clock  *clock
	status func(status event.Status, reason string)

	mu   sync.Mutex
	list []*awaited
}

// awaited is one thing that a run waits for: children, or what the reason names.
type awaited struct {
	reason   string
	children []awaitedChild
}

// awaitedChild is a child that a run waits for. It holds the slug of the child's agent, and a channel that is closed at
// the child's end.
type awaitedChild struct {
	agent string
	done  <-chan struct{}
}

func (c awaitedChild) ended() bool { return closed(c.done) }

// closed reports whether a channel on which nothing is sent is closed.
func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// waits shows that the run waits, and meanwhile lets other runs have its place. resume ends the waiting. Calls of one
// turn may wait at the same time.
func (w *waitList) waits(reason string) (resume func()) { return w.waitsOn(&awaited{reason: reason}) }

func (w *waitList) waitsOn(a *awaited) (resume func()) {
	regain := w.place.yield()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, a)
	w.status(event.StatusWaiting, w.reason())
	return func() {
		err := regain(w.ctx)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.list = slices.DeleteFunc(w.list, func(other *awaited) bool { return other == a })
		switch {
		case err != nil:
		case len(w.list) > 0:
			w.status(event.StatusWaiting, w.reason())
		default:
			w.status(event.StatusRunning, "")
		}
	}
}

// reason says what the run waits for. A person comes before children, since a reader can do something about a person.
// The lock is held.
func (w *waitList) reason() string {
	var children []awaitedChild
	seen := map[awaitedChild]bool{}
	for _, a := range slices.Backward(w.list) {
		if a.children == nil {
			return a.reason
		}
		for _, child := range a.children {
			if !child.ended() && !seen[child] {
				children, seen[child] = append(children, child), true
			}
		}
	}
	if len(children) == 0 { // the children have ended just now
		return w.list[0].reason
	}
	return waitsFor(children)
}

func waitsFor(children []awaitedChild) string {
	if len(children) == 1 {
		return "waits for " + children[0].agent
	}
	return fmt.Sprintf("waits for %d children", len(children))
}
