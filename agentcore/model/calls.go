package model

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
)

// MadeUp is the beginning of the ids that UniqueIDs makes.
const MadeUp = "call_agentls_"

// UniqueIDs gives each call of an answer an id that is unique in the conversation and the answer: some servers send no
// ids, or begin again with call_0 in every answer.
func UniqueIDs(answer *Message, conversation []Message) {
	UniqueAmong(answer, func(id string) bool { return called(conversation, id) })
}

// UniqueAmong is UniqueIDs for a caller with a faster way to tell whether the conversation has a call with an id.
func UniqueAmong(answer *Message, called func(id string) bool) {
	taken := map[string]bool{"": true}
	for i, part := range answer.Parts {
		if call, ok := part.(Call); ok {
			for taken[call.ID] || called(call.ID) {
				call.ID = MadeUp + rand.Text()
			}
			taken[call.ID] = true
			answer.Parts[i] = call
		}
	}
}

// called reports whether a conversation has a call of that id.
func called(conversation []Message, id string) bool {
	for _, message := range conversation {
		for _, part := range message.Parts {
			if call, ok := part.(Call); ok && call.ID == id {
				return true
			}
		}
	}
	return false
}

// Object returns the arguments of a tool call as the JSON object that providers require in a conversation. If the model
// sent something else (broken JSON, which is stored as a JSON string), it becomes the member invalid_arguments, so that
// the model sees what it wrote.
func Object(arguments json.RawMessage) json.RawMessage {
	trimmed := bytes.TrimSpace(arguments)
	switch {
	case len(trimmed) == 0:
		return json.RawMessage(`{}`)
	case trimmed[0] == '{' && json.Valid(trimmed):
		return trimmed
	}
	text := string(trimmed)
	var inner string
	if json.Unmarshal(trimmed, &inner) == nil {
		text = inner
	}
	wrapped, err := json.Marshal(struct {
		Invalid string `json:"invalid_arguments"`
	}{text})
	if err != nil { // strings always encode
		return json.RawMessage(`{}`)
	}
	return wrapped
}
