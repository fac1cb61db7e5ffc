package authoring

import (
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/lsp/conversation"
)

// Kind says which of the files that people write for agentls a document is. agentls is the language server of these
// files only; all other documents are left to their own language servers.
type Kind int

const (
	// None is any document that is not ours.
	None Kind = iota
	// Definition has definitions of agents, in any format.
	Definition
	// Skill is a SKILL.md.
	Skill
	// ProjectConfig is the config.toml of a project.
	ProjectConfig
	// UserConfig is the user's own config.toml, which may set more than a project's.
	UserConfig
	// Instructions is a text that instructs agents: AGENTS.md and its like.
	Instructions
	// Conversation is a document in which the user talks with agents.
	Conversation
)

// Code is the code of the diagnostics of this kind of file, which editors show in their lists of problems; "" for None.
func (k Kind) Code() string {
	switch k {
	case Definition:
		return "agent"
	case Skill:
		return "skill"
	case ProjectConfig, UserConfig:
		return "config"
	case Instructions:
		return "instructions"
	case Conversation:
		return "conversation"
	}
	return ""
}

// skillFile is the name of a skill's text (Agent Skills specification, "Directory structure").
const skillFile = "SKILL.md"

// KindOf tells by a document's path what it is; userConfig is the path of the user's own configuration, "" for none. It
// looks at nothing else, so that it costs other documents nothing.
func KindOf(path, userConfig string) Kind {
	if filepath.Base(path) == skillFile {
		return Skill
	}
	if path == userConfig {
		return UserConfig
	}
	if conversation.Is(path) {
		return Conversation
	}
	if strings.HasSuffix(filepath.ToSlash(path), "/"+config.ProjectFile) {
		return ProjectConfig
	}
	if _, ours := agent.Detect(path); ours {
		return Definition
	}
	if instruction.Is(path) {
		return Instructions
	}
	return None
}

// Selector selects the documents that [KindOf] recognizes, for clients that can keep other documents from us.
func Selector(userConfig string) protocol.DocumentSelector {
	return append(Files(userConfig), Conversations()...)
}

// Files selects those that are no conversations.
func Files(userConfig string) protocol.DocumentSelector {
	patterns := []string{
		"**/{.agentls,agentls}/agents/**/*.{md,markdown,json,toml}", "**/plugins/*/agents/**/*.{md,markdown,json,toml}",
		"**/.claude/agents/**/*.{md,markdown,json}", "**/.opencode/{agent,agents}/**/*.{md,markdown,json}",
		"**/agents.toml", "**/*.agents.json", "**/{.agentls,agentls,plugins}/**/agents.json",
		"**/{.agentls,agentls}/appsettings.json", "**/plugins/*/appsettings.json",
		"**/" + skillFile, "**/" + config.ProjectFile,
		"**/{AGENTS,CLAUDE,GEMINI}.md", "**/.github/{copilot-instructions.md,instructions/*.instructions.md}",
	}
	if userConfig != "" {
		patterns = append(patterns, filepath.ToSlash(userConfig))
	}
	return selecting(patterns...)
}

// Conversations selects only the conversations.
func Conversations() protocol.DocumentSelector { return selecting("**/*" + conversation.Suffix) }

func selecting(patterns ...string) protocol.DocumentSelector {
	var list protocol.DocumentSelector
	for _, p := range patterns {
		list = append(list, &protocol.TextDocumentFilterPattern{Scheme: new("file"), Pattern: protocol.Pattern(p)})
	}
	return list
}
