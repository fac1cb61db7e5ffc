package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// chatBody is the request body of Chat Completions.
type chatBody struct {
	Messages            []message     `json:"messages"` // empty: see messages
	Model               string        `json:"model"`
	MaxCompletionTokens int           `json:"max_completion_tokens,omitempty"`
	MaxTokens           int           `json:"max_tokens,omitempty"`
	PromptCacheKey      string        `json:"prompt_cache_key,omitempty"`
	Temperature         *float64      `json:"temperature,omitempty"`
	ReasoningEffort     model.Effort  `json:"reasoning_effort,omitempty"`
	StreamOptions       streamOptions `json:"stream_options"`
	ToolChoice          string        `json:"tool_choice,omitempty"`
	Tools               []chatTool    `json:"tools,omitempty"`
	Stream              bool          `json:"stream"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatTool struct {
	Function definition `json:"function"`
	Type     string     `json:"type"`
}

// definition is a tool's with its schema as it was written.
type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// message is a message of the system, the user or a tool. Its content is a string or a list of contentPart.
type message struct {
	Content    any    `json:"content"`
	ToolCallID string `json:"tool_call_id,omitempty"`
	Role       string `json:"role"`
}

// contentPart is a text or an image.
type contentPart struct {
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
	Type     string    `json:"type"`
}

type imageURL struct {
	URL string `json:"url"`
}

// params makes the request body. Parameters that only the vendor knows are sent only to the vendor, since some servers
// refuse unknown parameters.
func (c *chat) params(request *model.Request) *chatBody {
	params := &chatBody{
		Messages: []message{}, Model: c.model, Temperature: request.Temperature,
		ReasoningEffort: request.Effort, StreamOptions: streamOptions{IncludeUsage: true}, Stream: true,
	}
	if limit := max(0, cmp.Or(request.MaxTokens, c.maxTokens)); c.Own {
		params.MaxCompletionTokens = limit
	} else {
		params.MaxTokens = limit
	}
	if c.Own {
		params.PromptCacheKey = request.Run
	}
	for _, tool := range request.Tools {
		params.Tools = append(params.Tools,
			chatTool{Function: definition{tool.Name, tool.Description, tool.Schema}, Type: "function"})
	}
	if request.NoCalls && len(request.Tools) > 0 { // the vendor refuses tool_choice without tools
		params.ToolChoice = "none"
	}
	return params
}

// lead is the system prompt as the vendor's first message, as JSON; nil for none.
func lead(request *model.Request) ([]byte, error) {
	if request.System == "" {
		return nil, nil
	}
	system, err := transport.Encode(message{Content: request.System, Role: "system"})
	if err != nil {
		return nil, fmt.Errorf("encode the system prompt: %w", err)
	}
	return system, nil
}

// encode turns a message into the vendor's, as JSON. Each tool result becomes a message of its own, with commas between
// them. Prose becomes a plain string, which every server accepts. The API has no member for reasoning; see
// encodeAssistant.
func (c *chat) encode(m model.Message) ([]byte, error) {
	switch m.Role {
	case model.RoleAssistant:
		return c.encodeAssistant(m)
	case model.RoleTool:
		return c.encodeResults(m)
	default:
		return transport.Encode(message{Content: c.said(m), Role: "user"})
	}
}

// said is the content of a user's message: a plain string, or parts if it has images that the server accepts.
func (c *chat) said(m model.Message) any {
	text := prose(m)
	list := []contentPart{{Text: text, Type: "text"}}
	for _, part := range m.Parts {
		picture, ok := part.(model.Picture)
		switch {
		case !ok:
		case c.Own:
			list = append(list, contentPart{ImageURL: &imageURL{picture.Image.DataURL()}, Type: "image_url"})
		default:
			text += "\n" + picture.Unseen()
		}
	}
	if len(list) > 1 {
		return list
	}
	return text
}

// encodeResults turns the results of tools into the vendor's messages. These cannot have images. On the vendor's own
// server, images follow as a message of the user; another server may have a model that does not see, and would refuse
// the request.
func (c *chat) encodeResults(m model.Message) ([]byte, error) {
	var list []message
	var seen []contentPart
	for _, part := range m.Parts {
		result, ok := part.(model.Result)
		if !ok {
			continue
		}
		text := result.Text
		if !c.Own {
			text += result.Unseen()
		} else {
			for _, image := range result.Images {
				title := fmt.Sprintf("The image of the result of %s (%s):", result.Name, result.ID)
				seen = append(seen, contentPart{Text: title, Type: "text"},
					contentPart{ImageURL: &imageURL{image.DataURL()}, Type: "image_url"})
			}
		}
		list = append(list, message{Content: text, ToolCallID: result.ID, Role: "tool"})
	}
	if len(seen) > 0 {
		list = append(list, message{Content: seen, Role: "user"})
	}
	return transport.EncodeAll(list)
}

// signedByGoogle is the prefix of Google's signatures in our conversations, by which those of other vendors are not
// sent.
const signedByGoogle = "google:"

// assistant is a message of the model, with members that the vendor's message does not have.
type assistant struct {
	Role             string     `json:"role"`
	Content          *string    `json:"content,omitempty"`
	ReasoningContent string     `json:"reasoning_content,omitempty"`
	ToolCalls        []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	ExtraContent *extraContent `json:"extra_content,omitempty"`
}

// encodeAssistant turns a message of the model into the vendor's. Servers whose models think between calls require the
// reasoning with the calls to which it led, in the member in which they sent it. Google requires its signature. No
// other server is sent reasoning or signatures.
func (c *chat) encodeAssistant(message model.Message) ([]byte, error) {
	a := assistant{Role: "assistant"}
	reasoning, signature := "", ""
	for _, part := range message.Parts {
		switch part := part.(type) {
		case model.Reasoning:
			if rest, ok := strings.CutPrefix(part.Signature, signedByGoogle); ok {
				signature = rest
			} else if part.Signature == "" {
				reasoning += part.Text
			}
		case model.Call:
			call := toolCall{ID: part.ID, Type: "function"}
			call.Function.Name, call.Function.Arguments = part.Name, string(model.Object(part.Arguments))
			if signature != "" {
				call.ExtraContent = &extraContent{}
				call.ExtraContent.Google.ThoughtSignature, signature = signature, ""
			}
			a.ToolCalls = append(a.ToolCalls, call)
		}
	}
	if text := prose(message); text != "" || len(a.ToolCalls) == 0 {
		a.Content = &text
	}
	if c.wantsReasoning || len(a.ToolCalls) > 0 && c.takesReasoning.Load() {
		a.ReasoningContent = reasoning
	}
	return transport.Encode(a)
}

// prose joins the text parts of a message with line breaks.
func prose(message model.Message) string {
	var texts []string
	for _, part := range message.Parts {
		if text, ok := part.(model.Text); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n")
}
