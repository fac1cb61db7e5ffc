package agentcore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/tool"
)

var (
	// noting are the tools of a planning run that do more than read: they change only its own records.
	noting = []string{"todo", "task", "question", "plan_enter", "plan_exit", "submit_result"}
	// usersOwn are the tools that speak with the user, which no child does.
	usersOwn = []string{"question", "plan_enter", "plan_exit"}
	// asyncSafe are the tools of a run in the background: those that need nobody and start nothing which would outlive the
	// turn that is waited for.
	asyncSafe = []string{
		"read", "glob", "grep", "list", "edit", "write", "patch", "notebook_edit", "bash", "bash_output", "bash_kill",
		"diagnostics", "symbols", "report_finding", "todo", "skill", "webfetch", "websearch", "plan_exit", "submit_result",
	}
)

// chooseTools fixes whom the run may delegate to and which tools it has, so that its requests keep their prefix.
func (r *run) chooseTools() {
	r.subagents = r.findSubagents()
	r.tools = slices.DeleteFunc(slices.Clone(r.engine.toolOrder), func(t tool.Tool) bool { return !r.allows(t.Spec()) })
}

// allows reports whether the run may use a tool: the engine, its definition, its mode and its task do, and there is a
// use for it.
func (r *run) allows(spec tool.Spec) bool {
	name := spec.Name
	switch {
	case strings.HasPrefix(name, "bash_"), strings.HasPrefix(name, "task_"):
		name = name[:len("bash")] // they come and go with it
	case name == "submit_result":
		return r.reports() && r.definition.Mode != agent.SingleShot && r.definition.Mode != agent.Streaming
	}
	switch {
	case r.engine.tools[name] == nil:
		return false
	case r.parent != nil && slices.Contains(usersOwn, name) && !r.plansForParent(name):
		return false
	case !r.definition.Allows(name) && !slices.Contains(r.request.granted, name):
		return false
	case r.definition.Mode == agent.Planning && !goesWithPlanning(spec, name):
		return false
	case r.former != nil && len(r.former.above) > 0 && !slices.Contains(r.former.tools, spec.Name):
		return false // what was a child has no other tools than it had
	case r.task != nil && r.task.Background && !slices.Contains(asyncSafe, name):
		return false
	case r.task != nil && r.task.AllowedTools != nil && !slices.Contains(r.task.AllowedTools, name):
		return false
	case name == "task":
		return len(r.subagents) > 0
	case name == "statusline":
		return slices.Contains(r.definition.Tools, name) // only who is there for it: nobody else's requests carry it
	case name == "websearch":
		return r.config.WebsearchKind != ""
	case name == "skill":
		return len(r.loadable()) > 0
	}
	return true
}

// offers reports whether there is a tool of that canonical name that the run may use.
func (r *run) offers(name string) bool {
	return slices.ContainsFunc(r.tools, func(t tool.Tool) bool { return t.Spec().Name == name })
}

// offered returns the tools of the run as a model sees them, in stable order.
func (r *run) offered() []model.Tool {
	list := make([]model.Tool, 0, len(r.tools))
	for _, t := range r.tools {
		spec := t.Spec()
		if spec.Name == "task" {
			r.described.Do(func() { r.description = r.describeSubagents() })
			spec.Description += r.description
		}
		list = append(list, model.Tool{Name: spec.Name, Description: spec.Description, Schema: spec.Schema})
	}
	return list
}

// findSubagents returns the agents that the run may delegate to, in display order. A child delegates only where its definition says
// to whom, and no run where the depth is used up.
func (r *run) findSubagents() []*agent.Definition {
	if r.depth >= r.config.MaxDepth || !r.definition.Allows("task") {
		return nil
	}
	named := r.definition.SubagentsAt(r.depth)
	if named == nil && r.parent != nil && !slices.Contains(r.definition.Tools, "task") {
		return nil
	}
	agents := r.engine.Agents()
	var list []*agent.Definition
	for _, d := range agents.List(agent.Subagent) {
		if named == nil && r.reaches(d) {
			list = append(list, d)
		}
	}
	for _, name := range named {
		if d, err := findChild(agents, name); err == nil && r.reaches(d) && !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}

// findChild returns the agent that runs as a child where one of that name is asked for.
func findChild(agents *agent.Registry, name string) (*agent.Definition, error) {
	d, err := agents.Find(name)
	if err == nil && d.AsChild.Agent != "" {
		return agents.Find(d.AsChild.Agent)
	}
	return d, err
}

// reaches reports whether the run may start an agent at all: its parent could have done so itself.
func (r *run) reaches(d *agent.Definition) bool {
	if !d.Is(agent.Subagent) || d.Is(agent.Hidden) {
		return false
	}
	return r.parent == nil || slices.ContainsFunc(r.parent.subagents, func(o *agent.Definition) bool { return o.Slug == d.Slug })
}

// maxPurpose is how much of an agent's description the delegating agent sees, in characters: its first sentence, cut.
const maxPurpose = 56

// describeSubagents is the part of the task tool's description that differs from run to run.
func (r *run) describeSubagents() string {
	var b strings.Builder
	b.WriteString("\nAgents:")
	for _, d := range r.subagents {
		what, _, _ := strings.Cut(strings.Join(strings.Fields(d.Description), " "), ". ")
		if runes := []rune(what); len(runes) > maxPurpose {
			what = string(runes[:maxPurpose-1]) + "…"
		}
		fmt.Fprintf(&b, "\n- %s: %s", d.Slug, what)
	}
	switch record, err := r.session.Delegation(r.ctx, r.subagentSlugs()); {
	case err != nil && r.ctx.Err() == nil:
		r.notice(event.NoticeWarning, "what is known of former delegations could not be read: "+err.Error(), "see `agentls doctor`")
	case record != "":
		b.WriteString("\nSo far on this project:\n" + record)
	}
	return b.String()
}

// subagentSlugs are the names of those that the run may delegate to.
func (r *run) subagentSlugs() []string {
	var slugs []string
	if !r.offers("task") {
		return nil
	}
	for _, d := range r.subagents {
		slugs = append(slugs, d.Slug)
	}
	return slugs
}
