package history

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/store"
)

// Message is one message of a stored conversation.
type Message struct {
	ID event.MessageID
	// Parent is the message that this one follows; of a summary, the last one that it stands for. It is empty for the
	// first.
	Parent event.MessageID
	Run    event.RunID
	Role   model.Role
	Time   time.Time
	// Text is in Markdown.
	Text, Reasoning string
	// Summary says that from here on the message stands for those before it: the conversation was shortened.
	Summary bool
	// Model is who answered, and Usage what that one request used; empty for what no model said, and where that is not
	// recorded.
	Model string
	Usage event.Usage
	Calls []Call
}

// Call is a tool call of a message.
type Call struct {
	// ID is the model's own id where the call was never made.
	ID event.CallID
	// Tool is the canonical name, or the model's where there is no such tool.
	Tool string
	// Arguments are as the model sent them: JSON, if it kept to it.
	Arguments string
	// Status is empty where the call has not ended; no outcome of it is known then.
	Status event.CallStatus
	// Output is what the model was told.
	Output string
	// ExitCode is the exit code of the command that the call ran to its end; nil for none.
	ExitCode *int
	Duration time.Duration // 0 while it has not ended
	// Child is the run that the call started, empty for none.
	Child event.RunID
}

// Transcript returns the conversation of a run of any process: what it goes on with, and its own messages, in the order
// in which they were stored. It has at most limit messages (0 for all) behind the message after (empty for the first),
// and says whether there are more. A run that is not stored, and one of agentls's own, is an Error of the kind
// not_found. It reads the store.
func (h *Reader) Transcript(ctx context.Context, run event.RunID, after event.MessageID,
	limit int,
) (messages []Message, more bool, err error) {
	row, err := h.Run(ctx, run)
	if err != nil {
		return nil, false, err
	}
	parts, err := h.stretches(ctx, row.ID)
	if err != nil {
		return nil, false, err
	}
	if after != "" {
		if parts, err = h.behind(ctx, parts, after); err != nil {
			return nil, false, err
		}
		if parts == nil {
			return nil, false, fault.Missing("message", string(after),
				fmt.Sprintf("ask for the transcript of %s from its beginning", run))
		}
	}
	for _, part := range parts {
		wanted := 0
		if limit > 0 {
			wanted = limit - len(messages)
		}
		page, rest, err := h.page(ctx, part, wanted)
		if err != nil {
			return nil, false, err
		}
		messages = append(messages, page...)
		if rest || limit > 0 && len(messages) == limit && part != parts[len(parts)-1] {
			return messages, true, nil
		}
	}
	return messages, false, nil
}

// CallOf returns a stored call of a run of any process; one that is not stored is an Error of the kind not_found.
func CallOf(ctx context.Context, h *Reader, id event.CallID) (store.ToolCall, error) {
	row, err := h.store.ToolCall(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return row, fault.Missing("tool call", string(id), "its session may have been deleted")
	}
	return row, err
}

// stretch is a part of a run's conversation: the messages behind a number, up to and with another.
type stretch struct {
	run      event.RunID
	from, to int
}

// stretches finds what a transcript is made of, without reading it: the run, and what it goes on with, the first one
// first.
func (h *Reader) stretches(ctx context.Context, run event.RunID) ([]stretch, error) {
	parts, seen := []stretch{{run, -1, math.MaxInt32}}, map[event.RunID]bool{run: true}
	for {
		first, err := h.store.MessagesBetween(ctx, parts[0].run, -1, math.MaxInt32, 1)
		if err != nil || len(first) == 0 || first[0].Parent == "" {
			return parts, err
		}
		parent, err := h.store.Message(ctx, first[0].Parent)
		if errors.Is(err, store.ErrNotFound) || seen[parent.Run] {
			return parts, nil
		}
		if err != nil {
			return nil, err
		}
		seen[parent.Run] = true
		parts = slices.Insert(parts, 0, stretch{parent.Run, -1, parent.Seq})
	}
}

// behind leaves out what is not behind a message; nil if it is in none of the parts.
func (h *Reader) behind(ctx context.Context, parts []stretch, after event.MessageID) ([]stretch, error) {
	m, err := h.store.Message(ctx, after)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(parts, func(s stretch) bool { return s.run == m.Run && m.Seq <= s.to })
	if at < 0 {
		return nil, nil
	}
	parts[at].from = m.Seq
	return parts[at:], nil
}

// lookAhead is how many messages behind a page are read: the outcome of a call that was not made is in the next one of
// a tool.
const lookAhead = 4

// page reads at most so many messages of a stretch (0 for all), and reports whether there are more.
func (h *Reader) page(ctx context.Context, part stretch, limit int) (page []Message, more bool, err error) {
	reading := 0
	if limit > 0 {
		reading = limit + lookAhead
	}
	r := recordedRun{run: store.Run{ID: part.run}}
	if r.messages, err = h.store.MessagesBetween(ctx, part.run, part.from, part.to, reading); err != nil {
		return nil, false, err
	}
	shown := len(r.messages)
	if limit > 0 && shown > limit {
		shown = limit
	}
	old, err := h.store.UnlinkedCalls(ctx, part.run)
	if err != nil {
		return nil, false, err
	}
	if old { // only the whole conversation tells where they belong
		whole, err := h.recorded(ctx, r.run)
		if err != nil {
			return nil, false, err
		}
		r.calls = whole.calls
	} else if r.calls, err = h.store.CallsOf(ctx, r.messages[:shown]); err != nil {
		return nil, false, err
	}
	started, err := h.store.StartedBy(ctx, part.run, RoleHidden)
	if err != nil {
		return nil, false, err
	}
	page, err = r.transcript(shown, started)
	return page, shown < len(r.messages), err
}

// recordedRun is a run as it is stored, with its conversation.
type recordedRun struct {
	run      store.Run
	messages []store.Message  // in order
	calls    []store.ToolCall // in the order of their intents; each names its message, where that is known
}

// recorded reads the conversation of a run.
func (h *Reader) recorded(ctx context.Context, run store.Run) (recordedRun, error) {
	r := recordedRun{run: run}
	var err error
	if r.messages, err = h.store.Messages(ctx, run.ID); err != nil {
		return r, err
	}
	if r.calls, err = h.store.ToolCalls(ctx, run.ID); err != nil {
		return r, err
	}
	return r, r.linkCalls()
}

// linkCalls finds the messages of calls that do not name theirs, as older versions stored them.
func (r recordedRun) linkCalls() error {
	unlinked := map[string][]int{} // by the model's id, in order
	for i, c := range r.calls {
		if c.Message == "" {
			unlinked[c.ModelCall] = append(unlinked[c.ModelCall], i)
		}
	}
	if len(unlinked) == 0 {
		return nil
	}
	for _, m := range r.messages {
		if model.Role(m.Role) != model.RoleAssistant {
			continue
		}
		parts, err := model.DecodeParts(m.Parts)
		if err != nil {
			return fmt.Errorf("read the message %s of the run %s: %w", m.ID, r.run.ID, err)
		}
		for _, c := range (model.Message{Parts: parts}).Calls() {
			if same := unlinked[c.ID]; len(same) > 0 {
				r.calls[same[0]].Message = m.ID
				unlinked[c.ID] = same[1:]
			}
		}
	}
	return nil
}

// byMessage sorts the calls by the message that makes them. The key "" has the calls whose message is not known.
func (r recordedRun) byMessage() map[event.MessageID][]store.ToolCall {
	calls := map[event.MessageID][]store.ToolCall{}
	for _, c := range r.calls {
		calls[c.Message] = append(calls[c.Message], c)
	}
	return calls
}

// conversation reads a run and those that it goes on with, the first one first. What was deleted is left out. Of a run
// that another one goes on with in the middle, what comes later is left out.
func (h *Reader) conversation(ctx context.Context, run store.Run) ([]recordedRun, error) {
	last, err := h.recorded(ctx, run)
	if err != nil {
		return nil, err
	}
	parts, seen := []recordedRun{last}, map[event.RunID]bool{run.ID: true}
	for len(parts[0].messages) > 0 && parts[0].messages[0].Parent != "" {
		parent := parts[0].messages[0].Parent
		id, err := h.store.MessageRun(ctx, parent)
		if errors.Is(err, store.ErrNotFound) || seen[id] {
			break
		}
		if err != nil {
			return nil, err
		}
		seen[id] = true
		row, err := h.store.Run(ctx, id)
		if err != nil {
			return nil, err
		}
		before, err := h.recorded(ctx, row)
		if err != nil {
			return nil, err
		}
		end := 1 + slices.IndexFunc(before.messages, func(m store.Message) bool { return m.ID == parent })
		before.messages = before.messages[:end]
		parts = slices.Insert(parts, 0, before)
	}
	return parts, nil
}

// transcript decodes the first n messages; started are the runs that this one started, by the calls.
func (r recordedRun) transcript(n int, started map[event.CallID]event.RunID) ([]Message, error) {
	list := make([]Message, 0, n)
	made := r.byMessage()
	for i, row := range r.messages[:n] {
		parts, err := model.DecodeParts(row.Parts)
		if err != nil {
			return nil, fmt.Errorf("read the message %s of the run %s: %w", row.ID, r.run.ID, err)
		}
		m := Message{
			ID: row.ID, Parent: row.Parent, Run: row.Run, Role: model.Role(row.Role), Time: row.Time,
			Model: row.Model, Usage: row.Usage,
		}
		for _, part := range parts {
			switch p := part.(type) {
			case model.Text:
				m.Text += p.Text
				m.Summary = m.Summary || p.Summary
			case model.Reasoning:
				m.Reasoning += p.Text
			case model.Call:
				m.Calls = append(m.Calls, r.transcriptCall(p, i, made[row.ID], started))
			}
		}
		list = append(list, m)
	}
	return list, nil
}

// transcriptCall is a call of the message at an index, with its outcome. made are the calls of that message that were
// made, started the runs by the calls that started them.
func (r recordedRun) transcriptCall(c model.Call, at int, made []store.ToolCall,
	started map[event.CallID]event.RunID,
) Call {
	call := Call{ID: event.CallID(c.ID), Tool: c.Name, Arguments: string(c.Arguments)}
	for _, row := range made {
		if row.ModelCall != c.ID {
			continue
		}
		call.ID, call.Tool, call.Status, call.Output, call.ExitCode = row.ID, row.Tool, row.Status,
			row.Output, row.ExitCode
		if row.Status != "" {
			call.Duration = row.Finished.Sub(row.Started)
		}
		call.Child = started[row.ID]
		return call
	}
	// It was never made; the model was told why in its next message.
	for _, row := range r.messages[at+1:] {
		if model.Role(row.Role) != model.RoleTool {
			continue
		}
		parts, err := model.DecodeParts(row.Parts)
		if err != nil {
			break // the message itself says so
		}
		for _, part := range parts {
			if result, ok := part.(model.Result); ok && result.ID == c.ID {
				call.Output, call.Status = result.Text, event.CallError
				if !result.Error {
					call.Status = event.CallOK
				}
			}
		}
		break
	}
	return call
}
