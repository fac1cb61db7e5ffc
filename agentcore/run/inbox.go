package run

import (
	"slices"
	"sync"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
)

// inbox holds what a run is told between its turns: by the user, by the run that started it, and by the ends of its
// children in the background. Its methods may be called from any goroutine.
type inbox struct {
	outlet
	noting sync.Mutex // while what it has not read is looked at and handed to the store

	mu     sync.Mutex
	queue  []message
	owed   int // children in the background that have not ended
	closed bool
	news   chan struct{} // has room for one: queue has grown
}

// message is one thing that a run is told.
type message struct {
	child event.RunID // whose end it tells; empty for other messages
	text  string
}

func newInbox(o outlet) *inbox { return &inbox{outlet: o, news: make(chan struct{}, 1)} }

// put reports whether the text will be read: nothing is once the run has spoken its last word.
func (b *inbox) put(m message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.add(m)
}

func (b *inbox) add(m message) bool {
	if b.closed {
		return false
	}
	b.queue = append(b.queue, m)
	select {
	case b.news <- struct{}{}:
	default: // it has not seen the last one yet
	}
	return true
}

// owe notes a child in the background, settle that it has ended.
func (b *inbox) owe() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.owed++
}

func (b *inbox) settle(m message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.owed--
	b.add(m)
}

// coming returns how many children in the background have not ended.
func (b *inbox) coming() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.owed
}

// take returns what came since it was last called.
func (b *inbox) take() []message {
	b.mu.Lock()
	defer b.mu.Unlock()
	queue := b.queue
	b.queue = nil
	return queue
}

// drop takes out what tells the end of a child, since the run has heard of it otherwise.
func (b *inbox) drop(child event.RunID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = slices.DeleteFunc(b.queue, func(m message) bool { return m.child == child })
}

// idle reports whether there is nothing to read and nothing to come.
func (b *inbox) idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) == 0 && b.owed == 0
}

// close ends the reading where nothing is left to read or to come. It tells how many children are still to end.
func (b *inbox) close() (closed bool, owed int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = len(b.queue) == 0 && b.owed == 0
	if len(b.queue) > 0 {
		return false, 0
	}
	return b.closed, b.owed
}

// shut lets nothing more in; what is there can still be read.
func (b *inbox) shut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
}

// unheard returns the children whose ends the run has not read.
func (b *inbox) unheard() []event.RunID {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ended []event.RunID
	for _, m := range b.queue {
		if m.child != "" {
			ended = append(ended, m.child)
		}
	}
	return ended
}

// unread returns what somebody has said and the run has not read.
func (b *inbox) unread() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var said []string
	for _, m := range b.queue {
		if m.child == "" {
			said = append(said, m.text)
		}
	}
	return said
}

// note stores what the run was told and has not read.
func (b *inbox) note() *store.Commit {
	b.noting.Lock() // what is stored last is what there was last
	defer b.noting.Unlock()
	return b.tell(store.Batch{Unreads: []store.Unread{{Run: b.id, Texts: encoded(b.unread())}}})
}
