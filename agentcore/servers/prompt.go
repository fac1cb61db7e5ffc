package servers

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/mcp"
	"github.com/agentls/agentls/agentcore/mcpname"
	"github.com/agentls/agentls/agentcore/permission"
)

// Expand replaces a prompt that calls a prompt of an MCP server, such as "/mcp__docs__summary main.go", by what
// the server says.
func (s *Set) Expand(ctx context.Context, list []Server, prompt string) (text string, err error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(prompt), " ")
	name, isCommand := strings.CutPrefix(name, "/")
	if !isCommand || !mcpname.Is(name) {
		return "", nil
	}
	wrong := func(detail, hint string) (string, error) {
		return "", &fault.Error{Kind: fault.InvalidRequest, Detail: detail, Hint: hint}
	}
	server, _, ok := mcpname.Split(name)
	client := s.find(list, server)
	if !ok || client == nil {
		return wrong(fmt.Sprintf("there is no MCP server for /%s", permission.Visible(name)),
			"see the prompts that `agent/mcp` lists")
	}
	catalog, err := client.Await(ctx)
	if err != nil {
		return wrong(fmt.Sprintf("the MCP server %s is not connected: %v", server, err),
			"mend it first; see `agentls doctor`")
	}
	known, ok := catalog.Prompt(name)
	if !ok {
		var names []string
		for _, p := range catalog.Prompts {
			names = append(names, "/"+p.Name)
		}
		return wrong(fmt.Sprintf("the MCP server %s has no prompt for /%s", server, permission.Visible(name)),
			"it has "+cmp.Or(strings.Join(names, ", "), "none"))
	}
	arguments, err := promptArguments(known, rest)
	if err != nil {
		return wrong(err.Error(), "write them in this order behind the name, the last one with spaces if need be")
	}
	text, err = client.Expand(ctx, name, arguments)
	if err != nil {
		return wrong(err.Error(), "see what the server says of it")
	}
	return text, nil
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
