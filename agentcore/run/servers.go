package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/mcpname"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/servers"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/toolset"
)

// maxExternal is how many tools of MCP servers a run may have.
const maxExternal = 256

// callerOfServers describes the run to its MCP servers.
func callerOfServers(r *Run) servers.Caller {
	return servers.Caller{Sandbox: r.commands.Sandbox, Level: r.gate.rights.Level}
}

// serversOf are the MCP servers of the run, whether the run can use them or not. Faults in them are reported once.
func (r *Run) serversOf() []servers.Server {
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

// startServers starts the MCP servers that the run may use, waits for them for a while, and gives the run the tools
// that they have by then. The error is that of the run's context, or says that a command of a server cannot be carried
// out.
func (r *Run) startServers() (err error) {
	list := slices.Clone(r.serversOf())
	for _, s := range list {
		if r.tools.OnlySubmits() || s.Project && !r.session.Trusted() {
			r.tools.Spare(s.Name)
		}
	}
	list = slices.DeleteFunc(list, func(s servers.Server) bool { return !r.tools.WantsServer(s.Name) })
	if len(list) > 0 {
		r.progress("waits for MCP servers", 0)
	}
	found := r.session.Servers.Await(r.ctx, callerOfServers(r), list)
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
		r.tools.Add(servers.Shelve(tools))
	}
	r.expanded, err = r.session.Servers.Expand(r.ctx, r.serversOf(), r.request.Prompt)
	return err
}

// tellOfServer reports a fault of a server: to each run of the user, and once for all the runs below it.
func (r *spec) tellOfServer(server servers.Server, text, hint string) {
	if r.session.Servers.News(server, text) || r.parent == nil {
		r.notice(event.NoticeWarning, fmt.Sprintf("the MCP server %s %s", server.Name, text), hint)
	}
}

// toolsOfServer are the tools of a server that the run may use. It reports what is wrong with the server.
func (r *spec) toolsOfServer(found servers.Found) (tools []tool.Tool) {
	if found.Err != nil {
		r.tellOfServer(found.Server, "is not used: "+r.redactor.Text(found.Err.Error()),
			"see `agentls doctor`, or what `agent/mcp` says of it; the next run tries again")
		return nil
	}
	if problems := found.Catalog.Problems; len(problems) > 0 {
		r.tellOfServer(found.Server, "is used only in part: "+strings.Join(problems, "; "), "")
	}
	for _, t := range found.Client.Tools(found.Catalog) {
		if r.tools.MayUse(tool.Brief(t).Name) && !r.tools.KeepsBack(tool.Brief(t)) {
			tools = append(tools, t)
		}
	}
	if r.parent != nil && len(tools) == 0 && len(found.Catalog.Tools) > 0 && r.bringsServer(found.Server.Name) {
		r.tellOfServer(found.Server,
			fmt.Sprintf("has no tool that %s may call, though the definition of %[1]s names the server: %s",
				r.definition.Slug, toolset.DeniedToChildren),
			fmt.Sprintf("allow it by a rule with tool = \"%s\", or set subagent_ask = \"bubble\"",
				mcpname.All(found.Server.Name)))
	}
	return tools
}

// DecidedVersion implements servers.Host.
func (h host) DecidedVersion() string { return h.own.call.version }

// Progress implements servers.Host.
func (h host) Progress(message string) { h.own.progress(message) }

var _ servers.Host = host{}

// Symbols asks the editor, if it lends its servers and shows what the run sees; otherwise a language server of the
// session.
func (h hostChecks) Symbols(ctx context.Context, q tool.SymbolQuery) (tool.Symbols, error) {
	r := h.run
	return r.session.Servers.Symbols(ctx, q, servers.Asking{
		Caller: callerOfServers(r), Config: r.config, Layer: r.layer, Editor: r.process.Editor,
		Withholds: h.withholdsLanguages, Progress: ofCall(h).progress,
	})
}

// withholdsLanguages says why no language server may run for this run; empty where one may. Language servers read the
// project's own code, and some run it.
func (h hostChecks) withholdsLanguages(argv []string) string {
	r := h.run
	switch level := r.gate.rights.Level(); {
	case !r.session.Trusted():
		return "language servers are not started in a workspace that the user does not trust yet"
	case level != permission.Full:
		return "there is no full sandbox to run a language server in"
	}
	if reason := ruledOut(r, argv, authority.Home(r.session.View)); reason != "" {
		return argv[0] + " may not run: " + reason
	}
	return ""
}

// EditorDiagnostics asks the editor what its servers say of a file, if the editor lends that. The diagnostics are about
// the text that the editor shows.
func (h hostChecks) EditorDiagnostics(ctx context.Context, path string) []tool.Diagnostic {
	editor := h.run.process.Editor
	if editor == nil || !editor.LendsDiagnostics() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, servers.EditorTime)
	defer cancel()
	list, err := editor.Diagnostics(ctx, path)
	if err != nil {
		h.run.process.Logger.Warn("the editor lends no diagnostics", "error", err)
		return nil
	}
	return slices.DeleteFunc(list, func(d tool.Diagnostic) bool { return d.Path != path })
}
