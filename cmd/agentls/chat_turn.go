package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/feed"
)

// turn is the run of one prompt of a chat, while it works.
type turn struct {
	*chat
	run    event.RunID
	watch  *watch
	titles map[event.CallID]string // of the calls that are under way
	// said and pending are the answer that is being written: what is printed of it, and the line that is not whole.
	said, pending string
	// cut says that the user cancelled it, ends that the chat ends with it.
	cut, ends bool
	late      <-chan time.Time
}

func (c *chat) newTurn(run event.RunID) *turn {
	w := c.p.newWatch(c.f, c.engine)
	// Its lines come from the terminal, as everything that is typed.
	w.asks.in, w.asks.lines = c.p.stdin, make(chan typed)
	return &turn{chat: c, run: run, watch: w, titles: map[event.CallID]string{}}
}

// follow shows the run until it has ended, and hands on what the user types. When ctx ends it ends the run, and waits
// for that a bounded time.
func (t *turn) follow(ctx context.Context, events *feed.Subscription) error {
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	deliveries := deliver(reading, events)
	ticks := time.NewTicker(redrawInterval)
	defer ticks.Stop()
	ended, entries := ctx.Done(), t.terminal.typed()
	for {
		select {
		case d := <-deliveries:
			if d.err != nil {
				if t.cut && errors.Is(d.err, feed.ErrClosed) {
					return nil
				}
				return fmt.Errorf("follow the run: %w", d.err)
			}
			t.take(d.event)
			if _, finished := d.event.Body.(event.RunFinished); finished && d.event.Run == t.run {
				t.flush()
				return nil
			}
		case e, ok := <-entries:
			if !ok { // the terminal is gone
				entries, e.kind = nil, left
			}
			t.typed(e)
		case <-ticks.C:
			t.draw()
		case <-ended:
			ended, t.cut, t.ends = nil, true, true
			t.late = time.After(cancelTime)
			t.watch.end(ctx, t.run)
		case <-t.late:
			return errLate
		}
	}
}

// typed takes what the user did while the run works: an answer to what it asks, something more to tell it, or its end.
func (t *turn) typed(e entry) {
	switch e.kind {
	case stopped:
		if t.cut {
			t.say(dim, "It is being cancelled. Ctrl-D ends the chat without waiting for long.")
		}
		t.cancel()
	case left:
		t.ends = true
		t.cancel()
		t.late = time.After(cancelTime)
	case entered:
		if t.watch.asks.asking() {
			t.say(bold, "? "+visible(e.text))
			if hint := t.watch.asks.typed(typed{text: e.text}); hint != "" {
				t.terminal.say(hint)
			}
			break
		}
		t.keep(e.text)
		t.steer(strings.TrimSpace(e.text))
	}
	t.draw()
}

// cancel ends the run, and nothing else.
func (t *turn) cancel() {
	t.cut = true
	_ = t.engine.Cancel(t.run) // the only error is that there is no such run, and there is
}

// steer tells the run something more. Commands, and what comes too late for the run, wait for its end.
func (t *turn) steer(text string) {
	if _, _, ok := cutCommand(text); ok {
		t.queue = append(t.queue, text)
		t.say(dim, "+ "+visible(text)+" (waits for the end of the run)")
		return
	}
	err := t.engine.Steer(t.run, text)
	switch {
	case err == nil:
		t.say(bold, "+ "+strings.ReplaceAll(visible(text), "\n", "\n  "))
	case fault.Is(err, fault.NotAllowed), fault.Is(err, fault.NotFound):
		t.queue = append(t.queue, text)
		t.say(dim, "+ "+visible(text)+" (comes too late for this run, and is the next prompt)")
	default:
		t.p.complain(err)
	}
}

// take shows one event.
func (t *turn) take(e event.Event) {
	t.watch.progress.tree.apply(e)
	t.watch.note(e)
	switch body := e.Body.(type) {
	case event.AskOpened:
		t.question(t.watch.asks.opened(e.Session, body.Ask))
		return
	case event.AskResolved:
		t.question(t.watch.asks.resolved(body.Ask))
		return
	}
	n := t.watch.progress.tree.nodes[e.Run]
	switch {
	case n == nil:
		if _, ok := e.Body.(event.Notice); ok {
			t.line(e)
		}
	case e.Run == t.run:
		t.own(e)
	case n.depth > 0:
		switch e.Body.(type) {
		case event.RunFinished, event.Notice:
			t.line(e)
		}
	}
}

// line prints what `agentls run` tells of an event. A notice that each run of the conversation has is printed once.
func (t *turn) line(e event.Event) {
	text := t.watch.progress.told(e)
	if _, ok := e.Body.(event.Notice); ok {
		if t.heard[text] {
			return
		}
		t.heard[text] = true
	}
	if text != "" {
		t.flush()
		t.terminal.say(text)
	}
}

// question shows what the run asks.
func (t *turn) question(text string) {
	if text != "" {
		t.flush()
		t.terminal.say(text)
	}
	t.draw()
}

// own shows an event of the user's own run: its answer as it is written, and each call once it is over.
func (t *turn) own(e event.Event) {
	switch body := e.Body.(type) {
	case event.TextDelta:
		t.pending += body.Text
		if end := strings.LastIndexByte(t.pending, '\n'); end >= 0 {
			t.terminal.say(visible(t.pending[:end+1]))
			t.said, t.pending = t.said+t.pending[:end+1], t.pending[end+1:]
		}
	case event.TurnStarted:
		t.flush()
		t.said = "" // what is not committed is void
	case event.RetryScheduled:
		t.line(e)
		t.said = ""
	case event.MessageCommitted:
		if body.Role == "assistant" {
			t.committed(body.Text)
		}
	case event.ToolCallStarted:
		t.titles[body.Call] = body.Title
	case event.ToolCallFinished:
		if body.Tool != "task" || body.Status != event.CallOK { // how a child ends has a line of its own
			t.called(body)
		}
	case event.Compacted, event.Notice:
		t.line(e)
	}
}

// committed prints what is missing of an answer that is whole.
func (t *turn) committed(text string) {
	rest, ok := strings.CutPrefix(text, t.said)
	if !ok {
		rest = text // what was printed is void
	}
	t.said, t.pending = "", rest
	t.flush()
}

// flush prints what is pending of the answer.
func (t *turn) flush() {
	if text := strings.TrimRight(t.pending, " \t\r\n"); text != "" {
		t.terminal.say(visible(text))
		t.said += t.pending
	}
	t.pending = ""
}

// called prints a call in one line.
func (t *turn) called(body event.ToolCallFinished) {
	t.flush()
	marks, paint := style{ascii: t.p.stdout.ascii}.marks(), painter(t.p.stdout.color)
	mark := paint(green, marks.done)
	if body.Status != event.CallOK {
		mark = paint(red, marks.failed)
	}
	title := t.titles[body.Call]
	if title == "" {
		title = body.Tool
	}
	delete(t.titles, body.Call)
	text := oneLine(body.Summary)
	if body.Status != event.CallOK {
		text = strings.TrimSuffix(string(body.Status)+": "+text, ": ")
	}
	width, _ := t.terminal.size()
	title = fit(oneLine(title), max(width/2, width-5-columns(text)))
	t.terminal.say(mark + " " + title + paint(dim, fit("  "+text, width-3-columns(title))))
}

// maxPending is how many rows the line of the answer may take that is not whole.
const maxPending = 6

// draw shows what is under way: the line that is being written, and the runs.
func (t *turn) draw() {
	width, height := t.terminal.size()
	s := showing{sign: "> ", hint: "Enter tells it something more, Ctrl-C cancels it"}
	if t.watch.asks.asking() {
		s = showing{sign: "? ", hint: "your answer; Ctrl-C cancels the run", passing: true}
	}
	if t.pending != "" {
		rows := strings.Split(ansi.Wrap(visible(strings.ReplaceAll(t.pending, "\t", "    ")), width, ""), "\n")
		s.live = rows[max(0, len(rows)-maxPending):]
	}
	look := style{color: t.p.stdout.color, ascii: t.p.stdout.ascii}
	s.live = append(s.live, t.watch.progress.tree.render(time.Now(), width-1, max(1, height/3), look)...)
	t.terminal.show(s)
}

// conclude prints what came of the run, and writes it if the user wants that of all.
func (t *turn) conclude(ctx context.Context) error {
	t.terminal.show(showing{sign: "> "})
	r, err := gather(ctx, t.p.dir, t.session.Load(), t.watch, t.run)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, f := range r.findings {
		r.writeFinding(&b, f, t.p.stdout.color)
	}
	if b.Len() > 0 {
		t.terminal.say(b.String())
	}
	switch failure := r.failure(); {
	case r.outcome.Status == event.StatusCancelled:
		t.say(yellow, "Cancelled. What it did so far is known to the next prompt.")
	case failure != nil:
		t.p.complain(failure)
	}
	if t.f.write && len(r.edits) > 0 {
		refused, err := r.accept(ctx, t.session.Load())
		if err != nil {
			return err
		}
		t.written(r, refused)
	} else {
		t.proposals(r)
	}
	if n := t.watch.progress.tree.root; n != nil {
		t.say(dim, oneLine(n.agent)+", "+strings.Join(n.facts(time.Now()), ", ")+"\n\n")
	}
	return nil
}
