package wire

import "sync"

// tally counts things under way. Unlike a sync.WaitGroup it may be waited for with a limit, and go up again while
// somebody waits. The zero value is ready; it is safe for concurrent use.
type tally struct {
	mu   sync.Mutex
	n    int
	done chan struct{} // closed when n falls to 0; nil if nobody has asked since
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

// idle returns a channel that is closed the next time nothing is under way, at once if that is now.
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
