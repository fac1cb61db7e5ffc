package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/agentls/agentls/agentcore"
	protocol "github.com/agentls/agentls/agentcore/acp"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
)

// session is a conversation with the client.
type session struct {
	agent   *Agent
	id      string // as the client knows it
	project *folder
	engine  *agentcore.Session
	looks   looks // at files through the client
	// heard are the notices that the user was told; the goroutine of the turn under way owns it.
	heard map[string]bool

	mu     sync.Mutex // guards all below
	chosen choice
	last   event.RunID // the run that the next prompt follows, "" where nothing was said
	turn   *turn       // under way, nil for none
}

// choice is what the user chose for the coming turns; empty members mean the engine's own choice.
type choice struct{ agent, model, effort, mode string }

// folderOf checks the folder of a session.
func folderOf(folder string) (string, error) {
	switch {
	case folder == "":
		return "", missing("cwd")
	case !filepath.IsAbs(folder):
		return "", invalidParams("params.cwd is %q; give an absolute path", folder)
	}
	return filepath.Clean(folder), nil
}

// open returns the project of a folder with MCP servers, and opens it where it is not open, or no longer as it would be
// opened now. Older sessions keep the project that they have.
func (a *Agent) open(ctx context.Context, path string, given []mcpServer) (*folder, error) {
	path, err := folderOf(path)
	if err != nil {
		return nil, err
	}
	servers, err := serversOf(given)
	if err != nil {
		return nil, err
	}
	key, err := json.Marshal(struct {
		Folder  string
		Servers map[string]config.MCPServer
	}{path, servers})
	if err != nil {
		return nil, err
	}
	if p := a.folders[string(key)]; p != nil && !p.Stale(ctx) {
		return p, nil
	}
	p, err := a.Open(ctx, path, servers, a.reading)
	if err != nil {
		return nil, err
	}
	opened := &folder{Project: p, unsaved: map[string]bool{}}
	a.folders[string(key)], a.opened = opened, append(a.opened, opened)
	return opened, nil
}

// serversOf are the MCP servers that a client gives for a session.
func serversOf(given []mcpServer) (map[string]config.MCPServer, error) {
	servers := make(map[string]config.MCPServer, len(given))
	for i, g := range given {
		one := config.MCPServer{
			Command: g.Command, Args: g.Args, URL: g.URL, Env: valuesOf(g.Env), Headers: valuesOf(g.Headers),
			Origin: config.Origin{Layer: config.LayerFlag},
		}
		switch {
		case g.Name == "":
			return nil, missing("mcpServers[" + strconv.Itoa(i) + "].name")
		case g.Type == "sse":
			return nil, invalidParams("params.mcpServers[%d]: %s speaks MCP over SSE, which agentls does not; use its "+
				"address for streamable HTTP, or start it by a command", i, g.Name)
		case g.Type == "http" && g.URL == "":
			return nil, missing("mcpServers[" + strconv.Itoa(i) + "].url")
		case g.Type != "http" && g.Command == "":
			return nil, missing("mcpServers[" + strconv.Itoa(i) + "].command")
		}
		if _, twice := servers[g.Name]; twice {
			return nil, invalidParams("params.mcpServers[%d]: there are two servers %q; name them apart", i, g.Name)
		}
		servers[g.Name] = one
	}
	return servers, nil
}

// valuesOf are named values by their names, nil for none.
func valuesOf(list []named) map[string]string {
	if len(list) == 0 {
		return nil
	}
	values := make(map[string]string, len(list))
	for _, n := range list {
		values[n.Name] = n.Value
	}
	return values
}

// newSession answers session/new.
func (a *Agent) newSession(ctx context.Context, p *sessionParams) (any, error) {
	if len(p.More) > 0 {
		return nil, errMoreFolders
	}
	project, err := a.open(ctx, p.Folder, p.Servers)
	if err != nil {
		return nil, err
	}
	opened, err := project.Session(ctx, "")
	if err != nil {
		return nil, err
	}
	s := &session{agent: a, id: string(opened.ID), project: project, engine: opened, heard: map[string]bool{}}
	a.add(s)
	result, err := s.describe(ctx)
	if err != nil {
		return nil, err
	}
	result.Session = s.id
	a.behind = append(a.behind, func() { s.tellCommands(ctx) })
	return result, nil
}

// errMoreFolders refuses what initialize has not offered.
var errMoreFolders = invalidParams("params.additionalDirectories: a session is on one folder; leave the others out")

func (a *Agent) add(s *session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions[s.id] = s
	delete(a.closed, s.id)
}

// find finds an open session.
func (a *Agent) find(id string) (*session, error) {
	if id == "" {
		return nil, missing("sessionId")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[id]; s != nil {
		return s, nil
	}
	return nil, unknownSession(id)
}

// tellCommands tells which prompts the user may call.
func (s *session) tellCommands(ctx context.Context) {
	set, err := agentcore.Prompts(ctx, s.engine)
	if err != nil {
		return // the connection has ended
	}
	commands := []protocol.Command{}
	for _, p := range set.List() {
		c := protocol.Command{Name: p.Name, Description: cmp.Or(p.Description, p.Name)}
		if p.Hint != "" {
			c.Input = &protocol.CommandInput{Hint: p.Hint}
		}
		commands = append(commands, c)
	}
	s.update(commandsUpdate{"available_commands_update", commands})
}

// cancel works on session/cancel: it ends the turn under way, with all runs below it.
func (a *Agent) cancel(_ context.Context, p *onSession) (any, error) {
	s, err := a.find(p.Session)
	if err != nil {
		return nil, err
	}
	s.cancel()
	return nil, nil
}

func (s *session) cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		s.turn.stop()
	}
}

// cancelRequest works on $/cancel_request. What is not a prompt is answered by then, or soon.
func (a *Agent) cancelRequest(_ context.Context, p *cancelParams) (any, error) {
	a.mu.Lock()
	sessions := slices.Collect(maps.Values(a.sessions))
	a.mu.Unlock()
	for _, s := range sessions {
		s.mu.Lock()
		if s.turn != nil && slices.ContainsFunc(s.turn.waiting,
			func(r *jsonrpc2.Request) bool { return r.ID.Str == string(p.Request) }) {
			s.turn.stop()
		}
		s.mu.Unlock()
	}
	return nil, nil
}
