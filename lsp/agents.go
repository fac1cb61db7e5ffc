package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/wire"
)

// ListAgents answers `agent/list`.
func (s *Server) ListAgents(ctx context.Context, p *methods.ListAgentsParams) (*methods.AgentList, error) {
	v, err := s.offered(ctx)
	if err != nil {
		return nil, err
	}
	list := &methods.AgentList{Default: v.Config.DefaultAgent}
	for _, d := range v.Registry.List(agent.Category(p.Category)) {
		if !d.Is(agent.Hidden) {
			list.Agents = append(list.Agents, agentInfo(v.Registry, d))
		}
	}
	return list, nil
}

// GetAgent answers `agent/get`.
func (s *Server) GetAgent(ctx context.Context, p *methods.AgentParams) (*methods.AgentDefinition, error) {
	v, err := s.offered(ctx)
	if err != nil {
		return nil, err
	}
	d, err := v.Registry.Find(p.Agent)
	if err != nil {
		return nil, s.trust.unknownAgent(ctx, p.Agent, agentcore.UnknownAgent(err))
	}
	info := agentInfo(v.Registry, d)
	definition := &methods.AgentDefinition{
		Slug: info.Slug, Title: info.Title, Description: info.Description, Categories: info.Categories, Mode: info.Mode,
		Aliases: info.Aliases, Model: info.Model, Icon: info.Icon, Color: info.Color, Order: info.Order,
		Source: info.Source, Shadows: info.Shadows,
		Prompt: d.Prompt, Tools: d.Tools, DisallowedTools: d.DisallowedTools, Subagents: d.SubagentsAt(0),
		Limits: methods.Limits{
			MaxTurns: d.Limits.MaxTurns, TimeoutMs: d.Limits.Timeout.Milliseconds(), MaxTokens: d.Limits.Tokens,
		},
		PermissionMode: methods.PermissionMode(d.PermissionMode), ContextMode: methods.ContextMode(d.ContextMode),
		Reminder: d.Reminder, Skills: d.Skills,
	}
	whole, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("write the definition of %s as JSON: %w", d.Slug, err)
	}
	definition.Definition = string(whole)
	if d.Tools == nil {
		definition.Tools = []string{"*"}
	}
	if d.Limits.Cost > 0 {
		definition.Limits.MaxCost = &d.Limits.Cost
	}
	for _, rule := range d.Rules {
		definition.Permissions = append(definition.Permissions, methods.PermissionRule{Tool: rule.Tool, Pattern: rule.Pattern, Action: methods.RuleAction(rule.Action)})
	}
	for _, server := range d.MCPServers {
		definition.McpServers = append(definition.McpServers, server.Name)
	}
	return definition, nil
}

// RegisterAgent answers `agent/register`.
func (s *Server) RegisterAgent(ctx context.Context, p *methods.RegisterAgentParams) (*methods.RegisterAgentResult, error) {
	engine, format, err := s.definitions(ctx, p.Format)
	if err != nil {
		return nil, err
	}
	d, problems, err := engine.RegisterAgentText(ctx, format, p.Text)
	if err != nil {
		return nil, err
	}
	return s.registration(engine, d, problems, p.Text), nil
}

// UpdateAgent answers `agent/update`.
func (s *Server) UpdateAgent(ctx context.Context, p *methods.UpdateAgentParams) (*methods.RegisterAgentResult, error) {
	engine, format, err := s.definitions(ctx, p.Format)
	if err != nil {
		return nil, err
	}
	d, problems, err := engine.UpdateAgentText(ctx, p.Agent, format, p.Text)
	if err != nil {
		return nil, err
	}
	return s.registration(engine, d, problems, p.Text), nil
}

// UnregisterAgent answers `agent/unregister`.
func (s *Server) UnregisterAgent(ctx context.Context, p *methods.AgentParams) error {
	engine, err := s.open(ctx)
	if err != nil {
		return err
	}
	return engine.UnregisterAgent(ctx, p.Agent)
}

// CheckAgent answers `agent/check`.
func (s *Server) CheckAgent(ctx context.Context, p *methods.CheckAgentParams) (*methods.AgentProblems, error) {
	format, err := formatOf(p.Format)
	if err != nil {
		return nil, err
	}
	v, err := s.offered(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Text != "":
		return &methods.AgentProblems{Problems: s.definitionProblems(agentcore.CheckAgent(v.Known(), format, "", p.Text).Problems, "", p.Text)}, nil
	case p.URI == "":
		return nil, wire.InvalidParams(errors.New("there is neither text nor uri; send one of them"))
	}
	path := pathOf(p.URI)
	if doc := s.moment(ctx).byPath[path]; doc != nil {
		format = ""
		text := doc.index().Text()
		if _, known := agent.Detect(path); !known {
			format = formats[p.Format]
		}
		return &methods.AgentProblems{Problems: s.definitionProblems(agentcore.CheckAgent(v.Known(), format, path, text).Problems, p.URI, text)}, nil
	}
	if !filepath.IsAbs(path) {
		return nil, &fault.Error{Kind: fault.NotFound, Detail: fmt.Sprintf("%s is neither open nor a file", p.URI), Hint: "open it, or send its text"}
	}
	var roots []string
	for _, root := range s.view.Roots() {
		roots = append(roots, root.Path) // trusted or not: to check is not to act
	}
	file, text := agent.ReadFile(path, agent.StandardFolders(s.options.Dirs.Config, s.reloader.home(), roots...))
	file.Validate(v.Known())
	return &methods.AgentProblems{Problems: s.definitionProblems(file.Problems, p.URI, text)}, nil
}

// formats are those that the protocol names.
var formats = map[methods.DefinitionFormat]agent.Format{
	"": agent.Native, methods.FormatMarkdown: agent.Native, methods.FormatTOML: agent.TOML, methods.FormatJSON: agent.JSON,
}

// definitions returns the engine and the format of a definition that comes with a request.
func (s *Server) definitions(ctx context.Context, name methods.DefinitionFormat) (*agentcore.Engine, agent.Format, error) {
	format, err := formatOf(name)
	if err != nil {
		return nil, "", err
	}
	engine, err := s.open(ctx)
	return engine, format, err
}

func formatOf(name methods.DefinitionFormat) (agent.Format, error) {
	if format, known := formats[name]; known {
		return format, nil
	}
	return "", wire.InvalidParams(fmt.Errorf("there is no format %q; use markdown, toml or json", name))
}

func (s *Server) registration(engine *agentcore.Engine, d *agent.Definition, problems []agent.Problem, text string) *methods.RegisterAgentResult {
	result := &methods.RegisterAgentResult{Problems: s.definitionProblems(problems, "", text)}
	if d != nil {
		info := agentInfo(engine.Agents(), d)
		result.Agent = &info
	}
	return result
}

// definitionProblems gives problems the positions of the client.
func (s *Server) definitionProblems(problems []agent.Problem, of uri.URI, text string) []methods.DefinitionProblem {
	x := workspace.NewIndex(text)
	list := []methods.DefinitionProblem{}
	for _, p := range problems {
		list = append(list, methods.DefinitionProblem{
			URI: of, Range: s.documents.encoding.Span(x, p.Span), Severity: p.Severity, Message: p.Message, Hint: p.Hint,
		})
	}
	return list
}

func agentInfo(registry *agent.Registry, d *agent.Definition) methods.AgentInfo {
	info := methods.AgentInfo{
		Slug: d.Slug, Title: d.Title, Description: d.Description, Mode: methods.ExecutionMode(d.Mode), Aliases: d.Aliases,
		Model: d.Model, Icon: d.Icon, Color: d.Color, Order: &d.Order, Source: definitionSource(d.Source),
	}
	for _, c := range d.Categories {
		info.Categories = append(info.Categories, methods.AgentCategory(c))
	}
	for _, hidden := range registry.Shadows(d.Slug) {
		info.Shadows = append(info.Shadows, definitionSource(hidden))
	}
	return info
}

func definitionSource(source agent.Source) methods.DefinitionSource {
	s := methods.DefinitionSource{Layer: methods.Layer(source.Layer.String())}
	if source.Path != "" {
		s.URI = uri.File(source.Path)
	}
	return s
}
