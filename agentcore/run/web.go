package run

import (
	"context"
	"net"

	"github.com/agentls/agentls/agentcore/network"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/tool"
)

func (h hostWeb) MayFetch(address string) bool {
	request := permission.Request{Tool: h.call.spec.Name, Effect: permission.Network, Hosts: []string{address}}
	return h.run.gate.rights.Policy.Decide(request, h.run.gate.rights.Grants()).Action == permission.Allow
}

func (h hostWeb) Connect(ctx context.Context, address string) (net.Conn, error) {
	allowed, err := network.Parse(h.run.config.NetworkAllow)
	if err != nil {
		return nil, err
	}
	return allowed.Dial(ctx, address, nil)
}

func (h hostWeb) HoldsSecret(text string) bool {
	return secret.Holds(text) || h.run.process.Redactor.Text(text) != text
}

func (h hostWeb) SearchEngine() (tool.SearchEngine, bool) {
	c := h.run.config
	if c.WebsearchKind == "" {
		return tool.SearchEngine{}, false
	}
	engine := tool.SearchEngine{Kind: c.WebsearchKind, BaseURL: c.WebsearchBaseURL, Client: h.run.process.Client}
	if c.WebsearchKeyEnv != "" {
		engine.Key = h.run.process.Getenv(c.WebsearchKeyEnv)
	}
	return engine, true
}
