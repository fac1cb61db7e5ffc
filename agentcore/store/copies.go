package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// Beside the file may lie copies of it: backups, from before its schema was changed (see backUp), and damaged files
// that were moved aside (see Recovery). What a deleted session said must not stay in them.

// keptCopies is how long a copy of a former database is kept. By then the user has seen whether the new one works.
const keptCopies = 14 * 24 * time.Hour

// copies lists the copies beside a file, without the logs that belong to them.
func copies(path string) (backups, damaged []string, err error) {
	backups, err = filepath.Glob(globbed(path) + ".v*.backup")
	if err != nil {
		return nil, nil, err
	}
	damaged, err = filepath.Glob(globbed(path) + ".damaged-*")
	damaged = slices.DeleteFunc(damaged, func(name string) bool { return strings.HasSuffix(name, "-wal") })
	return backups, damaged, err
}

// ForgetInCopies removes a session from the copies beside the file: its rows from backups, and damaged files that hold
// its id, since nobody can take a part out of those. It is for what the user wants to be deleted; what is deleted by
// age stays in copies for as long as they are kept. It waits for the disk.
func (s *Store) ForgetInCopies(ctx context.Context, id event.SessionID) error {
	backups, damaged, err := copies(s.path)
	if err != nil {
		return err
	}
	var problems []error
	for _, name := range backups {
		if err := forgetInBackup(ctx, name, id); err != nil {
			problems = append(problems, fmt.Errorf("remove the session %s from the copy %s: %w; remove that file",
				id, name, err))
		}
	}
	for _, name := range damaged {
		for _, part := range []string{name, name + "-wal"} {
			holds, err := contains(part, []byte(id))
			if err == nil && holds {
				s.options.Logger.Warn("a damaged file is removed, since a deleted session is in it", "file", name)
				err = removeAll(name, name+"-wal", name+"-shm")
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				problems = append(problems,
					fmt.Errorf("remove the damaged file %s, which may hold the session %s: %w; remove it",
						name, id, err))
			}
		}
	}
	return errors.Join(problems...)
}

// forgetInBackup deletes a session's rows and overwrites them. A copy that cannot be read is of no use, and is removed.
func forgetInBackup(ctx context.Context, name string, id event.SessionID) error {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil // another process is making it, or has removed it
	}
	if err != nil {
		return err
	}
	conn, err := dial(ctx, name, time.Second, writing)
	if err == nil {
		_, err = conn.ExecContext(ctx, "DELETE FROM session WHERE id = ?", string(id))
		if err == nil {
			_, err = conn.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
		}
		err = errors.Join(err, conn.close())
	}
	if isDamage(err) {
		return removeAll(name, name+"-wal", name+"-shm")
	}
	return err
}

// contains reports whether a file holds some bytes.
func contains(name string, wanted []byte) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	for {
		window, err := in.Peek(1 << 20)
		if bytes.Contains(window, wanted) {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if _, err := in.Discard(len(window) - len(wanted) + 1); err != nil {
			return false, err
		}
	}
}

// ForgetCopies removes the copies beside the file that are older than two weeks by their own times, which a clock that
// jumped ahead makes look old. It waits for the disk.
func (s *Store) ForgetCopies(now time.Time) error {
	backups, damaged, err := copies(s.path)
	if err != nil {
		return err
	}
	var problems []error
	for _, name := range append(backups, damaged...) {
		info, err := os.Stat(name)
		if err == nil && now.Sub(info.ModTime()) > keptCopies {
			err = removeAll(name, name+"-wal", name+"-shm")
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, fmt.Errorf("remove an old copy of the database: %w", err))
		}
	}
	return errors.Join(problems...)
}
