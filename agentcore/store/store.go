package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
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
	// Damaged is called on a goroutine of the store when a large file that was not closed turns out to be damaged while
	// it is in use. The error says what to do. The next Open repairs the file.
	Damaged func(error)
	// Redact removes secrets from a text. Every text of a batch, whether stored or published, goes through it before
	// the batch is queued. It is called on the goroutine of Submit; nil leaves the texts as they are.
	Redact func(string) string
	// Name is what this process calls itself for other processes, such as the editor's name; see [Store.Owner]. It may
	// be empty.
	Name string
	// Logger gets what concerns no single caller: a recovery, or deleted text that could not be wiped yet.
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
	// opened identifies the file that was opened.
	opened os.FileInfo
	// checking is the check of a large file while it is in use. stopCheck ends it, and checked is closed at its end.
	stopCheck context.CancelFunc
	checked   chan struct{}

	closing  sync.Once
	closeErr error // set by closing
}

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
	// From here to the end other processes wait, so that no other one uses the file while it is checked, moved and
	// migrated.
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
			// A damaged file is checked next time; any other failure has changed nothing.
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

// replace moves a damaged file aside, saves what can be read of it into a new file, and connects to that. living is how
// many other processes have the old file open.
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
		// A file that was found damaged is left as if it was not closed, so that the next process checks it.
		s.owner.release(!s.suspect.Load())
		s.closeErr = errors.Join(cause, s.explain("close the store", err))
	})
	return s.closeErr
}
