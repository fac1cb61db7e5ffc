package main

import (
	"bytes"
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
	at(2, "r1", event.RunFinished{Status: event.StatusCompleted, Usage: event.Usage{InputTokens: 1200, OutputTokens: 34}})
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
		want          string
	}{
		{"whole", 100, 10, `
reviewer  review  running  1m04s  2 findings
  reviewer  review a.go  completed  1.5s  1.2k tokens  2 findings
  reviewer  review b.go  running  1m03s  read b.go\x1b[2J
  reviewer  review c.go  waiting  1m02s  waits for a free place
`},
		{"narrow", 40, 10, `
reviewer  review  running  1m04s  2 fin…
  reviewer  review …  completed  1.5s  …
  reviewer  review …  running  1m03s  r…
  reviewer  review …  waiting  1m02s  w…
`},
		{"low", 100, 3, `
reviewer  review  running  1m04s  2 findings
  reviewer  review b.go  running  1m03s  read b.go\x1b[2J
  … and 2 more runs
`},
		{"lowest", 100, 1, `
  … and 4 more runs
`},
		{"tiny", 3, 10, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines := grown().render(now, test.width, test.height, false)
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
	got := grown().render(began.Add(3*time.Second), 100, 10, true)[1]
	want := "  reviewer  review a.go\x1b[32m  completed\x1b[0m\x1b[2m  1.5s  1.2k tokens  2 findings\x1b[0m"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
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
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1.0k", 9999: "9.9k", 45_600: "45k", 1_250_000: "1.2M"} {
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
	d := progress{out: screen{Writer: shown, terminal: true, size: func() (int, int) { return 80, 24 }}, tree: newTree()}
	d.show(event.Event{Run: "r0", Time: began, Body: event.RunCreated{Agent: "coder", Title: "do"}})
	d.show(event.Event{Run: "r1", Time: began, Body: event.RunCreated{Parent: "r0", Depth: 1, Agent: "explore", Title: "look"}})
	d.tick()
	if got := shown.text(); strings.Count(got, "coder") != 1 || strings.Count(got, "explore") != 1 {
		t.Errorf("the tree is drawn as\n%s", got)
	}
	d.show(event.Event{Run: "r1", Time: began, Body: event.Notice{Level: event.NoticeWarning, Message: "slow\x1b[2J", Hint: "wait"}})
	d.show(event.Event{Run: "r1", Time: began.Add(time.Second), Body: event.RunFinished{Status: event.StatusCompleted}})
	d.show(event.Event{Run: "r0", Time: began.Add(2 * time.Second), Body: event.RunFinished{Status: event.StatusFailed}})
	d.end()
	want := "agentls: explore: slow\\x1b[2J; wait\ncoder  do  failed  2.0s\n  explore  look  completed  1.0s"
	if got := strings.TrimRight(shown.text(), "\n"); got != want {
		t.Errorf("the screen is\n%s\nwant\n%s", got, want)
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
		{Run: "r0", Time: began, Body: event.ToolCallFinished{Tool: "read", Status: event.CallError, Summary: "no such file"}},
		{Run: "r0", Time: began, Body: event.RetryScheduled{Attempt: 2, DelayMs: 1500, Reason: "overloaded"}},
		{Run: "", Time: began, Body: event.Notice{Level: event.NoticeInfo, Message: "for all"}},
		{Run: "r0", Time: began.Add(time.Second), Body: event.RunFinished{Status: event.StatusTimeout, Usage: event.Usage{OutputTokens: 7}}},
	} {
		d.show(e)
	}
	d.end()
	want := `coder: do (script/test)
coder: read: error: no such file
coder: asks again in 1.5s: overloaded
agentls: for all
coder: do: timeout, 1.0s, 7 tokens
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("the lines differ (-want +got):\n%s", diff)
	}
}
