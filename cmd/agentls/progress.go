package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/event"
)

// redrawInterval is the least time between two drawings of the live tree.
const redrawInterval = 100 * time.Millisecond

// progress shows on standard error how a run goes. On a terminal it is a tree that is drawn again and again, elsewhere
// a line for each event that matters; if it is quiet, it shows only warnings and errors. The goroutine that reads the
// events owns it. Between drawings the cursor stays below the tree, so that a process that dies leaves a usable
// terminal.
type progress struct {
	out   screen
	quiet bool
	tree  *tree

	drawn []int     // the columns of each line of the tree on the screen
	last  time.Time // of the last drawing
}

func (d *progress) live() bool { return d.out.terminal && !d.out.dumb && !d.quiet }

// show shows one event.
func (d *progress) show(e event.Event) {
	d.tree.apply(e)
	if line := d.line(e); line != "" {
		d.erase()
		d.write(line + "\n")
	}
	if d.live() && time.Since(d.last) >= redrawInterval {
		d.draw()
	}
}

// tick draws the tree again, as time has passed.
func (d *progress) tick() {
	if d.live() {
		d.draw()
	}
}

// end draws the tree for the last time.
func (d *progress) end() { d.tick() }

// draw asks for the size each time, so that the tree fits again soon after the user has changed it.
func (d *progress) draw() {
	width, height := d.out.size()
	style := style{color: d.out.color, ascii: d.out.ascii}
	lines := d.tree.render(time.Now(), width-1, height-1, style)
	var b strings.Builder
	b.WriteString(d.up())
	drawn := make([]int, len(lines))
	for i, line := range lines {
		drawn[i] = columns(bare(line))
		b.WriteString("\r" + line + "\x1b[K\n")
	}
	if len(d.drawn) > 0 {
		b.WriteString("\x1b[J")
	}
	d.write(b.String())
	d.drawn, d.last = drawn, time.Now()
}

// erase removes the tree from the screen, so that a line can be written in its place.
func (d *progress) erase() {
	if up := d.up(); up != "" {
		d.write(up + "\r\x1b[J")
		d.drawn = nil
	}
}

// up moves the cursor to the first line of the tree. When a window is made narrower, terminals break lines that have
// become too long.
func (d *progress) up() string {
	if len(d.drawn) == 0 {
		return ""
	}
	width, height := d.out.size()
	rows := 0
	for _, columns := range d.drawn {
		rows += max(1, (columns+width-1)/max(width, 1))
	}
	return fmt.Sprintf("\x1b[%dA", max(1, min(rows, height-1)))
}

// write writes a text. If standard error is gone, the run goes on without it.
func (d *progress) write(text string) { _, _ = fmt.Fprint(d.out, text) }

// maxSaid bounds how much of a run's last words the line about its end has, in columns; a tree has the terminal's
// width.
const maxSaid = 200

// line is what an event is worth telling in a line of its own, or "": notices alone where the tree says the rest.
func (d *progress) line(e event.Event) string {
	if _, ok := e.Body.(event.Notice); !ok && (d.quiet || d.live()) {
		return ""
	}
	return d.told(e)
}

// told is an event in a line, or "".
func (d *progress) told(e event.Event) string {
	if notice, ok := e.Body.(event.Notice); ok {
		return d.noticeLine(e, notice)
	}
	n := d.tree.nodes[e.Run]
	if n == nil {
		return ""
	}
	head := strings.Repeat("  ", n.depth) + oneLine(n.agent)
	switch body := e.Body.(type) {
	case event.RunCreated:
		return fmt.Sprintf("%s: %s (%s)", head, oneLine(n.title), oneLine(n.model))
	case event.RetryScheduled:
		return fmt.Sprintf("%s: %s", head, oneLine(n.message))
	case event.Compacted:
		return fmt.Sprintf("%s: shortened its conversation from about %d to %d tokens, so that it fits the model", head,
			body.TokensBefore, body.TokensAfter)
	case event.ToolCallFinished:
		if body.Status != event.CallOK {
			return fmt.Sprintf("%s: %s: %s: %s", head, oneLine(body.Tool), body.Status, oneLine(body.Summary))
		}
	case event.RunFinished:
		line := fmt.Sprintf("%s: %s: %s, %s", head, oneLine(n.title), n.outcome, strings.Join(n.facts(e.Time), ", "))
		if n.message != "" && n.message != string(n.outcome) {
			line += ": " + fit(oneLine(n.message), maxSaid)
		}
		return line
	}
	return ""
}

func (d *progress) noticeLine(e event.Event, notice event.Notice) string {
	if d.quiet && notice.Level == event.NoticeInfo {
		return ""
	}
	text := "agentls: "
	if n := d.tree.nodes[e.Run]; n != nil {
		text += oneLine(n.agent) + ": "
	}
	text += oneLine(notice.Message)
	if notice.Hint != "" {
		text += "; " + oneLine(notice.Hint)
	}
	return text
}
