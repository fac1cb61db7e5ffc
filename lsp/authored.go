package lsp

import (
	"context"
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/lsp/outline"
)

// authored says which of the files that people write for agentls a document is. Of these agentls is the language server;
// all other documents are left to their own.
type authored int

const (
	notOurs authored = iota
	// definitionText has definitions of agents, in any format.
	definitionText
	// skillText is a SKILL.md.
	skillText
	// configText is a config.toml.
	configText
)

// skillFile is the name of a skill's text (Agent Skills specification, "Directory structure").
const skillFile = "SKILL.md"

// authoredKind tells by a document's path what it is. It looks at nothing else, so that it costs other documents nothing.
func (s *Server) authoredKind(path string) authored {
	slashed := filepath.ToSlash(path)
	if filepath.Base(path) == skillFile {
		return skillText
	}
	if path == s.options.Dirs.File || strings.HasSuffix(slashed, "/"+config.ProjectFile) {
		return configText
	}
	if _, ours := agent.Detect(path); ours {
		return definitionText
	}
	return notOurs
}

// selector is authoredKind for clients that can keep other documents from us: it selects the same ones.
func (s *Server) selector() protocol.DocumentSelector {
	patterns := []string{
		"**/{.agentls,agentls}/agents/**/*.{md,markdown,json,toml}", "**/plugins/*/agents/**/*.{md,markdown,json,toml}",
		"**/.claude/agents/**/*.{md,markdown,json}", "**/.opencode/{agent,agents}/**/*.{md,markdown,json}",
		"**/agents.toml", "**/*.agents.json", "**/{.agentls,agentls,plugins}/**/agents.json",
		"**/{.agentls,agentls}/appsettings.json", "**/plugins/*/appsettings.json",
		"**/" + skillFile, "**/" + config.ProjectFile,
	}
	if s.options.Dirs.File != "" {
		patterns = append(patterns, filepath.ToSlash(s.options.Dirs.File))
	}
	var list protocol.DocumentSelector
	for _, p := range patterns {
		list = append(list, &protocol.TextDocumentFilterPattern{Scheme: pointer("file"), Pattern: protocol.Pattern(p)})
	}
	return list
}

// sheet is one version of a document of ours, outlined. It is immutable.
type sheet struct {
	kind    authored
	path    string
	format  agent.Format // of a definitionText
	outline *outline.Outline
}

// newSheet outlines a text.
func newSheet(kind authored, path, text string) *sheet {
	t := &sheet{kind: kind, path: path}
	switch kind {
	case configText:
		t.outline = outline.TOML(text)
		return t
	case definitionText:
		t.format, _ = agent.Detect(path)
	}
	switch t.format {
	case agent.TOML:
		t.outline = outline.TOML(text)
	case agent.JSON:
		t.outline = outline.JSON(text)
	default:
		t.outline = outline.Markdown(text)
	}
	return t
}

// sheetOf outlines a document of ours as it was open when the request was read; nil for any other.
func (s *Server) sheetOf(ctx context.Context, path string) (*sheet, *document) {
	doc := s.moment(ctx).byPath[path]
	if doc == nil || doc.kind == notOurs {
		return nil, nil
	}
	return newSheet(doc.kind, path, doc.index().Text()), doc
}

// shells are the ways in which a text of several definitions holds each of them.
var shells = [][]string{{"agents[]"}, {"[]"}, {"AgentRoles", "Roles[]"}, {"Agents", "Custom[]"}, {"Roles[]"}, {"Custom[]"}}

// inDefinition is a path as the keys of one definition see it: without the list that the definition is in. ok is false
// above the definitions.
func (t *sheet) inDefinition(path []string) (rest []string, ok bool) {
	if t.kind != definitionText || t.format != agent.TOML && t.format != agent.JSON {
		return path, true
	}
	for _, shell := range shells {
		if len(path) >= len(shell) && strings.Join(path[:len(shell)], "\x00") == strings.Join(shell, "\x00") {
			return path[len(shell):], true
		}
	}
	return path, t.format == agent.JSON
}
