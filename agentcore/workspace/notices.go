package workspace

import (
	"sync"
)

// notices are callbacks that wait until the view's lock is free. They run in order, one at a time, on the goroutine
// that changed the view.
type notices struct {
	mu      sync.Mutex
	pending []func()
	running bool
}

func (n *notices) add(call func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending = append(n.pending, call)
}

// run calls the pending callbacks. Where another goroutine is doing so, run returns at once, and that goroutine calls
// them.
func (n *notices) run() {
	n.mu.Lock()
	if n.running {
		n.mu.Unlock()
		return
	}
	n.running = true
	defer func() {
		n.running = false
		n.mu.Unlock()
	}()
	for len(n.pending) > 0 {
		call := n.pending[0]
		n.pending = n.pending[1:]
		func() {
			n.mu.Unlock()
			// A callback that panics must not leave the lock free for the deferred call above.
			defer n.mu.Lock()
			call()
		}()
	}
}
