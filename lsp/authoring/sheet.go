package authoring

import (
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/outline"
	"github.com/agentls/agentls/lsp/position"
)

// Sheet is the outline of one version of a document of ours. It is immutable: any goroutine may use it.
type Sheet struct {
	kind     Kind
	path     string
	format   agent.Format // only for the kind Definition
	index    *workspace.Index
	encoding position.Encoding
	outline  *outline.Outline
}

// NewSheet outlines the text of a document, whose kind is one of ours. Positions that the sheet takes and gives are in
// the encoding.
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

// isConfig reports whether the text is a configuration, of a project or of the user.
func (t *Sheet) isConfig() bool { return t.kind == ProjectConfig || t.kind == UserConfig }

// between is the range of a part of the text.
func (t *Sheet) between(s outline.Span) protocol.Range {
	return t.encoding.Between(t.index, s.Start, s.End)
}

// shells are the paths at which a text with several definitions holds each of them.
var shells = [][]string{
	{"agents[]"},
	{"[]"},
	{"AgentRoles", "Roles[]"},
	{"Agents", "Custom[]"},
	{"Roles[]"},
	{"Custom[]"},
}

// inDefinition cuts the path of the definition off the beginning of a key's path. ok is false for a key that is not in
// a definition.
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
