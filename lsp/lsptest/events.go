package lsptest

import (
	"encoding/json"
	"slices"
)

// feed is what the server reports without being asked, such as events and refreshes.
type feed struct {
	*judge
	notifications []Notification
	subscribed    bool
	events        map[string]uint64 // the number of the last event, by session
	refreshes     map[string]int
	heard         int // requests and notifications of the server
}

// transientEvents are not stored, and carry the number of the last stored event.
var transientEvents = []string{"TextDelta", "ReasoningDelta", "RunProgress", "ToolCallProgress"}

// subscribedTo takes the answer to an agent/subscribe: from here on the events of its sessions follow one another. The
// lock is held.
func (f *feed) subscribedTo(c *call, result json.RawMessage) {
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
		f.events[s.Session.ID] = s.Seq
		if asked.Since != nil && !answer.Reset {
			f.events[s.Session.ID] = *asked.Since
		}
	}
}

// event checks that no event comes before the answer to its agent/subscribe, comes twice, or comes behind a gap. The
// lock is held.
func (f *feed) event(params json.RawMessage) {
	var told struct {
		Seq     uint64 `json:"seq"`
		Session string `json:"session"`
		Type    string `json:"type"`
	}
	if err := json.Unmarshal(params, &told); err != nil {
		return // it was found not to conform
	}
	last, known := f.events[told.Session]
	switch {
	case !known:
		f.fault("event %d of the session %s came before the answer to agent/subscribe", told.Seq, told.Session)
	case slices.Contains(transientEvents, told.Type):
		if told.Seq != last {
			f.fault("a %s of the session %s has the number %d behind event %d", told.Type, told.Session, told.Seq, last)
		}
		return
	case told.Type == "EventsTrimmed":
		if told.Seq <= last {
			f.fault("events up to %d were trimmed, and %d is known", told.Seq, last)
		}
	case told.Seq != last+1:
		f.fault("event %d of the session %s came behind event %d", told.Seq, told.Session, last)
	}
	f.events[told.Session] = told.Seq
}

// Notifications returns those of the protocol's own that came behind the first n, in their order.
func (f *feed) Notifications(n int) []Notification {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.notifications[min(n, len(f.notifications)):])
}

// Notification is one of the custom notifications as it came.
type Notification struct {
	Method string
	Params json.RawMessage
}
