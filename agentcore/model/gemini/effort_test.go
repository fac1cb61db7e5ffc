package gemini

import (
	"encoding/json"
	"testing"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/conformance"
)

// TestEffort checks what models of each generation are sent for an effort, and which take one.
func TestEffort(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	for _, test := range []struct {
		id     string
		effort model.Effort
		use    model.EffortUse
		want   string
	}{
		{"gemini-2.5-pro", "", model.EffortTaken, `{"includeThoughts":true}`},
		{"gemini-2.5-pro", model.EffortLow, model.EffortTaken, `{"includeThoughts":true,"thinkingBudget":1024}`},
		{"gemini-2.5-flash-lite", "", model.EffortTaken, ""},
		{
			"gemini-2.5-flash-lite", model.EffortHigh, model.EffortTaken,
			`{"includeThoughts":true,"thinkingBudget":24576}`,
		},
		{
			"gemini-3-pro-preview", model.EffortMedium, model.EffortTaken,
			`{"includeThoughts":true,"thinkingLevel":"high"}`,
		},
		{
			"gemini-3.6-flash", model.EffortMedium, model.EffortTaken,
			`{"includeThoughts":true,"thinkingLevel":"medium"}`,
		},
		{"tunedModels/mine", model.EffortLow, model.EffortUnknown, `{"includeThoughts":false,"thinkingLevel":"low"}`},
		{"gemini-2.0-flash", "", model.EffortRefused, ""},
		{"gemini-2.5-flash-image", "", model.EffortRefused, ""},
	} {
		m := New(Options{Model: test.id, BaseURL: server.URL, Key: conformance.Key, HTTPClient: server.Client})
		if use, _ := model.EffortOf(m); use != test.use {
			t.Errorf("%s: %v, want %v", test.id, use, test.use)
		}
		request := conformance.Request()
		request.Effort = test.effort
		var body struct {
			GenerationConfig struct {
				ThinkingConfig json.RawMessage `json:"thinkingConfig"`
			} `json:"generationConfig"`
		}
		if server.Sent(t, m, request, &body); string(body.GenerationConfig.ThinkingConfig) != test.want {
			t.Errorf("%s with effort %q: %s, want %s", test.id, test.effort, body.GenerationConfig.ThinkingConfig,
				test.want)
		}
	}
}
