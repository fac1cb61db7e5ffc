package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
)

// BenchmarkSessions lists the latest of 2,000 sessions, and all of them. Each has one run and two messages; a third of
// them are of another folder. The baseline is the list of a store without any.
func BenchmarkSessions(b *testing.B) {
	const sessions = 2000
	full, empty := newDesk(b, nil), newDesk(b, nil)
	full.finish(full.start("sessions", "list")) // makes the database
	s, err := store.Open(full.ctx, filepath.Join(full.state, "agentls.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var last *store.Commit
	for i := range sessions {
		root, created := full.dir, time.UnixMicro(int64(1_700_000_000_000_000+i*1_000_000)).UTC()
		if i%3 == 0 {
			root = filepath.Join(full.home, "other")
		}
		session, run := event.SessionID(fmt.Sprintf("s%05d", i)), event.RunID(fmt.Sprintf("r%05d", i))
		batch := store.Batch{
			Sessions: []store.Session{{
				ID: session, Title: "Say what a.go is for", Roots: []string{root}, State: store.SessionClosed,
				Agent: "coder", Created: created, Updated: created,
			}},
			Runs: []store.Run{{
				ID: run, Session: session,
				Origin: store.Origin{Chain: run},
				Agent:  "coder", Role: "main",
				Ending:  store.Ending{Status: event.StatusCompleted, Response: strings.Repeat("It reads. ", 100)},
				Request: strings.Repeat("Say what a.go is for. ", 20),
				Created: created, Completed: created,
			}},
		}
		for seq, role := range []string{"user", "assistant"} {
			batch.Messages = append(batch.Messages, store.Message{
				ID: event.NewMessageID(), Run: run, Seq: seq + 1, Role: role, Time: created,
				Parts: json.RawMessage(`[{"kind":"text","textPart":{"text":"` + strings.Repeat("word ", 200) + `"}}]`),
			})
		}
		last = s.Submit(batch)
	}
	if err := errors.Join(last.Wait(full.ctx), s.Close(full.ctx)); err != nil {
		b.Fatal(err)
	}
	full.finish(full.start("sessions", "list"))
	empty.finish(empty.start("sessions", "list"))
	var listed, all, none samples
	for b.Loop() {
		for _, c := range []struct {
			into *samples
			desk *desk
			args []string
		}{{&listed, full, nil}, {&all, full, []string{"--all", "--limit", "0"}}, {&none, empty, nil}} {
			begin := time.Now()
			c.desk.finish(c.desk.start(append([]string{"sessions", "list"}, c.args...)...))
			*c.into = append(*c.into, time.Since(begin))
		}
	}
	r := row{
		work: "sessions list", size: sessions, things: "sessions", figure: listed.median(), unit: "ms", beside: "none",
		floor: none.median(), budget: 30,
	}
	record(b, r)
	r.work, r.figure = "sessions list --all --limit 0", all.median()
	record(b, r)
}
