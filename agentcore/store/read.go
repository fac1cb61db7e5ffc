package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// SessionFilter narrows Sessions.
type SessionFilter struct {
	// Roots are paths of folders, of which the session has at least one among its roots; none for all sessions.
	Roots []string
	// Ran leaves out sessions without a run of another role than this one; empty for all sessions.
	Ran string
	// Before leaves out this session and those updated later; empty, or a session that is not stored, for none.
	Before event.SessionID
	// Limit is the largest number of sessions, 0 for all.
	Limit int
}

// Session returns one session, or ErrNotFound.
func (r *reader) Session(ctx context.Context, id event.SessionID) (Session, error) {
	return one[Session](ctx, r, sessionTable, fmt.Sprintf("session %s", id), "WHERE id = ?", id)
}

// Sessions returns the sessions, the one updated last first.
func (r *reader) Sessions(ctx context.Context, filter SessionFilter) ([]Session, error) {
	return many[Session](ctx, r, sessionTable, "sessions",
		`WHERE (json_array_length(?1) = 0
			OR EXISTS (SELECT 1 FROM json_each(session.roots) WHERE value IN (SELECT value FROM json_each(?1))))
		AND (?2 = '' OR EXISTS (SELECT 1 FROM run WHERE run.session = session.id AND run.role <> ?2))
		AND ((updated, id) < (SELECT updated, id FROM session WHERE id = ?3)
			OR NOT EXISTS (SELECT 1 FROM session WHERE id = ?3))
		ORDER BY updated DESC, id DESC LIMIT ?4`,
		textArray{&filter.Roots}, filter.Ran, filter.Before, orAll(filter.Limit))
}

// Run returns one run, or ErrNotFound.
func (r *runReader) Run(ctx context.Context, id event.RunID) (Run, error) {
	return one[Run](ctx, r.reader, runTable, fmt.Sprintf("run %s", id), "WHERE id = ?", id)
}

// Runs returns the runs of a session, in the order of their creation.
func (r *runReader) Runs(ctx context.Context, session event.SessionID) ([]Run, error) {
	return many[Run](ctx, r.reader, runTable, fmt.Sprintf("the runs of session %s", session),
		"WHERE session = ? ORDER BY rowid", session) // not ordered by time, since the clock may jump
}

// WentOn reports whether a later run has gone on with the session of the program that was a run's agent.
func (r *runReader) WentOn(ctx context.Context, run Run) (bool, error) {
	if run.ProgramSession == "" {
		return false, nil
	}
	later, err := many[Run](ctx, r.reader, runTable, fmt.Sprintf("who went on with the program of %s", run.ID),
		"WHERE program_session = ? AND rowid > (SELECT rowid FROM run WHERE id = ?) LIMIT 1", run.ProgramSession, run.ID)
	return len(later) > 0, err
}

// Prompt returns the text of a system prompt, or ErrNotFound.
func (r *reader) Prompt(ctx context.Context, id PromptID) (Prompt, error) {
	return one[Prompt](ctx, r, promptTable, fmt.Sprintf("prompt %s", id), "WHERE id = ?", id)
}

// Children returns the runs that a run started, in the order of their creation.
func (r *runReader) Children(ctx context.Context, run event.RunID) ([]Run, error) {
	return many[Run](ctx, r.reader, runTable, fmt.Sprintf("the children of run %s", run),
		"WHERE parent_run = ? ORDER BY rowid", run)
}

// Messages returns the conversation of a run, in order.
func (r *runReader) Messages(ctx context.Context, run event.RunID) ([]Message, error) {
	return many[Message](ctx, r.reader, messageTable, fmt.Sprintf("the messages of run %s", run),
		"WHERE run = ? ORDER BY seq", run)
}

// MessageRun returns the run that a message belongs to, or ErrNotFound.
func (r *runReader) MessageRun(ctx context.Context, id event.MessageID) (event.RunID, error) {
	m, err := one[Message](ctx, r.reader, messageTable, fmt.Sprintf("message %s", id), "WHERE id = ?", id)
	return m.Run, err
}

// ToolCalls returns the calls of a run, in the order of their intents.
func (r *runReader) ToolCalls(ctx context.Context, run event.RunID) ([]ToolCall, error) {
	return many[ToolCall](ctx, r.reader, toolCallTable, fmt.Sprintf("the tool calls of run %s", run),
		"WHERE run = ? ORDER BY rowid", run)
}

// ToolCall returns a call, or ErrNotFound.
func (r *runReader) ToolCall(ctx context.Context, id event.CallID) (ToolCall, error) {
	return one[ToolCall](ctx, r.reader, toolCallTable, fmt.Sprintf("the tool call %s", id), "WHERE id = ?", id)
}

// LayerFiles returns the files of all layers of a session: its own first, then its runs'.
func (r *reader) LayerFiles(ctx context.Context, session event.SessionID) ([]LayerFile, error) {
	return many[LayerFile](ctx, r, layerFileTable, fmt.Sprintf("the layers of session %s", session),
		"WHERE session = ? ORDER BY ifnull(run, ''), path", session)
}

// FindingFilter narrows Findings. An empty field does not filter.
type FindingFilter struct {
	Session event.SessionID
	Run     event.RunID
	State   FindingState
	// Root is the absolute path of a folder or a file: only findings there are returned.
	Root string
}

// Findings returns findings by file, then by place.
func (r *reader) Findings(ctx context.Context, filter FindingFilter) ([]Finding, error) {
	var conditions []string
	var args []any
	add := func(condition string, values ...any) {
		conditions = append(conditions, condition)
		args = append(args, values...)
	}
	if filter.Session != "" {
		add("session = ?", filter.Session)
	}
	if filter.Run != "" {
		add("run = ?", filter.Run)
	}
	if filter.State != "" {
		add("state = ?", filter.State)
	}
	if filter.Root != "" {
		condition, values := below(filter.Root)
		add(condition, values...)
	}
	return r.findings(ctx, conditions, args)
}

// OpenFindings returns the findings below any of the folders that still hold, from all sessions.
func (r *reader) OpenFindings(ctx context.Context, roots []string) ([]Finding, error) {
	if len(roots) == 0 {
		return nil, nil
	}
	var places []string
	args := []any{FindingOpen}
	for _, root := range roots {
		condition, values := below(root)
		places = append(places, condition)
		args = append(args, values...)
	}
	return r.findings(ctx, []string{"state = ?", "(" + strings.Join(places, " OR ") + ")"}, args)
}

func (r *reader) findings(ctx context.Context, conditions []string, args []any) ([]Finding, error) {
	rest := "ORDER BY uri, start_line, start_column, id"
	if len(conditions) > 0 {
		rest = "WHERE " + strings.Join(conditions, " AND ") + " " + rest
	}
	found, err := selectRows[Finding](ctx, r.readers, findingTable, rest, args...)
	return found, r.explain("read findings", err)
}

// Proposals returns the proposals of a session, in the order of their creation.
func (r *reader) Proposals(ctx context.Context, session event.SessionID) ([]Proposal, error) {
	return many[Proposal](ctx, r, proposalTable, fmt.Sprintf("the proposals of session %s", session),
		"WHERE session = ? ORDER BY created, id", session)
}

// Hunks returns the hunks of a session's proposals by file, then by place; an empty state means all.
func (r *reader) Hunks(ctx context.Context, session event.SessionID, state event.ProposalState) ([]Hunk, error) {
	return many[Hunk](ctx, r, hunkTable, fmt.Sprintf("the hunks of session %s", session),
		`WHERE proposal IN (SELECT id FROM proposal WHERE session = ?1) AND (?2 = '' OR state = ?2)
		ORDER BY path, start_line, id`, session, state)
}

// Agents returns the agents that were registered at run time, by slug.
func (r *reader) Agents(ctx context.Context) ([]Agent, error) {
	return many[Agent](ctx, r, agentTable, "the registered agents", "ORDER BY slug")
}

// Todos returns the list of a run.
func (r *runReader) Todos(ctx context.Context, run event.RunID) ([]event.Todo, error) {
	items, err := func() ([]event.Todo, error) {
		rows, err := r.readers.QueryContext(ctx, "SELECT text, state FROM todo WHERE run = ? ORDER BY position", run)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		var items []event.Todo
		for rows.Next() {
			var item event.Todo
			if err := rows.Scan(&item.Text, &item.State); err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		return items, rows.Err()
	}()
	return items, r.explain(fmt.Sprintf("read the todos of run %s", run), err)
}

// Events returns the events of a session with a number above after, in order, at most limit of them (0
// for all). If the first one's number is not after+1, or there is none although LastSeq is above after,
// the events between were trimmed.
func (r *reader) Events(ctx context.Context, session event.SessionID, after uint64, limit int) ([]event.Event, error) {
	events, err := r.events(ctx, session, after, limit)
	return events, r.explain(fmt.Sprintf("read the events of session %s", session), err)
}

func (r *reader) events(ctx context.Context, session event.SessionID, after uint64, limit int) ([]event.Event, error) {
	rows, err := r.readers.QueryContext(ctx,
		"SELECT seq, run, time, type, body FROM event WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?",
		session, int64(min(after, math.MaxInt64)), orAll(limit))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var events []event.Event
	for rows.Next() {
		e := event.Event{Session: session}
		var eventType string
		var body json.RawMessage
		if err := rows.Scan(&e.Seq, optional(&e.Run), micros{&e.Time}, &eventType, jsonText{&body}); err != nil {
			return nil, err
		}
		if e.Body, err = event.DecodeBody(eventType, body); err != nil {
			return nil, fmt.Errorf("event %d: %w", e.Seq, err)
		}
		events = append(events, e)
	}
	return events, rows.Err()
}

// LastSeq returns the number of the newest event of a session, 0 before the first, or ErrNotFound.
// Numbers are not used again after TrimEvents.
func (r *reader) LastSeq(ctx context.Context, session event.SessionID) (uint64, error) {
	var last uint64
	err := r.readers.QueryRowContext(ctx, "SELECT last_seq FROM session WHERE id = ?", session).Scan(&last)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return last, r.explain(fmt.Sprintf("read the last event number of session %s", session), err)
}

// SeqRange returns the numbers of a session's oldest stored event and of its newest event, stored or trimmed. If none
// is stored, first is one above last. The error is ErrNotFound where there is no such session.
func (r *reader) SeqRange(ctx context.Context, session event.SessionID) (first, last uint64, err error) {
	err = r.readers.QueryRowContext(ctx, `SELECT ifnull((SELECT min(seq) FROM event WHERE session = ?1), last_seq + 1), last_seq
		FROM session WHERE id = ?1`, session).Scan(&first, &last)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return first, last, r.explain(fmt.Sprintf("read the event numbers of session %s", session), err)
}

// trimStep is how many events are removed in one transaction, so that other commits wait only a moment.
const trimStep = 250

// TrimEvents removes events of a session, except for the newest keep and those with a number above read. It begins
// after what was submitted before, works in short transactions between which others commit, and stops when ctx ends.
func (s *Store) TrimEvents(ctx context.Context, session event.SessionID, keep int, read uint64) error {
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("trim the events of session %s: %w", session, context.Cause(ctx))
		}
		var trimmed int64
		trim := func(w *writer) ([]event.Event, error) {
			statement, err := w.statement(`DELETE FROM event WHERE session = ?1 AND seq <= min((SELECT last_seq FROM session WHERE id = ?1) - ?2,
				(SELECT min(seq) FROM event WHERE session = ?1) + ?3 - 1, ?4)`)
			if err == nil {
				var result sql.Result
				if result, err = statement.ExecContext(context.Background(), session, max(keep, 0), trimStep,
					int64(min(read, math.MaxInt64))); err == nil {
					trimmed, err = result.RowsAffected()
				}
			}
			if err != nil {
				return nil, fmt.Errorf("trim the events of session %s: %w", session, err)
			}
			return nil, nil
		}
		if err := s.submitOwn(trim, nil).Wait(ctx); err != nil {
			return err
		}
		if trimmed < trimStep {
			return nil
		}
	}
}
