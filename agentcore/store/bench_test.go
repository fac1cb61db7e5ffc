package store

import (
	"context"
	"fmt"
	"path/filepath"
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
