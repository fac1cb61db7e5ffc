package hook

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestMatcher(t *testing.T) {
	spellings := map[string][]string{
		"edit":             {"edit", "edit_file", "multi_edit"},
		"list":             {"list", "ls"},
		"notebook_edit":    {"notebook_edit", "edit_notebook"},
		"bash":             {"bash", "shell"},
		"mcp__memory__add": {"mcp__memory__add"},
	}
	for _, test := range []struct{ matcher, fits string }{
		{"", "bash edit list mcp__memory__add notebook_edit"},
		{"*", "bash edit list mcp__memory__add notebook_edit"},
		{" Edit | Bash ", "bash edit"},
		{"MultiEdit", "edit"},
		{"LS", "list"},
		{"(LS|Edit)", "edit list"},
		{"Notebook.*", "notebook_edit"},
		{"mcp__.*", "mcp__memory__add"},
		{"mcp__memory__add", "mcp__memory__add"},
		{"memory", ""},
		{"Edi", ""},
		{"|", ""},
		{"read|*", "bash edit list mcp__memory__add notebook_edit"},
		{"[be].*", "bash edit notebook_edit"}, // edit_notebook begins with an e
	} {
		m, err := ParseMatcher(test.matcher)
		if err != nil {
			t.Errorf("%q: %v", test.matcher, err)
			continue
		}
		var fits []string
		for _, name := range []string{"bash", "edit", "list", "mcp__memory__add", "notebook_edit"} {
			if m.Match(spellings[name]...) {
				fits = append(fits, name)
			}
		}
		if got := strings.Join(fits, " "); got != test.fits {
			t.Errorf("%q is for %q, want %q", test.matcher, got, test.fits)
		}
	}
	for _, wrong := range []string{"(", "a|b[", "*x", strings.Repeat("a", 5000)} {
		if _, err := ParseMatcher(wrong); err == nil {
			t.Errorf("%.20q was taken", wrong)
		}
	}
	if m, err := ParseMatcher("Bash|x.*|Foo"); err != nil || strings.Join(m.Names(), " ") != "Bash Foo" {
		t.Errorf("the names are %q, %v", m.Names(), err)
	}
}

// short writes an outcome in a few words.
func short(o Outcome) string {
	var words []string
	add := func(name, text string) {
		if text != "" {
			words = append(words, name+" "+text)
		}
	}
	if o.Block {
		add("block", o.Reason)
	}
	if o.Ask {
		add("ask", o.AskReason)
	}
	add("context", o.Context)
	add("message", o.Message)
	add("problem", o.Problem)
	return strings.Join(words, " | ")
}

// TestOutcome is the table of exit codes.
func TestOutcome(t *testing.T) {
	exit := func(code int) Exit { return Exit{Code: code, Stdout: []byte("out\n"), Stderr: []byte("err\n")} }
	for _, test := range []struct {
		exit Exit
		want map[Event]string
	}{
		{
			exit(0),
			map[Event]string{
				SessionStart:  "context out",
				SubagentStart: "context out",
				PostToolUse:   "context out",
				PreCompact:    "context out",
			},
		},
		{exit(2), map[Event]string{
			PreToolUse: "block err", PostToolUse: "block err", Stop: "block err", SubagentStop: "block err",
			SessionStart:  "problem objects (exit code 2), which changes nothing here: err",
			SubagentStart: "problem objects (exit code 2), which changes nothing here: err",
			PreCompact:    "problem objects (exit code 2), which changes nothing here: err",
		}},
		{exit(1), all("problem failed with exit code 1: err")},
		{exit(127), all("problem failed with exit code 127: err")},
		{Exit{Code: 2, TimedOut: time.Second}, all("problem was ended after 1s, its time limit")},
		{Exit{Code: 137, Signal: "SIGKILL"}, all("problem was ended by SIGKILL")},
		{Exit{Failure: errors.New("no\x1b[2J such file")}, all("problem could not be run: no[2J such file")},
		{Exit{}, nil},
		{Exit{Code: 2}, map[Event]string{
			PreToolUse:    "block the hook gives no reason",
			PostToolUse:   "block the hook gives no reason",
			Stop:          "block the hook gives no reason",
			SubagentStop:  "block the hook gives no reason",
			SessionStart:  "problem objects (exit code 2), which changes nothing here",
			SubagentStart: "problem objects (exit code 2), which changes nothing here",
			PreCompact:    "problem objects (exit code 2), which changes nothing here",
		}},
		{
			Exit{Stdout: []byte(`{"decision":"block","reason":"no"}`)},
			with(all("block no"), PreCompact,
				"problem a compaction cannot be rejected, since the conversation would not fit any more"),
		},
	} {
		for _, name := range Events() {
			if got := short(Event(name).Outcome(test.exit)); got != test.want[Event(name)] {
				t.Errorf("%s, %+v: %q, want %q", name, test.exit, got, test.want[Event(name)])
			}
		}
	}
}

func all(want string) map[Event]string {
	m := map[Event]string{}
	for _, name := range Events() {
		m[Event(name)] = want
	}
	return m
}

func with(m map[Event]string, e Event, want string) map[Event]string {
	m[e] = want
	return m
}

func TestAnswerInJSON(t *testing.T) {
	for _, test := range []struct {
		event     Event
		out, want string
	}{
		{PreToolUse, `{"decision":"approve","reason":"fine"}`, ""},
		{PreToolUse, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`, ""},
		{
			PreToolUse,
			`{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no\u001b[31m way"}}`,
			"block no[31m way",
		},
		{
			PreToolUse, `{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?"}}`,
			"ask sure?",
		},
		{PreToolUse, `{"permission_decision":"ask"}`, "ask a hook wants you to decide"},
		{PreToolUse, `{"permission_decision":"ask","decision":"block","reason":"no"}`, "block no"},
		{
			PreToolUse, `{"permission_decision":"maybe"}`,
			`problem its permission decision "maybe" is unknown; it can be "deny" or "ask"`,
		},
		{PreToolUse, `{"decision":"nope"}`, `problem its decision "nope" is unknown; it can be "block"`},
		{PreToolUse, `{"continue":false,"stopReason":"enough"}`, "block enough"},
		{PreToolUse, `{"continue":true}`, ""},
		{
			PreToolUse, `{"hookSpecificOutput":{"updatedInput":{"command":"ls"}}}`,
			"problem updatedInput is not used: reject the call, and say what it should be",
		},
		{PreToolUse, `{"system_message":"hello","additional_context":"note"}`, "context note | message hello"},
		{PostToolUse, `{"permission_decision":"deny"}`, "problem a permission decision counts in PreToolUse alone"},
		{
			PostToolUse, `{"systemMessage":"hello","hookSpecificOutput":{"additionalContext":"note"}}`,
			"context note | message hello",
		},
		{PostToolUse, `{"files":["a"]}`, `context {"files":["a"]}`},
		{PostToolUse, `["a"]`, `context ["a"]`},
		{PostToolUse, `{"decision":`, "problem answered JSON that cannot be read: unexpected end of JSON input"},
		{
			PostToolUse, `{"decision":5}`,
			"problem answered JSON that cannot be read: json: cannot unmarshal number into Go struct field answer.decision of type string",
		},
		{
			PostToolUse, `{"continue":"x"}`,
			`problem answered JSON that cannot be read: continue is "x", not true or false`,
		},
		{
			PostToolUse, "{not json, but text}",
			"problem answered JSON that cannot be read: invalid character 'n' looking for beginning of object key string",
		},
		{Stop, `{"continue":false}`, `problem "continue": false has no meaning in Stop`},
		{Stop, `{"decision":"block"}`, "block the hook gives no reason"},
		{Stop, "bye", ""},
	} {
		if got := short(test.event.Outcome(Exit{Stdout: []byte(test.out)})); got != test.want {
			t.Errorf("%s %s: %q, want %q", test.event, test.out, got, test.want)
		}
	}
}

// FuzzOutcome looks for output that panics or gets past the bounds.
func FuzzOutcome(f *testing.F) {
	f.Add("PreToolUse", 0, []byte(`{"decision":"block","reason":"no"}`), []byte("x"), false)
	f.Add("PostToolUse", 0, []byte("\xff\x00\x1b]0;x\a"), []byte(nil), true)
	f.Add("Stop", 2, []byte(nil), []byte(strings.Repeat("\xf0\x9f", 40000)), false)
	f.Add("SessionStart", 0, []byte(strings.Repeat("ä", MaxText)), []byte(nil), false)
	f.Add("PreToolUse", 0, []byte(strings.Repeat(`{"hookSpecificOutput":`, 1000)), []byte(nil), false)
	f.Fuzz(func(t *testing.T, name string, code int, stdout, stderr []byte, cut bool) {
		o := Event(name).Outcome(Exit{Code: code, Stdout: stdout, Stderr: stderr, Cut: cut})
		for _, text := range []string{o.Reason, o.AskReason, o.Context, o.Message, o.Problem} {
			if len(text) > MaxText+1000 || !utf8.ValidString(text) ||
				strings.ContainsAny(text, "\x00\x1b\r\x7f\u009b") {
				t.Errorf("%q", text)
			}
		}
		if o.Block && (o.Reason == "" || o.Ask) {
			t.Errorf("%+v", o)
		}
	})
}

func TestInput(t *testing.T) {
	no := false
	in := Input{
		Event:          Stop,
		Session:        "s",
		Cwd:            "/w",
		PermissionMode: "default",
		Agent:          "coder",
		Run:            "r",
		Model:          "m/n",
		StopActive:     &no,
		LastMessage:    "a\nb",
	}
	text, err := in.Encode()
	const want = `{"hook_event_name":"Stop","session_id":"s","cwd":"/w","permission_mode":"default","agent_type":"coder","agent_id":"r","depth":0,"model":"m/n","stop_hook_active":false,"last_assistant_message":"a\nb"}` + "\n"
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	if text, err = (Input{ToolInput: json.RawMessage("{broken")}).Encode(); err != nil ||
		strings.Contains(string(text), "broken") {
		t.Errorf("%s, %v", text, err)
	}
	for _, test := range []struct{ tool, arguments, want string }{
		{"read", `{"path":"a"}`, `{"file_path":"/w/a","path":"a"}`},
		{"bash", `{"command":"a"}`, `{"command":"a"}`},
		{"read", `"a"`, `"a"`},
		{"read", `null`, `null`},
		{"read", `{`, `{`},
	} {
		if got := WithFilePath(test.tool, json.RawMessage(test.arguments), "/w/a"); string(got) != test.want {
			t.Errorf("%s %s: %s", test.tool, test.arguments, got)
		}
	}
}
