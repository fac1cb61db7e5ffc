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
)

// definition is a tool's with its schema as it was written: the SDK's type would sort its keys.
type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// params makes the request body. What only the vendor knows is sent to the vendor alone: some servers
// refuse parameters that they do not know.
func (c *chat) params(request *model.Request) sdk.ChatCompletionNewParams {
	params := sdk.ChatCompletionNewParams{
		Model:         shared.ChatModel(c.model),
		Messages:      []sdk.ChatCompletionMessageParamUnion{}, // see Stream
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	if limit := cmp.Or(request.MaxTokens, c.maxTokens); limit > 0 {
		if c.Own {
			params.MaxCompletionTokens = param.NewOpt(int64(limit))
		} else {
			params.MaxTokens = param.NewOpt(int64(limit))
		}
	}
	if request.Temperature != nil {
		params.Temperature = param.NewOpt(*request.Temperature)
	}
	if c.Own && request.Run != "" {
		params.PromptCacheKey = param.NewOpt(request.Run)
	}
	for _, tool := range request.Tools {
		params.Tools = append(params.Tools,
			sdk.ChatCompletionToolUnionParam{OfFunction: &sdk.ChatCompletionFunctionToolParam{
				Function: param.Override[shared.FunctionDefinitionParam](definition{
					tool.Name, tool.Description,
					tool.Schema,
				}),
			}})
	}
	if request.NoCalls && len(request.Tools) > 0 { // the vendor refuses a choice among no tools
		params.ToolChoice = sdk.ChatCompletionToolChoiceOptionUnionParam{
			OfAuto: param.NewOpt(string(sdk.ChatCompletionToolChoiceOptionAutoNone)),
		}
	}
	return params
}

// lead is the system prompt as the vendor's first message, as JSON; nil for none.
func lead(request *model.Request) ([]byte, error) {
	if request.System == "" {
		return nil, nil
	}
	system, err := sdk.SystemMessage(request.System).MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encode the system prompt: %w", err)
	}
	return system, nil
}

var comma = []byte(",")

// encode turns a message into the vendor's, as JSON: each tool result is one of its own, with commas between them, and
// prose a plain string, which every server takes. The API has no place for reasoning; see encodeAssistant.
func (c *chat) encode(message model.Message) ([]byte, error) {
	switch message.Role {
	case model.RoleAssistant:
		return c.encodeAssistant(message)
	case model.RoleTool:
		return c.encodeResults(message)
	default:
		return sdk.UserMessage(prose(message)).MarshalJSON()
	}
}

// encodeResults turns the results of tools into the vendor's messages. Those have no place for images: they follow as a
// message of the user, on the vendor's own server; others may have a model that does not see, and would refuse the
// request.
func (c *chat) encodeResults(message model.Message) ([]byte, error) {
	var list [][]byte
	var seen []sdk.ChatCompletionContentPartUnionParam
	for _, part := range message.Parts {
		result, ok := part.(model.Result)
		if !ok {
			continue
		}
		text := result.Text
		if !c.Own {
			text += result.Unseen()
		} else {
			for _, image := range result.Images {
				seen = append(seen,
					sdk.TextContentPart(fmt.Sprintf("The image of the result of %s (%s):", result.Name, result.ID)),
					sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: image.DataURL()}))
			}
		}
		raw, err := sdk.ToolMessage(text, result.ID).MarshalJSON()
		if err != nil {
			return nil, err
		}
		list = append(list, raw)
	}
	if len(seen) > 0 {
		raw, err := sdk.UserMessage(seen).MarshalJSON()
		if err != nil {
			return nil, err
		}
		list = append(list, raw)
	}
	return bytes.Join(list, comma), nil
}

// signedByGoogle stands before Google's signatures in our conversations, so that those of other vendors are never sent.
const signedByGoogle = "google:"

// assistant is a message of the model, with what the vendor's does not have.
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

// encodeAssistant turns a message of the model into the vendor's. Servers whose models think between calls want the
// reasoning back with the calls that it led to, in the member that they have sent it in, and Google its signature;
// nobody else is sent either.
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
	return json.Marshal(a)
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
