package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/agentls/agentls/agentcore/mcpname"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/spelling"
	"github.com/agentls/agentls/agentcore/tool"
)

// Known is what a definition may name. A part that is nil is not checked.
type Known struct {
	// Tools are canonical names; ResolveTool finds the canonical name for any spelling.
	Tools       []string
	ResolveTool func(string) (string, bool)
	// Tool is the tool with a canonical name. It is nil if there is none, for example for a tool of an MCP server that
	// was not asked yet.
	Tool func(string) tool.Tool
	// Skills, Presets, Providers are names of the configuration; Agents are slugs, ids and aliases.
	Skills, Presets, Providers, Agents []string
	// Models are the models of providers that can be used, as "provider/model". Keyless are the models of providers
	// that lack their key. A name that ends in * stands for all models that begin with the part before it.
	Models, Keyless []string
	// Locked are the environment variables that should hold a key but do not, by "provider/" and by the presets of such
	// providers.
	Locked map[string]string
	// Callable are names and patterns of tools, including tools of MCP servers, that a child may call without asking
	// the user.
	Callable []string
	// Variables are names that prompts may use besides the built-in ones and their own.
	Variables []string
	// Strict makes unknown names errors in the formats of other tools, too, where they would otherwise be left out: a
	// caller that registers a definition gets an answer and can correct it.
	Strict bool
	// Registry is where Validate looks for cycles of delegation through other agents, and for agents with the same
	// names.
	Registry *Registry
}

// same reports whether another Known is the same, except for the functions and the registry.
func (k Known) same(o Known) bool {
	return k.Strict == o.Strict && slices.Equal(k.Tools, o.Tools) && (k.Tools == nil) == (o.Tools == nil) &&
		(k.ResolveTool == nil) == (o.ResolveTool == nil) &&
		slices.Equal(k.Skills, o.Skills) && (k.Skills == nil) == (o.Skills == nil) &&
		slices.Equal(k.Presets, o.Presets) && (k.Presets == nil) == (o.Presets == nil) &&
		slices.Equal(k.Providers, o.Providers) && (k.Providers == nil) == (o.Providers == nil) &&
		slices.Equal(k.Models, o.Models) && slices.Equal(k.Keyless, o.Keyless) && maps.Equal(k.Locked, o.Locked) &&
		slices.Equal(k.Callable, o.Callable) && (k.Callable == nil) == (o.Callable == nil) &&
		slices.Equal(k.Variables, o.Variables)
}

// Validate adds problems with the names that the definitions use and with their prompts, and makes the tools' names
// canonical. In a file of another tool, an unknown name is a warning and is left out. A second call does nothing.
func (f *File) Validate(k Known) {
	if f.validated {
		return
	}
	f.validated, f.strict = true, k.Strict
	if k.Registry != nil && f.isPrompt(k.Registry.prompts) {
		f.Definitions, f.Problems, f.named = nil, nil, nil
	}
	v := &validator{File: f, Known: k, tools: map[*Definition]map[string][]string{}}
	for _, n := range f.named {
		v.check(n)
	}
	for _, d := range f.Definitions {
		v.rename(d)
		v.prompt(d)
		v.idle(d)
	}
	v.unseen()
	if k.Agents != nil {
		for _, p := range f.agentProblems(append(slices.Clone(k.Agents), f.agentNames()...)) {
			p.apply(f)
		}
	}
	for _, d := range f.Definitions {
		if slugs := cycle(d, f.finder(k.Registry)); slugs != nil {
			v.reportOf(d, f.cycleFault(d, slugs))
		}
	}
	if k.Registry != nil {
		for _, beside := range k.Registry.around(f).collisions(f) {
			f.report(beside)
		}
	}
	f.sort()
}

// validator is a File at the time of its validation.
type validator struct {
	*File
	Known
	// tools are the tools for each spelling in a definition: none, one, or several for a pattern.
	tools map[*Definition]map[string][]string
}

func (v *validator) check(n named) {
	switch n.what {
	case "tool", "disallowed", "option", "rule":
		if n.what != "rule" || n.name != ProgramRule {
			v.tool(n)
		}
	case "argument":
		v.argument(n)
	case "server":
		v.server(n)
	case "skill":
		if v.Skills != nil && !slices.Contains(v.Skills, n.name) {
			if v.unknown(n, "skill", v.Skills) {
				n.def.Skills = slices.DeleteFunc(n.def.Skills, func(s string) bool { return s == n.name })
			}
		}
	case "matcher":
		v.matcher(n)
	case "model":
		v.model(n)
	}
}

// argument checks a default argument of a tool by the tool's schema.
func (v *validator) argument(n named) {
	if v.Tool == nil || v.ResolveTool == nil {
		return
	}
	name, ok := v.ResolveTool(n.tool)
	if !ok {
		return // the unknown tool itself is reported
	}
	t := v.Tool(name)
	if t == nil {
		return
	}
	known, names, err := tool.CheckArgument(t, n.name, n.value)
	var f fault
	switch {
	case !known:
		f = v.unknownFault(n, "argument", names)
		f.message = strings.Replace(f.message, "there is no argument", name+" has no argument", 1)
		if len(names) == 0 {
			f.hint = "it takes none; take it out"
		}
	case err != nil:
		at := n.at
		f = fault{
			start: at.start, end: at.end, severity: failure, key: n.key,
			hint: "write what the tool takes, or take it out",
		}
		f.message = fmt.Sprintf("the default of %s for %s: %v", n.name, name, err)
		if v.leavesOut(n.def) {
			f.severity, f.message = warning, f.message+"; it is left out"
		}
	default:
		return
	}
	v.reportOf(n.def, f)
	options := n.def.ToolOptions[n.tool]
	options.Arguments = without(options.Arguments, n.name)
	n.def.ToolOptions[n.tool] = options
}

// without is a JSON object without one of its members, nil where none is left.
func without(object json.RawMessage, member string) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return object
	}
	delete(members, member)
	left, err := json.Marshal(members)
	if err != nil || len(members) == 0 {
		return nil
	}
	return left
}

// server warns of an MCP server of the agent whose tools the agent could not call.
func (v *validator) server(n named) {
	d, tools := n.def, mcpname.Whole(n.name)
	ofServers := func(name string) bool { return name == "*" || mcpname.Is(name) }
	f := fault{start: n.place.start, end: n.place.end, severity: warning, key: n.key}
	allows := func(pattern string) bool {
		matched, err := path.Match(pattern, mcpname.Begins(n.name)+"x")
		return err == nil && matched || pattern == tools
	}
	switch {
	case d.Tools != nil && !slices.ContainsFunc(d.Tools, ofServers):
		f.message = fmt.Sprintf("the agent cannot call the MCP server %s: its list of tools names none of a server",
			short(n.name))
		f.hint = "add " + tools + " to its tools"
	case v.Callable == nil || !d.Is(Subagent) || slices.ContainsFunc(v.Callable, allows) ||
		slices.ContainsFunc(d.Rules,
			func(r permission.Rule) bool { return r.Action == permission.Allow && allows(r.Tool) }):
		return
	default:
		f.severity = information
		f.message = fmt.Sprintf("as a subagent it cannot call the MCP server %s: each call needs the user's permission, "+
			"for which a subagent cannot ask", short(n.name))
		f.hint = fmt.Sprintf(
			`allow it in config.toml by a rule with tool = "%s", or be asked by subagent_ask = "bubble"`,
			mcpname.All(n.name))
	}
	v.reportOf(d, f)
}

// matcher warns of a hook for an unknown tool. It is only a warning, since the tool may exist later.
func (v *validator) matcher(n named) {
	if v.ResolveTool == nil {
		return
	}
	if _, ok := v.ResolveTool(n.name); ok {
		return
	}
	found := v.unknownFault(n, "tool", v.Tools)
	found.severity, found.message, found.fix = warning, fmt.Sprintf("there is no tool %q, which the hook is for",
		short(n.name)), nil
	v.reportOf(n.def, found)
}

// unknown reports an unknown name. It returns true if the name is to be left out.
func (v *validator) unknown(n named, what string, known []string) bool {
	v.reportOf(n.def, v.unknownFault(n, what, known))
	return v.leavesOut(n.def)
}

func (f *File) unknownFault(n named, what string, known []string) fault {
	found := fault{
		start: n.place.start, end: n.place.end, severity: failure, key: n.key,
		message: fmt.Sprintf("there is no %s %q", what, short(n.name)),
	}
	if f.leavesOut(n.def) {
		found.severity, found.message = warning, found.message+"; it is left out"
	}
	// Of equally similar names, those in the usual spelling come first.
	known = slices.Clone(known)
	slices.SortStableFunc(known, func(a, b string) int {
		if validSlug(a) == validSlug(b) {
			return 0
		} else if validSlug(a) {
			return -1
		}
		return 1
	})
	near := spelling.Nearest(n.name, known)
	is := ""
	if near == "" && what == "tool" {
		if near = spelling.Nearest(n.name, otherNames(known)); near != "" {
			is = ", which is " + canonical(near) + " here"
		}
	}
	if near != "" {
		found.hint = "did you mean " + near + is + "?"
		found.fix = n.place.replace(n.name, near)
	} else if len(known) == 0 {
		found.hint = "there is none yet; take it out"
	} else {
		list := listed(known)
		if len(list) > 40 {
			list = append(list[:40:40], "…")
		}
		found.hint = fmt.Sprintf("the %ss are %s", what, strings.Join(list, ", "))
	}
	return found
}

// listed returns names in their order. Of names that differ only by the case of letters it keeps the first.
func listed(known []string) []string {
	var list []string
	for _, name := range known {
		if !namedAs(list, name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// otherNames are the names that other tools use for tools.
func otherNames(tools []string) []string {
	var names []string
	for _, name := range tools {
		names = append(names, tool.Spellings(name)[1:]...)
	}
	return names
}

func (v *validator) tool(n named) {
	if v.tools[n.def] == nil {
		v.tools[n.def] = map[string][]string{}
	}
	if _, seen := v.tools[n.def][n.name]; seen {
		return
	}
	result := []string{n.name}
	switch {
	case n.name == "*" || v.Tools == nil && v.ResolveTool == nil:
	case mcpname.Is(n.name):
	case strings.ContainsAny(n.name, "*?["):
		result = nil
		for _, t := range v.Tools {
			if ok, err := path.Match(n.name, t); ok && err == nil {
				result = append(result, t)
			}
		}
		if result == nil {
			v.unknown(n, "tool", v.Tools)
		}
	default:
		name, ok := n.name, slices.Contains(v.Tools, n.name)
		if !ok && v.ResolveTool != nil {
			name, ok = v.ResolveTool(n.name)
		}
		result = []string{name}
		if !ok {
			result = nil
			v.unknown(n, "tool", v.Tools)
		}
	}
	v.tools[n.def][n.name] = result
}

// rename puts the tools' canonical names into a definition.
func (v *validator) rename(d *Definition) {
	names := v.tools[d]
	if names == nil {
		return
	}
	canonical := func(list []string) []string {
		if list == nil {
			return nil
		}
		result := make([]string, 0, len(list))
		for _, t := range list {
			for _, name := range names[t] {
				if !slices.Contains(result, name) {
					result = append(result, name)
				}
			}
		}
		return result
	}
	d.Tools, d.DisallowedTools = canonical(d.Tools), canonical(d.DisallowedTools)
	var rules []permission.Rule
	for _, rule := range d.Rules {
		to, seen := names[rule.Tool]
		if !seen {
			to = []string{rule.Tool}
		}
		for _, name := range to {
			rule.Tool = name
			rules = append(rules, rule)
		}
	}
	d.Rules = rules
	if d.ToolOptions != nil {
		options := map[string]ToolOptions{}
		for _, tool := range slices.Sorted(maps.Keys(d.ToolOptions)) {
			for _, name := range v.optional(d, tool) {
				options[name] = d.ToolOptions[tool]
			}
		}
		d.ToolOptions = options
	}
}

// idle warns of settings for tools that the agent does not have: their options, and agents for delegation.
func (v *validator) idle(d *Definition) {
	told := false
	for _, n := range v.named {
		switch {
		case n.def != d || v.ResolveTool == nil:
		case n.what == "option":
			has := func(name string) bool {
				return d.Allows(name) || mcpname.Is(name) && slices.ContainsFunc(d.Tools, mcpname.Is)
			}
			names := v.optional(d, n.name)
			if len(names) == 0 && len(v.tools[d][n.name]) == 0 || slices.ContainsFunc(names, has) {
				continue // the unknown tool is already reported
			}
			v.reportOf(d, fault{
				start: n.place.start, end: n.place.end, severity: warning, key: n.key,
				message: fmt.Sprintf("these options change nothing: the agent has no tool %s", short(n.name)),
				hint:    "add it to its tools, or take the options out",
			})
		case (n.what == "subagent" || n.what == "child" || n.what == "delegates") && !d.Allows(taskTool) && !told:
			told = true
			f := fault{
				start: n.place.start, end: n.place.end, severity: warning, key: n.key,
				message: "the agent cannot delegate: ",
			}
			switch {
			case d.Mode.Toolless():
				f.message += fmt.Sprintf("in the mode %s it has no tools", d.Mode)
				f.hint = "choose another mode, or let it not delegate"
			case d.Tools != nil && !slices.Contains(d.Tools, taskTool) && !slices.Contains(d.Tools, "*"):
				f.message += "its tools lack " + taskTool
				f.hint = "add " + taskTool + " to its tools, or let it not delegate"
			default:
				f.message += taskTool + " is taken away from its tools"
				f.hint = "leave it " + taskTool + ", or let it not delegate"
			}
			v.reportOf(d, f)
		}
	}
}

// taskTool is the tool by which agents delegate.
const taskTool = "task"

// optional are the tools to which options below a name apply. Options are looked up only by a tool's name, so that a
// pattern of MCP tools has none.
func (v *validator) optional(d *Definition, name string) []string {
	if name == "*" {
		return v.Tools
	}
	return slices.DeleteFunc(slices.Clone(v.tools[d][name]),
		func(t string) bool { return strings.ContainsAny(t, "*?[") })
}

// claudeModels are names of models that only Claude Code knows.
var claudeModels = []string{"sonnet", "opus", "haiku", "opusplan"}

// modelInstead says which model a definition gets if its own is left out.
func modelInstead(d *Definition) string {
	switch {
	case !d.Is(Subagent):
		return "the configured model is used"
	case !d.Is(Primary):
		return "the model of the agent that starts it is used"
	}
	return "the configured model is used, or as a subagent the model of the agent that starts it"
}

func (v *validator) model(n named) {
	provider, _, qualified := strings.Cut(n.name, "/")
	switch {
	case slices.Contains(v.Presets, n.name):
		v.locked(n, n.name)
		return
	case slices.Contains(v.Providers, provider):
		v.locked(n, provider+"/")
		return
	case n.name == "inherit" || n.name == "offline":
		return
	case qualified && v.Providers == nil, !qualified && (v.Presets == nil || v.Providers == nil):
		return
	}
	if !qualified {
		served := Serving(v.Models, n.name)
		if len(served) == 0 {
			served = Serving(v.Keyless, n.name)
		}
		if len(served) == 1 {
			provider, _, _ = strings.Cut(served[0], "/")
			v.locked(n, provider+"/")
			return
		}
		if len(served) > 1 {
			v.noModel(n, fault{
				start: n.place.start, end: n.place.end, severity: failure, key: n.key,
				hint:    "write " + alternatives(served),
				message: fmt.Sprintf("several providers have the model %q", short(n.name)),
			})
			return
		}
	}
	f := fault{start: n.place.start, end: n.place.end, severity: failure, key: n.key}
	known, what := append(slices.Clone(v.Presets), v.Providers...), "preset or provider"
	word := n.name
	if qualified {
		known, what, word = v.Providers, "provider", provider
	}
	f.message = fmt.Sprintf("there is no %s %q", what, short(word))
	near := spelling.Nearest(word, known)
	switch {
	case near != "":
		f.hint = "did you mean " + near + "?"
		f.fix = n.place.replace(n.name, near+strings.TrimPrefix(n.name, word))
	case qualified:
		f.hint = fmt.Sprintf("add [providers.%s] to config.toml; the providers are %s", short(provider),
			strings.Join(v.Providers, ", "))
	default:
		f.hint = fmt.Sprintf("write it as provider/model, or add [presets.%s] to config.toml", short(n.name))
	}
	v.noModel(n, f)
}

// locked warns of a model that cannot be used since its provider, or the provider of its preset, has no key. A
// definition of another tool gets another model, just as for an unknown model. In a definition for agentls the model is
// meant, and no other model replaces it.
func (v *validator) locked(n named, name string) {
	key := v.Locked[name]
	if key == "" {
		return
	}
	of, ok := strings.CutSuffix(name, "/")
	if of = "the provider " + short(of); !ok {
		of = "the provider of the preset " + short(name)
	}
	f := fault{
		start: n.place.start, end: n.place.end, severity: warning, key: n.key,
		hint: "set " + key + " where agentls starts",
	}
	f.message, f.locked = of+" has no key", !v.leavesOut(n.def)
	if f.locked {
		f.hint += ", or choose another model; until then the agent starts only where a call names another one"
	}
	v.noModel(n, f)
}

// Serving returns the models that a name without a provider may stand for. models are written as in [Known].
func Serving(models []string, name string) []string {
	var found []string
	for _, full := range models {
		provider, id, _ := strings.Cut(full, "/")
		prefix, family := strings.CutSuffix(id, "*")
		if full = provider + "/" + name; (id == name || family && strings.HasPrefix(name, prefix)) &&
			!slices.Contains(found, full) {
			found = append(found, full)
		}
	}
	return found
}

// noModel reports a model that is not available, and removes it from a definition of another tool.
func (v *validator) noModel(n named, f fault) {
	claude := (v.Format == Claude || v.shaped[n.def] == specShape) && slices.Contains(claudeModels, n.name)
	if v.leavesOut(n.def) || claude {
		f.severity, f.fix = warning, nil
		f.message += "; " + modelInstead(n.def)
		if claude {
			f.severity = information
		}
		n.def.Model = ""
	}
	v.reportOf(n.def, f)
}

// prompt checks the template of a prompt. The prompts of other tools' Markdown files are no templates: their braces are
// kept.
func (v *validator) prompt(d *Definition) {
	if v.Format.Foreign() {
		d.Prompt = strings.ReplaceAll(d.Prompt, "{{", `\{{`)
		return
	}
	template, problems := ParseTemplate(d.Prompt)
	problems = append(problems, template.Unknown(append(slices.Collect(maps.Keys(d.Variables)), v.Variables...)...)...)
	for _, p := range problems {
		start, end := v.promptPlace(d, p.Offset, p.End)
		v.reportOf(d, fault{start: start, end: end, severity: failure, key: "prompt", message: p.Message, hint: p.Hint})
	}
}

// promptPlace is the place in the text of a part of a prompt: the exact place if the text contains the prompt
// literally, else the place of the whole value.
func (f *File) promptPlace(d *Definition, from, to int) (start, end int) {
	place, ok := f.prompts[d]
	if !ok {
		return 0, 0
	}
	raw := f.text.string[place.start:place.end]
	at := strings.Index(raw, d.Prompt)
	if at >= 0 {
		return place.start + at + from, place.start + at + to
	}
	if strings.ReplaceAll(raw, "\r\n", "\n") != d.Prompt {
		return place.start, place.end
	}
	offset := 0 // the offset in the prompt, which lacks the carriage returns of raw
	start, end = place.start, place.end
	for i := range len(raw) {
		if offset == from {
			start = place.start + i
		}
		if offset == to {
			end = place.start + i
			break
		}
		if raw[i] != '\r' || i+1 >= len(raw) || raw[i+1] != '\n' {
			offset++
		}
	}
	return start, end
}

// namedAs reports whether a name is among names, in any case of letters, as for Registry.Find.
func namedAs(names []string, name string) bool {
	return slices.ContainsFunc(names, func(s string) bool { return strings.EqualFold(s, name) })
}

// agentProblem is an unknown name of an agent.
type agentProblem struct {
	named
	fault fault
}

// apply adds the problem to the file, and removes the name from a definition of another tool.
func (p agentProblem) apply(f *File) {
	f.reportOf(p.def, p.fault)
	if f.leavesOut(p.def) {
		p.def.Subagents = slices.DeleteFunc(p.def.Subagents, func(s string) bool { return s == p.name })
	}
}

// agentProblems finds the names of agents that are not among those known.
func (f *File) agentProblems(known []string) []agentProblem {
	hidden := hiddenNames()
	shown := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return slices.Contains(hidden, name) })
	var list []agentProblem
	for _, n := range f.named {
		if n.what != "subagent" && n.what != "child" && n.what != "instead" || n.name == "*" || namedAs(known, n.name) {
			continue
		}
		list = append(list, agentProblem{n, f.unknownFault(n, "agent", shown)})
	}
	return list
}

// hiddenNames are the names of the built-in agents to which nobody can delegate.
var hiddenNames = sync.OnceValue(func() []string {
	var names []string
	builtin, _ := Builtin() // a test ensures that Builtin does not fail
	for _, d := range builtin {
		if d.Is(Hidden) {
			names = append(names, d.Slug)
		}
	}
	return names
})

// agentNames are the names of the file's own agents.
func (f *File) agentNames() []string {
	var names []string
	for _, d := range f.Definitions {
		names = append(append(names, d.Slug, d.ID), d.Aliases...)
	}
	return slices.DeleteFunc(names, func(s string) bool { return s == "" })
}

// finder looks a name up among the file's own agents, then in a registry, first as it is written and then in any case
// of letters.
func (f *File) finder(r *Registry) func(string) *Definition {
	own := NewRegistry(f.Definitions...)
	if r == nil {
		r = own
	}
	return func(name string) *Definition {
		return cmp.Or(own.byName[name], r.byName[name], own.lookup(name), r.lookup(name))
	}
}

// cycleFault describes a cycle at the place where the definition names the next agent.
func (f *File) cycleFault(d *Definition, slugs []string) fault {
	found := fault{
		severity: failure, key: "subagents",
		message: "the delegation never ends: " + strings.Join(slugs, " → "),
		hint:    "take one of them out of subagents or as_child.subagents",
	}
	for _, n := range f.named {
		if n.def == d && (n.what == "subagent" || n.what == "child") {
			found.start, found.end, found.key = n.place.start, n.place.end, n.key
			if n.name == slugs[1] {
				break
			}
		}
	}
	return found
}

// cycle finds a cycle of delegations from an agent back to itself, through agents that name the agents to which they
// delegate. It returns the slugs on the cycle, with the first one repeated at the end; nil for none.
func cycle(d *Definition, find func(string) *Definition) []string {
	seen := map[*Definition]bool{}
	var way []string
	var visit func(at *Definition) bool
	visit = func(at *Definition) bool {
		way = append(way, at.Slug)
		for _, name := range at.SubagentsAt(1) {
			next := find(name)
			if next == nil {
				continue
			}
			if next.Slug == d.Slug {
				way = append(way, d.Slug)
				return true
			}
			if !seen[next] {
				seen[next] = true
				if visit(next) {
					return true
				}
			}
		}
		way = way[:len(way)-1]
		return false
	}
	if visit(d) {
		return way
	}
	return nil
}
