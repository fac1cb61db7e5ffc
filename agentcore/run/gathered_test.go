package run

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// TestGathered: the last words before a pause are published during that pause, in their order, and nothing is after the
// end.
func TestGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var got []string
		g := &gathered{publish: func(body event.Body) {
			mu.Lock()
			defer mu.Unlock()
			switch b := body.(type) {
			case event.TextDelta:
				got = append(got, b.Text)
			case event.ReasoningDelta:
				got = append(got, "("+b.Text+")")
			}
		}}
		published := func(want ...string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(got, want) {
				t.Errorf("published are %q, want %q", got, want)
			}
			got = nil
		}
		g.add("a", false)
		published("a")
		g.add("b", false)
		g.add("", false)
		g.add("c", false)
		published()
		<-time.After(deltaInterval)
		published("bc")
		g.add("d", false)
		g.add("e", true)
		published("d")
		g.add("f", true)
		<-time.After(deltaInterval)
		published("(ef)")
		<-time.After(time.Hour)
		g.add("g", false)
		published("g")
		g.add("h", false)
		g.end(true)
		published("h")
		g.end(true)
		<-time.After(time.Hour)
		published()

		broken := &gathered{publish: g.publish}
		broken.add("i", false)
		broken.add("j", false)
		broken.end(false)
		<-time.After(time.Hour)
		published("i")
		(&gathered{}).add("nobody is shown this", false)
	})
}
