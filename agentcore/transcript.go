package agentcore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/store"
)

// TranscriptMessage is one message of a stored conversation.
type TranscriptMessage struct {
	ID event.MessageID
	// Parent is the message that this one follows; of a summary, the last one that it stands for. It is empty for the first.
	Parent event.MessageID
	Run    event.RunID
	Role   model.Role
	Time   time.Time
	// Text is in Markdown.
	Text, Reasoning string
	// Summary says that from here on the message stands for those before it: the conversation was shortened.
	Summary bool
	Calls   []TranscriptCall
}

// TranscriptCall is a tool call of a message.
type TranscriptCall struct {
	// ID is the model's own id where the call was never made.
	ID event.CallID
	// Tool is the canonical name, or the model's where there is no such tool.
	Tool string
	// Arguments are as the model sent them: JSON, if it kept to it.
	Arguments string
	// Status is empty where the call has not ended; no outcome of it is known then.
	Status event.CallStatus
	// Output is what the model was told.
	Output   string
	Duration time.Duration // 0 while it has not ended
	// Child is the run that the call started, empty for none.
	Child event.RunID
}

// Transcript returns the conversation of a run of any process: what it goes on with, and its own messages, in the order in which they were stored.
// It has at most limit messages (0 for all) behind the message after (empty for the first), and says whether there are more. A run that is not stored, and
// one of agentls's own, is an Error of the kind not_found. It reads the store.
func (e *Engine) Transcript(ctx context.Context, run event.RunID, after event.MessageID, limit int) (messages []TranscriptMessage, more bool, err error) {
	if err := e.flush(ctx); err != nil {
		return nil, false, err
	}
	row, err := e.store.Run(ctx, run)
	if errors.Is(err, store.ErrNotFound) || err == nil && row.Role == RoleHidden {
		return nil, false, notFound("run", string(run), "list the sessions and their runs with agent/sessions")
	}
	if err != nil {
		return nil, false, err
	}
	parts, err := e.conversation(ctx, row)
	if err != nil {
		return nil, false, err
	}
	for _, part := range parts {
		children, err := e.store.Children(ctx, part.run.ID)
		if err != nil {
			return nil, false, err
		}
		children = slices.DeleteFunc(children, func(c store.Run) bool { return c.Role == RoleHidden })
		all, err := part.transcript(children)
		if err != nil {
			return nil, false, err
		}
		messages = append(messages, all...)
	}
	if after != "" {
		at := slices.IndexFunc(messages, func(m TranscriptMessage) bool { return m.ID == after })
		if at < 0 {
			return nil, false, notFound("message", string(after), fmt.Sprintf("ask for the transcript of %s from its beginning", run))
		}
		messages = messages[at+1:]
	}
	if limit > 0 && len(messages) > limit {
		return messages[:limit], true, nil
	}
	return messages, false, nil
}

// recordedRun is a run as it is stored, with its conversation.
type recordedRun struct {
	run      store.Run
	messages []store.Message  // in order
	calls    []store.ToolCall // in the order of their intents; each names its message, where that is known
}

// recorded reads the conversation of a run.
func (e *Engine) recorded(ctx context.Context, run store.Run) (recordedRun, error) {
	r := recordedRun{run: run}
	var err error
	if r.messages, err = e.store.Messages(ctx, run.ID); err != nil {
		return r, err
	}
	if r.calls, err = e.store.ToolCalls(ctx, run.ID); err != nil {
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

// byMessage sorts the calls by the message that makes them; "" has those of which that is not known.
func (r recordedRun) byMessage() map[event.MessageID][]store.ToolCall {
	calls := map[event.MessageID][]store.ToolCall{}
	for _, c := range r.calls {
		calls[c.Message] = append(calls[c.Message], c)
	}
	return calls
}

// conversation reads a run and those that it goes on with, the first one first. What was deleted is left out. Of a run that another one goes on with in the
// middle, what comes later is left out.
func (e *Engine) conversation(ctx context.Context, run store.Run) ([]recordedRun, error) {
	last, err := e.recorded(ctx, run)
	if err != nil {
		return nil, err
	}
	parts, seen := []recordedRun{last}, map[event.RunID]bool{run.ID: true}
	for len(parts[0].messages) > 0 && parts[0].messages[0].Parent != "" {
		parent := parts[0].messages[0].Parent
		id, err := e.store.MessageRun(ctx, parent)
		if errors.Is(err, store.ErrNotFound) || seen[id] {
			break
		}
		if err != nil {
			return nil, err
		}
		seen[id] = true
		row, err := e.store.Run(ctx, id)
		if err != nil {
			return nil, err
		}
		before, err := e.recorded(ctx, row)
		if err != nil {
			return nil, err
		}
		end := 1 + slices.IndexFunc(before.messages, func(m store.Message) bool { return m.ID == parent })
		before.messages = before.messages[:end]
		parts = slices.Insert(parts, 0, before)
	}
	return parts, nil
}

// transcript decodes the messages; children are the runs that this one started.
func (r recordedRun) transcript(children []store.Run) ([]TranscriptMessage, error) {
	list := make([]TranscriptMessage, 0, len(r.messages))
	made := r.byMessage()
	started := map[event.CallID]event.RunID{}
	for _, child := range children {
		started[child.ParentCall] = child.ID
	}
	for i, row := range r.messages {
		parts, err := model.DecodeParts(row.Parts)
		if err != nil {
			return nil, fmt.Errorf("read the message %s of the run %s: %w", row.ID, r.run.ID, err)
		}
		m := TranscriptMessage{ID: row.ID, Parent: row.Parent, Run: row.Run, Role: model.Role(row.Role), Time: row.Time}
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

// transcriptCall is a call of the message at an index, with its outcome. made are the calls of that message that were made, started the runs by the calls
// that started them.
func (r recordedRun) transcriptCall(c model.Call, at int, made []store.ToolCall, started map[event.CallID]event.RunID) TranscriptCall {
	call := TranscriptCall{ID: event.CallID(c.ID), Tool: c.Name, Arguments: string(c.Arguments)}
	for _, row := range made {
		if row.ModelCall != c.ID {
			continue
		}
		call.ID, call.Tool, call.Status, call.Output = row.ID, row.Tool, row.Status, row.Output
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
