package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// response is a GenerateContentResponse, as far as it is read.
type response struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []received `json:"parts"`
		} `json:"content"`
		FinishReason  string `json:"finishReason"`
		FinishMessage string `json:"finishMessage"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason        string `json:"blockReason"`
		BlockReasonMessage string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	UsageMetadata struct {
		PromptTokenCount        int64 `json:"promptTokenCount"`
		CachedContentTokenCount int64 `json:"cachedContentTokenCount"`
		CandidatesTokenCount    int64 `json:"candidatesTokenCount"`
		ThoughtsTokenCount      int64 `json:"thoughtsTokenCount"`
		ToolUsePromptTokenCount int64 `json:"toolUsePromptTokenCount"`
	} `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

// received is a part of an answer.
type received struct {
	Text             string `json:"text"`
	Thought          bool   `json:"thought"`
	ThoughtSignature string `json:"thoughtSignature"`
	FunctionCall     *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
}

// sealed stands before the vendor's signatures in our conversations, so that those of other vendors are never sent.
const sealed = "gemini:"

// answer collects the responses of one stream.
type answer struct {
	parts           []model.Part // each text or thought is joined from its pieces
	text            strings.Builder
	open            kind // of the text that is being collected
	usage           model.Usage
	finish, message string
	blocked         bool // the request was refused before an answer
	said            bool // the answer has a text
}

// kind is what a piece of text belongs to.
type kind int

const (
	nothing kind = iota
	prose
	thought
)

// complete reports whether the model has said that it is done.
func (a *answer) complete() bool { return a.finish != "" }

// add takes one response and returns what is to be passed on.
func (a *answer) add(data []byte) ([]model.Event, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil, nil
	}
	var r response
	err := json.Unmarshal(data, &r)
	var wrongType *json.UnmarshalTypeError
	if err != nil && (!errors.As(err, &wrongType) || wrongType.Field == "") {
		return nil, fmt.Errorf("read a response: %w", err)
	}
	if len(r.Error) > 0 && string(r.Error) != "null" {
		fault, known := transport.ParseFault(data)
		if !known {
			fault.Message = string(data)
		}
		return nil, &fault
	}
	a.count(&r)
	if reason := r.PromptFeedback.BlockReason; reason != "" {
		a.finish, a.message, a.blocked = reason, r.PromptFeedback.BlockReasonMessage, true
	}
	var events []model.Event
	for _, candidate := range r.Candidates {
		if candidate.Index != 0 {
			continue // only one answer was asked for
		}
		for i := range candidate.Content.Parts {
			events = a.part(&candidate.Content.Parts[i], events)
		}
		if candidate.FinishReason != "" {
			a.finish, a.message = candidate.FinishReason, candidate.FinishMessage
		}
	}
	return events, nil
}

// count takes token counts over. They are cumulative, and absent where a response does not repeat them.
func (a *answer) count(r *response) {
	u := r.UsageMetadata
	if u.PromptTokenCount > 0 {
		a.usage.Input = max(0, u.PromptTokenCount-u.CachedContentTokenCount) + u.ToolUsePromptTokenCount
		a.usage.Cached = u.CachedContentTokenCount
	}
	a.usage.Output = max(a.usage.Output, u.CandidatesTokenCount+u.ThoughtsTokenCount)
}

// part takes over a part. A signature ends the text with which it came. It is kept before that text, since it must be
// sent back in the same place.
func (a *answer) part(p *received, events []model.Event) []model.Event {
	switch {
	case p.FunctionCall != nil:
		a.close("")
		if p.ThoughtSignature != "" {
			a.parts = append(a.parts, model.Reasoning{Signature: sealed + p.ThoughtSignature})
		}
		arguments := p.FunctionCall.Args
		if len(arguments) == 0 || string(arguments) == "null" {
			arguments = json.RawMessage("{}")
		}
		a.parts = append(a.parts,
			model.Call{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Arguments: bytes.Clone(arguments)})
		return append(events, model.CallDelta{Name: p.FunctionCall.Name})
	case p.Thought:
		if p.Text != "" {
			a.write(thought, p.Text)
			events = append(events, model.ReasoningDelta{Text: p.Text})
		}
	case p.Text != "":
		a.write(prose, p.Text)
		a.said = true
		events = append(events, model.TextDelta{Text: p.Text})
	}
	if p.ThoughtSignature != "" {
		if p.Text == "" && (!p.Thought || a.open != thought) { // the signature followed the text in a part of its own
			a.close("")
		}
		a.close(p.ThoughtSignature)
	}
	return events
}

func (a *answer) write(to kind, text string) {
	if a.open != to {
		a.close("")
		a.open = to
	}
	a.text.WriteString(text)
}

// close ends the text that is being collected, with its signature if it has one.
func (a *answer) close(signature string) {
	if signature != "" {
		signature = sealed + signature
	}
	switch {
	case a.open == thought:
		a.parts = append(a.parts, model.Reasoning{Text: a.text.String(), Signature: signature})
	case a.open == prose && signature != "":
		a.parts = append(a.parts, model.Reasoning{Signature: signature}, model.Text{Text: a.text.String()})
	case a.open == prose:
		a.parts = append(a.parts, model.Text{Text: a.text.String()})
	case signature != "":
		a.parts = append(a.parts, model.Reasoning{Signature: signature}) // without a text, usually at the end
	}
	a.open = nothing
	a.text.Reset()
}

// wrong returns the error for which the finish reason stands, if any ("FinishReason" in the reference).
func (a *answer) wrong(x *transport.Exchange) error {
	switch a.finish {
	case "MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS":
		return x.Protocol(nil, "the model's answer could not be read by the server (%s)",
			strings.TrimSuffix(a.finish+": "+a.message, ": "))
	case "MISSING_THOUGHT_SIGNATURE":
		return &transport.Fault{
			Type: "INVALID_ARGUMENT", Message: "the conversation lacks a thought signature; " + a.message,
		}
	}
	return nil
}

// refused reports whether the provider declined. Each reason except the ones below names something that is not allowed.
func (a *answer) refused() bool {
	if a.blocked {
		return true
	}
	switch a.finish {
	case "STOP", "MAX_TOKENS", "OTHER", "FINISH_REASON_UNSPECIFIED":
		return false
	}
	return strings.ToUpper(a.finish) == a.finish // gateways send reasons of other vendors, in lower case
}

// reason returns why the provider declined if no text says so. It becomes the text of the answer.
func (a *answer) reason() string {
	if !a.refused() || a.said {
		return ""
	}
	text := "blocked (" + strings.TrimSuffix(a.finish+": "+a.message, ": ") + ")"
	a.write(prose, text)
	a.said = true
	return text
}

// done makes the whole message.
func (a *answer) done() model.Done {
	a.close("")
	done := model.Done{
		Message: model.Message{Role: model.RoleAssistant, Parts: a.parts}, Usage: a.usage,
		Stop: model.StopEnd,
	}
	switch {
	case a.finish == "MAX_TOKENS" || a.finish == "length":
		done.Stop = model.StopLength
	case a.refused():
		done.Stop = model.StopRefused
	case len(done.Message.Calls()) > 0: // the vendor's reason for calls is STOP, too
		done.Stop = model.StopCalls
	}
	return done
}
