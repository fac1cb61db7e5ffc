package run

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/prompt"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/agentcore/toolset"
	"github.com/agentls/agentls/agentcore/workspace"
)

// conversation is what a run and its model have said to each other. Only the run's goroutine uses it.
type conversation struct {
	out      outlet
	about    surroundings
	system   string
	offering []model.Tool // as every request has them
	messages []model.Message
	turn     int
	attempt  int // of the turn, from 1
	memory   memory
	// instructed are the instructions that the run was given.
	instructed instructed
	touched    map[string]bool // files that the run proposed to change; true for those that it made
	lastText   string
	lastTurn   bool   // whether the turn is the last one, so that nothing is called but submit_result
	passes     passes // of an iterated run
	// expanded is what a command of an MCP server made of the prompt; empty for none. outputs are those of the commands
	// of its prompt.
	expanded string
	outputs  []prompt.Attachment
}

// again is called when the turn begins anew.
func (c *conversation) again() {
	c.attempt++
	c.out.tell(store.Batch{}, event.TurnStarted{Turn: c.turn, Attempt: c.attempt})
}

// room is how many tokens the conversation may have before it is shortened; 0 for no bound. A fifth of the context is
// left free, or the length that the definition allows for an answer, if that is longer. But room is never less than
// half of the context: in a small context, the prompt and the tools alone take that much.
func (c *conversation) room() int64 {
	window := c.memory.window
	return max(window/2, min(window*8/10, window-int64(c.about.answer)))
}

// append adds a message to the conversation, without the secrets in it, and stores it.
func (c *conversation) append(m model.Message) {
	m = withoutSecrets(m, c.out.redactor)
	c.messages = append(c.messages, m)
	c.memory.ids = append(c.memory.ids, c.keep(m, c.memory.last))
}

// pin is append for the words of whoever gave the run its task: they stay as they are when the conversation is
// shortened.
func (c *conversation) pin(m model.Message) {
	c.memory.pinned[len(c.messages)] = true
	c.append(m)
}

// keep stores a message of the run behind another one.
func (c *conversation) keep(m model.Message, parent event.MessageID) event.MessageID {
	parts, err := model.EncodeParts(m.Parts)
	if err != nil {
		// Parts are plain data that this package makes; one that cannot be encoded is a bug of ours.
		c.out.notice(event.NoticeError, "a message could not be stored: "+err.Error(),
			"the run goes on, but cannot be looked up later; please report it")
		return ""
	}
	c.memory.stored++
	c.memory.last = event.NewMessageID()
	row := store.Message{
		ID: c.memory.last, Run: c.out.id, Parent: parent, Seq: c.memory.stored, Role: string(m.Role),
		Parts: parts, Time: time.Now().UTC(),
	}
	if m.Role == model.RoleAssistant {
		row.Tokens, row.Duration = c.memory.answered.usage.OutputTokens, c.memory.answered.took
		row.Model, row.Usage = c.memory.answered.model, c.memory.answered.usage
		c.memory.answered = answered{}
	}
	row.Tokens = cmp.Or(row.Tokens, guessedTokens(m))
	c.out.tell(store.Batch{Messages: []store.Message{row}},
		event.MessageCommitted{Message: c.memory.last, Role: string(m.Role), Text: m.Text()})
	return c.memory.last
}

// read puts what the run was told into the conversation: first the ends of its children; then, pinned, what a person or
// the run that started it had to say.
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

// hearUnread puts into the conversation what the former run was told and has not read. A former run that was killed
// between reading a message and noting that has the message twice.
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

// Steers reports whether a message is something that a run was told while it worked, and is short enough to stay when
// the conversation is shortened. A correction counts as much as the task, and a summary may lose it.
func Steers(m model.Message) bool {
	text := m.Text()
	return m.Role == model.RoleUser && strings.HasPrefix(text, "<message from=") && len(text) <= maxPinned
}

// takeOver puts what the run inherits, and the former run's conversation (nil for none), in front of its own.
func (c *conversation) takeOver(inherited []model.Message, former *Former) {
	for _, m := range inherited {
		c.append(m)
	}
	if former == nil {
		return
	}
	for i, m := range former.Messages {
		if Steers(m) {
			c.memory.pinned[i] = true
		}
		c.messages = append(c.messages, withoutSecrets(m, c.out.redactor))
		c.memory.ids = append(c.memory.ids, former.Last)
	}
	c.memory.last, c.memory.pinned[0] = former.Last, true
	c.hearUnread(former.Unread)
}

// soFar is the run's conversation for a child that a call in its last message starts. Of that message, the child gets
// the text and those calls in front of its own that have results.
func (c *conversation) soFar(results []model.Part) []model.Message {
	n := len(c.messages) - 1
	if n < 0 || len(c.messages[n].Calls()) == 0 {
		return c.messages
	}
	last := model.Message{Role: c.messages[n].Role}
	calls := 0
	for _, part := range c.messages[n].Parts {
		if _, isCall := part.(model.Call); isCall {
			if calls++; calls > len(results) {
				continue
			}
		}
		last.Parts = append(last.Parts, part)
	}
	list := slices.Clone(c.messages[:n])
	if len(last.Parts) > 0 {
		list = append(list, last)
	}
	if len(results) > 0 {
		list = append(list, withoutSecrets(model.Message{Role: model.RoleTool, Parts: results}, c.out.redactor))
	}
	return list
}

// withoutReasoning is a conversation for another model: a model refuses reasoning that another one has sealed.
func withoutReasoning(messages []model.Message) []model.Message {
	var list []model.Message
	for _, m := range messages {
		m.Parts = slices.DeleteFunc(slices.Clone(m.Parts),
			func(part model.Part) bool { _, sealed := part.(model.Reasoning); return sealed })
		if len(m.Parts) > 0 {
			list = append(list, m)
		}
	}
	return list
}

// maxPinned bounds a message that the run was told and that stays as it is when the conversation is shortened, in
// bytes.
const maxPinned = 8 << 10

// surroundings are what a conversation has to know of its run in order to be shortened.
type surroundings struct {
	ctx    context.Context // the run's
	model  string
	answer int // how many tokens an answer may have; 0 where the definition sets no bound
	view   *workspace.View
	tools  *toolset.Set
	layer  func() *workspace.Layer
	todos  func() []event.Todo
	// consult has a hidden agent answer, instructions returns what hooks say to that agent, and progress shows what is
	// done.
	consult      func(slug, title, prompt string) (string, error)
	instructions func() (string, error)
	progress     func(message string, percent int)
}
