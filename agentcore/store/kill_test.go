package store

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

const (
	victimEnv = "AGENTLS_TEST_STORE_VICTIM"
	// publishedLine starts the victim's lines that name a published event.
	publishedLine = "published"
)

var kills = flag.Int("kills", 20, "how often TestKilledWriterLosesNothing kills a writer")

// victim is the process that is killed: it stores events as fast as it can and prints the numbers that
// were acknowledged, and those of the events that were published. It ends only by being killed, or with
// an error.
func victim(path string) {
	fail := func(err error) {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	s, err := Open(context.Background(), path, Options{Committed: func(events []event.Event) {
		fmt.Println(publishedLine, events[len(events)-1].Seq)
	}})
	if err != nil {
		fail(err)
	}
	if s.Recovery() != nil {
		fail(fmt.Errorf("the file was damaged: %+v", s.Recovery()))
	}
	run := event.NewRunID()
	err = s.Submit(Batch{
		Sessions: []Session{{ID: "s1"}},
		Runs:     []Run{{ID: run, Session: "s1", Ending: Ending{Status: event.StatusRunning}}},
	}).Wait(context.Background())
	if err != nil {
		fail(err)
	}
	commits := make(chan *Commit, 64)
	go func() {
		for seq := 0; ; seq++ {
			commits <- s.Submit(Batch{
				Messages: []Message{{ID: event.NewMessageID(), Run: run, Seq: seq}},
				Events:   []NewEvent{{Session: "s1", Run: run, Body: event.TurnStarted{Turn: seq}}},
			})
		}
	}()
	for seq := 0; ; seq++ {
		if err := (<-commits).Wait(context.Background()); err != nil {
			fail(err)
		}
		fmt.Println(run, seq)
	}
}

func TestKilledWriterLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	for round := range *kills {
		run, acknowledged, published := killWriter(t, path, 20+round*17%200)
		s := must(Open(testContext(t), path, Options{}))(t)
		if s.Recovery() != nil {
			t.Fatalf("round %d: %+v", round, s.Recovery())
		}
		ctx := testContext(t)
		messages := must(s.Messages(ctx, run))(t)
		if len(messages) <= acknowledged {
			t.Fatalf("round %d: number %d was acknowledged, %d are there", round, acknowledged, len(messages))
		}
		events := must(s.Events(ctx, "s1", 0, 0))(t)
		if len(events) < published {
			t.Fatalf("round %d: event %d was published, %d are there", round, published, len(events))
		}
		turn := 0
		for i, e := range events {
			if e.Seq != uint64(i+1) {
				t.Fatalf("round %d: event %d has the number %d", round, i+1, e.Seq)
			}
			if started, ok := e.Body.(event.TurnStarted); ok && e.Run == run {
				if started.Turn != turn {
					t.Fatalf("round %d: turn %d is missing", round, turn)
				}
				turn++
			}
		}
		if turn != len(messages) {
			t.Fatalf("round %d: %d events for %d messages: a batch was torn", round, turn, len(messages))
		}

		interrupted := must(s.MarkInterrupted(ctx))(t)
		if len(interrupted) != 1 || interrupted[0].ID != run || interrupted[0].Status != event.StatusInterrupted {
			t.Fatalf("round %d: interrupted: %+v", round, interrupted)
		}
		if again := must(s.MarkInterrupted(ctx))(t); len(again) != 0 {
			t.Fatalf("round %d: interrupted twice: %+v", round, again)
		}
		if err := s.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// killWriter runs a victim, kills it after it acknowledged enough numbers, and returns the last number
// that it acknowledged, and that of the last event that it published.
func killWriter(t *testing.T, path string, enough int) (run event.RunID, acknowledged, published int) {
	t.Helper()
	command := exec.CommandContext(testContext(t), must(os.Executable())(t))
	command.Env = append(os.Environ(), victimEnv+"="+path)
	out := must(command.StdoutPipe())(t)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged = -1
	killed := false
	scanner := bufio.NewScanner(out)
	// After the kill, what is still in the pipe was said before it too. The last line may be torn; a torn
	// number is smaller than the one before it.
	for scanner.Scan() {
		who, number, found := strings.Cut(scanner.Text(), " ")
		n, err := strconv.Atoi(number)
		if !found || err != nil {
			if !killed {
				t.Fatalf("the writer said %q", scanner.Text())
			}
			break
		}
		if who == publishedLine {
			published = max(published, n)
			continue
		}
		run, acknowledged = event.RunID(who), max(acknowledged, n)
		if acknowledged >= enough && !killed {
			killed = true
			if err := command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = command.Wait() // it was killed
	if !killed || published == 0 {
		t.Fatalf("the writer ended after number %d and event %d", acknowledged, published)
	}
	return run, acknowledged, published
}

func TestRunsOfLivingProcessesAreNotInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	living, dead := openStore(t, path, Options{}), must(Open(testContext(t), path, Options{}))(t)
	ctx := testContext(t)
	var p published
	third := openStore(t, path, Options{Committed: p.add})
	mustCommit(t, living, Batch{
		Sessions: []Session{{ID: "s1"}},
		Runs:     []Run{{ID: "lives", Session: "s1", Ending: Ending{Status: event.StatusWaiting}}},
	})
	mustCommit(t, dead, Batch{Runs: []Run{
		{ID: "child", Session: "s1", Origin: Origin{Depth: 1}, Ending: Ending{Status: event.StatusPending}},
		{ID: "root", Session: "s1", Ending: Ending{Status: event.StatusRunning}},
		{ID: "done", Session: "s1", Ending: Ending{Status: event.StatusCompleted}},
		{ID: "adopted", Session: "s1", Ending: Ending{Status: event.StatusRunning}},
	}})
	mustCommit(t, living, Batch{Runs: []Run{{
		ID: "adopted", Session: "s1",
		Ending: Ending{Status: event.StatusRunning},
	}}})
	if err := dead.Close(ctx); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, run := range must(third.MarkInterrupted(ctx))(t) {
		ids = append(ids, string(run.ID))
		stored := must(third.Run(ctx, run.ID))(t)
		if stored.Status != event.StatusInterrupted || stored.Reason != InterruptedReason ||
			!stored.Completed.Equal(run.Completed) {
			t.Errorf("stored: %+v", stored)
		}
	}
	if got := strings.Join(ids, " "); got != "root child" {
		t.Errorf("interrupted: %q", got)
	}
	events := p.all()
	if len(events) != 2 || events[1].Seq != 2 || events[1].Run != "child" {
		t.Errorf("published: %+v", events)
	}
	for _, e := range events {
		if body, ok := e.Body.(event.RunStatusChanged); !ok || body.Status != event.StatusInterrupted {
			t.Errorf("published: %+v", e)
		}
	}
}
