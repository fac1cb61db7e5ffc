package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agentls/agentls/agentcore/event"
)

var update = flag.Bool("update", false,
	"write the dump of a database of this version, where there is none; one that is there is never changed")

// dumpOf is a database of a version as a script, with rows in all tables.
func dumpOf(version int) string { return filepath.Join("testdata", fmt.Sprintf("v%d.sql", version)) }

// everything has rows for each table, with a value in each column.
func everything() Batch {
	at := func(n int64) time.Time { return time.UnixMicro(1_790_000_000_000_000 + n).UTC() }
	cost := 0.25
	used := event.Usage{InputTokens: 1000, OutputTokens: 200, CachedTokens: 30, Cost: &cost}
	own := event.Usage{InputTokens: 600, OutputTokens: 150, CachedTokens: 20, Cost: &cost}
	prompt, exit := PromptOf("You write code; it's \"good\"."), 1
	return Batch{
		Prompts: []Prompt{prompt},
		Sessions: []Session{
			{
				ID: "s1", Title: "Fix the parser; it's \"broken\"", Summary: "The parser was fixed.",
				Roots: []string{"/w/one", "/w/two"}, State: SessionOpen, Agent: "coder", Model: "anthropic/claude",
				PermissionMode: "accept_edits", Created: at(1), Updated: at(900),
			},
			{
				ID: "s2", Title: "A copy", Roots: []string{"/w/one"}, State: SessionClosed, ForkedFrom: "s1",
				Agent: "reviewer", Model: "offline", PermissionMode: "plan", Created: at(2), Updated: at(800),
			},
		},
		Runs: []Run{
			{
				ID: "r1", Session: "s1",
				Origin: Origin{
					ParentMessage: "m0", ParentCall: "c0", Chain: "r1", RequestType: "prompt", ContextMode: "none",
					ContextTokens: 12,
				},
				Agent: "coder",
				Role:  "main", Title: "Fix it", URI: "file:///w/one/a.go", Model: "anthropic/claude",
				Prompt: prompt.ID, Request: "Fix it,\nplease: ü",
				Ending: Ending{
					Response: "Done.", Summary: "Done", Result: json.RawMessage(`{"status":"completed"}`),
					Status: event.StatusRunning, Reason: "max_turns", Failure: json.RawMessage(`{"kind":"store"}`),
					FilesModified: json.RawMessage(`["/w/one/a.go"]`),
				},

				Bounds: Bounds{MaxTurns: 50, MaxDuration: 10 * time.Minute, MaxTokens: 5000, MaxCost: 1.5},
				Spent:  Spent{Turns: 3, Usage: used, Own: own, Duration: 1500 * time.Millisecond},

				Permissions: json.RawMessage(`{"tools":["read"]}`), Proposal: "p1", Created: at(3), Started: at(4),
				Completed: at(5),
				Unread:    json.RawMessage(`["Be quick."]`),
			},
			{
				ID: "r2", Session: "s1",
				Origin: Origin{
					Parent: "r1", ParentMessage: "m2", ParentCall: "c1", Chain: "r1", Depth: 1,
					RequestType: "delegation", ContextMode: "summary", Background: true,
				},
				Agent: "explore", Role: "explore", Title: "Look", URI: "file:///w/one", Model: "offline",
				Prompt: "explore", Request: "Look.",
				Ending: Ending{Status: event.StatusCompleted},
				Spent: Spent{
					Usage: event.NoUsage(), Own: event.NoUsage(), Turns: 1, BudgetUsed: 40, Duration: time.Second,
				},
				Created: at(6), Started: at(7), Completed: at(8),
			},
			{
				ID: "r3", Session: "s2",
				Origin: Origin{Chain: "r3", Copied: true},
				Agent:  "coder", Role: "main", Title: "Fix it", Model: "offline",
				Ending:  Ending{Status: event.StatusInterrupted, Reason: "the copy ends here"},
				Spent:   Spent{Usage: event.NoUsage(), Own: event.NoUsage()},
				Created: at(9), Completed: at(10), Rewound: true,
			},
		},
		Messages: []Message{
			{
				ID: "m1", Run: "r1", Parent: "m0", Seq: 1, Role: "user",
				Parts: json.RawMessage(`[{"type":"text","text":"Fix it"}]`), Tokens: 4, Time: at(11),
			},
			{
				ID: "m2", Run: "r1", Parent: "m1", Seq: 2, Role: "assistant",
				Parts: json.RawMessage(`[{"type":"text","text":"I look."}]`), Tokens: 5,
				Duration: 1200 * time.Millisecond, Model: "anthropic/claude", Usage: used, Time: at(12),
			},
			{
				ID: "m3", Run: "r3", Parent: "m0", Seq: 1, Role: "assistant", Parts: json.RawMessage(`[]`), Tokens: 6,
				Time: at(13),
			},
		},
		ToolCalls: []ToolCall{
			{
				ID: "c1", Run: "r1", Message: "m2", ModelCall: "call_1", Tool: "bash",
				Arguments: json.RawMessage(`{"command":"go test ./..."}`), Title: "run go test", Effect: "acts",
				Intent: at(14), Started: at(15), Finished: at(16), Status: event.CallOK, Summary: "ok", Output: "ok\n",
				ExitCode: &exit,
			},
			{
				ID: "c2", Run: "r1", Message: "m2", ModelCall: "call_2", Tool: "read", Arguments: json.RawMessage(`{}`),
				Title: "read", Effect: "reads", Intent: at(17), Started: at(18),
			},
		},
		LayerFiles: []LayerFile{
			{
				Session: "s1", Run: "r1", Path: "/w/one/a.go", Base: "a\n", Own: "b\n", Created: true, Deleted: true,
				MovedFrom: "/w/one/b.go", Authors: json.RawMessage(`[{"run":"r1","agent":"coder","reason":"why"}]`),
				Stamp: "stamp", Updated: at(19),
			},
			{Session: "s1", Path: "/w/one/a.go", Base: "a\r\n", Own: "c\r\n", Stamp: "other", Updated: at(20)},
		},
		Findings: []Finding{{
			Finding: event.Finding{
				ID: "f1", URI: "file:///w/one/a.go",
				Span: event.Span{StartLine: 1, StartColumn: 2, EndLine: 3, EndColumn: 4}, Severity: event.SeverityError,
				Rule: "go/x", Message: "wrong", Source: "vet", Hunk: "h1",
			},
			Session: "s1", Run: "r1", Quote: "x := 1", State: FindingOpen, Reason: "none", Created: at(21),
			Updated: at(22),
		}},
		Proposals: []Proposal{{
			ID: "p1", Session: "s1", Run: "r1", Agent: "coder", Title: "Fix it",
			State: event.StateOpen, Created: at(23), Updated: at(24),
		}},
		Hunks: []Hunk{
			{
				ID: "h1", Proposal: "p1", Path: "/w/one/a.go", State: event.StateOpen, StartLine: 1, EndLine: 2,
				Before: "a\n", After: "b\n", Create: true, Delete: true, MoveTo: "/w/one/c.go", Detail: "why",
				PlaceStart: 1, PlaceEnd: 2, Above: "x\n", Below: "y\n", Stamp: "stamp", Run: "r1", Agent: "coder",
				Reason: "because", Created: at(25), Updated: at(26),
			},
		},
		Todos: []TodoList{
			{Run: "r1", Items: []event.Todo{{Text: "first", State: "done"}, {Text: "second", State: "pending"}}},
		},
		Asks: []Ask{{
			ID: "a1", Session: "s1", Run: "r1", Call: "c1", Tool: "bash", Title: "run go test",
			Arguments: json.RawMessage(`{"command":"go test"}`), State: AskAnswered, Decision: "allow", Scope: "run",
			Reason: "yes", Opened: at(27), Deadline: at(28), Resolved: at(29),
		}},
		Grants: []Grant{{
			ID: "g1", Scope: "project", Session: "s1", Run: "r1", Root: "/w/one", Tool: "bash",
			Pattern: "go test*", Decision: "allow", Created: at(30), Expires: at(31), Revoked: at(32),
		}},
		Trusted: []Trusted{{
			Root: "/w/one", Path: ".agentls/config.toml", Hash: "abc", Decision: "trust",
			Decided: at(33),
		}},
		Agents: []Agent{{
			Slug: "helper", ID: "id", Definition: json.RawMessage(`{"name":"helper"}`), Created: at(34),
			Updated: at(35),
		}},
		Events: []NewEvent{
			{Session: "s1", Run: "r1", Time: at(36), Body: event.TurnStarted{Turn: 1}},
			{Session: "s1", Time: at(37), Body: event.Notice{
				Level: event.NoticeWarning, Message: "careful",
				Hint: "or not",
			}},
		},
	}
}

// rawDatabase opens a file without any of this package's care.
func rawDatabase(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", event.FileURI(path))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// load makes a database of a dump.
func load(t *testing.T, script, path string) {
	t.Helper()
	db := rawDatabase(t, path)
	for _, text := range []string{"PRAGMA foreign_keys = 0", "PRAGMA journal_mode = WAL", script} {
		if _, err := db.ExecContext(testContext(t), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// tablesOf lists the tables of a database with their columns.
func tablesOf(ctx context.Context, t *testing.T, q querier) map[string][]string {
	t.Helper()
	tables := map[string][]string{}
	for _, name := range must(texts(ctx, q,
		`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`))(t) {
		tables[name] = must(texts(ctx, q, "SELECT name FROM pragma_table_info(?)", name))(t)
	}
	return tables
}

// rowsOf returns the rows of a table as a script writes their values, without an order.
func rowsOf(ctx context.Context, t *testing.T, q querier, table string, columns []string) []string {
	t.Helper()
	quoted := make([]string, len(columns))
	for i, column := range columns {
		quoted[i] = `quote("` + column + `")`
	}
	rows := must(texts(ctx, q, fmt.Sprintf(`SELECT %s FROM "%s"`, strings.Join(quoted, " || ', ' || "), table)))(t)
	slices.Sort(rows)
	return rows
}

// dump writes a database as a script, of which it keeps the tables and columns that the first steps make.
func dump(t *testing.T, db *sql.DB, steps []migration) string {
	ctx := testContext(t)
	shape := filepath.Join(t.TempDir(), "shape.db")
	s := must(open(ctx, shape, Options{}, steps))(t)
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	empty := rawDatabase(t, shape)
	var out strings.Builder
	fmt.Fprintf(&out,
		"-- A database of schema version %d, with rows in all tables. It is never changed: what was written by that "+
			"version must be read by all later ones.\n\n", len(steps))
	for _, definition := range must(texts(ctx, empty,
		`SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY rowid`))(
		t) {
		fmt.Fprintf(&out, "%s;\n", definition)
	}
	tables := tablesOf(ctx, t, empty)
	names := must(texts(ctx, empty, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid"))(t)
	for _, name := range names {
		for _, row := range rowsOf(ctx, t, db, name, tables[name]) {
			fmt.Fprintf(&out, "INSERT INTO \"%s\" (%s) VALUES (%s);\n", name, strings.Join(tables[name], ", "), row)
		}
	}
	fmt.Fprintf(&out, "PRAGMA user_version = %d;\n", len(steps))
	return out.String()
}

// TestEveryVersionIsRead upgrades a database of each version that there ever was: all rows are there, and the copy of
// before has them, too.
func TestEveryVersionIsRead(t *testing.T) {
	if *update {
		s := newStore(t)
		mustCommit(t, s, everything())
		if _, err := s.ClockSteady(testContext(t), time.UnixMicro(1_790_000_000_000_000)); err != nil {
			t.Fatal(err)
		}
		for version := 1; version <= len(embedded); version++ {
			if _, err := os.Stat(dumpOf(version)); err == nil {
				continue
			}
			script := dump(t, rawDatabase(t, s.Path()), embedded[:version])
			if err := os.WriteFile(dumpOf(version), []byte(script), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for version := 1; version <= len(embedded); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			script := must(os.ReadFile(dumpOf(version)))(t)
			dir := t.TempDir()
			before, path := filepath.Join(dir, "before.db"), filepath.Join(dir, "agentls.db")
			load(t, string(script), before)
			load(t, string(script), path)
			ctx := testContext(t)
			s := openStore(t, path, Options{})
			if s.Recovery() != nil {
				t.Fatalf("the file was repaired: %+v", s.Recovery())
			}
			former := rawDatabase(t, before)
			databases := map[string]*sql.DB{"the upgraded file": s.readers}
			copies := glob(t, fmt.Sprintf("%s.v%d-*.backup", path, version))
			if want := min(1, len(embedded)-version); len(copies) != want {
				t.Fatalf("there are the copies %q, want %d", copies, want)
			}
			for _, name := range copies {
				databases["the copy"] = rawDatabase(t, name)
			}
			for name, columns := range tablesOf(ctx, t, former) {
				want := rowsOf(ctx, t, former, name, columns)
				if len(want) == 0 {
					t.Errorf("the dump has no rows in %s", name)
				}
				for what, db := range databases {
					if diff := cmp.Diff(want, rowsOf(ctx, t, db, name, columns)); diff != "" {
						t.Errorf("%s of %s (-before +after):\n%s", name, what, diff)
					}
				}
			}
			readsEverything(t, s)
		})
	}
}

// readsEverything expects that the rows can be read as this version means them, and written.
func readsEverything(t *testing.T, s *Store) {
	t.Helper()
	ctx, want := testContext(t), everything()
	if got := must(s.Sessions(ctx, SessionFilter{Roots: []string{"/w/one"}}))(t); len(got) != 2 ||
		got[0].Title != want.Sessions[0].Title {
		t.Errorf("the sessions are %+v", got)
	}
	run := must(s.Run(ctx, "r1"))(t)
	if run.Request != want.Runs[0].Request || *run.Usage.Cost != 0.25 || run.Duration != want.Runs[0].Duration ||
		len(must(s.Children(ctx, "r1"))(t)) != 1 {
		t.Errorf("the run is %+v", run)
	}
	// Former versions had neither the time of an answer, what it used and whose it is, nor exit codes.
	if diff := cmp.Diff(want.Messages[:2], must(s.Messages(ctx, "r1"))(t),
		cmpopts.IgnoreFields(Message{}, "Duration", "Model", "Usage")); diff != "" {
		t.Errorf("the messages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.ToolCalls, must(s.ToolCalls(ctx, "r1"))(t),
		cmpopts.IgnoreFields(ToolCall{}, "ExitCode")); diff != "" {
		t.Errorf("the calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Findings, must(s.Findings(ctx, FindingFilter{}))(t)); diff != "" {
		t.Errorf("the findings (-want +got):\n%s", diff)
	}
	if got := must(s.Hunks(ctx, "s1", event.StateOpen))(t); len(got) != 1 || got[0].After != "b\n" ||
		got[0].PlaceStart != 1 {
		t.Errorf("the hunks are %+v", got)
	}
	if got := must(s.LayerFiles(ctx, "s1"))(t); len(got) != 2 || got[0].Own != "c\r\n" {
		t.Errorf("the layers are %+v", got)
	}
	if got := must(s.Events(ctx, "s1", 0, 0))(t); len(got) != 2 || got[1].Body != want.Events[1].Body {
		t.Errorf("the events are %+v", got)
	}
	if got := must(s.Todos(ctx, "r1"))(t); len(got) != 2 {
		t.Errorf("the todos are %+v", got)
	}
	if got := must(s.Agents(ctx))(t); len(got) != 1 || got[0].Slug != "helper" {
		t.Errorf("the agents are %+v", got)
	}
	if got := must(s.Usage(ctx, UsageFilter{By: UsageByAgent}))(t); got.Total.Runs != 2 { // the third is a copy
		t.Errorf("the usage is %+v", got)
	}
	mustCommit(t, s, seed("new"))
	if err := s.DeleteSession(ctx, "s1"); err != nil {
		t.Error(err)
	}
}

// TestFailedMigrationOfOldDatabase: the old database is as it was, with one copy beside it however often it was tried,
// and the former program reads it.
func TestFailedMigrationOfOldDatabase(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agentls.db")
	load(t, string(must(os.ReadFile(dumpOf(1)))(t)), path)
	ctx := testContext(t)
	broken := append(embedded[:len(embedded):len(embedded)],
		migration{"9999_broken.sql", "CREATE TABLE half (x); CREATE TABLE half (x)"})
	for range 3 {
		if _, err := open(ctx, path, Options{}, broken); err == nil ||
			!strings.Contains(err.Error(), "9999_broken.sql") || !strings.Contains(err.Error(), path) {
			t.Fatalf("a migration that fails: %v", err)
		}
	}
	copies := glob(t, path+".v1-*.backup")
	if len(copies) != 1 {
		t.Fatalf("copies: %q", copies)
	}
	for _, name := range []string{path, copies[0]} {
		old := must(open(ctx, name, Options{}, embedded[:1]))(t)
		if got := must(texts(ctx, old.readers, "SELECT id FROM run ORDER BY id"))(t); !slices.Equal(got,
			[]string{"r1", "r2", "r3"}) {
			t.Errorf("%s has the runs %q", name, got)
		}
		if err := old.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	readsEverything(t, openStore(t, path, Options{}))
}

// TestNewerDatabaseIsUntouched: the file is the same to the byte, and nothing is left beside it.
func TestNewerDatabaseIsUntouched(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agentls.db")
	load(t, string(must(os.ReadFile(dumpOf(len(embedded))))(t))+"CREATE TABLE future (x); PRAGMA user_version = 999;",
		path)
	before := must(os.ReadFile(path))(t)
	for range 2 {
		if _, err := Open(testContext(t), path, Options{}); !errors.Is(err, ErrNewer) ||
			!strings.Contains(err.Error(), "999") {
			t.Fatalf("open: %v", err)
		}
	}
	if !bytes.Equal(before, must(os.ReadFile(path))(t)) {
		t.Error("the file was changed")
	}
	if left := glob(t, filepath.Join(dir, "*")); !slices.Equal(left, []string{path, path + "-owners"}) {
		t.Errorf("there are %q", left)
	}
}
