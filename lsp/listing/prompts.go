package listing

import (
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/promptfile"
	"github.com/agentls/agentls/lsp/methods"
)

// Prompt is a prompt that a user may call.
func Prompt(p *promptfile.Prompt) methods.PromptInfo {
	info := methods.PromptInfo{
		Name: p.Name, Description: permission.Visible(p.Description), Arguments: permission.Visible(p.Hint),
		Source: methods.PromptSource(p.Source), Layer: methods.Layer(p.Layer.String()),
	}
	if p.Path != "" {
		info.URI = uri.File(p.Path)
	}
	return info
}

// Expansion is the text that a prompt becomes before it is sent.
func Expansion(x agentcore.Expansion) *methods.Expansion {
	result := &methods.Expansion{Text: x.Text}
	if x.Prompt != nil {
		result.Prompt = new(Prompt(x.Prompt))
	}
	for _, part := range x.Parts {
		one := methods.PromptPart{
			Kind: methods.PromptPartKind(part.Kind), Name: part.Name, About: part.About, Text: part.Text,
		}
		if part.Path != "" {
			one.URI = uri.File(part.Path)
		}
		result.Parts = append(result.Parts, one)
	}
	for _, r := range x.Refused {
		result.Refused = append(result.Refused, methods.PromptRefusal{Mention: r.Mention, Reason: r.Err.Error()})
	}
	return result
}
