package wiretest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
)

// responsesRequest is the body of "Create a model response", as far as the wire uses it.
type responsesRequest struct {
	Model           string   `json:"model"`
	Stream          bool     `json:"stream"`
	Store           *bool    `json:"store"`
	Instructions    string   `json:"instructions"`
	MaxOutputTokens int      `json:"max_output_tokens"`
	Temperature     *float64 `json:"temperature"`
	PromptCacheKey  string   `json:"prompt_cache_key"`
	Include         []string `json:"include"`
	Reasoning       struct {
		Effort  model.Effort `json:"effort"`
		Summary string       `json:"summary"`
	} `json:"reasoning"`
	Tools []struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      *bool           `json:"strict"`
	} `json:"tools"`
	ToolChoice string          `json:"tool_choice"`
	Input      []responsesItem `json:"input"`
}

// responsesItem is an item of the input, of any type.
type responsesItem struct {
	Type      string  `json:"type"`
	Role      string  `json:"role"`
	Content   *string `json:"content"`
	CallID    string  `json:"call_id"`
	Name      string  `json:"name"`
	Arguments string  `json:"arguments"`
	Output    *string `json:"output"`
	ID        string  `json:"id"`
	Summary   []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"summary"`
	EncryptedContent string `json:"encrypted_content"`
}

// decodeResponses reads a request and refuses what the vendor refuses.
func decodeResponses(raw []byte) (*model.Request, error) {
	var in responsesRequest
	if err := strict(raw, &in); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	switch {
	case in.Model == "":
		return nil, errors.New("you must provide a model parameter")
	case !in.Stream || in.Store == nil || *in.Store:
		return nil, errors.New("stream: this server streams only, and stores nothing")
	case in.ToolChoice != "" && len(in.Tools) == 0:
		return nil, errors.New("tool choice 'none' must be specified with 'tools' parameter")
	}
	out := &model.Request{
		System: in.Instructions, MaxTokens: in.MaxOutputTokens, Temperature: in.Temperature,
		Effort:  in.Reasoning.Effort,
		NoCalls: in.ToolChoice == "none", Run: in.PromptCacheKey,
	}
	for i, tool := range in.Tools {
		if tool.Type != "function" || tool.Name == "" || tool.Strict == nil || *tool.Strict {
			return nil,
				fmt.Errorf("tools[%d]: a function with a name is required, and its schema is none of strict mode", i)
		}
		out.Tools = append(out.Tools,
			model.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.Parameters})
	}
	calls := names{}
	for i := range in.Input {
		if err := addItem(out, calls, in.Input[i:]); err != nil {
			return nil, fmt.Errorf("input[%d]: %w", i, err)
		}
	}
	for id := range calls {
		if !slices.ContainsFunc(in.Input, func(item responsesItem) bool {
			return item.Type == "function_call_output" &&
				item.CallID == id
		}) {
			return nil, fmt.Errorf("no tool output found for function call %s", id)
		}
	}
	if out.Run == "" {
		out.Run = runOf(out)
	}
	return out, nil
}

// addItem adds the first item to the conversation.
func addItem(out *model.Request, calls names, items []responsesItem) error {
	item := &items[0]
	switch {
	case item.Type == "message" && item.Role == "user" && item.Content != nil:
		add(out, model.RoleUser, model.Text{Text: *item.Content})
	case item.Type == "message" && item.Role == "assistant" && item.Content != nil:
		add(out, model.RoleAssistant, model.Text{Text: *item.Content})
	case item.Type == "reasoning" && item.ID != "" && item.Summary != nil:
		if len(items) == 1 || items[1].Type != "reasoning" && items[1].Type != "function_call" &&
			items[1].Role != "assistant" {
			return fmt.Errorf("item '%s' of type 'reasoning' was provided without its required following item", item.ID)
		}
		var text strings.Builder
		for _, part := range item.Summary {
			text.WriteString(part.Text)
		}
		add(out, model.RoleAssistant, model.Reasoning{Text: text.String(), Signature: item.EncryptedContent})
	case item.Type == "function_call" && item.CallID != "" && item.Name != "" && json.Valid([]byte(item.Arguments)):
		calls[item.CallID] = item.Name
		add(out, model.RoleAssistant,
			model.Call{ID: item.CallID, Name: item.Name, Arguments: json.RawMessage(item.Arguments)})
	case item.Type == "function_call_output" && item.Output != nil:
		result, err := calls.result(item.CallID, *item.Output, false)
		if err != nil {
			return err
		}
		add(out, model.RoleTool, result)
	default:
		return fmt.Errorf("an item of type %q that is not complete", item.Type)
	}
	return nil
}

// responsesAnswer writes an answer as "Streaming events" describes it.
type responsesAnswer struct {
	begun bool
	index int
	kind  string // of the open item
	text  string // of the open item, so far
}

func (a *responsesAnswer) encode(event model.Event) string {
	var b strings.Builder
	if !a.begun {
		a.begun = true
		b.WriteString(named("response.created",
			`"response":{"id":"resp_1","object":"response","status":"in_progress","error":null,"output":[],"usage":null}`))
	}
	switch event := event.(type) {
	case model.TextDelta:
		b.WriteString(a.begin("message", `"status":"in_progress","role":"assistant","content":[]`))
		b.WriteString(a.delta("output_text", event.Text))
	case model.ReasoningDelta:
		b.WriteString(a.begin("reasoning", `"summary":[]`))
		b.WriteString(a.delta("reasoning_summary_text", event.Text))
	case model.Done:
		b.WriteString(a.end())
		for _, call := range event.Message.Calls() {
			members := `"call_id":` + quote(call.ID) + `,"name":` + quote(call.Name)
			b.WriteString(a.begin("function_call", members+`,"status":"in_progress","arguments":""`))
			for _, half := range halves(string(call.Arguments)) {
				b.WriteString(a.delta("function_call_arguments", half))
			}
			a.text = members + `,"status":"completed","arguments":` + quote(string(call.Arguments))
			b.WriteString(a.end())
		}
		kind, status, reason := "response.completed", "completed", "null"
		switch event.Stop {
		case model.StopLength:
			kind, status, reason = "response.incomplete", "incomplete", `{"reason":"max_output_tokens"}`
		case model.StopRefused:
			kind, status, reason = "response.incomplete", "incomplete", `{"reason":"content_filter"}`
		}
		usage := event.Usage
		b.WriteString(named(kind,
			fmt.Sprintf(
				`"response":{"id":"resp_1","object":"response","status":%s,"error":null,"incomplete_details":%s,"output":[],"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,"total_tokens":%d}}`,
				quote(status), reason, usage.Input+usage.Cached, usage.Cached, usage.Output,
				usage.Input+usage.Cached+usage.Output)))
	}
	return b.String()
}

// begin opens an item unless one of that type is open.
func (a *responsesAnswer) begin(kind, members string) string {
	if a.kind == kind {
		return ""
	}
	before := a.end()
	a.kind, a.text = kind, ""
	return before + named("response.output_item.added",
		fmt.Sprintf(`"output_index":%d,"item":{"id":"item_%d","type":%s,%s}`, a.index, a.index, quote(kind), members))
}

func (a *responsesAnswer) delta(kind, text string) string {
	a.text += text
	return named("response."+kind+".delta",
		fmt.Sprintf(`"item_id":"item_%d","output_index":%d,"content_index":0,"delta":%s`, a.index,
			a.index, quote(text)))
}

// end closes the open item, if any.
func (a *responsesAnswer) end() string {
	members := a.text // of a call
	switch a.kind {
	case "":
		return ""
	case "message":
		members = `"status":"completed","role":"assistant","content":[{"type":"output_text","text":` + quote(a.text) +
			`,"annotations":[]}]`
	case "reasoning":
		members = `"summary":[{"type":"summary_text","text":` + quote(a.text) + `}],"encrypted_content":"c2VhbA=="`
	}
	out := named("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":{"id":"item_%d","type":%s,%s}`,
		a.index, a.index, quote(a.kind), members))
	a.kind = ""
	a.index++
	return out
}

// responsesError is what the vendor answers for a failure; within an answer it is an event with a type.
func responsesError(failure *model.Error) (int, string) {
	status, body := openAIError(failure)
	return status, `{"type":"error",` + strings.TrimPrefix(body, "{")
}
