package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/event"
)

// began is when the runs of these tests began.
var began = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// grown is a tree with a root and children in several states.
func grown() *tree {
	t := newTree()
	at := func(second float64, run event.RunID, body event.Body) {
		t.apply(event.Event{Run: run, Time: began.Add(time.Duration(second * float64(time.Second))), Body: body})
	}
	at(0, "r0", event.RunCreated{Agent: "reviewer", Title: "review"})
	at(0, "r0", event.RunStatusChanged{Status: event.StatusRunning})
	at(0.5, "r1", event.RunCreated{Parent: "r0", Depth: 1, Agent: "reviewer", Title: "review a.go"})
	at(0.5, "r1", event.RunProgress{Usage: event.Usage{InputTokens: 1200, OutputTokens: 34}})
	at(2, "r1",
		event.RunFinished{Status: event.StatusCompleted, Usage: event.Usage{InputTokens: 1200, OutputTokens: 34}})
	at(1, "r2", event.RunCreated{Parent: "r0", Depth: 1, Agent: "reviewer", Title: "review b.go"})
	at(1, "r2", event.RunStatusChanged{Status: event.StatusRunning})
	at(1, "r2", event.ToolCallStarted{Tool: "read", Title: "read b.go\x1b[2J"})
	at(1.5, "r3", event.RunCreated{Parent: "r0", Depth: 1, Agent: "reviewer", Title: "review c.go"})
	at(1.5, "r3", event.RunStatusChanged{Status: event.StatusWaiting, Reason: "waits for a free place"})
	t.nodes["r1"].findings, t.nodes["r0"].findings = 2, 2
	return t
}

func TestRender(t *testing.T) {
	now := began.Add(64 * time.Second)
	for _, test := range []struct {
		name          string
		width, height int
		style         style
		want          string
	}{
		{"whole", 100, 10, style{}, `
⠋ reviewer  review  1/3  1m04s  2 findings
├─ ✓ reviewer  review a.go  1.5s  1.2k tokens  2 findings
├─ ⠋ reviewer  review b.go  1m03s  read b.go\x1b[2J
└─ ◌ reviewer  review c.go  waiting  1m02s  waits for a free place
`},
		{"ASCII", 100, 10, style{ascii: true}, `
| reviewer  review  1/3  1m04s  2 findings
|- + reviewer  review a.go  1.5s  1.2k tokens  2 findings
|- | reviewer  review b.go  1m03s  read b.go\x1b[2J
` + "`" + `- . reviewer  review c.go  waiting  1m02s  waits for a free place
`},
		{"narrow", 40, 10, style{ascii: true}, `
| reviewer  review  1/3  1m04s  2 findi~
 + reviewer  review a.go  1.5s  1.2k to~
 | reviewer  review b.go  1m03s  read b~
 . reviewer  review c.go  waiting  1m02~
`},
		{"low", 100, 3, style{}, `
⠋ reviewer  review  1/3  1m04s  2 findings
├─ ⠋ reviewer  review b.go  1m03s  read b.go\x1b[2J
└─ … 1 done, 1 waiting
`},
		{"lower", 100, 2, style{}, `
⠋ reviewer  review  1/3  1m04s  2 findings
└─ … 1 done, 1 waiting, 1 at work
`},
		{"lowest", 100, 1, style{}, `
⠋ reviewer  review  1/3  1m04s  2 findings
`},
		{"tiny", 3, 10, style{}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines := grown().render(now, test.width, test.height, test.style)
			if len(lines) > test.height {
				t.Errorf("%d lines, at most %d fit", len(lines), test.height)
			}
			for _, line := range lines {
				if columns(line) > test.width {
					t.Errorf("%q is wider than %d", line, test.width)
				}
			}
			if test.want == "" {
				return
			}
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), strings.Join(lines, "\n")+"\n"); diff != "" {
				t.Errorf("the lines differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRenderColor(t *testing.T) {
	got := grown().render(began.Add(3*time.Second), 100, 10, style{color: true})[1]
	want := "\x1b[2m├─ \x1b[0m\x1b[32m✓\x1b[0m reviewer  review a.go\x1b[2m  1.5s  1.2k tokens  2 findings\x1b[0m"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := bare(got); got != "├─ ✓ reviewer  review a.go  1.5s  1.2k tokens  2 findings" {
		t.Errorf("without colours it is %q", got)
	}
}

// TestRenderStates has runs in all states, two levels deep.
func TestRenderStates(t *testing.T) {
	tr := newTree()
	at := func(second float64, run event.RunID, body event.Body) {
		tr.apply(event.Event{Run: run, Time: began.Add(time.Duration(second * float64(time.Second))), Body: body})
	}
	at(0, "root", event.RunCreated{Agent: "coder", Title: "do"})
	at(0, "root", event.RunStatusChanged{Status: event.StatusWaiting, Reason: "waits for 2 children"})
	at(0, "deep", event.RunCreated{Parent: "root", Depth: 1, Agent: "general", Title: "mend"})
	at(0, "deep", event.RunStatusChanged{Status: event.StatusWaiting, Reason: "waits for tester"})
	for i, ended := range []struct {
		status event.Status
		reason string
	}{
		{event.StatusCompleted, ""},
		{event.StatusFailed, "error"},
		{event.StatusTimeout, "timeout"},
		{event.StatusCancelled, "cancelled by the user"},
		{event.StatusInterrupted, ""},
	} {
		id := event.RunID(fmt.Sprint("ended", i))
		at(0, id, event.RunCreated{Parent: "deep", Depth: 2, Agent: "tester", Title: string(ended.status)})
		finished := event.RunFinished{Status: ended.status, Reason: ended.reason}
		if ended.status == event.StatusFailed {
			finished.Result.Error = &event.Failure{Detail: "the key is wrong"}
		}
		at(1, id, finished)
	}
	for i, handed := range []event.ChildStatus{"failed", "partial", "completed"} {
		id, reason := event.RunID(fmt.Sprint("handed", i)), ""
		if handed == event.ChildStatusPartial {
			reason = "max_turns"
		}
		at(0, id, event.RunCreated{Parent: "deep", Depth: 2, Agent: "tester", Title: "hand"})
		at(1, id, event.RunFinished{Status: event.StatusCompleted, Reason: reason, Result: event.RunResult{
			Turns: 3, Output: "It builds.\nAll of it.",
			Files: []string{"a.go", "b.go"}, Result: &event.ChildResult{Status: handed},
		}})
	}
	at(0, "new", event.RunCreated{Parent: "deep", Depth: 2, Agent: "tester", Title: "new"})
	at(0, "asks", event.RunCreated{Parent: "root", Depth: 1, Agent: "bash", Title: "asks"})
	at(0, "asks", event.RunStatusChanged{Status: event.StatusWaiting, Reason: "waits for your answer"})
	want := `⠋ coder  do  0/2  2.0s
├─ ⠋ general  mend  8/9  2.0s
│  ├─ ✓ tester  completed  1.0s
│  ├─ ✗ tester  failed  failed  1.0s  the key is wrong
│  ├─ ✗ tester  timeout  timeout  1.0s  timeout
│  ├─ ⊘ tester  cancelled  cancelled  1.0s  cancelled by the user
│  ├─ ⊘ tester  interrupted  interrupted  1.0s
│  ├─ ✗ tester  hand  failed  1.0s  3 turns  2 files  It builds.
│  ├─ ⊘ tester  hand  partial  1.0s  3 turns  2 files  max_turns: It builds.
│  ├─ ✓ tester  hand  1.0s  3 turns  2 files  It builds.
│  └─ ○ tester  new  pending  2.0s
└─ ◌ bash  asks  waiting  2.0s  waits for your answer`
	if diff := cmp.Diff(want, strings.Join(tr.render(began.Add(2*time.Second), 100, 20, style{}), "\n")); diff != "" {
		t.Errorf("the lines differ (-want +got):\n%s", diff)
	}
}

// TestUnfinished has children that ended in every way: only what the run above did not settle counts.
func TestUnfinished(t *testing.T) {
	made := func(prompt string) event.RunCreated {
		return event.RunCreated{Parent: "root", Depth: 1, Agent: "general", Title: "of " + prompt, Prompt: prompt}
	}
	of := func(file string) event.RunCreated {
		created := made("Review it.")
		created.URI = file
		return created
	}
	resumes := func(id event.RunID) event.RunCreated {
		created := made("Go on.")
		created.Resumes = id
		return created
	}
	type child struct {
		id      event.RunID
		created event.RunCreated
		status  event.Status
		began   int // in seconds; each takes one
	}
	below := made("Part.")
	below.Parent = "a"
	for _, test := range []struct {
		name     string
		reason   string // of the root's end
		status   event.Status
		children []child
		want     bool
	}{
		{"nobody", "", event.StatusCompleted, nil, false},
		{"itself", "", event.StatusFailed, nil, true},
		{
			"cancelled on purpose", "", event.StatusCompleted,
			[]child{{"a", made("A."), event.StatusCancelled, 0}},
			false,
		},
		{
			"cut off with its parent", "max_turns", event.StatusCompleted,
			[]child{{"a", made("A."), event.StatusCancelled, 0}},
			true,
		},
		{"failed", "", event.StatusCompleted, []child{{"a", made("A."), event.StatusFailed, 0}}, true},
		{"timeout", "", event.StatusCompleted, []child{{"a", made("A."), event.StatusTimeout, 0}}, true},
		{
			"done anew", "", event.StatusCompleted,
			[]child{{"a", made("A."), event.StatusFailed, 0}, {"b", made("A."), event.StatusCompleted, 2}},
			false,
		},
		{
			"gone on with", "", event.StatusCompleted,
			[]child{{"a", made("A."), event.StatusTimeout, 0}, {"b", resumes("a"), event.StatusCompleted, 2}},
			false,
		},
		{"done at the third", "", event.StatusCompleted, []child{
			{"a", made("A."), event.StatusFailed, 0},
			{"b", resumes("a"), event.StatusFailed, 2},
			{"c", resumes("b"), event.StatusCompleted, 4},
		}, false},
		{
			"failed anew", "", event.StatusCompleted,
			[]child{{"a", made("A."), event.StatusFailed, 0}, {"b", made("A."), event.StatusFailed, 2}},
			true,
		},
		{
			"given up", "", event.StatusCompleted,
			[]child{{"a", made("A."), event.StatusFailed, 0}, {"b", made("A."), event.StatusCancelled, 2}},
			true,
		},
		{
			"other work", "", event.StatusCompleted,
			[]child{{"a", made("A."), event.StatusFailed, 0}, {"b", made("B."), event.StatusCompleted, 2}},
			true,
		},
		{
			"beside it", "", event.StatusCompleted,
			[]child{{"a", made("A."), event.StatusFailed, 0}, {"b", made("A."), event.StatusCompleted, 0}},
			true,
		},
		{
			"another file", "", event.StatusCompleted,
			[]child{{"a", of("file:///a"), event.StatusFailed, 0}, {"b", of("file:///b"), event.StatusCompleted, 2}},
			true,
		},
		{
			"below one that was cancelled", "", event.StatusCompleted,
			[]child{{"a", made("A."), event.StatusCancelled, 0}, {"b", below, event.StatusCancelled, 0}},
			false,
		},
		{
			"below one that is done", "", event.StatusCompleted,
			[]child{{"a", made("A."), event.StatusCompleted, 0}, {"b", below, event.StatusFailed, 0}},
			true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := newTree()
			at := func(second int, run event.RunID, body event.Body) {
				tr.apply(event.Event{Run: run, Time: began.Add(time.Duration(second) * time.Second), Body: body})
			}
			at(0, "root", event.RunCreated{Agent: "coder", Title: "do"})
			for _, c := range test.children {
				at(c.began, c.id, c.created)
			}
			for _, c := range test.children {
				at(c.began+1, c.id, event.RunFinished{Status: c.status})
			}
			at(9, "root", event.RunFinished{Status: test.status, Reason: test.reason})
			if got := tr.unfinished(); got != test.want {
				t.Errorf("unfinished: %v, want %v", got, test.want)
			}
		})
	}
}

// TestRenderHundreds has more children than lines: those that are done share a line before the others do.
func TestRenderHundreds(t *testing.T) {
	tr := newTree()
	tr.apply(event.Event{Run: "root", Time: began, Body: event.RunCreated{Agent: "coder", Title: "all"}})
	tr.apply(event.Event{Run: "root", Time: began, Body: event.RunStatusChanged{Status: event.StatusRunning}})
	for i := range 500 {
		id, created := event.RunID(fmt.Sprint(i)), began.Add(time.Duration(i)*time.Millisecond)
		tr.apply(event.Event{Run: id, Time: created, Body: event.RunCreated{
			Parent: "root", Depth: 1, Agent: "reviewer",
			Title: fmt.Sprint("file ", i),
		}})
		var body event.Body = event.RunStatusChanged{Status: event.StatusWaiting, Reason: "waits for a free place"}
		switch {
		case i == 50:
			body = event.RunFinished{Status: event.StatusFailed}
		case i < 113:
			body = event.RunFinished{Status: event.StatusCompleted}
		case i < 116:
			body = event.RunStatusChanged{Status: event.StatusRunning}
		}
		tr.apply(event.Event{Run: id, Time: created, Body: body})
	}
	for height, want := range map[int]string{
		8: `⠋ coder  all  113/500  1.0s
├─ ✗ reviewer  file 50  failed  0.0s
├─ ⠋ reviewer  file 113  0.8s
├─ ⠋ reviewer  file 114  0.8s
├─ ⠋ reviewer  file 115  0.8s
├─ ◌ reviewer  file 116  waiting  0.8s  waits for a free place
├─ ◌ reviewer  file 117  waiting  0.8s  waits for a free place
└─ … 112 done, 382 waiting`,
		4: `⠋ coder  all  113/500  1.0s
├─ ⠋ reviewer  file 113  0.8s
├─ ⠋ reviewer  file 114  0.8s
└─ … 112 done, 384 waiting, 1 not done, 1 at work`,
	} {
		if diff := cmp.Diff(want, strings.Join(tr.render(began.Add(time.Second), 100, height, style{}),
			"\n")); diff != "" {
			t.Errorf("in %d lines (-want +got):\n%s", height, diff)
		}
	}
	if got := len(tr.render(began.Add(time.Second), 100, 450, style{})); got != 450 {
		t.Errorf("%d of 450 lines are used", got)
	}
}

func TestDurationAndThousands(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0s", 449 * time.Millisecond: "0.4s", 59*time.Second + 999*time.Millisecond: "59.9s",
		time.Minute: "1m00s", 125 * time.Second: "2m05s", 62 * time.Minute: "1h02m",
	} {
		if got := duration(d); got != want {
			t.Errorf("duration(%d) = %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1.0k", 9999: "9.9k", 45_600: "45k",
		1_250_000: "1.2M",
	} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}

// terminal is a screen that understands what progress writes to one: text, carriage return, line feed, cursor up,
// erase to the end of the line or screen.
type terminal struct {
	lines []string
	row   int
}

func (s *terminal) Write(data []byte) (int, error) {
	text := string(data)
	for text != "" {
		for s.row >= len(s.lines) {
			s.lines = append(s.lines, "")
		}
		switch {
		case strings.HasPrefix(text, "\n"):
			s.row++
			text = text[1:]
		case strings.HasPrefix(text, "\r"):
			s.lines[s.row] = "" // what is written next covers it
			text = text[1:]
		case strings.HasPrefix(text, "\x1b[K"):
			text = text[3:]
		case strings.HasPrefix(text, "\x1b[J"):
			s.lines = s.lines[:s.row]
			text = text[3:]
		case strings.HasPrefix(text, "\x1b["):
			n := 0
			at := 2
			for ; text[at] >= '0' && text[at] <= '9'; at++ {
				n = n*10 + int(text[at]-'0')
			}
			if text[at] != 'A' {
				panic("the terminal does not know " + text[:at+1])
			}
			s.row -= n
			text = text[at+1:]
		default:
			end := strings.IndexAny(text, "\x1b\r\n")
			if end < 0 {
				end = len(text)
			}
			s.lines[s.row] += text[:end]
			text = text[end:]
		}
	}
	return len(data), nil
}

func (s *terminal) text() string { return strings.Join(s.lines, "\n") }

func TestLiveTree(t *testing.T) {
	shown := &terminal{}
	d := progress{
		out:  screen{Writer: shown, terminal: true, size: func() (int, int) { return 80, 24 }},
		tree: newTree(),
	}
	d.show(event.Event{Run: "r0", Time: began, Body: event.RunCreated{Agent: "coder", Title: "do"}})
	d.show(event.Event{Run: "r1", Time: began, Body: event.RunCreated{
		Parent: "r0", Depth: 1, Agent: "explore",
		Title: "look",
	}})
	d.tick()
	if got := shown.text(); strings.Count(got, "coder") != 1 || strings.Count(got, "explore") != 1 {
		t.Errorf("the tree is drawn as\n%s", got)
	}
	d.show(event.Event{Run: "r1", Time: began, Body: event.Notice{
		Level: event.NoticeWarning, Message: "slow\x1b[2J",
		Hint: "wait",
	}})
	d.show(event.Event{Run: "r1", Time: began.Add(time.Second), Body: event.RunFinished{Status: event.StatusCompleted}})
	d.show(event.Event{
		Run: "r0", Time: began.Add(2 * time.Second),
		Body: event.RunFinished{Status: event.StatusFailed},
	})
	d.end()
	want := "agentls: explore: slow\\x1b[2J; wait\n✗ coder  do  failed  2.0s\n└─ ✓ explore  look  1.0s"
	if got := strings.TrimRight(shown.text(), "\n"); got != want {
		t.Errorf("the screen is\n%s\nwant\n%s", got, want)
	}
}

// resize breaks the lines that have become too long, as terminals do.
func (s *terminal) resize(width int) {
	var lines []string
	for _, line := range s.lines {
		runes := []rune(line)
		for len(runes) > width {
			lines = append(lines, string(runes[:width]))
			runes = runes[width:]
		}
		lines = append(lines, string(runes))
	}
	s.row += len(lines) - len(s.lines)
	s.lines = lines
}

func TestLiveTreeResized(t *testing.T) {
	shown, width := &terminal{}, 80
	d := progress{
		out:  screen{Writer: shown, terminal: true, size: func() (int, int) { return width, 24 }},
		tree: newTree(),
	}
	d.show(event.Event{
		Run: "r0", Time: began,
		Body: event.RunCreated{Agent: "coder", Title: strings.Repeat("long ", 20)},
	})
	d.show(event.Event{Run: "r1", Time: began, Body: event.RunCreated{
		Parent: "r0", Depth: 1, Agent: "explore",
		Title: strings.Repeat("longer ", 20),
	}})
	d.tick()
	for _, width = range []int{30, 120, 40} {
		shown.resize(width)
		d.tick()
		if got := shown.text(); strings.Count(got, "coder") > 1 ||
			len(strings.Split(strings.TrimRight(got, "\n"), "\n")) != 2 {
			t.Errorf("at %d columns the screen is\n%s", width, got)
		}
	}
}

// TestDumbTerminal is one whose cursor cannot be moved: it gets lines.
func TestDumbTerminal(t *testing.T) {
	var out bytes.Buffer
	d := progress{out: screen{Writer: &out, terminal: true, dumb: true}, tree: newTree()}
	d.show(event.Event{
		Run: "r0", Time: began,
		Body: event.RunCreated{Agent: "coder", Title: "do", Model: "script/test"},
	})
	d.end()
	if got := out.String(); got != "coder: do (script/test)\n" {
		t.Errorf("it shows %q", got)
	}
}

func TestShowsUnicode(t *testing.T) {
	for _, test := range []struct {
		environment map[string]string
		system      string
		want        bool
	}{
		{map[string]string{"LANG": "de_DE.UTF-8", "TERM": "xterm"}, "linux", true},
		{map[string]string{"LANG": "de_DE.utf8", "LC_ALL": "C"}, "linux", false},
		{map[string]string{"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "darwin", true},
		{map[string]string{"LANG": "C.UTF-8", "TERM": "linux"}, "linux", false},
		{nil, "linux", false},
		{nil, "windows", true},
	} {
		if got := showsUnicode(func(name string) string { return test.environment[name] },
			test.system); got != test.want {
			t.Errorf("%v on %s: %t", test.environment, test.system, got)
		}
	}
}

func TestPlainLines(t *testing.T) {
	var out bytes.Buffer
	d := progress{out: screen{Writer: &out}, tree: newTree()}
	for _, e := range []event.Event{
		{Run: "r0", Time: began, Body: event.RunCreated{Agent: "coder", Title: "do", Model: "script/test"}},
		{Run: "r0", Time: began, Body: event.TurnStarted{Turn: 1}},
		{Run: "r0", Time: began, Body: event.TextDelta{Text: "hm"}},
		{Run: "r0", Time: began, Body: event.ToolCallStarted{Tool: "read", Title: "read a"}},
		{Run: "r0", Time: began, Body: event.ToolCallFinished{Tool: "read", Status: event.CallOK, Summary: "3 lines"}},
		{Run: "r0", Time: began, Body: event.ToolCallFinished{
			Tool: "read", Status: event.CallError,
			Summary: "no such file",
		}},
		{Run: "r0", Time: began, Body: event.RetryScheduled{Attempt: 2, DelayMs: 1500, Reason: "overloaded"}},
		{Run: "r0", Time: began, Body: event.Compacted{TokensBefore: 9000, TokensAfter: 3000}},
		{Run: "", Time: began, Body: event.Notice{Level: event.NoticeInfo, Message: "for all"}},
		{
			Run: "r0", Time: began.Add(time.Second),
			Body: event.RunFinished{Status: event.StatusTimeout, Usage: event.Usage{OutputTokens: 7}},
		},
	} {
		d.show(e)
	}
	d.end()
	want := `coder: do (script/test)
coder: read: error: no such file
coder: asks again in 1.5s: overloaded
coder: shortened its conversation from about 9000 to 3000 tokens, so that it fits the model
agentls: for all
coder: do: timeout, 1.0s, 7 tokens
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("the lines differ (-want +got):\n%s", diff)
	}
}

// What a child said in one long line is cut where no tree is drawn, too.
func TestLineOfALongAnswer(t *testing.T) {
	d := &progress{tree: newTree()}
	d.tree.apply(event.Event{Run: "r0", Time: began, Body: event.RunCreated{Agent: "coder", Title: "go"}})
	d.tree.apply(event.Event{Run: "r1", Time: began, Body: event.RunCreated{
		Parent: "r0", Depth: 1, Agent: "explore",
		Title: "look",
	}})
	end := event.Event{Run: "r1", Time: began, Body: event.RunFinished{
		Status: event.StatusCompleted,
		Result: event.RunResult{Output: "It is " + strings.Repeat("x", 100_000) + "\nin a.txt"},
	}}
	d.tree.apply(end)
	got := d.line(end)
	if columns(got) > 300 || !strings.HasPrefix(got, "  explore: look: completed, ") ||
		!strings.Contains(got, ": It is xxx") ||
		!strings.HasSuffix(got, "x…") {
		t.Errorf("got %d columns: %s", columns(got), fit(got, 300))
	}
}
