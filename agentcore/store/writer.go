package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
)

// writer commits the jobs of the queue. Only its goroutine, run, uses it and its connection; the goroutine ends when
// the queue is closed and empty, or soon after abort.
type writer struct {
	store *Store
	conn  *connection
	// statements are prepared at their first use.
	statements map[string]*sql.Stmt
	// unwiped says that deleted text may still lie in the write-ahead log.
	unwiped bool
	// aborted ends the wait for a lock, and fails what is queued.
	aborted context.Context
	abort   context.CancelFunc
	ended   chan struct{}
}

func newWriter(s *Store, conn *connection) *writer {
	w := &writer{store: s, conn: conn, statements: map[string]*sql.Stmt{}, ended: make(chan struct{})}
	w.aborted, w.abort = context.WithCancel(context.Background())
	return w
}

func (w *writer) run() {
	defer close(w.ended)
	defer w.abort()
	for {
		jobs := w.store.queue.take()
		if jobs == nil {
			break
		}
		for len(jobs) > 0 {
			n := groupLength(jobs)
			w.commitGroup(jobs[:n])
			clear(jobs[:n]) // so that a long queue frees the memory of what is done
			jobs = jobs[n:]
		}
		if w.unwiped {
			w.wipe(0)
		}
	}
	if w.unwiped {
		w.wipe(w.store.options.BusyTimeout)
	}
	for _, statement := range w.statements {
		// The statement holds nothing that could be lost, and the connection is closed next.
		_ = statement.Close()
	}
}

// groupLength is how many of the jobs are committed in one transaction. Jobs of the store itself are committed alone. A
// group is bounded, so that a failure costs little and the first job need not wait for many others.
func groupLength(jobs []*job) int {
	const maxJobs, maxBytes = 1024, 8 << 20
	size := 0
	for i, j := range jobs {
		size += j.size
		switch {
		case j.own != nil:
			return max(i, 1)
		case i == maxJobs, i > 0 && size > maxBytes:
			return i
		}
	}
	return len(jobs)
}

// commitGroup commits jobs in one transaction. If that fails, it commits each half in a transaction of its own, down to
// single jobs, so that a job that cannot be stored does not prevent others.
func (w *writer) commitGroup(jobs []*job) {
	events, err := w.transact(jobs)
	if err == nil {
		w.reach(jobs, crash.Durable)
	}
	if err != nil && len(jobs) > 1 && !errors.Is(err, errNotBegun) {
		half := len(jobs) / 2
		w.commitGroup(jobs[:half])
		w.commitGroup(jobs[half:])
		return
	}
	for _, j := range jobs {
		if err == nil && j.batch.Committed != nil {
			j.batch.Committed()
		}
	}
	if err == nil && len(events) > 0 && w.store.options.Committed != nil {
		w.store.options.Committed(events)
	}
	if err == nil {
		w.reach(jobs, crash.Published)
	}
	err = w.store.explain("save", err)
	for _, j := range jobs {
		if err == nil && j.after != nil {
			j.after(w)
		}
		if err != nil && j.own == nil && w.store.options.Failed != nil {
			// a job of the store itself returns the error to its caller
			w.store.options.Failed(j.batch.Events, err)
		}
		j.commit.finish(err)
	}
}

// reach tells tests how far the commit of the jobs has come, with the first kind of rows in them.
func (w *writer) reach(jobs []*job, far string) {
	hook := w.store.options.Crash
	if hook == nil {
		return
	}
	kinds := []struct {
		name string
		has  func(*Batch) bool
	}{
		{crash.Intent, func(b *Batch) bool {
			return slices.ContainsFunc(b.ToolCalls, func(c ToolCall) bool { return c.Status == "" })
		}},
		{crash.Outcome, func(b *Batch) bool { return len(b.ToolCalls) > 0 }},
		{crash.End, func(b *Batch) bool {
			return slices.ContainsFunc(b.Runs, func(r Run) bool { return r.Status.Final() })
		}},
		{crash.Edits, func(b *Batch) bool { return len(b.LayerFiles)+len(b.LayerFilesRemoved)+len(b.Hunks) > 0 }},
		{crash.Rows, func(b *Batch) bool { return !b.empty(nil) || len(b.Events) > 0 }},
	}
	for _, kind := range kinds {
		if slices.ContainsFunc(jobs, func(j *job) bool { return kind.has(&j.batch) }) {
			hook.Reach(crash.Commit(kind.name, far))
		}
	}
}

// errNotBegun says that no transaction could be begun, so that trying again at once would not help.
var errNotBegun = errors.New("begin a transaction")

// transact stores jobs in one transaction and returns their events, numbered.
func (w *writer) transact(jobs []*job) ([]event.Event, error) {
	if w.aborted.Err() != nil {
		return nil, errors.Join(errNotBegun, ErrClosed)
	}
	write := slices.ContainsFunc(jobs, func(j *job) bool { return j.own != nil || !j.batch.empty(j.bodies) })
	if write {
		if err := w.begin(); err != nil {
			return nil, err
		}
	}
	events, err := w.apply(jobs)
	if err == nil && write {
		w.reach(jobs, crash.Applied)
		err = w.exec("COMMIT")
	}
	if err != nil && write {
		// SQLite may have rolled back by itself (a full disk). Then this fails; a transaction that is still open makes
		// the next begin fail.
		_ = w.exec("ROLLBACK")
	}
	return events, err
}

func (w *writer) begin() error {
	// A file that was deleted or replaced still accepts everything that is written, but nobody would ever see it again.
	if now, err := os.Stat(w.store.path); err != nil || !os.SameFile(now, w.store.opened) {
		return errors.Join(errNotBegun, ErrGone, err)
	}
	begin, err := w.statement("BEGIN IMMEDIATE")
	if err == nil {
		_, err = begin.ExecContext(w.aborted)
	}
	if err == nil {
		return nil
	}
	if w.aborted.Err() != nil {
		err = ErrClosed
	}
	return errors.Join(errNotBegun, err)
}

func (w *writer) apply(jobs []*job) ([]event.Event, error) {
	numbers := numbering{w: w, last: map[event.SessionID]uint64{}, stored: map[event.SessionID]bool{}}
	last := latestOf(jobs)
	var events []event.Event
	for _, j := range jobs {
		if j.own != nil {
			own, err := j.own(w)
			if err != nil {
				return nil, err
			}
			events = append(events, own...)
			continue
		}
		if err := w.applyRows(&j.batch, &last); err != nil {
			return nil, err
		}
		for i, e := range j.batch.Events {
			numbered, err := numbers.add(e, string(j.bodies[i]))
			if err != nil {
				return nil, err
			}
			events = append(events, numbered)
		}
	}
	return events, numbers.save()
}

// numbering gives the events of one transaction their numbers. They start from what the database says
// inside the transaction, since another process may have added to the same session.
type numbering struct {
	w      *writer
	last   map[event.SessionID]uint64
	stored map[event.SessionID]bool
}

// add stores an event, unless it is transient, and returns it with its number.
func (n *numbering) add(e NewEvent, body string) (event.Event, error) {
	last, known := n.last[e.Session]
	if !known {
		row, err := n.w.queryRow("SELECT last_seq FROM session WHERE id = ?", e.Session)
		if err == nil {
			err = row.Scan(&last)
		}
		if errors.Is(err, sql.ErrNoRows) {
			err = fmt.Errorf("session %s: %w", e.Session, ErrNotFound)
		}
		if err != nil {
			return event.Event{}, fmt.Errorf("number a %s event: %w", e.Body.EventType(), err)
		}
	}
	if !event.Transient(e.Body) {
		last++
		n.stored[e.Session] = true
		err := n.w.exec("INSERT INTO event (session, seq, run, time, type, body) VALUES (?, ?, ?, ?, ?, ?)",
			string(e.Session), int64(last), optional(&e.Run), micros{&e.Time}, e.Body.EventType(), body)
		if err != nil {
			return event.Event{}, fmt.Errorf("store event %d (%s) of session %s: %w", last, e.Body.EventType(),
				e.Session, err)
		}
	}
	n.last[e.Session] = last
	return event.Event{Seq: last, Session: e.Session, Run: e.Run, Time: e.Time, Body: e.Body}, nil
}

// save stores the last numbers, which are kept longer than the events.
func (n *numbering) save() error {
	for session := range n.stored {
		if err := n.w.exec("UPDATE session SET last_seq = ? WHERE id = ?", n.last[session], session); err != nil {
			return fmt.Errorf("store the last event number of session %s: %w", session, err)
		}
	}
	return nil
}

// forEach applies each row of a list, up to the first error.
func forEach[R any](rows []R, apply func(*R) error) error {
	for i := range rows {
		if err := apply(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// forLatest is forEach for rows that later batches of the transaction may replace: latest returns the row to store in
// place of a row, or nil for none.
func forLatest[R any](rows []R, latest func(*R) *R, apply func(*R) error) error {
	return forEach(rows, func(row *R) error {
		if row = latest(row); row == nil {
			return nil
		}
		return apply(row)
	})
}

// applyRows stores the rows of a batch as they are at the end of its transaction. Rows come before the rows that refer
// to them.
func (w *writer) applyRows(b *Batch, last *latest) error {
	for _, apply := range []func() error{
		func() error { return forEach(b.Sessions, w.applySession) },
		func() error { return forEach(b.Prompts, w.applyPrompt) },
		func() error { return forLatest(b.Runs, last.run, w.applyRun) },
		func() error { return forLatest(b.Usages, last.usage, w.applyUsage) },
		func() error { return forEach(b.Unreads, w.applyUnread) },
		func() error {
			return forEach(b.Messages, func(m *Message) error {
				return w.insert(messageTable, "message", string(m.ID), m.fields())
			})
		},
		func() error {
			return forLatest(b.ToolCalls, last.call, func(c *ToolCall) error {
				return w.insert(toolCallTable, "tool call", string(c.ID), c.fields())
			})
		},
		func() error { return forEach(b.LayerFilesRemoved, w.removeLayerFile) },
		func() error {
			return forEach(b.LayerFiles, func(f *LayerFile) error {
				return w.insert(layerFileTable, "layer file", f.Path, f.fields())
			})
		},
		func() error {
			return forEach(b.Findings, func(f *Finding) error {
				return w.insert(findingTable, "finding", string(f.ID), f.fields())
			})
		},
		func() error { return forEach(b.FindingsCleared, w.clearFinding) },
		func() error { return w.applyProposals(b) },
		func() error { return forEach(b.Todos, w.applyTodos) },
		func() error { return w.applyPermissions(b) },
		func() error { return forEach(b.AgentsRemoved, w.removeAgent) },
		func() error {
			return forEach(b.Agents, func(a *Agent) error { return w.insert(agentTable, "agent", a.Slug, a.fields()) })
		},
	} {
		if err := apply(); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) applySession(s *Session) error {
	session := ownedSession{Session: *s}
	if session.State != SessionClosed {
		session.owner = w.store.owner.id
	}
	return w.insert(ownedTable, "session", string(session.ID), session.fields())
}

// applyPrompt does not change a prompt that exists: its id is made from its text, and every child of an agent has the
// same prompt.
func (w *writer) applyPrompt(p *Prompt) error {
	err := w.exec("INSERT INTO prompt (id, text) VALUES (?, ?) ON CONFLICT (id) DO NOTHING", p.ID, p.Text)
	if err != nil {
		return fmt.Errorf("store prompt %s: %w", p.ID, err)
	}
	return nil
}

func (w *writer) applyRun(r *Run) error {
	run := ownedRun{Run: *r}
	run.Usage, run.Own = run.Usage.Bounded(), run.Own.Bounded()
	if !run.Status.Final() {
		run.owner = w.store.owner.id
	}
	return w.insert(ownedRunTable, "run", string(run.ID), run.fields())
}

func (w *writer) applyUnread(u *Unread) error {
	if err := w.exec("UPDATE run SET unread = ? WHERE id = ?", jsonText{&u.Texts}, u.Run); err != nil {
		return fmt.Errorf("store what run %s has not read: %w", u.Run, err)
	}
	return nil
}

func (w *writer) removeLayerFile(key *LayerKey) error {
	query, of := key.removal()
	if err := w.exec(query, of...); err != nil {
		return fmt.Errorf("remove %s from a layer of session %s: %w", key.Path, key.Session, err)
	}
	return nil
}

// removal is the statement that removes what the key names, with its values. SQLite uses the index for a path only in a
// statement that always has the path: one condition for both cases would look at each row of the layer.
func (key *LayerKey) removal() (query string, of []any) {
	query, of = "DELETE FROM layer_file WHERE session = ? AND ifnull(run, '') = ?", []any{key.Session, key.Run}
	if key.Path != "" {
		query, of = query+" AND path = ?", append(of, key.Path)
	}
	return query, of
}

func (w *writer) clearFinding(cleared *ClearedFinding) error {
	err := w.exec("UPDATE finding SET state = ?, reason = ?, updated = ? WHERE id = ?",
		FindingCleared, cleared.Reason, micros{&cleared.Time}, cleared.ID)
	if err != nil {
		return fmt.Errorf("clear finding %s: %w", cleared.ID, err)
	}
	return nil
}

func (w *writer) applyProposals(b *Batch) error {
	for _, p := range b.Proposals {
		if err := w.insert(proposalTable, "proposal", string(p.ID), p.fields()); err != nil {
			return err
		}
	}
	for _, h := range b.Hunks {
		if err := w.insert(hunkTable, "hunk", string(h.ID), h.fields()); err != nil {
			return err
		}
	}
	for _, bound := range b.HunksBounded {
		if err := w.boundHunks(bound); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) removeAgent(slug *string) error {
	if err := w.exec("DELETE FROM agent WHERE slug = ?", *slug); err != nil {
		return fmt.Errorf("remove the agent %s: %w", *slug, err)
	}
	return nil
}

func (w *writer) applyTodos(list *TodoList) error {
	err := w.exec("DELETE FROM todo WHERE run = ?", list.Run)
	for i, item := range list.Items {
		if err == nil {
			err = w.exec("INSERT INTO todo (run, position, text, state) VALUES (?, ?, ?, ?)", list.Run, i,
				item.Text, item.State)
		}
	}
	if err != nil {
		return fmt.Errorf("store the todos of run %s: %w", list.Run, err)
	}
	return nil
}

func (w *writer) insert(t table, what, id string, fields []field) error {
	if err := w.exec(t().insert, values(fields)...); err != nil {
		return fmt.Errorf("store %s %s: %w", what, id, err)
	}
	return nil
}

// statement returns a prepared statement. Only begin can wait for long, so the statement's context never ends.
func (w *writer) statement(query string) (*sql.Stmt, error) {
	if prepared := w.statements[query]; prepared != nil {
		return prepared, nil
	}
	prepared, err := w.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	w.statements[query] = prepared
	return prepared, nil
}

func (w *writer) exec(query string, args ...any) error {
	statement, err := w.statement(query)
	if err != nil {
		return err
	}
	_, err = statement.ExecContext(context.Background(), args...)
	return err
}

func (w *writer) queryRow(query string, args ...any) (*sql.Row, error) {
	statement, err := w.statement(query)
	if err != nil {
		return nil, err
	}
	return statement.QueryRowContext(context.Background(), args...), nil
}

// wipe empties the write-ahead log, which may contain deleted text. It waits up to busy for readers, or until abort; if
// the readers stay, it is tried again after the next transactions and at the end.
func (w *writer) wipe(busy time.Duration) {
	first := !w.unwiped
	w.unwiped = true
	ctx := context.Background()
	blocked := 1
	_, err := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", busy.Milliseconds()))
	if err == nil {
		var frames, moved int
		err = w.conn.QueryRowContext(w.aborted, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&blocked, &frames, &moved)
	}
	_, restored := w.conn.ExecContext(ctx,
		fmt.Sprintf("PRAGMA busy_timeout = %d", w.store.options.BusyTimeout.Milliseconds()))
	if err = errors.Join(err, restored); err == nil && blocked == 0 {
		w.unwiped = false
		return
	}
	if first {
		w.store.options.Logger.Warn("deleted text lies in the write-ahead log until its readers have ended",
			"file", w.store.path+"-wal", "error", err)
	}
}

// boundHunks removes the oldest settled hunks of a proposal.
func (w *writer) boundHunks(b HunkBound) error {
	err := w.exec(`DELETE FROM hunk WHERE id IN (SELECT id FROM hunk WHERE proposal = ? AND state NOT IN ('open', 'conflict')
		ORDER BY updated DESC, id DESC LIMIT -1 OFFSET ?)`, b.Proposal, max(b.Keep, 0))
	if err != nil {
		return fmt.Errorf("remove old hunks of proposal %s: %w", b.Proposal, err)
	}
	return nil
}
