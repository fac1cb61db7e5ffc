package agentcore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/history"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/store"
)

// BenchmarkHistory lists among 200 sessions one of 10,000 messages in 100 runs, of which the longest has half of them,
// and reads the first page of that one's transcript, the last one, and a middle one.
func BenchmarkHistory(b *testing.B) {
	e, err := agentcore.Open(b.Context(), agentcore.Options{StateDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	encoded := func(parts ...model.Part) []byte {
		raw, err := model.EncodeParts(parts)
		if err != nil {
			b.Fatal(err)
		}
		return raw
	}
	text := strings.Repeat("What a model says in a few sentences, with some code. ", 20)
	fill := func(id string, runs, messages int) {
		now := time.Now()
		batch := store.Batch{
			Sessions: []store.Session{{
				ID: event.SessionID(id), Title: id, Roots: []string{"/w"},
				State: store.SessionClosed, Created: now, Updated: now,
			}},
		}
		add := func(run event.RunID, parent event.RunID, n int) {
			batch.Runs = append(batch.Runs, store.Run{
				ID: run, Session: event.SessionID(id),
				Origin: store.Origin{Parent: parent},
				Agent:  "coder", Role: "main", Request: text,
				Ending: store.Ending{Response: text, Status: event.StatusCompleted}, Created: now, Completed: now,
			})
			before := event.MessageID("")
			for i := range n {
				m := store.Message{
					ID: event.MessageID(fmt.Sprintf("%s-%d", run, i)), Run: run, Parent: before,
					Seq: i + 1, Role: "user", Parts: encoded(model.Text{Text: text}), Time: now,
				}
				if before = m.ID; i%2 == 1 {
					call := fmt.Sprintf("call_%d", i)
					m.Role, m.Parts = "assistant", encoded(model.Text{Text: text},
						model.Call{ID: call, Name: "read", Arguments: []byte(`{"path":"a.go"}`)})
					batch.ToolCalls = append(batch.ToolCalls, store.ToolCall{
						ID: event.CallID(m.ID + "c"), Run: run, Message: m.ID, ModelCall: call, Tool: "read",
						Status: event.CallOK, Output: text, Intent: now, Started: now, Finished: now,
					})
				}
				batch.Messages = append(batch.Messages, m)
			}
		}
		root := event.RunID(id + "-0")
		add(root, "", messages/2)
		for i := 1; i < runs; i++ {
			add(event.RunID(fmt.Sprintf("%s-%d", id, i)), root, messages/2/(runs-1))
		}
		if err := e.Store().Submit(batch).Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 200 {
		fill(fmt.Sprintf("small%d", i), 3, 20)
	}
	fill("large", 101, 10_000)
	measure := func(name string, do func() error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/op")
		})
	}
	measure("sessions", func() error {
		list, more, err := e.History().Sessions(b.Context(), history.Filter{Roots: []string{"/w"}, Limit: 100})
		if err == nil && (len(list) != 100 || !more || list[0].ID != "large" || list[0].Runs != 101) {
			err = fmt.Errorf("%d sessions, more %v", len(list), more)
		}
		return err
	})
	measure("session", func() error {
		_, tree, err := e.History().Tree(b.Context(), "large")
		if err == nil && len(tree) != 101 {
			err = fmt.Errorf("%d runs", len(tree))
		}
		return err
	})
	for name, after := range map[string]event.MessageID{"first": "", "middle": "large-0-2500", "last": "large-0-4890"} {
		measure("transcript/"+name, func() error {
			page, more, err := e.History().Transcript(b.Context(), "large-0", after, 200)
			if want := map[bool]int{true: 200, false: 109}[name != "last"]; err == nil &&
				(len(page) != want || more != (name != "last") || page[1].Calls == nil && page[0].Calls == nil) {
				err = fmt.Errorf("%d messages, more %v", len(page), more)
			}
			return err
		})
	}
}
