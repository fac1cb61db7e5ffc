package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// tree is what is known, from its events, of one run of the user and of the runs below it. It belongs to the goroutine
// that reads the events.
type tree struct {
	root  *node
	nodes map[event.RunID]*node
}

// node is one run.
type node struct {
	id       event.RunID
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
	// prompt, uri and resumes say what the run was to do, on which file, and which run it resumes.
	prompt, uri string
	resumes     event.RunID
	// reason is what ended the run, if the run did not end by itself.
	reason string
	// outcome is how far the run's task is done, and files are the files that it changed, once it has ended.
	outcome event.ChildStatus
	files   []string
}

func newTree() *tree { return &tree{nodes: map[event.RunID]*node{}} }

// apply takes in one event. It ignores events of unknown runs.
func (t *tree) apply(e event.Event) {
	if created, ok := e.Body.(event.RunCreated); ok {
		n := &node{
			id: e.Run, prompt: created.Prompt, uri: created.URI, resumes: created.Resumes,
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
		n.message = fmt.Sprintf("asks again in %s: %s", duration(time.Duration(body.DelayMs)*time.Millisecond),
			body.Reason)
	case event.RunFinished:
		n.status, n.reason = body.Status, body.Reason
		n.message, n.outcome = "", event.Outcome(body.Status, body.Reason, body.Result.Result)
		if n.outcome != event.ChildStatusCompleted {
			n.message = body.Reason
		}
		line, _, _ := strings.Cut(strings.TrimSpace(body.Result.Output), "\n")
		if line != "" && n.depth > 0 { // the answer of the user's own run is printed elsewhere
			n.message = strings.TrimPrefix(n.message+": "+line, ": ")
		}
		n.usage, n.finished, n.failure = body.Usage, e.Time, body.Result.Error
		n.turns, n.files = body.Result.Turns, body.Result.Files
	}
}

// unfinished reports whether work was left undone: the user's run did not complete, or a run below it did not, and the
// run that started that one could not settle it.
func (t *tree) unfinished() bool { return t.root != nil && t.root.unfinished() }

// unmet reports whether a run with a check used up its passes, or stopped since they made no progress.
func (t *tree) unmet() bool {
	for _, n := range t.nodes {
		if n.depth <= 1 && (n.reason == "iterations" || n.reason == "no_progress") { // with --each, the runs per file
			return true
		}
	}
	return false
}

// leftOpen reports whether the user's own run, or one per file, completed although its task is not done: a limit or the
// length of an answer cut it short, or its last pass says so.
func (t *tree) leftOpen(perFile bool) bool {
	switch {
	case t.root == nil:
		return false
	case perFile:
		return slices.ContainsFunc(t.root.children, (*node).leavesOpen)
	}
	return t.root.leavesOpen()
}

// leavesOpen reports whether the task of a completed run is not done. If its passes are used up, the last pass says
// whether it is.
func (n *node) leavesOpen() bool {
	last := n
	if n.reason == "iterations" && len(n.children) > 0 {
		last = n.children[len(n.children)-1]
	}
	return n.status == event.StatusCompleted && last.outcome != event.ChildStatusCompleted
}

func (n *node) unfinished() bool {
	left := func(child *node) bool { return !n.settles(child) }
	return n.status != event.StatusCompleted || slices.ContainsFunc(n.children, left)
}

// settles reports whether a child leaves nothing to do: it is done, or was cancelled on purpose. If the run itself was
// cut off, the children for which it could not wait were cancelled, too, but not on purpose.
func (n *node) settles(child *node) bool {
	return child.status == event.StatusCancelled && n.reason == "" || n.done(child)
}

// done reports whether the work of a child was done, by the child or by a run that was started for the same work after
// it had ended.
func (n *node) done(child *node) bool {
	if !child.unfinished() {
		return true
	}
	after := n.children[slices.Index(n.children, child)+1:]
	return slices.ContainsFunc(after, func(later *node) bool { return later.repeats(child) && n.done(later) })
}

// repeats reports whether a run was started for the work of an ended run: to resume it, or with the same words on the
// same file.
func (n *node) repeats(former *node) bool {
	if former.finished.IsZero() || n.created.Before(former.finished) {
		return false
	}
	return n.resumes == former.id || n.uri == former.uri && (n.prompt == former.prompt || n.title == former.title)
}

// duration writes a short text: "0.4s", "12.0s", "3m05s", "1h02m".
func duration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// thousands writes a short text: "870", "1.2k", "45k", "1.3M".
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
