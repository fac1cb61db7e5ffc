package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
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
	if !r.tasks.inbox.put(message{text: fmt.Sprintf("<message from=%q>\n%s\n</message>", from, text)}) {
		return &fault.Error{
			Kind: fault.NotAllowed, Detail: fmt.Sprintf("%s (%s) has ended, or speaks its last word",
				r.definition.Slug, r.id),
			Hint: "go on with it by agent/resume",
		}
	}
	// Whoever is told that it will be read relies on that, also where the run, or the process, ends before.
	if err := r.tasks.inbox.note().Wait(r.process.Context); err != nil {
		return fault.Unstored(err)
	}
	return nil
}

// read puts what the run was told into the conversation: first the ends of its children, then, pinned, what
// somebody had to say.
func (c *conversation) read(inbox *inbox) {
	var told, said []string
	for _, m := range inbox.take() {
		if m.child != "" {
			told = append(told, m.text)
		} else {
			said = append(said, m.text)
		}
	}
	if len(told) > 0 {
		c.append(model.UserText(strings.Join(told, "\n\n")))
	}
	if len(said) == 0 {
		return
	}
	m := model.UserText(strings.Join(said, "\n\n"))
	c.hear(m)
	inbox.note()
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
