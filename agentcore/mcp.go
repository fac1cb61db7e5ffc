package agentcore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/beside"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/mcp"
	"github.com/agentls/agentls/agentcore/network"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/tool"
)

// mcpPatience is how long a run waits for its MCP servers, all together, before it begins without them. Tests, on
// machines with much to do, wait longer.
var mcpPatience = 30 * time.Second

const (
	// maxServers is how many MCP servers a session may have, and maxExternal how many tools of them a run.
	maxServers  = 64
	maxExternal = 256
)

// mcpServer is an MCP server as it is configured. It is a value.
type mcpServer struct {
	// name as its tools have it.
	name    string
	command []string // of one on pipes
	env     map[string]string
	url     string // of one over HTTP
	headers map[string]string
	// project tells that it came with a workspace folder: it needs trust, and walls.
	project bool
	// dir is the folder whose configuration has it, which it runs in; empty for the first one.
	dir string
	// from is where it is configured, for people.
	from string
}

// key is what tells a server from others: two of one name that do the same are one.
func (s mcpServer) key() string {
	parts := []string{s.name, s.url, fmt.Sprint(s.project), s.dir}
	parts = append(parts, s.command...)
	for _, m := range []map[string]string{s.env, s.headers} {
		parts = append(parts, "\x00")
		for _, name := range slices.Sorted(maps.Keys(m)) {
			parts = append(parts, name, m[name])
		}
	}
	return permission.Hash([]byte(strings.Join(parts, "\x00")))
}

// mcpClients are the MCP servers of a session that run, or have run: started by the first run that may use them, shared
// between the session's runs, and ended with it. Its methods may be called from any goroutine.
type mcpClients struct {
	mu     sync.Mutex
	closed bool
	list   map[string]*mcpClient // by key
	told   map[string]string     // what was told last of a server, by key
}

// tells reports whether something is news.
func (m *mcpClients) tells(server mcpServer, text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.told == nil {
		m.told = map[string]string{}
	}
	known := m.told[server.key()] == text
	m.told[server.key()] = text
	return !known
}

// mcpClient is a server of a session.
type mcpClient struct {
	server mcpServer
	*mcp.Client
}

// configuredServers are the MCP servers of a configuration, by name.
func configuredServers(cfg *config.Config) (list []mcpServer, problems []string) {
	for _, name := range slices.Sorted(maps.Keys(cfg.MCP)) {
		c := cfg.MCP[name]
		s := mcpServer{
			name: mcp.ServerName(name), env: c.Env, url: c.URL, headers: c.Headers,
			project: c.Origin.Layer == config.LayerProject, dir: c.Origin.Folder(),
			from: cmp.Or(c.Origin.Shown, c.Origin.Layer.String()),
		}
		if c.Command != "" {
			s.command = append([]string{c.Command}, c.Args...)
		}
		switch i := slices.IndexFunc(list, func(o mcpServer) bool { return o.name == s.name }); {
		case s.name == "":
			problems = append(problems, fmt.Sprintf("the MCP server %q has no letter or digit in its name", name))
		case i < 0:
			list = append(list, s)
		case list[i].project && !s.project:
			list[i] = s
			fallthrough
		default:
			problems = append(problems, fmt.Sprintf("two MCP servers have the name %s, as tools have it", s.name))
		}
	}
	return list, problems
}

// serversOf are the MCP servers that a run has, whether it has a use for them or not. What is wrong with them is told
// once.
func (r *run) serversOf() []mcpServer {
	r.foundServers.Do(func() { r.servers = r.findServers() })
	return r.servers
}

// findServers collects the servers of the configuration or of the run's parent, and those that its definition brings.
func (r *spec) findServers() []mcpServer {
	configured, problems := configuredServers(r.config)
	list := configured
	if r.parent != nil {
		list, problems = r.parent.serversOf(), nil
	}
	list = slices.Clone(list)
	for _, d := range r.definition.MCPServers {
		name := mcp.ServerName(d.Name)
		at := func(list []mcpServer) int {
			return slices.IndexFunc(list, func(s mcpServer) bool { return s.name == name })
		}
		if len(d.Command) == 0 && d.URL == "" {
			if at(list) < 0 && at(configured) >= 0 {
				list = append(list, configured[at(configured)])
			} else if at(list) < 0 {
				problems = append(problems,
					fmt.Sprintf("the definition of %s names the MCP server %s, which the configuration does not have",
						r.definition.Slug, permission.Visible(d.Name)))
			}
			continue
		}
		own := mcpServer{
			name: name, command: d.Command, env: d.Env, url: d.URL, headers: d.Headers,
			project: r.definition.Source.Layer == agent.LayerProject, from: "the definition of " + r.definition.Slug,
		}
		switch i := at(list); {
		case name == "":
			problems = append(problems, fmt.Sprintf("the MCP server %q of %s has no letter or digit in its name",
				d.Name, r.definition.Slug))
		case i < 0:
			list = append(list, own)
		case own.project && !list[i].project:
			// The user's rules and grants for the server's tools must not serve another server.
			problems = append(problems,
				fmt.Sprintf(
					"the definition of %s brings an MCP server %s, and you have one of that name: the project's is "+
						"left out", r.definition.Slug, name))
		default:
			list[i] = own
		}
	}
	for _, problem := range problems {
		r.notice(event.NoticeWarning, problem, "see `[mcp]` in the configuration, and `mcp_servers` in the definition")
	}
	return list
}

// bringsServer reports whether the run's definition names an MCP server.
func (r *spec) bringsServer(name string) bool {
	return slices.ContainsFunc(r.definition.MCPServers,
		func(s agent.MCPServer) bool { return mcp.ServerName(s.Name) == name })
}

// startServers starts the MCP servers that the run may use, waits for them for a while, and gives the run their tools,
// which stay as they are then. The error is that of the run's context, or that a command of a server cannot be carried
// out.
func (r *run) startServers() error {
	servers := slices.Clone(r.serversOf())
	for _, s := range servers {
		if r.tools.OnlySubmits() || s.project && !r.session.isTrusted() {
			r.tools.Spare(s.name)
		}
	}
	servers = slices.DeleteFunc(servers, func(s mcpServer) bool { return !r.tools.WantsServer(s.name) })
	type outcome struct {
		client  *mcpClient
		catalog *mcp.Catalog
		err     error
	}
	found := make([]outcome, len(servers))
	ctx, cancel := context.WithTimeout(r.ctx, mcpPatience)
	defer cancel()
	var waiting beside.Group
	for i, server := range servers {
		one := &found[i]
		if one.client, one.err = r.session.mcp.get(r, server); one.err == nil {
			waiting.Go(func() { one.catalog, one.err = one.client.Await(ctx) })
		}
	}
	if len(servers) > 0 {
		r.progress("waits for MCP servers", 0)
	}
	waiting.Wait() // ctx ends it
	if err := r.ctx.Err(); err != nil {
		return err
	}
	var tools []tool.Tool
	for i, one := range found {
		switch {
		case errors.Is(one.err, context.DeadlineExceeded):
			one.err = fmt.Errorf("it was not ready within %s", mcpPatience)
			fallthrough
		case one.err != nil:
			r.tellOfServer(servers[i], "is not used: "+r.engine.redactor.Text(one.err.Error()),
				"see `agentls doctor`, or what `agent/mcp` says of it; the next run tries again")
			continue
		}
		if problems := one.catalog.Problems; len(problems) > 0 {
			r.tellOfServer(servers[i], "offers what is left out: "+strings.Join(problems, "; "), "")
		}
		own := r.toolsOfServer(one.client, one.catalog)
		if r.parent != nil && len(own) == 0 && len(one.catalog.Tools) > 0 && r.bringsServer(servers[i].name) {
			r.tellOfServer(servers[i],
				"is of no use to "+r.definition.Slug+", which brings it: every call would be denied, or would need a "+
					"question that nobody is asked for a subagent",
				fmt.Sprintf("allow it by a rule with tool = \"%s%s__*\", or set subagent_ask = \"bubble\"",
					mcp.Prefix, servers[i].name))
		}
		tools = append(tools, own...)
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
	return r.expandCommand()
}

// tellOfServer tells what is wrong with a server: to each run of the user, and once to all that work for them.
func (r *spec) tellOfServer(server mcpServer, text, hint string) {
	if r.session.mcp.tells(server, text) || r.parent == nil {
		r.notice(event.NoticeWarning, fmt.Sprintf("the MCP server %s %s", server.name, text), hint)
	}
}

// toolsOfServer are the tools of a server that the run may use.
func (r *run) toolsOfServer(client *mcpClient, catalog *mcp.Catalog) []tool.Tool {
	var tools []tool.Tool
	for _, t := range catalog.Tools {
		if offered := (mcpTool{client, t}); r.tools.MayUse(t.Name) && !r.tools.KeepsBack(offered.Spec()) {
			tools = append(tools, offered)
		}
	}
	if catalog.Resources {
		for _, t := range []mcpResources{{client, true}, {client, false}} {
			if _, taken := catalog.Tool(t.Spec().Name); !taken && r.tools.MayUse(t.Spec().Name) &&
				!r.tools.KeepsBack(t.Spec()) {
				tools = append(tools, t)
			}
		}
	}
	return tools
}

// expandCommand replaces a prompt that calls a prompt of an MCP server, such as "/mcp__docs__summary main.go", by what
// the server says.
func (r *run) expandCommand() error {
	name, rest, _ := strings.Cut(strings.TrimSpace(r.request.Prompt), " ")
	name, isCommand := strings.CutPrefix(name, "/"+mcp.Prefix)
	if !isCommand {
		return nil
	}
	name = mcp.Prefix + name
	wrong := func(detail, hint string) error {
		return &fault.Error{Kind: fault.InvalidRequest, Detail: detail, Hint: hint}
	}
	server, _, ok := mcp.SplitName(name)
	client := r.session.mcp.find(r.serversOf(), server)
	if !ok || client == nil {
		return wrong(fmt.Sprintf("there is no MCP server for /%s", permission.Visible(name)),
			"see the prompts that `agent/mcp` lists")
	}
	catalog, err := client.Await(r.ctx)
	if err != nil {
		return wrong(fmt.Sprintf("the MCP server %s is not connected: %v", server, err),
			"mend it first; see `agentls doctor`")
	}
	prompt, ok := catalog.Prompt(name)
	if !ok {
		var known []string
		for _, p := range catalog.Prompts {
			known = append(known, "/"+p.Name)
		}
		return wrong(fmt.Sprintf("the MCP server %s has no prompt for /%s", server, permission.Visible(name)),
			"it has "+cmp.Or(strings.Join(known, ", "), "none"))
	}
	arguments, err := promptArguments(prompt, rest)
	if err != nil {
		return wrong(err.Error(), "write them in this order behind the name, the last one with spaces if need be")
	}
	text, err := client.Expand(r.ctx, name, arguments)
	if err != nil {
		return wrong(err.Error(), "see what the server says of it")
	}
	r.expanded = text
	return nil
}

// promptArguments are the words behind a command, in the order of the prompt's arguments; the last one gets the rest.
func promptArguments(p mcp.Prompt, rest string) (map[string]string, error) {
	arguments := map[string]string{}
	for i, a := range p.Arguments {
		rest = strings.TrimSpace(rest)
		word := rest
		if i+1 < len(p.Arguments) {
			word, rest, _ = strings.Cut(rest, " ")
		}
		if word != "" {
			arguments[a.Name] = word
		} else if a.Required {
			var names []string
			for _, a := range p.Arguments {
				names = append(names, a.Name)
			}
			return nil, fmt.Errorf("/%s needs %s: its arguments are %s", p.Name, a.Name, strings.Join(names, ", "))
		}
	}
	return arguments, nil
}

// get returns a server of the session, which it starts for the run where it does not run.
func (m *mcpClients) get(r *run, server mcpServer) (*mcpClient, error) {
	if server.project && !r.session.isTrusted() {
		return nil, errUntrustedServer
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch key := server.key(); {
	case m.closed:
		return nil, errors.New("the session has ended")
	case m.list[key] != nil:
		m.list[key].Wake()
		return m.list[key], nil
	case len(m.list) >= maxServers:
		return nil, fmt.Errorf("a session has at most %d MCP servers", maxServers)
	default:
		options, err := r.clientOptions(server)
		if err != nil {
			return nil, err
		}
		client := &mcpClient{server, mcp.New(options)}
		if m.list == nil {
			m.list = map[string]*mcpClient{}
		}
		m.list[key] = client
		return client, nil
	}
}

// find returns the server of that name among some, if it runs.
func (m *mcpClients) find(servers []mcpServer, name string) *mcpClient {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range servers {
		if s.name == name {
			return m.list[s.key()]
		}
	}
	return nil
}

// end ends those servers that a condition holds for, and returns when nothing of them is left.
func (m *mcpClients) end(which func(mcpServer) bool) {
	m.mu.Lock()
	var ending beside.Group
	for key, client := range m.list {
		if which(client.server) {
			delete(m.list, key)
			ending.Go(client.Close)
		}
	}
	m.mu.Unlock()
	ending.Wait()
}

// close ends all servers, and lets no other start.
func (m *mcpClients) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.end(func(mcpServer) bool { return true })
}

// errUntrustedServer is why a server of a workspace is not started, or not used any more.
var errUntrustedServer = errors.New("it comes from the workspace, which you do not trust (see `agentls trust`)")

// clientOptions is how a server is reached, with what its configuration names of the environment put in.
func (r *run) clientOptions(server mcpServer) (mcp.Options, error) {
	o := mcp.Options{Name: server.name, StartTime: 2 * mcpPatience, Logger: r.engine.logger}
	for _, root := range r.session.view.Roots() {
		o.Roots = append(o.Roots, root.Path)
	}
	expanded, err := expandServer(server, r.engine.getenv, r.engine.redactor)
	if err != nil {
		return o, err
	}
	if expanded.url != "" {
		o.URL, o.Headers = expanded.url, expanded.headers
		if server.project {
			// No private address, unless the user names it.
			allowed, err := network.Parse(r.config.NetworkAllow)
			if err != nil {
				return o, err
			}
			o.Dial = func(ctx context.Context, _, address string) (net.Conn,
				error,
			) {
				return allowed.Dial(ctx, address, nil)
			}
		}
		return o, nil
	}
	o.Open = (&mcpStarter{run: r, server: expanded}).open
	return o, nil
}

// MCPStatus is what is known of an MCP server.
type MCPStatus struct {
	Name string
	// Command or URL, as it is configured, for people.
	Address string
	// From is the file or definition that it comes from, for people, and Layer its layer.
	From  string
	Layer config.Layer
	State mcp.State
	// Untrusted tells that it lies in a workspace folder that is not trusted.
	Untrusted bool
	// Problem is why it is not ready, in words; empty where it is.
	Problem string
	Catalog *mcp.Catalog // nil where it is not ready
}

// MCPServers lists the MCP servers of the configuration, those in workspace folders that are not trusted, and those
// that definitions brought into sessions of this process, by name. It reads the configuration of such folders, but
// starts nothing.
func (e *Engine) MCPServers(roots []string, trusted bool) []MCPStatus {
	return e.mcpServers(e.openSessions(), roots, trusted)
}

// MCPServers is [Engine.MCPServers] for one session.
func (s *Session) MCPServers() []MCPStatus {
	return s.engine.mcpServers([]*Session{s}, s.view.Folders(), s.isTrusted())
}

func (e *Engine) mcpServers(sessions []*Session, roots []string, trusted bool) []MCPStatus {
	servers, _ := configuredServers(e.Config())
	running := map[string]*mcpClient{}
	for _, s := range sessions {
		s.mcp.mu.Lock()
		maps.Copy(running, s.mcp.list)
		s.mcp.mu.Unlock()
	}
	for _, key := range slices.Sorted(maps.Keys(running)) {
		if !slices.ContainsFunc(servers, func(o mcpServer) bool { return o.key() == key }) {
			servers = append(servers, running[key].server)
		}
	}
	if !trusted {
		for _, root := range roots {
			hidden, _ := configuredServers(authority.ProjectConfig(root))
			for _, server := range hidden {
				if !slices.ContainsFunc(servers, func(o mcpServer) bool { return o.name == server.name }) {
					servers = append(servers, server)
				}
			}
		}
	}
	list := make([]MCPStatus, 0, len(servers))
	for _, server := range servers {
		status := MCPStatus{
			Name: server.name, Address: e.redactor.Text(server.address()), From: server.from,
			State: mcp.Stopped, Layer: config.LayerUser,
		}
		if server.project {
			status.Layer = config.LayerProject
		}
		if client := running[server.key()]; client != nil {
			var problem error
			if status.State, status.Catalog, problem = client.Status(); problem != nil {
				status.Problem = e.redactor.Text(problem.Error())
			}
		}
		if server.project && !trusted {
			status.State, status.Catalog, status.Untrusted, status.Problem = mcp.Stopped, nil, true,
				errUntrustedServer.Error()
		}
		list = append(list, status)
	}
	slices.SortStableFunc(list, func(a, b MCPStatus) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// address is a server's command or URL as people may see it: without what may be a key.
func (s mcpServer) address() string {
	if s.url != "" {
		before, _, _ := strings.Cut(s.url, "?")
		return permission.Visible(before)
	}
	words := slices.Clone(s.command)
	if len(words) > 0 {
		words[0] = filepath.Base(words[0])
	}
	return permission.Visible(strings.Join(words, " "))
}
