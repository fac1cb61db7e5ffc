package store

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"
)

func newJob(size int) *job { return &job{commit: &Commit{done: make(chan struct{})}, size: size} }

// pushing starts a push and tells whether it has returned, once everything has come to rest.
func pushing(q *queue, j *job) (returned func() bool) {
	done := make(chan struct{})
	go func() {
		q.push(j, true)
		close(done)
	}()
	return func() bool {
		synctest.Wait()
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
}

func TestFullQueueBlocks(t *testing.T) {
	for _, c := range []struct {
		name        string
		count, size int
	}{
		{"batches", maxQueued, 1},
		{"bytes", 4, maxQueuedBytes / 4},
		{"one large batch", 1, 2 * maxQueuedBytes},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue()
				for i := range c.count {
					if !pushing(q, newJob(c.size))() {
						t.Fatalf("batch %d was not let in", i)
					}
				}
				over := newJob(1)
				returned := pushing(q, over)
				if returned() {
					t.Error("one more was let in")
				}
				if jobs := q.take(); len(jobs) != c.count {
					t.Errorf("took %d batches", len(jobs))
				}
				if !returned() {
					t.Fatal("it blocks although there is room")
				}
				if jobs := q.take(); len(jobs) != 1 || jobs[0] != over {
					t.Errorf("took %v", jobs)
				}
			})
		})
	}
}

func TestClosedQueueLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		in, over := newJob(maxQueuedBytes), newJob(1)
		q.push(in, true)
		returned := pushing(q, over)
		if returned() {
			t.Fatal("one more was let in")
		}
		q.close()
		if !returned() {
			t.Fatal("it blocks on a closed queue")
		}
		if <-over.commit.Done(); !errors.Is(over.commit.err, ErrClosed) {
			t.Errorf("the batch outside: %v", over.commit.err)
		}
		if jobs := q.take(); len(jobs) != 1 || jobs[0] != in {
			t.Errorf("the queue held %v", jobs)
		}
		if jobs := q.take(); jobs != nil {
			t.Errorf("an empty, closed queue gave %v", jobs)
		}
	})
}

func TestCutMiddle(t *testing.T) {
	for _, text := range []string{strings.Repeat("a", 100), strings.Repeat("ä€😀", 30)} {
		for limit := 20; limit <= len(text)+1; limit++ {
			cut := cutMiddle(text, limit)
			if len(text) <= limit {
				if cut != text {
					t.Fatalf("%q was cut although %d bytes have room", text, limit)
				}
				continue
			}
			if len(cut) > limit || !utf8.ValidString(cut) || !strings.HasPrefix(cut, text[:1]) ||
				!strings.Contains(cut, "cut") {
				t.Fatalf("%q was cut to %d bytes as %q", text, limit, cut)
			}
		}
	}
}
