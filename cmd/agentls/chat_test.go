package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model/script"
)

// fakeTerminal is a terminal whose user is the test.
type fakeTerminal struct {
	entries chan entry

	mu       sync.Mutex // guards all below
	said     string
	shown    showing
	past     []string
	complete completer
	news     chan struct{} // closed and replaced when something is shown
}

func (f *fakeTerminal) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.news)
	f.news = make(chan struct{})
}

func (f *fakeTerminal) say(text string) {
	f.change(func() { f.said += strings.TrimSuffix(text, "\n") + "\n" })
}
func (f *fakeTerminal) show(s showing)      { f.change(func() { f.shown = s }) }
func (f *fakeTerminal) typed() <-chan entry { return f.entries }
func (f *fakeTerminal) size() (int, int)    { return 80, 24 }
func (f *fakeTerminal) close() error        { return nil }

// chatCall is a chat under way.
type chatCall struct {
	*call
	*testing.T
	ctx      context.Context // which ends the process
	terminal *fakeTerminal
	model    *script.Script
	ended    chan int
	seen     int // how much of what was said was expected
}

// talk starts `agentls chat` in a folder with files.
func talk(t *testing.T, files map[string]string, turns string, args ...string) *chatCall {
	t.Helper()
	c := &chatCall{call: newCall(t, files, ""), T: t, ctx: t.Context()}
	c.begin(turns, args...)
	return c
}

// begin starts a chat, in the folder of the one before.
func (c *chatCall) begin(turns string, args ...string) {
	c.Helper()
	c.model = c.useScript(c.T, turns)
	c.terminal = &fakeTerminal{entries: make(chan entry, 8), news: make(chan struct{})}
	c.args, c.seen, c.ended = append([]string{"chat"}, args...), 0, make(chan int, 1)
	c.out.Reset()
	c.stdinTerminal, c.stdout.terminal = true, true
	c.openTerminal = func(past []string, complete completer) chatTerminal {
		c.terminal.change(func() { c.terminal.past, c.terminal.complete = past, complete })
		return c.terminal
	}
	go func() { c.ended <- c.run(c.ctx) }()
}

func (c *chatCall) types(lines ...string) {
	for _, line := range lines {
		c.terminal.entries <- entry{entered, line}
	}
}

func (c *chatCall) presses(kind entryKind) { c.terminal.entries <- entry{kind: kind} }

// sees waits until texts were said, one after the other.
func (c *chatCall) sees(texts ...string) {
	c.Helper()
	for _, text := range texts {
		c.until("said "+text, func() bool {
			at := strings.Index(c.terminal.said[c.seen:], text)
			if at >= 0 {
				c.seen += at + len(text)
			}
			return at >= 0
		})
	}
}

// until waits for what the terminal shows.
func (c *chatCall) until(what string, holds func() bool) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), watchdog)
	defer cancel()
	for {
		c.terminal.mu.Lock()
		done, news := holds(), c.terminal.news
		said := c.terminal.said
		c.terminal.mu.Unlock()
		if done {
			return
		}
		select {
		case <-news:
		case code := <-c.ended:
			c.Fatalf("the chat ended with %d, and never was %s:\n%s\n%s", code, what, said, c.err.String())
		case <-ctx.Done():
			c.Fatalf("never was %s:\n%s", what, said)
		}
	}
}

// ends expects the exit code.
func (c *chatCall) ends(want int) {
	c.Helper()
	if code := <-c.ended; code != want {
		c.Fatalf("exit code %d, want %d\n%s\n%s", code, want, c.terminal.said, c.err.String())
	}
	if err := c.model.Check(); err != nil {
		c.Error(err)
	}
}

// TestChat has each prompt follow the last one. What is typed while a run works is told to it, and its calls are lines.
func TestChat(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	c := talk(t, map[string]string{"a.go": "package a\n"}, `
turn
text "The first answer.\n\nIt has two paragraphs."
turn
expect messages 3
expect last Second?
text "I look.\n"
call read {"path": "a.go"}
turn
wait steered
call read {"path": "none.go"}
turn
expect last look at b.go, too
text Both read.
turn
expect messages 10
expect last /tmp/x is a path
text Third.
`, "--agent", "explore", "First?")
	c.sees("You talk with explore (offline). /help says",
		"> First?\n", "The first answer.\n\nIt has two paragraphs.\n", "explore, ")
	c.types("Second?")
	c.sees("> Second?\n", "I look.\n", "✓ read a.go  1 line\n")
	if err := c.model.Reached(t.Context(), "steered", 1); err != nil {
		t.Fatal(err)
	}
	c.until("at work", func() bool {
		return strings.Contains(strings.Join(c.terminal.shown.live, "\n"), "explore  Second?") &&
			strings.Contains(c.terminal.shown.hint, "Ctrl-C cancels it")
	})
	c.types("look at b.go, too", "/cost")
	c.sees("+ look at b.go, too\n", "+ /cost (waits for the end of the run)")
	c.model.Release("steered")
	c.sees("✗ read none.go  error: ", "Both read.\n", "> /cost\n", "completed")
	c.types("/tmp/x is a path")
	c.sees("Third.\n")
	c.types("/exit")
	c.ends(exitOK)
	if !strings.HasPrefix(c.out.String(), "`agentls chat --resume s") {
		t.Errorf("how to go on is not told: %q", c.out.String())
	}
}

// TestChatStreams shows a line that is not whole as it is written, and prints it once. Of an answer that begins anew
// the former pieces are void, and of one that came in no pieces nothing is lost.
func TestChatStreams(t *testing.T) {
	f := &fakeTerminal{news: make(chan struct{})}
	c := &chat{p: newCall(t, nil, "").process, f: &workFlags{}, terminal: f, heard: map[string]bool{}}
	turn := c.newTurn("r1")
	turn.take(event.Event{Run: "r1", Body: event.RunCreated{Agent: "coder", Title: "Go on."}})
	take := func(bodies ...event.Body) {
		for _, body := range bodies {
			turn.take(event.Event{Run: "r1", Body: body})
		}
		turn.draw()
	}
	for _, step := range []struct {
		bodies     []event.Body
		said, live string
	}{
		{[]event.Body{event.TextDelta{Text: "One.\n\nTwo"}}, "One.\n\n", "Two"},
		{[]event.Body{event.TextDelta{Text: " is\x1b[2J long"}}, "", `Two is\x1b[2J long`},
		{[]event.Body{event.TextDelta{Text: ".\n"}}, "Two is\\x1b[2J long.\n", ""},
		{[]event.Body{event.TextDelta{Text: "Three"}, event.MessageCommitted{
			Role: "assistant", Text: "One.\n\nTwo is\x1b[2J long.\nThree.",
		}}, "Three.\n", ""},
		{
			[]event.Body{event.TextDelta{Text: "Void"}, event.RetryScheduled{DelayMs: 1000, Reason: "overloaded"}},
			"Void\ncoder: asks again in 1.0s: overloaded\n", "",
		},
		{[]event.Body{event.MessageCommitted{Role: "assistant", Text: "Whole."}}, "Whole.\n", ""},
		{[]event.Body{event.MessageCommitted{Role: "tool", Text: "a result"}}, "", ""},
		{
			[]event.Body{
				event.TextDelta{Text: "I look. "},
				event.ToolCallStarted{Call: "c", Tool: "read", Title: "read a.go"},
				event.ToolCallFinished{Call: "c", Tool: "read", Status: event.CallOK, Summary: "3 lines"},
			},
			"I look.\n✓ read a.go  3 lines\n", "",
		},
	} {
		before := len(f.said)
		take(step.bodies...)
		if got := f.said[before:]; got != step.said {
			t.Errorf("%v: said is %q, want %q", step.bodies, got, step.said)
		}
		live := f.shown.live
		if got := strings.Join(live[:len(live)-1], "\n"); got != step.live {
			t.Errorf("%v: shown is %q, want %q", step.bodies, got, step.live)
		}
	}
}

// TestChatCancel cancels a run, and not the chat; without a run, the first ctrl-c warns and the second one leaves.
func TestChatCancel(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	c := talk(t, nil, `
turn
wait never
turn
expect last Then this.
text Done.
`, "--agent", "explore", "Think.")
	if err := c.model.Reached(t.Context(), "never", 1); err != nil {
		t.Fatal(err)
	}
	c.presses(stopped)
	c.sees("Cancelled. What it did so far is known to the next prompt.")
	c.types("Then this.")
	c.sees("Done.\n", "explore, ")
	c.presses(stopped)
	c.sees("Nothing is under way.")
	c.types("/nonsense")
	c.sees("there is no prompt /nonsense", "/help lists the commands")
	c.presses(stopped)
	c.sees("Nothing is under way.")
	c.presses(stopped)
	c.ends(exitInterrupted)
}

// TestChatLeaves ends the chat while a run works: by ctrl-d, by the end of the terminal, and by SIGTERM.
func TestChatLeaves(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for name, leave := range map[string]func(*chatCall){
		"ctrl-d": func(c *chatCall) { c.presses(left) },
		"hangup": func(c *chatCall) { close(c.terminal.entries) },
	} {
		c := talk(t, nil, "turn\nwait never\n", "--agent", "explore", "Think.")
		if err := c.model.Reached(t.Context(), "never", 1); err != nil {
			t.Fatal(err)
		}
		leave(c)
		c.ends(exitOK)
		if !strings.Contains(c.terminal.said, "Cancelled.") {
			t.Errorf("%s: %s", name, c.terminal.said)
		}
	}
	c := &chatCall{call: newCall(t, nil, ""), T: t}
	ctx, cancel := context.WithCancelCause(t.Context())
	c.ctx = ctx
	c.begin("turn\nwait never\n", "--agent", "explore", "Think.")
	if err := c.model.Reached(t.Context(), "never", 1); err != nil {
		t.Fatal(err)
	}
	cancel(interrupted{exitTerminated})
	c.ends(exitTerminated)
}

// TestChatAsks answers a question in the chat; what is typed is then no prompt, and is not kept.
func TestChatAsks(t *testing.T) {
	c := talk(t, nil, `
turn
call question {"questions":[{"question":"Which one?","options":[{"label":"Red"},{"label":"Blue"}]}]}
turn
expect result question "Which one?\n→ Blue"
text Blue it is.
`, "Ask me.")
	c.sees("coder asks: Which one?\n  1) Red\n  2) Blue\n", "Answer with a number, or in your own words:\n")
	c.until("asked", func() bool { return c.terminal.shown.sign == "? " && c.terminal.shown.passing })
	c.types(" ")
	c.sees("Answer with a number from 1 to 3, or in your own words:\n")
	c.types("2")
	c.sees("? 2\n", "Blue it is.\n", "coder, ")
	c.types("/exit")
	c.ends(exitOK)
	kept, err := os.ReadFile(filepath.Join(c.getenv("AGENTLS_STATE"), "chat_history"))
	if err != nil || string(kept) != "\"/exit\"\n" {
		t.Errorf("kept is %q, %v", kept, err)
	}
}

const chatEdits = `
turn
call write {"path": "b.txt", "content": "one\ntwo\n"}
call edit {"path": "a.txt", "old_string": "old", "new_string": "new"}
turn
text Proposed.
`

// TestChatProposals decides on what is proposed: nothing is written before, and --write writes at once.
func TestChatProposals(t *testing.T) {
	files := map[string]string{"a.txt": "old\n"}
	read := func(c *chatCall, name string) string {
		text, err := os.ReadFile(filepath.Join(c.dir, name))
		if err != nil {
			return ""
		}
		return string(text)
	}
	c := talk(t, files, chatEdits+`
turn
call edit {"path": "a.txt", "old_string": "new", "new_string": "newer"}
turn
text Again.
`, "Edit.")
	c.sees("✓ write b.txt", "2 proposed edits: /diff shows, /accept writes, /reject drops them\n",
		"changes a.txt  +1 -1\n")
	c.types("/diff")
	c.sees("-old\n+new\n", "+one\n+two\n")
	if read(c, "a.txt") != "old\n" || read(c, "b.txt") != "" {
		t.Error("something was written before it was accepted")
	}
	c.types("/accept now")
	c.sees("/accept takes no argument")
	c.types("/accept")
	c.sees("wrote a.txt\n", "wrote b.txt\n")
	if read(c, "a.txt") != "new\n" || read(c, "b.txt") != "one\ntwo\n" {
		t.Error("what was accepted is not written")
	}
	c.types("/accept", "More.")
	c.sees("nothing is proposed", "1 proposed edit: ")
	c.types("/reject", "/diff")
	c.sees("1 proposed edit dropped\n", "nothing is proposed")
	c.types("/exit")
	c.ends(exitOK)
	if read(c, "a.txt") != "new\n" {
		t.Error("what was rejected is written")
	}

	c = talk(t, files, chatEdits, "--write", "Edit.")
	c.sees("wrote a.txt\n", "wrote b.txt\n", "coder, ")
	c.types("/exit")
	c.ends(exitOK)
}

// TestChatGoesOn goes on with a former conversation and what it proposed, by its id or as the latest one, and begins a
// new one.
func TestChatGoesOn(t *testing.T) {
	c := talk(t, map[string]string{"a.txt": "old\n"}, chatEdits, "Edit it all.")
	c.sees("Proposed.\n", "coder, ")
	c.presses(left)
	c.ends(exitOK)
	_, rest, _ := strings.Cut(c.out.String(), "--resume ")
	id, rest, _ := strings.Cut(rest, "`")
	if rest != " goes on with this conversation, with its 2 proposed edits\n" {
		t.Errorf("how to go on is not told: %q", c.out.String())
	}
	c.begin(`
turn
expect messages 5
expect last What was it?
text Edits.
turn
expect messages 1
expect last New.
text I know nothing.
`, "--resume", id)
	c.sees("and go on with “Edit it all”", "2 proposed edits: ")
	if past := c.terminal.past; len(past) > 0 {
		t.Errorf("a prompt of the command line counts as typed: %q", past)
	}
	c.types("What was it?")
	c.sees("Edits.\n", "2 proposed edits: ")
	c.types("/new", "New.", "/agent explore")
	c.sees("goes on with the former one, with its 2 proposed edits.", "I know nothing.\n", "You talk with explore")
	c.types("/model nosuch/model")
	c.sees("> /model nosuch/model\n", "nosuch")
	c.types("/exit")
	c.ends(exitOK)

	c.begin("turn\nexpect messages 7\ntext Yes.\n", "--resume", id, "Was it?")
	c.sees("and go on with “", "Yes.\n", "2 proposed edits: ")
	if past := c.terminal.past; len(past) != 6 || past[0] != "What was it?" {
		t.Errorf("what was typed before is %q", past)
	}
	c.types("/reject", "/exit")
	c.ends(exitOK)

	c.begin("turn\nexpect messages 9\ntext Yes, yes.\n", "--continue", "--no-history", "Really?")
	c.sees("and go on with “Was it?”", "Yes, yes.\n", "coder, ")
	if past := c.terminal.past; len(past) > 0 {
		t.Errorf("%q is brought back, and should not", past)
	}
	c.types("/exit")
	c.ends(exitOK)
	if strings.Contains(c.terminal.said, "proposed edit") {
		t.Error("what was rejected is proposed again")
	}
}

// TestChatRefuses says what to do where nobody can type, and refuses what a conversation has settled.
func TestChatRefuses(t *testing.T) {
	c := newCall(t, nil, "", "chat", "--agent", "explore")
	for _, set := range []struct {
		change func()
		want   string
	}{
		{func() {}, "chat needs a terminal, but standard input is not one; run `agentls run \"PROMPT\"` instead"},
		{func() { c.stdinTerminal = true }, "chat needs a terminal, but standard output is not one; run `agentls run"},
		{func() { c.stdout.terminal, c.stdout.dumb = true, true }, "TERM is dumb; run `agentls run"},
		{
			func() { c.stdout.dumb = false; c.args = []string{"chat", "two", "words"} },
			"put it in quotes: `agentls chat \"two words\"`",
		},
		{func() { c.args = []string{"chat", "-c", "--agent", "explore"} }, "leave out --agent, or --continue"},
		{func() { c.args = []string{"chat", "--resume", "x", "--permission-mode", "plan"} }, "or --resume"},
		{func() { c.args = []string{"chat", "--resume", "x"} }, "\"x\""},
		{func() { c.args = []string{"chat", "--resume", "x", "-c"} }, "and --resume with x; leave one out"},
		{func() { c.args = []string{"chat", "--agent", "nobody"} }, "there is no agent \"nobody\""},
	} {
		set.change()
		c.err.Reset()
		c.must(t, exitUsage)
		if !strings.Contains(c.err.String(), set.want) {
			t.Errorf("%q is not told: %s", set.want, c.err.String())
		}
	}
}

// TestChatPrompts calls a prompt of a file by its name, while a run works, too, and completes names: of commands,
// prompts, files and folders. What calls nothing is refused, with what was meant.
func TestChatPrompts(t *testing.T) {
	c := &chatCall{call: newCall(t, map[string]string{"lib/one.go": "", "main.go": ""}, ""), T: t, ctx: t.Context()}
	file := filepath.Join(c.getenv("XDG_CONFIG_HOME"), "agentls", "prompts", "adopt.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("---\ndescription: Adopts it\n---\nAdopt $1 at once.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	astray := []byte("---\nagent: nobody\n---\nFor whom one talks with.\n")
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "astray.md"), astray, 0o600); err != nil {
		t.Fatal(err)
	}
	c.begin(`
turn
expect last Adopt it at once.
text Adopted.
`, "--agent", "explore")
	c.sees("You talk with explore")
	for _, test := range []struct{ typed, want string }{
		{"/a", "/accept |/agent |/adopt |/astray "},
		{"/ex", "/exit "},
		{"/as", "/astray "},
		{"see @ma", "see @main.go "},
		{"see @li", "see @lib/|see @lib/one.go "},
		{"see @lib/o", "see @lib/one.go "},
		{"see lib/o", ""},
	} {
		var got []string
		for _, f := range c.terminal.complete(t.Context(), test.typed, len(test.typed)) {
			if strings.HasPrefix(f.text, "/agentls") {
				continue // a skill that is built in
			}
			got = append(got, test.typed[:f.from]+f.text+test.typed[f.to:])
		}
		if strings.Join(got, "|") != test.want {
			t.Errorf("%s: %q, want %q", test.typed, got, test.want)
		}
	}
	c.types("/help", "/adopt it", "/acept", "/adpt it", "/nonsense")
	c.sees("Tab lists them", "> /adopt it\n", "Adopted.\n", "no command or prompt /acept, did you mean /accept?\n")
	c.sees("> /adpt it\n", "did you mean /adopt", "> /nonsense\n", "agentls: ")
	c.types("/exit")
	c.ends(exitOK)
}

// TestChatDelegates says of a child how it ends, in one line, and nothing of its calls.
func TestChatDelegates(t *testing.T) {
	c := talk(t, map[string]string{"a.go": "package a\n"}, `
turn
call task {"subagent_type":"explore","prompt":"Look at it.","description":"look"}
turn
call read {"path": "a.go"}
turn
text It is short.
turn
text All is short.
`, "Delegate.")
	c.sees("  explore: look: completed, ", ": It is short.\n", "All is short.\n", "coder, ")
	c.types("/exit")
	c.ends(exitOK)
	if n := strings.Count(c.terminal.said, "look"); n != 1 || strings.Contains(c.terminal.said, "read a.go") {
		t.Errorf("the child is told of %d times:\n%s", n, c.terminal.said)
	}
}
