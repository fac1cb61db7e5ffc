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

// withoutSecrets returns a message in which the redactor has seen every text. Everything of a conversation goes
// through it when it is added, so that no request can hold a secret, and none has to be searched again.
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
			// A provider seals its reasoning: changed, it would be refused, and it has seen no secret.
			if p.Signature == "" {
				p.Text = r.Text(p.Text)
				parts[i] = p
			}
		}
	}
	m.Parts = parts
	return m
}

// restorer puts secrets back into edits of files of a layer.
type restorer struct {
	redactor *secret.Redactor
	view     *workspace.View
	layer    *workspace.Layer
}

// with carries out a call with the secrets of the files that an edit is about back in its arguments, where the
// model left their placeholders as it saw them. It looks only at edits: nothing that acts gets a secret this way.
func (r restorer) with(c *call) func(context.Context, tool.Host) (tool.Result, error) {
	if c.spec.Effect != tool.Proposes || !secret.Holds(string(c.arguments)) {
		return c.do
	}
	var arguments any
	decoder := json.NewDecoder(bytes.NewReader(c.arguments))
	decoder.UseNumber()
	if decoder.Decode(&arguments) != nil {
		return c.do // the tool says what is wrong
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

// restoreSections puts secrets back into each section of a patch by itself: what stands in one file must not get to
// another that the same patch is about.
func (r restorer) restoreSections(text string, sections []tool.PatchSection) string {
	var whole, restored strings.Builder
	for _, section := range sections {
		whole.WriteString(section.Text)
		restored.WriteString(r.redactor.Restore(section.Text, r.textOf(section.Paths)))
	}
	if whole.String() != text {
		return text // not what the sections are of
	}
	return restored.String()
}

// textOf is the text of files as the run sees them, by the paths that the model gave.
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

// eachText returns a decoded JSON value with every string in it replaced.
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
