package run

import (
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// deltaInterval is how long pieces of an answer are gathered before they are published together.
const deltaInterval = 16 * time.Millisecond

// gathered are the pieces of one answer that are not published yet. The first piece after a silence is published at
// once, and further ones after [deltaInterval] at the latest, whether or not the model goes on: a model may pause for
// seconds, and the user reads its last words meanwhile.
type gathered struct {
	// publish is called with the lock held, so that the pieces stay in their order. It is nil where nobody is shown
	// them.
	publish func(event.Body)

	mu        sync.Mutex
	text      strings.Builder
	reasoning bool // what text is
	published time.Time
	timer     *time.Timer
	ended     bool
}

// add takes a piece of the answer, or of the reasoning before it.
func (g *gathered) add(text string, reasoning bool) {
	if text == "" || g.publish == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if reasoning != g.reasoning {
		g.flush()
		g.reasoning = reasoning
	}
	waits := g.text.Len() > 0
	g.text.WriteString(text)
	left := deltaInterval - time.Since(g.published)
	switch {
	case left <= 0:
		g.flush()
	case waits: // the timer runs
	case g.timer == nil:
		g.timer = time.AfterFunc(left, g.late)
	default:
		g.timer.Reset(left)
	}
}

// late is called by the timer.
func (g *gathered) late() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		g.flush()
	}
}

// flush publishes what is gathered. The lock is held.
func (g *gathered) flush() {
	if g.text.Len() == 0 {
		return
	}
	if g.reasoning {
		g.publish(event.ReasoningDelta{Text: g.text.String()})
	} else {
		g.publish(event.TextDelta{Text: g.text.String()})
	}
	g.text.Reset()
	g.published = time.Now()
}

// end publishes what is left of a whole answer, and nothing of one that broke off. Nothing is published after end.
func (g *gathered) end(whole bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.timer != nil {
		g.timer.Stop()
	}
	if whole && !g.ended {
		g.flush()
	}
	g.ended = true
}
