package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/conformance"
)

// TestEffort checks what both interfaces are sent for an effort, and that none is sent where none is asked for.
func TestEffort(t *testing.T) {
	chat := conformance.Serve(t, conformance.SSE(full, 0))
	responses := conformance.Serve(t, conformance.SSE(fullResponse, 0))
	request := conformance.Request()
	for _, effort := range []model.Effort{"", model.EffortLow, model.EffortHigh, ""} {
		request.Effort = effort
		var body struct {
			Effort    *model.Effort   `json:"reasoning_effort"`
			Reasoning json.RawMessage `json:"reasoning"`
		}
		options := Options{Model: "gpt-5", BaseURL: chat.URL, Key: conformance.Key, HTTPClient: chat.Client}
		chat.Sent(t, New(options), request, &body)
		if effort == "" && body.Effort != nil || effort != "" && (body.Effort == nil || *body.Effort != effort) {
			t.Errorf("effort %q: %v", effort, body.Effort)
		}
		options = Options{Model: "gpt-5", BaseURL: responses.URL, Key: conformance.Key, HTTPClient: responses.Client}
		responses.Sent(t, NewResponses(options), request, &body)
		want := `{"summary":"auto"}`
		if effort != "" {
			want = `{"effort":"` + string(effort) + `","summary":"auto"}`
		}
		if string(body.Reasoning) != want {
			t.Errorf("effort %q: %s, want %s", effort, body.Reasoning, want)
		}
	}
}

// TestEffortOfModels checks which models take an effort. Chat Completions of the vendor refuses that of its newer ones.
func TestEffortOfModels(t *testing.T) {
	for _, test := range []struct {
		id, base        string
		chat, responses model.EffortUse
	}{
		{"gpt-5", "", model.EffortTaken, model.EffortTaken},
		{"gpt-5.1", "", model.EffortTaken, model.EffortTaken},
		{"gpt-5.4", "", model.EffortRefused, model.EffortTaken},
		{"gpt-5.6-terra", "", model.EffortRefused, model.EffortTaken},
		{"gpt-5.6-terra", "http://gateway/v1", model.EffortTaken, model.EffortTaken},
		{"gpt-4.1", "", model.EffortRefused, model.EffortRefused},
		{"gpt-5-chat-latest", "", model.EffortRefused, model.EffortRefused},
		{"qwen3:8b", "http://127.0.0.1:11434/v1", model.EffortUnknown, model.EffortUnknown},
		{"gpt-oss:20b", "http://127.0.0.1:11434/v1", model.EffortTaken, model.EffortTaken},
	} {
		options := Options{Model: test.id, BaseURL: test.base}
		use, hint := model.EffortOf(New(options))
		if use != test.chat {
			t.Errorf("%s in chat: %v, want %v", test.id, use, test.chat)
		}
		if names := strings.Contains(hint, `api = "responses"`); names != (test.chat < test.responses) {
			t.Errorf("%s in chat: the hint is %q", test.id, hint)
		}
		if use, _ := model.EffortOf(NewResponses(options)); use != test.responses {
			t.Errorf("%s in responses: %v, want %v", test.id, use, test.responses)
		}
	}
}
