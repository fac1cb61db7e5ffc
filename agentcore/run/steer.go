package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/store"
)

func (r *Run) Steer(from, text string) error {
	text = strings.TrimSpace(text)
	if text == "" {
		return &fault.Error{
			Kind: fault.InvalidRequest, Detail: "the message is empty",
			Hint: "say what the agent should know",
		}
	}
	if r.passes.steer(from, text) {
		return nil
	}
	if !r.inbox.put(message{text: fmt.Sprintf("<message from=%q>\n%s\n</message>", from, text)}) {
		return &fault.Error{
			Kind: fault.NotAllowed, Detail: fmt.Sprintf("%s (%s) has ended, or speaks its last word",
				r.definition.Slug, r.id),
			Hint: "go on with it by agent/resume",
		}
	}
	// Whoever is told that it will be read relies on that, also where the run, or the process, ends before.
	if err := r.noteUnread().Wait(r.process.Context); err != nil {
		return fault.Unstored(err)
	}
	return nil
}

// readInbox puts what the run was told into the conversation: first the ends of its children, then, pinned, what
// somebody had to say.
func (r *Run) readInbox() {
	var told, said []string
	for _, m := range r.inbox.take() {
		if m.child != "" {
			told = append(told, m.text)
		} else {
			said = append(said, m.text)
		}
	}
	if len(told) > 0 {
		r.append(model.UserText(strings.Join(told, "\n\n")))
	}
	if len(said) == 0 {
		return
	}
	m := model.UserText(strings.Join(said, "\n\n"))
	r.hear(m)
	r.noteUnread()
}

// noteUnread stores what the run was told and has not read.
func (r *Run) noteUnread() *store.Commit {
	r.noting.Lock() // what is stored last is what there was last
	defer r.noting.Unlock()
	return r.tell(store.Batch{Unreads: []store.Unread{{Run: r.id, Texts: encoded(r.inbox.unread())}}})
}

// hear puts what somebody said into the conversation.
func (c *conversation) hear(said model.Message) {
	if Steers(said) {
		c.pin(said)
	} else {
		c.append(said)
	}
}

// hearUnread puts into the conversation what the former run was told and has not read. One that was cut off between
// reading and noting that has it twice.
func (c *conversation) hearUnread(unread []string) {
	var said []string
	for _, text := range unread {
		if !slices.ContainsFunc(c.messages, func(m model.Message) bool {
			return m.Role == model.RoleUser && strings.Contains(m.Text(), text)
		}) {
			said = append(said, text)
		}
	}
	if len(said) > 0 {
		c.hear(model.UserText(strings.Join(said, "\n\n")))
	}
}

// maxPinned is how long what a run is told may be to stay as it is where the conversation is shortened, in bytes.
const maxPinned = 8 << 10

// Steers reports whether a message of a conversation is what a run was told in its course, and short enough to stay in
// it: a correction counts as much as the task, and a summary may lose it.
func Steers(m model.Message) bool {
	text := m.Text()
	return m.Role == model.RoleUser && strings.HasPrefix(text, "<message from=") && len(text) <= maxPinned
}

// mayEnd reports whether a run that has nothing more to do may end. Where it may not, there is something to read by the
// time it returns: children in the background are waited for. The error is that of the run's context.
func (r *Run) mayEnd() (bool, error) {
	closed, owed := r.inbox.close()
	if closed || owed == 0 {
		return closed, nil
	}
	resume := r.waitsInBackground(owed)
	defer resume()
	for {
		select {
		case <-r.inbox.news: // it may be of what was read since
			if closed, owed = r.inbox.close(); closed || owed == 0 {
				return closed, nil
			}
		case <-r.ctx.Done():
			return false, r.ctx.Err()
		}
	}
}

// awaitTasks waits for the children in the background before the run's last turn, as it does where it has nothing more
// to do, so that its last word knows what came of them. It waits until the time of the run is kept for its hand-over;
// what they use is of its budget, and they end with that. The error is that of the run's context.
func (r *Run) awaitTasks() error {
	owed := r.inbox.coming()
	if owed == 0 {
		return nil
	}
	resume := r.waitsInBackground(owed)
	defer resume()
	for r.inbox.coming() > 0 {
		select {
		case <-r.inbox.news:
		case <-r.working.Done():
			return r.ctx.Err()
		}
	}
	return nil
}

// waitsInBackground is waits for so many children.
func (r *Run) waitsInBackground(owed int) (resume func()) {
	return r.waits(fmt.Sprintf("waits for %s in the background", clip.Counted(owed, "child", "children")))
}
