package authoring

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/lsp/outline"
)

// Explain says in Markdown what is at a position, "" for nothing, and the range that it explains: the meaning of a key,
// what a value names, and at an agent's name, what its definition comes to with all defaults.
func (t *Sheet) Explain(v *Vocabulary, p protocol.Position) (string, protocol.Range) {
	text, at := t.explain(v, t.encoding.Offset(t.index, p))
	return text, t.between(at)
}

// explain is [Sheet.Explain] for an offset.
func (t *Sheet) explain(v *Vocabulary, offset int) (string, outline.Span) {
	place := t.outline.At(offset)
	if i, at, ok := t.importAt(offset); ok {
		return t.explainImport(v, i), at
	}
	if t.inTag(place, offset) {
		at := t.nameAt(offset)
		for _, w := range t.variables(v) {
			if strings.EqualFold(w.name, at.In(t.outline.Text)) {
				return paragraphs("`{{"+w.name+"}}` · "+w.detail, w.doc), at
			}
		}
		return "", at
	}
	switch place.Kind {
	case outline.Key:
		// A key may be written with dots. Then its node has the whole path, which the text of the name has not.
		for _, n := range t.outline.Nodes {
			if n.Name.Has(offset) {
				return t.explainKey(v, n.Path), n.Name
			}
		}
	case outline.Header:
		for _, n := range t.outline.Nodes {
			if n.Header && n.Name.Has(offset) {
				return t.explainKey(v, n.Path), n.Name
			}
		}
	case outline.Value:
		return t.explainValue(v, place)
	}
	return "", place.Word
}

// explainKey explains a key. At the name of a definition, it also says what the definition comes to.
func (t *Sheet) explainKey(v *Vocabulary, path []string) string {
	k, known := t.find(path)
	if !known {
		return ""
	}
	text := "`" + strings.Join(k.path, ".") + "`"
	if k.typ != "" {
		text += " · " + k.typ
	}
	inner, _ := t.inDefinition(path)
	return paragraphs(text, k.text(), t.resolved(v, inner, path))
}

// explainValue explains what a value names.
func (t *Sheet) explainValue(v *Vocabulary, place outline.Place) (string, outline.Span) {
	k, known := t.find(place.Path)
	if !known {
		return "", place.Word
	}
	inner, _ := t.inDefinition(place.Path)
	if resolved := t.resolved(v, inner, place.Path); resolved != "" {
		return resolved, place.Word
	}
	name := place.Word.In(t.outline.Text)
	if k.names == "tool" {
		name, _, _ = strings.Cut(name, "(") // a rule of Claude Code, such as Bash(git:*), begins with the tool's name
		if canonical, ok := v.Known().ResolveTool(name); ok {
			name = canonical
		}
	}
	if k.names == "agent" {
		if d, err := v.Registry.Find(name); err == nil {
			return described(d, v), place.Word
		}
	}
	for _, w := range v.words(k.names) {
		if w.name == name {
			return paragraphs(strings.TrimSuffix("`"+w.name+"` · "+w.detail, " · "), w.doc), place.Word
		}
	}
	return "", place.Word
}

// resolved says at a definition's name what the definition comes to, regardless of other files. It parses the text as
// the loader does.
func (t *Sheet) resolved(v *Vocabulary, inner, path []string) string {
	if t.kind != Definition || len(inner) != 1 || inner[0] != "name" && inner[0] != "slug" {
		return ""
	}
	file := agent.Parse(t.path, t.outline.Text)
	file.Validate(v.Known())
	for _, n := range t.outline.Nodes {
		if !slices.Equal(n.Path, path) {
			continue
		}
		name := strings.Trim(n.Value.In(t.outline.Text), `"'`)
		for _, d := range file.Definitions {
			if d.Slug == name || len(file.Definitions) == 1 {
				return described(d, v)
			}
		}
	}
	return ""
}

// described says in Markdown what a definition comes to: who starts it, with what limits, tools and agents, and what
// it hides.
func described(d *agent.Definition, v *Vocabulary) string {
	title := "**" + d.Slug + "**"
	if d.Title != "" && d.Title != d.Slug {
		title += " · " + d.Title
	}
	var categories []string
	for _, c := range d.Categories {
		categories = append(categories, string(c))
	}
	var facts []string
	line := func(name, value string) {
		if value != "" {
			facts = append(facts, "- "+name+": "+value)
		}
	}
	line("Category", strings.Join(categories, ", "))
	line("Mode", string(d.Mode))
	line("Model", cmp.Or(d.Model, "that of the configuration"))
	line("Limits", limits(d.LimitsAt(0), v))
	if child := limits(d.LimitsAt(1), v); child != limits(d.LimitsAt(0), v) && d.Is(agent.Subagent) {
		line("Limits as a child", child)
	}
	line("Tools", named(d.Tools, d.DisallowedTools, "all"))
	delegates := named(d.SubagentsAt(0), nil, "all agents")
	line("May delegate to", delegates)
	if child := named(d.SubagentsAt(1), nil, "all agents"); child != delegates && d.Is(agent.Subagent) {
		line("As a child, may delegate to", child)
	}
	line("Skills", strings.Join(d.Skills, ", "))
	line("Aliases", strings.Join(d.Aliases, ", "))
	if in, err := v.Registry.Find(d.Slug); err == nil && in.Slug == d.Slug {
		line("In use from", in.Source.String())
		var hidden []string
		for _, s := range v.Registry.Shadows(d.Slug) {
			hidden = append(hidden, s.String())
		}
		line("It hides", strings.Join(hidden, ", "))
	}
	return paragraphs(title, d.Description, strings.Join(facts, "\n"))
}

func limits(l agent.Limits, v *Vocabulary) string {
	turns, timeout := l.MaxTurns, l.Timeout
	if turns == 0 {
		turns = v.Config.DefaultMaxTurns
	}
	if timeout == 0 {
		timeout = v.Config.DefaultTimeout
	}
	text := fmt.Sprintf("%d turns, %s", turns, brief(timeout))
	if l.Tokens > 0 {
		text += fmt.Sprintf(", %d tokens", l.Tokens)
	}
	if l.Cost > 0 {
		text += fmt.Sprintf(", $%g", l.Cost)
	}
	return text
}

// brief is a duration without the zeros at its end: 5m, not 5m0s.
func brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// named lists names, without some; everything is the text for nil, which means all names.
func named(names, without []string, everything string) string {
	text := strings.Join(names, ", ")
	switch {
	case names == nil || slices.Contains(names, "*"):
		text = everything
	case len(names) == 0:
		text = "none"
	}
	if len(without) > 0 {
		text += " but " + strings.Join(without, ", ")
	}
	return text
}

// paragraphs joins the parts that are not empty.
func paragraphs(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n\n")
}
