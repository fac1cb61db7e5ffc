package authoring

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/methods"
	"github.com/agentls/agentls/lsp/position"
)

// AgentList lists the agents of a category, "" for any, without the hidden ones.
func (v *Vocabulary) AgentList(category agent.Category) *methods.AgentList {
	list := &methods.AgentList{Default: v.Config.DefaultAgent}
	for _, d := range v.Registry.List(category) {
		if !d.Is(agent.Hidden) {
			list.Agents = append(list.Agents, AgentInfo(v.Registry, d))
		}
	}
	return list
}

// AgentInfo is what the custom methods say about a definition in a list. The registry knows which definitions it
// shadows.
func AgentInfo(registry *agent.Registry, d *agent.Definition) methods.AgentInfo {
	info := methods.AgentInfo{
		Slug: d.Slug, Title: d.Title, Description: d.Description, Mode: methods.ExecutionMode(d.Mode),
		Aliases: d.Aliases,
		Model:   d.Model, Icon: d.Icon, Color: d.Color, Order: &d.Order, Source: definitionSource(d.Source),
	}
	for _, c := range d.Categories {
		info.Categories = append(info.Categories, methods.AgentCategory(c))
	}
	for _, hidden := range registry.Shadows(d.Slug) {
		info.Shadows = append(info.Shadows, definitionSource(hidden))
	}
	return info
}

// AgentDefinition is everything that the custom methods say about a definition.
func AgentDefinition(registry *agent.Registry, d *agent.Definition) (*methods.AgentDefinition, error) {
	info := AgentInfo(registry, d)
	definition := &methods.AgentDefinition{
		Slug: info.Slug, Title: info.Title, Description: info.Description, Categories: info.Categories, Mode: info.Mode,
		Aliases: info.Aliases, Model: info.Model, Icon: info.Icon, Color: info.Color, Order: info.Order,
		Source: info.Source, Shadows: info.Shadows,
		Prompt: d.Prompt, Tools: d.Tools, DisallowedTools: d.DisallowedTools, Subagents: d.SubagentsAt(0),
		Limits: methods.Limits{
			MaxTurns: d.Limits.MaxTurns, TimeoutMs: d.Limits.Timeout.Milliseconds(), MaxTokens: d.Limits.Tokens,
		},
		PermissionMode: methods.PermissionMode(d.PermissionMode), ContextMode: methods.ContextMode(d.ContextMode),
		Reminder: d.Reminder, Skills: d.Skills, Effort: methods.Effort(d.Effort),
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
		definition.Permissions = append(definition.Permissions, methods.PermissionRule{
			Tool: rule.Tool, Pattern: rule.Pattern, Action: methods.RuleAction(rule.Action),
		})
	}
	for _, server := range d.MCPServers {
		definition.McpServers = append(definition.McpServers, server.Name)
	}
	return definition, nil
}

func definitionSource(source agent.Source) methods.DefinitionSource {
	s := methods.DefinitionSource{Layer: methods.Layer(source.Layer.String())}
	if source.Path != "" {
		s.URI = uri.File(source.Path)
	}
	return s
}

// DefinitionProblems converts the problems of a text, with positions in the encoding. of is the URI of the document
// with the text, "" for none.
func DefinitionProblems(
	problems []agent.Problem, of uri.URI, text string, e position.Encoding,
) []methods.DefinitionProblem {
	x := workspace.NewIndex(text)
	list := []methods.DefinitionProblem{}
	for _, p := range problems {
		list = append(list, methods.DefinitionProblem{
			URI: of, Range: e.Span(x, p.Span), Severity: p.Severity, Message: p.Message, Hint: p.Hint,
		})
	}
	return list
}

// SkillList lists the skills. Of the skills in projects, it lists only those below folder, "" for all. An error means
// that a listed skill cannot be read.
func (v *Vocabulary) SkillList(folder string) (*methods.SkillList, error) {
	list := &methods.SkillList{}
	for _, name := range v.Skills.Names() {
		found, err := v.Skills.Find(name)
		if err != nil {
			return nil, fmt.Errorf("read the skill %s: %w", name, err)
		}
		if folder != "" && found.Layer == agent.LayerProject {
			if rel, err := filepath.Rel(folder, found.Path); err != nil || !filepath.IsLocal(rel) {
				continue
			}
		}
		info := methods.SkillInfo{
			Name: found.Name, Description: found.Description, Layer: methods.Layer(found.Layer.String()),
		}
		if found.Path != "" {
			info.URI = uri.File(found.Path)
		}
		list.Skills = append(list.Skills, info)
	}
	return list, nil
}
