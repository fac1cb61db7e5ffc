package agentcore_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model/script"
)

// TestEventsAreLegible: what nobody sees comes as an escape in all that tells of the work, and as it is in what is
// said.
func TestEventsAreLegible(t *testing.T) {
	const wild = "a\u202eb\x1b[31mc\u200bd\U000e0041e"
	escaped := `a\u202eb\x1b[31mc\u200bd\U000e0041e`
	quoted, err := json.Marshal(wild)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Answer: []script.Step{
			call("read", `{"path":`+string(quoted)+`}`),
			call("todo", `{"items":[{"text":`+string(quoted)+`,"state":"pending"}]}`),
		}},
		script.Turn{Answer: []script.Step{script.Text("said " + wild)}},
	)
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go.", Title: wild + "\nmore"})
	w.wait(id)
	seen := map[string]bool{}
	for _, e := range w.until(ended(id)) {
		raw, err := event.EncodeBody(e.Body)
		if err != nil {
			t.Fatal(err)
		}
		kind := e.Body.EventType()
		seen[kind] = true
		if slices.Contains([]string{"TextDelta", "MessageCommitted", "RunFinished"}, kind) {
			continue
		}
		var text string
		collect(t, raw, &text)
		if strings.ContainsAny(text, "\u202e\x1b\u200b\U000e0041") {
			t.Errorf("%s: %q", kind, text)
		}
		if kind == "RunCreated" && !strings.Contains(text, escaped+" more") {
			t.Errorf("the title is %q", text)
		}
	}
	for _, kind := range []string{"RunCreated", "RunProgress", "ToolCallStarted", "ToolCallFinished", "RunFinished"} {
		if !seen[kind] {
			t.Errorf("no %s was told", kind)
		}
	}
	if got := w.wait(id).Output; got != "said "+wild {
		t.Errorf("the output is %q", got)
	}
	if runs := w.session.Runs(); runs[0].Title != escaped+" more" || runs[0].Message != "said "+escaped {
		t.Errorf("the run is told as %q, %q", runs[0].Title, runs[0].Message)
	}
}

// collect appends all strings of a JSON text.
func collect(t *testing.T, raw []byte, text *string) {
	t.Helper()
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			*text += v + "\n"
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(value)
}
