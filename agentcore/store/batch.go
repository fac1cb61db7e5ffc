package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// Batch is committed as a whole or not at all. Its rows are inserted in the order of the fields below. A row replaces
// the stored row of the same id, except for its Created. The caller must not change a batch after Submit.
type Batch struct {
	Sessions []Session
	// Prompts must belong to runs that are stored or in the batch, since other prompts would never be deleted.
	Prompts []Prompt
	Runs    []Run
	// Usages change rows of runs that are stored, or are in the batch.
	Usages []RunUsage
	// Unreads change rows of runs that are stored, or are in the batch.
	Unreads           []Unread
	Messages          []Message
	ToolCalls         []ToolCall
	LayerFilesRemoved []LayerKey
	LayerFiles        []LayerFile
	Findings          []Finding
	FindingsCleared   []ClearedFinding
	Proposals         []Proposal
	Hunks             []Hunk
	// HunksBounded remove the oldest settled hunks.
	HunksBounded []HunkBound
	// Todos replace the whole lists of their runs.
	Todos  []TodoList
	Asks   []Ask
	Grants []Grant
	// TrustRemoved are folders whose trust is deleted before Trusted is stored.
	TrustRemoved []string
	Trusted      []Trusted
	// AgentsRemoved are slugs.
	AgentsRemoved []string
	Agents        []Agent
	// Events are numbered at the commit. Their sessions must be stored or in the batch.
	Events []NewEvent
	// Committed, if it is set, is called when the batch is on disk, before its events are published. It runs on the
	// writer's goroutine and must not block.
	Committed func()
}

// NewEvent is an event that has no number yet.
type NewEvent struct {
	Session event.SessionID
	// Run is empty for an event of the whole session.
	Run event.RunID
	// Time is when it happened; zero means the time of Submit.
	Time time.Time
	Body event.Body
}

// Commit tells what becomes of one batch. Its methods may be called from any goroutine.
type Commit struct {
	done  chan struct{}
	err   error // set before done is closed
	queue *queue
}

// Done is closed when the batch is on disk or has failed. A caller of Done counts as waiting, so that the batch is
// committed at once.
func (c *Commit) Done() <-chan struct{} {
	c.hurry()
	return c.done
}

// hurry has the batch committed at once, since somebody waits for it.
func (c *Commit) hurry() {
	select {
	case <-c.done:
	default:
		if c.queue != nil {
			c.queue.hurry()
		}
	}
}

// Wait returns when the batch is on disk (nil), has failed (why), or ctx ends (ctx's cause; the batch
// may still be committed). After nil the events were handed to Options.Committed.
func (c *Commit) Wait(ctx context.Context) error {
	select {
	case <-c.done:
		return c.err
	default:
	}
	c.hurry()
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return fmt.Errorf("wait for a commit: %w", context.Cause(ctx))
	}
}

func (c *Commit) finish(err error) {
	c.err = err
	close(c.done)
}

// size is about the number of bytes in a batch; only what can be large is counted.
func (b *Batch) size() int {
	const perRow = 256
	n := perRow
	for i := range b.Runs {
		n += perRow + len(b.Runs[i].Request) + len(b.Runs[i].Response) + len(b.Runs[i].Permissions)
	}
	for i := range b.Unreads {
		n += perRow + len(b.Unreads[i].Texts)
	}
	for i := range b.Prompts {
		n += perRow + len(b.Prompts[i].Text)
	}
	for i := range b.Messages {
		n += perRow + len(b.Messages[i].Parts)
	}
	for i := range b.ToolCalls {
		n += perRow + len(b.ToolCalls[i].Arguments) + min(len(b.ToolCalls[i].Output), MaxOutput)
	}
	for i := range b.LayerFiles {
		n += perRow + len(b.LayerFiles[i].Base) + len(b.LayerFiles[i].Own)
	}
	for i := range b.Findings {
		n += perRow + len(b.Findings[i].Message) + len(b.Findings[i].Quote)
	}
	for i := range b.Hunks {
		n += perRow + len(b.Hunks[i].Before) + len(b.Hunks[i].After) + len(b.Hunks[i].Above) + len(b.Hunks[i].Below)
	}
	for i := range b.Agents {
		n += perRow + len(b.Agents[i].Definition)
	}
	for i := range b.Asks {
		n += perRow + len(b.Asks[i].Arguments)
	}
	return n +
		perRow*(len(b.Grants)+len(b.TrustRemoved)+len(b.Trusted)+len(b.Sessions)+len(b.Events)+len(
			b.Proposals)+len(b.Todos)+
			len(b.LayerFilesRemoved)+len(b.FindingsCleared)+len(b.HunksBounded)+len(b.AgentsRemoved)+len(b.Usages))
}

// empty reports whether a batch holds nothing to store.
func (b *Batch) empty(bodies []json.RawMessage) bool {
	rows := len(b.Sessions) + len(b.Prompts) + len(b.Runs) + len(b.Usages) + len(b.Unreads) + len(b.Messages) +
		len(b.ToolCalls) + len(b.LayerFilesRemoved) +
		len(b.LayerFiles) + len(b.Findings) + len(b.FindingsCleared) + len(b.Proposals) + len(b.Hunks) +
		len(b.HunksBounded) + len(b.Todos) +
		len(b.Asks) + len(b.Grants) + len(b.TrustRemoved) + len(b.Trusted) + len(b.AgentsRemoved) + len(b.Agents)
	return rows == 0 && !slices.ContainsFunc(bodies, func(body json.RawMessage) bool { return body != nil })
}

// patient reports whether a batch holds only what each turn of a run stores, or the sign that a run works. Such a batch
// may wait a moment for others to share its transaction, until somebody waits for its commit.
func (b *Batch) patient() bool {
	rest := *b
	rest.Messages, rest.ToolCalls, rest.Usages, rest.Prompts, rest.Runs, rest.Events = nil, nil, nil, nil, nil, nil
	if b.Committed != nil || !rest.empty(nil) ||
		slices.ContainsFunc(b.Runs, func(r Run) bool { return r.Status != event.StatusRunning }) {
		return false
	}
	return !slices.ContainsFunc(b.Events, func(e NewEvent) bool {
		switch body := e.Body.(type) {
		case event.TurnStarted, event.MessageCommitted, event.ToolCallStarted, event.ToolCallFinished:
			return false
		case event.RunStatusChanged:
			return body.Status != event.StatusRunning
		}
		return !event.Transient(e.Body)
	})
}
