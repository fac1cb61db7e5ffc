package run

import (
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
)

const (
	// bytesPerToken is used to guess tokens that no provider has counted. Code and JSON have three to four bytes in a
	// token; summing up too early costs less than a request that is refused.
	bytesPerToken = 3
	// leastPerToken is the most bytes in a token that a provider's count may imply and still be believed: some
	// providers count only what they had not cached.
	leastPerToken = 8
	// imageTokens is about the most tokens that the vendors count for an image.
	imageTokens = 1600
)

// memory is what a run knows of its conversation beside the messages: how much of the model's context it fills, and
// where its messages are stored. Only the run's goroutine uses it.
type memory struct {
	window int64 // how many tokens the model takes; 0 for no bound
	head   int64 // bytes of the system prompt and the tools

	bytes   int64 // bytes of the head and of the messages that the provider has counted
	counted int64 // how many tokens these are
	upTo    int   // how many messages these are
	after   int64 // nothing is shortened up to this size, since shortening helped too little last time

	pinned map[int]bool      // the indexes of the messages that are never shortened
	ids    []event.MessageID // of the messages, in order
	last   event.MessageID   // the message that was stored last
	stored int               // how many messages are stored
	read   map[string]bool   // files, by their shown names, that earlier messages were about

	answered answered // what goes with the answer that is not stored yet
}

// answered is what is stored with an answer of the model beside its text.
type answered struct {
	model string
	usage event.Usage // what this answer alone used
	took  time.Duration
}

// begin measures what is the same in all requests. window is how many tokens the model takes, 0 for no bound.
func (m *memory) begin(window int64, system string, tools []model.Tool) {
	m.window = window
	m.head = int64(len(system))
	for _, t := range tools {
		m.head += int64(len(t.Name) + len(t.Description) + len(t.Schema))
	}
	m.pinned, m.read = map[int]bool{}, map[string]bool{}
	m.recount()
}

// recount forgets the provider's count, since the messages have changed.
func (m *memory) recount() { m.bytes, m.counted, m.upTo = m.head, m.head/bytesPerToken, 0 }

// tokens is the size of a request with these messages, as far as it can be told.
func (m *memory) tokens(messages []model.Message) int64 {
	return m.counted + sizeOf(messages[m.upTo:])/bytesPerToken
}

// learn takes the provider's count of a request with these messages.
func (m *memory) learn(u model.Usage, messages []model.Message) {
	guess := m.tokens(messages)
	m.bytes += sizeOf(messages[m.upTo:])
	m.upTo = len(messages)
	if m.counted = guess; u.Input+u.Cached > 0 {
		m.counted = max(u.Input+u.Cached, m.bytes/leastPerToken)
	}
}

// sizeOf is how many bytes messages add to a request.
func sizeOf(messages []model.Message) int64 {
	var size int64
	for _, m := range messages {
		for _, part := range m.Parts {
			size += 24 // the frame that each wire puts around a part
			switch p := part.(type) {
			case model.Text:
				size += int64(len(p.Text))
			case model.Picture:
				size += imageTokens * bytesPerToken
			case model.Reasoning:
				size += int64(len(p.Text) + len(p.Signature) + len(p.Redacted))
			case model.Call:
				size += int64(len(p.ID) + len(p.Name) + len(p.Arguments))
			case model.Result:
				size += int64(len(p.ID)+len(p.Name)+len(p.Text)) + int64(len(p.Images))*imageTokens*bytesPerToken
			}
		}
	}
	return size
}

// guessedTokens is about how many tokens messages have, at least 1 where there are any.
func guessedTokens(messages ...model.Message) int64 {
	return (sizeOf(messages) + bytesPerToken - 1) / bytesPerToken
}
