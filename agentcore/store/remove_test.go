package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

func TestSessionInUseIsNotDeleted(t *testing.T) {
	ctx := testContext(t)
	path := filepath.Join(t.TempDir(), "agentls.db")
	theirs := must(Open(ctx, path, Options{}))(t)
	ours := must(Open(ctx, path, Options{}))(t)
	defer func() {
		if err := ours.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	long := time.Now().Add(-time.Hour)
	mustCommit(t, theirs, Batch{Sessions: []Session{{ID: "s1", State: SessionOpen, Updated: long}}})
	mustCommit(t, ours,
		Batch{Sessions: []Session{
			{ID: "s2", State: SessionClosed, Updated: long},
			{ID: "s3", State: SessionClosed, Updated: time.Now()},
			{ID: "s4", State: SessionOpen, Updated: long},
		}})
	if err := ours.DeleteSession(ctx, "s1"); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v", err)
	}
	if _, err := ours.Session(ctx, "s1"); err != nil {
		t.Errorf("it is gone: %v", err)
	}
	finished := func() (ids []event.SessionID) {
		for _, row := range must(ours.Finished(ctx, time.Now().Add(-time.Minute)))(t) {
			ids = append(ids, row.ID)
		}
		return ids
	}
	if got := fmt.Sprint(finished()); got != "[s2]" {
		t.Errorf("finished are %s", got)
	}
	if err := theirs.Close(ctx); err != nil { // without having closed its session, as a killed process would
		t.Fatal(err)
	}
	if got := fmt.Sprint(finished()); got != "[s1 s2]" {
		t.Errorf("finished are %s", got)
	}
	if err := ours.DeleteSession(ctx, "s1"); err != nil {
		t.Error(err)
	}
}

// TestPromptGoesWithItsLastRun, also from a copy that was made before.
func TestPromptGoesWithItsLastRun(t *testing.T) {
	s, ctx := newStore(t), testContext(t)
	shared, own := PromptOf("You are both."), PromptOf("You are one.")
	mustCommit(t, s, Batch{
		Sessions: []Session{{ID: "s1"}, {ID: "s2"}}, Prompts: []Prompt{shared, own},
		Runs: []Run{
			{ID: "r1", Session: "s1", Prompt: shared.ID},
			{ID: "r2", Session: "s1", Prompt: own.ID},
			{ID: "r3", Session: "s2", Prompt: shared.ID},
		},
	})
	backup := s.Path() + ".v99-0.backup"
	if _, err := s.writer.conn.ExecContext(ctx, "VACUUM INTO ?", backup); err != nil {
		t.Fatal(err)
	}
	left := func() (list []Prompt) {
		for _, p := range []Prompt{shared, own} {
			if got, err := s.Prompt(ctx, p.ID); err == nil {
				list = append(list, got)
			} else if !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
		}
		return list
	}
	if got := left(); fmt.Sprint(got) != fmt.Sprint([]Prompt{shared, own}) {
		t.Errorf("there are %v", got)
	}
	if err := errors.Join(s.DeleteSession(ctx, "s1"), s.ForgetInCopies(ctx, "s1")); err != nil {
		t.Fatal(err)
	}
	if got := left(); fmt.Sprint(got) != fmt.Sprint([]Prompt{shared}) {
		t.Errorf("with one session there are %v", got)
	}
	if data := must(os.ReadFile(backup))(t); strings.Contains(string(data), own.Text) ||
		!strings.Contains(string(data), shared.Text) {
		t.Error("the copy has another prompt than the one that a run of it has")
	}
	if err := s.DeleteSession(ctx, "s2"); err != nil {
		t.Fatal(err)
	}
	if got := left(); len(got) != 0 {
		t.Errorf("without a session there are %v", got)
	}
}

// TestVacuum: the file shrinks, and what is left of it is whole.
func TestVacuum(t *testing.T) {
	s, ctx := newStore(t), testContext(t)
	mustCommit(t, s,
		Batch{
			Sessions: []Session{{ID: "s1"}, {ID: "s2"}},
			Runs: []Run{
				{ID: "r1", Session: "s1", Request: strings.Repeat("conspicuous ", 1<<18)},
				{ID: "r2", Session: "s2"},
			},
		})
	before := must(s.Size(ctx))(t)
	if err := s.DeleteSession(ctx, "s1"); err != nil {
		t.Fatal(err)
	}
	if after := must(s.Size(ctx))(t); after > before/10 {
		t.Errorf("%d bytes of %d are in use", after, before)
	}
	if err := s.Vacuum(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(ctx); err != nil { // which takes the log over
		t.Fatal(err)
	}
	if info := must(os.Stat(s.Path()))(t); info.Size() > before/5 {
		t.Errorf("the file has %d bytes of %d", info.Size(), before)
	}
	again := must(Open(ctx, s.Path(), Options{}))(t)
	defer func() {
		if err := again.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	if runs := must(again.Runs(ctx, "s2"))(t); len(runs) != 1 {
		t.Errorf("the other session has %d runs", len(runs))
	}
}
