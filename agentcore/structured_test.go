package agentcore_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/model/script"
)

const orderSchema = `{"type": "object", "required": ["count"], "properties": {"count": {"type": "integer"}}}`

// TestStructuredAnswer: the model is told the schema behind its task, and twice at most what does not fit. The object
// is in the result, and in that of a later process.
func TestStructuredAnswer(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers []string
		want    string // the object, or "" for a run that failed
	}{
		{"at once", []string{`{"count": 3}`}, `{"count": 3}`},
		{"around it are words", []string{"Here:\n```json\n{\"count\": 3}\n```"}, `{"count": 3}`},
		{"the third time", []string{"Three.", `{"count": "3"}`, `{"count": 3}`}, `{"count": 3}`},
		{"never", []string{"Three.", `{"count": "3"}`, "{}"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			turns := []script.Turn{{
				Expect: []script.Expect{
					script.First("Count them."), script.First("<output_schema>\n" + `{"type":"object"`),
					script.Messages(1),
				},
				Answer: []script.Step{call("read", `{"path":"a.txt"}`)},
			}}
			for i, answer := range tt.answers {
				turn := script.Turn{Answer: []script.Step{script.Text(answer)}}
				if i > 0 {
					turn.Expect = []script.Expect{
						script.Last("Your answer does not fit the output schema: "), script.Calls(),
					}
				}
				turns = append(turns, turn)
			}
			w := newWorld(t, map[string]string{"a.txt": "one\n"}, turns...)
			id := w.start(agentcore.RunRequest{
				Agent: "coder", Prompt: "Count them.", OutputSchema: json.RawMessage(orderSchema),
			})
			check := func(result event.RunResult) {
				t.Helper()
				if string(result.Structured) != tt.want {
					t.Errorf("got %s, want %s", result.Structured, tt.want)
				}
				if tt.want != "" {
					if result.Status != event.StatusCompleted || result.Error != nil || result.Result != nil ||
						result.Outcome != event.ChildStatusCompleted {
						t.Errorf("got %+v", result)
					}
				} else if result.Status != event.StatusFailed || result.Error.Kind != string(fault.OutputMismatch) ||
					!strings.Contains(result.Error.Detail, "count") {
					t.Errorf("got %+v", result.Error)
				}
			}
			check(w.wait(id))
			w.closeEngine()
			w.open()
			check(w.wait(id))
		})
	}
}

// TestStructuredAtTheLimit: a run that a limit ends is asked for an answer by the schema, and has failed without.
func TestStructuredAtTheLimit(t *testing.T) {
	for answer, want := range map[string]event.Status{
		`{"count": 1}`: event.StatusCompleted, "So far one.": event.StatusFailed,
	} {
		w := newWorld(t, map[string]string{"a.txt": "one\n"},
			script.Turn{Answer: []script.Step{call("read", `{"path":"a.txt"}`)}},
			script.Turn{
				Expect: []script.Expect{
					script.NoCalls(), script.Last("Answer now with what you have, by the output schema."),
				},
				Answer: []script.Step{script.Text(answer)},
			},
		)
		result := w.wait(w.start(agentcore.RunRequest{
			Agent: "coder", Prompt: "Count.",
			OutputSchema: json.RawMessage(orderSchema), Limits: agent.Limits{MaxTurns: 2},
		}))
		if result.Status != want || (len(result.Structured) > 0) != (want == event.StatusCompleted) {
			t.Errorf("%s: %+v", answer, result)
		}
		if result.Error != nil && !strings.Contains(result.Error.Detail, "max_turns") {
			t.Errorf("the limit is not told: %+v", result.Error)
		}
	}
}

// TestStructuredHasNoSecrets: what looks like a key leaves the object as it leaves every text.
func TestStructuredHasNoSecrets(t *testing.T) {
	key := "ghp_" + strings.Repeat("a1B2", 9)
	w := newWorld(t, nil, script.Turn{Answer: []script.Step{script.Text(`{"count": 1, "key": "` + key + `"}`)}})
	result := w.wait(w.start(agentcore.RunRequest{
		Agent: "coder", Prompt: "Count.", OutputSchema: json.RawMessage(orderSchema),
	}))
	if !json.Valid(result.Structured) || strings.Contains(string(result.Structured), key) {
		t.Errorf("got %s", result.Structured)
	}
}

// TestStructuredIsRefused: what no answer can be held to is refused before anything is sent.
func TestStructuredIsRefused(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": ""})
	for name, request := range map[string]agentcore.RunRequest{
		"no schema":  {OutputSchema: json.RawMessage(`{"type": 5}`)},
		"no object":  {OutputSchema: json.RawMessage(`{"type": "array"}`)},
		"iterations": {OutputSchema: json.RawMessage(orderSchema), Iterations: 2},
		"each":       {OutputSchema: json.RawMessage(orderSchema), Each: []string{w.path("a.txt")}},
	} {
		request.Agent, request.Prompt = "coder", "Count."
		if id, err := w.session.Start(w.ctx, request); fault.Explain(err).Kind != string(fault.InvalidRequest) {
			t.Errorf("%s: the run %s, %v", name, id, err)
		}
	}
}
