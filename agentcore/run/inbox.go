package run

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
)

// inbox holds what a run is told between its turns: by the user, by the run that started it, and by the ends of its
// children in the background. Its methods may be called from any goroutine.
type inbox struct {
	outlet
	noting sync.Mutex // held while unread messages are collected and handed to the store

	mu     sync.Mutex
	queue  []message
	owed   int // children in the background that have not ended
	closed bool
	news   chan struct{} // has room for one value, which says that queue has grown
}

// message is one thing that a run is told.
type message struct {
	child event.RunID // the child whose end the message tells; empty for other messages
	text  string
}

// FromUser is from whom something is that the user tells a run.
const FromUser = "the user"

// wrapped is what somebody has told a run while it worked, as the model reads it: from whom it is, and the text.
const wrapped = "<message from=%q>\n%s\n</message>"

// Unwrapped is the text of a stored message in the words of the user who has told it to a run while it worked. Any
// other text stays as it is.
func Unwrapped(text string) string {
	begin, end, _ := strings.Cut(fmt.Sprintf(wrapped, FromUser, "\x00"), "\x00")
	body, begun := strings.CutPrefix(text, begin)
	body, ended := strings.CutSuffix(body, end)
	if !begun || !ended {
		return text
	}
	return strings.ReplaceAll(body, end+"\n\n"+begin, "\n\n") // of several that were read at once
}

// said is what somebody has told a run.
func said(from, text string) message { return message{text: fmt.Sprintf(wrapped, from, text)} }

func newInbox(o outlet) *inbox { return &inbox{outlet: o, news: make(chan struct{}, 1)} }

// put adds a message, and reports whether it will be read. Once the run has spoken its last word, no message is.
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
	default: // the run has not noticed an earlier message yet
	}
	return true
}

// owe notes that a child in the background has begun, settle that one has ended.
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

// take returns the messages that came since the last call.
func (b *inbox) take() []message {
	b.mu.Lock()
	defer b.mu.Unlock()
	queue := b.queue
	b.queue = nil
	return queue
}

// drop removes the message about the end of a child, of which the run has heard in another way.
func (b *inbox) drop(child event.RunID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = slices.DeleteFunc(b.queue, func(m message) bool { return m.child == child })
}

// idle reports whether nothing is unread and no child in the background is still to end.
func (b *inbox) idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) == 0 && b.owed == 0
}

// close closes the inbox if nothing is unread and no child is still to end. owed is how many children are.
func (b *inbox) close() (closed bool, owed int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = len(b.queue) == 0 && b.owed == 0
	if len(b.queue) > 0 {
		return false, 0
	}
	return b.closed, b.owed
}

// shut lets no further message in; those that are there can still be read.
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

// unread returns the messages of people and of the starting run that the run has not read.
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

// note stores the messages that the run has not read.
func (b *inbox) note() *store.Commit {
	b.noting.Lock() // the lock keeps the order: what is stored last is the newest state
	defer b.noting.Unlock()
	return b.tell(store.Batch{Unreads: []store.Unread{{Run: b.id, Texts: encoded(b.unread())}}})
}
