package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
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
	turns               int
	// outcome is how far its task is done, and files are those that it changed, once it has ended.
	outcome event.ChildStatus
	files   []string
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
		n.usage, n.message, n.turns = body.Usage, body.Message, body.Turn
	case event.ToolCallStarted:
		n.message = body.Title
	case event.ToolCallProgress:
		n.message = body.Message
	case event.RetryScheduled:
		n.message = fmt.Sprintf("asks again in %s: %s", duration(time.Duration(body.DelayMs)*time.Millisecond), body.Reason)
	case event.RunFinished:
		n.status, n.message, n.outcome = body.Status, "", event.Outcome(body.Status, body.Reason, body.Result.Result)
		if n.outcome != event.ChildStatusCompleted {
			n.message = body.Reason
		}
		line, _, _ := strings.Cut(strings.TrimSpace(body.Result.Output), "\n")
		if line != "" && n.depth > 0 { // what the user's own run answers is printed
			n.message = strings.TrimPrefix(n.message+": "+line, ": ")
		}
		n.usage, n.finished, n.failure = body.Usage, e.Time, body.Result.Error
		n.turns, n.files = body.Result.Turns, body.Result.Files
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
