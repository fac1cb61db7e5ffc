package servers

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/mcp"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/secret"
)

// Status is what is known of an MCP server.
type Status struct {
	Name string
	// Address is the command or URL, as it is configured, for people.
	Address string
	// From is the file or definition that it comes from, for people, and Layer its layer.
	From  string
	Layer config.Layer
	State mcp.State
	// Untrusted says that it is configured in a workspace folder that is not trusted.
	Untrusted bool
	// Problem says why it is not ready; empty if it is.
	Problem string
	Catalog *mcp.Catalog // nil where it is not ready
}

// Statuses are the statuses of the MCP servers of a configuration, of those that definitions brought into sessions, and
// of those in the configurations of workspace folders that are not trusted, by name. It starts nothing.
func Statuses(cfg *config.Config, sessions []*Set, hidden []*config.Config, trusted bool,
	redactor *secret.Redactor,
) []Status {
	servers, _ := Configured(cfg)
	running := map[string]*Client{}
	for _, s := range sessions {
		s.mu.Lock()
		maps.Copy(running, s.list)
		s.mu.Unlock()
	}
	for _, key := range slices.Sorted(maps.Keys(running)) {
		if !slices.ContainsFunc(servers, func(o Server) bool { return o.key() == key }) {
			servers = append(servers, running[key].server)
		}
	}
	for _, folder := range hidden {
		list, _ := Configured(folder)
		for _, server := range list {
			if !slices.ContainsFunc(servers, func(o Server) bool { return o.Name == server.Name }) {
				servers = append(servers, server)
			}
		}
	}
	list := make([]Status, 0, len(servers))
	for _, server := range servers {
		status := Status{
			Name: server.Name, Address: redactor.Text(server.address()), From: server.from,
			State: mcp.Stopped, Layer: config.LayerUser,
		}
		if server.Project {
			status.Layer = config.LayerProject
		}
		if client := running[server.key()]; client != nil {
			var problem error
			if status.State, status.Catalog, problem = client.Status(); problem != nil {
				status.Problem = redactor.Text(problem.Error())
			}
		}
		if server.Project && !trusted {
			status.State, status.Catalog, status.Untrusted, status.Problem = mcp.Stopped, nil, true,
				errUntrusted.Error()
		}
		list = append(list, status)
	}
	slices.SortStableFunc(list, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Checked is what is known of an MCP server without starting it.
type Checked struct {
	Name string
	// Detail says what it is, or what is wrong.
	Detail string
	// Hint says what to do; empty where nothing is wrong.
	Hint string
}

// Check checks whether the MCP servers of a configuration could be started: whether their programs exist, and whether
// the references in their configuration have values. dir is the workspace folder. hidden is that folder's configuration
// if the user does not trust it, else nil. get reads the environment and keys. It starts nothing, and reads the disk.
func Check(cfg, hidden *config.Config, dir string, get func(string) string) []Checked {
	var redactor secret.Redactor
	redactor.AddEnviron(os.Environ())
	servers, problems := Configured(cfg)
	var list []Checked
	for _, problem := range problems {
		list = append(list, Checked{Name: "servers", Detail: problem, Hint: "give them other names under [mcp]"})
	}
	for _, server := range servers {
		list = append(list, checkServer(server, dir, get, &redactor))
	}
	if hidden == nil {
		return list
	}
	untrusted, _ := Configured(hidden)
	for _, server := range untrusted {
		list = append(list, Checked{
			Name: server.Name, Detail: fmt.Sprintf("%s, from %s, is not used: this folder is not trusted",
				redactor.Text(server.address()), permission.Visible(server.from)),
			Hint: "look at it and trust it with `agentls trust`",
		})
	}
	return list
}

func checkServer(server Server, dir string, get func(string) string, redactor *secret.Redactor) Checked {
	c := Checked{Name: server.Name}
	expanded, err := expand(server, get, redactor)
	address := redactor.Text(server.address())
	switch {
	case err != nil:
		c.Detail, c.Hint = err.Error(), "see [mcp."+server.Name+"] in "+permission.Visible(server.from)
		return c
	case server.url != "":
		c.Detail = "at " + address
		return c
	}
	program := expanded.command[0]
	if filepath.Base(program) != program && !filepath.IsAbs(program) {
		program = filepath.Join(dir, program)
	}
	if _, err := exec.LookPath(program); err != nil {
		c.Detail, c.Hint = fmt.Sprintf("%s cannot be started: %v", address,
			err), "install it, or mend `command` in "+permission.Visible(server.from)
		return c
	}
	c.Detail = "runs " + address
	return c
}
