package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// answer collects the chunks of one message.
type answer struct {
	text, reasoning strings.Builder
	calls           []*call
	usage           model.Usage
	finish          string
	refused         bool
	// answersReasoning says that the reasoning came as reasoning_content.
	answersReasoning bool
}

// call is a tool call while it arrives.
type call struct {
	index     int64 // -1 where the server sent none
	id, name  string
	arguments strings.Builder
	signature string // Google's signature
}

// complete reports whether the model has said that it is done.
func (a *answer) complete() bool { return a.finish != "" }

// begun reports whether a part of the message has arrived.
func (a *answer) begun() bool {
	return a.text.Len()+a.reasoning.Len()+len(a.calls) > 0
}

// add takes one chunk and yields the events to pass on. An error ends the sequence.
func (a *answer) add(data []byte) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if len(data) == 0 {
			return
		}
		chunk, err := decode(data)
		if err != nil {
			yield(nil, err)
			return
		}
		if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
			fault, known := transport.ParseFault(data)
			if !known {
				fault.Message = string(data)
			}
			yield(nil, &fault)
			return
		}
		a.count(&chunk.Usage)
		for _, choice := range chunk.Choices {
			if choice.Index != 0 {
				continue // only one answer was asked for
			}
			if choice.FinishReason == "error" {
				fault, known := transport.ParseFault(fmt.Appendf(nil, `{"error":%s}`, choice.Error))
				if !known {
					fault.Message = "the server ended the answer with an error and no reason"
				}
				yield(nil, &fault)
				return
			}
			a.count(&choice.Usage)
			events := a.delta(&choice.Delta)
			if len(events) == 0 && !a.begun() {
				events = a.delta(&choice.Message)
			}
			for _, event := range events {
				if !yield(event, nil) {
					return
				}
			}
			if choice.FinishReason != "" {
				a.finish = choice.FinishReason
			}
		}
	}
}

func (a *answer) count(u *tokens) {
	if u.PromptTokens == nil {
		return
	}
	cached := cmp.Or(u.PromptTokensDetails.CachedTokens, u.PromptCacheHitTokens, u.CachedTokens)
	a.usage = model.Usage{Input: max(0, *u.PromptTokens-cached), Output: u.CompletionTokens, Cached: cached}
}

// delta takes over the new pieces of the message.
func (a *answer) delta(delta *delta) []model.Event {
	var events []model.Event
	content, thought := delta.contents()
	a.answersReasoning = a.answersReasoning || delta.ReasoningContent != ""
	if text := cmp.Or(delta.ReasoningContent, delta.Reasoning, thought); text != "" {
		a.reasoning.WriteString(text)
		events = append(events, model.ReasoningDelta{Text: text})
	}
	if delta.Refusal != "" {
		a.refused = true
	}
	for _, text := range []string{content, delta.Refusal} {
		if text != "" {
			a.text.WriteString(text)
			events = append(events, model.TextDelta{Text: text})
		}
	}
	pieces := delta.ToolCalls
	if delta.FunctionCall != nil && len(pieces) == 0 {
		pieces = []piece{{Index: new(int64), Function: *delta.FunctionCall}}
	}
	for i := range pieces {
		piece := &pieces[i]
		arguments := piece.arguments()
		c := a.call(piece, arguments)
		if c.id == "" {
			c.id = piece.ID
		}
		if c.name == "" && piece.Function.Name != "" {
			c.name = piece.Function.Name
			events = append(events, model.CallDelta{Name: c.name})
		}
		c.arguments.WriteString(arguments)
		c.signature = cmp.Or(c.signature, piece.ExtraContent.Google.ThoughtSignature)
	}
	return events
}

// call finds the call to which a piece belongs, or begins one. By the vendor's rule the index decides. Some servers
// leave the index out, give 0 to several calls, repeat the name, or send another id with every piece.
func (a *answer) call(piece *piece, arguments string) *call {
	index := int64(-1)
	if piece.Index != nil {
		index = *piece.Index
	}
	for i := len(a.calls) - 1; i >= 0; i-- {
		known := a.calls[i]
		if index >= 0 && known.index == index || index < 0 && piece.ID != "" && known.id == piece.ID {
			if known.endsBefore(piece, arguments) {
				break
			}
			return known
		}
	}
	if piece.Function.Name == "" && len(a.calls) > 0 {
		return a.calls[len(a.calls)-1] // a piece without a name continues the last call
	}
	c := &call{index: index}
	a.calls = append(a.calls, c)
	return c
}

// endsBefore reports whether a piece with the call's index begins another call: it has a name, and the call is
// complete.
func (c *call) endsBefore(piece *piece, arguments string) bool {
	if piece.Function.Name == "" || c.name == "" {
		return false
	}
	whole := json.Valid([]byte(c.arguments.String()))
	if piece.ID != "" && c.id != "" && piece.ID != c.id {
		return whole || c.arguments.Len() == 0
	}
	return whole && arguments != ""
}

// done makes the whole message.
func (a *answer) done() model.Done {
	done := model.Done{Message: model.Message{Role: model.RoleAssistant}, Usage: a.usage}
	if a.reasoning.Len() > 0 {
		done.Message.Parts = append(done.Message.Parts, model.Reasoning{Text: a.reasoning.String()})
	}
	if a.text.Len() > 0 {
		done.Message.Parts = append(done.Message.Parts, model.Text{Text: a.text.String()})
	}
	for _, c := range a.calls {
		if c.name == "" && c.arguments.Len() == 0 {
			continue // an empty frame, not a call
		}
		raw := c.arguments.String()
		if strings.TrimSpace(raw) == "" {
			raw = "{}"
		}
		if c.signature != "" {
			done.Message.Parts = append(done.Message.Parts, model.Reasoning{Signature: signedByGoogle + c.signature})
		}
		done.Message.Parts = append(done.Message.Parts,
			model.Call{ID: c.id, Name: c.name, Arguments: json.RawMessage(raw)})
	}
	switch {
	case a.finish == "length":
		done.Stop = model.StopLength
	case a.finish == "content_filter", a.refused:
		done.Stop = model.StopRefused
	case len(done.Message.Calls()) > 0: // whatever the finish reason is
		done.Stop = model.StopCalls
	default:
		done.Stop = model.StopEnd
	}
	return done
}
