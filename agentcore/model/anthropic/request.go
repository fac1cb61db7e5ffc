package anthropic

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// body is the request body of Messages.
type body struct {
	MaxTokens    int          `json:"max_tokens"`
	Messages     []content    `json:"messages"` // empty: see messages
	Model        string       `json:"model"`
	Temperature  *float64     `json:"temperature,omitempty"`
	Metadata     metadata     `json:"metadata,omitzero"`
	System       []content    `json:"system,omitempty"`
	ToolChoice   toolChoice   `json:"tool_choice,omitzero"`
	Tools        []tool       `json:"tools,omitempty"`
	Thinking     thinking     `json:"thinking,omitzero"`
	OutputConfig outputConfig `json:"output_config,omitzero"`
	Stream       bool         `json:"stream"`
}

type metadata struct {
	UserID string `json:"user_id"`
}

type toolChoice struct {
	Type string `json:"type"`
}

type tool struct {
	InputSchema  json.RawMessage `json:"input_schema"`
	Name         string          `json:"name"`
	CacheControl *marker         `json:"cache_control,omitempty"`
	Description  string          `json:"description,omitempty"`
}

// content is a content block of one of the types text, thinking, redacted_thinking, tool_use, tool_result and image.
type content struct {
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	ID           string          `json:"id,omitempty"`
	Signature    string          `json:"signature,omitempty"`
	Thinking     *string         `json:"thinking,omitempty"`
	Data         string          `json:"data,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	Name         string          `json:"name,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
	Source       *source         `json:"source,omitempty"`
	Text         string          `json:"text,omitempty"`
	CacheControl *marker         `json:"cache_control,omitempty"`
	Content      []content       `json:"content,omitempty"`
	Type         string          `json:"type"`
}

// source is an image in base64.
type source struct {
	Data      string `json:"data"`
	MediaType string `json:"media_type"`
	Type      string `json:"type"`
}

// marker makes the vendor cache everything before it ("Prompt caching" page).
type marker struct {
	Type string `json:"type"`
}

var ephemeral = &marker{"ephemeral"}

// params makes the request body without its messages. Cache markers (at most four are allowed) stand behind the system
// prompt, the last tool and the last message, and at the place where the last message of the former request ended: the
// vendor looks only 20 blocks back from a marker, and a turn with many parallel calls has more.
func (c *claude) params(request *model.Request) *body {
	params := &body{
		MaxTokens: cmp.Or(request.MaxTokens, c.maxTokens), Messages: []content{}, Model: c.model,
		Temperature: request.Temperature, Metadata: metadata{request.Run}, Stream: true,
	}
	c.think(params, request)
	if request.System != "" {
		params.System = []content{{Text: request.System, CacheControl: ephemeral, Type: "text"}}
	}
	for i, offered := range request.Tools {
		t := tool{InputSchema: offered.Schema, Name: offered.Name, Description: offered.Description}
		if len(t.InputSchema) == 0 {
			t.InputSchema = json.RawMessage(`{"type":"object"}`)
		}
		if i == len(request.Tools)-1 {
			t.CacheControl = ephemeral
		}
		params.Tools = append(params.Tools, t)
	}
	if request.NoCalls && len(request.Tools) > 0 { // the vendor refuses tool_choice without tools
		params.ToolChoice.Type = "none"
	}
	return params
}

// mark puts a cache marker on the last block, and reports whether it could: a block with thinking takes no marker.
func mark(blocks []content) bool {
	if len(blocks) == 0 {
		return false
	}
	last := &blocks[len(blocks)-1]
	if last.Type == "thinking" || last.Type == "redacted_thinking" {
		return false
	}
	last.CacheControl = ephemeral
	return true
}

// roleOf is the vendor's role for a message: tool results belong to the user.
func roleOf(message *model.Message) string {
	if message.Role == model.RoleAssistant {
		return "assistant"
	}
	return "user"
}

// between is the text before the blocks of a message. Adjacent messages of one role become one message of the vendor's,
// since the vendor's roles must alternate.
func between(before, after *model.Message) string {
	head := `{"role":"` + roleOf(after) + `","content":[`
	switch {
	case before == nil:
		return head
	case roleOf(before) == roleOf(after):
		return ","
	}
	return "]}," + head
}

// messages turns a conversation into the vendor's, as JSON, and sets the cache markers of messages; see params.
func (c *claude) messages(conversation []model.Message) (transport.Conversation, error) {
	said, err := c.encodings.Join(conversation,
		func(m model.Message) ([]byte, error) { return encode(blocks(m.Parts)) }, between)
	if err != nil || len(said.Pieces) == 0 {
		return said, err
	}
	// Backwards, to find the last of our messages in each of the vendor's.
	var pieces [][]byte
	end, marked, later := -1, 0, ""
	for i := len(conversation) - 1; i >= 0 && marked < 2; i-- {
		from, to := said.Span(i)
		if from == to {
			continue // the vendor refuses empty messages
		}
		if end < 0 {
			end, pieces = to, [][]byte{[]byte("]}")}
		}
		role := roleOf(&conversation[i])
		last := role != later
		later = role
		if !last || role != "user" {
			continue
		}
		if content := blocks(conversation[i].Parts); mark(content) {
			raw, err := encode(content)
			if err != nil {
				return said, err
			}
			pieces = append(pieces, said.Between(to, end), raw)
			end = from
			marked++
		}
	}
	if end < 0 {
		said.Pieces = nil
		return said, nil
	}
	pieces = append(pieces, said.Between(0, end))
	slices.Reverse(pieces)
	said.Pieces = pieces
	return said, nil
}

// encode returns blocks as JSON, with commas between them.
func encode(blocks []content) ([]byte, error) { return transport.EncodeAll(blocks) }

// picture is an image as a content block.
func picture(image model.Image) content {
	return content{
		Source: &source{Data: image.Base64(), MediaType: image.MediaType, Type: "base64"}, Type: "image",
	}
}

// blocks turns the parts of a message into content blocks.
func blocks(parts []model.Part) []content {
	out := make([]content, 0, len(parts))
	for _, part := range parts {
		switch part := part.(type) {
		case model.Text:
			if strings.TrimSpace(part.Text) != "" { // the vendor refuses blank text
				out = append(out, content{Text: part.Text, Type: "text"})
			}
		case model.Picture:
			out = append(out, picture(part.Image))
		case model.Reasoning:
			switch {
			case part.Redacted != "":
				out = append(out, content{Data: part.Redacted, Type: "redacted_thinking"})
			// The vendor refuses thinking without a signature, or with another vendor's. Anthropic's signatures are
			// base64, while the others begin with a name and a colon.
			case part.Signature != "" && !strings.Contains(part.Signature, ":"):
				out = append(out, content{Signature: part.Signature, Thinking: &part.Text, Type: "thinking"})
			}
		case model.Call:
			out = append(out,
				content{ID: part.ID, Input: model.Object(part.Arguments), Name: part.Name, Type: "tool_use"})
		case model.Result:
			result := content{ToolUseID: part.ID, IsError: part.Error, Type: "tool_result"}
			if part.Text != "" {
				result.Content = []content{{Text: part.Text, Type: "text"}}
			}
			for _, image := range part.Images {
				result.Content = append(result.Content, picture(image))
			}
			out = append(out, result)
		}
	}
	return out
}
