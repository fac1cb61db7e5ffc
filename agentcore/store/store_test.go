package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/event"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(victimEnv); path != "" {
		victim(path)
	}
	goleak.VerifyTestMain(m)
}

// watchdog ends a wait that would otherwise hang the test.
const watchdog = 4 * time.Minute

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	t.Cleanup(cancel)
	return ctx
}

func openStore(t testing.TB, path string, options Options) *Store {
	t.Helper()
	s, err := Open(testContext(t), path, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func newStore(t testing.TB) *Store {
	return openStore(t, filepath.Join(t.TempDir(), "state", "agentls.db"), Options{})
}

func mustCommit(t testing.TB, s *Store, b Batch) {
	t.Helper()
	if err := s.Submit(b).Wait(testContext(t)); err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// fill gives every field that is zero a value of its own, so that a column that is mixed up or
// forgotten shows.
func fill(v reflect.Value, next *int) {
	*next++
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			if v.IsZero() {
				v.Set(reflect.ValueOf(time.UnixMicro(1_800_000_000_000_000 + int64(*next)).UTC()))
			}
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), next)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"n": ` + strings.Repeat("1", *next%9+1) + `}`))
			return
		}
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		}
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.String:
		if v.Len() == 0 {
			v.SetString("ü\x00'\"\r\n" + strings.Repeat("x", *next))
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32:
		v.SetInt(int64(*next))
	case reflect.Int64:
		if v.Type() == reflect.TypeFor[time.Duration]() {
			v.SetInt(int64(*next) * int64(time.Millisecond))
			return
		}
		v.SetInt(1<<39 + int64(*next))
	case reflect.Float64:
		v.SetFloat(float64(*next) + 0.25)
	default:
		panic("fill cannot make a " + v.Type().String())
	}
}

func filled[T any](v T) T {
	next := 0
	fill(reflect.ValueOf(&v).Elem(), &next)
	return v
}

func TestRowsComeBackAsTheyWere(t *testing.T) {
	for name, make := range map[string]func() Batch{
		"full": func() Batch {
			return Batch{
				Sessions: []Session{filled(Session{ID: "s1"})},
				Runs: []Run{filled(Run{
					ID: "r1", Session: "s1",
					Origin: Origin{Parent: "r1"},
					Ending: Ending{Status: event.StatusRunning},
				})},
				Messages:   []Message{filled(Message{ID: "m1", Run: "r1"})},
				ToolCalls:  []ToolCall{filled(ToolCall{ID: "c1", Run: "r1"})},
				LayerFiles: []LayerFile{filled(LayerFile{Session: "s1", Run: "r1"})},
				Findings:   []Finding{filled(Finding{Session: "s1", Run: "r1"})},
				Proposals:  []Proposal{filled(Proposal{ID: "p1", Session: "s1"})},
				Hunks:      []Hunk{filled(Hunk{ID: "h1", Proposal: "p1", State: event.StateOpen})},
				Todos:      []TodoList{filled(TodoList{Run: "r1"})},
				Agents:     []Agent{filled(Agent{Slug: "a"})},
			}
		},
		"empty": func() Batch {
			return Batch{
				Sessions:   []Session{{ID: "s1"}},
				Runs:       []Run{{ID: "r1", Session: "s1"}},
				Messages:   []Message{{ID: "m1", Run: "r1"}},
				ToolCalls:  []ToolCall{{ID: "c1", Run: "r1"}},
				LayerFiles: []LayerFile{{Session: "s1"}},
				Findings:   []Finding{{Finding: event.Finding{ID: "f1"}, Session: "s1", Run: "r1"}},
				Proposals:  []Proposal{{ID: "p1", Session: "s1"}},
				Hunks:      []Hunk{{ID: "h1", Proposal: "p1"}},
				Todos:      []TodoList{{Run: "r1"}},
				Agents:     []Agent{{Slug: "a", Definition: json.RawMessage("{}")}},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, ctx := newStore(t), testContext(t)
			in := make()
			mustCommit(t, s, in)
			mustCommit(t, s, in) // a second time: the same rows, no more
			read := func() Batch {
				return Batch{
					Sessions:   []Session{must(s.Session(ctx, "s1"))(t)},
					Runs:       must(s.Runs(ctx, "s1"))(t),
					Messages:   must(s.Messages(ctx, "r1"))(t),
					ToolCalls:  must(s.ToolCalls(ctx, "r1"))(t),
					LayerFiles: must(s.LayerFiles(ctx, "s1"))(t),
					Findings:   must(s.Findings(ctx, FindingFilter{}))(t),
					Proposals:  must(s.Proposals(ctx, "s1"))(t),
					Hunks:      must(s.Hunks(ctx, "s1", ""))(t),
					Todos:      []TodoList{{Run: "r1", Items: must(s.Todos(ctx, "r1"))(t)}},
					Agents:     must(s.Agents(ctx))(t),
				}
			}
			if diff := cmp.Diff(in, read(), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("rows changed on the way (-in +out):\n%s", diff)
			}
			if diff := cmp.Diff(in.Runs[0], must(s.Run(ctx, "r1"))(t)); diff != "" {
				t.Fatalf("the run changed on the way (-in +out):\n%s", diff)
			}
		})
	}
}

func TestAgentsAreReplacedAndRemoved(t *testing.T) {
	s, ctx := newStore(t), testContext(t)
	first := Agent{
		Slug: "a", ID: "1", Definition: json.RawMessage(`{"name":"a"}`), Created: time.UnixMicro(5).UTC(),
		Updated: time.UnixMicro(5).UTC(),
	}
	second := first
	second.Definition, second.Created, second.Updated = json.RawMessage(`{"name":"a","order":1}`),
		time.UnixMicro(9).UTC(), time.UnixMicro(9).UTC()
	mustCommit(t, s, Batch{Agents: []Agent{first, {Slug: "b", Definition: json.RawMessage("{}")}}})
	mustCommit(t, s, Batch{Agents: []Agent{second}})
	second.Created = first.Created
	if diff := cmp.Diff([]Agent{second, {Slug: "b", Definition: json.RawMessage("{}")}},
		must(s.Agents(ctx))(t)); diff != "" {
		t.Errorf("the agents (-want +got):\n%s", diff)
	}
	// Removed and registered anew in one batch, it is new.
	second.Created = time.UnixMicro(12).UTC()
	mustCommit(t, s, Batch{AgentsRemoved: []string{"a", "b", "c"}, Agents: []Agent{second}})
	if diff := cmp.Diff([]Agent{second}, must(s.Agents(ctx))(t)); diff != "" {
		t.Errorf("the agents (-want +got):\n%s", diff)
	}
}

func TestUpsertReplaces(t *testing.T) {
	s, ctx := newStore(t), testContext(t)
	mustCommit(t, s, seed("s1"))
	call := ToolCall{ID: "s1-c", Run: "s1-r", Tool: "bash", Intent: time.UnixMicro(5).UTC()}
	mustCommit(t, s, Batch{ToolCalls: []ToolCall{call}})
	call.Status, call.Finished, call.Output = event.CallOK, time.UnixMicro(9).UTC(), strings.Repeat("ä", MaxOutput)
	mustCommit(t, s, Batch{
		ToolCalls: []ToolCall{call},
		Sessions:  []Session{{ID: "s1", Title: "renamed"}},
		Events:    []NewEvent{{Session: "s1", Body: event.Notice{}}},
	})
	calls := must(s.ToolCalls(ctx, "s1-r"))(t)
	if len(calls) != 1 || calls[0].Tool != "bash" || calls[0].Status != event.CallOK ||
		!calls[0].Finished.Equal(call.Finished) {
		t.Fatalf("the outcome is not there: %+v", calls)
	}
	if out := calls[0].Output; len(out) > MaxOutput || !strings.Contains(out, "cut") ||
		strings.ToValidUTF8(out, "?") != out {
		t.Fatalf("the output has %d bytes and is not cut well", len(out))
	}
	// The session's own row does not reset what hangs on it.
	mustCommit(t, s, Batch{Sessions: []Session{{ID: "s1", Title: "again"}}})
	if last := must(s.LastSeq(ctx, "s1"))(t); last != 2 {
		t.Fatalf("the last event number is %d", last)
	}
	if runs := must(s.Runs(ctx, "s1"))(t); len(runs) != 1 {
		t.Fatalf("the session has %d runs", len(runs))
	}
}

func TestCreatedStaysAsItWasFirst(t *testing.T) {
	s, ctx := newStore(t), testContext(t)
	for _, at := range []int64{0, 5, 9} { // none, the first, a later one
		var created time.Time
		if at > 0 {
			created = time.UnixMicro(at).UTC()
		}
		mustCommit(t, s, Batch{
			Sessions: []Session{{ID: "s1", Created: created, Updated: created}},
			Runs:     []Run{{ID: "r1", Session: "s1", Created: created, Completed: created}},
			Findings: []Finding{{
				Finding: event.Finding{ID: "f1"}, Session: "s1", Run: "r1", Created: created,
				Updated: created,
			}},
			Proposals: []Proposal{{ID: "p1", Session: "s1", Created: created, Updated: created}},
			Hunks:     []Hunk{{ID: "h1", Proposal: "p1", Created: created, Updated: created}},
			// This one is no time, and is replaced like the rest.
			LayerFiles: []LayerFile{{Session: "s1", Path: "/a", Created: at == 9, Updated: created}},
		})
	}
	session := must(s.Session(ctx, "s1"))(t)
	run := must(s.Run(ctx, "r1"))(t)
	finding := must(s.Findings(ctx, FindingFilter{}))(t)[0]
	proposal := must(s.Proposals(ctx, "s1"))(t)[0]
	hunk := must(s.Hunks(ctx, "s1", ""))(t)[0]
	for name, times := range map[string][2]time.Time{
		"session":  {session.Created, session.Updated},
		"run":      {run.Created, run.Completed},
		"finding":  {finding.Created, finding.Updated},
		"proposal": {proposal.Created, proposal.Updated},
		"hunk":     {hunk.Created, hunk.Updated},
	} {
		if first, last := times[0].UnixMicro(), times[1].UnixMicro(); first != 5 || last != 9 {
			t.Errorf("the %s was created at %d and changed at %d", name, first, last)
		}
	}
	if file := must(s.LayerFiles(ctx, "s1"))(t)[0]; !file.Created || file.Updated.UnixMicro() != 9 {
		t.Errorf("the layer file is %+v", file)
	}
}

// seed is a session with one run of every kind of row under it.
func seed(id event.SessionID) Batch {
	run := event.RunID(id + "-r")
	return Batch{
		Sessions:  []Session{{ID: id, Roots: []string{"/w"}, Updated: time.UnixMicro(1).UTC()}},
		Runs:      []Run{{ID: run, Session: id, Ending: Ending{Status: event.StatusRunning}}},
		Messages:  []Message{{ID: event.MessageID(id + "-m"), Run: run, Parts: json.RawMessage(`"conspicuous text"`)}},
		ToolCalls: []ToolCall{{ID: event.CallID(id + "-c"), Run: run, Output: "conspicuous text"}},
		LayerFiles: []LayerFile{
			{Session: id, Run: run, Path: "/w/a"},
			{Session: id, Path: "/w/a", Own: "conspicuous text"},
		},
		Findings: []Finding{{
			Finding: event.Finding{ID: event.FindingID(id + "-f"), URI: "file:///w/a"}, Session: id,
			Run: run, State: FindingOpen,
		}},
		Proposals: []Proposal{{ID: event.ProposalID(id + "-p"), Session: id}},
		Hunks: []Hunk{{
			ID: event.HunkID(id + "-h"), Proposal: event.ProposalID(id + "-p"),
			State: event.StateOpen,
		}},
		Todos:  []TodoList{{Run: run, Items: []event.Todo{{Text: "conspicuous text"}}}},
		Events: []NewEvent{{Session: id, Run: run, Body: event.Notice{Message: "conspicuous text"}}},
	}
}

func TestDeletedSessionLeavesNothing(t *testing.T) {
	s, ctx := newStore(t), testContext(t)
	mustCommit(t, s, seed("s1"))
	kept := seed("s2")
	kept.Messages, kept.ToolCalls, kept.LayerFiles, kept.Todos, kept.Events = nil, nil, nil, nil, nil
	mustCommit(t, s, kept)
	if err := s.DeleteSession(ctx, "s1"); err != nil {
		t.Fatal(err)
	}
	for _, table := range must(texts(ctx, s.readers, "SELECT name FROM sqlite_schema WHERE type = 'table'"))(t) {
		for _, column := range must(texts(ctx, s.readers, "SELECT name FROM pragma_table_info(?)", table))(t) {
			left := must(texts(ctx, s.readers, `SELECT "`+column+`" FROM "`+table+`" WHERE "`+column+`" GLOB 's1*'`))(t)
			if len(left) > 0 {
				t.Errorf("%s.%s still has %q", table, column, left)
			}
		}
	}
	for _, name := range []string{s.Path(), s.Path() + "-wal"} {
		if bytes.Contains(must(os.ReadFile(name))(t), []byte("conspicuous")) {
			t.Errorf("the text is still in %s", filepath.Base(name))
		}
	}
	if err := s.DeleteSession(ctx, "s1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleting it again: %v", err)
	}
	if runs := must(s.Runs(ctx, "s2"))(t); len(runs) != 1 {
		t.Errorf("the other session has %d runs", len(runs))
	}
}

func TestDeletedTextIsWipedWhenTheReaderHasGone(t *testing.T) {
	s, ctx := newStore(t), testContext(t)
	mustCommit(t, s, seed("s1"))
	mustCommit(t, s, Batch{Sessions: []Session{{ID: "s2"}}})
	tx := must(s.readers.BeginTx(ctx, nil))(t)
	var n int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM event").Scan(&n); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if err := s.DeleteSession(ctx, "s1"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	// Two transactions: the first one's end retries the wiping, the second one's commit comes after that.
	for range 2 {
		mustCommit(t, s, Batch{Sessions: []Session{{ID: "s2"}}})
	}
	for _, name := range []string{s.Path(), s.Path() + "-wal"} {
		if bytes.Contains(must(os.ReadFile(name))(t), []byte("conspicuous")) {
			t.Errorf("the text is still in %s", filepath.Base(name))
		}
	}
}

func TestFilters(t *testing.T) {
	s, ctx := newStore(t), testContext(t)
	finding := func(id, path string, session event.SessionID, state FindingState) Finding {
		return Finding{
			Finding: event.Finding{ID: event.FindingID(id), URI: event.FileURI(path)},
			Session: session, Run: event.RunID(session), State: state,
		}
	}
	mustCommit(t, s, Batch{
		Sessions: []Session{
			{ID: "s1", Roots: []string{"/a b"}, Updated: time.UnixMicro(1)},
			{ID: "s2", Roots: []string{"/x", "/a b"}, Updated: time.UnixMicro(3)},
			{ID: "s3", Roots: []string{"/a b/c"}, Updated: time.UnixMicro(2)},
		},
		Runs: []Run{{ID: "s1", Session: "s1"}, {ID: "s2", Session: "s2"}, {
			ID: "child", Session: "s1",
			Origin: Origin{Parent: "s1"},
		}},
		Findings: []Finding{
			finding("f1", "/a b/1.go", "s1", FindingOpen),
			finding("f2", "/a bc/1.go", "s1", FindingOpen),
			finding("f3", "/a b/sub/2.go", "s2", FindingOpen),
			finding("f4", "/a b/3.go", "s2", FindingOpen),
			finding("f5", "/a b.go", "s2", FindingOpen),
		},
		FindingsCleared: []ClearedFinding{{ID: "f4", Reason: "the line is gone", Time: time.UnixMicro(7)}},
		LayerFiles: []LayerFile{
			{Session: "s1", Path: "/1"},
			{Session: "s1", Path: "/2"},
			{Session: "s1", Run: "s1", Path: "/1"},
		},
	})
	ids := func(findings []Finding, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range findings {
			all = append(all, string(f.ID))
		}
		return strings.Join(all, " ")
	}
	for _, c := range []struct{ name, got, want string }{
		{"root", ids(s.OpenFindings(ctx, []string{"/a b"})), "f1 f3"},
		{"two roots", ids(s.OpenFindings(ctx, []string{"/a bc", "/a b/sub/"})), "f3 f2"},
		{"everything", ids(s.OpenFindings(ctx, []string{"/"})), "f5 f1 f3 f2"},
		{"no root", ids(s.OpenFindings(ctx, nil)), ""},
		{"session", ids(s.Findings(ctx, FindingFilter{Session: "s2"})), "f5 f4 f3"},
		{"run and file", ids(s.Findings(ctx, FindingFilter{Run: "s1", Root: "/a b/1.go"})), "f1"},
		{"cleared", ids(s.Findings(ctx, FindingFilter{State: FindingCleared})), "f4"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
	if cleared := must(s.Findings(ctx,
		FindingFilter{State: FindingCleared}))(t)[0]; cleared.Reason != "the line is gone" {
		t.Errorf("the reason is %q", cleared.Reason)
	}
	sessions := must(s.Sessions(ctx, SessionFilter{Roots: []string{"/a b"}}))(t)
	if len(sessions) != 2 || sessions[0].ID != "s2" || sessions[1].ID != "s1" {
		t.Errorf("the sessions of a root are %+v", sessions)
	}
	if all := must(s.Sessions(ctx, SessionFilter{Limit: 2}))(t); len(all) != 2 || all[1].ID != "s3" {
		t.Errorf("the last two sessions are %+v", all)
	}
	if children := must(s.Children(ctx, "s1"))(t); len(children) != 1 || children[0].ID != "child" {
		t.Errorf("the children are %+v", children)
	}
	if _, err := s.Run(ctx, "nobody"); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "run nobody") {
		t.Errorf("a run that does not exist: %v", err)
	}

	layers := func() int { return len(must(s.LayerFiles(ctx, "s1"))(t)) }
	mustCommit(t, s, Batch{LayerFilesRemoved: []LayerKey{{Session: "s1", Path: "/1"}}})
	if n := layers(); n != 2 {
		t.Errorf("%d layer files after one was removed", n)
	}
	mustCommit(t, s, Batch{LayerFilesRemoved: []LayerKey{{Session: "s1", Run: "s1"}}})
	if n := layers(); n != 1 {
		t.Errorf("%d layer files after a run's layer was removed", n)
	}
}

func TestTrimmedEventsKeepTheirNumbers(t *testing.T) {
	s, ctx := newStore(t), testContext(t)
	mustCommit(t, s, Batch{Sessions: []Session{{ID: "s1"}}})
	notice := Batch{Events: []NewEvent{{Session: "s1", Body: event.Notice{Message: "m"}}}}
	for range 5 {
		mustCommit(t, s, notice)
	}
	for _, keep := range []int{2, 0} {
		if err := s.TrimEvents(ctx, "s1", keep, math.MaxUint64); err != nil {
			t.Fatal(err)
		}
		events := must(s.Events(ctx, "s1", 0, 0))(t)
		if len(events) != keep || keep > 0 && events[0].Seq != 4 {
			t.Fatalf("after trimming to %d: %+v", keep, events)
		}
	}
	mustCommit(t, s, notice)
	if events := must(s.Events(ctx, "s1", 5, 1))(t); len(events) != 1 || events[0].Seq != 6 {
		t.Fatalf("the next event is %+v", events)
	}
	if events := must(s.Events(ctx, "s1", 1<<63, 1))(t); len(events) != 0 {
		t.Fatalf("after a number that is too large come %+v", events)
	}
}

func TestFilesAreForTheUserAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "a?b%20#.db")
	s := openStore(t, path, Options{})
	mustCommit(t, s, seed("s1"))
	names := must(os.ReadDir(filepath.Dir(path)))(t)
	if len(names) != 4 { // the file, its log and index, the owners
		t.Errorf("the folder holds %v", names)
	}
	for _, entry := range names {
		info := must(entry.Info())(t)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", entry.Name(), info.Mode())
		}
	}
	if mode := must(os.Stat(filepath.Dir(path)))(t).Mode().Perm(); mode != 0o700 {
		t.Errorf("the folder has mode %v", mode)
	}

	wide := filepath.Join(dir, "wide.db")
	if err := os.WriteFile(wide, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	openStore(t, wide, Options{})
	if mode := must(os.Stat(wide))(t).Mode().Perm(); mode != 0o600 {
		t.Errorf("a file that others could read has mode %v", mode)
	}
	if _, err := Open(testContext(t), dir, Options{}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a folder in place of the file: %v", err)
	}
}

func TestClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := must(Open(testContext(t), path, Options{}))(t)
	var commits []*Commit
	commits = append(commits, s.Submit(Batch{Sessions: []Session{{ID: "s1"}}}))
	for range 100 {
		commits = append(commits, s.Submit(Batch{Events: []NewEvent{{Session: "s1", Body: event.Notice{}}}}))
	}
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			if err := s.Close(testContext(t)); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	wait.Wait()
	for _, c := range commits {
		select {
		case <-c.Done():
		default:
			t.Fatal("Close did not drain the queue")
		}
		if err := c.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Submit(Batch{}).Wait(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("submit after close: %v", err)
	}
	if err := s.DeleteSession(t.Context(), "s1"); !errors.Is(err, ErrClosed) {
		t.Errorf("delete after close: %v", err)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a log was left behind: %v", err)
	}
	again := openStore(t, path, Options{})
	if last := must(again.LastSeq(t.Context(), "s1"))(t); last != 100 {
		t.Errorf("the last event number is %d", last)
	}
}
