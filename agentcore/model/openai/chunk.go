package openai

import (
	"encoding/json"
	"errors"
	"fmt"
)

// chunk is the part of a stream's chunk that is read ("The chat completion chunk object" in the API reference).
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   tokens          `json:"usage"`
	Error   json.RawMessage `json:"error"` // not the vendor's: servers report a failure in the stream with it
}

type choice struct {
	Index int64 `json:"index"`
	Delta delta `json:"delta"`
	// Message is the whole answer, from servers that send it in one piece.
	Message      delta           `json:"message"`
	FinishReason string          `json:"finish_reason"`
	Usage        tokens          `json:"usage"` // Moonshot's place for it
	Error        json.RawMessage `json:"error"` // not the vendor's either
}

// tokens is the vendor's count of tokens, with other vendors' members for cached tokens.
type tokens struct {
	PromptTokens        *int64 `json:"prompt_tokens"`
	CompletionTokens    int64  `json:"completion_tokens"`
	PromptTokensDetails struct {
		CachedTokens int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CachedTokens         int64 `json:"cached_tokens"`           // Moonshot
	PromptCacheHitTokens int64 `json:"prompt_cache_hit_tokens"` // DeepSeek
}

type delta struct {
	// Content is a string. Mistral's reasoning models send a list of typed parts.
	Content   json.RawMessage `json:"content"`
	Refusal   string          `json:"refusal"`
	ToolCalls []piece         `json:"tool_calls"`
	// FunctionCall is the only call that older servers send.
	FunctionCall *function `json:"function_call"`
	// DeepSeek, vLLM and llama.cpp name it reasoning_content; OpenRouter, Groq and Ollama name it reasoning.
	ReasoningContent string `json:"reasoning_content"`
	Reasoning        string `json:"reasoning"`
}

// piece is a part of a tool call.
type piece struct {
	Index    *int64   `json:"index"`
	ID       string   `json:"id"`
	Function function `json:"function"`
	// ExtraContent is Google's member for the signature that Gemini requires with the call later ("OpenAI
	// compatibility").
	ExtraContent extraContent `json:"extra_content"`
}

type function struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type extraContent struct {
	Google struct {
		ThoughtSignature string `json:"thought_signature,omitempty"`
	} `json:"google"`
}

// contents returns the text and the reasoning of a delta's content.
func (d *delta) contents() (text, reasoning string) {
	if len(d.Content) == 0 || d.Content[0] != '[' {
		return plain(d.Content), ""
	}
	type part struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"` // parts again
	}
	var parts, thoughts []part
	if json.Unmarshal(d.Content, &parts) != nil {
		return "", "" // another form, which contains no text
	}
	for _, p := range parts {
		if p.Type != "thinking" {
			text += p.Text
			continue
		}
		if json.Unmarshal(p.Thinking, &thoughts) != nil {
			reasoning += plain(p.Thinking)
		}
		for _, thought := range thoughts {
			reasoning += thought.Text
		}
	}
	return text, reasoning
}

// decode reads a chunk. A member of another type than the vendor's counts as absent, since servers send many members
// that are not needed.
func decode(data []byte) (*chunk, error) {
	var c chunk
	err := json.Unmarshal(data, &c)
	var wrongType *json.UnmarshalTypeError
	if err != nil && (!errors.As(err, &wrongType) || wrongType.Field == "") {
		return nil, fmt.Errorf("read a chunk: %w", err)
	}
	return &c, nil
}

// arguments returns the piece's part of the arguments. Some servers send the arguments as an object and not as its
// text.
func (p *piece) arguments() string {
	raw := p.Function.Arguments
	if len(raw) > 0 && raw[0] == '{' {
		return string(raw)
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return "" // absent, or another form, which contains no arguments
	}
	return text
}
