package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/tool"
)

// maxFields bounds the members of a form that an agent has the user fill in.
const maxFields = 10

// field is a member of a form, as the protocol restricts JSON Schema for forms: a text, a number, a choice.
type field struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
	OneOf       []choice `json:"oneOf"`
	Items       *struct {
		Enum  []string `json:"enum"`
		AnyOf []choice `json:"anyOf"`
	} `json:"items"`
}

type choice struct {
	Value string `json:"const"`
	Title string `json:"title"`
}

// choices are what can be chosen for a field, by what the user is shown; nil for an answer in the user's own words.
func (d field) choices() (labels []string, values map[string]any) {
	values = map[string]any{}
	add := func(label string, value any) {
		labels, values[label] = append(labels, label), value
	}
	list, named := d.Enum, d.OneOf
	if d.Items != nil {
		list, named = d.Items.Enum, d.Items.AnyOf
	}
	if d.Type == "boolean" {
		add("Yes", true)
		add("No", false)
	}
	for _, value := range list {
		add(value, value)
	}
	for _, c := range named {
		add(cmp.Or(c.Title, c.Value), c.Value)
	}
	return labels, values
}

// fill asks the user for what an agent wants to know, a question for each member of its form. It is called from other
// goroutines.
func (f *foreign) fill(ctx context.Context, form acp.Form) (filled acp.Filled, err error) {
	err = f.guarded("a form of "+f.definition.Slug, func() (err error) {
		filled, err = f.fillForm(ctx, form)
		return err
	})
	return filled, err
}

func (f *foreign) fillForm(ctx context.Context, form acp.Form) (acp.Filled, error) {
	declined := acp.Filled{Action: "decline"}
	var schema struct {
		Properties map[string]field `json:"properties"`
	}
	if err := json.Unmarshal(form.Schema, &schema); err != nil || len(schema.Properties) > maxFields {
		return declined, fmt.Errorf("read the form of %s, of at most %d members: %w", f.definition.Slug, maxFields, err)
	}
	names := slices.Sorted(maps.Keys(schema.Properties))
	var questions []tool.Question
	for _, name := range names {
		d := schema.Properties[name]
		text := form.Message
		if about := cmp.Or(d.Description, d.Title, name); len(names) > 1 || text == "" {
			text += " (" + about + ")"
		}
		q := tool.Question{Text: text, Header: cmp.Or(d.Title, name), Multiple: d.Type == "array"}
		labels, _ := d.choices()
		for _, label := range labels {
			q.Options = append(q.Options, tool.Option{Label: label})
		}
		questions = append(questions, q)
	}
	if len(questions) == 0 {
		return declined, nil
	}
	asking := f.questions
	asking.ctx = ctx
	c := &call{id: event.NewCallID(), spec: tool.Spec{Name: "question", Effect: tool.Asks}, arguments: form.Schema}
	replies, err := asking.askQuestions(c, "", questions...)
	if err != nil {
		return declined, err
	}
	content := map[string]any{}
	for i, name := range names {
		value, ok := schema.Properties[name].read(replies[i].Answers)
		if !ok {
			return declined, nil
		}
		content[name] = value
	}
	return acp.Filled{Action: "accept", Content: content}, nil
}

// read makes the value of a field of what the user has answered. It reports false where that is none.
func (d field) read(answers []string) (value any, ok bool) {
	labels, values := d.choices()
	var chosen []any
	for _, answer := range answers {
		if v, known := values[answer]; known {
			chosen = append(chosen, v)
		} else if len(labels) == 0 {
			chosen = append(chosen, answer)
		}
	}
	switch {
	case len(chosen) == 0:
		return nil, false
	case d.Type == "array":
		return chosen, true
	case d.Type == "number" || d.Type == "integer":
		text, _ := chosen[0].(string)
		number, err := strconv.ParseFloat(text, 64)
		return number, err == nil
	}
	return chosen[0], true
}
