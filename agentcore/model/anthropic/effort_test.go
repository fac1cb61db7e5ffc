package anthropic

import (
	"fmt"
	"testing"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/conformance"
)

// TestEffort checks what each generation of models is sent for an effort, beside the bound of its answer.
func TestEffort(t *testing.T) {
	server := conformance.Serve(t, conformance.SSE(full, 0))
	for _, test := range []struct {
		id        string
		effort    model.Effort
		maxTokens int
		want      string
	}{
		{"claude-sonnet-4-5", "", 0, "max 8192 temperature"},
		{"claude-sonnet-4-5", model.EffortLow, 0, "max 10240 enabled 2048"},
		{"claude-sonnet-4-20250514", model.EffortHigh, 0, "max 24576 enabled 16384"},
		{"claude-sonnet-4-5", model.EffortHigh, 20000, "max 20000 enabled 10000"},
		{"claude-sonnet-4-5", model.EffortLow, 500, "max 2048 enabled 1024"},
		{"claude-opus-4-6", model.EffortLow, 0, "max 10240 adaptive output low"},
		{"claude-opus-5", model.EffortHigh, 9000, "max 9000 adaptive output high"},
		{"glm-4.6", model.EffortMedium, 0, "max 16384 enabled 8192"},
	} {
		m := New(Options{Model: test.id, BaseURL: server.URL, Key: conformance.Key, HTTPClient: server.Client})
		request := conformance.Request()
		request.Effort, request.MaxTokens, request.Temperature = test.effort, test.maxTokens, new(float64)
		var body struct {
			MaxTokens   int      `json:"max_tokens"`
			Temperature *float64 `json:"temperature"`
			Thinking    thinking `json:"thinking"`
			Output      struct {
				Effort string `json:"effort"`
			} `json:"output_config"`
		}
		server.Sent(t, m, request, &body)
		got := fmt.Sprint("max ", body.MaxTokens)
		if body.Temperature != nil {
			got += " temperature"
		}
		if body.Thinking.Type != "" {
			got += " " + body.Thinking.Type
		}
		if body.Thinking.BudgetTokens > 0 {
			got += fmt.Sprint(" ", body.Thinking.BudgetTokens)
		}
		if body.Output.Effort != "" {
			got += " output " + body.Output.Effort
		}
		if got != test.want {
			t.Errorf("%s with effort %q: %s, want %s", test.id, test.effort, got, test.want)
		}
	}
}

// TestEffortOfModels checks which models take an effort, by their ids.
func TestEffortOfModels(t *testing.T) {
	for id, want := range map[string]model.EffortUse{
		"claude-3-5-haiku-20241022": model.EffortRefused, "claude-3-haiku-20240307": model.EffortRefused,
		"claude-3-7-sonnet-20250219": model.EffortTaken, "claude-sonnet-4-20250514": model.EffortTaken,
		"claude-haiku-4-5": model.EffortTaken, "us.anthropic.claude-opus-4-6-v1": model.EffortTaken,
		"claude-fable-5-1": model.EffortTaken, "claude-mythos-preview": model.EffortUnknown,
		"kimi-k2": model.EffortUnknown,
	} {
		if got, _ := model.EffortOf(New(Options{Model: id})); got != want {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
}
