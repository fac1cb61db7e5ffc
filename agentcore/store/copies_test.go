package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// TestDeletedSessionIsInNoCopy: its text is in no file of the state any more, and the others' is.
func TestDeletedSessionIsInNoCopy(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agent[l]s.db")
	ctx := testContext(t)
	old := must(open(ctx, path, Options{}, embedded[:len(embedded)-1]))(t)
	const insert = `INSERT INTO session (id, title, roots, state, agent, model, permission_mode, created, updated) VALUES (?, ?, '[]', 'closed', '', '', '', 1, 1)`
	for id, title := range map[string]string{"doomed": "conspicuous text", "kept": "other text"} {
		if _, err := old.writer.conn.ExecContext(ctx, insert, id, title); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Close(ctx); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, path, Options{}) // which makes a backup
	whole := must(os.ReadFile(glob(t, filepath.Join(dir, "*.backup"))[0]))(t)
	for name, data := range map[string][]byte{
		".damaged-1": whole, ".damaged-2": []byte("nothing of it"),
		".damaged-3": []byte("nothing of it"), ".damaged-3-wal": []byte("a page with doomed in it"),
		".v1-0.backup": []byte("no database"),
	} {
		if err := os.WriteFile(path+name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.DeleteSession(ctx, "doomed"); err != nil {
		t.Fatal(err)
	}
	if err := s.ForgetInCopies(ctx, "doomed"); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, name := range glob(t, filepath.Join(dir, "*")) {
		info := must(os.Stat(name))(t)
		if info.IsDir() {
			continue
		}
		data := must(os.ReadFile(name))(t)
		if bytes.Contains(data, []byte("conspicuous")) || bytes.Contains(data, []byte("doomed")) {
			t.Errorf("the session is still in %s", name)
		}
		if bytes.Contains(data, []byte("other text")) && filepath.Ext(name) == ".backup" {
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("%d backups have the other session", kept)
	}
	for name, want := range map[string]bool{
		".damaged-1": false, ".damaged-2": true, ".damaged-3": false,
		".v1-0.backup": false,
	} {
		if _, err := os.Stat(path + name); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}

	if err := s.ForgetCopies(time.Now()); err != nil {
		t.Fatal(err)
	}
	if left := glob(t, filepath.Join(dir, "*.backup")); len(left) != 1 {
		t.Errorf("young copies were removed: %q", left)
	}
	if err := s.ForgetCopies(time.Now().Add(keptCopies + time.Minute)); err != nil {
		t.Fatal(err)
	}
	if left := append(glob(t, filepath.Join(dir, "*.backup")),
		glob(t, filepath.Join(dir, "*.damaged*"))...); len(left) != 0 {
		t.Errorf("old copies are still there: %q", left)
	}
	if err := s.ForgetCopies(time.Now()); err != nil {
		t.Error(err)
	}
}

func TestContains(t *testing.T) {
	name := filepath.Join(t.TempDir(), "large")
	const at = 1<<20 - 3 // over the end of what is read at once
	data := append(bytes.Repeat([]byte{'x'}, at), "needle"...)
	if err := os.WriteFile(name, append(data, bytes.Repeat([]byte{'y'}, 1<<21)...), 0o600); err != nil {
		t.Fatal(err)
	}
	for wanted, want := range map[string]bool{"needle": true, "needles": false} {
		if got := must(contains(name, []byte(wanted)))(t); got != want {
			t.Errorf("%q: %v", wanted, got)
		}
	}
}

// TestJumpingClock: a clock that jumped is not believed for a day, in any process; numbers and order do not depend on
// it.
func TestJumpingClock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agentls.db")
	ctx := testContext(t)
	now := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	for _, step := range []struct {
		forward time.Duration
		want    bool
	}{
		{0, true},                            // nothing speaks against it
		{6 * time.Hour, true},                //
		{3 * 24 * time.Hour, true},           // a weekend
		{365 * 24 * time.Hour, false},        // it was set wrong
		{6 * time.Hour, false},               //
		{-365 * 24 * time.Hour, false},       // it was set right
		{23 * time.Hour, false},              //
		{time.Hour, true},                    // a day has passed
		{-time.Hour, false},                  //
		{2 * time.Hour, false},               //
		{23 * time.Hour, true},               //
		{-10 * time.Second, true},            // as clocks are corrected
		{200 * 24 * time.Hour, false},        // nobody was here
		{24*time.Hour + time.Second, true},   //
		{10 * 365 * 24 * time.Hour, false},   //
		{-10 * 365 * 24 * time.Hour, false},  //
		{24*time.Hour + 2*time.Second, true}, //
	} {
		now = now.Add(step.forward)
		s := must(Open(ctx, path, Options{}))(t)
		if got := must(s.ClockSteady(ctx, now))(t); got != step.want {
			t.Errorf("behind a step of %v the clock is believed: %v", step.forward, got)
		}
		if err := s.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}

	s := openStore(t, path, Options{})
	mustCommit(t, s, Batch{Sessions: []Session{{ID: "s1"}}})
	var runs, calls []string
	for i, at := range []int64{5000, 3000, 9000, 1000} { // it jumps back and forth
		when := time.UnixMicro(at)
		run := event.RunID([]string{"first", "second", "third", "fourth"}[i])
		mustCommit(t, s, Batch{
			Runs: []Run{{
				ID: run, Session: "s1", Origin: Origin{Parent: event.RunID(append([]string{""}, runs...)[min(i, 1)])},
				Ending: Ending{Status: event.StatusRunning}, Created: when,
			}},
			Messages:  []Message{{ID: event.MessageID(run), Run: "first", Seq: i + 1, Time: when}},
			ToolCalls: []ToolCall{{ID: event.CallID(run), Run: "first", Intent: when, Started: when}},
			Events:    []NewEvent{{Session: "s1", Run: run, Time: when, Body: event.TurnStarted{Turn: i}}},
		})
		runs, calls = append(runs, string(run)), append(calls, string(run))
	}
	for i, run := range must(s.Runs(ctx, "s1"))(t) {
		if string(run.ID) != runs[i] {
			t.Errorf("run %d is the %s one", i+1, run.ID)
		}
	}
	for i, run := range must(s.Children(ctx, "first"))(t) {
		if string(run.ID) != runs[i+1] {
			t.Errorf("child %d is the %s one", i+1, run.ID)
		}
	}
	for i, call := range must(s.ToolCalls(ctx, "first"))(t) {
		if string(call.ID) != calls[i] {
			t.Errorf("call %d is the %s one", i+1, call.ID)
		}
	}
	for i, m := range must(s.Messages(ctx, "first"))(t) {
		if m.Seq != i+1 {
			t.Errorf("message %d has the number %d", i+1, m.Seq)
		}
	}
	for i, e := range must(s.Events(ctx, "s1", 0, 0))(t) {
		if e.Seq != uint64(i+1) || string(e.Run) != runs[i] {
			t.Errorf("event %d is %+v", i+1, e)
		}
	}
}
