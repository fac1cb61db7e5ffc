package agentcore

import (
	"path/filepath"
	"time"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/servers"
)

// mcpPatience is how long a run waits for all of its MCP servers together before it begins without them. Tests wait
// longer, since their machines may be busy.
var mcpPatience = 30 * time.Second

// serverMarks is the folder that records MCP servers that run without a sandbox.
func serverMarks(stateDir string) string { return filepath.Join(stateDir, "servers") }

// newServers makes the servers of a session.
func newServers(e *Engine, s *Session) *servers.Set {
	return servers.New(servers.Setup{
		Session: s.ID, View: s.shared.View, Proposal: s.shared.Board.Proposal(), Trusted: s.isTrusted,
		Named: func(command []string, env map[string]string) string {
			return authority.NamedIn(s.shared.View, authority.ServerWords(command, env))
		},
		Getenv: e.process.Getenv, Redactor: e.process.Redactor, Marks: serverMarks(e.process.StateDir),
		Patience: mcpPatience, Logger: e.process.Logger,
	})
}

// MCPServers lists the MCP servers of the configuration, those in workspace folders that are not trusted, and those
// that definitions brought into sessions of this process, by name. It reads the configuration of such folders, but
// starts nothing.
func (e *Engine) MCPServers(roots []string, trusted bool) []servers.Status {
	return statusOfServers(e, e.openSessions(), roots, trusted)
}

// MCPServers is [Engine.MCPServers] for one session.
func (s *Session) MCPServers() []servers.Status {
	return statusOfServers(s.engine, []*Session{s}, s.shared.View.Folders(), s.isTrusted())
}

func statusOfServers(e *Engine, sessions []*Session, roots []string, trusted bool) []servers.Status {
	var sets []*servers.Set
	for _, s := range sessions {
		sets = append(sets, s.shared.Servers)
	}
	var hidden []*config.Config
	if !trusted {
		for _, root := range roots {
			hidden = append(hidden, authority.ProjectConfig(root))
		}
	}
	return servers.Statuses(e.Config(), sets, hidden, trusted, e.process.Redactor)
}

// CheckServers reports whether the MCP servers of a configuration could be started. It starts none, and only reads. dir
// is the workspace folder, trusted says whether the user trusts it, and get reads the environment and keys.
func CheckServers(cfg *config.Config, dir string, trusted bool, get func(string) string) []servers.Checked {
	if trusted {
		return servers.Check(cfg, nil, dir, get)
	}
	return servers.Check(cfg, authority.ProjectConfig(dir), dir, get)
}
