package gemini

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// body is the request body of streamGenerateContent ("Generating content": Request body). What is the same from turn to
// turn stands before the contents.
type body struct {
	SystemInstruction *content         `json:"systemInstruction,omitempty"`
	Tools             []tools          `json:"tools,omitempty"`
	Contents          []content        `json:"contents"` // empty: see send
	ToolConfig        *toolConfig      `json:"toolConfig,omitempty"`
	GenerationConfig  generationConfig `json:"generationConfig,omitzero"`
}

type tools struct {
	FunctionDeclarations []declaration `json:"functionDeclarations"`
}

// declaration is a tool. Its schema is JSON Schema in parametersJsonSchema; the member parameters is of the vendor's
// own kind.
type declaration struct {
	Name                 string          `json:"name"`
	Description          string          `json:"description"`
	ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type toolConfig struct {
	FunctionCallingConfig struct {
		Mode string `json:"mode"`
	} `json:"functionCallingConfig"`
}

type generationConfig struct {
	MaxOutputTokens int             `json:"maxOutputTokens,omitempty"`
	Temperature     *float64        `json:"temperature,omitempty"`
	ThinkingConfig  *thinkingConfig `json:"thinkingConfig,omitempty"`
}

type thinkingConfig struct {
	IncludeThoughts bool         `json:"includeThoughts"`
	ThinkingLevel   model.Effort `json:"thinkingLevel,omitempty"`
	ThinkingBudget  int          `json:"thinkingBudget,omitempty"`
}

// content is a message, of the role user or model.
type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

// part is one of text, functionCall and functionResponse.
type part struct {
	Text             *string           `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"`
	FunctionCall     *functionCall     `json:"functionCall,omitempty"`
	FunctionResponse *functionResponse `json:"functionResponse,omitempty"`
	InlineData       *blob             `json:"inlineData,omitempty"`
	ThoughtSignature string            `json:"thoughtSignature,omitempty"`
}

// blob is an image in base64.
type blob struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type functionResponse struct {
	ID       string `json:"id,omitempty"`
	Name     string `json:"name"`
	Response struct {
		Output *string `json:"output,omitempty"`
		Error  string  `json:"error,omitempty"`
	} `json:"response"`
	// Parts are the images of the response ("Function calling": multimodal function responses), from version 3 on.
	Parts []part `json:"parts,omitempty"`
}

// params makes the request body without its contents.
func (g *gemini) params(request *model.Request) body {
	b := body{Contents: []content{}}
	b.GenerationConfig = generationConfig{
		MaxOutputTokens: cmp.Or(request.MaxTokens, g.maxTokens),
		Temperature:     request.Temperature,
	}
	b.GenerationConfig.ThinkingConfig = g.thinking(request.Effort)
	if request.System != "" {
		b.SystemInstruction = &content{Parts: []part{{Text: &request.System}}}
	}
	if len(request.Tools) > 0 {
		list := make([]declaration, len(request.Tools))
		for i, tool := range request.Tools {
			list[i] = declaration{tool.Name, tool.Description, tool.Schema}
		}
		b.Tools = []tools{{list}}
		if request.NoCalls {
			b.ToolConfig = &toolConfig{}
			b.ToolConfig.FunctionCallingConfig.Mode = "NONE"
		}
	}
	return b
}

// unsigned is the signature for calls that the model did not make itself, such as calls from a conversation with
// another model ("Thought signatures": FAQ). From version 3 on, the vendor refuses a turn whose first call has no
// signature.
const unsigned = "skip_thought_signature_validator"

// encode turns a message into a content, as JSON; tool results become a content of the user. A message without parts
// becomes nothing, since the vendor refuses empty contents.
func (g *gemini) encode(message model.Message) ([]byte, error) {
	c := content{Role: "user", Parts: parts(message.Parts, g.checks)}
	if first := slices.IndexFunc(c.Parts, func(p part) bool { return p.FunctionCall != nil }); g.checks && first >= 0 &&
		c.Parts[first].ThoughtSignature == "" {
		c.Parts[first].ThoughtSignature = unsigned
	}
	if message.Role == model.RoleAssistant {
		c.Role = "model"
	}
	if len(c.Parts) == 0 {
		return nil, nil
	}
	return transport.Encode(c)
}

// parts turns the parts of a message into the vendor's. Thoughts need not be sent back, but their signatures must stand
// at exactly the part with which they came; answer.done puts them before that part.
func parts(list []model.Part, nested bool) []part {
	var out, beside []part // images of results stand behind all of these
	seal := ""
	add := func(p part) {
		p.ThoughtSignature, seal = seal, ""
		out = append(out, p)
	}
	for _, p := range list {
		switch p := p.(type) {
		case model.Text:
			if strings.TrimSpace(p.Text) != "" || seal != "" {
				add(part{Text: &p.Text})
			}
		case model.Picture:
			add(part{InlineData: &blob{p.Image.MediaType, p.Image.Base64()}})
		case model.Reasoning:
			signature, ours := strings.CutPrefix(p.Signature, sealed)
			switch {
			case !ours: // nothing to send back, or another vendor's
			case p.Text != "":
				out = append(out, part{Text: &p.Text, Thought: true, ThoughtSignature: signature})
			default:
				if seal != "" {
					add(part{Text: new(string)})
				}
				seal = signature
			}
		case model.Call:
			add(part{FunctionCall: &functionCall{ID: vendorsID(p.ID), Name: p.Name, Args: model.Object(p.Arguments)}})
		case model.Result:
			response := functionResponse{ID: vendorsID(p.ID), Name: p.Name}
			if p.Error && p.Text != "" {
				response.Response.Error = p.Text
			} else {
				response.Response.Output = &p.Text
			}
			var images []part
			for _, image := range p.Images {
				images = append(images, part{InlineData: &blob{image.MediaType, image.Base64()}})
			}
			if nested {
				response.Parts, images = images, nil
			}
			out = append(out, part{FunctionResponse: &response})
			beside = append(beside, images...)
		}
	}
	out = append(out, beside...)
	if seal != "" { // the signature came with a part without text
		add(part{Text: new(string)})
	}
	return out
}

// vendorsID is the id of a call as the vendor sent it: "" for vendors that sent none and match results by their order.
func vendorsID(id string) string {
	if strings.HasPrefix(id, model.MadeUp) {
		return ""
	}
	return id
}
