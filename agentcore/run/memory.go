package run

import (
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
)

const (
	// bytesPerToken is how tokens are guessed where no provider has counted them. Code and JSON have three to four
	// bytes in a token; a summary too early costs less than a refusal.
	bytesPerToken = 3
	// leastPerToken bounds how few tokens a provider's count is believed: some count only what they had not cached.
	leastPerToken = 8
	// imageTokens is about what the vendors count for an image at most.
	imageTokens = 1600
)

// memory is what a run knows of its conversation beside the messages: how much of the model's context it takes, and
// where its messages are stored. The run's goroutine owns it.
type memory struct {
	window int64 // tokens that the model takes; 0 for no bound
	head   int64 // bytes of the system prompt and the tools

	bytes   int64 // of the head and of the messages that are counted
	counted int64 // tokens of these
	upTo    int   // how many messages these are
	after   int64 // up to which size nothing is shortened, since the last time helped too little

	pinned map[int]bool      // messages by index that are never shortened
	ids    []event.MessageID // of the messages, in order
	last   event.MessageID   // that was stored last
	stored int               // messages in the store
	read   map[string]bool   // files, shown, that earlier messages were about

	answered answered // the answer that is not stored yet
}

// answered is what is stored with an answer of the model beside its text.
type answered struct {
	model string
	usage event.Usage // of this answer alone
	took  time.Duration
}

// begin takes the measure of what is the same in all requests; window is how many tokens the model takes, 0 for no
// bound.
func (m *memory) begin(window int64, system string, tools []model.Tool) {
	m.window = window
	m.head = int64(len(system))
	for _, t := range tools {
		m.head += int64(len(t.Name) + len(t.Description) + len(t.Schema))
	}
	m.pinned, m.read = map[int]bool{}, map[string]bool{}
	m.recount()
}

// recount forgets the provider's count, which was of other messages.
func (m *memory) recount() { m.bytes, m.counted, m.upTo = m.head, m.head/bytesPerToken, 0 }

// tokens is the size of a request with these messages, as far as one can tell.
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

// sizeOf is what messages add to a request, in bytes.
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

// guessedTokens is about the size of messages, at least 1 where there are any.
func guessedTokens(messages ...model.Message) int64 {
	return (sizeOf(messages) + bytesPerToken - 1) / bytesPerToken
}
