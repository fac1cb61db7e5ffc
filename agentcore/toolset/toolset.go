// Package toolset determines what a run may call and which agents it may start: the tools that a model is offered, the
// tools that are withheld since no call of them would be made, and the agents to which the run may delegate. All this
// is fixed when the run begins, so that the beginning of its requests stays the same; only the tools of MCP servers
// come later.
package toolset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/mcpname"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/spelling"
	"github.com/agentls/agentls/agentcore/tool"
)

// Submit is the tool by which a child returns its result.
const Submit = "submit_result"

// Options are the values from which a Set is made.
type Options struct {
	// Builtin are all built-in tools by name, and Order are their names in the order in which models see them.
	Builtin map[string]tool.Tool
	Order   []tool.Tool
	Agents  *agent.Registry

	Definition *agent.Definition
	Config     *config.Config
	Skills     *skill.Set
	Rights     authority.Rights
	// Trusted reports whether the user trusts the workspace by now.
	Trusted func() bool
	// Parent is the set of the run that started this one; nil for a root.
	Parent *Set
	Depth  int

	// Granted are tools that the user gave the run in addition to those of its definition.
	Granted []string
	// Background says that the run that started it does not wait for it.
	Background bool
	// Reports says that the run returns its result to another run.
	Reports bool
	// OnlyTurn says that the run has one turn, so that it would not see the results of calls.
	OnlyTurn bool
	// Pass says that the run is one pass of an iterated run, which asks the user for it.
	Pass bool
	// Former are the tools of the run that this one resumes, if that was a child; Bound says that it was.
	Former []string
	Bound  bool
}

// Withheld is a tool that is not offered to the run, since no call of it would be made.
type Withheld struct{ Name, Why string }

// Set is what a run is offered. Any goroutine may use it, except Add and Spare, which only the run's own goroutine may
// call.
type Set struct {
	Options
	subagents []*agent.Definition // the agents for delegation that the run is told
	unlisted  []*agent.Definition // further agents for delegation
	withheld  []Withheld
	lacks     map[string][]string // by the names of its subagents: the tools that they would lack

	mu    sync.Mutex
	tools []tool.Tool // in the order in which models see them
	// shelved are tools of MCP servers that requests do not list: one of the offered tools finds them.
	shelved []tool.Tool
	// spared are tools, and patterns of tools, that it lacks only because of its one turn, the background or missing
	// trust.
	spared []string
}

// New fixes whom the run may delegate to and which tools it has, so that its requests keep their prefix.
func New(o Options) *Set {
	s := &Set{Options: o, lacks: map[string][]string{}}
	s.subagents, s.unlisted = s.findSubagents()
	for _, t := range o.Order {
		switch spec := tool.Brief(t); {
		case !s.mightUse(spec):
		case !s.allows(spec):
			s.spared = append(s.spared, spec.Name)
		case !s.KeepsBack(spec):
			s.tools = append(s.tools, t)
		case s.WhyWithheld(spec.Name) == UntrustedCommands:
			s.spared = append(s.spared, spec.Name)
		}
	}
	return s
}

// Tools are those that the run is offered, in the order in which models see them.
func (s *Set) Tools() []tool.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clip(s.tools)
}

// Add offers tools of MCP servers, too. A model sees the listed tools; it finds the shelved ones by a listed one.
func (s *Set) Add(listed, shelved []tool.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = append(s.tools, listed...)
	s.shelved = append(s.shelved, shelved...)
}

// Usable are the tools that a call may name: those that the run is offered, and those that it can find.
func (s *Set) Usable() []tool.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Concat(s.tools, s.shelved)
}

// Names are the names of the tools that the run has, and of those that it lacks only because it has one turn, is in the
// background, or is not trusted. A run that goes on with this one may have all of them.
func (s *Set) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := []string{}
	for _, t := range slices.Concat(s.tools, s.shelved) {
		names = append(names, tool.Brief(t).Name)
	}
	return append(names, s.spared...)
}

// Named is the tool of a canonical name that the run has, or the built-in one of that name; nil where there is none.
func (s *Set) Named(name string) tool.Tool {
	if t := s.Builtin[name]; t != nil {
		return t
	}
	tools := s.Usable()
	if i := slices.IndexFunc(tools, func(t tool.Tool) bool { return tool.Brief(t).Name == name }); i >= 0 {
		return tools[i]
	}
	return nil
}

// These texts tell models and users why a run is not offered a tool. WithoutCommands tells a model what to do without
// commands.
const (
	UntrustedCommands = "no command runs in this workspace, since the user does not trust it yet"
	WithoutCommands   = "go on without it, and say what the user should run, " +
		"or that the user can allow commands by `agentls trust` or by the editor's own trust"
	DeniedByRules    = "a rule or the mode of the run denies every call"
	DeniedToChildren = "every call is denied, or would need the user's permission, which a subagent cannot ask for"
)

// KeepsBack reports whether the run is not offered a tool because none of its calls would be made: each would be
// denied, or would need a question where nobody is asked. It notes the tool among the withheld ones, so that the run is
// told of it.
func (s *Set) KeepsBack(spec tool.Spec) bool {
	if owner := s.Builtin[spec.With]; owner != nil {
		return s.KeepsBack(tool.Brief(owner))
	}
	why := DeniedByRules
	if s.Parent != nil {
		why = DeniedToChildren
	}
	switch reach := s.Rights.Reach(spec); {
	case spec.Effect == tool.Executes && !s.Trusted():
		why = UntrustedCommands
	case reach == permission.Allow, reach == permission.Ask && s.Asks(spec):
		return false
	}
	if kept := (Withheld{spec.Name, why}); !slices.Contains(s.withheld, kept) {
		s.withheld = append(s.withheld, kept)
	}
	return true
}

// WhyWithheld is why the run is not offered a tool that it would have otherwise, or "".
func (s *Set) WhyWithheld(name string) string {
	if t := s.Builtin[name]; t != nil {
		name = ownerOf(tool.Brief(t))
	}
	for _, kept := range s.withheld {
		if name == kept.Name {
			return kept.Why
		}
	}
	return ""
}

// Withheld are the tools that the run is not offered because none of their calls would be made.
func (s *Set) Withheld() []Withheld { return s.withheld }

// allows reports whether the run may use a tool and has a use for it. A run in the background has none for a tool that
// needs somebody, and a child with one turn has only one for the tool to hand over by.
func (s *Set) allows(spec tool.Spec) bool {
	aside := s.Background && s.needsSomebody(ownerOf(spec))
	return s.mightUse(spec) && !aside && (spec.Name == Submit || !s.OnlySubmits())
}

// needsSomebody reports whether a tool is of no use to a run in the background: the tool speaks with the user, or
// starts something that would outlive the turn. A tool that hands over a plan is of use, since the plan waits for the
// user by itself.
func (s *Set) needsSomebody(name string) bool {
	t := s.Builtin[name]
	if t == nil {
		return true
	}
	switch spec := tool.Brief(t); spec.Effect {
	case tool.Delegates, tool.Asks, tool.Acts:
		return true
	default:
		return spec.User && !spec.Plan
	}
}

// GoesWithPlanning reports whether a tool changes nothing but a planning run's own records.
func GoesWithPlanning(spec tool.Spec) bool { return spec.Effect <= tool.Fetches || spec.Private }

// plansForParent reports whether a child may hand over a plan to its parent. The child's definition must name the tool
// and must plan. The name alone does not say that, since definitions of other programs name all tools of their program.
func (s *Set) plansForParent(name string) bool {
	plans := s.Definition.Mode == agent.Planning || s.Definition.PermissionMode == string(permission.Plan)
	return plans && tool.Brief(s.Builtin[name]).Plan && slices.Contains(s.Definition.Tools, name)
}

// ownerOf is the name of the tool that a tool comes and goes with. A tool that comes by itself owns itself.
func ownerOf(spec tool.Spec) string { return cmp.Or(spec.With, spec.Name) }

// mightUse reports whether the run may use a tool: the engine has it, the definition, the mode and the task allow it,
// and there is a use for it.
func (s *Set) mightUse(spec tool.Spec) bool {
	name := ownerOf(spec)
	if name == Submit {
		return s.Reports && !s.Definition.Mode.Toolless()
	}
	switch {
	case s.Builtin[name] == nil:
		return false
	case s.Parent != nil && tool.Brief(s.Builtin[name]).User && !s.plansForParent(name):
		return false
	case !s.Definition.Allows(name) && !slices.Contains(s.Granted, name):
		return false
	case s.Definition.Mode == agent.Planning && !GoesWithPlanning(tool.Brief(s.Builtin[name])):
		return false
	case s.Bound &&
		!slices.Contains(s.Former, spec.Name) && !slices.Contains(s.Granted, name):
		return false // a resumed child has only its former tools, and those that the user gives it now
	}
	switch owner := tool.Brief(s.Builtin[name]); owner.Needs {
	case tool.Subagents:
		return len(s.subagents)+len(s.unlisted) > 0
	case tool.Naming:
		return slices.Contains(s.Definition.Tools, name)
	case tool.Engine:
		return s.Config.WebsearchKind != ""
	case tool.Skills:
		return len(s.Loadable()) > 0
	}
	return true
}

// OnlySubmits reports whether a child has only the tool to hand over by. Such a child has one turn, so it would not see
// what another tool answers.
func (s *Set) OnlySubmits() bool { return s.Reports && s.OnlyTurn }

// Offers reports whether the run may use a tool of that canonical name.
func (s *Set) Offers(name string) bool {
	return slices.ContainsFunc(s.Usable(), func(t tool.Tool) bool { return tool.Brief(t).Name == name })
}

// Offered returns the tools of the run as a model sees them, in stable order. delegation returns what the description
// of the tool to delegate by says of the agents that the run may start.
func (s *Set) Offered(delegation func() string) []model.Tool {
	tools := s.Tools()
	list := make([]model.Tool, 0, len(tools))
	for _, t := range tools {
		spec := t.Spec()
		if spec.Needs == tool.Subagents {
			spec.Description += delegation()
		}
		list = append(list, model.Tool{Name: spec.Name, Description: spec.Description, Schema: spec.Schema})
	}
	return list
}

// findSubagents returns the agents to which the run may delegate, in display order: those that its definition names or
// allows, and none where the depth is used up. No description names the unlisted ones; a run that knows such a name can
// start the agent.
func (s *Set) findSubagents() (listed, unlisted []*agent.Definition) {
	if s.Depth >= s.Config.MaxDepth {
		return nil, nil
	}
	named := s.Definition.SubagentsAt(s.Depth)
	agents := s.Agents
	for _, name := range named {
		if d, err := FindChild(agents, name); err == nil && s.reaches(d) && !s.idles(d) && !slices.Contains(listed, d) {
			listed = append(listed, d)
		}
	}
	for _, d := range agents.All() {
		switch {
		case slices.Contains(listed, d) || !s.reaches(d) || !s.findsUnnamed(d, named) || s.idles(d):
		case d.Unlisted:
			unlisted = append(unlisted, d)
		default:
			listed = append(listed, d)
		}
	}
	return listed, unlisted
}

// Starts reports whether the run may start an agent.
func (s *Set) Starts(d *agent.Definition) bool {
	same := func(o *agent.Definition) bool { return o.Slug == d.Slug }
	return slices.ContainsFunc(s.subagents, same) || slices.ContainsFunc(s.unlisted, same)
}

// WhyNoTasks says why the run lacks a tool to delegate by that its definition has. The text stands behind "there is no
// tool here"; it is empty for any other tool and any other reason.
func (s *Set) WhyNoTasks(name string) string {
	t := s.Builtin[name]
	if t == nil || tool.Brief(t).Effect != tool.Delegates {
		return ""
	}
	named := s.Definition.SubagentsAt(s.Depth)
	switch {
	case !s.Definition.Allows(ownerOf(tool.Brief(t))) || named != nil && len(named) == 0:
		return ""
	case s.Depth >= s.Config.MaxDepth:
		return fmt.Sprintf(", since the depth limit of delegation is reached (max_depth = %d): do it yourself",
			s.Config.MaxDepth)
	case s.Background:
		return ", since a task in the background does not delegate: do it yourself"
	}
	return ""
}

// findsUnnamed reports whether the run may delegate to an agent that its definition does not name. If the definition
// names none, it may delegate to all, but a planning run only to agents that just read. A built-in definition names the
// built-in agents that it needs, and cannot know the user's own: if it may delegate at all, it may also delegate to
// these.
func (s *Set) findsUnnamed(d *agent.Definition, named []string) bool {
	switch {
	case named == nil && s.Definition.Mode == agent.Planning:
		return s.onlyReads(d)
	case named == nil:
		return true
	}
	return len(named) > 0 && s.Definition.Source.Layer == agent.LayerBuiltin && d.Source.Layer != agent.LayerBuiltin
}

// onlyReads reports whether an agent changes nothing, since its definition withholds each tool that could.
func (s *Set) onlyReads(d *agent.Definition) bool {
	if d.Mode == agent.Planning {
		return true
	}
	own := s.Rights.Alone(d, s.Config)
	acts := func(spec tool.Spec) bool {
		if spec.Needs == tool.Naming && !slices.Contains(d.Tools, spec.Name) {
			return false
		}
		return spec.Effect >= tool.Proposes && d.Allows(spec.Name) && own.Reach(spec) != permission.Deny
	}
	// Tools of servers may do anything. An agent whose definition lists its tools has only those that are listed.
	external := tool.Spec{Name: mcpname.Prefix, Effect: tool.Acts}
	if slices.ContainsFunc(d.Tools, mcpname.Is) ||
		len(s.Config.MCP)+len(d.MCPServers) > 0 && acts(external) {
		return false
	}
	return !slices.ContainsFunc(s.Order, func(t tool.Tool) bool { return acts(tool.Brief(t)) })
}

// idles reports whether an agent, started by the run, would have none of the tools for which it is there. An agent
// whose mode has no tools is there for its answer. The run notes the tools that the agent would lack, since agents are
// chosen by descriptions that may count on them.
func (s *Set) idles(d *agent.Definition) bool {
	if d.Mode.Toolless() || len(d.Tools) == 0 || slices.Contains(d.Tools, "*") {
		return false
	}
	child := &Set{Options: Options{
		Builtin: s.Builtin, Order: s.Order, Definition: d, Config: s.Config, Skills: s.Skills, Trusted: s.Trusted,
		Rights: s.Rights.Below(d, s.Config), Parent: s, Depth: s.Depth + 1,
	}}
	idle := true
	for _, name := range d.Tools {
		t := s.Builtin[name]
		switch {
		case mcpname.Is(name), t != nil && tool.Brief(t).Needs == tool.Subagents:
			idle = false // only the running agent can tell
		case t != nil && child.allows(tool.Brief(t)) && !child.KeepsBack(tool.Brief(t)):
			idle = false
		}
	}
	var lacks []string
	for _, kept := range child.withheld {
		lacks = append(lacks, kept.Name)
	}
	s.lacks[d.Slug] = lacks
	return idle
}

// FindChild returns the agent that runs as a child when an agent with this name is asked for.
func FindChild(agents *agent.Registry, name string) (*agent.Definition, error) {
	d, err := agents.Find(name)
	if err == nil && d.AsChild.Agent != "" {
		return agents.Find(d.AsChild.Agent)
	}
	return d, err
}

// reaches reports whether the run may start an agent at all: only if its parent could have started it.
func (s *Set) reaches(d *agent.Definition) bool {
	if !d.Is(agent.Subagent) || d.Is(agent.Hidden) {
		return false
	}
	return s.Parent == nil || s.Parent.Starts(d)
}

const (
	// maxDescription is how much of an agent's description a delegating agent sees, in characters. It chooses by that.
	maxDescription = 1024
	// maxDescribed is the number of agents up to which it sees whole descriptions. If there are more agents, it sees
	// the first sentences, of up to maxPurpose characters, and can ask for whole descriptions.
	maxDescribed = 30
	maxPurpose   = 120
)

// DescribeSubagents is the part of the task tool's description that differs from run to run. record is what is known of
// earlier delegations, empty for nothing.
func (s *Set) DescribeSubagents(record string) string {
	var b strings.Builder
	many := len(s.subagents) > maxDescribed
	if many {
		b.WriteString("\nA call with an empty prompt starts nothing, and tells the whole description of its agent.")
	}
	b.WriteString("\nAgents:")
	for _, d := range s.subagents {
		what := describe(d, maxDescription)
		if many {
			what, _, _ = strings.Cut(what, ". ")
			what = clip.Text(what, maxPurpose)
		}
		fmt.Fprintf(&b, "\n- %s: %s%s", d.Slug, what, s.without(d))
	}
	if record != "" {
		b.WriteString("\nSo far on this project:\n" + record)
	}
	return b.String()
}

// Describe says everything that the run may know about an agent that it can start.
func (s *Set) Describe(d *agent.Definition) string {
	return fmt.Sprintf("%s: %s%s", d.Slug, describe(d, maxDescription), s.without(d))
}

// without says which tools on which its definition counts an agent would lack.
func (s *Set) without(d *agent.Definition) string {
	if len(s.lacks[d.Slug]) == 0 {
		return ""
	}
	return " (here without " + strings.Join(s.lacks[d.Slug], ", ") + ")"
}

// describe is an agent's description in one line of at most this many characters.
func describe(d *agent.Definition, most int) string {
	return clip.Text(strings.Join(strings.Fields(d.Description), " "), most)
}

// Subagents are the names of the agents to which the run may delegate.
func (s *Set) Subagents() []string {
	var slugs []string
	if !s.Offers("task") {
		return nil
	}
	for _, d := range s.subagents {
		slugs = append(slugs, d.Slug)
	}
	return slugs
}

// MayUse reports whether the run has a use for a tool of an MCP server, or for any of the server, whose name then ends
// in "__*".
func (s *Set) MayUse(name string) bool { return s.mightUseNamed(name) && !s.OnlySubmits() }

// mightUseNamed is MayUse for a run with enough turns.
func (s *Set) mightUseNamed(name string) bool {
	d := s.Definition
	among := func(entries []string) bool {
		return slices.ContainsFunc(entries, func(entry string) bool {
			if prefix, any := strings.CutSuffix(name, "*"); any && strings.HasPrefix(entry, prefix) {
				return true
			}
			return mcpname.Matches(entry, name)
		})
	}
	switch {
	case d.Mode != agent.Agentic && d.Mode != "",
		among(d.DisallowedTools) && !strings.HasSuffix(name, "*"):
		return false
	case d.Tools != nil && !among(d.Tools) && !among(s.Granted):
		return false
	case s.Bound && !among(s.Former) && !among(s.Granted):
		return false // a resumed child has only the tools that it had
	}
	return true
}

func (s *Set) WantsServer(name string) bool { return s.MayUse(mcpname.All(name)) }

// Spare notes the tools of a server that is not started which the run could otherwise use.
func (s *Set) Spare(name string) {
	prefix := mcpname.Begins(name)
	if !s.mightUseNamed(prefix + "*") {
		return
	}
	entries := []string{"*"}
	switch {
	case s.Bound:
		entries = slices.Concat(s.Former, s.Granted)
	case s.Definition.Tools != nil:
		entries = slices.Concat(s.Definition.Tools, s.Granted)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, entry := range entries {
		switch {
		case strings.HasPrefix(entry, prefix):
			s.spared = append(s.spared, entry)
		case mcpname.Matches(entry, prefix+"*"):
			s.spared = append(s.spared, prefix+"*")
		}
	}
}

// WhyNotStarted says, in words for the model, why the run cannot start the agent of a name: nothing was found, because
// of err, or the run may not start what was found.
func (s *Set) WhyNotStarted(name string, d *agent.Definition, err error) string {
	broken, isBroken := errors.AsType[*agent.BrokenError](err)
	idle := false
	if d != nil {
		_, idle = s.lacks[d.Slug] // its tools were checked after all other reasons
	}
	switch {
	case isBroken:
		return broken.Error() + "; tell the user"
	case err != nil:
		if near := spelling.Nearest(name, s.Subagents()); near != "" {
			return "there is no agent of that name; did you mean " + near + "?"
		}
		return "there is no agent of that name"
	case d.Is(agent.Hidden):
		return "agentls alone starts it"
	case !d.Is(agent.Subagent):
		return "it is not a subagent, so only the user starts it"
	case !s.reaches(d):
		return s.Parent.Definition.Slug + ", which started you, may not start it either"
	case idle:
		return "this run could give it none of the tools of its definition"
	}
	return "the definition of " + s.Definition.Slug + " does not name it as a subagent"
}

// More are the tools that a task names and that the child's definition does not have. The user is asked about them, and
// the child gets them in addition to its own.
func (s *Set) More(definition *agent.Definition, names []string) (more []string, err error) {
	for _, name := range names {
		canonical, ok := tool.Resolve(name)
		switch {
		case !ok || !s.Offers(canonical) && s.WhyWithheld(canonical) == "" && !definition.Allows(canonical):
			return nil, fmt.Errorf("allowed_tools: neither you nor %s has a tool %q; leave it out",
				definition.Slug, name)
		case !definition.Allows(canonical) && !slices.Contains(more, canonical):
			more = append(more, canonical)
		}
	}
	return more, nil
}

// Asks reports whether the user is asked about calls of a tool. For a child, this is so if the configuration says it,
// if the user gave it exactly this tool, and for the pages of a child that is there to read the web and could do
// nothing else.
func (s *Set) Asks(spec tool.Spec) bool {
	switch {
	case s.Parent == nil, s.Pass, s.Config.SubagentAsk == config.AskBubble: // a pass acts for the run that started it
		return true
	case slices.Contains(s.Granted, spec.Name):
		return true
	}
	return spec.Effect == tool.Fetches && s.Definition.Permissions == permission.Researcher
}

// Loadable are the skills that the prompt does not contain already.
func (s *Set) Loadable() []*skill.Skill {
	return slices.DeleteFunc(s.Skills.List(), func(one *skill.Skill) bool {
		return slices.Contains(s.Definition.Skills, one.Name)
	})
}
