package store

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
)

// Adopted is what a session took over from sessions whose process has ended.
type Adopted struct {
	// Hunks are those that wait for the user (open, conflict) or can be undone (accepted), in the order of their last
	// change.
	Hunks []Hunk
	// LayerFiles are the layers of runs that had not ended.
	LayerFiles []LayerFile
	// Runs are the runs of the layers and all runs above them, parents before children.
	Runs []Run
}

// unsettled is the condition for the states in which hunks outlive their session.
const unsettled = "h.state IN ('open', 'conflict', 'accepted')"

// Adopt gives what earlier sessions left below any of the folders to the session of a proposal, in one transaction, so
// that no two sessions take the same and nothing is lost if the process ends meanwhile. It leaves alone sessions that
// are open in a living process, this one included. At most keep accepted hunks are taken, those accepted last. The
// session must be stored; Adopt stores the proposal. If runs is not empty, only what these runs and those below them
// left is taken.
func (s *Store) Adopt(ctx context.Context, into Proposal, roots []string, keep int,
	runs ...event.RunID,
) (Adopted, error) {
	var all Adopted
	adopt := func(w *writer) ([]event.Event, error) {
		left, err := w.leftBehind(into.Session, roots, keep, runs)
		if err != nil || left.empty() {
			return nil, err
		}
		if err := w.insert(proposalTable, "proposal", string(into.ID), into.fields()); err != nil {
			return nil, err
		}
		for i := range left.Hunks {
			left.Hunks[i].Proposal = into.ID
			if err := w.exec("UPDATE hunk SET proposal = ? WHERE id = ?", into.ID, left.Hunks[i].ID); err != nil {
				return nil, fmt.Errorf("take over hunk %s: %w", left.Hunks[i].ID, err)
			}
		}
		for i := range left.LayerFiles {
			f := &left.LayerFiles[i]
			err := w.exec("UPDATE layer_file SET session = ? WHERE session = ? AND ifnull(run, '') = ? AND path = ?",
				into.Session, f.Session, f.Run, f.Path)
			if err != nil {
				return nil, fmt.Errorf("take over %s of the layer of run %s: %w", f.Path, f.Run, err)
			}
			f.Session = into.Session
		}
		all = left
		return nil, nil
	}
	if err := s.submitOwn(adopt, nil).Wait(ctx); err != nil {
		return Adopted{}, err
	}
	return all, nil
}

// Left reports whether there is something that Adopt would take over.
func (s *Store) Left(ctx context.Context, roots []string) (bool, error) {
	left := false
	look := func(w *writer) ([]event.Event, error) {
		found, err := w.leftBehind("", roots, 1, nil)
		left = !found.empty()
		return nil, err
	}
	if err := s.submitOwn(look, nil).Wait(ctx); err != nil {
		return false, err // the writer may still be at work
	}
	return left, nil
}

func (a *Adopted) empty() bool { return len(a.Hunks)+len(a.LayerFiles) == 0 }

// leftBehind reads what ended sessions have left below the folders.
func (w *writer) leftBehind(but event.SessionID, roots []string, keep int, runs []event.RunID) (Adopted, error) {
	var left Adopted
	if len(roots) == 0 {
		return left, nil
	}
	ctx := context.Background() // as in every statement of the writer
	below, args := belowRoots(roots)
	if len(runs) > 0 {
		condition, values := belowRuns(runs)
		below += " AND " + condition
		args = append(args, values...)
	}
	dead, err := w.deadSessions(but, below, args)
	if err != nil || len(dead) == 0 {
		return left, err
	}
	marks := "(?" + strings.Repeat(", ?", len(dead)-1) + ")"
	args = append(args, dead...)
	hunks, err := selectRows[Hunk](ctx, w.conn, hunkTable,
		"AS h WHERE "+unsettled+" AND "+below+" AND proposal IN (SELECT id FROM proposal WHERE "+
			"session IN "+marks+") ORDER BY updated, id", args...)
	if err != nil {
		return left, fmt.Errorf("read the hunks of ended sessions: %w", err)
	}
	surplus := -keep
	for _, h := range hunks {
		if h.State == event.StateAccepted {
			surplus++
		}
	}
	for _, h := range hunks { // the oldest first
		if h.State == event.StateAccepted && surplus > 0 {
			surplus--
			continue
		}
		left.Hunks = append(left.Hunks, h)
	}
	left.LayerFiles, err = selectRows[LayerFile](ctx, w.conn, layerFileTable,
		"WHERE run IS NOT NULL AND "+below+" AND session IN "+marks+" ORDER BY run, path", args...)
	if err != nil {
		return left, fmt.Errorf("read the layers of ended sessions: %w", err)
	}
	left.Runs, err = w.lineage(left.LayerFiles)
	return left, err
}

// deadSessions lists the sessions with something to take over whose process has ended.
func (w *writer) deadSessions(but event.SessionID, below string, args []any) ([]any, error) {
	twice := append(args[:len(args):len(args)], args...)
	return w.dead(`id IN (
		SELECT session FROM proposal WHERE id IN (SELECT h.proposal FROM hunk AS h WHERE `+unsettled+` AND `+below+`)
		UNION SELECT session FROM layer_file WHERE run IS NOT NULL AND `+below+`) AND id <> ?`, append(twice, but)...)
}

// dead lists the sessions, of those that a condition holds for, whose process has ended.
func (w *writer) dead(condition string, args ...any) ([]any, error) {
	rows, err := w.conn.QueryContext(context.Background(),
		"SELECT id, ifnull(owner, '') FROM session WHERE "+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("read which sessions left something: %w", err)
	}
	defer rows.Close()
	var dead []any
	alive := map[string]bool{w.store.owner.id: true, "": false}
	for rows.Next() {
		var id, owner string
		if err := rows.Scan(&id, &owner); err != nil {
			return nil, fmt.Errorf("read which sessions left something: %w", err)
		}
		lives, known := alive[owner]
		if !known {
			if lives, err = ownerFolder(w.store.path).alive(owner); err != nil {
				return nil, err
			}
			alive[owner] = lives
		}
		if !lives {
			dead = append(dead, id)
		}
	}
	return dead, rows.Err()
}

// lineage reads the runs of layers and all runs above them, parents first.
func (w *writer) lineage(files []LayerFile) ([]Run, error) {
	known := map[event.RunID]bool{}
	var ids []any
	for _, f := range files {
		if !known[f.Run] {
			known[f.Run] = true
			ids = append(ids, f.Run)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	runs, err := selectRows[Run](context.Background(), w.conn, runTable, `WHERE id IN (
		WITH RECURSIVE above (id) AS (
			SELECT id FROM run WHERE id IN (?`+strings.Repeat(", ?", len(ids)-1)+`)
			UNION SELECT run.parent_run FROM run JOIN above ON run.id = above.id WHERE run.parent_run IS NOT NULL)
		SELECT id FROM above) ORDER BY depth, created, id`, ids...)
	if err != nil {
		return nil, fmt.Errorf("read the runs of the layers: %w", err)
	}
	return runs, nil
}

// belowRoots is [belowPath] for any of several folders.
func belowRoots(roots []string) (string, []any) {
	var places []string
	var args []any
	for _, root := range roots {
		condition, values := belowPath(root)
		places = append(places, condition)
		args = append(args, values...)
	}
	return "(" + strings.Join(places, " OR ") + ")", args
}

// belowPath is the SQL condition that a path is that of a folder or lies in it.
func belowPath(root string) (string, []any) {
	root = strings.TrimSuffix(root, string(filepath.Separator))
	// The range ends at the character that follows the separator: all that starts with root and a separator is below
	// it.
	return "(path = ? OR (path > ? AND path < ?))", []any{
		root, root + string(filepath.Separator),
		root + string(filepath.Separator+1),
	}
}

// belowRuns is the SQL condition that a row is one of these runs or below one of them.
func belowRuns(runs []event.RunID) (string, []any) {
	var args []any
	for _, run := range runs {
		args = append(args, run)
	}
	return `run IN (WITH RECURSIVE below (id) AS (
		SELECT id FROM run WHERE id IN (?` + strings.Repeat(", ?", len(runs)-1) + `)
		UNION SELECT run.id FROM run JOIN below ON run.parent_run = below.id) SELECT id FROM below)`, args
}

// Waiting returns the sessions in which edits of these runs, or of those below them, wait for the user; with accepted,
// also those in which accepted ones are.
func (r *runReader) Waiting(ctx context.Context, runs []event.RunID, accepted bool) ([]event.SessionID, error) {
	condition, args := belowRuns(runs)
	states := "h.state IN ('open', 'conflict')"
	if accepted {
		states = unsettled
	}
	rows, err := r.readers.QueryContext(ctx, `SELECT DISTINCT p.session FROM hunk AS h JOIN proposal AS p
		ON p.id = h.proposal WHERE `+states+" AND h."+condition, args...)
	if err != nil {
		return nil, r.explain("find the edits that wait", err)
	}
	defer rows.Close()
	var list []event.SessionID
	for rows.Next() {
		var id event.SessionID
		if err := rows.Scan(&id); err != nil {
			return nil, r.explain("find the edits that wait", err)
		}
		list = append(list, id)
	}
	return list, r.explain("find the edits that wait", rows.Err())
}
