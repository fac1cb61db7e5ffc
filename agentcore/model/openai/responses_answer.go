package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// streamed is the part of a stream's event that is read ("Streaming events" of Responses). One type serves for all
// events, since most members are the same.
type streamed struct {
	Type        string          `json:"type"`
	OutputIndex *int64          `json:"output_index"`
	ItemID      string          `json:"item_id"`
	Delta       json.RawMessage `json:"delta"`
	Arguments   string          `json:"arguments"`
	Item        finished        `json:"item"`
	Response    response        `json:"response"`
}

// response is the object in the last event.
type response struct {
	Status            string          `json:"status"`
	Error             json.RawMessage `json:"error"`
	Output            []finished      `json:"output"`
	IncompleteDetails struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct {
		InputTokens        int64 `json:"input_tokens"`
		InputTokensDetails struct {
			CachedTokens int64 `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		OutputTokens int64 `json:"output_tokens"`
	} `json:"usage"`
}

// finished is an output item at its beginning or its end.
type finished struct {
	Type             string    `json:"type"`
	ID               string    `json:"id"`
	CallID           string    `json:"call_id"`
	Name             string    `json:"name"`
	Arguments        string    `json:"arguments"`
	Content          []content `json:"content"`
	Summary          []content `json:"summary"`
	EncryptedContent string    `json:"encrypted_content"`
}

// content is a part of a message or of a reasoning.
type content struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// The types of the items that are read.
const (
	messageItem   = "message"
	reasoningItem = "reasoning"
	callItem      = "function_call"
)

// output collects the items of one answer.
type output struct {
	items   []*outputItem
	usage   model.Usage
	ended   string // how the answer ended: completed, incomplete
	reason  string // why it is incomplete
	refused bool
}

// outputItem is an item while it arrives.
type outputItem struct {
	kind         string
	index        int64 // -1 where the server sent none
	id           string
	whole        bool // the event with its end has arrived
	text         strings.Builder
	summaries    int // how many parts of the summary have begun
	callID, name string
	arguments    strings.Builder
	encrypted    string
}

// complete reports whether the server has said that the answer has ended.
func (o *output) complete() bool { return o.ended != "" }

// add takes one event and returns the events to pass on.
func (o *output) add(data []byte) ([]model.Event, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var e streamed
	err := json.Unmarshal(data, &e)
	var wrongType *json.UnmarshalTypeError
	if err != nil && (!errors.As(err, &wrongType) || wrongType.Field == "") {
		return nil, fmt.Errorf("read an event: %w", err)
	}
	switch e.Type {
	case "response.output_item.added":
		return o.begin(&e), nil
	case "response.output_item.done":
		return o.finish(o.find(&e, e.Item.Type), &e.Item), nil
	case "response.output_text.delta":
		return o.write(o.find(&e, messageItem), plain(e.Delta)), nil
	case "response.refusal.delta":
		o.refused = true
		return o.write(o.find(&e, messageItem), plain(e.Delta)), nil
	case "response.reasoning_summary_part.added":
		if i := o.find(&e, reasoningItem); i != nil {
			i.summaries++
			if i.summaries > 1 && i.text.Len() > 0 {
				return o.write(i, "\n\n"), nil
			}
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return o.write(o.find(&e, reasoningItem), plain(e.Delta)), nil
	case "response.function_call_arguments.delta":
		if i := o.find(&e, callItem); i != nil {
			i.arguments.WriteString(plain(e.Delta))
		}
	case "response.function_call_arguments.done":
		if i := o.find(&e, callItem); i != nil && i.arguments.Len() == 0 {
			i.arguments.WriteString(e.Arguments)
		}
	case "response.completed", "response.incomplete", "response.done":
		return o.end(&e)
	case "response.failed", "response.cancelled", "error":
		return nil, failed(data, &e)
	case "":
		if fault, known := transport.ParseFault(data); known { // not the vendor's: an error without a type
			return nil, &fault
		}
	}
	return nil, nil // beginnings and ends of parts, and tools that the server itself runs
}

// plain returns the text of a delta; a delta of another type has none.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// failed makes the error of an event that reports one.
func failed(data []byte, e *streamed) error {
	var wrapped struct {
		Error json.RawMessage `json:"error"`
	}
	if wrapped.Error = e.Response.Error; len(wrapped.Error) > 0 {
		raw, err := json.Marshal(wrapped)
		if err != nil {
			return fmt.Errorf("read an error: %w", err)
		}
		data = raw
	}
	fault, known := transport.ParseFault(data)
	if !known {
		fault.Message = "the server ended the answer with " + e.Type + " and no reason"
	}
	return &fault
}

// begin takes over the beginning of an item.
func (o *output) begin(e *streamed) []model.Event {
	i := o.last(e.OutputIndex, e.Item.Type)
	if i == nil || i.whole || i.id != "" && e.Item.ID != "" && i.id != e.Item.ID && (i.name != "" || i.text.Len() > 0) {
		i = o.start(e.OutputIndex, e.Item.Type)
	}
	if i == nil {
		return nil
	}
	i.id = cmp.Or(e.Item.ID, i.id)
	i.callID = cmp.Or(i.callID, e.Item.CallID)
	return i.call(e.Item.Name)
}

// call sets the name of the item's call. The first time, this is an event.
func (i *outputItem) call(name string) []model.Event {
	if i.name != "" || name == "" || i.kind != callItem {
		return nil
	}
	i.name = name
	return []model.Event{model.CallDelta{Name: name}}
}

// find returns the item that an event is about. If the item's beginning was left out, find begins it; it returns nil
// for items of other types.
func (o *output) find(e *streamed, kind string) *outputItem {
	if i := o.last(e.OutputIndex, kind); i != nil && (!i.whole || e.Item.ID == "" || e.Item.ID == i.id) {
		return i
	}
	return o.start(e.OutputIndex, kind)
}

// last returns the last item of a type with this index. The index decides, since some servers change the ids from event
// to event. Without such an item, it is the last item of the type that is not complete.
func (o *output) last(index *int64, kind string) *outputItem {
	for _, i := range slices.Backward(o.items) {
		if i.kind == kind && (index != nil && i.index == *index || index == nil && !i.whole) {
			return i
		}
	}
	return nil
}

func (o *output) start(index *int64, kind string) *outputItem {
	switch kind {
	case messageItem, reasoningItem, callItem:
	default:
		return nil
	}
	i := &outputItem{kind: kind, index: -1}
	if index != nil {
		i.index = *index
	}
	o.items = append(o.items, i)
	return i
}

// write adds text to an item.
func (o *output) write(i *outputItem, text string) []model.Event {
	if i == nil || i.whole || text == "" {
		return nil
	}
	i.text.WriteString(text)
	if i.kind == reasoningItem {
		return []model.Event{model.ReasoningDelta{Text: text}}
	}
	return []model.Event{model.TextDelta{Text: text}}
}

// finish takes over a complete item. Its texts are only used if they did not come in pieces.
func (o *output) finish(i *outputItem, whole *finished) []model.Event {
	if i == nil || i.whole {
		return nil
	}
	var events []model.Event
	i.id = cmp.Or(whole.ID, i.id)
	switch i.kind {
	case callItem:
		i.callID = cmp.Or(whole.CallID, i.callID)
		events = i.call(whole.Name)
		if whole.Arguments != "" {
			i.arguments.Reset()
			i.arguments.WriteString(whole.Arguments)
		}
	case reasoningItem:
		i.encrypted = whole.EncryptedContent
		if i.text.Len() == 0 {
			parts := whole.Summary
			if len(parts) == 0 {
				parts = whole.Content
			}
			events = o.write(i, joined(parts, "\n\n"))
		}
	case messageItem:
		for _, part := range whole.Content {
			o.refused = o.refused || part.Refusal != ""
		}
		if i.text.Len() == 0 {
			events = o.write(i, joined(whole.Content, ""))
		}
	}
	i.whole = true
	return events
}

func joined(parts []content, between string) string {
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = cmp.Or(part.Text, part.Refusal)
	}
	return strings.Join(texts, between)
}

// end takes over the last event. Some servers send no items before it, and have all items in it.
func (o *output) end(e *streamed) ([]model.Event, error) {
	r := &e.Response
	if r.Status == "failed" || r.Status == "cancelled" {
		return nil, failed(nil, e)
	}
	var events []model.Event
	if len(o.items) == 0 {
		for n := range r.Output {
			index := int64(n)
			events = append(events, o.finish(o.start(&index, r.Output[n].Type), &r.Output[n])...)
		}
	}
	o.ended = "completed"
	if e.Type == "response.incomplete" || r.Status == "incomplete" {
		o.ended, o.reason = "incomplete", r.IncompleteDetails.Reason
	}
	cached := r.Usage.InputTokensDetails.CachedTokens
	o.usage = model.Usage{Input: max(0, r.Usage.InputTokens-cached), Output: r.Usage.OutputTokens, Cached: cached}
	return events, nil
}

// done makes the whole message.
func (o *output) done() model.Done {
	done := model.Done{Message: model.Message{Role: model.RoleAssistant}, Usage: o.usage}
	for _, i := range o.items {
		switch i.kind {
		case messageItem:
			if i.text.Len() > 0 {
				done.Message.Parts = append(done.Message.Parts, model.Text{Text: i.text.String()})
			}
		case reasoningItem:
			part := model.Reasoning{Text: i.text.String()}
			if i.encrypted != "" {
				part.Signature = seal(i.id, i.encrypted)
			}
			if part != (model.Reasoning{}) {
				done.Message.Parts = append(done.Message.Parts, part)
			}
		case callItem:
			arguments := i.arguments.String()
			if strings.TrimSpace(arguments) == "" {
				arguments = "{}"
			}
			done.Message.Parts = append(done.Message.Parts,
				model.Call{ID: cmp.Or(i.callID, i.id), Name: i.name, Arguments: json.RawMessage(arguments)})
		}
	}
	switch {
	case o.reason == "content_filter", o.refused:
		done.Stop = model.StopRefused
	case o.ended == "incomplete":
		done.Stop = model.StopLength
	case len(done.Message.Calls()) > 0:
		done.Stop = model.StopCalls
	default:
		done.Stop = model.StopEnd
	}
	return done
}
