// Package event holds the ids of agentls and the closed set of events that tell what a run does.
// It is a leaf: it imports nothing of agentls. The bodies of the events, and the types that they
// share with the wire, are generated from schema/agent.metamodel.json (events_gen.go).
package event

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// Event is one thing that happened, as it is stored, published and sent in `agent/event` (schema/PROTOCOL.md). Events
// are never changed after they were made.
type Event struct {
	// Seq numbers the stored events of one session from 1 without a gap. A transient event
	// (see [Transient]) is not stored and carries the number of the last stored one.
	Seq uint64
	// Session and Run say to which session and run the event belongs. Run is empty for an event of the whole session.
	Session SessionID
	Run     RunID
	// Time is when it happened, in UTC.
	Time time.Time
	// Body says what happened.
	Body Body
}

// Body is one of the event types in events_gen.go, or [Unknown].
type Body interface {
	// EventType is the event's name on the wire, such as "RunCreated".
	EventType() string
}

// Unknown is an event of a type that this version does not know. It is kept as it came.
type Unknown struct {
	Type string
	// Raw is the whole event as it came.
	Raw json.RawMessage
}

// EventType returns the type as it came.
func (u Unknown) EventType() string { return u.Type }

// Transient reports whether an event is published but not stored: pieces of an unfinished message, progress, which the
// next event replaces, and events for only one reader.
func Transient(b Body) bool {
	switch b.(type) {
	case TextDelta, ReasoningDelta, RunProgress, ToolCallProgress, EventsTrimmed:
		return true
	}
	return false
}

type header struct {
	Seq     uint64    `json:"seq"`
	Session SessionID `json:"session"`
	Run     RunID     `json:"run,omitempty"`
	Time    time.Time `json:"time"`
	Type    string    `json:"type"`
}

// MarshalJSON writes the envelope's members followed by the body's, in one object.
func (e Event) MarshalJSON() ([]byte, error) {
	if u, ok := e.Body.(Unknown); ok {
		return u.Raw, nil // the raw text is the whole event, with its envelope
	}
	head, err := json.Marshal(header{e.Seq, e.Session, e.Run, e.Time, e.Body.EventType()})
	if err != nil {
		return nil, fmt.Errorf("encode the envelope of a %s event: %w", e.Body.EventType(), err)
	}
	body, err := EncodeBody(e.Body)
	if err != nil {
		return nil, err
	}
	if len(body) <= len("{}") {
		return head, nil
	}
	return append(append(head[:len(head)-1], ','), body[1:]...), nil
}

// UnmarshalJSON reads what MarshalJSON wrote. An unknown type becomes [Unknown]; it is no error.
func (e *Event) UnmarshalJSON(data []byte) error {
	var head header
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("decode the envelope of an event: %w", err)
	}
	body, err := DecodeBody(head.Type, data)
	if err != nil {
		return err
	}
	*e = Event{head.Seq, head.Session, head.Run, head.Time, body}
	return nil
}

// EncodeBody returns the body's own members as a JSON object.
func EncodeBody(b Body) (json.RawMessage, error) {
	if u, ok := b.(Unknown); ok {
		return u.Raw, nil
	}
	raw, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("encode a %s event: %w", b.EventType(), err)
	}
	return raw, nil
}

// DecodeBody reads the body of an event of the given type; members that it does not know are ignored.
func DecodeBody(eventType string, raw json.RawMessage) (Body, error) {
	body, err := decodeBody(eventType, raw)
	if err != nil {
		return nil, fmt.Errorf("decode a %s event: %w", eventType, err)
	}
	if body == nil {
		return Unknown{Type: eventType, Raw: raw}, nil
	}
	return body, nil
}

func decodeAs[T Body](raw json.RawMessage) (Body, error) {
	var body T
	err := json.Unmarshal(raw, &body)
	return body, err
}

// Final reports whether a run in this status has ended.
func (s Status) Final() bool {
	switch s {
	case StatusCompleted, StatusFailed, StatusCancelled, StatusTimeout, StatusInterrupted:
		return true
	}
	return false
}

// Outcome says how far the task of an ended run is done: by the way it ended, the reason that cut it off, and its
// result, nil for none. A run that was cut off has not completed its task, even if it says so. Outcome is empty for a
// run that has not ended.
func Outcome(status Status, reason string, handed *ChildResult) ChildStatus {
	switch {
	case !status.Final():
		return ""
	case status != StatusCompleted:
		return ChildStatus(status)
	case handed != nil && handed.Status != "" && handed.Status != ChildStatusCompleted:
		return handed.Status
	case reason != "":
		return ChildStatusPartial
	}
	return ChildStatusCompleted
}

// NoUsage returns the usage of nothing: no tokens, for a cost of 0. Sums start with it, since the cost in the zero
// Usage is unknown.
func NoUsage() Usage { return Usage{Cost: new(float64)} }

// MaxTokens is the largest number of tokens in a sum; larger sums are cut to it. JSON and SQL could add up thousands of
// such sums.
const MaxTokens = 1 << 44

// maxCost is the largest cost in a sum, in US dollars.
const maxCost = 1e12

// Add returns the sum of two usages; the cost of the sum is unknown if either cost is. Impossible figures do not count,
// see [Usage.Bounded].
func (u Usage) Add(v Usage) Usage {
	u, v = u.Bounded(), v.Bounded()
	sum := Usage{
		InputTokens:  u.InputTokens + v.InputTokens,
		OutputTokens: u.OutputTokens + v.OutputTokens,
		CachedTokens: u.CachedTokens + v.CachedTokens,
	}
	if u.Cost != nil && v.Cost != nil {
		cost := *u.Cost + *v.Cost
		sum.Cost = &cost
	}
	return sum.Bounded()
}

// Bounded returns the usage with every figure within the bounds that sums need, wherever it comes from: negative tokens
// become none, and a cost that is negative or no number becomes unknown.
func (u Usage) Bounded() Usage {
	for _, n := range []*int64{&u.InputTokens, &u.OutputTokens, &u.CachedTokens} {
		*n = min(max(*n, 0), MaxTokens)
	}
	if u.Cost == nil {
		return u
	}
	switch cost := *u.Cost; {
	case math.IsNaN(cost), cost < 0:
		u.Cost = nil
	case cost > maxCost:
		u.Cost = new(float64(maxCost))
	}
	return u
}

// FileURI returns the file: URI (RFC 8089) of an absolute path in this machine's notation. The name of a document
// without a file, such as "untitled:Untitled-1", is already a URI and stays as it is.
func FileURI(path string) string {
	if !filepath.IsAbs(path) {
		return path
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}

// FilePath is the inverse of FileURI.
func FilePath(uri string) string {
	parsed, err := url.Parse(uri)
	if err != nil || parsed.Scheme != "file" {
		return uri
	}
	path := parsed.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' {
		path = path[1:] // a drive letter
	}
	return filepath.FromSlash(path)
}
