package run

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// passes is what an iterated run, which has no turns of its own, is told: the pass under way hears it at once, later
// ones in their tasks. It has its own lock.
type passes struct {
	mu    sync.Mutex
	open  bool
	now   *Run     // the pass under way; nil between two
	said  []string // everything, in order
	heard int      // how much of it a pass has heard
}

// steer tells the pass under way something, and reports false where no other pass can hear it any more.
func (p *passes) steer(from, text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.open {
		return false
	}
	p.said = append(p.said, fmt.Sprintf("<message from=%q>\n%s\n</message>", from, text))
	p.pass()
	return true
}

// pass hands what was said since to the pass under way, unless that has spoken its last word. The lock is held.
func (p *passes) pass() {
	for p.now != nil && p.heard < len(p.said) && p.now.tasks.inbox.put(message{text: p.said[p.heard]}) {
		p.heard++
	}
}

// begin lets messages in.
func (p *passes) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = true
}

// recall returns what was said so far, for the task of the next pass.
func (p *passes) recall() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = len(p.said)
	return slices.Clone(p.said)
}

// watch makes a run the pass under way, nil for none.
func (p *passes) watch(pass *Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = pass
	p.pass()
}

// end lets no more messages in, unless there are some that no pass has heard and another pass is possible: then it
// reports false.
func (p *passes) end(last bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.heard < len(p.said) && !last {
		return false
	}
	p.open = false
	return true
}

// meanwhile is what was said to the passes before, as a part of a task.
func meanwhile(said []string) string {
	if len(said) == 0 {
		return ""
	}
	return "\nWhat was said to the passes before, and holds for this one, too:\n" + strings.Join(said, "\n") + "\n"
}
