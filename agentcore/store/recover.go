package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/crash"
)

// Recovery says what Open did with a damaged file. The user must be told.
type Recovery struct {
	// MovedTo is where the damaged file lies now.
	MovedTo string
	// Saved is how many rows the new file got from the damaged one.
	Saved int
	// Detail says, in words for a person, what SQLite found, and what could not be read of which table.
	Detail string
}

// String says it in words for a person.
func (r *Recovery) String() string {
	return fmt.Sprintf(
		"the database of agentls was damaged. A new one has %d rows of it; sessions that you miss may be in the "+
			"damaged file, which lies in %s for two weeks. What was found: %s",
		r.Saved, r.MovedTo, r.Detail)
}

// checkedAtOnce is the size in bytes up to which a file is checked before it is used: that takes about a millisecond
// for each megabyte.
const checkedAtOnce = 48 << 20

func isLarge(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > checkedAtOnce
}

// checkLater checks a large file that the given processes did not close. If the file is sound, their traces are
// removed; if it is damaged, the next Open repairs it. If the check is cut short, the next Open begins it again.
func (s *Store) checkLater(ctx context.Context, dead []string) {
	conn, err := dial(ctx, s.path, s.options.BusyTimeout, reading)
	if err == nil {
		err = errors.Join(quickCheck(ctx, conn), conn.close())
	}
	switch {
	case ctx.Err() != nil:
	case err == nil:
		ownerFolder(s.path).forget(dead)
	case isDamage(err):
		err = s.explain("check the file after an unclean end", err)
		s.options.Logger.Error("the store is damaged", "error", err)
		if s.options.Damaged != nil {
			s.options.Damaged(err)
		}
	default:
		s.options.Logger.Warn("the store could not be checked after an unclean end; the next start tries again",
			"error", err)
	}
}

// quickCheck reads the whole file (PRAGMA quick_check) and returns ErrDamaged if it is not sound.
func quickCheck(ctx context.Context, conn *connection) error {
	rows, err := conn.QueryContext(ctx, "PRAGMA quick_check(10)")
	if err != nil {
		return fmt.Errorf("check the file: %w", err)
	}
	defer rows.Close()
	var problems []string
	for rows.Next() {
		var problem string
		if err := rows.Scan(&problem); err != nil {
			return fmt.Errorf("check the file: %w", err)
		}
		problems = append(problems, problem)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("check the file: %w", err)
	}
	if len(problems) == 1 && problems[0] == "ok" {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrDamaged, strings.Join(problems, "; "))
}

// salvageName is the name of the new file while it is being filled. When it is complete, it replaces the damaged file,
// so that a recovery that is cut short starts again.
func salvageName(path string) string { return path + ".salvage" }

// finishRecovery carries out the last step of recoverFile, if a recovery was cut short before it.
func finishRecovery(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(salvageName(path)); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	// The damaged file's log, if it still exists, was copied.
	if err := removeAll(path+"-wal", path+"-shm"); err != nil {
		return err
	}
	return os.Rename(salvageName(path), path)
}

// recoverFile saves what can be read of a damaged file into a new one, and moves the damaged one aside.
// The caller holds the lock of Open, and no other process has the file open.
func recoverFile(ctx context.Context, path string, steps []migration, cause error, hook crash.Hook) (*Recovery, error) {
	r := &Recovery{MovedTo: path + ".damaged-" + fileTime(), Detail: cause.Error()}
	if err := r.salvage(ctx, path, steps); err != nil {
		return nil, fmt.Errorf("save what can be read of the damaged file: %w", err)
	}
	hook.Reach(crash.Salvaged)
	// The log is copied first and removed last: a new file must never meet an old log.
	if err := copyFile(path+"-wal", r.MovedTo+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("move the damaged file aside: %w", err)
	}
	if err := os.Rename(path, r.MovedTo); err != nil {
		return nil, fmt.Errorf("move the damaged file aside: %w", err)
	}
	hook.Reach(crash.MovedAside)
	if err := removeAll(path+"-wal", path+"-shm"); err != nil {
		return nil, fmt.Errorf("move the damaged file aside: %w", err)
	}
	if err := os.Rename(salvageName(path), path); err != nil {
		return nil, fmt.Errorf("put the new file in its place: %w", err)
	}
	hook.Reach(crash.Replaced)
	return r, nil
}

// salvage makes the new file.
func (r *Recovery) salvage(ctx context.Context, path string, steps []migration) (err error) {
	name := salvageName(path)
	if err := removeAll(name, name+"-wal", name+"-shm"); err != nil {
		return err
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		return err
	}
	target, err := dial(ctx, name, time.Second, writing)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.close()) }()
	if err := migrate(ctx, target, name, steps, nil); err != nil {
		return err
	}
	if _, err := target.ExecContext(ctx, "PRAGMA foreign_keys = 0"); err != nil {
		return err
	}

	source, err := dial(ctx, path, time.Second, salvaging)
	if err != nil {
		return r.unreadable(ctx, "the file", err)
	}
	// Closing writes at most what the log holds to the damaged file, so that its error does not matter.
	defer func() { _ = source.close() }()
	version, err := schemaVersion(ctx, source)
	if err != nil {
		return r.unreadable(ctx, "the file", err)
	}
	if version > len(steps) {
		return ErrNewer
	}
	tables, err := texts(ctx, target,
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
	if err != nil {
		return err
	}
	for _, name := range tables {
		if err := r.salvageTable(ctx, source, target, name); err != nil {
			return fmt.Errorf("save table %s: %w", name, err)
		}
	}
	return r.removeOrphans(ctx, target)
}

// unreadable notes what could not be read. It returns an error only when ctx has ended.
func (r *Recovery) unreadable(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.Detail += fmt.Sprintf("; %s could not be read whole: %v", what, err)
	return nil
}

// salvageTable copies the rows of one table from its start to the first damage, then from its end.
func (r *Recovery) salvageTable(ctx context.Context, source, target *connection, name string) error {
	const columnsOf = "SELECT name FROM pragma_table_info(?)"
	wanted, err := texts(ctx, target, columnsOf, name)
	if err != nil {
		return err
	}
	present, err := texts(ctx, source, columnsOf, name)
	if err != nil || len(present) == 0 {
		return r.unreadable(ctx, "table "+name, errors.Join(errors.New("its definition is lost"), err))
	}
	has := map[string]bool{}
	for _, column := range present {
		has[column] = true
	}
	var columns []string
	for _, column := range wanted {
		if has[column] {
			columns = append(columns, `"`+column+`"`)
		}
	}
	if len(columns) == 0 {
		return r.unreadable(ctx, "table "+name, errors.New("its definition is another one"))
	}
	tx, err := target.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after the commit
	read, write := r.copyRows(ctx, source, tx, name, columns, "ASC")
	if read != nil && write == nil {
		if err := r.unreadable(ctx, "table "+name, read); err != nil {
			return err
		}
		// Now the damage is reached from the other side.
		_, write = r.copyRows(ctx, source, tx, name, columns, "DESC")
	}
	if write != nil {
		return write
	}
	return tx.Commit()
}

// copyRows copies the rows of a table in this order, up to the first that cannot be read.
func (r *Recovery) copyRows(ctx context.Context, source *connection, tx *sql.Tx, name string, columns []string,
	order string,
) (read, write error) {
	list := strings.Join(columns, ", ")
	insert := fmt.Sprintf(`INSERT OR IGNORE INTO "%s" (%s) VALUES (?%s)`, name, list,
		strings.Repeat(", ?", len(columns)-1))
	rows, err := source.QueryContext(ctx, fmt.Sprintf(`SELECT %s FROM "%s" ORDER BY rowid %s`, list, name, order))
	if err != nil {
		return err, nil
	}
	defer rows.Close()
	for rows.Next() {
		values := make([]any, len(columns))
		pointers := make([]any, len(columns))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := rows.Scan(pointers...); err != nil {
			return err, nil
		}
		result, err := tx.ExecContext(ctx, insert, values...)
		if err != nil {
			return nil, err
		}
		count, err := result.RowsAffected()
		if err != nil {
			return nil, err
		}
		r.Saved += int(count)
	}
	return rows.Err(), nil
}

// removeOrphans deletes rows whose owner was lost, and sets the numbers of events so that they go on where they ended.
func (r *Recovery) removeOrphans(ctx context.Context, target *connection) error {
	tx, err := target.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after the commit
	for {
		type orphan struct {
			table string
			rowid int64
		}
		var orphans []orphan
		rows, err := tx.QueryContext(ctx, `SELECT DISTINCT "table", rowid FROM pragma_foreign_key_check`)
		if err != nil {
			return err
		}
		for rows.Next() {
			var o orphan
			if err := rows.Scan(&o.table, &o.rowid); err != nil {
				return errors.Join(err, rows.Close())
			}
			orphans = append(orphans, o)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		if len(orphans) == 0 {
			break
		}
		for _, o := range orphans {
			if _, err := tx.ExecContext(ctx, fmt.Sprintf(`DELETE FROM "%s" WHERE rowid = ?`, o.table),
				o.rowid); err != nil {
				return err
			}
		}
		r.Saved -= len(orphans)
	}
	_, err = tx.ExecContext(ctx, `UPDATE session SET last_seq =
		max(last_seq, (SELECT ifnull(max(seq), 0) FROM event WHERE event.session = session.id))`)
	if err != nil {
		return err
	}
	return tx.Commit()
}

// texts returns the first column of a query.
func texts(ctx context.Context, q querier, query string, args ...any) ([]string, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}

// copyFile copies a file to a new one that only the user may read.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}
