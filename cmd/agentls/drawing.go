package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/price"
)

// style is how a screen wants the tree drawn.
type style struct {
	color bool
	// ascii avoids marks and lines that the screen may not be able to show.
	ascii bool
}

// marks are what the tree is drawn with: a mark for each status, and lines from a run to its children.
type marks struct {
	spinner                                []string
	done, failed, cut, waits, starts       string
	branch, last, through, below, ellipsis string
}

var (
	unicodeMarks = marks{
		spinner: strings.Split("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", ""), done: "✓", failed: "✗", cut: "⊘", waits: "◌", starts: "○",
		branch: "├─ ", last: "└─ ", through: "│  ", below: "   ", ellipsis: "…",
	}
	asciiMarks = marks{
		spinner: strings.Split(`|/-\`, ""), done: "+", failed: "x", cut: "-", waits: ".", starts: "o",
		branch: "|- ", last: "`- ", through: "|  ", below: "   ", ellipsis: "~",
	}
)

func (s style) marks() marks {
	if s.ascii {
		return asciiMarks
	}
	return unicodeMarks
}

// narrow is the width below which children are only indented by a blank.
const narrow = 48

// render draws the tree with one line for each run. No line is wider than width columns, and there are at most height
// lines. Where the height is too small, children share a line that counts them: first those that are done, then those
// that wait, then the others.
func (t *tree) render(now time.Time, width, height int, s style) []string {
	if t.root == nil || height < 1 {
		return nil
	}
	d := drawing{now: now, width: width, style: s, marks: s.marks(), hidden: t.hide(height)}
	d.node(t.root, "", "")
	return d.lines[:min(len(d.lines), height)]
}

// drawing is one picture of the tree.
type drawing struct {
	now    time.Time
	width  int
	style  style
	marks  marks
	hidden map[*node]bool
	lines  []string
}

// node draws a run and those below it. own stands in front of the run's line, below in front of its children's.
func (d *drawing) node(n *node, own, below string) {
	d.lines = append(d.lines, d.line(n, own))
	var shown []*node
	rest := map[class]int{}
	for _, child := range n.children {
		if d.hidden[child] {
			rest[child.class()]++
		} else {
			shown = append(shown, child)
		}
	}
	branch, last, through, beyond := d.marks.branch, d.marks.last, d.marks.through, d.marks.below
	if d.width < narrow {
		branch, last, through, beyond = " ", " ", " ", " "
	}
	for i, child := range shown {
		if i == len(shown)-1 && len(rest) == 0 {
			d.node(child, below+last, below+beyond)
			continue
		}
		d.node(child, below+branch, below+through)
	}
	if len(rest) > 0 {
		d.lines = append(d.lines, d.fit(below+last+d.marks.ellipsis+" "+countClasses(rest), d.width))
	}
}

// line is one run: its state, who, on what, elapsed time, tokens, findings, and what it does now or waits for.
func (d *drawing) line(n *node, before string) string {
	mark, color := d.mark(n)
	head := oneLine(n.agent)
	if n.title != "" {
		head += "  " + oneLine(n.title)
	}
	state := ""
	switch {
	case n.outcome == event.ChildStatusCompleted, n.status == event.StatusRunning, n.waitsForChildren():
	default:
		state = "  " + cmp.Or(string(n.outcome), string(n.status))
	}
	rest := ""
	for _, fact := range n.facts(d.now) {
		rest += "  " + fact
	}
	if doing := n.doing(); doing != "" {
		rest += "  " + oneLine(doing)
	}
	// Parts that do not fit share the line.
	before = d.fit(before, max(0, d.width-2))
	left := max(0, d.width-columns(before)-columns(mark)-1)
	share := left / 2
	if d.width < narrow { // on a narrow screen, who works on what matters more than how long
		share = left * 3 / 4
	}
	head = d.fit(head, max(share, left-columns(state+rest)))
	state = d.fit(state, left-columns(head))
	rest = d.fit(rest, left-columns(head+state))
	paint := painter(d.style.color)
	return paint(dim, before) + paint(color, mark) + " " + head + paint(color, state) + paint(dim, rest)
}

// fit cuts a text to a width.
func (d *drawing) fit(text string, width int) string {
	text = fit(text, width)
	if d.style.ascii {
		text = strings.ReplaceAll(text, "…", d.marks.ellipsis)
	}
	return text
}

// mark is the sign of a run's status and its colour.
func (d *drawing) mark(n *node) (mark, color string) {
	switch n.status {
	case event.StatusCompleted:
		switch n.outcome {
		case event.ChildStatusCompleted:
			return d.marks.done, green
		case event.ChildStatusFailed:
			return d.marks.failed, red
		}
		return d.marks.cut, yellow
	case event.StatusFailed, event.StatusTimeout:
		return d.marks.failed, red
	case event.StatusCancelled, event.StatusInterrupted:
		return d.marks.cut, yellow
	case event.StatusWaiting:
		if !n.waitsForChildren() {
			return d.marks.waits, yellow
		}
	case event.StatusPending:
		return d.marks.starts, dim
	}
	frame := d.now.UnixMilli() / redrawInterval.Milliseconds() % int64(len(d.marks.spinner))
	return d.marks.spinner[frame], cyan
}

// waitsForChildren reports whether a run waits for those below it, by the reason that it gives. It waits for nobody
// else then.
func (n *node) waitsForChildren() bool {
	if n.status != event.StatusWaiting {
		return false
	}
	return strings.HasPrefix(n.message, "waits for ") && (strings.HasSuffix(n.message, " children") ||
		slices.ContainsFunc(n.children, func(c *node) bool { return n.message == "waits for "+c.agent }))
}

// doing is what a run does now, what it waits for, or why it ended.
func (n *node) doing() string {
	switch {
	case n.waitsForChildren():
		return ""
	case n.failure != nil && n.status != event.StatusCompleted:
		return n.failure.Detail
	}
	return n.message
}

// class orders runs by how little a user misses them when they are hidden.
type class int

const (
	classDone class = iota
	classWaiting
	classUnfinished
	classActive
)

// class returns the class of a run together with all runs below it.
func (n *node) class() class {
	own := classActive
	switch {
	case n.outcome == event.ChildStatusCompleted:
		own = classDone
	case n.status.Final():
		own = classUnfinished
	case n.status == event.StatusPending, n.status == event.StatusWaiting && !n.waitsForChildren():
		own = classWaiting
	}
	for _, child := range n.children {
		own = max(own, child.class())
	}
	return own
}

func countClasses(counts map[class]int) string {
	var list []string
	for c, word := range []string{"done", "waiting", "not done", "at work"} {
		if n := counts[class(c)]; n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, word))
		}
	}
	return strings.Join(list, ", ")
}

// hide chooses which children are hidden, so that the tree has at most height lines.
func (t *tree) hide(height int) map[*node]bool {
	over := len(t.nodes) - height
	if over <= 0 {
		return nil
	}
	type candidate struct {
		*node
		class class
	}
	var candidates []candidate
	for _, n := range flatten(nil, t.root)[1:] {
		candidates = append(candidates, candidate{n, n.class()})
	}
	// Of the ended runs, the oldest are hidden first, of the others the youngest.
	slices.SortStableFunc(candidates, func(a, b candidate) int {
		if a.class == b.class && (a.class == classDone || a.class == classUnfinished) {
			return a.finished.Compare(b.finished)
		}
		return cmp.Or(cmp.Compare(a.class, b.class), b.created.Compare(a.created))
	})
	hidden := map[*node]bool{}
	for at := 0; over > 0 && at < len(candidates); over = t.root.height(hidden) - height {
		next := min(at+over, len(candidates))
		for _, c := range candidates[at:next] {
			hidden[c.node] = true
		}
		at = next
	}
	return hidden
}

// height is how many lines a run takes with those below it.
func (n *node) height(hidden map[*node]bool) int {
	lines, rest := 1, 0
	for _, child := range n.children {
		if hidden[child] {
			rest = 1
			continue
		}
		lines += child.height(hidden)
	}
	return lines + rest
}

func flatten(list []*node, n *node) []*node {
	list = append(list, n)
	for _, child := range n.children {
		list = flatten(list, child)
	}
	return list
}

// facts are the numbers of a run.
func (n *node) facts(now time.Time) []string {
	end := n.finished
	if end.IsZero() {
		end = now
	}
	var facts []string
	if len(n.children) > 0 {
		ended := 0
		for _, child := range n.children {
			if child.status.Final() {
				ended++
			}
		}
		if ended < len(n.children) {
			facts = append(facts, fmt.Sprintf("%d/%d", ended, len(n.children)))
		}
	}
	facts = append(facts, duration(max(0, end.Sub(n.created))))
	if n.status.Final() && n.depth > 0 { // the output of the user's own run is printed
		if n.turns > 0 {
			facts = append(facts, count(n.turns, "turn"))
		}
		if len(n.files) > 0 {
			facts = append(facts, count(len(n.files), "file"))
		}
	}
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
