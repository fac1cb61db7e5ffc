package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/store"
)

// record is a session with its conversations: what exports and copies have of it. Findings, proposed edits and
// permissions stay with the session.
type record struct {
	session store.Session
	// runs are the runs of the session, without agentls's own, in the order of their creation. Before them come the
	// runs of other sessions that they go on with. A parent comes before its children, and a message before the
	// messages that follow it.
	runs []recordedRun
	// prompts are the system prompts of the runs.
	prompts []store.Prompt
}

// record reads a session of any process.
func (h *Reader) record(ctx context.Context, id event.SessionID) (record, error) {
	if err := h.flush(ctx); err != nil {
		return record{}, err
	}
	row, err := h.Session(ctx, id)
	if err != nil {
		return record{}, err
	}
	rec := record{session: row}
	rows, err := h.shownRuns(ctx, id)
	if err != nil {
		return rec, err
	}
	known := map[event.RunID]bool{}
	for _, r := range rows {
		known[r.ID] = true
	}
	copied, err := h.store.CopiedTurns(ctx, id)
	if err != nil {
		return rec, err
	}
	var before, own []recordedRun
	for _, r := range rows {
		r.Turns += copied[r.ID]
		parts, err := h.conversation(ctx, r)
		if err != nil {
			return rec, err
		}
		own = append(own, parts[len(parts)-1])
		for _, part := range parts[:len(parts)-1] {
			if !known[part.run.ID] {
				known[part.run.ID] = true
				part.run.Parent, part.run.Depth = "", 0 // which is not of this session
				before = append(before, part)
			}
		}
	}
	rec.runs = append(before, own...)
	read := map[store.PromptID]bool{}
	for _, part := range rec.runs {
		if id := part.run.Prompt; !read[id] {
			read[id] = true
			prompt, err := h.store.Prompt(ctx, id)
			if errors.Is(err, store.ErrNotFound) {
				continue // it had none, or a former version stored it
			}
			if err != nil {
				return rec, err
			}
			rec.prompts = append(rec.prompts, prompt)
		}
	}
	return rec, nil
}

// upTo leaves out what was stored later than a message. It reports false where the record has no such message.
func (r record) upTo(message event.MessageID) (record, bool) {
	var end store.Message
	for _, part := range r.runs {
		for _, m := range part.messages {
			if m.ID == message {
				end = m
			}
		}
	}
	if end.ID == "" {
		return r, false
	}
	cut := record{session: r.session, prompts: r.prompts}
	kept := map[event.RunID]bool{}
	for _, part := range r.runs {
		if part.run.Created.After(end.Time) || part.run.Parent != "" && !kept[part.run.Parent] {
			continue
		}
		kept[part.run.ID] = true
		before := len(part.messages)
		stays := map[event.MessageID]bool{}
		part.messages = slices.DeleteFunc(slices.Clone(part.messages), func(m store.Message) bool {
			later := m.Time.After(end.Time)
			if m.Run == end.Run {
				later = m.Seq > end.Seq
			}
			stays[m.ID] = !later
			return later
		})
		part.calls = slices.DeleteFunc(slices.Clone(part.calls),
			func(c store.ToolCall) bool { return !stays[c.Message] })
		if len(part.messages) < before || part.run.ID == end.Run {
			part.run.Status, part.run.Reason, part.run.Completed = event.StatusInterrupted,
				"the copy ends here", end.Time
			part.run.Response, part.run.Summary, part.run.Result, part.run.Failure = "", "", nil, nil
		}
		cut.runs = append(cut.runs, part)
	}
	return cut, true
}

// copied returns the rows of a copy: everything has ids of its own, and nothing is alive.
func (r record) copied() store.Batch {
	now := time.Now().UTC()
	r.session.ID, r.session.State, r.session.Updated = event.NewSessionID(), store.SessionClosed, now
	batch := store.Batch{Sessions: []store.Session{r.session}}
	used := map[store.PromptID]bool{}
	runs, messages, calls := map[event.RunID]event.RunID{}, map[event.MessageID]event.MessageID{},
		map[event.CallID]event.CallID{}
	for _, part := range r.runs {
		runs[part.run.ID] = event.NewRunID()
		for _, m := range part.messages {
			messages[m.ID] = event.NewMessageID()
		}
		for _, c := range part.calls {
			calls[c.ID] = event.NewCallID()
		}
	}
	for _, part := range r.runs {
		row := part.run
		row.ID, row.Session, row.Parent = runs[row.ID], r.session.ID, runs[row.Parent]
		row.ParentMessage, row.ParentCall = messages[row.ParentMessage], calls[row.ParentCall]
		row.Chain, row.Proposal, row.Copied = cmp.Or(runs[row.Chain], row.ID), "", true
		row.Turns, row.Duration = 0, 0
		if !row.Status.Final() {
			row.Status, row.Reason = event.StatusInterrupted, "it had not ended when it was copied"
		}
		row.Completed = cmp.Or(row.Completed, now)
		batch.Runs = append(batch.Runs, row)
		used[row.Prompt] = true
		for i, m := range part.messages {
			m.ID, m.Run, m.Parent, m.Seq = messages[m.ID], row.ID, messages[m.Parent], i+1
			batch.Messages = append(batch.Messages, m)
		}
		for _, c := range part.calls {
			c.ID, c.Run, c.Message = calls[c.ID], row.ID, messages[c.Message]
			batch.ToolCalls = append(batch.ToolCalls, c)
		}
	}
	batch.Prompts = slices.DeleteFunc(slices.Clone(r.prompts), func(p store.Prompt) bool { return !used[p.ID] })
	return batch
}

// Fork copies the conversations of a session of any process, up to a message or, for an empty one, as far as they have
// come. The copy is a session of its own on the same folders; its runs have ended, and can be resumed. What the session
// found and proposed, and what was allowed in it, is not copied. It returns when the copy is durable.
func (h *Reader) Fork(ctx context.Context, id event.SessionID, message event.MessageID) (event.SessionID, error) {
	rec, err := h.record(ctx, id)
	if err != nil {
		return "", err
	}
	if message != "" {
		var ok bool
		if rec, ok = rec.upTo(message); !ok {
			return "", fault.Missing("message", string(message),
				fmt.Sprintf("see the transcripts of the runs of %s", id))
		}
	}
	rec.session.ForkedFrom, rec.session.Created = id, time.Now().UTC()
	for i := range rec.runs { // each answer is counted where it was given
		rec.runs[i].run.Usage, rec.runs[i].run.Own = event.NoUsage(), event.NoUsage()
	}
	return h.keepCopy(ctx, rec)
}

func (h *Reader) keepCopy(ctx context.Context, rec record) (event.SessionID, error) {
	batch := rec.copied()
	id := batch.Sessions[0].ID
	if err := h.store.Submit(batch).Wait(ctx); err != nil {
		return "", fmt.Errorf("store the copy of the session %s: %w", rec.session.ID, err)
	}
	return id, nil
}

// encodedOrNil is a JSON text of a file, nil where it is null.
func encodedOrNil(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}
