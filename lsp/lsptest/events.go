package lsptest

import (
	"encoding/json"
	"slices"
)

// transientEvents are not stored, and carry the number of the last stored event.
var transientEvents = []string{"TextDelta", "ReasoningDelta", "RunProgress", "ToolCallProgress"}

// subscribedTo takes the answer to an agent/subscribe: from here on the events of its sessions follow one another. The
// lock is held.
func (e *Editor) subscribedTo(c *call, result json.RawMessage) {
	params := c.params
	if c.command != "" {
		var arguments []json.RawMessage
		if err := json.Unmarshal(lookup(c.params, "arguments"), &arguments); err != nil || len(arguments) == 0 {
			arguments = []json.RawMessage{json.RawMessage("{}")}
		}
		params = arguments[0]
	}
	var asked struct {
		Since *uint64 `json:"since"`
	}
	var answer struct {
		Reset    bool `json:"reset"`
		Sessions []struct {
			Session struct {
				ID string `json:"id"`
			} `json:"session"`
			Seq uint64 `json:"seq"`
		} `json:"sessions"`
	}
	if json.Unmarshal(params, &asked) != nil || json.Unmarshal(result, &answer) != nil {
		return // it was found not to conform
	}
	for _, s := range answer.Sessions {
		e.events[s.Session.ID] = s.Seq
		if asked.Since != nil && !answer.Reset {
			e.events[s.Session.ID] = *asked.Since
		}
	}
}

// event sees to it that no event comes before the answer to its agent/subscribe, twice, or behind a gap. The lock is
// held.
func (e *Editor) event(params json.RawMessage) {
	var told struct {
		Seq     uint64 `json:"seq"`
		Session string `json:"session"`
		Type    string `json:"type"`
	}
	if err := json.Unmarshal(params, &told); err != nil {
		return // it was found not to conform
	}
	last, known := e.events[told.Session]
	switch {
	case !known:
		e.fault("event %d of the session %s came before the answer to agent/subscribe", told.Seq, told.Session)
	case slices.Contains(transientEvents, told.Type):
		if told.Seq != last {
			e.fault("a %s of the session %s has the number %d behind event %d", told.Type, told.Session, told.Seq, last)
		}
		return
	case told.Type == "EventsTrimmed":
		if told.Seq <= last {
			e.fault("events up to %d were trimmed, and %d is known", told.Seq, last)
		}
	case told.Seq != last+1:
		e.fault("event %d of the session %s came behind event %d", told.Seq, told.Session, last)
	}
	e.events[told.Session] = told.Seq
}

// Notifications returns those of the protocol's own that came behind the first n, in their order.
func (e *Editor) Notifications(n int) []Notification {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.notifications[min(n, len(e.notifications)):])
}
