package wire

import "sync"

// tally counts what is under way. Unlike with a sync.WaitGroup, the wait can have a limit, and the count may grow while
// somebody waits. The zero value is ready; it is safe for concurrent use.
type tally struct {
	mu   sync.Mutex
	n    int
	done chan struct{} // closed when n falls to 0; nil if nobody has asked for it since the last time
}

// add adds n, which may be negative.
func (t *tally) add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n += n
	if t.n == 0 && t.done != nil {
		close(t.done)
		t.done = nil
	}
}

// idle returns a channel that is closed the next time that nothing is under way, which may be now.
func (t *tally) idle() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done == nil {
		t.done = make(chan struct{})
	}
	done := t.done
	if t.n == 0 {
		close(done)
		t.done = nil
	}
	return done
}
