package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The errors that a caller may want to tell apart. Returned errors wrap them, and say what was tried.
var (
	// ErrClosed: the store was closed before the batch was committed.
	ErrClosed = errors.New("the store is closed")
	// ErrNotFound: there is no row of that id.
	ErrNotFound = errors.New("not found")
	// ErrNewer: the file was written by a newer agentls.
	ErrNewer = errors.New("the file was written by a newer version of agentls")
	// ErrDamaged: SQLite found the file damaged.
	ErrDamaged = errors.New("the file is damaged")
	// ErrLocked: another process held the file for longer than Options.BusyTimeout.
	ErrLocked = errors.New("another process has locked the file")
	// ErrInUse: the session is open in another process.
	ErrInUse = errors.New("another agentls process has it open")
	// ErrGone: the file was deleted, or another one put in its place, while it was open.
	ErrGone = errors.New("the file is gone")
	// ErrDisk: the system refused to read or write the file.
	ErrDisk = errors.New("the disk refused")
	// ErrFull: there was no room for the batch.
	ErrFull = errors.New("the disk is full")
)

// explain turns SQLite's error into one that says what to do, and notes damage.
func (r *reader) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	if isDamage(err) && !r.suspect.Swap(true) {
		if marked := ownerFolder(r.path).markDamage(); marked != nil {
			err = errors.Join(err, marked)
		}
	}
	if errors.Is(err, ErrGone) {
		return fmt.Errorf(
			"%s: %w: %s was deleted or replaced while agentls used it, and nothing is saved any more: restart "+
				"agentls, it begins a new one: %w", what, ErrGone, r.path, err)
	}
	code := sqliteCode(err)
	if code == 0 && isDamage(err) {
		code = sqlite3.SQLITE_CORRUPT // the damage was found by a check
	}
	if code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB {
		return fmt.Errorf("%s: %w (%s): start agentls again, it repairs the file then: %w", what,
			ErrDamaged, r.path, err)
	}
	return refused(what, r.path, err)
}

// refused says what the system or another process has refused, and what to do.
func refused(what, path string, err error) error {
	dir := filepath.Dir(path)
	switch code := sqliteCode(err); {
	case code == sqlite3.SQLITE_FULL, errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%s: %w: free some space in %s: %w", what, ErrFull, dir, err)
	case code == sqlite3.SQLITE_IOERR: // also where a quota or a limit of file sizes is reached
		return fmt.Errorf("%s: %w: see whether the disk of %s is full, over a quota or failing: %w", what,
			ErrDisk, dir, err)
	case code == sqlite3.SQLITE_READONLY, code == sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("%s: %w: make %s writable: %w", what, ErrDisk, dir, err)
	case code == sqlite3.SQLITE_BUSY, code == sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%s: %w (%s): end what else uses it, or try again: %w", what, ErrLocked, path, err)
	}
	return fmt.Errorf("%s in %s: %w", what, path, err)
}

// sqliteCode returns the primary result code in err (sqlite.org/rescode.html), 0 if there is none.
func sqliteCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

func isDamage(err error) bool {
	code := sqliteCode(err)
	return errors.Is(err, ErrDamaged) || code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}
