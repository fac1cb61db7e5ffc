package openai

import (
	"cmp"
	"encoding/json"
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
		Messages:      messages(request),
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

// messages turns a conversation into the vendor's: the system prompt is the first message, each tool result one of
// its own, and prose a plain string, which every server takes. Reasoning is not sent: the API has no place for it.
func messages(request *model.Request) []sdk.ChatCompletionMessageParamUnion {
	out := make([]sdk.ChatCompletionMessageParamUnion, 0, len(request.Messages)+1)
	if request.System != "" {
		out = append(out, sdk.SystemMessage(request.System))
	}
	for _, message := range request.Messages {
		switch message.Role {
		case model.RoleAssistant:
			out = append(out, assistant(message))
		case model.RoleTool:
			for _, part := range message.Parts {
				if result, ok := part.(model.Result); ok {
					out = append(out, sdk.ToolMessage(result.Text, result.ID))
				}
			}
		default:
			out = append(out, sdk.UserMessage(prose(message)))
		}
	}
	return out
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
