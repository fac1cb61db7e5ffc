package authoring

import (
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/spelling"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/outline"
)

// Problems returns what is wrong with the text, by the code that loads it.
func (t *Sheet) Problems(v *Vocabulary) []agent.Problem {
	switch t.kind {
	case Definition:
		file := agent.Parse(t.path, t.outline.Text)
		file.Validate(v.Known())
		return file.Problems
	case Skill:
		return skill.Parse(t.path, t.outline.Text).Problems
	case Instructions:
		return append(t.instructionProblems(v), agent.UnseenProblems(t.path, t.outline.Text)...)
	case Conversation:
		return t.conversationProblems(v)
	case ProjectConfig, UserConfig:
		return append(t.configProblems(v), agent.UnseenProblems(t.path, t.outline.Text)...)
	}
	return nil
}

// configProblems returns what is wrong with a configuration by itself, and the names in it that do not exist.
func (t *Sheet) configProblems(v *Vocabulary) []agent.Problem {
	text, x := t.outline.Text, t.index
	layer := config.LayerProject
	if t.kind == UserConfig {
		layer = config.LayerUser
	}
	var list []agent.Problem
	for _, p := range config.Check([]byte(text), layer, t.path) {
		severity := event.SeverityWarning
		if p.Severity == config.SeverityError {
			severity = event.SeverityError
		}
		offset := 0
		if p.Line > 0 {
			line := min(p.Line-1, max(x.Len()-1, 0))
			offset = min(x.Start(line)+p.Column-1, len(text))
		}
		place := t.outline.At(offset)
		span := place.Word
		if span.Start == span.End {
			span.End = offset + len(firstLine(text[offset:]))
		}
		problem := agent.Problem{
			File: t.path, Span: spanOf(x, span), Severity: severity, Key: p.Key, Message: p.Message, Hint: p.Hint,
		}
		if place.Kind == outline.Key {
			problem.Fix = t.respelt(place)
		}
		list = append(list, problem)
	}
	for _, n := range t.outline.Nodes {
		if problem, wrong := t.unknownName(v, n); wrong {
			list = append(list, problem)
		}
	}
	return list
}

// respelt replaces an unknown key by the known key with the most similar name.
func (t *Sheet) respelt(place outline.Place) *agent.Fix {
	var known []string
	for _, k := range t.below(place.Path) {
		known = append(known, k.name())
	}
	word := place.Word.In(t.outline.Text)
	near := spelling.Nearest(word, known)
	if near == "" || slices.Contains(known, word) || slices.Contains(known, "*") {
		return nil
	}
	return &agent.Fix{Title: "Replace " + word + " by " + near, Span: spanOf(t.index, place.Word), New: near}
}

// unknownName finds a name in the configuration that does not exist.
func (t *Sheet) unknownName(v *Vocabulary, n outline.Node) (agent.Problem, bool) {
	k, known := t.find(n.Path)
	quoted := n.Value.In(t.outline.Text)
	if !known || k.names == "" || len(quoted) < 3 || !strings.ContainsAny(quoted[:1], `"'`) ||
		quoted[len(quoted)-1] != quoted[0] {
		return agent.Problem{}, false
	}
	at := outline.Span{Start: n.Value.Start + 1, End: n.Value.End - 1}
	name := at.In(t.outline.Text)
	var names []string
	has := false
	switch k.names {
	case "agent":
		for _, w := range v.words("agent") {
			names = append(names, w.name)
		}
		has = slices.Contains(v.Registry.Names(), name)
	case "model":
		provider, _, qualified := strings.Cut(name, "/")
		names = v.Known().Presets
		has = slices.Contains(names, name) || qualified && slices.Contains(v.Known().Providers, provider)
		if qualified {
			for _, p := range v.Known().Providers {
				names = append(names, p+strings.TrimPrefix(name, provider))
			}
		}
		// A preset or provider of this text counts even before the text is saved.
		for _, other := range t.outline.Nodes {
			if len(other.Path) > 1 &&
				(other.Path[0] == "presets" && other.Path[1] == name || qualified && other.Path[0] == "providers" &&
					other.Path[1] == provider) {
				has = true
			}
		}
		if !qualified && len(names) == 0 {
			has = true // a model without a provider, which the only provider may know
		}
	case "tool":
		for _, w := range v.words("tool") {
			names = append(names, w.name)
		}
		_, resolves := v.Known().ResolveTool(name)
		has = resolves || strings.ContainsAny(name, "*?[")
	}
	if has {
		return agent.Problem{}, false
	}
	p := agent.Problem{
		File: t.path, Span: spanOf(t.index, at), Severity: event.SeverityWarning, Key: strings.Join(n.Path, "."),
		Message: "there is no " + k.names + " " + name,
	}
	if near := spelling.Nearest(name, names); near != "" {
		p.Hint = "did you mean " + near + "?"
		p.Fix = &agent.Fix{Title: "Replace " + name + " by " + near, Span: p.Span, New: near}
	}
	return p, true
}

func spanOf(x *workspace.Index, s outline.Span) event.Span { return Place(x, s.Start, s.End) }

// Place converts a part of a text from bytes to lines and columns.
func Place(x *workspace.Index, from, to int) event.Span {
	start, end := x.LineAt(from), x.LineAt(to)
	return event.Span{
		StartLine: start, StartColumn: from - x.Start(start), EndLine: end, EndColumn: to - x.Start(end),
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimRight(line, "\r")
}
