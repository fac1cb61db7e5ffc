package main

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/lsp/lsptest"
)

// The tests of this file take away what the database needs, and see what the user of an editor is told, that the editor
// stays usable, and that the next start works.

const todo = "a\nTODO: b\n"

// database is the path of a desk's database.
func (d *desk) database() string { return filepath.Join(d.state, "agentls.db") }

// usable expects that an editor gets its answers whatever the engine can do: text is followed, and actions are offered.
func (s *served) usable(path string) {
	s.desk.Helper()
	if err := s.Edit(path, 0, 0, "b"); err != nil {
		s.desk.Fatal(err)
	}
	if _, err := s.Actions(s.desk.ctx, path, lsptest.Range{}); err != nil {
		s.desk.Fatalf("code actions: %v", err)
	}
}

// reviewed has the next server review a file, as if nothing had happened.
func (d *desk) reviewed() {
	d.Helper()
	s := d.serve("rich")
	s.open("a.txt")
	if result := s.wait(s.review("a.txt")); result.Status != event.StatusCompleted {
		d.Errorf("the review by the next server is %+v", result)
	}
	s.quit()
	d.stored(func(st *store.Store) {
		if list, err := st.Sessions(d.ctx, store.SessionFilter{}); err != nil || len(list) == 0 {
			d.Errorf("%d sessions are stored, %v", len(list), err)
		}
	})
}

// sessions counts the sessions with runs that the command lists.
func (d *desk) sessions() int {
	d.Helper()
	out, _ := d.must(exitOK, "sessions", "list", "--json")
	return len(decode[[]struct {
		ID string `json:"id"`
	}](d, []byte(out)))
}

func TestDiskFull(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no limit of file sizes")
	}
	d := newDesk(t, map[string]string{"a.txt": strings.Repeat("TODO: a\n", 500)})
	d.must(exitOK, "review", "--fail-on", "never", "a.txt")
	before := d.sessions()
	// in KiB; the log of the database is the first to reach it
	d.wrap = []string{"bash", "-c", `ulimit -f 64; exec "$0" "$@"`}
	s := d.serve("rich")
	s.open("a.txt")
	var refusal string
	for range 50 {
		raw, err := s.Execute(d.ctx, "agentls.run",
			[]byte(`{"agent":"reviewer","prompt":"Review this file.","context":{"uri":"`+s.URI("a.txt")+`"}}`))
		if err != nil {
			refusal = err.Error()
			break
		}
		result := s.wait(decode[struct{ Run event.RunID }](d, raw).Run)
		if result.Status != event.StatusCompleted {
			if result.Error == nil {
				d.Fatalf("the run is %+v", result)
			}
			refusal = result.Error.Detail + "; " + result.Error.Hint
			break
		}
	}
	if !strings.Contains(refusal, "see whether the disk of "+d.state+" is full") {
		t.Errorf("the user is told %q", refusal)
	}
	s.told("see whether the disk")
	s.usable("a.txt")
	if err := s.Shutdown(d.ctx); err != nil {
		t.Error(err)
	}
	if _, err := s.server.Wait(); err != nil { // what could not be saved may make it end with an error
		t.Error(err)
	}
	d.wrap = nil
	d.reviewed()
	if after := d.sessions(); after < before {
		t.Errorf("there were %d sessions, and are %d", before, after)
	}
}

func TestReadOnlyState(t *testing.T) {
	d := newDesk(t, map[string]string{"a.txt": todo})
	d.must(exitOK, "review", "--fail-on", "never", "a.txt")
	before := d.sessions()
	var changed []string
	err := filepath.WalkDir(d.state, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		changed = append(changed, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	mode := func(folders, files os.FileMode) {
		t.Helper()
		for _, path := range changed {
			info, err := os.Lstat(path)
			if err == nil && info.IsDir() {
				err = os.Chmod(path, folders)
			} else if err == nil && info.Mode().IsRegular() {
				err = os.Chmod(path, files)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	mode(0o500, 0o400)
	defer mode(0o700, 0o600)
	d.unprivileged()
	for range 2 {
		s := d.serve("rich")
		s.open("a.txt")
		s.told("agentls cannot work")
		s.told(d.state)
		s.usable("a.txt")
		if said := s.refused("agentls.review", `{"uri":"`+s.URI("a.txt")+`"}`); !strings.Contains(said,
			"permission denied") || !strings.Contains(said, "writable") {
			t.Errorf("the user is told %q", said)
		}
		s.quit()
	}
	if _, stderr, code := d.run("review", "a.txt"); code == exitOK || !strings.Contains(stderr, "permission denied") ||
		!strings.Contains(stderr, "AGENTLS_STATE") {
		t.Errorf("the command ends with %d and says %q", code, stderr)
	}
	d.wrap = nil
	mode(0o700, 0o600)
	if after := d.sessions(); after != before {
		t.Errorf("there were %d sessions, and are %d", before, after)
	}
	d.reviewed()
}

// lock takes the write lock of the database until the function is called.
func (d *desk) lock() (release func()) {
	d.Helper()
	db, err := sql.Open("sqlite", event.FileURI(d.database())+"?_pragma=busy_timeout(20000)")
	if err != nil {
		d.Fatal(err)
	}
	conn, err := db.Conn(d.ctx)
	if err == nil {
		_, err = conn.ExecContext(d.ctx, "BEGIN IMMEDIATE")
	}
	if err != nil {
		d.Fatal(err)
	}
	return func() {
		d.Helper()
		_, err := conn.ExecContext(d.ctx, "ROLLBACK")
		if err == nil {
			err = conn.Close()
		}
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			d.Error(err)
		}
	}
}

// TestLockedDatabase: another process holds the lock for longer than the server waits, in the middle of the work and at
// the start.
func TestLockedDatabase(t *testing.T) {
	d := newDesk(t, map[string]string{"a.txt": todo})
	s := d.serve("rich")
	s.open("a.txt")
	s.wait(s.review("a.txt"))
	release := d.lock()
	if said := s.refused("agentls.run", `{"agent":"reviewer","prompt":"Review this file."}`); !strings.Contains(said,
		"another process has locked the file") || !strings.Contains(said, d.database()) {
		t.Errorf("the user is told %q", said)
	}
	s.told("another process has locked the file")
	s.usable("a.txt")
	release()
	if result := s.wait(s.review("a.txt")); result.Status != event.StatusCompleted {
		t.Errorf("when the lock is gone the review is %+v", result)
	}
	s.quit()

	release = d.lock()
	s = d.serve("rich")
	s.open("a.txt")
	s.told("another process has locked the file")
	s.usable("a.txt")
	release()
	s.quit()
	d.reviewed()
}

// TestDamagedDatabase: the next server says what it found and where the file is, with what it could save; the one
// behind it has nothing to say.
func TestDamagedDatabase(t *testing.T) {
	for _, test := range []struct {
		name string
		// killed says that the server before did not end by itself: only then is the whole file looked at.
		killed bool
		damage func(d *desk)
	}{
		{"pages in the middle", true, func(d *desk) {
			for at := int64(2); at < 7; at++ { // which are the pages of tables, and not in the log
				d.overwrite(d.size()/4096*at/8*4096, 4096)
			}
		}},
		{"the header", false, func(d *desk) { d.overwrite(0, 100) }},
		{"the whole", false, func(d *desk) { d.overwrite(0, int(d.size())) }},
		{"its beginning", false, func(d *desk) { d.overwrite(0, 3*4096) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, map[string]string{"a.txt": strings.Repeat("TODO: a\n", 300)})
			for range 3 {
				d.must(exitOK, "review", "--fail-on", "never", "a.txt")
			}
			if test.killed {
				s := d.serve("rich")
				s.execute("agentls.list", "{}")
				s.signal(os.Kill)
				if _, err := s.server.Wait(); err != nil {
					t.Fatal(err)
				}
			}
			test.damage(d)
			damaged, err := os.ReadFile(d.database())
			if err != nil {
				t.Fatal(err)
			}
			s := d.serve("rich")
			s.open("a.txt")
			s.told("damaged")
			s.usable("a.txt")
			moved, err := filepath.Glob(d.database() + ".damaged-*Z")
			if err != nil || len(moved) != 1 {
				t.Fatalf("the damaged file is not there: %q, %v", moved, err)
			}
			s.told(moved[0])
			if kept, err := os.ReadFile(moved[0]); err != nil || !test.killed && !bytes.Equal(kept, damaged) {
				t.Errorf("the damaged file was changed (%v)", err)
			}
			if result := s.wait(s.review("a.txt")); result.Status != event.StatusCompleted {
				t.Errorf("the review is %+v", result)
			}
			s.quit()
			d.reviewed() // which finds a sound file
		})
	}
}

func (d *desk) size() int64 {
	d.Helper()
	info, err := os.Stat(d.database())
	if err != nil {
		d.Fatal(err)
	}
	return info.Size()
}

func (d *desk) overwrite(from int64, n int) {
	d.Helper()
	f, err := os.OpenFile(d.database(), os.O_RDWR, 0)
	if err == nil {
		_, err = f.WriteAt(bytes.Repeat([]byte{0xa5}, n), from)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		d.Fatal(err)
	}
}

// killed leaves the state as a killed server does that has told of a review.
func (d *desk) killed() {
	d.Helper()
	s := d.serve("rich")
	s.open("a.txt")
	s.wait(s.review("a.txt"))
	s.signal(os.Kill)
	if _, err := s.server.Wait(); err != nil {
		d.Fatal(err)
	}
}

// TestTruncatedLog: what was in the end of the log is lost, and only that.
func TestTruncatedLog(t *testing.T) {
	d := newDesk(t, map[string]string{"a.txt": todo})
	d.must(exitOK, "review", "--fail-on", "never", "a.txt")
	before := d.sessions()
	d.killed()
	info, err := os.Stat(d.database() + "-wal")
	if err != nil || info.Size() < 3*4096 {
		t.Fatalf("there is no log: %v", err)
	}
	if err := os.Truncate(d.database()+"-wal", info.Size()*2/3+100); err != nil {
		t.Fatal(err)
	}
	d.reviewed()
	if after := d.sessions(); after < before+1 {
		t.Errorf("there were %d sessions, and are %d", before, after)
	}
}

// TestStateDeleted: what goes on without its database says so at once, and loses nothing in silence.
func TestStateDeleted(t *testing.T) {
	d := newDesk(t, map[string]string{"a.txt": todo})
	s := d.serve("rich")
	s.open("a.txt")
	s.wait(s.review("a.txt"))
	if err := os.RemoveAll(d.state); err != nil {
		t.Fatal(err)
	}
	if said := s.refused("agentls.run", `{"agent":"reviewer","prompt":"Review this file."}`); !strings.Contains(said,
		"deleted or replaced") || !strings.Contains(said, d.database()) || !strings.Contains(said, "restart") {
		t.Errorf("the user is told %q", said)
	}
	s.told("deleted or replaced")
	s.usable("a.txt")
	s.signal(os.Kill)
	if _, err := s.server.Wait(); err != nil {
		t.Fatal(err)
	}
	d.reviewed()
}
