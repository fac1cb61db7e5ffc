package agent

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/permission"
)

// Category says where an agent may be used.
type Category string

// The categories. An agent may be both primary and subagent.
const (
	// Primary agents are launched by the user.
	Primary Category = "primary"
	// Subagent agents are launched by other agents.
	Subagent Category = "subagent"
	// Hidden agents are used by the engine itself and never listed.
	Hidden Category = "hidden"
)

// Mode says how a run of the agent works.
type Mode string

// The modes of execution.
const (
	// Agentic is the loop of answers and tool calls.
	Agentic Mode = "agentic"
	// SingleShot is one answer without tools.
	SingleShot Mode = "single_shot"
	// Streaming is chat: answers without tools, one for each prompt.
	Streaming Mode = "streaming"
	// Planning is the same loop with read-only tools; its result is a plan.
	Planning Mode = "planning"
)

// Toolless reports whether runs of the mode have no tools.
func (m Mode) Toolless() bool { return m == SingleShot || m == Streaming }

// Limits bound a run. Zero means the configuration's default for turns and time, and none for the rest.
type Limits struct {
	// MaxTurns is how many answers of the model a run may have. If the last answer has no text, or calls a tool whose
	// call is no longer made, the model is asked once more in that turn.
	MaxTurns int
	Timeout  time.Duration
	// Tokens counts input and output together.
	Tokens int64
	// Cost is in US dollars.
	Cost float64
}

// AsChild is what differs when the agent runs as a child of another.
type AsChild struct {
	// Limits replace those limits which are set in them.
	Limits
	// Subagents replace the agents that it may delegate to; nil changes nothing, empty means none, "*" all.
	Subagents []string
	// Agent is the slug of an agent that runs in place of this one; empty for this one.
	Agent string
}

// ToolOptions changes how one tool works for an agent.
type ToolOptions struct {
	// OutputLimit is the largest output in bytes; 0 for the tool's own.
	OutputLimit int
	// Timeout is the longest time of a call; 0 for the tool's own.
	Timeout time.Duration
	// Arguments is a JSON object of default arguments for calls; nil for none.
	Arguments json.RawMessage
}

// MCPServer is an MCP server that a definition names or describes.
type MCPServer struct {
	Name string
	// Command is the argument vector of a server on stdio; URL is the address of a server over HTTP. Neither is set for
	// a server that the configuration describes.
	Command []string
	Env     map[string]string
	URL     string
	Headers map[string]string
}

// Hook is a command that is run at an event of the agent's life.
type Hook struct {
	// Event is a name such as "PreToolUse" or "SubagentStop".
	Event string
	// Matcher says for which tools or agents the hook runs (see hook.ParseMatcher), empty for all.
	Matcher string
	// Command is an argument vector; a command line becomes an argument vector for `sh -c`.
	Command []string
	// Timeout is 0 for the default.
	Timeout time.Duration
}

// Definition is everything that is known of an agent. It is immutable once it is in a Registry; a run keeps the
// definition with which it started.
type Definition struct {
	// ID is a stable name that lookups accept beside the slug; empty for none.
	ID string
	// Slug is the agent's name: lower-case letters, digits and hyphens.
	Slug string
	// Title is for people.
	Title string
	// Description says when to use the agent; delegating agents read it.
	Description string
	Categories  []Category
	Mode        Mode
	// Engine is EngineACP for an agent that is a program of its own, and empty for one of agentls. Program is that
	// program.
	Engine  string
	Program Program
	Sampling
	Limits Limits
	// AsChild is what differs when the agent runs as a child.
	AsChild AsChild
	// Tools are the allowed tools by canonical name; nil or "*" means all, empty means none.
	Tools []string
	// DisallowedTools are removed from Tools. As in rules, edit stands for all tools that change files, and "*" for all
	// tools.
	DisallowedTools []string
	// ToolOptions are options of tools, by canonical name.
	ToolOptions map[string]ToolOptions
	// Subagents are the agents to which it may delegate. nil means all agents for a run of the user's, and none for a
	// child; empty means none, "*" all.
	Subagents []string
	// Permissions names a set of rules: "primary", "planner", "explorer" or "researcher".
	Permissions string
	// Rules are the agent's own permission rules, which follow the rules of the set. Rules of a project's definition
	// can only restrict.
	Rules []permission.Rule
	// PermissionMode is "default", "plan", "accept_edits", "bypass", or empty for the session's. A project's definition
	// can only have the first two.
	PermissionMode string
	// ContextMode says what a child sees of its parent: "none", "full", "summary" or "selective". Empty means "none".
	ContextMode string
	Instruction
	// MCPServers are added to the servers of the configuration or, for a child, to the servers of its parent.
	MCPServers []MCPServer
	// Hooks are added to the hooks of the configuration. In a child, Stop means SubagentStop. PreToolUse also counts
	// for the calls of the agent's children.
	Hooks   []Hook
	Aliases []string
	Look
	// Source is where the definition comes from.
	Source Source
}

// Sampling says which model an agent asks, and how.
type Sampling struct {
	// Model is "provider/model", a preset, "inherit", or empty for the configuration's choice.
	Model string
	// Temperature is nil for the model's own.
	Temperature *float64
	// Effort is low, medium or high, or empty for the model's own.
	Effort string
	// MaxTokens bounds one answer; 0 for the model's own.
	MaxTokens int
}

// Instruction is what an agent is told before its task.
type Instruction struct {
	// Instructions is "none" for an agent that gets no instructions of the user and the project; "all" or empty for an
	// agent that gets them.
	Instructions string
	// Reminder is repeated before the task.
	Reminder string
	// Skills are loaded into the prompt at the start of a run, by name.
	Skills []string
	// Prompt is the system prompt, a template (see ParseTemplate).
	Prompt string
	// PromptFile is the file from which Prompt is read, relative to the definition's file; empty if the prompt is in
	// the definition. Loader reads it.
	PromptFile string
	// Variables are values for the prompt's template. They take precedence over the configuration's and the built-in
	// ones.
	Variables map[string]string
	// NoDefaultPrefix leaves out the text that the engine puts before every prompt.
	NoDefaultPrefix bool
}

// Look is how lists show an agent.
type Look struct {
	// Icon is one character for lists, Color a colour's name or "#rrggbb".
	Icon, Color string
	// Order sorts listings; equal orders sort by slug.
	Order int
	// Unlisted agents are left out of listings, but may be started by name.
	Unlisted bool
}

// Is reports whether the agent is of the category.
func (d *Definition) Is(c Category) bool { return slices.Contains(d.Categories, c) }

// Allows reports whether the definition lets the agent use the tool of that canonical name.
func (d *Definition) Allows(tool string) bool {
	denies := func(name string) bool { return name == tool || name == "*" || permission.EditsAs(name, tool) }
	if d.Mode.Toolless() || slices.ContainsFunc(d.DisallowedTools, denies) {
		return false
	}
	return d.Tools == nil || slices.Contains(d.Tools, tool) || slices.Contains(d.Tools, "*")
}

// LimitsAt returns the limits of a run of the agent at the depth, 0 for a user's own run. The mode SingleShot has one
// turn, whatever the definition says.
func (d *Definition) LimitsAt(depth int) Limits {
	limits := d.Limits
	if depth > 0 {
		limits.MaxTurns = cmp.Or(d.AsChild.MaxTurns, limits.MaxTurns)
		limits.Timeout = cmp.Or(d.AsChild.Timeout, limits.Timeout)
		limits.Tokens = cmp.Or(d.AsChild.Tokens, limits.Tokens)
		limits.Cost = cmp.Or(d.AsChild.Cost, limits.Cost)
	}
	if d.Mode == SingleShot {
		limits.MaxTurns = 1
	}
	return limits
}

// SubagentsAt returns the agents to which a run of the agent at the depth may delegate; nil means all, empty none. A
// child delegates only if the definition allows it: by a list, as_child, can_delegate, or the tool task by its name.
func (d *Definition) SubagentsAt(depth int) []string {
	list := d.Subagents
	if depth > 0 && d.AsChild.Subagents != nil {
		list = d.AsChild.Subagents
	}
	switch {
	case !d.Allows("task"):
		return []string{}
	case slices.Contains(list, "*"):
		return nil
	case list == nil && depth > 0 && !slices.Contains(d.Tools, "task"):
		return []string{}
	}
	return list
}
