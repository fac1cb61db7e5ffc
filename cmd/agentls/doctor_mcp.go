package main

import (
	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/permission"
)

// checkServers tells which MCP servers runs would use, without starting them.
func (v *environment) checkServers(dirs config.Dirs, cfg *config.Config, trust authority.FolderTrust) []check {
	var checks []check
	for _, server := range agentcore.CheckServers(cfg, v.dir, trust.Standing == permission.Trusted, v.keys(dirs).Get) {
		c := check{Name: "mcp " + server.Name, Outcome: checkOK, Detail: server.Detail, Hint: server.Hint}
		if server.Hint != "" {
			c.Outcome = checkWarning
		}
		checks = append(checks, c)
	}
	return checks
}
