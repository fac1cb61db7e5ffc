package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentls/agentls/agentcore/agent"
)

// agentReport is one agent in the output of `agentls agents list --json` and `agents show --json`. Durations are
// strings such as "5m0s"; a limit that is absent is the configuration's default.
type agentReport struct {
	Slug        string           `json:"slug"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Categories  []agent.Category `json:"categories"`
	Mode        agent.Mode       `json:"mode"`
	Model       string           `json:"model,omitempty"`
	Temperature *float64         `json:"temperature,omitempty"`
	MaxTokens   int              `json:"maxTokens,omitempty"`
	Effort      string           `json:"effort,omitempty"`
	Limits      limitsReport     `json:"limits"`
	AsChild     limitsReport     `json:"asChild"`
	// Tools and Subagents are null for all.
	Tools           []string `json:"tools"`
	DisallowedTools []string `json:"disallowedTools,omitempty"`
	Subagents       []string `json:"subagents"`
	Permissions     string   `json:"permissions,omitempty"`
	ContextMode     string   `json:"contextMode,omitempty"`
	Aliases         []string `json:"aliases,omitempty"`
	// Source is "built-in", "registered at run time" or the file; Layer is builtin, plugin, user, project or runtime.
	Source string      `json:"source"`
	Layer  agent.Layer `json:"layer"`
	// Shadows are the definitions of the same slug in earlier layers, the nearest first.
	Shadows []agent.Source `json:"shadows,omitempty"`
	lookReport
	// Prompt, and Definition, which is the whole definition with the keys of its own format, are shown only by `agents
	// show`.
	Prompt     string            `json:"prompt,omitempty"`
	Definition *agent.Definition `json:"definition,omitempty"`
	// System is the whole system prompt. Instructions are the files of the user and the project whose text is in it, or
	// was left out. They are shown only by `agents show --prompt`.
	System       string              `json:"system,omitempty"`
	Instructions []instructionReport `json:"instructions,omitempty"`
}

// lookReport is how lists show an agent.
type lookReport struct {
	Icon  string `json:"icon,omitempty"`
	Color string `json:"color,omitempty"`
	Order int    `json:"order,omitempty"`
}

// instructionReport is a file with instructions.
type instructionReport struct {
	File       string `json:"file"`
	ImportedBy string `json:"importedBy,omitempty"`
	// Size is its length in bytes; Cut is how many of these are left out.
	Size int `json:"size"`
	Cut  int `json:"cut,omitempty"`
	// Omitted says why the file is left out; it is empty for a file that is not.
	Omitted string `json:"omitted,omitempty"`
}

type limitsReport struct {
	MaxTurns int     `json:"maxTurns,omitempty"`
	Timeout  string  `json:"timeout,omitempty"`
	Tokens   int64   `json:"tokens,omitempty"`
	Cost     float64 `json:"cost,omitempty"`
}

func reportLimits(l agent.Limits) limitsReport {
	r := limitsReport{MaxTurns: l.MaxTurns, Tokens: l.Tokens, Cost: l.Cost}
	if l.Timeout > 0 {
		r.Timeout = l.Timeout.String()
	}
	return r
}

func reportAgent(agents *agent.Registry, d *agent.Definition) agentReport {
	return agentReport{
		Slug: d.Slug, Title: d.Title, Description: d.Description, Categories: d.Categories, Mode: d.Mode,
		Model: d.Model, Temperature: d.Temperature, MaxTokens: d.MaxTokens, Effort: d.Effort,
		Limits: reportLimits(d.Limits), AsChild: reportLimits(d.AsChild.Limits),
		Tools: d.Tools, DisallowedTools: d.DisallowedTools, Subagents: d.SubagentsAt(0),
		Permissions: d.Permissions, ContextMode: d.ContextMode, Aliases: d.Aliases, Source: d.Source.String(),
		Layer: d.Source.Layer, Shadows: agents.Shadows(d.Slug),
		lookReport: lookReport{Icon: d.Icon, Color: d.Color, Order: d.Order},
	}
}

func agentsCommand(p *process, settings *settings) *cobra.Command {
	return group("agents", "List the agents, show one, or check definitions",
		agentsListCommand(p, settings), agentsShowCommand(p, settings), agentsCheckCommand(p, settings))
}

const projectHelp = "also read the definitions in the project `folder`, as if it were trusted"

func agentsListCommand(p *process, settings *settings) *cobra.Command {
	var asJSON, all bool
	var project string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the agents",
		Args:  exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			agents, err := p.knownAgents(c.Context(), settings, project)
			if err != nil {
				return err
			}
			definitions := agents.List("")
			if all {
				definitions = agents.All()
			}
			if asJSON {
				reports := make([]agentReport, len(definitions))
				for i, d := range definitions {
					reports[i] = reportAgent(agents, d)
				}
				return p.printJSON(reports)
			}
			return p.print(agentTable(agents, definitions))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&all, "all", false,
		"also list the agents that agentls itself uses, and those that are not visible")
	c.Flags().StringVar(&project, "project", "", projectHelp)
	return c
}

// agentTable is the listing for people.
func agentTable(agents *agent.Registry, definitions []*agent.Definition) string {
	var rows strings.Builder
	for _, d := range definitions {
		fmt.Fprintf(&rows, "%s\t%s\t%s\t%s\n", visible(d.Slug), categories(d), layers(agents, d),
			oneLine(d.Description))
	}
	return inColumns(rows.String())
}

// layers says where a definition comes from, and which layers have others with its name, which it hides.
func layers(agents *agent.Registry, d *agent.Definition) string {
	var hidden []string
	for _, source := range agents.Shadows(d.Slug) {
		hidden = append(hidden, source.Layer.String())
	}
	text := d.Source.Layer.String()
	if len(hidden) > 0 {
		text += ", hides " + strings.Join(hidden, ", ")
	}
	return text
}

func categories(d *agent.Definition) string {
	words := make([]string, len(d.Categories))
	for i, c := range d.Categories {
		words[i] = string(c)
	}
	return strings.Join(words, ", ")
}

func agentsShowCommand(p *process, settings *settings) *cobra.Command {
	var asJSON, prompt bool
	var project string
	c := &cobra.Command{
		Use:   "show AGENT",
		Short: "Show the whole definition of an agent, or the prompt that it would get",
		Args: func(c *cobra.Command, args []string) error {
			if prompt && len(args) <= 2 {
				return nil
			}
			return exactly(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if prompt {
				return p.showPrompt(c.Context(), settings, project, args, asJSON)
			}
			agents, err := p.knownAgents(c.Context(), settings, project)
			if err != nil {
				return err
			}
			d, err := findAgent(agents, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				report := reportAgent(agents, d)
				report.Prompt, report.Definition = d.Prompt, d
				return p.printJSON(report)
			}
			return p.print(agentPage(agents, d))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&prompt, "prompt", false,
		"show the system prompt that it would get, for work on a file if its name follows, and which files instruct it")
	c.Flags().StringVar(&project, "project", "", projectHelp)
	return c
}

// agentPage is a definition for people.
func agentPage(agents *agent.Registry, d *agent.Definition) string {
	var rows strings.Builder
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&rows, "%s\t%s\n", name, oneLine(value))
		}
	}
	row("agent", d.Slug)
	row("title", d.Title)
	row("description", d.Description)
	row("category", categories(d))
	row("aliases", strings.Join(d.Aliases, ", "))
	row("mode", string(d.Mode))
	row("engine", d.Engine)
	row("program", strings.Join(d.Program.Command, " "))
	row("  variables", strings.Join(d.Program.Names(), ", "))
	row("  changes at home", strings.Join(d.Program.Writes, ", "))
	row("  reads at home", strings.Join(d.Program.Reads, ", "))
	row("  hosts", strings.Join(d.Program.Network, ", "))
	row("model", d.Model)
	if d.Temperature != nil {
		row("temperature", fmt.Sprint(*d.Temperature))
	}
	row("effort", d.Effort)
	row("answers", when(d.MaxTokens > 0, "at most "+count(d.MaxTokens, "token")))
	row("limits", limitsText(d.Limits))
	row("as a child", childText(d))
	row("tools", listText(d.Tools))
	row("not", strings.Join(d.DisallowedTools, ", "))
	for _, name := range slices.Sorted(maps.Keys(d.ToolOptions)) {
		row("  "+name, optionsText(d.ToolOptions[name]))
	}
	row("delegates to", listText(d.SubagentsAt(0)))
	row("permissions", d.Permissions)
	row("mode of asking", d.PermissionMode)
	for _, rule := range d.Rules {
		row("  rule", fmt.Sprintf("%s %s(%s)", rule.Action, rule.Tool, rule.Pattern))
	}
	row("context", d.ContextMode)
	row("instructions", d.Instructions)
	row("reminder", d.Reminder)
	row("skills", strings.Join(d.Skills, ", "))
	for _, server := range d.MCPServers {
		row("mcp server", server.Name)
	}
	for _, h := range d.Hooks {
		row("hook", strings.TrimSpace(fmt.Sprintf("%s %s: %s", h.Event, h.Matcher, strings.Join(h.Command, " "))))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Variables)) {
		row("variable", name+" = "+d.Variables[name])
	}
	row("prefix", when(d.NoDefaultPrefix, "none"))
	row("visible", when(d.Unlisted, "no"))
	row("icon", d.Icon)
	row("color", d.Color)
	row("source", d.Source.String())
	for _, hidden := range agents.Shadows(d.Slug) {
		row("hides", hidden.String())
	}
	return inColumns(rows.String()) + "\n" + visible(d.Prompt) + "\n"
}

func when(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}

// childText says what is different when the agent runs as a child of another.
func childText(d *agent.Definition) string {
	if d.AsChild.Agent != "" {
		return "is " + d.AsChild.Agent
	}
	text := limitsText(d.AsChild.Limits)
	if own, child := listText(d.SubagentsAt(0)), listText(d.SubagentsAt(1)); d.Is(agent.Subagent) && child != own {
		text = strings.TrimPrefix(text+", delegates to "+child, ", ")
	}
	return text
}

func optionsText(o agent.ToolOptions) string {
	var words []string
	if o.OutputLimit > 0 {
		words = append(words, fmt.Sprintf("output limit %d", o.OutputLimit))
	}
	if o.Timeout > 0 {
		words = append(words, "timeout "+o.Timeout.String())
	}
	if len(o.Arguments) > 0 {
		words = append(words, "arguments "+string(o.Arguments))
	}
	return strings.Join(words, ", ")
}

func limitsText(l agent.Limits) string {
	var words []string
	if l.MaxTurns > 0 {
		words = append(words, count(l.MaxTurns, "turn"))
	}
	if l.Timeout > 0 {
		words = append(words, l.Timeout.String())
	}
	if l.Tokens > 0 {
		words = append(words, count(int(l.Tokens), "token"))
	}
	if l.Cost > 0 {
		words = append(words, fmt.Sprintf("$%.2f", l.Cost))
	}
	return strings.Join(words, ", ")
}

// listText writes a list; an absent list means all.
func listText(list []string) string {
	switch {
	case list == nil:
		return "all"
	case len(list) == 0:
		return "none"
	}
	return strings.Join(list, ", ")
}
