package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// params makes the request body without its messages. Cache markers (at most four are allowed) stand behind the system
// prompt, the last tool and the last message, and where the last message of the former request ended: the vendor looks
// back only 20 blocks from a marker, which a turn with many parallel calls exceeds.
func (c *claude) params(request *model.Request) sdk.MessageNewParams {
	params := sdk.MessageNewParams{
		Model:     sdk.Model(c.model),
		MaxTokens: int64(cmp.Or(request.MaxTokens, c.maxTokens)),
		Messages:  []sdk.MessageParam{}, // see messages
	}
	if request.System != "" {
		params.System = []sdk.TextBlockParam{{Text: request.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	if request.Temperature != nil {
		params.Temperature = param.NewOpt(*request.Temperature)
	}
	if request.Run != "" {
		params.Metadata = sdk.MetadataParam{UserID: param.NewOpt(request.Run)}
	}
	for i, tool := range request.Tools {
		schema := tool.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		t := sdk.ToolParam{
			Name:        tool.Name,
			InputSchema: param.Override[sdk.ToolInputSchemaParam](schema),
		}
		if tool.Description != "" {
			t.Description = param.NewOpt(tool.Description)
		}
		if i == len(request.Tools)-1 {
			t.CacheControl = sdk.NewCacheControlEphemeralParam()
		}
		params.Tools = append(params.Tools, sdk.ToolUnionParam{OfTool: &t})
	}
	if request.NoCalls && len(request.Tools) > 0 { // the vendor refuses a choice among no tools
		none := sdk.NewToolChoiceNoneParam()
		params.ToolChoice = sdk.ToolChoiceUnionParam{OfNone: &none}
	}
	return params
}

// mark puts a cache marker on the last block, if that can carry one.
func mark(blocks []sdk.ContentBlockParamUnion) bool {
	if len(blocks) == 0 {
		return false
	}
	marker := blocks[len(blocks)-1].GetCacheControl()
	if marker == nil {
		return false
	}
	*marker = sdk.NewCacheControlEphemeralParam()
	return true
}

// roleOf is who says a message to the vendor: tool results are the user's.
func roleOf(message *model.Message) sdk.MessageParamRole {
	if message.Role == model.RoleAssistant {
		return sdk.MessageParamRoleAssistant
	}
	return sdk.MessageParamRoleUser
}

// between is what stands in front of the blocks of a message: neighbours of one role are one message of the vendor's,
// whose roles must alternate.
func between(before, after *model.Message) string {
	head := `{"role":"` + string(roleOf(after)) + `","content":[`
	switch {
	case before == nil:
		return head
	case roleOf(before) == roleOf(after):
		return ","
	}
	return "]}," + head
}

// messages turns a conversation into the vendor's, as JSON, and sets the cache markers of the messages: see params.
func (c *claude) messages(conversation []model.Message) (transport.Conversation, error) {
	said, err := c.encodings.Join(conversation,
		func(m model.Message) ([]byte, error) { return encode(blocks(m.Parts)) }, between)
	if err != nil || len(said.Pieces) == 0 {
		return said, err
	}
	// From the end: the last of our messages in each of the vendor's.
	var pieces [][]byte
	end, marked, later := -1, 0, sdk.MessageParamRole("")
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
		if !last || role != sdk.MessageParamRoleUser {
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
func encode(content []sdk.ContentBlockParamUnion) ([]byte, error) {
	list := make([][]byte, len(content))
	for i, block := range content {
		var err error
		if list[i], err = block.MarshalJSON(); err != nil {
			return nil, err
		}
	}
	return bytes.Join(list, []byte(",")), nil
}

func blocks(parts []model.Part) []sdk.ContentBlockParamUnion {
	out := make([]sdk.ContentBlockParamUnion, 0, len(parts))
	for _, part := range parts {
		switch part := part.(type) {
		case model.Text:
			if strings.TrimSpace(part.Text) != "" { // the vendor refuses blank text
				out = append(out, sdk.NewTextBlock(part.Text))
			}
		case model.Reasoning:
			switch {
			case part.Redacted != "":
				out = append(out, sdk.NewRedactedThinkingBlock(part.Redacted))
			// Without its seal, or with another vendor's, it is refused. Ours are base64, the others begin with a name
			// and a colon.
			case part.Signature != "" && !strings.Contains(part.Signature, ":"):
				out = append(out, sdk.NewThinkingBlock(part.Signature, part.Text))
			}
		case model.Call:
			out = append(out, sdk.NewToolUseBlock(part.ID, model.Object(part.Arguments), part.Name))
		case model.Result:
			result := sdk.ToolResultBlockParam{ToolUseID: part.ID}
			if part.Error {
				result.IsError = param.NewOpt(true)
			}
			if part.Text != "" {
				result.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: part.Text}}}
			}
			for _, image := range part.Images {
				block := sdk.NewImageBlockBase64(image.MediaType, image.Base64())
				result.Content = append(result.Content, sdk.ToolResultBlockParamContentUnion{OfImage: block.OfImage})
			}
			out = append(out, sdk.ContentBlockParamUnion{OfToolResult: &result})
		}
	}
	return out
}
