package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// responsesBody is the request body of Responses.
type responsesBody struct {
	Instructions    string          `json:"instructions,omitempty"`
	MaxOutputTokens int             `json:"max_output_tokens,omitempty"`
	PromptCacheKey  string          `json:"prompt_cache_key,omitempty"`
	Store           bool            `json:"store"`
	Temperature     *float64        `json:"temperature,omitempty"`
	Include         []string        `json:"include,omitempty"`
	Input           []item          `json:"input"` // empty: see input
	Model           string          `json:"model"`
	Reasoning       reasoning       `json:"reasoning,omitzero"`
	ToolChoice      string          `json:"tool_choice,omitempty"`
	Tools           []responsesTool `json:"tools,omitempty"`
	Stream          bool            `json:"stream"`
}

// reasoning says how much the model is to reason, and in what form it sends its reasoning.
type reasoning struct {
	Effort  model.Effort `json:"effort,omitempty"`
	Summary string       `json:"summary,omitempty"`
}

// responsesTool is a tool of Responses with its schema as it was written. Without strict, the server would require a
// schema of its own kind.
type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// params makes the request body without its input, and without what the server has refused: summaries of the reasoning,
// or sealed reasoning.
func (r *responder) params(request *model.Request, unsummed, unsealed bool) *responsesBody {
	params := &responsesBody{
		Instructions: request.System, MaxOutputTokens: max(0, cmp.Or(request.MaxTokens, r.maxTokens)),
		Temperature: request.Temperature, Input: []item{}, Model: r.model, Stream: true,
	}
	if r.Own {
		params.PromptCacheKey = request.Run
	}
	if r.reasons() && !unsealed {
		params.Include = []string{"reasoning.encrypted_content"}
	}
	params.Reasoning.Effort = request.Effort
	if r.reasons() && !unsummed {
		params.Reasoning.Summary = "auto"
	}
	for _, tool := range request.Tools {
		schema := tool.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		params.Tools = append(params.Tools, responsesTool{
			Type: "function", Name: tool.Name, Description: tool.Description, Parameters: schema,
		})
	}
	if request.NoCalls && len(request.Tools) > 0 {
		params.ToolChoice = "none"
	}
	return params
}

// item is one of the input: a message, a call, its output, or reasoning.
type item struct {
	Type      string     `json:"type"`
	Role      model.Role `json:"role,omitempty"`
	Content   any        `json:"content,omitempty"` // a string, or a list of outputs
	CallID    string     `json:"call_id,omitempty"`
	Name      string     `json:"name,omitempty"`
	Arguments string     `json:"arguments,omitempty"`
	Output    any        `json:"output,omitempty"` // a string, or a list of outputs
	ID        string     `json:"id,omitempty"`
	Summary   []summary  `json:"summary,omitzero"`
	Encrypted string     `json:"encrypted_content,omitempty"`
}

// outputPart is a part of a call's result, or of a user's message ("Function calling": results with images; "Images and
// vision").
type outputPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
}

type summary struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// encodeItems turns a message into items, as JSON with commas between them.
func encodeItems(message model.Message) ([]byte, error) {
	return transport.EncodeAll(items(message))
}

// items turns a message into items. Reasoning is sent back as the server has sealed it, and only before the text or
// call to which it led: the server refuses it alone.
func items(message model.Message) []item {
	var out, thoughts []item
	for _, part := range message.Parts {
		switch part := part.(type) {
		case model.Text:
			if part.Text != "" {
				out = append(append(out, thoughts...), item{Type: "message", Role: message.Role, Content: part.Text})
				thoughts = nil
			}
		case model.Picture:
			image := []outputPart{{Type: "input_image", ImageURL: part.Image.DataURL()}}
			out = append(out, item{Type: "message", Role: message.Role, Content: image})
		case model.Reasoning:
			if id, encrypted, ok := unseal(part.Signature); ok {
				thought := item{Type: "reasoning", ID: id, Encrypted: encrypted, Summary: []summary{}}
				if part.Text != "" {
					thought.Summary = append(thought.Summary, summary{"summary_text", part.Text})
				}
				thoughts = append(thoughts, thought)
			}
		case model.Call:
			out = append(append(out, thoughts...),
				item{
					Type: "function_call", CallID: part.ID, Name: part.Name,
					Arguments: string(model.Object(part.Arguments)),
				})
			thoughts = nil
		case model.Result:
			result := item{Type: "function_call_output", CallID: part.ID, Output: part.Text}
			if len(part.Images) > 0 {
				list := []outputPart{{Type: "input_text", Text: part.Text}}
				for _, image := range part.Images {
					list = append(list, outputPart{Type: "input_image", ImageURL: image.DataURL()})
				}
				result.Output = list
			}
			out = append(out, result)
		}
	}
	return out
}

// sealed is the prefix of the vendor's sealed reasoning in our conversations, by which that of other vendors is not
// sent.
const sealed = "openai:"

// seal makes the signature of a reasoning from its item.
func seal(id, encrypted string) string { return sealed + id + ":" + encrypted }

// unseal splits a signature. ok is false for no signature, and for another vendor's.
func unseal(signature string) (id, encrypted string, ok bool) {
	rest, ours := strings.CutPrefix(signature, sealed)
	id, encrypted, ok = strings.Cut(rest, ":")
	return id, encrypted, ours && ok
}
