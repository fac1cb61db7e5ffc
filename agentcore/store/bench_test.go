package store

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.db")
	for b.Loop() {
		s, err := Open(b.Context(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkCommit stores what a turn does, from several runs that each wait for their commits.
func BenchmarkCommit(b *testing.B) {
	for _, runs := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("runs=%d", runs), func(b *testing.B) {
			s := newStore(b)
			mustCommit(b, s, seed("s1"))
			jobs := make(chan int)
			var wait sync.WaitGroup
			for range runs {
				wait.Go(func() {
					for seq := range jobs {
						err := s.Submit(Batch{
							Messages: []Message{{ID: event.NewMessageID(), Run: "s1-r", Seq: seq + 1}},
							Events:   []NewEvent{{Session: "s1", Run: "s1-r", Body: event.TurnStarted{Turn: seq}}},
						}).Wait(context.Background())
						if err != nil {
							b.Error(err)
						}
					}
				})
			}
			seq := 0
			for b.Loop() {
				jobs <- seq
				seq++
			}
			close(jobs)
			wait.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}

// BenchmarkOpenLarge opens a file of 200 MB that was closed, and one that was not.
func BenchmarkOpenLarge(b *testing.B) {
	for _, clean := range []bool{true, false} {
		b.Run(fmt.Sprintf("clean=%v", clean), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "a.db")
			s, err := Open(b.Context(), path, Options{})
			if err != nil {
				b.Fatal(err)
			}
			text := json.RawMessage(`"` + strings.Repeat("what a model says ", 220) + `"`)
			mustCommit(b, s, Batch{Sessions: []Session{{ID: "s"}}, Runs: []Run{{ID: "r", Session: "s"}}})
			for i := range 50 {
				var batch Batch
				for j := range 1000 {
					batch.Messages = append(batch.Messages,
						Message{ID: event.NewMessageID(), Run: "r", Seq: i*1000 + j, Parts: text})
				}
				mustCommit(b, s, batch)
			}
			b.ReportMetric(float64(must(s.Size(b.Context()))(b))/1e6, "MB")
			for {
				s.suspect.Store(!clean)
				if err := s.Close(context.Background()); err != nil {
					b.Fatal(err)
				}
				if !b.Loop() {
					return
				}
				if s, err = Open(b.Context(), path, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
