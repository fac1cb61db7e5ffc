package lsp

import (
	"context"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/mcp"
	"github.com/agentls/agentls/lsp/methods"
)

// MCP answers `agent/mcp`.
func (c *catalog) MCP(ctx context.Context, _ *methods.NoParams) (*methods.MCPList, error) {
	engine, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	var roots []string
	for _, root := range c.view.Roots() {
		roots = append(roots, root.Path)
	}
	list := &methods.MCPList{}
	for _, status := range engine.MCPServers(roots, c.trust.all()) {
		list.Servers = append(list.Servers, mcpServer(status))
	}
	return list, nil
}

// mcpServer is a server on the wire.
func mcpServer(status agentcore.MCPStatus) methods.MCPServer {
	server := methods.MCPServer{Name: status.Name, Layer: methods.LayerUser, Address: status.Address}
	if status.Layer == config.LayerProject {
		server.Layer = methods.LayerProject
	}
	switch {
	case status.Untrusted:
		server.State = methods.MCPStateUntrusted
	case status.State == mcp.Starting:
		server.State = methods.MCPStateStarting
	case status.State == mcp.Ready:
		server.State = methods.MCPStateReady
	case status.State == mcp.Failed:
		server.State = methods.MCPStateFailed
		server.Error = &event.Failure{
			Kind: "not_connected", Detail: status.Problem,
			Hint: "mend it; the next run tries again",
		}
	default:
		server.State = methods.MCPStateStopped
	}
	if status.Catalog == nil {
		return server
	}
	for _, tool := range status.Catalog.Tools {
		server.Tools = append(server.Tools, tool.Name)
	}
	for _, p := range status.Catalog.Prompts {
		prompt := methods.MCPPrompt{Name: p.Name, Description: p.Description}
		for _, a := range p.Arguments {
			prompt.Arguments = append(prompt.Arguments,
				methods.MCPArgument{Name: a.Name, Description: a.Description, Required: a.Required})
		}
		server.Prompts = append(server.Prompts, prompt)
	}
	return server
}
