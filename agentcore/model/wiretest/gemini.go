package wiretest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
)

// geminiRequest is the body of streamGenerateContent, as far as the wire uses it.
type geminiRequest struct {
	SystemInstruction struct {
		Parts []geminiPart `json:"parts"`
	} `json:"systemInstruction"`
	Tools []struct {
		FunctionDeclarations []struct {
			Name                 string          `json:"name"`
			Description          string          `json:"description"`
			ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	ToolConfig *struct {
		FunctionCallingConfig struct {
			Mode string `json:"mode"`
		} `json:"functionCallingConfig"`
	} `json:"toolConfig"`
	GenerationConfig struct {
		MaxOutputTokens int      `json:"maxOutputTokens"`
		Temperature     *float64 `json:"temperature"`
		ThinkingConfig  struct {
			IncludeThoughts bool         `json:"includeThoughts"`
			ThinkingLevel   model.Effort `json:"thinkingLevel"`
			ThinkingBudget  int          `json:"thinkingBudget"`
		} `json:"thinkingConfig"`
	} `json:"generationConfig"`
	Contents []struct {
		Role  string       `json:"role"`
		Parts []geminiPart `json:"parts"`
	} `json:"contents"`
}

// geminiPart is a part of any type.
type geminiPart struct {
	Text             *string `json:"text"`
	Thought          bool    `json:"thought"`
	ThoughtSignature string  `json:"thoughtSignature"`
	FunctionCall     *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	FunctionResponse *struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Response struct {
			Output string `json:"output"`
			Error  string `json:"error"`
		} `json:"response"`
	} `json:"functionResponse"`
}

// decodeGemini reads a request and refuses what the vendor refuses.
func decodeGemini(raw []byte) (*model.Request, error) {
	var in geminiRequest
	if err := strict(raw, &in); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	out := &model.Request{
		MaxTokens: in.GenerationConfig.MaxOutputTokens, Temperature: in.GenerationConfig.Temperature,
		Effort: in.GenerationConfig.ThinkingConfig.ThinkingLevel,
	}
	out.NoCalls = in.ToolConfig != nil && in.ToolConfig.FunctionCallingConfig.Mode == "NONE"
	for _, part := range in.SystemInstruction.Parts {
		if part.Text != nil {
			out.System += *part.Text
		}
	}
	for _, list := range in.Tools {
		for _, tool := range list.FunctionDeclarations {
			if tool.Name == "" {
				return nil, errors.New("GenerateContentRequest.tools: a function needs a name")
			}
			out.Tools = append(out.Tools,
				model.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.ParametersJSONSchema})
		}
	}
	if len(in.Contents) == 0 {
		return nil, errors.New("GenerateContentRequest.contents: contents is not specified")
	}
	calls := names{}
	waiting := 0 // calls without a result
	for i, content := range in.Contents {
		if len(content.Parts) == 0 || content.Role != "user" && content.Role != "model" {
			return nil,
				fmt.Errorf(
					"GenerateContentRequest.contents[%d]: parts must not be empty, and the role is user or model", i)
		}
		made, answered := 0, 0
		for j := range content.Parts {
			part := &content.Parts[j]
			if part.FunctionCall != nil {
				if made++; made == 1 && part.ThoughtSignature == "" {
					return nil, fmt.Errorf("function call %s in the content %d is missing a thought_signature",
						part.FunctionCall.Name, i)
				}
			}
			if part.FunctionResponse != nil {
				answered++
			}
			if err := addGemini(out, calls, content.Role, part); err != nil {
				return nil, fmt.Errorf("contents[%d].parts[%d]: %w", i, j, err)
			}
		}
		if answered != waiting {
			return nil,
				errors.New(
					"the number of function response parts must equal that of the function call parts of the " +
						"function call turn")
		}
		waiting = made
	}
	out.Run = runOf(out)
	return out, nil
}

// addGemini adds a part to the conversation.
func addGemini(out *model.Request, calls names, role string, part *geminiPart) error {
	answers := role == "model"
	if part.ThoughtSignature != "" && !part.Thought && answers {
		add(out, model.RoleAssistant, model.Reasoning{Signature: part.ThoughtSignature})
	}
	switch {
	case part.Text != nil && answers && part.Thought:
		add(out, model.RoleAssistant, model.Reasoning{Text: *part.Text, Signature: part.ThoughtSignature})
	case part.Text != nil && answers:
		add(out, model.RoleAssistant, model.Text{Text: *part.Text})
	case part.Text != nil:
		add(out, model.RoleUser, model.Text{Text: *part.Text})
	case part.FunctionCall != nil && answers && strings.HasPrefix(string(part.FunctionCall.Args), "{"):
		calls[part.FunctionCall.ID] = part.FunctionCall.Name
		add(out, model.RoleAssistant, model.Call{
			ID: part.FunctionCall.ID, Name: part.FunctionCall.Name,
			Arguments: part.FunctionCall.Args,
		})
	case part.FunctionResponse != nil && !answers:
		r := part.FunctionResponse
		result, err := calls.result(r.ID, r.Response.Output+r.Response.Error, r.Response.Error != "")
		if err != nil {
			return err
		}
		if result.Name != r.Name {
			return fmt.Errorf("the response is named %q, the call %q", r.Name, result.Name)
		}
		add(out, model.RoleTool, result)
	default:
		return errors.New("a part that is not complete, or does not belong in a content of that role")
	}
	return nil
}

// geminiAnswer writes the responses of a stream.
type geminiAnswer struct{}

func (a *geminiAnswer) encode(event model.Event) string {
	switch event := event.(type) {
	case model.TextDelta:
		return geminiResponse(`{"text": `+quote(event.Text)+`}`, "")
	case model.ReasoningDelta:
		return geminiResponse(`{"text": `+quote(event.Text)+`,"thought": true}`, "")
	case model.Done:
		var parts []string
		for i, call := range event.Message.Calls() {
			arguments := call.Arguments
			if !json.Valid(arguments) { // the vendor sends objects only
				arguments = json.RawMessage(`{"broken":` + quote(string(arguments)) + `}`)
			}
			part := fmt.Sprintf(`{"functionCall": {"id": %s,"name": %s,"args": %s}`, quote(call.ID),
				quote(call.Name), arguments)
			if i == 0 {
				part += `,"thoughtSignature": "c2VhbA=="`
			}
			parts = append(parts, part+"}")
		}
		if len(parts) == 0 {
			parts = []string{`{"text": ""}`}
		}
		stop := map[model.Stop]string{model.StopLength: "MAX_TOKENS", model.StopRefused: "SAFETY"}[event.Stop]
		if stop == "" {
			stop = "STOP"
		}
		usage := event.Usage
		return geminiResponse(strings.Join(parts, ","), fmt.Sprintf(`,"finishReason": "%s"`, stop)) +
			fmt.Sprintf(
				"data: {\"usageMetadata\": {\"promptTokenCount\": %d,\"cachedContentTokenCount\": "+
					"%d,\"candidatesTokenCount\": %d,\"totalTokenCount\": %d}}\r\n\r\n",
				usage.Input+usage.Cached, usage.Cached, usage.Output, usage.Input+usage.Cached+usage.Output)
	}
	return ""
}

// geminiResponse writes a response with one candidate.
func geminiResponse(parts, members string) string {
	return `data: {"candidates": [{"content": {"parts": [` + parts + `],"role": "model"}` + members +
		`,"index": 0}],"modelVersion": "scripted"}` + "\r\n\r\n"
}

// geminiError is what the vendor answers for a failure ("Troubleshooting": Error codes).
func geminiError(failure *model.Error) (int, string) {
	status, kind, detail := 400, "INVALID_ARGUMENT", failure.Detail
	switch failure.Kind {
	case model.ErrRateLimit:
		status, kind = 429, "RESOURCE_EXHAUSTED"
	case model.ErrOverloaded:
		status, kind = 503, "UNAVAILABLE"
	case model.ErrServer:
		status, kind = 500, "INTERNAL"
	case model.ErrAuth:
		detail = "API key not valid. Please pass a valid API key. " + detail
	case model.ErrNotFound:
		status, kind = 404, "NOT_FOUND"
	case model.ErrContext:
		detail = "The input token count exceeds the maximum number of tokens allowed (1048576). " + detail
	}
	return status, fmt.Sprintf(`{"error": {"code": %d,"message": %s,"status": %s}}`, status, quote(detail), quote(kind))
}
