package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// function is a tool's definition with its schema as it was written: the SDK's type would sort its keys.
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// params makes the request body. What only the vendor knows is sent to the vendor alone: some servers
// refuse parameters that they do not know.
func (c *chat) params(request *model.Request) sdk.ChatCompletionNewParams {
	params := sdk.ChatCompletionNewParams{
		Model:         shared.ChatModel(c.model),
		Messages:      []sdk.ChatCompletionMessageParamUnion{}, // see messages
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	if limit := cmp.Or(request.MaxTokens, c.maxTokens); limit > 0 {
		if c.vendor {
			params.MaxCompletionTokens = param.NewOpt(int64(limit))
		} else {
			params.MaxTokens = param.NewOpt(int64(limit))
		}
	}
	if request.Temperature != nil {
		params.Temperature = param.NewOpt(*request.Temperature)
	}
	if c.vendor && request.Run != "" {
		params.PromptCacheKey = param.NewOpt(request.Run)
	}
	for _, tool := range request.Tools {
		params.Tools = append(params.Tools, sdk.ChatCompletionToolUnionParam{OfFunction: &sdk.ChatCompletionFunctionToolParam{
			Function: param.Override[shared.FunctionDefinitionParam](function{tool.Name, tool.Description, tool.Schema}),
		}})
	}
	if request.NoCalls && len(request.Tools) > 0 { // the vendor refuses a choice among no tools
		params.ToolChoice = sdk.ChatCompletionToolChoiceOptionUnionParam{
			OfAuto: param.NewOpt(string(sdk.ChatCompletionToolChoiceOptionAutoNone)),
		}
	}
	return params
}

// messages turns a conversation into the vendor's, as JSON: the system prompt is the first message, each tool result one
// of its own, and prose a plain string, which every server takes. Reasoning is not sent: the API has no place for it.
func (c *chat) messages(request *model.Request) ([][]byte, error) {
	list, err := c.encodings.List(request.Messages, encode)
	if err != nil {
		return nil, err
	}
	var pieces [][]byte
	if request.System != "" {
		system, err := sdk.SystemMessage(request.System).MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("encode the system prompt: %w", err)
		}
		pieces = append(pieces, system)
	}
	for _, message := range list {
		switch {
		case len(message) == 0:
		case len(pieces) == 0:
			pieces = append(pieces, message)
		default:
			pieces = append(pieces, comma, message)
		}
	}
	return pieces, nil
}

var comma = []byte(",")

// encode turns a message into the vendor's, as JSON; those of several results are separated by commas.
func encode(message model.Message) ([]byte, error) {
	switch message.Role {
	case model.RoleAssistant:
		return assistant(message).MarshalJSON()
	case model.RoleTool:
		var list [][]byte
		for _, part := range message.Parts {
			if result, ok := part.(model.Result); ok {
				raw, err := sdk.ToolMessage(result.Text, result.ID).MarshalJSON()
				if err != nil {
					return nil, err
				}
				list = append(list, raw)
			}
		}
		return bytes.Join(list, comma), nil
	default:
		return sdk.UserMessage(prose(message)).MarshalJSON()
	}
}

func assistant(message model.Message) sdk.ChatCompletionMessageParamUnion {
	var a sdk.ChatCompletionAssistantMessageParam
	calls := message.Calls()
	if text := prose(message); text != "" || len(calls) == 0 {
		a.Content.OfString = param.NewOpt(text)
	}
	for _, call := range calls {
		a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
			ID:       call.ID,
			Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: call.Name, Arguments: string(transport.Object(call.Arguments))},
		}})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &a}
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
