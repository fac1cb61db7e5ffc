package authoring

import (
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/outline"
	"github.com/agentls/agentls/lsp/position"
)

// Sheet is one version of a document of ours, outlined. It is immutable: any goroutine may ask it.
type Sheet struct {
	kind     Kind
	path     string
	format   agent.Format // of a Definition
	index    *workspace.Index
	encoding position.Encoding
	outline  *outline.Outline
}

// NewSheet outlines the text of a document of a kind that is ours. Positions that the sheet takes and gives are in the
// encoding.
func NewSheet(kind Kind, path string, text *workspace.Index, e position.Encoding) *Sheet {
	t := &Sheet{kind: kind, path: path, index: text, encoding: e}
	if kind == Definition {
		t.format, _ = agent.Detect(path)
	}
	switch {
	case t.isConfig(), t.format == agent.TOML:
		t.outline = outline.TOML(text.Text())
	case t.format == agent.JSON:
		t.outline = outline.JSON(text.Text())
	default:
		t.outline = outline.Markdown(text.Text())
	}
	return t
}

// isConfig reports whether the text is a configuration, whosever it is.
func (t *Sheet) isConfig() bool { return t.kind == ProjectConfig || t.kind == UserConfig }

// between is the range of a part of the text.
func (t *Sheet) between(s outline.Span) protocol.Range {
	return t.encoding.Between(t.index, s.Start, s.End)
}

// shells are the ways in which a text of several definitions holds each of them.
var shells = [][]string{
	{"agents[]"},
	{"[]"},
	{"AgentRoles", "Roles[]"},
	{"Agents", "Custom[]"},
	{"Roles[]"},
	{"Custom[]"},
}

// inDefinition is a path as the keys of one definition see it: without the list that the definition is in. ok is false
// above the definitions.
func (t *Sheet) inDefinition(path []string) (rest []string, ok bool) {
	if t.kind != Definition || t.format != agent.TOML && t.format != agent.JSON {
		return path, true
	}
	for _, shell := range shells {
		if len(path) >= len(shell) && strings.Join(path[:len(shell)], "\x00") == strings.Join(shell, "\x00") {
			return path[len(shell):], true
		}
	}
	return path, t.format == agent.JSON
}
