package anthropic

import (
	"cmp"
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// params makes the request body. Cache markers (at most four are allowed) stand behind the system prompt, the last
// tool and the last message, and where the last message of the former request ended: the vendor looks back only
// 20 blocks from a marker, which a turn with many parallel calls exceeds.
func (c *claude) params(request *model.Request) sdk.MessageNewParams {
	params := sdk.MessageNewParams{
		Model:     sdk.Model(c.model),
		MaxTokens: int64(cmp.Or(request.MaxTokens, c.maxTokens)),
		Messages:  messages(request.Messages),
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
	marked := 0
	for i := len(params.Messages) - 1; i >= 0 && marked < 2; i-- {
		if params.Messages[i].Role == sdk.MessageParamRoleUser && mark(params.Messages[i].Content) {
			marked++
		}
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

// messages turns a conversation into the vendor's, where tool results are blocks of a user message. Neighbours of one
// role become one message, since roles must alternate.
func messages(conversation []model.Message) []sdk.MessageParam {
	out := make([]sdk.MessageParam, 0, len(conversation))
	for _, message := range conversation {
		role := sdk.MessageParamRoleUser
		if message.Role == model.RoleAssistant {
			role = sdk.MessageParamRoleAssistant
		}
		content := blocks(message.Parts)
		if len(content) == 0 {
			continue // the vendor refuses empty messages
		}
		if last := len(out) - 1; last >= 0 && out[last].Role == role {
			out[last].Content = append(out[last].Content, content...)
			continue
		}
		out = append(out, sdk.MessageParam{Role: role, Content: content})
	}
	return out
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
			case part.Signature != "": // without its seal it is refused
				out = append(out, sdk.NewThinkingBlock(part.Signature, part.Text))
			}
		case model.Call:
			out = append(out, sdk.NewToolUseBlock(part.ID, transport.Object(part.Arguments), part.Name))
		case model.Result:
			result := sdk.ToolResultBlockParam{ToolUseID: part.ID}
			if part.Error {
				result.IsError = param.NewOpt(true)
			}
			if part.Text != "" {
				result.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: part.Text}}}
			}
			out = append(out, sdk.ContentBlockParamUnion{OfToolResult: &result})
		}
	}
	return out
}
