package model_test

import (
	"context"
	"iter"
	"testing"

	"github.com/agentls/agentls/agentcore/model"
)

type named string

func (n named) Name() string { return string(n) }

func (named) Stream(context.Context, *model.Request) iter.Seq2[model.Event, error] { return nil }

type sized struct{ named }

func (sized) ContextTokens() int64 { return 77 }

func TestContextTokens(t *testing.T) {
	for name, want := range map[string]int64{
		"anthropic/claude-sonnet-4-5": 200_000, "openai/gpt-4": 8_192, "openai/gpt-4.1-mini": 1_047_576,
		"openai/gpt-4o-mini":            128_000,
		"router/anthropic/claude-haiku": 200_000, "local/Qwen3-Coder:30b": 262_144, "local/mine": 128_000,
		"offline/rules": 0,
	} {
		if got := model.ContextTokens(named(name)); got != want {
			t.Errorf("%s: %d tokens, want %d", name, got, want)
		}
	}
	if got := model.ContextTokens(sized{"openai/gpt-4"}); got != 77 {
		t.Errorf("the model's own word does not count: %d", got)
	}
}
