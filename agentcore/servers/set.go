package servers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/agentls/agentls/agentcore/beside"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/mcp"
	"github.com/agentls/agentls/agentcore/network"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/workspace"
)

// maxServers is how many MCP servers a session may have.
const maxServers = 64

// Setup is what the servers of a session get.
type Setup struct {
	Session event.SessionID
	View    *workspace.View
	// Proposal is what the session's runs propose.
	Proposal *workspace.Proposal
	// Trusted reports whether the user trusts the workspace now.
	Trusted func() bool
	// Named is a file of the workspace that a command or its variables name, empty for none.
	Named func(command []string, env map[string]string) string
	// Getenv reads the environment, and is used only for keys.
	Getenv   func(string) string
	Redactor *secret.Redactor
	// Marks is the folder of the marks of servers without a sandbox (see [EndLeft]).
	Marks string
	// Patience is how long a run waits for all its MCP servers before it begins without them.
	Patience time.Duration
	Logger   *slog.Logger
}

// Caller is the run for which a server is started. The server has the run's configuration and mark.
type Caller struct {
	Sandbox command.Sandbox
	// Level is how strongly commands are kept apart.
	Level func() permission.Level
}

// Set are the servers of a session. The first run that may use a server starts it, the session's runs share it, and it
// ends with the session. Its methods may be called from any goroutine.
type Set struct {
	setup     Setup
	languages languages

	mu     sync.Mutex
	closed bool
	list   map[string]*Client // MCP servers by key
	told   map[string]string  // the last message about an MCP server, by key
}

// New makes the servers of a session, of which none runs.
func New(setup Setup) *Set { return &Set{setup: setup} }

// News reports whether a message about a server differs from the last one.
func (s *Set) News(server Server, text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told == nil {
		s.told = map[string]string{}
	}
	known := s.told[server.key()] == text
	s.told[server.key()] = text
	return !known
}

// Client is an MCP server of a session.
type Client struct {
	server  Server
	trusted func() bool
	*mcp.Client
}

// errUntrusted is why a workspace's server is not started, or no longer used.
var errUntrusted = errors.New("it comes from the workspace, which you do not trust (see `agentls trust`)")

// untrusted is why the server is no longer used, nil if it is.
func (c *Client) untrusted() error {
	if c.server.Project && !c.trusted() {
		return fmt.Errorf("the MCP server %s is not used: %w", c.server.Name, errUntrusted)
	}
	return nil
}

// Found is an MCP server that a run may use, with the outcome of its start.
type Found struct {
	Server Server
	Client *Client
	// Catalog is what the server offers, nil if Err says why it is not used.
	Catalog *mcp.Catalog
	Err     error
}

// Await starts the servers that do not run yet, and waits for all of them for a while. It also returns when ctx ends.
func (s *Set) Await(ctx context.Context, c Caller, list []Server) []Found {
	found := make([]Found, len(list))
	ctx, cancel := context.WithTimeout(ctx, s.setup.Patience)
	defer cancel()
	var waiting beside.Group
	for i, server := range list {
		one := &found[i]
		one.Server = server
		if one.Client, one.Err = s.get(c, server); one.Err == nil {
			waiting.Go(func() {
				if one.Catalog, one.Err = one.Client.Await(ctx); errors.Is(one.Err, context.DeadlineExceeded) {
					one.Err = fmt.Errorf("it was not ready within %s", s.setup.Patience)
				}
			})
		}
	}
	waiting.Wait() // ctx ends it
	return found
}

// get returns a server of the session. It starts the server for the run if it does not run yet.
func (s *Set) get(c Caller, server Server) (*Client, error) {
	if server.Project && !s.setup.Trusted() {
		return nil, errUntrusted
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch key := server.key(); {
	case s.closed:
		return nil, errors.New("the session has ended")
	case s.list[key] != nil:
		s.list[key].Wake()
		return s.list[key], nil
	case len(s.list) >= maxServers:
		return nil, fmt.Errorf("a session has at most %d MCP servers", maxServers)
	default:
		options, err := s.options(c, server)
		if err != nil {
			return nil, err
		}
		client := &Client{server, s.setup.Trusted, mcp.New(options)}
		if s.list == nil {
			s.list = map[string]*Client{}
		}
		s.list[key] = client
		return client, nil
	}
}

// find returns the running server with a name among some servers.
func (s *Set) find(servers []Server, name string) *Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, server := range servers {
		if server.Name == name {
			return s.list[server.key()]
		}
	}
	return nil
}

// end ends the MCP servers for which a condition holds, and returns when none of their processes is left.
func (s *Set) end(which func(Server) bool) {
	s.mu.Lock()
	var ending beside.Group
	for key, client := range s.list {
		if which(client.server) {
			delete(s.list, key)
			ending.Go(client.Close)
		}
	}
	s.mu.Unlock()
	ending.Wait()
}

// Distrust ends the servers that need the user's trust in the workspace, and returns when none of their processes is
// left.
func (s *Set) Distrust() {
	s.languages.end()
	s.end(func(server Server) bool { return server.Project })
}

// Close ends all servers, and prevents further starts.
func (s *Set) Close() {
	s.languages.close()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end(func(Server) bool { return true })
}

// options says how to reach a server, with the references in its configuration replaced.
func (s *Set) options(c Caller, server Server) (mcp.Options, error) {
	o := mcp.Options{
		Name: server.Name, Roots: folders(s.setup.View), StartTime: 2 * s.setup.Patience, Logger: s.setup.Logger,
	}
	expanded, err := expand(server, s.setup.Getenv, s.setup.Redactor)
	if err != nil {
		return o, err
	}
	if expanded.url != "" {
		o.URL, o.Headers = expanded.url, expanded.headers
		if server.Project {
			// Private addresses are only permitted if the user names them.
			allowed, err := network.Parse(c.Sandbox.Allowed)
			if err != nil {
				return o, err
			}
			o.Dial = func(ctx context.Context, _, address string) (net.Conn, error) {
				return allowed.Dial(ctx, address, nil)
			}
		}
		return o, nil
	}
	o.Open = (&starter{Setup: s.setup, caller: c, server: expanded}).open
	return o, nil
}
