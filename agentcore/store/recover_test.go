package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	return must(filepath.Glob(pattern))(t)
}

// abandon releases a store as a killed process does: without a trace that it was closed.
func abandon(t *testing.T, s *Store) {
	t.Helper()
	s.suspect.Store(true)
	if err := s.Close(testContext(t)); err != nil {
		t.Fatal(err)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	ctx := testContext(t)
	newer := append(embedded[:len(embedded):len(embedded)], migration{"9999_future.sql", "CREATE TABLE future (x)"})
	s := must(open(ctx, path, Options{}, newer))(t)
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	before := must(os.ReadFile(path))(t)
	for range 2 {
		_, err := Open(ctx, path, Options{})
		if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), "update agentls") {
			t.Fatalf("open: %v", err)
		}
	}
	if !bytes.Equal(before, must(os.ReadFile(path))(t)) {
		t.Error("the file was changed")
	}
	if left := glob(t, filepath.Join(string(ownerFolder(path)), "*")); len(left) != 1 { // the lock of Open
		t.Errorf("the refused starts left %v", left)
	}
}

// storedFile is the file of a store that was closed, with the session s1.
func storedFile(t *testing.T) string {
	t.Helper()
	path, ctx := filepath.Join(t.TempDir(), "a.db"), testContext(t)
	s := must(Open(ctx, path, Options{}))(t)
	mustCommit(t, s, seed("s1"))
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMigrationKeepsACopy(t *testing.T) {
	path, ctx := storedFile(t), testContext(t)
	if copies := glob(t, path+".*.backup"); len(copies) != 0 {
		t.Fatalf("a new file was copied: %v", copies)
	}
	step := migration{"0002_more.sql", "ALTER TABLE session ADD COLUMN more TEXT; CREATE TABLE more (x)"}
	broken := migration{"0003_broken.sql", "CREATE TABLE half (x); CREATE TABLE half (x)"}

	if _, err := open(ctx, path, Options{}, append(embedded[:len(embedded):len(embedded)], step, broken)); err == nil ||
		!strings.Contains(err.Error(), broken.name) {
		t.Fatalf("a migration that fails: %v", err)
	}
	s := must(Open(ctx, path, Options{}))(t) // nothing of it is left
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}

	s = must(open(ctx, path, Options{}, append(embedded[:len(embedded):len(embedded)], step)))(t)
	mustCommit(t, s, seed("s2"))
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	copies := glob(t, fmt.Sprintf("%s.v%d-*.backup", path, len(embedded)))
	if len(copies) != 1 { // of the one that succeeded
		t.Fatalf("copies: %v", copies)
	}
	for _, name := range copies {
		if mode := must(os.Stat(name))(t).Mode().Perm(); mode != 0o600 {
			t.Errorf("the copy has mode %v", mode)
		}
		old := openStore(t, name, Options{})
		if sessions := must(old.Sessions(ctx, SessionFilter{}))(t); len(sessions) != 1 {
			t.Errorf("the copy has %d sessions", len(sessions))
		}
	}
}

func TestDamagedFileIsMovedAside(t *testing.T) {
	build := func(t *testing.T, path string) {
		s := must(Open(testContext(t), path, Options{}))(t)
		for i := range 50 {
			id := event.SessionID(fmt.Sprintf("s%02d", i))
			mustCommit(t, s, seed(id))
			mustCommit(t, s,
				Batch{Events: []NewEvent{{Session: id, Body: event.Notice{Message: strings.Repeat("n", 3000)}}}})
		}
		abandon(t, s)
	}
	overwrite := func(t *testing.T, path string, from, n int) {
		f := must(os.OpenFile(path, os.O_RDWR, 0))(t)
		defer f.Close()
		if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, n), int64(from)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, path string)
		saved  bool
	}{
		{"pages in the middle", func(t *testing.T, path string) {
			size := int(must(os.Stat(path))(t).Size())
			overwrite(t, path, size*3/4/4096*4096, 3*4096) // behind the definitions of the tables
		}, true},
		{"the end is missing", func(t *testing.T, path string) {
			if err := os.Truncate(path, must(os.Stat(path))(t).Size()*2/3); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"the header is gone", func(t *testing.T, path string) { overwrite(t, path, 0, 100) }, false},
		{"no database at all", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("hello\n", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			build(t, path)
			c.damage(t, path)
			damaged := must(os.ReadFile(path))(t)
			var log bytes.Buffer
			s := openStore(t, path, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			r := s.Recovery()
			if r == nil {
				t.Fatal("the damage was not seen")
			}
			if !bytes.Equal(damaged, must(os.ReadFile(r.MovedTo))(t)) {
				t.Error("the damaged file was changed")
			}
			if r.Saved > 0 != c.saved || r.Detail == "" {
				t.Errorf("recovery: %+v", r)
			}
			if !strings.Contains(log.String(), r.MovedTo) {
				t.Errorf("the log says %q", log.String())
			}
			ctx := testContext(t)
			if orphans := must(texts(ctx, s.readers,
				`SELECT "table" FROM pragma_foreign_key_check`))(t); len(orphans) > 0 {
				t.Errorf("rows without owners in %v", orphans)
			}
			sessions := must(s.Sessions(ctx, SessionFilter{}))(t)
			if len(sessions) > 0 != c.saved {
				t.Errorf("%d sessions were saved", len(sessions))
			}
			mustCommit(t, s, seed("new"))
			for _, session := range sessions {
				mustCommit(t, s, Batch{Events: []NewEvent{{Session: session.ID, Body: event.Notice{}}}})
			}
			if left := glob(t, path+".salvage*"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestDamagedFileInUseIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	ctx := testContext(t)
	abandon(t, must(Open(ctx, path, Options{}))(t))
	user := openStore(t, path, Options{})
	mustCommit(t, user, seed("s1"))
	abandon(t, must(Open(ctx, path, Options{}))(t))
	_, err := open(ctx, path, Options{},
		append(embedded[:len(embedded):len(embedded)], migration{"like.sql", "SELECT * FROM"}))
	if err == nil || isDamage(err) {
		t.Fatalf("a wrong migration is no damage: %v", err)
	}

	// The log is emptied first: it has the page, and what is in it hides the damage.
	wiped := user.submitOwn(func(*writer) ([]event.Event, error) { return nil, nil },
		func(w *writer) { w.wipe(watchdog) })
	if err := wiped.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	// The root of the table session, which Open alone does not read: only the check does.
	f := must(os.OpenFile(path, os.O_RDWR, 0))(t)
	defer f.Close()
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, 4096), 4096); err != nil {
		t.Fatal(err)
	}
	_, err = Open(ctx, path, Options{})
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "have it open") {
		t.Fatalf("open: %v", err)
	}
	if moved := glob(t, path+".damaged*"); len(moved) > 0 {
		t.Errorf("moved aside: %v", moved)
	}
}

func TestRecoveryThatWasCutShort(t *testing.T) {
	path, ctx := storedFile(t), testContext(t)
	// The damaged file was moved away, its log not yet, and the new one not yet put in its place.
	if err := os.Rename(path, salvageName(path)); err != nil {
		t.Fatal(err)
	}
	old := newStore(t)
	mustCommit(t, old, seed("old"))
	if err := copyFile(old.Path()+"-wal", path+"-wal"); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, path, Options{})
	if sessions := must(s.Sessions(ctx, SessionFilter{}))(t); len(sessions) != 1 || sessions[0].ID != "s1" {
		t.Errorf("sessions: %+v", sessions)
	}
}

func TestOpeningWaitsForAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	release := must(ownerFolder(path).lockOpening(testContext(t)))(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the user left")
	cancel(cause)
	if _, err := Open(ctx, path, Options{}); !errors.Is(err, cause) {
		t.Fatalf("open: %v", err)
	}
	opened := make(chan error)
	go func() {
		s, err := Open(testContext(t), path, Options{})
		if err == nil {
			err = s.Close(context.Background())
		}
		opened <- err
	}()
	release()
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
}

// TestLargeFileIsCheckedBesideTheWork: one that was not closed can be used at once; where it is damaged people are
// told, and the next start repairs it.
func TestLargeFileIsCheckedBesideTheWork(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	ctx := testContext(t)
	s := must(Open(ctx, path, Options{}))(t)
	mustCommit(t, s, seed("s1"))
	text := json.RawMessage(`"` + strings.Repeat("long ", 200_000) + `"`)
	for i := range checkedAtOnce/len(text) + 2 {
		mustCommit(t, s, Batch{Messages: []Message{{ID: event.NewMessageID(), Run: "s1-r", Seq: i + 100, Parts: text}}})
	}
	mustCommit(t, s, seed("s2"))
	abandon(t, s)
	traces := func() int { return len(glob(t, filepath.Join(string(ownerFolder(path)), "[0-9]*"))) }

	s = must(Open(ctx, path, Options{}))(t)
	<-s.checked
	if n := traces(); n != 1 { // its own
		t.Errorf("behind the check of a sound file there are %d traces of processes", n)
	}
	abandon(t, s)

	f := must(os.OpenFile(path, os.O_RDWR, 0))(t)
	size := must(f.Stat())(t).Size()
	// Pages of the index that nothing reads but the check, and of a long text.
	for at := size / 4 / 4096 * 4096; at < size-64<<10; at += 4 << 20 {
		if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, 2*4096), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 1)
	s = must(Open(ctx, path, Options{Damaged: func(err error) { told <- err }}))(t)
	if s.Recovery() != nil {
		t.Error("it was repaired before it was used")
	}
	if err := <-told; !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), "start agentls again") {
		t.Errorf("people are told %v", err)
	}
	mustCommit(t, s, Batch{Sessions: []Session{{ID: "s3"}}})
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	s = openStore(t, path, Options{})
	if r := s.Recovery(); r == nil || r.Saved == 0 {
		t.Fatalf("the next start: %+v", r)
	}
	for _, id := range []event.SessionID{"s1", "s2", "s3"} {
		if _, err := s.Session(ctx, id); err != nil {
			t.Error(err)
		}
	}
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	if again := openStore(t, path, Options{}); again.Recovery() != nil {
		t.Errorf("it was repaired twice: %+v", again.Recovery())
	}
}
