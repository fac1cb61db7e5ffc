package agentcore

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/tool"
)

// hideSecrets tells the redactor what of a configuration is secret: keys and the values of headers.
func (e *Engine) hideSecrets(c *config.Config) {
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		p := c.Providers[name]
		if key, ok := p.Key(e.getenv); ok {
			e.redactor.Add(p.KeyEnv, key)
		}
		for _, header := range slices.Sorted(maps.Keys(p.Headers)) {
			e.redactor.Add(name+" "+header, p.Headers[header])
		}
	}
	if c.WebsearchKeyEnv != "" {
		e.redactor.Add(c.WebsearchKeyEnv, e.getenv(c.WebsearchKeyEnv))
	}
}

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

// withSecrets puts the secrets of the files that an edit is about back into its arguments, where the model left
// their placeholders as it saw them. It looks only at edits: nothing that acts gets a secret this way.
func (r *run) withSecrets(c *call) json.RawMessage {
	if c.spec.Effect != tool.Proposes || !secret.Holds(string(c.arguments)) {
		return c.arguments
	}
	var arguments any
	decoder := json.NewDecoder(bytes.NewReader(c.arguments))
	decoder.UseNumber()
	if decoder.Decode(&arguments) != nil {
		return c.arguments // the tool says what is wrong
	}
	home := r.textOf(tool.AccessOf(c.spec, c.arguments).Paths)
	restore := func(text string) string { return r.engine.redactor.Restore(text, home) }
	if c.spec.Name == "patch" {
		restore = r.restorePatch
	}
	restored, err := json.Marshal(eachText(arguments, restore))
	if err != nil {
		return c.arguments
	}
	return restored
}

// restorePatch puts secrets back into each section of a patch by itself: what stands in one file must not get to another that the same
// patch is about.
func (r *run) restorePatch(patch string) string {
	var restored strings.Builder
	for _, section := range tool.PatchSections(patch) {
		restored.WriteString(r.engine.redactor.Restore(section.Text, r.textOf(section.Paths)))
	}
	return restored.String()
}

// textOf is the text of files as the run sees them, by the paths that the model gave.
func (r *run) textOf(paths []string) string {
	var texts strings.Builder
	for _, path := range paths {
		if resolved, err := r.session.view.Resolve(path); err == nil {
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
