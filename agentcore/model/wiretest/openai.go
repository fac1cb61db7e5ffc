package wiretest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
)

// openAIRequest is the body of "Create chat completion", as far as the wire uses it.
type openAIRequest struct {
	Model         string `json:"model"`
	Stream        bool   `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           int          `json:"max_tokens"`
	MaxCompletionTokens int          `json:"max_completion_tokens"`
	Temperature         *float64     `json:"temperature"`
	ReasoningEffort     model.Effort `json:"reasoning_effort"`
	PromptCacheKey      string       `json:"prompt_cache_key"`
	Tools               []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice string          `json:"tool_choice"`
	Messages   []openAIMessage `json:"messages"`
}

type openAIMessage struct {
	Role    string  `json:"role"`
	Content *string `json:"content"`
	// ReasoningContent is what servers that send it take back.
	ReasoningContent string `json:"reasoning_content"`
	ToolCallID       string `json:"tool_call_id"`
	ToolCalls        []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// decodeOpenAI reads a request and refuses what the vendor refuses.
func decodeOpenAI(raw []byte) (*model.Request, error) {
	var in openAIRequest
	if err := strict(raw, &in); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	switch {
	case in.Model == "":
		return nil, errors.New("you must provide a model parameter")
	case !in.Stream || !in.StreamOptions.IncludeUsage:
		return nil, errors.New("stream: this server streams only, and counts tokens")
	case in.ToolChoice != "" && len(in.Tools) == 0:
		return nil, errors.New("'tool_choice' is only allowed when 'tools' are specified")
	}
	out := &model.Request{
		MaxTokens: max(in.MaxTokens, in.MaxCompletionTokens), Temperature: in.Temperature,
		Effort:  in.ReasoningEffort,
		NoCalls: in.ToolChoice == "none", Run: in.PromptCacheKey,
	}
	for i, tool := range in.Tools {
		if tool.Type != "function" || tool.Function.Name == "" {
			return nil, fmt.Errorf("tools[%d]: a function with a name is required", i)
		}
		out.Tools = append(out.Tools, model.Tool{
			Name: tool.Function.Name, Description: tool.Function.Description,
			Schema: tool.Function.Parameters,
		})
	}
	calls := names{}
	for i, message := range in.Messages {
		if err := addMessage(out, calls, i, &message); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if out.Run == "" {
		out.Run = runOf(out)
	}
	return out, nil
}

// addMessage adds the message with that index to the conversation.
func addMessage(out *model.Request, calls names, index int, message *openAIMessage) error {
	if message.Content == nil && len(message.ToolCalls) == 0 {
		return errors.New("content is required")
	}
	text := ""
	if message.Content != nil {
		text = *message.Content
	}
	switch message.Role {
	case "system":
		if index > 0 {
			return errors.New("the system message is not the first")
		}
		out.System = text
	case "user":
		add(out, model.RoleUser, model.Text{Text: text})
	case "assistant":
		parts := make([]model.Part, 0, 2+len(message.ToolCalls))
		if message.ReasoningContent != "" {
			parts = append(parts, model.Reasoning{Text: message.ReasoningContent})
		}
		if text != "" || len(message.ToolCalls) == 0 {
			parts = append(parts, model.Text{Text: text})
		}
		for _, call := range message.ToolCalls {
			if call.Type != "function" || call.ID == "" || !json.Valid([]byte(call.Function.Arguments)) {
				return fmt.Errorf("the call %q has no id, no type, or arguments that are no JSON", call.ID)
			}
			calls[call.ID] = call.Function.Name
			parts = append(parts,
				model.Call{ID: call.ID, Name: call.Function.Name, Arguments: json.RawMessage(call.Function.Arguments)})
		}
		out.Messages = append(out.Messages, model.Message{Role: model.RoleAssistant, Parts: parts})
	case "tool":
		result, err := calls.result(message.ToolCallID, text, false)
		if err != nil {
			return err
		}
		add(out, model.RoleTool, result)
	default:
		return fmt.Errorf("no such role %q", message.Role)
	}
	return nil
}

// openAIAnswer writes the chunks of a chat completion.
type openAIAnswer struct{ begun bool }

func (a *openAIAnswer) encode(event model.Event) string {
	var b strings.Builder
	if !a.begun {
		a.begun = true
		b.WriteString(openAIChunk(`{"role":"assistant","content":""}`, "null"))
	}
	switch event := event.(type) {
	case model.TextDelta:
		b.WriteString(openAIChunk(`{"content":`+quote(event.Text)+`}`, "null"))
	case model.ReasoningDelta: // the vendor sends none; compatible servers do
		b.WriteString(openAIChunk(`{"reasoning_content":`+quote(event.Text)+`}`, "null"))
	case model.Done:
		for i, call := range event.Message.Calls() {
			b.WriteString(
				openAIChunk(
					fmt.Sprintf(
						`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`,
						i,
						quote(call.ID), quote(call.Name)), "null"))
			for _, half := range halves(string(call.Arguments)) {
				b.WriteString(openAIChunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i,
					quote(half)), "null"))
			}
		}
		stop := map[model.Stop]string{
			model.StopEnd: "stop", model.StopCalls: "tool_calls", model.StopLength: "length",
			model.StopRefused: "content_filter",
		}[event.Stop]
		b.WriteString(openAIChunk(`{}`, quote(stop)))
		usage := event.Usage
		fmt.Fprintf(&b,
			"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"scripted\",\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d,\"total_tokens\":%d,\"prompt_tokens_details\":{\"cached_tokens\":%d}}}\n\ndata: [DONE]\n\n",
			usage.Input+usage.Cached, usage.Output, usage.Input+usage.Cached+usage.Output, usage.Cached)
	}
	return b.String()
}

// openAIChunk writes a chunk with one choice; finish is JSON.
func openAIChunk(delta, finish string) string {
	return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"scripted","choices":[{"index":0,"delta":` +
		delta + `,"logprobs":null,"finish_reason":` + finish + "}],\"usage\":null}\n\n"
}

// openAIError is what the vendor answers for a failure ("Error codes" guide).
func openAIError(failure *model.Error) (int, string) {
	status, kind, code := 400, "invalid_request_error", "null"
	switch failure.Kind {
	case model.ErrRateLimit:
		status, kind, code = 429, "requests", `"rate_limit_exceeded"`
	case model.ErrOverloaded:
		status, kind, code = 503, "server_error", `"server_overloaded"`
	case model.ErrServer:
		status, kind = 500, "server_error"
	case model.ErrAuth:
		status, code = 401, `"invalid_api_key"`
	case model.ErrNotFound:
		status, code = 404, `"model_not_found"`
	case model.ErrContext:
		code = `"context_length_exceeded"`
	}
	return status, `{"error":{"message":` + quote(failure.Detail) + `,"type":` + quote(kind) +
		`,"param":null,"code":` + code + `}}`
}
