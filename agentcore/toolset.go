package agentcore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/mcpname"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/tool"
)

// submitResult is the tool by which a child hands over.
const submitResult = "submit_result"

var (
	// noting are the tools of a planning run that do more than read: they change only its own records.
	noting = []string{"todo", "task", "question", "plan_enter", "plan_exit", submitResult}
	// usersOwn are the tools that speak with the user, which no child does.
	usersOwn = []string{"question", "plan_enter", "plan_exit"}
	// asyncSafe are the tools of a run in the background: those that need nobody and start nothing which would outlive
	// the turn that is waited for.
	asyncSafe = []string{
		"read", "glob", "grep", "list", "edit", "write", "patch", "notebook_edit", "bash", "bash_output", "bash_kill",
		"diagnostics", "symbols", "report_finding", "todo", "skill", "webfetch", "websearch", "plan_exit", submitResult,
	}
)

// chooseTools fixes whom the run may delegate to and which tools it has, so that its requests keep their prefix.
func (r *run) chooseTools() {
	r.lacks = map[string][]string{}
	r.subagents, r.unlisted = r.findSubagents()
	for _, t := range r.engine.toolOrder {
		switch spec := t.Spec(); {
		case !r.mightUse(spec):
		case !r.allows(spec):
			r.spared = append(r.spared, spec.Name)
		case !r.keepsBack(spec):
			r.tools = append(r.tools, t)
		case r.whyWithheld(spec.Name) == untrustedCommands:
			r.spared = append(r.spared, spec.Name)
		}
	}
}

// withheld is a tool that the run is not offered, since no call of it would be made.
type withheld struct{ name, why string }

const (
	untrustedCommands = "no command runs in this workspace, since the user does not trust it yet"
	withoutCommands   = "go on without it, and say what the user should run, " +
		"or that `agentls trust` or the editor's own trust allows it"
	deniedByRules    = "a rule or the mode of the run denies every call"
	deniedToChildren = "a rule denies every call, or would have the user asked, who is not asked for a subagent"
)

// keepsBack reports whether the run is not offered a tool since no call of it would be made: all are denied, or would
// be asked for where nobody is asked. The run notes the name, to be told of it.
func (r *run) keepsBack(spec tool.Spec) bool {
	if owner := r.engine.tools[spec.With]; owner != nil {
		return r.keepsBack(owner.Spec())
	}
	why := deniedByRules
	if r.parent != nil {
		why = deniedToChildren
	}
	switch reach := r.rights.reach(spec); {
	case spec.Effect == tool.Executes && !r.session.isTrusted():
		why = untrustedCommands
	case reach == permission.Allow, reach == permission.Ask && r.mayAsk(spec):
		return false
	}
	if kept := (withheld{spec.Name, why}); !slices.Contains(r.withheld, kept) {
		r.withheld = append(r.withheld, kept)
	}
	return true
}

// whyWithheld is why the run is not offered a tool that it would have otherwise, or "".
func (r *spec) whyWithheld(name string) string {
	if t := r.engine.tools[name]; t != nil {
		name = ownerOf(t.Spec())
	}
	for _, kept := range r.withheld {
		if name == kept.name {
			return kept.why
		}
	}
	return ""
}

// tellWithheld tells the user what the run does without, and what to do about it. Its children lack it for the same
// reasons.
func (r *spec) tellWithheld() {
	var ruled []string
	for _, kept := range r.withheld {
		if kept.why == untrustedCommands {
			r.notice(event.NoticeInfo,
				fmt.Sprintf("%s is not offered %s: %s", r.definition.Slug, kept.name, kept.why),
				"trust the folder, by `agentls trust` or in the editor; the next run has it then")
			continue
		}
		ruled = append(ruled, kept.name)
	}
	if len(ruled) > 0 {
		r.notice(event.NoticeInfo,
			fmt.Sprintf("%s is not offered %s: %s", r.definition.Slug, strings.Join(ruled, ", "), deniedByRules),
			"`agentls permissions explain` tells which")
	}
}

// allows reports whether the run may use a tool, and has the turns for it, and the place where it needs one that waits
// for it.
func (r *spec) allows(spec tool.Spec) bool {
	aside := r.background() && !slices.Contains(asyncSafe, ownerOf(spec))
	return r.mightUse(spec) && !aside && (spec.Name == submitResult || !r.onlySubmits())
}

// ownerOf is the tool that another one comes and goes with, each other tool itself.
func ownerOf(spec tool.Spec) string { return cmp.Or(spec.With, spec.Name) }

// mightUse reports whether the run may use a tool: the engine, its definition, its mode and its task do, and there is a
// use for it.
func (r *spec) mightUse(spec tool.Spec) bool {
	name := ownerOf(spec)
	if name == submitResult {
		return r.reports() && !r.definition.Mode.Toolless()
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
	case r.former.binds() &&
		!slices.Contains(r.former.powers.Tools, spec.Name) && !slices.Contains(r.request.granted, name):
		return false // what was a child has no other tools than it had, but for those that the user gives it now
	}
	switch owner := r.engine.tools[name].Spec(); owner.Needs {
	case tool.Subagents:
		return len(r.subagents)+len(r.unlisted) > 0
	case tool.Naming:
		return slices.Contains(r.definition.Tools, name)
	case tool.Engine:
		return r.config.WebsearchKind != ""
	case tool.Skills:
		return len(r.loadable()) > 0
	}
	return true
}

// onlySubmits reports whether a child has no tool but the one to hand over by: what another one answers in its only
// turn, it would not see.
func (r *spec) onlySubmits() bool { return r.reports() && r.onlyTurn() }

// offers reports whether there is a tool of that canonical name that the run may use.
func (r *spec) offers(name string) bool {
	return slices.ContainsFunc(r.tools, func(t tool.Tool) bool { return t.Spec().Name == name })
}

// offered returns the tools of the run as a model sees them, in stable order.
func (r *run) offered() []model.Tool {
	list := make([]model.Tool, 0, len(r.tools))
	for _, t := range r.tools {
		spec := t.Spec()
		if spec.Needs == tool.Subagents {
			r.described.Do(func() { r.description = r.describeSubagents() })
			spec.Description += r.description
		}
		list = append(list, model.Tool{Name: spec.Name, Description: spec.Description, Schema: spec.Schema})
	}
	return list
}

// findSubagents returns the agents that the run may delegate to, in display order: those of its definition, and none
// where the depth is used up. Those that are unlisted are named to nobody, and are started by who knows their names.
func (r *run) findSubagents() (listed, unlisted []*agent.Definition) {
	if r.depth >= r.config.MaxDepth {
		return nil, nil
	}
	named := r.definition.SubagentsAt(r.depth)
	agents := r.engine.Agents()
	for _, name := range named {
		if d, err := findChild(agents, name); err == nil && r.reaches(d) && !r.idles(d) && !slices.Contains(listed, d) {
			listed = append(listed, d)
		}
	}
	for _, d := range agents.All() {
		switch {
		case slices.Contains(listed, d) || !r.reaches(d) || !r.findsUnnamed(d, named) || r.idles(d):
		case d.Unlisted:
			unlisted = append(unlisted, d)
		default:
			listed = append(listed, d)
		}
	}
	return listed, unlisted
}

// starts reports whether the run may start an agent.
func (r *spec) starts(d *agent.Definition) bool {
	same := func(o *agent.Definition) bool { return o.Slug == d.Slug }
	return slices.ContainsFunc(r.subagents, same) || slices.ContainsFunc(r.unlisted, same)
}

// whyNoTasks says why a run has none of the tools to delegate by that its definition has, behind "there is no tool
// here"; empty for another tool or reason.
func (r *spec) whyNoTasks(name string) string {
	t := r.engine.tools[name]
	if t == nil || t.Spec().Effect != tool.Delegates {
		return ""
	}
	named := r.definition.SubagentsAt(r.depth)
	switch {
	case !r.definition.Allows(ownerOf(t.Spec())) || named != nil && len(named) == 0:
		return ""
	case r.depth >= r.config.MaxDepth:
		return fmt.Sprintf(", since the depth limit of delegation is reached (max_depth = %d): do it yourself",
			r.config.MaxDepth)
	case r.background():
		return ", since a task in the background does not delegate: do it yourself"
	}
	return ""
}

// findsUnnamed reports whether the run may delegate to an agent that its definition does not name. Where it names none,
// these are all; one that plans has use for those alone that only read. A built-in definition names the built-in agents
// that it needs, and cannot know the user's own: these are open to it wherever it delegates at all.
func (r *spec) findsUnnamed(d *agent.Definition, named []string) bool {
	switch {
	case named == nil && r.definition.Mode == agent.Planning:
		return r.onlyReads(d)
	case named == nil:
		return true
	}
	return len(named) > 0 && r.definition.Source.Layer == agent.LayerBuiltin && d.Source.Layer != agent.LayerBuiltin
}

// onlyReads reports whether an agent changes nothing: each tool that would is kept from it by its definition.
func (r *spec) onlyReads(d *agent.Definition) bool {
	if d.Mode == agent.Planning {
		return true
	}
	own := rights{
		session: r.session, config: r.config,
		policy: r.session.policy("", modeOf(d), policyLayers(d, r.config)),
	}
	acts := func(spec tool.Spec) bool {
		if spec.Needs == tool.Naming && !slices.Contains(d.Tools, spec.Name) {
			return false
		}
		return spec.Effect >= tool.Proposes && d.Allows(spec.Name) && own.reach(spec) != permission.Deny
	}
	// Tools of servers may do anything. A list of tools has none that it does not name.
	external := tool.Spec{Name: mcpname.Prefix, Effect: tool.Acts}
	if slices.ContainsFunc(d.Tools, mcpname.Is) ||
		len(r.config.MCP)+len(d.MCPServers) > 0 && acts(external) {
		return false
	}
	return !slices.ContainsFunc(r.engine.toolOrder, func(t tool.Tool) bool { return acts(t.Spec()) })
}

// idles reports whether an agent, started by the run, would have none of the tools that it is there for. One whose mode
// has none is there for its answer. The run notes which of them it would not have, for those that choose an agent by
// its description.
func (r *run) idles(d *agent.Definition) bool {
	if d.Mode.Toolless() || len(d.Tools) == 0 || slices.Contains(d.Tools, "*") {
		return false
	}
	child := &run{spec: spec{
		engine: r.engine, session: r.session, parent: r, depth: r.depth + 1, definition: d, config: r.config,
		skills: r.skills,
	}}
	child.rights = child.newRights()
	idle := true
	for _, name := range d.Tools {
		t := r.engine.tools[name]
		switch {
		case mcpname.Is(name), t != nil && t.Spec().Needs == tool.Subagents:
			idle = false // that is known once it runs
		case t != nil && child.allows(t.Spec()) && !child.keepsBack(t.Spec()):
			idle = false
		}
	}
	var lacks []string
	for _, kept := range child.withheld {
		lacks = append(lacks, kept.name)
	}
	r.lacks[d.Slug] = lacks
	return idle
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
func (r *spec) reaches(d *agent.Definition) bool {
	if !d.Is(agent.Subagent) || d.Is(agent.Hidden) {
		return false
	}
	return r.parent == nil || r.parent.starts(d)
}

const (
	// maxDescription is how much of an agent's description a delegating agent sees, which chooses by it, in characters.
	maxDescription = 1024
	// maxDescribed is of how many agents it sees the whole. Of more it sees the first sentences, of up to maxPurpose
	// characters, and asks for the whole of those that may fit.
	maxDescribed = 30
	maxPurpose   = 120
)

// describeSubagents is the part of the task tool's description that differs from run to run.
func (r *run) describeSubagents() string {
	var b strings.Builder
	many := len(r.subagents) > maxDescribed
	if many {
		b.WriteString("\nA call with an empty prompt starts nothing, and tells the whole description of its agent.")
	}
	b.WriteString("\nAgents:")
	for _, d := range r.subagents {
		what := describe(d, maxDescription)
		if many {
			what, _, _ = strings.Cut(what, ". ")
			what = clipped(what, maxPurpose)
		}
		fmt.Fprintf(&b, "\n- %s: %s%s", d.Slug, what, r.without(d))
	}
	switch record, err := r.session.Delegation(r.ctx, r.subagentSlugs()); {
	case err != nil && r.ctx.Err() == nil:
		r.notice(event.NoticeWarning, "what is known of former delegations could not be read: "+err.Error(),
			"see `agentls doctor`")
	case record != "":
		b.WriteString("\nSo far on this project:\n" + record)
	}
	return b.String()
}

// without says which tools an agent would have to do without, where its definition counts on them.
func (r *spec) without(d *agent.Definition) string {
	if len(r.lacks[d.Slug]) == 0 {
		return ""
	}
	return " (here without " + strings.Join(r.lacks[d.Slug], ", ") + ")"
}

// describe is an agent's description in one line of at most so many characters.
func describe(d *agent.Definition, most int) string {
	return clipped(strings.Join(strings.Fields(d.Description), " "), most)
}

// clipped cuts a text that has more characters than it may.
func clipped(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// DescribeAgent tells all that the run may know of an agent that it can start.
func (h hostDelegation) DescribeAgent(name string) (string, error) {
	d, err := h.startable(name)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: %s%s", d.Slug, describe(d, maxDescription), h.run.without(d)), nil
}

// subagentSlugs are the names of those that the run may delegate to.
func (r *spec) subagentSlugs() []string {
	var slugs []string
	if !r.offers("task") {
		return nil
	}
	for _, d := range r.subagents {
		slugs = append(slugs, d.Slug)
	}
	return slugs
}
