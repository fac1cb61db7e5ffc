// Package agent holds what an agent is: its definition, the native Markdown format, and the built-in
// agents.
package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
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

// Mode says how a run of the agent goes.
type Mode string

// The modes of execution.
const (
	// Agentic is the tool loop.
	Agentic Mode = "agentic"
	// SingleShot is one answer without tools.
	SingleShot Mode = "single_shot"
	// Streaming is chat: answers without tools, one for each prompt.
	Streaming Mode = "streaming"
	// Planning is the tool loop with read-only tools; its product is a plan.
	Planning Mode = "planning"
)

// Limits bound a run. Zero means the configuration's default for turns and time, and none for the rest.
type Limits struct {
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
	// Subagents replace the agents that it may delegate to; nil changes nothing, empty means none.
	Subagents []string
	// Agent is the slug of the agent that runs instead of this one; empty for this one itself.
	Agent string
}

// Definition is everything that is known of an agent. It is immutable once it is in a Registry; a run
// keeps the definition that it started with.
type Definition struct {
	// Slug is the agent's name: lower-case letters, digits and hyphens.
	Slug string
	// Title is for people.
	Title string
	// Description says when to use the agent; delegating agents read it.
	Description string
	Categories  []Category
	Mode        Mode
	// Model is "provider/model", a preset, "inherit", or empty for the configuration's choice.
	Model       string
	Temperature *float64
	MaxTokens   int
	Limits      Limits
	// AsChild replaces those limits which are set when the agent runs as a child.
	AsChild AsChild
	// Tools are the allowed tools by canonical name; nil means all, empty means none.
	Tools []string
	// DisallowedTools are taken away from Tools.
	DisallowedTools []string
	// Subagents are the agents it may delegate to; nil means all, empty means none.
	Subagents []string
	// Permissions names a set of rules: "primary", "planner", "explorer" or "researcher".
	Permissions string
	// ContextMode says what a child sees of its parent: "none", "full", "summary" or "selective".
	ContextMode string
	// Skills are loaded into the prompt at the start of a run, by name.
	Skills  []string
	Aliases []string
	// Icon is one character for lists, Color a colour's name or "#rrggbb".
	Icon, Color string
	// Order sorts listings; equal orders sort by slug.
	Order int
	// Prompt is the system prompt.
	Prompt string
	// Variables are values for the prompt's template, which win over the configuration's and the built-in ones.
	Variables map[string]string
	// Source is where the definition comes from, such as "built-in" or a file's path.
	Source string
}

// Is reports whether the agent is of the category.
func (d *Definition) Is(c Category) bool { return slices.Contains(d.Categories, c) }

// Allows reports whether the definition lets the agent use the tool of that canonical name.
func (d *Definition) Allows(tool string) bool {
	if d.Mode == SingleShot || d.Mode == Streaming || slices.Contains(d.DisallowedTools, tool) {
		return false
	}
	return d.Tools == nil || slices.Contains(d.Tools, tool) || slices.Contains(d.Tools, "*")
}

// LimitsAt returns the limits of a run of the agent at the depth, 0 for a user's own run.
func (d *Definition) LimitsAt(depth int) Limits {
	limits := d.Limits
	if depth == 0 {
		return limits
	}
	limits.MaxTurns = cmp.Or(d.AsChild.MaxTurns, limits.MaxTurns)
	limits.Timeout = cmp.Or(d.AsChild.Timeout, limits.Timeout)
	limits.Tokens = cmp.Or(d.AsChild.Tokens, limits.Tokens)
	limits.Cost = cmp.Or(d.AsChild.Cost, limits.Cost)
	return limits
}

// SubagentsAt returns the agents that a run of the agent at the depth may delegate to; nil means all, empty none.
func (d *Definition) SubagentsAt(depth int) []string {
	if depth > 0 && d.AsChild.Subagents != nil {
		return d.AsChild.Subagents
	}
	return d.Subagents
}

// Registry finds agents by slug or alias. It is immutable and safe for concurrent use.
type Registry struct {
	sorted []*Definition
	byName map[string]*Definition
}

// NewRegistry makes a registry. A later definition replaces an earlier one of the same slug. An alias
// never hides a slug; of two equal aliases the earlier agent's counts.
func NewRegistry(definitions ...*Definition) *Registry {
	r := &Registry{byName: map[string]*Definition{}}
	for _, d := range definitions {
		r.byName[d.Slug] = d
	}
	for _, d := range r.byName {
		r.sorted = append(r.sorted, d)
	}
	slices.SortFunc(r.sorted, func(a, b *Definition) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Slug, b.Slug))
	})
	for _, d := range r.sorted {
		for _, alias := range d.Aliases {
			if r.byName[alias] == nil {
				r.byName[alias] = d
			}
		}
	}
	return r
}

// Find returns the agent of that slug or alias. The error names the agents that there are.
func (r *Registry) Find(name string) (*Definition, error) {
	if d := r.byName[name]; d != nil {
		return d, nil
	}
	var known []string
	for _, d := range r.List("") {
		known = append(known, d.Slug)
	}
	return nil, fmt.Errorf("there is no agent %q; the agents are %s", name, strings.Join(known, ", "))
}

// List returns the agents of a category, or all that are not hidden for "", in display order.
func (r *Registry) List(c Category) []*Definition {
	var list []*Definition
	for _, d := range r.sorted {
		if c == "" && !d.Is(Hidden) || d.Is(c) {
			list = append(list, d)
		}
	}
	return list
}
