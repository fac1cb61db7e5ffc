package main

import (
	"fmt"
	"testing"
)

// TestStalledChild has a provider answer all children but one: the others end, and so does all of it when it is
// cancelled.
func TestStalledChild(t *testing.T) {
	const children = 24
	l := &loopback{turns: 3, tasks: children, stalls: "Read part 7 of"}
	d := newBench(t, 0, l)
	p := d.peer("serve", "--set", "max_children_per_session=3")
	root := decode[struct{ Session, Run string }](t,
		p.call("agent/run", fmt.Sprintf(`{"agent":"coder","prompt":%q}`, delegates)))
	p.call("agent/subscribe", fmt.Sprintf(`{"session":%q,"since":0}`, root.Session))
	p.until(func() bool { return len(p.finished) == children-1 })
	p.mu.Lock()
	if !p.finished[root.Run].IsZero() {
		t.Error("the run has ended before its last child")
	}
	p.mu.Unlock()
	p.call("agent/cancel", fmt.Sprintf(`{"run":%q}`, root.Run))
	p.until(func() bool { return len(p.finished) == children+1 && !p.finished[root.Run].IsZero() })
	p.end()
}
