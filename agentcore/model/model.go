package model

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"iter"
)

// Model answers requests. An implementation is safe for concurrent use by many runs, keeps no state between requests,
// and does not retry, since the engine has the only retry policy.
type Model interface {
	// Name is "provider/model", such as "anthropic/claude-sonnet-4-5" or "offline/rules".
	Name() string
	// Stream sends the request and yields one assistant turn: any number of TextDelta,
	// ReasoningDelta and CallDelta, then exactly one Done. An error ends the sequence; it is an
	// *Error wherever the cause is known. When ctx is cancelled, or the consumer stops, the
	// request is given up at once and no goroutine is left. A provider that sends nothing for two minutes counts as a
	// stream that was cut (ErrNetwork). The request is borrowed until the
	// sequence ends and must not be changed by either side meanwhile.
	Stream(ctx context.Context, request *Request) iter.Seq2[Event, error]
}

// Request is what one turn sends. System, Tools, and all messages except the last few are the same from turn to turn,
// byte for byte, so that a provider's prompt cache can serve them.
type Request struct {
	System string
	// Messages are only added behind those of earlier requests; a caller that changes an earlier message must make a
	// new list.
	Messages []Message
	Tools    []Tool
	// MaxTokens bounds the answer; 0 means the wire's default.
	MaxTokens int
	// Temperature is nil for the provider's default.
	Temperature *float64
	// Effort is how much the model is to think; empty leaves it to the model. The caller must have checked EffortOf.
	Effort Effort
	// NoCalls asks for an answer in text. The tools stay listed, so that the prefix keeps its bytes
	// and the history its meaning; the wire forbids their use (tool_choice "none").
	NoCalls bool
	// Only names the only tool that may be called; a text is an answer, too. Empty permits all tools. The engine
	// refuses calls of other tools: no wire can forbid them on every server, so the conversation forbids them in words.
	Only string
	// Run is the id of the run that asks, for a provider's own logs. It carries no user data.
	Run string
}

// Tool is a tool as it is offered to a model.
type Tool struct {
	Name        string
	Description string
	// Schema is the JSON Schema (draft 2020-12, an object) of the arguments.
	Schema json.RawMessage
}

// Role says who speaks.
type Role string

// The roles of a conversation. Tool results travel in a message of RoleTool directly behind the
// assistant message that made the calls; each call has exactly one result.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of a conversation. Messages are immutable once they are in a request.
type Message struct {
	Role  Role
	Parts []Part
}

// Part is one of Text, Picture, Reasoning, Call and Result.
type Part interface{ isPart() }

// Text is prose.
type Text struct {
	Text string `json:"text"`
	// Summary says that the text replaces earlier messages, by which the conversation was shortened. Wires send it like
	// any other text.
	Summary bool `json:"summary,omitempty"`
}

// Reasoning is the model's own thinking, kept only so that a wire can send it back.
type Reasoning struct {
	Text string `json:"text"`
	// Signature is the provider's seal on Text, opaque; some wires refuse reasoning without it.
	Signature string `json:"signature,omitempty"`
	// Redacted is reasoning that the provider encrypted; Text is empty then.
	Redacted string `json:"redacted,omitempty"`
}

// Call is a tool call by the model.
type Call struct {
	// ID is the model's own id of the call, unique within the conversation; if a server sends none, its wire makes one.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is what the model sent. It may be no valid JSON: the engine checks it and answers the model.
	Arguments json.RawMessage `json:"arguments"`
}

// Result answers the Call with the same ID.
type Result struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Text  string `json:"text"`
	Error bool   `json:"error,omitempty"`
	// Images accompany the text, which says what they are. Wires that cannot send images leave them out, and say so.
	Images []Image `json:"images,omitempty"`
}

// Image is a picture. Its bytes are not stored with the message, but in a file of the state folder.
type Image struct {
	// MediaType is image/png, image/jpeg, image/gif or image/webp.
	MediaType string `json:"mediaType"`
	Width     int    `json:"width"`
	Height    int    `json:"height"`
	// File is the name of the file with the image.
	File string `json:"file"`
	Data []byte `json:"-"`
}

// Base64 is the image in base64, as wires send it.
func (i Image) Base64() string { return base64.StdEncoding.EncodeToString(i.Data) }

// DataURL is the image as a data URL (RFC 2397).
func (i Image) DataURL() string { return "data:" + i.MediaType + ";base64," + i.Base64() }

// Picture is an image of the user's, which follows the text that says what it is.
type Picture struct {
	Image Image `json:"image"`
}

// Unseen is the text that replaces the image on a wire without images.
func (Picture) Unseen() string {
	return "(An image that you cannot see: images are not sent to this model.)"
}

// Unseen is the text that replaces the images on a wire without images, "" if there are none.
func (r Result) Unseen() string {
	if len(r.Images) == 0 {
		return ""
	}
	return "\n(You cannot see it: images are not sent to this model. Work by its description, or ask the user " +
		"what it shows.)"
}

func (Text) isPart()      {}
func (Picture) isPart()   {}
func (Reasoning) isPart() {}
func (Call) isPart()      {}
func (Result) isPart()    {}

// Event is one of TextDelta, ReasoningDelta, CallDelta and Done.
type Event interface{ isEvent() }

// TextDelta is the next piece of the answer's text.
type TextDelta struct{ Text string }

// ReasoningDelta is the next piece of the reasoning.
type ReasoningDelta struct{ Text string }

// CallDelta says that the model is writing a call of the named tool. It is news for a progress
// display only: the whole call comes in Done.
type CallDelta struct{ Name string }

// Done ends a turn with the whole message.
type Done struct {
	Message Message
	Usage   Usage
	Stop    Stop
}

func (TextDelta) isEvent()      {}
func (ReasoningDelta) isEvent() {}
func (CallDelta) isEvent()      {}
func (Done) isEvent()           {}

// Usage counts the tokens of one answer. Input does not include Cached.
type Usage struct {
	Input  int64
	Output int64
	Cached int64
	// Written is the part of Input that was put into the provider's cache, if the provider says so: some charge more
	// for it.
	Written int64
}

// maxAnswer bounds the tokens of one answer and its request: no model takes more than that.
const maxAnswer = 1 << 30

// Plausible is the usage with impossible figures replaced: negative ones, and ones larger than any model takes, are
// guessed from the texts. It must be applied to everything that a provider reports, before figures are added up.
func (u Usage) Plausible(request *Request, answer Message) Usage {
	can := func(n int64) bool { return n >= 0 && n <= maxAnswer }
	if !can(u.Cached) {
		u.Cached = 0
	}
	if !can(u.Input) || !can(u.Output) {
		guess := GuessUsage(request, answer)
		if !can(u.Input) {
			u.Input, u.Written = max(0, guess.Input-u.Cached), 0
		}
		if !can(u.Output) {
			u.Output = guess.Output
		}
	}
	u.Written = min(max(u.Written, 0), u.Input)
	return u
}

// Complete is the usage in which figures that the provider left out are guessed from the texts, so that budgets also
// end runs on servers that count nothing.
func (u Usage) Complete(request *Request, answer Message) Usage {
	if u.Input+u.Cached > 0 && u.Output > 0 {
		return u
	}
	guess := GuessUsage(request, answer)
	if u.Input+u.Cached == 0 {
		u.Input = guess.Input
	}
	if u.Output == 0 {
		u.Output = guess.Output
	}
	return u
}

// GuessUsage is roughly what an answer used if nobody has counted: about four bytes are a token.
func GuessUsage(request *Request, answer Message) Usage {
	const bytesPerToken = 4
	input := len(request.System) + sizeOf(request.Messages...)
	for _, t := range request.Tools {
		input += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return Usage{Input: int64(input) / bytesPerToken, Output: int64(sizeOf(answer)) / bytesPerToken}
}

func sizeOf(messages ...Message) int {
	size := 0
	for _, m := range messages {
		for _, part := range m.Parts {
			switch p := part.(type) {
			case Text:
				size += len(p.Text)
			case Reasoning:
				size += len(p.Text) + len(p.Redacted)
			case Call:
				size += len(p.Name) + len(p.Arguments)
			case Result:
				size += len(p.Text)
			}
		}
	}
	return size
}

// Stop is why a turn ended.
type Stop string

// The reasons to which all wires map their vendors' reasons.
const (
	StopEnd     Stop = "end"     // the model had no more to say
	StopCalls   Stop = "calls"   // it waits for tool results
	StopLength  Stop = "length"  // the answer hit MaxTokens
	StopRefused Stop = "refused" // the provider or the model declined
)

// Text returns the text parts of a message, joined.
func (m Message) Text() string {
	var text string
	for _, part := range m.Parts {
		if t, ok := part.(Text); ok {
			text += t.Text
		}
	}
	return text
}

// Calls returns the tool calls of a message in order.
func (m Message) Calls() []Call {
	var calls []Call
	for _, part := range m.Parts {
		if call, ok := part.(Call); ok {
			calls = append(calls, call)
		}
	}
	return calls
}

// Summary reports whether the message replaces earlier messages.
func (m Message) Summary() bool {
	for _, part := range m.Parts {
		if t, ok := part.(Text); ok && t.Summary {
			return true
		}
	}
	return false
}

// UserText makes a user message of one text.
func UserText(text string) Message {
	return Message{Role: RoleUser, Parts: []Part{Text{Text: text}}}
}
