package run

import (
	"encoding/json"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/feed"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/store"
)

// outlet is where a run reports what happens in it. Its methods may be called from any goroutine.
type outlet struct {
	id       event.RunID
	events   feed.Writer
	redactor *secret.Redactor
}

// tell hands rows and events of the run to the store.
func (o outlet) tell(batch store.Batch, bodies ...event.Body) *store.Commit {
	return o.events.Submit(batch, o.id, bodies...)
}

// notice tells the user something.
func (o outlet) notice(level event.NoticeLevel, message, hint string) {
	o.tell(store.Batch{}, event.Notice{Level: level, Message: message, Hint: hint})
}

// encoded returns a value as JSON, nil for none. The value's type is a plain one of this module.
func encoded[T any](value T) json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil || string(raw) == "null" {
		return nil
	}
	return raw
}
