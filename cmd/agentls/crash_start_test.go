package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
)

// dies has a command kill itself when it comes to a point for the first time.
func (d *desk) dies(point crash.Point, args ...string) {
	d.Helper()
	cmd := d.command(args...)
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%s 1", crashVariable, point))
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != -1 {
		d.Fatalf("%s: the command was not killed: %v\n%s", point, err, out)
	}
}

// agreed reads the ids of the sessions that are stored, and expects a sound database.
func (d *desk) agreed(damaged bool) (ids []event.SessionID) {
	d.Helper()
	s, err := store.Open(d.ctx, d.database(), store.Options{})
	if err != nil {
		d.Fatal(err)
	}
	if found := s.Recovery(); found != nil && !damaged {
		d.Errorf("the database was damaged: %+v", found)
	}
	list, err := s.Sessions(d.ctx, store.SessionFilter{})
	if err != nil {
		d.Fatal(err)
	}
	for _, session := range list {
		ids = append(ids, session.ID)
	}
	if err := s.Close(d.ctx); err != nil {
		d.Error(err)
	}
	slices.Sort(ids)
	return ids
}

// TestCrashesInMigration kills the first process that changes an old database, at each point of that: the next one
// reads all that was there.
func TestCrashesInMigration(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("..", "..", "agentcore", "store", "testdata", "v1.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for _, point := range []crash.Point{crash.Registered, crash.Copied, crash.Stepped, crash.Migrated, crash.Marked} {
		t.Run(strings.ReplaceAll(string(point), "/", "-"), func(t *testing.T) {
			d := newDesk(t, map[string]string{"a.txt": todo})
			if err := os.MkdirAll(d.state, 0o700); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", event.FileURI(d.database()))
			if err != nil {
				t.Fatal(err)
			}
			_, err = db.ExecContext(d.ctx, string(script))
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			d.dies(point, "review", "a.txt")
			if point != crash.Marked {
				d.dies(crash.Marked, "review", "a.txt") // once more, while it recovers
			}
			if got := d.agreed(false); !slices.Equal(got, []event.SessionID{"s1", "s2"}) {
				t.Errorf("the sessions are %q", got)
			}
			if copies, err := filepath.Glob(d.database() + ".v1-*.backup"); err != nil || len(copies) != 1 &&
				point != crash.Migrated {
				t.Errorf("there are the copies %q, %v", copies, err)
			}
			d.must(exitOK, "review", "--fail-on", "never", "a.txt")
		})
	}
}

// TestCrashesInRepair kills the process that repairs a damaged database: the next one has what could be saved, and the
// damaged file is there.
func TestCrashesInRepair(t *testing.T) {
	for _, point := range []crash.Point{crash.Registered, crash.Salvaged, crash.MovedAside, crash.Replaced} {
		t.Run(strings.ReplaceAll(string(point), "/", "-"), func(t *testing.T) {
			d := newDesk(t, map[string]string{"a.txt": strings.Repeat("TODO: a\n", 300)})
			for range 4 {
				d.must(exitOK, "review", "--fail-on", "never", "a.txt")
			}
			before := d.agreed(false)
			d.dies(crash.Marked, "review", "a.txt") // or only its header would be looked at
			for at := int64(3); at < 7; at++ {
				d.overwrite(d.size()/4096*at/8*4096, 4096)
			}
			d.dies(point, "review", "a.txt")
			after := d.agreed(point != crash.Replaced) // else it is repaired already, which was said
			for _, id := range before {
				if !slices.Contains(after, id) {
					t.Errorf("the session %s is lost", id)
				}
			}
			moved, err := filepath.Glob(d.database() + ".damaged-*Z")
			if err != nil || len(moved) != 1 {
				t.Errorf("the damaged files are %q, %v", moved, err)
			}
			if left, err := filepath.Glob(d.database() + ".salvage*"); err != nil || len(left) > 0 {
				t.Errorf("there is %q, %v", left, err)
			}
			d.must(exitOK, "review", "--fail-on", "never", "a.txt")
			if got := d.agreed(false); len(got) != len(after)+1 {
				t.Errorf("there are %d sessions behind a review, and were %d", len(got), len(after))
			}
		})
	}
}

// TestCrashInDeletion: a session whose deletion was cut off is gone, and nothing of it comes back.
func TestCrashInDeletion(t *testing.T) {
	d := newDesk(t, map[string]string{"a.txt": todo})
	d.must(exitOK, "review", "--fail-on", "never", "a.txt")
	ids := d.agreed(false)
	d.dies(crash.Deleted, "sessions", "delete", string(ids[0]))
	if left := d.agreed(false); len(left) != 0 {
		t.Errorf("there are %q", left)
	}
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	d.ctx = ctx
	d.must(exitOK, "review", "--fail-on", "never", "a.txt")
}
