package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// TakeInterrupted returns the root runs that were cut off with their process in sessions on any of the folders, oldest
// first. Each run is returned once, to one process, which has to tell the user. Runs that were resumed since, or gone
// back behind, are left out. Sessions of living processes are left alone, and so are those that MarkInterrupted has not
// seen yet.
func (s *Store) TakeInterrupted(ctx context.Context, roots []string) ([]Run, error) {
	var taken []Run
	take := func(w *writer) ([]event.Event, error) {
		var err error
		taken, err = w.takeInterrupted(roots)
		return nil, err
	}
	if err := s.submitOwn(take, nil).Wait(ctx); err != nil {
		return nil, err // the writer may still be at work
	}
	return taken, nil
}

// takeInterrupted closes the sessions that are open although their process has ended. That they are open means that
// nobody was told.
func (w *writer) takeInterrupted(roots []string) ([]Run, error) {
	ctx := context.Background() // as in every statement of the writer
	folder := ownerFolder(w.store.path)
	alive := map[string]bool{w.store.owner.id: true, "": false}
	var runs []Run
	for _, root := range roots {
		open, err := selectRows[ownedSession](ctx, w.conn, ownedTable,
			`WHERE state = 'open' AND EXISTS (SELECT 1 FROM json_each(session.roots) WHERE value = ?) AND NOT EXISTS (
			SELECT 1 FROM run WHERE status IN ('pending', 'running', 'waiting') AND run.session = session.id) ORDER BY created, id`, root)
		if err != nil {
			return nil, fmt.Errorf("read which sessions are open: %w", err)
		}
		for _, session := range open {
			lives, known := alive[session.owner]
			if !known {
				if lives, err = folder.alive(session.owner); err != nil {
					return nil, err
				}
				alive[session.owner] = lives
			}
			if lives {
				continue
			}
			if err := w.exec("UPDATE session SET state = 'closed', owner = NULL WHERE id = ?", session.ID); err != nil {
				return nil, fmt.Errorf("close session %s: %w", session.ID, err)
			}
			left, err := selectRows[Run](ctx, w.conn, runTable,
				`WHERE session = ? AND parent_run IS NULL AND status = 'interrupted' AND rewound = 0 AND NOT EXISTS (
				SELECT 1 FROM run AS later WHERE later.chain = run.chain AND later.parent_run IS NULL AND later.id <> run.id AND later.created > run.created)
				ORDER BY created, id`, session.ID)
			if err != nil {
				return nil, fmt.Errorf("read the interrupted runs of session %s: %w", session.ID, err)
			}
			runs = append(runs, left...)
		}
	}
	return runs, nil
}

// MarkInterrupted sets the status interrupted for runs that were alive when their process ended. In the same
// transaction, it stores a RunStatusChanged for each, which is then published. It returns the runs as they are now,
// parents before children. Runs of this process and of other living ones are left alone.
func (s *Store) MarkInterrupted(ctx context.Context) ([]Run, error) {
	var interrupted []Run
	mark := func(w *writer) ([]event.Event, error) {
		var events []event.Event
		var err error
		interrupted, events, err = w.markInterrupted()
		return events, err
	}
	if err := s.submitOwn(mark, nil).Wait(ctx); err != nil {
		return nil, err
	}
	return interrupted, nil
}

// Deserted reports whether a session has runs that are stored as alive although their process has ended, so that
// MarkInterrupted is needed.
func (r *reader) Deserted(ctx context.Context, session event.SessionID) (bool, error) {
	deserted, err := r.deserted(ctx, session)
	return deserted, r.explain(fmt.Sprintf("look whether the runs of session %s are alive", session), err)
}

func (r *reader) deserted(ctx context.Context, session event.SessionID) (bool, error) {
	rows, err := r.readers.QueryContext(ctx,
		"SELECT DISTINCT ifnull(owner, '') FROM run WHERE status IN ('pending', 'running', 'waiting') AND session = ?",
		session)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
		var owner string
		if err := rows.Scan(&owner); err != nil {
			return false, err
		}
		if alive, err := ownerFolder(r.path).alive(owner); err != nil || !alive {
			return err == nil, err
		}
	}
	return false, rows.Err()
}

func (w *writer) markInterrupted() ([]Run, []event.Event, error) {
	owners, err := w.aliveOwners()
	if err != nil {
		return nil, nil, err
	}
	numbers := numbering{w: w, last: map[event.SessionID]uint64{}, stored: map[event.SessionID]bool{}}
	var all []Run
	var events []event.Event
	now := time.UnixMicro(time.Now().UnixMicro()).UTC()
	for _, owner := range owners {
		alive, err := ownerFolder(w.store.path).alive(owner)
		if err != nil {
			return nil, nil, err
		}
		if alive {
			continue
		}
		runs, err := selectRows[Run](context.Background(), w.conn, runTable,
			"WHERE status IN ('pending', 'running', 'waiting') AND ifnull(owner, '') = ? ORDER BY depth, created, id",
			owner)
		if err != nil {
			return nil, nil, fmt.Errorf("read the runs of process %q: %w", owner, err)
		}
		for _, run := range runs {
			run.Status, run.Reason, run.Completed = event.StatusInterrupted, InterruptedReason, now
			if err := w.noteChanged(&run); err != nil {
				return nil, nil, err
			}
			ended := ownedRun{Run: run}
			if err := w.insert(ownedRunTable, "run", string(run.ID), ended.fields()); err != nil {
				return nil, nil, err
			}
			bodies, err := w.expireAsks(run.ID, now)
			if err != nil {
				return nil, nil, err
			}
			for _, body := range append(bodies, event.RunStatusChanged{Status: run.Status, Reason: run.Reason}) {
				raw, err := event.EncodeBody(body)
				if err != nil {
					return nil, nil, err
				}
				e, err := numbers.add(NewEvent{Session: run.Session, Run: run.ID, Time: now, Body: body}, string(raw))
				if err != nil {
					return nil, nil, err
				}
				events = append(events, e)
			}
			all = append(all, run)
		}
	}
	return all, events, numbers.save()
}

// noteChanged stores the names of the files in an interrupted run's layer with the run, which could not do so itself.
// When another session takes the layer over, these names would be lost.
func (w *writer) noteChanged(run *Run) error {
	files, err := selectRows[LayerFile](context.Background(), w.conn, layerFileTable,
		"WHERE run = ? ORDER BY path", run.ID)
	if err != nil {
		return fmt.Errorf("read the layer of the run %s: %w", run.ID, err)
	}
	if len(files) == 0 {
		return nil
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	run.FilesModified, err = json.Marshal(paths)
	return err
}

// aliveOwners returns the processes that have runs which are stored as alive.
func (w *writer) aliveOwners() ([]string, error) {
	rows, err := w.conn.QueryContext(context.Background(),
		"SELECT DISTINCT ifnull(owner, '') FROM run WHERE status IN ('pending', 'running', 'waiting')")
	if err != nil {
		return nil, fmt.Errorf("read which processes have runs: %w", err)
	}
	defer rows.Close()
	var owners []string
	for rows.Next() {
		var owner string
		if err := rows.Scan(&owner); err != nil {
			return nil, fmt.Errorf("read which processes have runs: %w", err)
		}
		owners = append(owners, owner)
	}
	return owners, rows.Err()
}

// expireAsks denies the open asks of a run whose process is gone, and returns the events that tell so.
func (w *writer) expireAsks(run event.RunID, now time.Time) ([]event.Body, error) {
	open, err := selectRows[Ask](context.Background(), w.conn, askTable,
		"WHERE run = ? AND state = 'open' ORDER BY opened, id", run)
	if err != nil {
		return nil, fmt.Errorf("read the asks of the run %s: %w", run, err)
	}
	var bodies []event.Body
	for _, ask := range open {
		ask.State, ask.Decision, ask.Reason, ask.Resolved = AskExpired, "deny", InterruptedReason, now
		if err := w.insert(askTable, "ask", string(ask.ID), ask.fields()); err != nil {
			return nil, err
		}
		bodies = append(bodies, event.AskResolved{Ask: ask.ID, Decision: ask.Decision, Reason: ask.Reason})
	}
	return bodies, nil
}
