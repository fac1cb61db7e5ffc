package openai

import (
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/openai/openai-go/v3"
)

// chunk is what is read of a chunk of the stream ("The chat completion chunk object" in the API reference).
// The SDK's type keeps the source of every member, which costs four times the time and memory per token.
type chunk struct {
	Choices []choice            `json:"choices"`
	Usage   sdk.CompletionUsage `json:"usage"`
	Error   json.RawMessage     `json:"error"` // not the vendor's: servers report a failure in the stream with it
}

type choice struct {
	Index        int64           `json:"index"`
	Delta        delta           `json:"delta"`
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"` // not the vendor's either
}

type delta struct {
	Content   string  `json:"content"`
	Refusal   string  `json:"refusal"`
	ToolCalls []piece `json:"tool_calls"`
	// DeepSeek, vLLM and llama.cpp call it reasoning_content; OpenRouter, Groq and Ollama reasoning.
	ReasoningContent string `json:"reasoning_content"`
	Reasoning        string `json:"reasoning"`
}

// piece is a part of a tool call.
type piece struct {
	Index    *int64 `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// decode reads a chunk. A member of another type than the vendor's counts as absent: servers send much that we do
// not need.
func decode(data []byte) (*chunk, error) {
	var c chunk
	err := json.Unmarshal(data, &c)
	var wrongType *json.UnmarshalTypeError
	if err != nil && (!errors.As(err, &wrongType) || wrongType.Field == "") {
		return nil, fmt.Errorf("read a chunk: %w", err)
	}
	return &c, nil
}

// arguments returns the piece's part of the arguments. Some servers send the object itself, not its text.
func (p *piece) arguments() string {
	raw := p.Function.Arguments
	if len(raw) > 0 && raw[0] == '{' {
		return string(raw)
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return "" // absent, or of a form that holds no arguments
	}
	return text
}
