package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/event"
)

// working is an open session on a folder with a root run and a child, both at work.
func working(id event.SessionID, folder string) Batch {
	root := event.RunID(id + "-root")
	now := time.Now()
	return Batch{
		Sessions: []Session{{ID: id, State: SessionOpen, Roots: []string{folder}, Created: now}},
		Runs: []Run{
			{
				ID: root, Session: id,
				Origin:  Origin{Chain: root},
				Ending:  Ending{Status: event.StatusRunning},
				Created: now,
			},
			{
				ID: event.RunID(id + "-child"), Session: id, Origin: Origin{Chain: root, Parent: root, Depth: 1},
				Ending: Ending{Status: event.StatusRunning}, Created: now,
			},
		},
		Messages: []Message{{ID: event.MessageID(id), Run: root}},
	}
}

func taken(t *testing.T, s *Store, roots ...string) []event.RunID {
	t.Helper()
	list := []event.RunID{}
	for _, run := range must(s.TakeInterrupted(testContext(t), roots))(t) {
		list = append(list, run.ID)
	}
	return list
}

// Interrupted runs are told of once, by whatever process is first, and only where their process has ended.
func TestTakeInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	ctx := testContext(t)
	former := must(Open(ctx, path, Options{}))(t)
	for _, id := range []event.SessionID{"one", "two", "resumed", "rewound"} {
		mustCommit(t, former, working(id, "/w"))
	}
	mustCommit(t, former, working("elsewhere", "/w2"))
	quiet := working("quiet", "/w")
	for i := range quiet.Runs {
		quiet.Runs[i].Status = event.StatusCompleted
	}
	mustCommit(t, former, quiet)
	abandon(t, former)
	living := openStore(t, path, Options{})
	mustCommit(t, living, working("living", "/w"))
	s := openStore(t, path, Options{})
	mustCommit(t, s, working("mine", "/w"))

	if got := taken(t, s, "/w"); len(got) != 0 {
		t.Errorf("runs that still count as alive were taken: %v", got)
	}
	if interrupted := must(s.MarkInterrupted(ctx))(t); len(interrupted) != 10 {
		t.Fatalf("%d runs were interrupted", len(interrupted))
	}
	mustCommit(t, s,
		Batch{
			Runs: []Run{{
				ID: "again", Session: "mine",
				Origin:  Origin{Chain: "resumed-root"},
				Ending:  Ending{Status: event.StatusRunning},
				Created: time.Now().Add(time.Second),
			}},
		})
	if err := s.SetRewound(ctx, true, "rewound-root", "two-root"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetRewound(ctx, false, "two-root"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]event.RunID{"one-root", "two-root"}, taken(t, s, "/w", "/other")); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
	for _, again := range []*Store{s, living} {
		if got := taken(t, again, "/w"); len(got) != 0 {
			t.Errorf("they were taken again: %v", got)
		}
	}
	if diff := cmp.Diff([]event.RunID{"elsewhere-root"}, taken(t, living, "/w2")); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
	for id, open := range map[event.SessionID]SessionState{
		"one": SessionClosed, "quiet": SessionClosed,
		"living": SessionOpen, "mine": SessionOpen,
	} {
		if row := must(s.Session(ctx, id))(t); row.State != open {
			t.Errorf("the session %s is %s", id, row.State)
		}
	}
	if !must(s.Resumable(ctx, "one-root"))(t) || must(s.Resumable(ctx, "one-child"))(t) {
		t.Error("the runs to resume are not those with messages")
	}
}

// Whoever wants to know is told which process has a session open.
func TestOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	ctx := testContext(t)
	former := must(Open(ctx, path, Options{Name: "an editor that dies"}))(t)
	mustCommit(t, former, working("dead", "/w"))
	abandon(t, former)
	one := openStore(t, path, Options{Name: "Neovim"})
	mustCommit(t, one, working("live", "/w"))
	s := openStore(t, path, Options{})
	closed := working("closed", "/w")
	closed.Sessions[0].State = SessionClosed
	mustCommit(t, s, closed)
	pid := os.Getpid()
	for id, want := range map[event.SessionID]Owner{
		"dead": {PID: pid}, "live": {PID: pid, Name: "Neovim", Alive: true},
		"closed": {},
	} {
		if diff := cmp.Diff(want, must(s.Owner(ctx, id))(t)); diff != "" {
			t.Errorf("the owner of %s (-want +got):\n%s", id, diff)
		}
	}
	own := must(one.Owner(ctx, "live"))(t)
	if !own.Own || !own.Alive || own.String() != fmt.Sprintf("Neovim (process %d)", pid) {
		t.Errorf("a process finds itself as %+v", own)
	}
	if _, err := s.Owner(ctx, "none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the owner of a session that is not there: %v", err)
	}
	if must(s.Deserted(ctx, "live"))(t) || !must(s.Deserted(ctx, "dead"))(t) {
		t.Error("the runs of a living process are deserted, or those of a dead one are not")
	}
	for id, want := range map[string]event.SessionID{"live-child": "live", "live": "live"} {
		if got := must(s.SessionOf(ctx, id))(t); got != want {
			t.Errorf("the session of %s is %s", id, got)
		}
	}
	if _, err := s.SessionOf(ctx, "none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the session of a run that is not there: %v", err)
	}
}
