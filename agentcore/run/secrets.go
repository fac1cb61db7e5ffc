package run

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// withoutSecrets returns a message whose texts have all gone through the redactor. Each message goes through it when it
// is added to a conversation, so that no request can hold a secret and none has to be searched again.
func withoutSecrets(m model.Message, r *secret.Redactor) model.Message {
	parts := slices.Clone(m.Parts)
	for i, part := range parts {
		switch p := part.(type) {
		case model.Text:
			p.Text = r.Text(p.Text)
			parts[i] = p
		case model.Call:
			p.Arguments = json.RawMessage(r.Text(string(p.Arguments)))
			parts[i] = p
		case model.Result:
			p.Text = r.Text(p.Text)
			parts[i] = p
		case model.Reasoning:
			// Reasoning with a provider's seal stays as it is: the provider would refuse it changed, and never saw a
			// secret.
			if p.Signature == "" {
				p.Text = r.Text(p.Text)
				parts[i] = p
			}
		}
	}
	m.Parts = parts
	return m
}

// restorer puts secrets back into edits of a layer's files.
type restorer struct {
	redactor *secret.Redactor
	view     *workspace.View
	layer    *workspace.Layer
}

// with carries out a call of an edit with the secrets in its arguments that the edited files hold, where the model left
// the placeholders as it saw them. Other calls get no secrets this way.
func (r restorer) with(c *call) func(context.Context, tool.Host) (tool.Result, error) {
	if c.spec.Effect != tool.Proposes || !secret.Holds(string(c.arguments)) {
		return c.do
	}
	var arguments any
	decoder := json.NewDecoder(bytes.NewReader(c.arguments))
	decoder.UseNumber()
	if decoder.Decode(&arguments) != nil {
		return c.do // the tool reports what is wrong with the arguments
	}
	sections := c.access.Sections
	if len(sections) == 0 {
		home := r.textOf(c.access.Paths)
		arguments = eachText(arguments, func(text string) string { return r.redactor.Restore(text, home) })
	} else {
		arguments = eachText(arguments, func(text string) string { return r.restoreSections(text, sections) })
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		return c.do
	}
	restored, err := c.tool.Decode(text)
	if err != nil {
		return c.do
	}
	return restored.Run
}

// restoreSections puts secrets back into each section of a patch by itself, so that a secret of one file does not get
// into another file of the patch.
func (r restorer) restoreSections(text string, sections []tool.PatchSection) string {
	var whole, restored strings.Builder
	for _, section := range sections {
		whole.WriteString(section.Text)
		restored.WriteString(r.redactor.Restore(section.Text, r.textOf(section.Paths)))
	}
	if whole.String() != text {
		return text // the sections do not belong to this text
	}
	return restored.String()
}

// textOf joins the texts of files as the run sees them. The paths are as the model gave them.
func (r restorer) textOf(paths []string) string {
	var texts strings.Builder
	for _, path := range paths {
		if resolved, err := r.view.Resolve(path); err == nil {
			if file, err := r.layer.Fork().Read(resolved); err == nil {
				texts.WriteString(file.Text + "\n")
			}
		}
	}
	return texts.String()
}

// eachText returns a decoded JSON value in which replace has replaced every string.
func eachText(value any, replace func(string) string) any {
	switch v := value.(type) {
	case string:
		return replace(v)
	case []any:
		for i := range v {
			v[i] = eachText(v[i], replace)
		}
	case map[string]any:
		for key := range v {
			v[key] = eachText(v[key], replace)
		}
	}
	return value
}
