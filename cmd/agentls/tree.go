package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/price"
)

// tree is what the events of one user's run tell of it and of the runs below it. It belongs to the
// goroutine that reads the events.
type tree struct {
	root  *node
	nodes map[event.RunID]*node
}

// node is one run.
type node struct {
	parent   *node
	children []*node
	depth    int

	agent, title, model string
	status              event.Status
	message             string
	created, finished   time.Time
	usage               event.Usage
	findings            int
	failure             *event.Failure
}

func newTree() *tree { return &tree{nodes: map[event.RunID]*node{}} }

// apply takes in one event. Those of runs that it does not know are left out.
func (t *tree) apply(e event.Event) {
	if created, ok := e.Body.(event.RunCreated); ok {
		n := &node{
			depth: created.Depth, agent: created.Agent, title: created.Title, model: created.Model,
			status: event.StatusPending, created: e.Time,
		}
		if n.parent = t.nodes[created.Parent]; n.parent != nil {
			n.parent.children = append(n.parent.children, n)
		} else {
			t.root = n
		}
		t.nodes[e.Run] = n
		return
	}
	n := t.nodes[e.Run]
	if n == nil {
		return
	}
	switch body := e.Body.(type) {
	case event.RunStatusChanged:
		n.status, n.message = body.Status, body.Reason
	case event.RunProgress:
		n.usage, n.message = body.Usage, body.Message
	case event.ToolCallStarted:
		n.message = body.Title
	case event.ToolCallProgress:
		n.message = body.Message
	case event.RetryScheduled:
		n.message = fmt.Sprintf("asks again in %s: %s", duration(time.Duration(body.DelayMs)*time.Millisecond), body.Reason)
	case event.RunFinished:
		n.status, n.message = body.Status, ""
		n.usage, n.finished, n.failure = body.Usage, e.Time, body.Result.Error
	}
}

// unfinished reports whether any run of the tree ended otherwise than completed, or has not ended.
func (t *tree) unfinished() bool {
	for _, n := range t.nodes {
		if n.status != event.StatusCompleted {
			return true
		}
	}
	return false
}

// render draws the tree, one line for each run, none wider than width columns and at most height lines. Runs that
// have ended give way first where the height is too small.
func (t *tree) render(now time.Time, width, height int, color bool) []string {
	if t.root == nil || height < 1 {
		return nil
	}
	nodes := flatten(nil, t.root)
	if left := len(nodes) - height; left > 0 {
		left++ // the line that says so
		var kept []*node
		drop := left
		for _, n := range nodes {
			if drop > 0 && n.depth > 0 && n.status.Final() {
				drop--
				continue
			}
			kept = append(kept, n)
		}
		if drop > 0 {
			kept = kept[:len(kept)-min(drop, len(kept))]
		}
		nodes = kept
		return append(lines(nodes, now, width, color), fit(fmt.Sprintf("  … and %s", count(left, "more run")), width))
	}
	return lines(nodes, now, width, color)
}

func flatten(list []*node, n *node) []*node {
	list = append(list, n)
	for _, child := range n.children {
		list = flatten(list, child)
	}
	return list
}

func lines(nodes []*node, now time.Time, width int, color bool) []string {
	drawn := make([]string, len(nodes))
	for i, n := range nodes {
		drawn[i] = n.line(now, width, color)
	}
	return drawn
}

// line is one run: who, on what, its state, elapsed time, tokens, findings, and what it does now.
func (n *node) line(now time.Time, width int, color bool) string {
	head := strings.Repeat("  ", n.depth) + oneLine(n.agent)
	if n.title != "" {
		head += "  " + oneLine(n.title)
	}
	state := "  " + string(n.status)
	rest := ""
	for _, fact := range n.facts(now) {
		rest += "  " + fact
	}
	if n.message != "" {
		rest += "  " + oneLine(n.message)
	}
	// What does not fit beside each other shares the line.
	head = fit(head, max(width/2, width-columns(state+rest)))
	state = fit(state, width-columns(head))
	rest = fit(rest, width-columns(head+state))
	paint := painter(color)
	return head + paint(stateColor(n.status), state) + paint(dim, rest)
}

// facts are the numbers of a run.
func (n *node) facts(now time.Time) []string {
	end := n.finished
	if end.IsZero() {
		end = now
	}
	facts := []string{duration(max(0, end.Sub(n.created)))}
	if tokens := n.usage.InputTokens + n.usage.CachedTokens + n.usage.OutputTokens; tokens > 0 {
		facts = append(facts, thousands(tokens)+" tokens")
	}
	if cost := n.usage.Cost; cost != nil && *cost > 0 {
		facts = append(facts, price.Dollars(*cost))
	}
	if n.findings > 0 {
		facts = append(facts, count(n.findings, "finding"))
	}
	return facts
}

func stateColor(s event.Status) string {
	switch s {
	case event.StatusCompleted:
		return green
	case event.StatusRunning:
		return cyan
	case event.StatusFailed, event.StatusTimeout:
		return red
	case event.StatusCancelled, event.StatusInterrupted:
		return yellow
	}
	return dim
}

// duration is short: "0.4s", "12.0s", "3m05s", "1h02m".
func duration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// thousands is short: "870", "1.2k", "45k", "1.3M".
func thousands(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 10_000:
		return fmt.Sprintf("%.1fk", float64(n/100)/10)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n/100_000)/10)
}
