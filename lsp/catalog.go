package lsp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/registry"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/listing"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/wire"
)

// catalog lists agents, skills, models and MCP servers. Its methods may be called from any goroutine.
type catalog struct {
	*window
	reloader *reloader
	trust    *trust
}

// offered returns what can be named, for requests that need no store. They work without an engine, too, and wait only
// for the first try to open one.
func (c *catalog) offered(ctx context.Context) (*authoring.Vocabulary, error) {
	if err := c.awaits(ctx, c.opening.first.done); err != nil {
		return nil, err
	}
	return c.reloader.vocabulary(), nil
}

// ListAgents answers `agent/list`.
func (c *catalog) ListAgents(ctx context.Context, p *methods.ListAgentsParams) (*methods.AgentList, error) {
	v, err := c.offered(ctx)
	if err != nil {
		return nil, err
	}
	return v.AgentList(agent.Category(p.Category)), nil
}

// GetAgent answers `agent/get`.
func (c *catalog) GetAgent(ctx context.Context, p *methods.AgentParams) (*methods.AgentDefinition, error) {
	v, err := c.offered(ctx)
	if err != nil {
		return nil, err
	}
	d, err := v.Registry.Find(p.Agent)
	if err != nil {
		return nil, c.trust.unknownAgent(ctx, p.Agent, registry.Unknown(err))
	}
	return authoring.AgentDefinition(v.Registry, d)
}

// RegisterAgent answers `agent/register`.
func (c *catalog) RegisterAgent(ctx context.Context,
	p *methods.RegisterAgentParams,
) (*methods.RegisterAgentResult, error) {
	return c.registered(ctx, p.Format, p.Text, (*registry.Agents).RegisterText)
}

// UpdateAgent answers `agent/update`.
func (c *catalog) UpdateAgent(ctx context.Context, p *methods.UpdateAgentParams) (*methods.RegisterAgentResult, error) {
	return c.registered(ctx, p.Format, p.Text, func(agents *registry.Agents, ctx context.Context, format agent.Format,
		text string,
	) (*agent.Definition, []agent.Problem, error) {
		return agents.UpdateText(ctx, p.Agent, format, text)
	})
}

// UnregisterAgent answers `agent/unregister`.
func (c *catalog) UnregisterAgent(ctx context.Context, p *methods.AgentParams) error {
	engine, err := c.open(ctx)
	if err != nil {
		return err
	}
	return engine.Registry().Unregister(ctx, p.Agent)
}

// CheckAgent answers `agent/check`.
func (c *catalog) CheckAgent(ctx context.Context, p *methods.CheckAgentParams) (*methods.AgentProblems, error) {
	format, err := formatOf(p.Format)
	if err != nil {
		return nil, err
	}
	v, err := c.offered(ctx)
	if err != nil {
		return nil, err
	}
	found := func(problems []agent.Problem, text string) (*methods.AgentProblems, error) {
		return &methods.AgentProblems{Problems: c.definitionProblems(problems, p.URI, text)}, nil
	}
	switch {
	case p.Text != "":
		p.URI = "" // the text is not that of a file
		return found(registry.Check(v.Known(), format, "", p.Text).Problems, p.Text)
	case p.URI == "":
		return nil, wire.InvalidParams(errors.New("there is neither text nor uri; send one of them"))
	}
	path := document.Path(p.URI)
	if doc := c.documents.At(ctx).Get(path); doc != nil {
		format = ""
		text := doc.Index().Text()
		if _, known := agent.Detect(path); !known {
			format = formats[p.Format]
		}
		return found(registry.Check(v.Known(), format, path, text).Problems, text)
	}
	if !filepath.IsAbs(path) {
		return nil, &fault.Error{
			Kind: fault.NotFound, Detail: fmt.Sprintf("%s is neither open nor a file", p.URI),
			Hint: "open it, or send its text",
		}
	}
	// Folders that are not trusted count, too, since a check runs nothing.
	file, text := agent.ReadFile(path, agent.StandardFolders(c.options.Dirs.Config, c.home(), c.folders()...))
	file.Validate(v.Known())
	return found(file.Problems, text)
}

// formats are the formats that the protocol names.
var formats = map[methods.DefinitionFormat]agent.Format{
	"": agent.Native, methods.FormatMarkdown: agent.Native, methods.FormatTOML: agent.TOML,
	methods.FormatJSON: agent.JSON,
}

func formatOf(name methods.DefinitionFormat) (agent.Format, error) {
	if format, known := formats[name]; known {
		return format, nil
	}
	return "", wire.InvalidParams(fmt.Errorf("there is no format %q; use markdown, toml or json", name))
}

// registered registers a definition from a request, and returns the problems in it.
func (c *catalog) registered(ctx context.Context, name methods.DefinitionFormat, text string,
	register func(*registry.Agents, context.Context, agent.Format, string) (*agent.Definition, []agent.Problem, error),
) (*methods.RegisterAgentResult, error) {
	format, err := formatOf(name)
	if err != nil {
		return nil, err
	}
	engine, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	d, problems, err := register(engine.Registry(), ctx, format, text)
	if err != nil {
		return nil, err
	}
	result := &methods.RegisterAgentResult{Problems: c.definitionProblems(problems, "", text)}
	if d != nil {
		result.Agent = new(authoring.AgentInfo(engine.Agents(), d))
	}
	return result, nil
}

// definitionProblems translates problems in a text to the positions of the client.
func (c *catalog) definitionProblems(problems []agent.Problem, of uri.URI, text string) []methods.DefinitionProblem {
	return authoring.DefinitionProblems(problems, of, text, c.documents.Encoding)
}

// Skills answers `agent/skills` with the skills that runs can use now, those of projects only where the folder is
// trusted.
func (c *catalog) Skills(ctx context.Context, p *methods.SkillsParams) (*methods.SkillList, error) {
	v, err := c.offered(ctx)
	if err != nil {
		return nil, err
	}
	folder := ""
	if p.Folder != "" {
		folder = document.Path(p.Folder)
		if !slices.ContainsFunc(c.view.Roots(), func(r workspace.Root) bool { return r.Path == folder }) {
			return nil, &fault.Error{
				Kind: fault.NotFound, Detail: folder + " is no workspace folder",
				Hint: "name one of the workspace's folders, or leave it out for all",
			}
		}
	}
	return v.SkillList(folder)
}

// Models answers `agent/models`.
func (c *catalog) Models(ctx context.Context, p *methods.ModelsParams) (*methods.ModelList, error) {
	v, err := c.offered(ctx)
	if err != nil {
		return nil, err
	}
	var models []provider.Info
	var resolved provider.Resolved
	if c.ready() {
		models, resolved, err = c.engine.Models(ctx, p.Agent, p.Model)
	} else {
		models, resolved, err = agentcore.ModelsWith(ctx, c.reloader.engineOptions(v), p.Agent, p.Model)
	}
	if err != nil {
		return nil, err
	}
	return listing.Models(models, resolved), nil
}

// MCP answers `agent/mcp`.
func (c *catalog) MCP(ctx context.Context, _ *methods.NoParams) (*methods.MCPList, error) {
	engine, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	list := &methods.MCPList{}
	for _, status := range engine.MCPServers(c.folders(), c.trust.all()) {
		list.Servers = append(list.Servers, listing.MCPServer(status))
	}
	return list, nil
}
