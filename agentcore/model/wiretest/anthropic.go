package wiretest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
)

// anthropicRequest is the body of "Create a Message", as far as the wire uses it.
type anthropicRequest struct {
	Model       string   `json:"model"`
	MaxTokens   int      `json:"max_tokens"`
	Stream      bool     `json:"stream"`
	Temperature *float64 `json:"temperature"`
	Thinking    *struct {
		Type         string `json:"type"`
		BudgetTokens int    `json:"budget_tokens"`
	} `json:"thinking"`
	OutputConfig struct {
		Effort model.Effort `json:"effort"`
	} `json:"output_config"`
	Metadata struct {
		UserID string `json:"user_id"`
	} `json:"metadata"`
	System []anthropicBlock `json:"system"`
	Tools  []struct {
		Name         string          `json:"name"`
		Description  string          `json:"description"`
		InputSchema  json.RawMessage `json:"input_schema"`
		CacheControl *cacheControl   `json:"cache_control"`
	} `json:"tools"`
	ToolChoice *struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
	Messages []struct {
		Role    string           `json:"role"`
		Content []anthropicBlock `json:"content"`
	} `json:"messages"`
}

type cacheControl struct {
	Type string `json:"type"`
}

// anthropicBlock is a content block of any type.
type anthropicBlock struct {
	Type         string           `json:"type"`
	Text         string           `json:"text"`
	Thinking     string           `json:"thinking"`
	Signature    string           `json:"signature"`
	Data         string           `json:"data"`
	ID           string           `json:"id"`
	Name         string           `json:"name"`
	Input        json.RawMessage  `json:"input"`
	ToolUseID    string           `json:"tool_use_id"`
	Content      []anthropicBlock `json:"content"`
	IsError      bool             `json:"is_error"`
	CacheControl *cacheControl    `json:"cache_control"`
}

// decodeAnthropic reads a request and refuses what the vendor refuses.
func decodeAnthropic(raw []byte) (*model.Request, error) {
	var in anthropicRequest
	if err := strict(raw, &in); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	switch {
	case in.Model == "":
		return nil, errors.New("model: field required")
	case in.MaxTokens < 1:
		return nil, errors.New("max_tokens: field required")
	case !in.Stream:
		return nil, errors.New("stream: this server streams only")
	case in.ToolChoice != nil && len(in.Tools) == 0:
		return nil, errors.New("tool_choice: may only be specified while providing tools")
	case in.Thinking != nil && in.Temperature != nil:
		return nil, errors.New("temperature: may only be set to 1 when thinking is enabled")
	case in.Thinking != nil && in.Thinking.BudgetTokens >= in.MaxTokens:
		return nil, errors.New("max_tokens: must be greater than thinking.budget_tokens")
	case bytes.Count(raw, []byte(`"cache_control":`)) > 4:
		return nil, errors.New("a maximum of 4 blocks with cache_control may be provided")
	}
	out := &model.Request{
		MaxTokens: in.MaxTokens, Temperature: in.Temperature, Effort: in.OutputConfig.Effort,
		Run: in.Metadata.UserID,
	}
	out.NoCalls = in.ToolChoice != nil && in.ToolChoice.Type == "none"
	for _, block := range in.System {
		out.System += block.Text
	}
	for i, tool := range in.Tools {
		var schema struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil || schema.Type != "object" || tool.Name == "" {
			return nil, fmt.Errorf("tools.%d: a name and a schema of type object are required", i)
		}
		out.Tools = append(out.Tools,
			model.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.InputSchema})
	}
	calls := names{}
	for i, message := range in.Messages {
		want := "user"
		if i%2 == 1 {
			want = "assistant"
		}
		if message.Role != want || len(message.Content) == 0 {
			return nil, fmt.Errorf("messages.%d: roles must alternate from user on, and no message may be empty", i)
		}
		for j, block := range message.Content {
			if err := addBlock(out, calls, message.Role, &block); err != nil {
				return nil, fmt.Errorf("messages.%d.content.%d: %w", i, j, err)
			}
		}
	}
	if out.Run == "" {
		out.Run = runOf(out)
	}
	return out, nil
}

// addBlock adds one block to the conversation.
func addBlock(out *model.Request, calls names, role string, block *anthropicBlock) error {
	assistant := role == "assistant"
	switch {
	case block.Type == "text":
		if blank(block.Text) {
			return errors.New("text content blocks must contain non-whitespace text")
		}
		add(out, model.Role(role), model.Text{Text: block.Text})
	case block.Type == "thinking" && assistant && block.Signature != "":
		add(out, model.RoleAssistant, model.Reasoning{Text: block.Thinking, Signature: block.Signature})
	case block.Type == "redacted_thinking" && assistant && block.Data != "":
		add(out, model.RoleAssistant, model.Reasoning{Redacted: block.Data})
	case block.Type == "tool_use" && assistant && bytes.HasPrefix(block.Input, []byte("{")):
		calls[block.ID] = block.Name
		add(out, model.RoleAssistant, model.Call{ID: block.ID, Name: block.Name, Arguments: block.Input})
	case block.Type == "tool_result" && !assistant:
		var text strings.Builder
		for _, inner := range block.Content {
			text.WriteString(inner.Text)
		}
		result, err := calls.result(block.ToolUseID, text.String(), block.IsError)
		if err != nil {
			return err
		}
		add(out, model.RoleTool, result)
	default:
		return fmt.Errorf("a block of type %q that is not complete, or does not belong in a message of role %s",
			block.Type, role)
	}
	return nil
}

// anthropicAnswer writes a message as "Streaming messages" describes it.
type anthropicAnswer struct {
	begun bool
	index int
	kind  string // of the open block
	open  int    // its index, -1 for none
}

func (a *anthropicAnswer) encode(event model.Event) string {
	var b strings.Builder
	if !a.begun {
		a.begun = true
		// The counts of the input are known only at the end here; message_delta repeats them, as the vendor's does.
		b.WriteString(named("message_start",
			`"message":{"id":"msg_1","type":"message","role":"assistant","model":"scripted","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}}`))
		b.WriteString(named("ping", ""))
	}
	switch event := event.(type) {
	case model.TextDelta:
		b.WriteString(a.begin("text", `{"type":"text","text":""}`))
		b.WriteString(a.delta(`{"type":"text_delta","text":` + quote(event.Text) + `}`))
	case model.ReasoningDelta:
		b.WriteString(a.begin("thinking", `{"type":"thinking","thinking":"","signature":""}`))
		b.WriteString(a.delta(`{"type":"thinking_delta","thinking":` + quote(event.Text) + `}`))
	case model.Done:
		b.WriteString(a.end())
		for _, call := range event.Message.Calls() {
			b.WriteString(a.begin("tool_use",
				`{"type":"tool_use","id":`+quote(call.ID)+`,"name":`+quote(call.Name)+`,"input":{}}`))
			for _, half := range halves(string(call.Arguments)) {
				b.WriteString(a.delta(`{"type":"input_json_delta","partial_json":` + quote(half) + `}`))
			}
			b.WriteString(a.end())
		}
		stop := map[model.Stop]string{
			model.StopEnd: "end_turn", model.StopCalls: "tool_use",
			model.StopLength: "max_tokens", model.StopRefused: "refusal",
		}[event.Stop]
		b.WriteString(named("message_delta",
			fmt.Sprintf(
				`"delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":%d,"output_tokens":%d}`,
				quote(stop), event.Usage.Input, event.Usage.Cached, event.Usage.Output)))
		b.WriteString(named("message_stop", ""))
	}
	return b.String()
}

// begin opens a block unless one of that kind is open.
func (a *anthropicAnswer) begin(kind, block string) string {
	if a.open >= 0 && a.kind == kind {
		return ""
	}
	before := a.end()
	a.open, a.kind = a.index, kind
	a.index++
	return before + named("content_block_start", fmt.Sprintf(`"index":%d,"content_block":%s`, a.open, block))
}

func (a *anthropicAnswer) delta(delta string) string {
	return named("content_block_delta", fmt.Sprintf(`"index":%d,"delta":%s`, a.open, delta))
}

// end closes the open block, if any.
func (a *anthropicAnswer) end() string {
	if a.open < 0 {
		return ""
	}
	seal := ""
	if a.kind == "thinking" {
		seal = a.delta(`{"type":"signature_delta","signature":"c2VhbA=="}`)
	}
	out := seal + named("content_block_stop", fmt.Sprintf(`"index":%d`, a.open))
	a.open = -1
	return out
}

// named writes an event with its members behind the type.
func named(kind, members string) string {
	if members != "" {
		members = "," + members
	}
	return "event: " + kind + "\ndata: {\"type\":" + quote(kind) + members + "}\n\n"
}

// anthropicError is what the vendor answers for a failure ("Errors" page of the documentation).
func anthropicError(failure *model.Error) (int, string) {
	status, kind, detail := 400, "invalid_request_error", failure.Detail
	switch failure.Kind {
	case model.ErrRateLimit:
		status, kind = 429, "rate_limit_error"
	case model.ErrOverloaded:
		status, kind = 529, "overloaded_error"
	case model.ErrServer:
		status, kind = 500, "api_error"
	case model.ErrAuth:
		status, kind = 401, "authentication_error"
	case model.ErrNotFound:
		status, kind = 404, "not_found_error"
	case model.ErrContext:
		detail = "prompt is too long: " + detail
	}
	return status, `{"type":"error","error":{"type":` + quote(kind) + `,"message":` + quote(detail) + `}}`
}
