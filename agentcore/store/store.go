package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"

	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
)

// The errors that a caller may want to tell apart. What is returned wraps them with what was tried.
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

// Options are what Open needs beside the path. The zero value works.
type Options struct {
	// Committed gets the events of each transaction after its COMMIT, in commit order, before the
	// commits are acknowledged. Events of one session are numbered from 1 without gaps. It is called
	// from the writer's goroutine, one call at a time, and must not block, nor call Submit or Close.
	// Events that other processes store in the same file do not come here; see [Store.Events].
	Committed func([]event.Event)
	// Failed gets the events of each batch that could not be stored, which may be none, and why. It is called
	// under the same conditions as Committed.
	Failed func([]NewEvent, error)
	// Damaged is called where a large file that was not closed turns out to be damaged while it is in use, with an
	// error that says what to do, on a goroutine of the store. The next Open repairs it.
	Damaged func(error)
	// Redact takes secrets out of a text. Every text of a batch goes through it before it is queued: what is stored,
	// and what is published. It is called on the goroutine of Submit; nil leaves the texts as they are.
	Redact func(string) string
	// Name is what this process tells others that it is, such as the editor's name; see [Store.Owner]. It may be empty.
	Name string
	// Logger gets what concerns no single caller: a recovery, deleted text that could not be wiped yet.
	Logger *slog.Logger
	// Crash is called at the points of the journal, for tests that end the process there.
	Crash crash.Hook
	// BusyTimeout is how long a transaction waits for another process; 0 means 5 s.
	BusyTimeout time.Duration
}

// Store is an open file. Its methods may be called from any goroutine, unless they say otherwise.
type Store struct {
	*reader
	runReader
	options  Options
	queue    *queue
	writer   *writer
	recovery *Recovery
	// opened is the file as it was opened.
	opened os.FileInfo
	// checking is the check of a large file beside the work; stopCheck ends it, and checked is closed at its end.
	stopCheck context.CancelFunc
	checked   chan struct{}

	closing  sync.Once
	closeErr error // set by closing
}

// reader reads what is stored.
type reader struct {
	path    string
	readers *sql.DB
	fixed   preparedQueries // of readers
	owner   *owner
	// suspect is set when SQLite reported damage: the next Open then checks the file.
	suspect atomic.Bool
}

// runReader reads what is stored of runs: they, their messages and calls, and what they used.
type runReader struct{ *reader }

// Open opens the store at path, and makes the file (0600) and its folder (0700) if there is none. It
// brings an older schema up to date, after a copy of the file was put beside it; a newer one is refused
// with ErrNewer. Where the last process that had the file open did not close it, the file is checked
// first; a damaged one is moved aside and what could be read of it is kept: see [Store.Recovery]. A large file is
// checked while it is in use, and repaired by the next Open.
// Beside the file lies a folder (path + "-owners") that tells which processes have it open.
func Open(ctx context.Context, path string, options Options) (*Store, error) {
	s, err := open(ctx, path, options, embedded)
	if err != nil {
		return nil, refused("open the store", path, err)
	}
	return s, nil
}

func open(ctx context.Context, path string, options Options, steps []migration) (_ *Store, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if options.BusyTimeout <= 0 {
		options.BusyTimeout = 5 * time.Second
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	r := &reader{path: path}
	s := &Store{reader: r, runReader: runReader{r}, options: options, queue: newQueue()}
	// From here to the end other processes wait: what is checked, moved and migrated is ours alone.
	owners := ownerFolder(path)
	release, err := owners.lockOpening(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := makeFile(path); err != nil {
		return nil, err
	}
	living, dead, err := owners.scan()
	if err != nil {
		return nil, err
	}
	if s.owner, err = owners.register(options.Name); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			// What is damaged is checked next time; any other failure changed nothing.
			s.owner.release(!isDamage(err))
		}
	}()

	options.Crash.Reach(crash.Registered)
	later := len(dead) > 0 && isLarge(path) && !slices.Contains(dead, damageMark)
	conn, err := s.connect(ctx, len(dead) > 0 && !later, steps)
	if isDamage(err) {
		conn, err = s.replace(ctx, err, living, steps)
	}
	if err != nil {
		return nil, err
	}
	if !later {
		owners.forget(dead)
	}

	if s.readers, err = openDatabase(path, options.BusyTimeout, reading); err != nil {
		conn.close()
		return nil, err
	}
	s.fixed.db = s.readers
	if s.opened, err = os.Stat(path); err != nil {
		return nil, errors.Join(err, conn.close(), s.readers.Close())
	}
	s.begin(ctx, conn, later, dead)
	return s, nil
}

// begin starts the writer and, where the file is to be checked later, that check.
func (s *Store) begin(ctx context.Context, conn *connection, later bool, dead []string) {
	s.writer = newWriter(s, conn)
	go s.writer.run()
	s.checked = make(chan struct{})
	var checking context.Context
	checking, s.stopCheck = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(s.checked)
		if later {
			s.checkLater(checking, dead)
		}
	}()
}

// replace moves a damaged file aside, keeps what can be read of it, and connects to the new one. living is how many
// other processes have the old one open.
func (s *Store) replace(ctx context.Context, damage error, living int,
	steps []migration,
) (conn *connection, err error) {
	if living > 0 {
		return nil,
			fmt.Errorf(
				"%w, and %d other agentls processes have it open: end them and start again, then it is "+
					"repaired: %w",
				ErrDamaged, living, damage)
	}
	if s.recovery, err = recoverFile(ctx, s.path, steps, damage, s.options.Crash); err != nil {
		return nil, err
	}
	s.options.Logger.Warn("the store was damaged and has been replaced", "movedTo", s.recovery.MovedTo,
		"saved", s.recovery.Saved, "detail", s.recovery.Detail)
	return s.connect(ctx, false, steps)
}

// makeFile makes an empty file if there is none, so that the file is never readable to others.
func makeFile(path string) error {
	if err := finishRecovery(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return f.Chmod(0o600)
	}
	return nil
}

// connection is the one connection of a database that is never used by two goroutines.
type connection struct {
	db *sql.DB
	*sql.Conn
}

func (c *connection) close() error { return errors.Join(c.Conn.Close(), c.db.Close()) }

// connect opens the writer's connection, checks the file if asked to, and migrates it.
func (s *Store) connect(ctx context.Context, check bool, steps []migration) (*connection, error) {
	conn, err := dial(ctx, s.path, s.options.BusyTimeout, writing)
	if err != nil {
		return nil, err
	}
	if check {
		err = quickCheck(ctx, conn)
	}
	if err == nil {
		err = migrate(ctx, conn, s.path, steps, s.options.Crash)
	}
	if err != nil {
		return nil, errors.Join(err, conn.close())
	}
	return conn, nil
}

// dial opens a database with a single connection.
func dial(ctx context.Context, path string, busy time.Duration, use access) (*connection, error) {
	db, err := openDatabase(path, busy, use)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &connection{db, conn}, nil
}

// access says what a connection is for.
type access int

const (
	writing access = iota
	reading
	// salvaging reads a damaged file: with the schema writable SQLite opens one that is shorter than its
	// header says, and goes on where a definition makes no sense (btree.c, lockBtree). Nothing is written.
	salvaging
)

// openDatabase prepares a pool; nothing is opened before its first use.
func openDatabase(path string, busy time.Duration, use access) (*sql.DB, error) {
	query := url.Values{
		"_busy_timeout": {fmt.Sprint(busy.Milliseconds())},
		"_dqs":          {"0"},
		"_pragma":       {"trusted_schema(0)"},
	}
	switch use {
	case writing:
		query.Set("_txlock", "immediate")
		query.Set("_defensive", "1")
		query["_pragma"] = []string{
			"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "secure_delete(1)", "trusted_schema(0)",
		}
		if info, err := os.Stat(path); err == nil && info.Size() == 0 {
			// A file with tables keeps the mode that it has (sqlite.org/pragma.html, auto_vacuum), and would only be
			// written to.
			query["_pragma"] = append([]string{"auto_vacuum(incremental)"}, query["_pragma"]...)
		}
	case reading:
		query.Set("_query_only", "1")
		query.Set("_defensive", "1")
	case salvaging:
		query.Set("_query_only", "1")
		query["_pragma"] = []string{"writable_schema(1)", "trusted_schema(0)"}
	}
	connector, err := sqlite.NewConnector(event.FileURI(path) + "?" + query.Encode())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	if use == reading {
		db.SetMaxOpenConns(4)
		db.SetMaxIdleConns(4)
	}
	return db, nil
}

// Recovery returns what Open did with a damaged file, nil if it was sound.
func (s *Store) Recovery() *Recovery { return s.recovery }

// Path returns the absolute path of the file.
func (s *Store) Path() string { return s.path }

// Close commits what was submitted before and closes the file. Submit fails from now on. When ctx ends
// first, what is still queued fails with ErrClosed, and Close returns ctx's cause after the transaction
// that runs at that moment. A second call waits for the first.
func (s *Store) Close(ctx context.Context) error {
	s.closing.Do(func() {
		s.queue.close()
		s.stopCheck()
		<-s.checked
		var cause error
		select {
		case <-s.writer.ended:
		case <-ctx.Done():
			cause = fmt.Errorf("close the store %s before all was saved: %w", s.path, context.Cause(ctx))
			s.writer.abort()
			<-s.writer.ended
		}
		err := errors.Join(s.readers.Close(), s.writer.conn.close())
		// A file that was found damaged is left as if it had not been closed, so that it is checked.
		s.owner.release(!s.suspect.Load())
		s.closeErr = errors.Join(cause, s.explain("close the store", err))
	})
	return s.closeErr
}
