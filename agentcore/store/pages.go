package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// Message returns one message, or ErrNotFound.
func (r *runReader) Message(ctx context.Context, id event.MessageID) (Message, error) {
	return one[Message](ctx, r.reader, messageTable, fmt.Sprintf("message %s", id), "WHERE id = ?", id)
}

// MessagesBetween returns the messages of a run whose numbers are above from and not above to, in order, at most limit
// of them (0 for all).
func (r *runReader) MessagesBetween(ctx context.Context, run event.RunID, from, to, limit int) ([]Message, error) {
	return many[Message](ctx, r.reader, messageTable, fmt.Sprintf("the messages of run %s", run),
		"WHERE run = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?", run, from, to, orAll(limit))
}

// maxNamed bounds how many ids one statement has, since SQLite bounds them, too (sqlite.org/limits.html, 9).
const maxNamed = 500

// CallsOf returns the calls that messages made, those of each message in the order of their intents.
func (r *runReader) CallsOf(ctx context.Context, messages []Message) ([]ToolCall, error) {
	var all []ToolCall
	for len(messages) > 0 {
		n := min(len(messages), maxNamed)
		args := make([]any, n)
		for i, m := range messages[:n] {
			args[i] = m.ID
		}
		calls, err := selectRows[ToolCall](ctx, r.readers, toolCallTable,
			"WHERE message IN (?"+strings.Repeat(", ?", n-1)+") ORDER BY rowid", args...)
		if err != nil {
			return nil, r.explain("read the tool calls of messages", err)
		}
		all, messages = append(all, calls...), messages[n:]
	}
	return all, nil
}

// UnlinkedCalls reports whether a run has calls that do not name their message, as older versions stored them.
func (r *runReader) UnlinkedCalls(ctx context.Context, run event.RunID) (bool, error) {
	var one int
	err := r.readers.QueryRowContext(ctx, "SELECT 1 FROM tool_call WHERE run = ? AND message IS NULL LIMIT 1",
		run).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, r.explain(fmt.Sprintf("read the tool calls of run %s", run), err)
}

// StartedBy returns the runs that the calls of a run started, by call, without those of one role.
func (r *runReader) StartedBy(ctx context.Context, run event.RunID, but string) (map[event.CallID]event.RunID, error) {
	started := map[event.CallID]event.RunID{}
	err := r.each(ctx, func(rows *sql.Rows) error {
		var call event.CallID
		var child event.RunID
		err := rows.Scan(&call, &child)
		started[call] = child
		return err
	}, "SELECT parent_call, id FROM run WHERE parent_run = ? AND parent_call IS NOT NULL AND role <> ?", run, but)
	return started, r.explain(fmt.Sprintf("read the children of run %s", run), err)
}

// Resumed returns, for the runs of a session that go on with another run, which run that is, if it is still stored. It
// is the run of the message that precedes their first one.
func (r *runReader) Resumed(ctx context.Context, session event.SessionID) (map[event.RunID]event.RunID, error) {
	resumed := map[event.RunID]event.RunID{}
	err := r.each(ctx, func(rows *sql.Rows) error {
		var run, before event.RunID
		err := rows.Scan(&run, &before)
		resumed[run] = before
		return err
	}, `SELECT run.id, former.run FROM run
		JOIN message AS first ON first.run = run.id AND first.seq = (SELECT min(own.seq) FROM message AS own WHERE own.run = run.id)
		JOIN message AS former ON former.id = first.parent_message AND former.run <> run.id
		WHERE run.session = ? AND run.request_type = 'continuation'`, session)
	return resumed, r.explain(fmt.Sprintf("read which runs of session %s were resumed", session), err)
}

// Resumption is a run that goes on with another one.
type Resumption struct {
	Run     event.RunID
	Session event.SessionID
	// Root says that the user started the run, and Rewound that the user went back to before its prompt since.
	Root, Rewound bool
}

// Resumptions returns the runs, of any session, that go on with runs of this session, in the order of their creation.
func (r *runReader) Resumptions(ctx context.Context, session event.SessionID) (map[event.RunID][]Resumption, error) {
	found := map[event.RunID][]Resumption{}
	err := r.each(ctx, func(rows *sql.Rows) error {
		var before event.RunID
		var r Resumption
		err := rows.Scan(&before, &r.Run, &r.Session, &r.Root, &r.Rewound)
		found[before] = append(found[before], r)
		return err
	}, `SELECT former.run, run.id, run.session, run.parent_run IS NULL, run.rewound FROM run
		JOIN message AS first ON first.run = run.id AND first.seq = (SELECT min(own.seq) FROM message AS own WHERE own.run = run.id)
		JOIN message AS former ON former.id = first.parent_message AND former.run <> run.id
		JOIN run AS before ON before.id = former.run
		WHERE before.session = ? AND run.request_type = 'continuation' ORDER BY run.rowid`, session)
	return found, r.explain(fmt.Sprintf("read what goes on with session %s", session), err)
}

// CopiedTurns returns, for each copied run of a session, how many answers of models its conversation holds. A copied
// run has made no requests, so that its row counts no turns.
func (r *runReader) CopiedTurns(ctx context.Context, session event.SessionID) (map[event.RunID]int, error) {
	turns := map[event.RunID]int{}
	err := r.each(ctx, func(rows *sql.Rows) error {
		var run event.RunID
		var n int
		err := rows.Scan(&run, &n)
		turns[run] = n
		return err
	}, `SELECT run.id, count(*) FROM run JOIN message ON message.run = run.id AND message.role = 'assistant'
		WHERE run.session = ? AND run.copied <> 0 GROUP BY run.id`, session)
	return turns, r.explain(fmt.Sprintf("count the answers in the copies of session %s", session), err)
}

// Overview is what a list of sessions says about a session's runs.
type Overview struct {
	// Runs counts all runs. Status is the status of the latest root run.
	Runs   int
	Status event.Status
	// Usage is what the roots used with their children.
	Usage event.Usage
	// OpenHunks is how many proposed hunks wait for the user.
	OpenHunks int
}

// Overviews returns the overviews of these sessions. Runs of the role but are not counted, and a session without other
// runs has no overview.
func (r *reader) Overviews(ctx context.Context, sessions []event.SessionID,
	but string,
) (map[event.SessionID]Overview, error) {
	all := map[event.SessionID]Overview{}
	if len(sessions) == 0 {
		return all, nil
	}
	ids := make([]string, len(sessions))
	for i, id := range sessions {
		ids[i] = string(id)
	}
	// With the list as one value, the text of the query is always the same.
	const named = "IN (SELECT value FROM json_each(?1))"
	err := eachOf(ctx, &r.fixed, func(rows *sql.Rows) error {
		var id event.SessionID
		var root bool
		var status event.Status
		var used event.Usage
		if err := rows.Scan(&id, &root, &status, &used.InputTokens, &used.OutputTokens, &used.CachedTokens,
			&used.Cost); err != nil {
			return err
		}
		o, known := all[id]
		if !known {
			o.Status, o.Usage = event.StatusPending, event.NoUsage()
		}
		if o.Runs++; root { // a child's usage is counted in that of its parent
			o.Status, o.Usage = status, o.Usage.Add(used)
		}
		all[id] = o
		return nil
	},
		"SELECT session, parent_run IS NULL, status, input_tokens, output_tokens, cached_tokens, cost FROM run "+
			"WHERE session "+named+" AND role <> ?2 ORDER BY rowid", textArray{&ids}, but)
	if err == nil {
		err = eachOf(ctx, &r.fixed, func(rows *sql.Rows) error {
			var id event.SessionID
			var open int
			err := rows.Scan(&id, &open)
			if o, known := all[id]; known {
				o.OpenHunks = open
				all[id] = o
			}
			return err
		},
			"SELECT p.session, count(*) FROM proposal AS p JOIN hunk AS h ON h.proposal = p.id WHERE "+
				"p.session "+named+" AND h.state = 'open' GROUP BY p.session", textArray{&ids})
	}
	return all, r.explain("read what was done in sessions", err)
}

// each calls take for each row of a query.
func (r *reader) each(ctx context.Context, take func(*sql.Rows) error, query string, args ...any) error {
	return eachOf(ctx, r.readers, take, query, args...)
}

// eachOf is each of any querier.
func eachOf(ctx context.Context, q querier, take func(*sql.Rows) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := take(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
