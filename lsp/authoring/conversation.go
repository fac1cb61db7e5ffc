package authoring

import (
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/spelling"
	"github.com/agentls/agentls/lsp/conversation"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/outline"
	"github.com/agentls/agentls/lsp/short"
)

// conversationKeys are the settings above a conversation.
var conversationKeys = []keyDoc{
	{
		path: []string{conversation.KeyAgent}, typ: "string", names: "agent",
		doc: "The agent that the first prompt is for; without it, the default one. All others are for the same.",
	},
	{
		path: []string{conversation.KeyModel}, typ: "string", names: "model",
		doc: "The model that answers the next prompt: `provider/model`, or a preset. Without it, the agent's own.",
	},
	{
		path: []string{conversation.KeyMode}, typ: "string",
		values: []string{
			string(methods.PermissionModeDefault), string(methods.PermissionModePlan),
			string(methods.PermissionModeAcceptEdits), string(methods.PermissionModeBypass),
		},
		doc: "The permission mode of the first prompt, and of all that follow; without it, the agent's own.",
	},
}

// conversationProblems returns what is wrong with the settings above a conversation.
func (t *Sheet) conversationProblems(v *Vocabulary) []agent.Problem {
	var list []agent.Problem
	for _, s := range conversation.Parse(t.outline.Text).Settings {
		add := func(at outline.Span, message string, known []string) {
			p := agent.Problem{
				File: t.path, Span: spanOf(t.index, at), Severity: event.SeverityWarning, Key: s.Key,
				Message: message, Hint: "write one of " + strings.Join(known, ", "),
			}
			if near := spelling.Nearest(at.In(t.outline.Text), known); near != "" {
				p.Fix = &agent.Fix{Title: "Write " + near, Span: p.Span, New: near}
			}
			list = append(list, p)
		}
		k, known := t.find([]string{s.Key})
		values := k.values
		if k.names == "agent" {
			for _, w := range v.words("agent") {
				values = append(values, w.name)
			}
		}
		switch {
		case !known:
			add(s.Name, fmt.Sprintf("conversations have no setting %q", s.Key), conversationNames())
		case len(values) > 0 && s.Value != "" && !slices.Contains(values, s.Value):
			add(s.Text, fmt.Sprintf("there is no %s %q", s.Key, s.Value), values)
		}
	}
	return list
}

func conversationNames() []string {
	var list []string
	for _, k := range conversationKeys {
		list = append(list, k.name())
	}
	return list
}

// turns are the symbols of a conversation: each prompt, with its answers below it.
func (t *Sheet) turns() *branch {
	root := &branch{}
	text := conversation.Parse(t.outline.Text)
	for _, turn := range text.Turns {
		b := &branch{
			span: outline.Span{Start: turn.Heading.Start, End: turn.Body.End}, name: turn.Heading,
			title: turn.Agent, kind: protocol.SymbolKindEvent, shown: short.Line(text.Body(turn)),
		}
		if n := len(root.children); turn.Run != "" && n > 0 {
			above := root.children[n-1]
			above.children, above.span.End = append(above.children, b), b.span.End
			continue
		}
		if turn.Run == "" {
			b.title, b.shown = b.shown, ""
			if b.title == "" {
				continue // an empty prompt: the user will write the next one here
			}
		}
		root.children = append(root.children, b)
	}
	return root
}

// Folds are the parts of a conversation that an editor can fold: its turns. Other kinds of text have no folds.
func (t *Sheet) Folds() []protocol.FoldingRange {
	list := []protocol.FoldingRange{}
	if t.kind != Conversation {
		return list
	}
	text := conversation.Parse(t.outline.Text)
	for _, turn := range text.Turns {
		first, last := t.index.LineAt(turn.Heading.Start), t.index.LineAt(text.Written(turn))
		if last > first && text.Body(turn) != "" {
			list = append(list, protocol.FoldingRange{StartLine: uint32(first), EndLine: uint32(last)})
		}
	}
	return list
}
