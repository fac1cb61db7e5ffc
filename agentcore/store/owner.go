package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/filelock"
)

// owners is the folder that tells which processes have a store open. Each process has a file in it, which is locked as
// long as the process lives, and removed by a clean Close. So a file that is not locked is the trace of a killed
// process. The system drops the lock with the process, so that no process id has to be trusted.
type owners string

func ownerFolder(path string) owners { return owners(path + "-owners") }

// owner is this process's file.
type owner struct {
	id   string
	file *os.File
}

const openingLock = "opening"

// damageMark is the name of a file that says that a process found the store damaged, so that it is checked before its
// next use.
const damageMark = "damaged"

func (o owners) markDamage() error {
	if err := os.WriteFile(filepath.Join(string(o), damageMark), nil, 0o600); err != nil {
		return fmt.Errorf("note that the file is damaged: %w", err)
	}
	return nil
}

// lockOpening lets one process at a time open the store. It waits until ctx ends, at most 30 s.
func (o owners) lockOpening(ctx context.Context) (release func(), err error) {
	if err := os.MkdirAll(string(o), 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Second,
		errors.New("another agentls process has been opening it for 30 s"))
	defer cancel()
	f, err := os.OpenFile(filepath.Join(string(o), openingLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	retry := time.NewTicker(2 * time.Millisecond)
	defer retry.Stop()
	for {
		locked, err := filelock.Try(f, true)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
		}
		if locked {
			// Closing the file drops the lock; nothing was written that could be lost.
			return func() { _ = f.Close() }, nil
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("wait for %s: %w", f.Name(), context.Cause(ctx)), f.Close())
		}
	}
}

// scan counts the processes that have the store open, and names those that were killed.
func (o owners) scan() (living int, dead []string, err error) {
	entries, err := os.ReadDir(string(o))
	if err != nil {
		return 0, nil, err
	}
	for _, entry := range entries {
		if entry.Name() == openingLock {
			continue
		}
		alive, err := o.lives(entry.Name())
		if err != nil {
			return 0, nil, err
		}
		if alive {
			living++
		} else {
			dead = append(dead, entry.Name())
		}
	}
	return living, dead, nil
}

// lives is alive, but allows for a process that was killed while it started another one: a copy of it holds its files
// for a moment. If there is no process with the number in the id, lives waits for the lock, though not for long, since
// the process may belong to another container.
func (o owners) lives(id string) (bool, error) {
	retry := time.NewTicker(2 * time.Millisecond)
	defer retry.Stop()
	for begin := time.Now(); ; <-retry.C {
		alive, err := o.alive(id)
		if err != nil || !alive || runs(id) || time.Since(begin) > ghostTime {
			return alive, err
		}
	}
}

// ghostTime bounds the wait for the lock of a process that does not exist.
const ghostTime = 500 * time.Millisecond

// runs reports whether there is a process with the number that an id begins with. It reports true where that cannot be
// told.
func runs(id string) bool {
	number, _, _ := strings.Cut(id, "-")
	pid, err := strconv.Atoi(number)
	if err != nil || pid <= 0 {
		return true
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return false // Windows says so for a process that does not exist
	}
	return !errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// alive reports whether the process with this id still has the store open.
func (o owners) alive(id string) (bool, error) {
	if id == "" || strings.ContainsAny(id, `/\`) {
		return false, nil
	}
	f, err := os.Open(filepath.Join(string(o), id))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("see whether process %s is alive: %w", id, err)
	}
	defer f.Close()
	free, err := filelock.Try(f, false)
	if err != nil {
		return false, fmt.Errorf("see whether process %s is alive: %w", id, err)
	}
	return !free, nil
}

// maxName bounds the name of a process, in bytes.
const maxName = 200

// name is what a process calls itself, "" where it gave no name or its file cannot be read.
func (o owners) name(id string) string {
	f, err := os.Open(filepath.Join(string(o), id))
	if err != nil {
		return ""
	}
	defer f.Close()
	name, err := io.ReadAll(io.LimitReader(f, maxName))
	if err != nil {
		return "" // some systems let nobody read a locked file
	}
	return strings.ToValidUTF8(string(name), "")
}

// Owner is the process that has a session open.
type Owner struct {
	// PID is its process id, 0 where no process has the session.
	PID int
	// Name is what the process calls itself (Options.Name); it may be empty.
	Name string
	// Alive says that the process lives, and Own that it is this process.
	Alive, Own bool
}

// String names the process for people.
func (o Owner) String() string {
	if o.Name == "" {
		return fmt.Sprintf("another agentls process (%d)", o.PID)
	}
	return fmt.Sprintf("%s (process %d)", o.Name, o.PID)
}

// Owner returns the process that has a session open, the zero Owner for none, or ErrNotFound where there is no such
// session.
func (r *reader) Owner(ctx context.Context, session event.SessionID) (Owner, error) {
	var id string
	err := r.readers.QueryRowContext(ctx, "SELECT ifnull(owner, '') FROM session WHERE id = ?", session).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil || id == "" {
		return Owner{}, r.explain(fmt.Sprintf("read who has the session %s open", session), err)
	}
	folder := ownerFolder(r.path)
	owner := Owner{Own: id == r.owner.id, Alive: id == r.owner.id, Name: folder.name(id)}
	pid, _, _ := strings.Cut(id, "-")
	if owner.PID, err = strconv.Atoi(pid); err != nil {
		owner.PID = 0
	}
	if !owner.Own {
		if owner.Alive, err = folder.alive(id); err != nil {
			return Owner{}, err
		}
	}
	return owner, nil
}

// Resumable reports whether a run has a conversation to go on with.
func (r *runReader) Resumable(ctx context.Context, run event.RunID) (bool, error) {
	var has bool
	err := r.readers.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM message WHERE run = ?)", run).Scan(&has)
	return has, r.explain(fmt.Sprintf("look for messages of run %s", run), err)
}

// SessionOf returns the session that a run, proposal, ask or session of this id belongs to, or ErrNotFound.
func (r *reader) SessionOf(ctx context.Context, id string) (event.SessionID, error) {
	var session event.SessionID
	err := r.readers.QueryRowContext(ctx, `SELECT session FROM run WHERE id = ?1 UNION ALL SELECT session FROM proposal WHERE id = ?1
		UNION ALL SELECT session FROM ask WHERE id = ?1 UNION ALL SELECT id FROM session WHERE id = ?1 LIMIT 1`, id).Scan(&session)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return session, r.explain("find the session of "+id, err)
}

// register makes this process's file, with the name for other processes to read.
func (o owners) register(name string) (*owner, error) {
	f, err := os.CreateTemp(string(o), fmt.Sprintf("%d-*", os.Getpid()))
	if err != nil {
		return nil, err
	}
	locked, err := filelock.Try(f, true)
	if err == nil && !locked {
		err = errors.New("another process has locked it")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close(), os.Remove(f.Name()))
	}
	// The name is only for people, so that an error does not matter.
	_, _ = f.WriteString(name[:min(len(name), maxName)])
	return &owner{filepath.Base(f.Name()), f}, nil
}

// forget removes the traces of killed processes, once the file was found sound.
func (o owners) forget(dead []string) {
	for _, id := range dead {
		// A trace that stays only costs a check at the next start.
		_ = os.Remove(filepath.Join(string(o), id))
	}
}

// release drops the lock; a clean one also removes the file.
func (w *owner) release(clean bool) {
	removed := clean && os.Remove(w.file.Name()) == nil
	_ = w.file.Close()
	if clean && !removed {
		// Some systems remove no open file. If it stays, the next start checks the store and finds it sound.
		_ = os.Remove(w.file.Name())
	}
}
