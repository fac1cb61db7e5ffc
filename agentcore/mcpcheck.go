package agentcore

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/secret"
)

// ServerCheck is what can be said of an MCP server without starting it.
type ServerCheck struct {
	Name string
	// Detail says what it is, or what is wrong.
	Detail string
	// Hint says what to do; empty where nothing is wrong.
	Hint string
}

// CheckServers looks whether the MCP servers of a configuration could be started: whether their programs are there, and
// what their configuration names of the environment. dir is the workspace folder, and trusted tells whether the user
// trusts it. get reads the environment and keys. It starts nothing, and reads the disk.
func CheckServers(cfg *config.Config, dir string, trusted bool, get func(string) string) []ServerCheck {
	var redactor secret.Redactor
	redactor.AddEnviron(os.Environ())
	servers, problems := configuredServers(cfg)
	var list []ServerCheck
	for _, problem := range problems {
		list = append(list, ServerCheck{Name: "servers", Detail: problem, Hint: "give them other names under [mcp]"})
	}
	for _, server := range servers {
		list = append(list, checkServer(server, dir, get, &redactor))
	}
	if trusted {
		return list
	}
	hidden, _ := configuredServers(authority.ProjectConfig(dir))
	for _, server := range hidden {
		list = append(list, ServerCheck{
			Name: server.name, Detail: fmt.Sprintf("%s, from %s, is not used: this folder is not trusted",
				redactor.Text(server.address()), permission.Visible(server.from)),
			Hint: "look at it and trust it with `agentls trust`",
		})
	}
	return list
}

func checkServer(server mcpServer, dir string, get func(string) string, redactor *secret.Redactor) ServerCheck {
	c := ServerCheck{Name: server.name}
	expanded, err := expandServer(server, get, redactor)
	address := redactor.Text(server.address())
	switch {
	case err != nil:
		c.Detail, c.Hint = err.Error(), "see [mcp."+server.name+"] in "+permission.Visible(server.from)
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
