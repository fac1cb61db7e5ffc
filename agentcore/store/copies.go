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

// Copies may lie beside the file: backups from before its schema was changed (see backUp), and damaged files that were
// moved aside (see Recovery). The texts of a deleted session must not stay in them.

// keptCopies is how long a copy of a former database is kept. By then the user knows whether the new one works.
const keptCopies = 14 * 24 * time.Hour

// copies lists the copies beside a file, without their logs.
func copies(path string) (backups, damaged []string, err error) {
	backups, err = filepath.Glob(globbed(path) + ".v*.backup")
	if err != nil {
		return nil, nil, err
	}
	damaged, err = filepath.Glob(globbed(path) + ".damaged-*")
	damaged = slices.DeleteFunc(damaged, func(name string) bool { return strings.HasSuffix(name, "-wal") })
	return backups, damaged, err
}

// ForgetInCopies removes a session from the copies beside the file. It deletes the session's rows from backups, and
// removes damaged files that contain its id, since no part can be cut out of those. It is for sessions that the user
// deletes; those deleted by age stay in the copies. It waits for the disk.
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

// forgetInBackup deletes and overwrites a session's rows. It removes a copy that cannot be read, since that is of no
// use.
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

// ForgetCopies removes the copies beside the file that are older than two weeks by their own times. A clock that has
// jumped ahead makes copies look old. It waits for the disk.
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
