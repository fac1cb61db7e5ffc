package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/agentls/agentls/agentcore/model"
)

// Encodings keep the JSON of the messages of a conversation, one behind the other, so that a request costs only what is
// new in it, whatever the number of earlier turns. The zero value is ready. Any goroutine may use Encodings; requests
// of several conversations only make Encodings forget.
type Encodings struct {
	mu   sync.Mutex
	kept []encoding
	// text is the JSON into which kept points. A part of it that a request has got is never written to again.
	text []byte
	// calls gives, by the id of a call in kept, the first message that makes the call. age counts how often Encodings
	// forgot messages.
	calls map[string]int
	age   int
	// array is where the messages of the last request lay in memory. compared is how many of them were compared with
	// kept so far.
	array    *model.Message
	compared int
}

// encoding is where the JSON of one message lies in the text, without what stands in front of that JSON. Messages in a
// conversation do not change, so that the address of a message's parts identifies the message.
type encoding struct {
	message    model.Message
	start, end int
}

func (e *encoding) of(message *model.Message) bool {
	return len(e.message.Parts) == len(message.Parts) && len(message.Parts) > 0 &&
		&e.message.Parts[0] == &message.Parts[0] && e.message.Role == message.Role
}

// Conversation is the messages of one request as JSON. A Conversation does not change.
type Conversation struct {
	// Pieces are the JSON, one piece behind the other.
	Pieces [][]byte

	text []byte
	kept []encoding
	from *Encodings
	age  int
}

// Span is where the JSON of a message lies in the text of all messages, without what stands in front of that JSON. It
// is empty for a message without JSON.
func (c *Conversation) Span(i int) (start, end int) { return c.kept[i].start, c.kept[i].end }

// Between returns a part of the text of all.
func (c *Conversation) Between(start, end int) []byte { return c.text[start:end:end] }

// Join returns the JSON of the messages. encode makes the JSON of a message that no earlier call has encoded. In front
// of each message that has JSON, Join puts what between returns for that message and the last one before it that has
// JSON (nil for none).
func (e *Encodings) Join(messages []model.Message, encode func(model.Message) ([]byte, error),
	between func(before, after *model.Message) string,
) (Conversation, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	known := e.known(messages)
	if known < len(messages) {
		e.forget(known)
	}
	for i := known; i < len(messages); i++ {
		if err := e.add(messages[i], encode, between); err != nil {
			return Conversation{}, fmt.Errorf("encode message %d of the conversation: %w", i+1, err)
		}
	}
	c := Conversation{kept: slices.Clip(e.kept[:len(messages)]), from: e, age: e.age}
	if n := len(messages); n > 0 {
		c.text = slices.Clip(e.text[:e.kept[n-1].end])
		c.Pieces = [][]byte{c.text}
	}
	return c, nil
}

// known is how many of the messages are kept already. A conversation that has only grown still lies in the same array,
// and its messages are not compared again: whoever changes a message of a request takes another array (see
// [model.Request]). The lock is held.
func (e *Encodings) known(messages []model.Message) (n int) {
	if len(messages) == 0 {
		return 0
	}
	same := func(i int) bool {
		e.compared++
		return e.kept[i].of(&messages[i])
	}
	both := min(len(messages), len(e.kept))
	if e.array == &messages[0] && both > 0 && same(both-1) {
		return both
	}
	e.array = &messages[0]
	for n < both && same(n) {
		n++
	}
	return n
}

// Commas is what stands between the messages of wires that want each as it is.
func Commas(before, _ *model.Message) string {
	if before == nil {
		return ""
	}
	return ","
}

// add keeps one more message. The lock is held.
func (e *Encodings) add(m model.Message, encode func(model.Message) ([]byte, error),
	between func(before, after *model.Message) string,
) error {
	raw, err := encode(m)
	if err != nil {
		return err
	}
	if len(raw) > 0 {
		e.text = append(e.text, between(e.last(), &m)...)
	}
	start := len(e.text)
	e.text = append(e.text, raw...)
	e.kept = append(e.kept, encoding{m, start, len(e.text)})
	for _, call := range m.Calls() {
		if e.calls == nil {
			e.calls = map[string]int{}
		}
		if _, known := e.calls[call.ID]; !known {
			e.calls[call.ID] = len(e.kept) - 1
		}
	}
	return nil
}

// last is the last message that has any JSON, nil for none. The lock is held.
func (e *Encodings) last() *model.Message {
	for i := len(e.kept) - 1; i >= 0; i-- {
		if e.kept[i].end > e.kept[i].start {
			return &e.kept[i].message
		}
	}
	return nil
}

// forget drops the messages from the n-th on. Requests under way may still use their text, which stays as it is. The
// lock is held.
func (e *Encodings) forget(n int) {
	if n == len(e.kept) {
		return
	}
	e.age++
	for i, dropped := range e.kept[n:] {
		for _, call := range dropped.message.Calls() {
			if e.calls[call.ID] == n+i {
				delete(e.calls, call.ID)
			}
		}
	}
	end := 0
	if n > 0 {
		end = e.kept[n-1].end
	}
	e.kept, e.text = slices.Clip(e.kept[:n]), slices.Clip(e.text[:end])
}

// called reports whether the conversation has a call of that id.
func (c *Conversation) called(id string) bool {
	c.from.mu.Lock()
	defer c.from.mu.Unlock()
	if c.age == c.from.age {
		at, known := c.from.calls[id]
		return known && at < len(c.kept)
	}
	return slices.ContainsFunc(c.kept, func(e encoding) bool { // another conversation came between
		return slices.ContainsFunc(e.message.Calls(), func(call model.Call) bool { return call.ID == id })
	})
}

// Encode returns the JSON of a value without the escapes that JSON does not demand. Code is full of characters that
// json.Marshal would write as six bytes, to protect pages of HTML.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// EncodeAll returns the JSON of values with commas between them.
func EncodeAll[T any](list []T) ([]byte, error) {
	pieces := make([][]byte, len(list))
	for i, v := range list {
		var err error
		if pieces[i], err = Encode(v); err != nil {
			return nil, err
		}
	}
	return bytes.Join(pieces, comma), nil
}
