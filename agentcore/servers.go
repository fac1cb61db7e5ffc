package agentcore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/mcpname"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/servers"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// mcpPatience is how long a run waits for its MCP servers, all together, before it begins without them. Tests, on
// machines with much to do, wait longer.
var mcpPatience = 30 * time.Second

// maxExternal is how many tools of MCP servers a run may have.
const maxExternal = 256

// serverMarks is the folder that knows of MCP servers without a sandbox.
func serverMarks(stateDir string) string { return filepath.Join(stateDir, "servers") }

// newServers makes the servers of a session.
func newServers(s *Session) *servers.Set {
	return servers.New(servers.Setup{
		Session: s.ID, View: s.view, Proposal: s.board.Proposal(), Trusted: s.isTrusted,
		Named: func(command []string, env map[string]string) string {
			return namedInWorkspace(s.view, authority.ServerWords(command, env))
		},
		Getenv: s.engine.getenv, Redactor: s.engine.redactor, Marks: serverMarks(s.engine.stateDir),
		Patience: mcpPatience, Logger: s.engine.logger,
	})
}

// namedInWorkspace is a file of the workspace that words name, empty for none.
func namedInWorkspace(view *workspace.View, words []string) string {
	for _, root := range view.Roots() {
		dir, err := os.OpenRoot(root.Path)
		if err != nil {
			continue // nothing in it can be named
		}
		files := authority.NamedFiles(words, root.Path, dir)
		dir.Close() // only read from
		if len(files) > 0 {
			return files[0]
		}
	}
	return ""
}

// callerOfServers is the run as its servers see it.
func callerOfServers(r *run) servers.Caller {
	return servers.Caller{Sandbox: r.commands.Sandbox, Level: r.rights.Level}
}

// serversOf are the MCP servers that a run has, whether it has a use for them or not. What is wrong with them is told
// once.
func (r *run) serversOf() []servers.Server {
	r.foundServers.Do(func() { r.servers = r.findServers() })
	return r.servers
}

// findServers collects the servers of the configuration or of the run's parent, and those that its definition brings.
func (r *spec) findServers() []servers.Server {
	configured, problems := servers.Configured(r.config)
	list := configured
	if r.parent != nil {
		list, problems = r.parent.serversOf(), nil
	}
	list, more := servers.With(list, configured, r.definition)
	for _, problem := range slices.Concat(problems, more) {
		r.notice(event.NoticeWarning, problem, "see `[mcp]` in the configuration, and `mcp_servers` in the definition")
	}
	return list
}

// bringsServer reports whether the run's definition names an MCP server.
func (r *spec) bringsServer(name string) bool {
	return slices.ContainsFunc(r.definition.MCPServers,
		func(s agent.MCPServer) bool { return mcpname.Server(s.Name) == name })
}

// startServers starts the MCP servers that the run may use, waits for them for a while, and gives the run their tools,
// which stay as they are then. The error is that of the run's context, or that a command of a server cannot be carried
// out.
func (r *run) startServers() (err error) {
	list := slices.Clone(r.serversOf())
	for _, s := range list {
		if r.tools.OnlySubmits() || s.Project && !r.session.isTrusted() {
			r.tools.Spare(s.Name)
		}
	}
	list = slices.DeleteFunc(list, func(s servers.Server) bool { return !r.tools.WantsServer(s.Name) })
	if len(list) > 0 {
		r.progress("waits for MCP servers", 0)
	}
	found := r.session.servers.Await(r.ctx, callerOfServers(r), list)
	if err := r.ctx.Err(); err != nil {
		return err
	}
	var tools []tool.Tool
	for _, one := range found {
		tools = append(tools, r.toolsOfServer(one)...)
	}
	if len(tools) > maxExternal {
		r.notice(event.NoticeWarning,
			fmt.Sprintf("the MCP servers have %d tools; those after the first %d are left out", len(tools),
				maxExternal), "name those that the agent needs in `tools` of its definition")
		tools = tools[:maxExternal]
	}
	if len(tools) > 0 {
		r.tools.Add(tools)
	}
	r.expanded, err = r.session.servers.Expand(r.ctx, r.serversOf(), r.request.Prompt)
	return err
}

// tellOfServer tells what is wrong with a server: to each run of the user, and once to all that work for them.
func (r *spec) tellOfServer(server servers.Server, text, hint string) {
	if r.session.servers.News(server, text) || r.parent == nil {
		r.notice(event.NoticeWarning, fmt.Sprintf("the MCP server %s %s", server.Name, text), hint)
	}
}

// toolsOfServer are the tools of a server that the run may use. What is wrong with the server is told.
func (r *run) toolsOfServer(found servers.Found) (tools []tool.Tool) {
	if found.Err != nil {
		r.tellOfServer(found.Server, "is not used: "+r.engine.redactor.Text(found.Err.Error()),
			"see `agentls doctor`, or what `agent/mcp` says of it; the next run tries again")
		return nil
	}
	if problems := found.Catalog.Problems; len(problems) > 0 {
		r.tellOfServer(found.Server, "offers what is left out: "+strings.Join(problems, "; "), "")
	}
	for _, t := range found.Client.Tools(found.Catalog) {
		if r.tools.MayUse(t.Spec().Name) && !r.tools.KeepsBack(t.Spec()) {
			tools = append(tools, t)
		}
	}
	if r.parent != nil && len(tools) == 0 && len(found.Catalog.Tools) > 0 && r.bringsServer(found.Server.Name) {
		r.tellOfServer(found.Server,
			"is of no use to "+r.definition.Slug+", which brings it: every call would be denied, or would need a "+
				"question that nobody is asked for a subagent",
			fmt.Sprintf("allow it by a rule with tool = \"%s\", or set subagent_ask = \"bubble\"",
				mcpname.All(found.Server.Name)))
	}
	return tools
}

// external makes a request for a call of a tool of an MCP server one on that version of the tool alone: what was
// allowed of it before it changed counts no more. Rules of the configuration name no version. changed says to the user
// why he is asked again; empty where it is the first time.
func (r *resources) external(c *call, request *permission.Request) (changed string) {
	t, ok := c.tool.(servers.Tool)
	if !ok {
		return ""
	}
	var news bool
	if c.version, request.Call, news = t.Decided(); news {
		return "the server has changed what it says of this tool since the run began"
	}
	for _, g := range r.rights.Grants() {
		if g.Tool == request.Tool && g.Decision == permission.Allow && g.Pattern != "" && g.Pattern != request.Call {
			return "what was allowed before was another version of this tool: the server has changed what it says of " +
				"it, or is another one"
		}
	}
	return ""
}

// DecidedVersion implements servers.Host.
func (h host) DecidedVersion() string { return h.own.call.version }

// Progress implements servers.Host.
func (h host) Progress(message string) { h.own.progress(message) }

var _ servers.Host = host{}

// MCPServers lists the MCP servers of the configuration, those in workspace folders that are not trusted, and those
// that definitions brought into sessions of this process, by name. It reads the configuration of such folders, but
// starts nothing.
func (e *Engine) MCPServers(roots []string, trusted bool) []servers.Status {
	return statusOfServers(e, e.openSessions(), roots, trusted)
}

// MCPServers is [Engine.MCPServers] for one session.
func (s *Session) MCPServers() []servers.Status {
	return statusOfServers(s.engine, []*Session{s}, s.view.Folders(), s.isTrusted())
}

func statusOfServers(e *Engine, sessions []*Session, roots []string, trusted bool) []servers.Status {
	var sets []*servers.Set
	for _, s := range sessions {
		sets = append(sets, s.servers)
	}
	var hidden []*config.Config
	if !trusted {
		for _, root := range roots {
			hidden = append(hidden, authority.ProjectConfig(root))
		}
	}
	return servers.Statuses(e.Config(), sets, hidden, trusted, e.redactor)
}

// CheckServers looks whether the MCP servers of a configuration could be started, without starting them. dir is the
// workspace folder, and trusted tells whether the user trusts it. get reads the environment and keys. It only reads.
func CheckServers(cfg *config.Config, dir string, trusted bool, get func(string) string) []servers.Checked {
	if trusted {
		return servers.Check(cfg, nil, dir, get)
	}
	return servers.Check(cfg, authority.ProjectConfig(dir), dir, get)
}

// Symbols asks the editor where it lends its servers and shows what the run sees, else a language server of the
// session.
func (h hostChecks) Symbols(ctx context.Context, q tool.SymbolQuery) (tool.Symbols, error) {
	r := h.run
	return r.session.servers.Symbols(ctx, q, servers.Asking{
		Caller: callerOfServers(r), Config: r.config, Layer: r.layer, Editor: r.engine.editor,
		Withholds: r.withholdsLanguages, Progress: ofCall(h).progress,
	})
}

// withholdsLanguages says why no language server may run for the run, or nothing. They read, and some run, the
// project's own code.
func (r *run) withholdsLanguages(argv []string) string {
	switch level := r.rights.Level(); {
	case !r.session.isTrusted():
		return "language servers are not started in a workspace that the user does not trust yet"
	case level != permission.Full:
		return "there is no full sandbox to run a language server in"
	}
	if reason := ruledOut(r, argv, authority.Home(r.session.view)); reason != "" {
		return argv[0] + " may not run: " + reason
	}
	return ""
}

// EditorDiagnostics asks the editor what its servers say of a file, where it lends that. They are about the text that
// it shows.
func (h hostChecks) EditorDiagnostics(ctx context.Context, path string) []tool.Diagnostic {
	editor := h.run.engine.editor
	if editor == nil || !editor.LendsDiagnostics() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, servers.EditorTime)
	defer cancel()
	list, err := editor.Diagnostics(ctx, path)
	if err != nil {
		h.run.engine.logger.Warn("the editor lends no diagnostics", "error", err)
		return nil
	}
	return slices.DeleteFunc(list, func(d tool.Diagnostic) bool { return d.Path != path })
}
