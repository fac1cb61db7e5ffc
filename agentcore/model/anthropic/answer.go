package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// answer collects the events of one message.
type answer struct {
	begun  bool // a part of the message has arrived
	blocks []*block
	usage  model.Usage
	stop   string // why it ended, in the vendor's words
}

// streamed is the part of a stream's event that is read ("Streaming messages": Event types). One type serves for all
// events.
type streamed struct {
	Type    string `json:"type"`
	Index   int64  `json:"index"`
	Message struct {
		Usage tokens `json:"usage"`
	} `json:"message"`
	ContentBlock struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		Input     json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage tokens `json:"usage"`
}

// tokens are the token counts that are known so far.
type tokens struct {
	Input   int64 `json:"input_tokens"`
	Created int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

// block is a content block while it arrives.
type block struct {
	index             int64
	kind              string // the vendor's: text, thinking, redacted_thinking, tool_use …
	id, name          string
	text              strings.Builder // of text and thinking
	signature, sealed string
	input             strings.Builder
	whole             string // the input, if it came with the start of the block
}

// add takes one event. It returns what to yield, if anything, and whether the message is complete.
func (a *answer) add(data []byte) (event model.Event, ended bool, err error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil, false, nil
	}
	var e streamed
	err = json.Unmarshal(data, &e)
	var wrongType *json.UnmarshalTypeError // a member of a wrong type counts as absent
	if err != nil && (!errors.As(err, &wrongType) || wrongType.Field == "") {
		return nil, false, fmt.Errorf("read an event: %w", err)
	}
	switch e.Type {
	case "message_start":
		a.begun = true
		a.count(&e.Message.Usage)
	case "content_block_start":
		return a.start(&e), false, nil
	case "content_block_delta":
		return a.delta(&e), false, nil
	case "message_delta":
		if e.Delta.StopReason != "" {
			a.stop = e.Delta.StopReason
		}
		a.count(&e.Usage)
	case "message_stop":
		return nil, true, nil
	case "error":
		fault, ok := transport.ParseFault(data)
		if !ok {
			fault.Message = string(data)
		}
		return nil, false, &fault
	}
	return nil, false, nil // ping, content_block_stop, and types that the vendor adds
}

// count takes over token counts. They are cumulative; 0 means that an event does not repeat a count.
func (a *answer) count(t *tokens) {
	if t.Input+t.Created > 0 {
		a.usage.Input, a.usage.Written = t.Input+t.Created, t.Created
	}
	a.usage.Cached = max(a.usage.Cached, t.Read)
	a.usage.Output = max(a.usage.Output, t.Output)
}

func (a *answer) start(e *streamed) model.Event {
	b := &block{index: e.Index, kind: e.ContentBlock.Type, id: e.ContentBlock.ID, name: e.ContentBlock.Name}
	b.signature, b.sealed = e.ContentBlock.Signature, e.ContentBlock.Data
	a.begun = true
	a.blocks = append(a.blocks, b)
	switch b.kind {
	case "text":
		b.text.WriteString(e.ContentBlock.Text)
		if e.ContentBlock.Text != "" {
			return model.TextDelta{Text: e.ContentBlock.Text}
		}
	case "thinking":
		b.text.WriteString(e.ContentBlock.Thinking)
		if e.ContentBlock.Thinking != "" {
			return model.ReasoningDelta{Text: e.ContentBlock.Thinking}
		}
	case "tool_use":
		b.whole = string(e.ContentBlock.Input)
		return model.CallDelta{Name: b.name}
	}
	return nil
}

func (a *answer) delta(e *streamed) model.Event {
	b := a.block(e.Index, e.Delta.Type)
	switch e.Delta.Type {
	case "text_delta":
		b.text.WriteString(e.Delta.Text)
		if e.Delta.Text != "" {
			return model.TextDelta{Text: e.Delta.Text}
		}
	case "thinking_delta":
		b.text.WriteString(e.Delta.Thinking)
		if e.Delta.Thinking != "" {
			return model.ReasoningDelta{Text: e.Delta.Thinking}
		}
	case "signature_delta":
		b.signature += e.Delta.Signature
	case "input_json_delta":
		b.input.WriteString(e.Delta.PartialJSON)
	}
	return nil
}

// block finds the last block with the index, or begins one if the server did not send its start.
func (a *answer) block(index int64, delta string) *block {
	for i := len(a.blocks) - 1; i >= 0; i-- {
		if a.blocks[i].index == index {
			return a.blocks[i]
		}
	}
	b := &block{index: index, kind: map[string]string{"text_delta": "text", "thinking_delta": "thinking"}[delta]}
	a.begun = true
	a.blocks = append(a.blocks, b)
	return b
}

// done makes the whole message.
func (a *answer) done() model.Done {
	done := model.Done{Message: model.Message{Role: model.RoleAssistant}, Usage: a.usage}
	for _, b := range a.blocks {
		switch b.kind {
		case "text":
			if b.text.Len() > 0 {
				done.Message.Parts = append(done.Message.Parts, model.Text{Text: b.text.String()})
			}
		case "thinking":
			done.Message.Parts = append(done.Message.Parts,
				model.Reasoning{Text: b.text.String(), Signature: b.signature})
		case "redacted_thinking":
			done.Message.Parts = append(done.Message.Parts, model.Reasoning{Redacted: b.sealed})
		case "tool_use":
			arguments := b.input.String()
			if strings.TrimSpace(arguments) == "" {
				arguments = b.whole
			}
			if strings.TrimSpace(arguments) == "" || arguments == "null" {
				arguments = "{}"
			}
			done.Message.Parts = append(done.Message.Parts,
				model.Call{ID: b.id, Name: b.name, Arguments: json.RawMessage(arguments)})
		}
	}
	switch a.stop {
	case "max_tokens", "model_context_window_exceeded":
		done.Stop = model.StopLength
	case "refusal":
		done.Stop = model.StopRefused
	default:
		done.Stop = model.StopEnd
		if len(done.Message.Calls()) > 0 {
			done.Stop = model.StopCalls
		}
	}
	return done
}
