package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// foreignKey is a key of another tool's format.
type foreignKey struct {
	// native is our key with the same meaning, or "" if there is none.
	native string
	// doc describes a key that has no native key.
	doc string
	// values are the permitted values of the key if they differ from those of the native key.
	values []string
	// set reads a value whose meaning differs; nil reads it like the native key's.
	set func(*reader, *node)
}

// ignored is a key that agentls knows and does not use.
func ignored(what string) foreignKey {
	return foreignKey{doc: what + " agentls does not use it."}
}

// claudeKeys are the keys of .claude/agents/*.md, as Claude Code's documentation of subagents has them
// (code.claude.com/docs/en/sub-agents, "Supported frontmatter fields").
var claudeKeys = map[string]foreignKey{
	"name":            {native: "name"},
	"description":     {native: "description"},
	"tools":           {native: "tools"},
	"disallowedTools": {native: "disallowed_tools"},
	"model":           {native: "model"},
	"permissionMode": {native: "permission_mode", values: []string{
		"default", "acceptEdits", "bypassPermissions",
		"plan",
	}, set: readClaudeMode},
	"maxTurns":   {native: "max_turns"},
	"skills":     {native: "skills"},
	"mcpServers": {native: "mcp_servers"},
	"hooks":      {native: "hooks"},
	"color":      {native: "color"},
	"memory":     ignored("Where it keeps notes."),
	"background": ignored("Whether it runs in the background."),
	"effort": {
		native: "effort", values: []string{"low", "medium", "high", "xhigh", "max"},
		set: readEffort("effort"),
	},
	"isolation":     ignored("Where it works."),
	"initialPrompt": ignored("What a session with it begins with."),
}

// openCodeKeys are the keys of .opencode/agent/*.md, as OpenCode's documentation of agents has them
// (opencode.ai/docs/agents, "Options").
var openCodeKeys = map[string]foreignKey{
	"name":        {native: "name"},
	"description": {native: "description"},
	"mode": {
		native: "category", values: []string{"primary", "subagent", "all"},
		set: readOpenCodeMode,
	},
	"model":       {native: "model"},
	"temperature": {native: "temperature"},
	"prompt":      {native: "prompt", set: readOpenCodePrompt},
	"tools":       {native: "tools"},
	"permission":  {native: "permission"},
	"steps":       {native: "max_turns"},
	"maxSteps":    {native: "max_turns"},
	"color":       {native: "color"},
	"hidden": {
		native: "visible", doc: "`true` leaves it out of lists; it can still be started by name.",
		set: func(p *reader, n *node) { p.def.Unlisted, _ = p.bool("hidden", n) },
	},
	"disable": {doc: "Whether it is switched off.", set: readOpenCodeDisable},
	"top_p":   ignored("The model's top_p."),
	"options": ignored("The provider's own options."),
	"reasoningEffort": {
		native: "effort", values: []string{"none", "minimal", "low", "medium", "high", "xhigh"},
		set: readEffort("reasoningEffort"),
	},
	"textVerbosity": ignored("How much it writes."),
	"variant":       ignored("A variant of the model."),
}

// roleKeys are the keys of {"AgentRoles": {"Roles": […]}}.
var roleKeys = map[string]foreignKey{
	"RoleId":             {native: "name"},
	"DisplayName":        {native: "title"},
	"Description":        {native: "description"},
	"ModelId":            {native: "model"},
	"Temperature":        {native: "temperature"},
	"SystemPrompt":       {native: "prompt"},
	"SystemPromptFile":   {native: "prompt_file"},
	"CanDelegate":        {native: "can_delegate"},
	"AllowedDelegations": {native: "subagents"},
	"MaxIterations":      {native: "max_turns"},
	"MaxDurationMs": {
		native: "timeout",
		set:    func(p *reader, n *node) { readMilliseconds(p, "MaxDurationMs", n) },
	},
	"Tools": {native: "tools", set: readToolConfiguration},
}

// customKeys are the keys of {"Agents": {"Custom": […]}}.
var customKeys = map[string]foreignKey{
	"Id":          {native: "id"},
	"Slug":        {native: "name", set: readSlug},
	"Name":        {native: "title", set: readFullName},
	"Description": {native: "description"},
	"Category":    {native: "category"},
	"ProviderId": {
		native: "model.provider",
		set:    func(p *reader, n *node) { p.provider, _ = p.string("ProviderId", n) },
	},
	"ModelId":                {native: "model"},
	"Temperature":            {native: "temperature"},
	"MaxTokens":              {native: "max_tokens"},
	"SystemPrompt":           {native: "prompt"},
	"PromptVariables":        {native: "variables"},
	"UseDefaultSystemPrefix": {native: "default_prefix"},
	"ExecutionMode":          {native: "mode", set: readExecutionMode},
	"MaxIterations":          {native: "max_turns"},
	"Timeout":                {native: "timeout", set: readTimeSpan},
	"TimeoutSeconds":         {native: "timeout", set: readSeconds},
	"CanSpawnSubagents":      {native: "can_delegate"},
	"AllowedSubagentTypes":   {native: "subagents", set: readAllowedTypes},
	"Tools":                  {native: "tools", set: readToolConfiguration},
	"Permissions":            {native: "permissions"},
	"IconEmoji":              {native: "icon"},
	"Color":                  {native: "color"},
	"DisplayOrder":           {native: "order"},
	"IsVisible":              {native: "visible"},
	"IsBuiltIn":              ignored("Whether it is built in."),
	"CreatedAt":              ignored("When it was made."),
	"UpdatedAt":              ignored("When it was changed."),
}

// typedKeys are the keys of an [[agents]] table, or of an object in JSON, that has agent_type or when_to_use. Other
// tools write definitions without a prompt of their own in this shape. Native keys may be among them.
var typedKeys = sync.OnceValue(func() map[string]foreignKey {
	keys := map[string]foreignKey{
		"agent_type":        {native: "name"},
		"when_to_use":       {native: "description"},
		"critical_reminder": {native: "reminder"},
		"system_prompt":     {native: "prompt"},
		"source":            ignored("Where it comes from."),
		"fork_context": {native: "context", set: func(p *reader, n *node) {
			if forks, ok := p.bool("fork_context", n); ok && forks {
				p.def.ContextMode = "full"
			}
		}},
	}
	for _, name := range topKeys() {
		keys[name] = foreignKey{native: name}
	}
	keys["name"] = foreignKey{native: "name", set: readTypedName}
	return keys
})

// readTypedName reads the name of a definition. If the definition has agent_type, the name becomes the title for
// people.
func readTypedName(p *reader, n *node) {
	if p.root.get("agent_type") == nil {
		readName(p, n)
	} else if s, ok := p.string("name", n); ok {
		p.def.Title = strings.TrimSpace(s)
	}
}

// completeTyped fills in what a definition with agent_type or when_to_use leaves open.
func completeTyped(p *reader) {
	d := p.def
	if d.Categories == nil {
		d.Categories = []Category{Subagent}
	}
	if d.Prompt == "" && d.PromptFile == "" && d.Slug != "" {
		d.Prompt = fmt.Sprintf(
			"You are %s. What you are there for: %s\n\nDo the task that you are given, no more, and end with an "+
				"account of the outcome.", cmp.Or(d.Title, d.Slug), cmp.Or(d.Description, "what its name says"))
	}
}

// foreignKeys are the keys of a format besides the native ones.
func foreignKeys(f Format) map[string]foreignKey {
	switch f {
	case Claude:
		return claudeKeys
	case OpenCode:
		return openCodeKeys
	}
	return nil
}

// readClaudeMode reads permissionMode.
func readClaudeMode(p *reader, n *node) {
	s, ok := p.string("permissionMode", n)
	if !ok {
		return
	}
	switch s {
	case "default", "plan":
		p.def.PermissionMode = s
	case "acceptEdits":
		p.def.PermissionMode = "accept_edits"
	case "bypassPermissions":
		p.def.PermissionMode = "bypass"
	default:
		p.wrong(n, warning, "permissionMode",
			fmt.Sprintf("permissionMode is %q, which agentls does not have; the session's mode is used", short(s)),
			"write default, plan, acceptEdits or bypassPermissions")
	}
}

// farEfforts are efforts of other tools that only some vendors have, with the nearest effort that all have.
var farEfforts = map[string]string{"none": "low", "minimal": "low", "xhigh": "high", "max": "high"}

// readEffort reads the effort in another tool's format.
func readEffort(key string) func(*reader, *node) {
	return func(p *reader, n *node) {
		s, ok := p.string(key, n)
		if !ok {
			return
		}
		s = strings.ToLower(strings.TrimSpace(s))
		near, far := farEfforts[s]
		known := keyIndex()["effort"].Values
		switch {
		case slices.Contains(known, s):
			p.def.Effort = s
		case far:
			p.def.Effort = near
			p.wrong(n, information, key, fmt.Sprintf("%s is %s, which agentls reads as %s", key, s, near),
				"write "+alternatives(known))
		default:
			p.unknown(n, warning, key, fmt.Sprintf("%s is %q", key, short(s)), s, known)
		}
	}
}

// readOpenCodeMode reads mode: primary, subagent or all.
func readOpenCodeMode(p *reader, n *node) {
	s, ok := p.string("mode", n)
	if !ok {
		return
	}
	switch s {
	case "primary", "subagent":
		p.def.Categories = []Category{Category(s)}
	case "all":
		p.def.Categories = []Category{Primary, Subagent}
	default:
		p.unknown(n, warning, "mode", fmt.Sprintf("mode is %q; it is taken as all", short(s)), s,
			[]string{"primary", "subagent", "all"})
	}
}

// readOpenCodePrompt reads prompt, which may be {file:./prompt.txt}.
func readOpenCodePrompt(p *reader, n *node) {
	s, ok := p.string("prompt", n)
	if !ok {
		return
	}
	s = strings.TrimSpace(s)
	if name, found := strings.CutPrefix(s, "{file:"); found && strings.HasSuffix(name, "}") {
		p.def.PromptFile = strings.TrimSpace(strings.TrimSuffix(name, "}"))
		return
	}
	p.def.Prompt = s
}

func readOpenCodeDisable(p *reader, n *node) {
	if off, _ := p.bool("disable", n); off {
		p.disabled = n
	}
}

func readMilliseconds(p *reader, key string, n *node) {
	if i, ok := p.integer(key, n, 1); ok {
		p.def.Limits.Timeout = time.Duration(i) * time.Millisecond
	}
}

func readSeconds(p *reader, n *node) {
	if i, ok := p.integer("TimeoutSeconds", n, 1); ok {
		p.def.Limits.Timeout = time.Duration(i) * time.Second
	}
}

// readTimeSpan reads hours:minutes:seconds, with days and fractions as .NET's TimeSpan writes them ("c" format); it
// also reads a duration as in the native format.
func readTimeSpan(p *reader, n *node) {
	if n.kind == null {
		return
	}
	var days, hours, minutes int
	var seconds float64
	clock := n.value
	if before, rest, ok := strings.Cut(clock, "."); ok && strings.Contains(rest, ":") {
		if _, err := fmt.Sscanf(before, "%d", &days); err != nil {
			days = 0
		}
		clock = rest
	}
	if count, err := fmt.Sscanf(clock, "%d:%d:%f", &hours, &minutes, &seconds); n.kind == scalar &&
		err == nil && count == 3 {
		d := time.Duration(days*24+hours)*time.Hour + time.Duration(minutes)*time.Minute +
			time.Duration(seconds*float64(time.Second))
		if d > 0 {
			p.def.Limits.Timeout = d
			return
		}
	}
	p.duration("Timeout", n, &p.def.Limits.Timeout)
}

// readExecutionMode reads Agentic, SingleShot, Streaming or Planning.
func readExecutionMode(p *reader, n *node) {
	if s, ok := p.string("ExecutionMode", n); ok {
		for _, mode := range keyIndex()["mode"].Values {
			if strings.EqualFold(strings.ReplaceAll(mode, "_", ""), strings.ReplaceAll(s, "_", "")) {
				p.def.Mode = Mode(mode)
				return
			}
		}
		p.unknown(n, failure, "ExecutionMode", fmt.Sprintf("ExecutionMode is %q", short(s)), s,
			[]string{"Agentic", "SingleShot", "Streaming", "Planning"})
	}
}

// readAllowedTypes reads a list that means all if it is empty.
func readAllowedTypes(p *reader, n *node) {
	if list, ok := p.strings("AllowedSubagentTypes", "subagent", n); ok && len(list) > 0 {
		p.def.Subagents = list
	}
}

// readToolConfiguration reads {"Mode": "AllExcept", "ToolList": […], "Overrides": {…}}, or a plain list.
func readToolConfiguration(p *reader, n *node) {
	if n.kind != table {
		readTools(p, n)
		return
	}
	mode, modeNode := "", n
	var names []word
	p.table("Tools", n, map[string]func(*node){
		"Mode":     func(v *node) { mode, _ = p.string("Tools.Mode", v); modeNode = v },
		"ToolList": func(v *node) { names, _ = p.words("Tools.ToolList", v) },
		"Overrides": func(v *node) {
			readOverrides(p, v)
		},
	})
	list := []string{}
	for _, w := range names {
		list = append(list, w.text)
	}
	what := "tool"
	switch mode = cmp.Or(mode, "AllExcept"); mode {
	case "All":
		return
	case "None":
		p.def.Tools = []string{}
		return
	case "OnlyThese":
		p.def.Tools = list
	case "AllExcept":
		p.def.DisallowedTools = list
		what = "disallowed"
	default:
		known := []string{"All", "AllExcept", "OnlyThese", "None"}
		p.unknown(modeNode, failure, "Tools.Mode", fmt.Sprintf("Tools.Mode is %q", short(mode)), mode, known)
		return
	}
	for _, w := range names {
		p.names(what, "Tools.ToolList", w.text, w.node)
	}
}

func readOverrides(p *reader, n *node) {
	if n.kind != table {
		p.expect(n, "Tools.Overrides", "a table")
		return
	}
	p.def.ToolOptions = map[string]ToolOptions{}
	for _, pair := range n.pairs {
		var o ToolOptions
		key := "Tools.Overrides." + pair.key
		p.table(key, pair.value, map[string]func(*node){
			"MaxOutputLength": func(v *node) {
				if i, ok := p.integer(key+".MaxOutputLength", v, 1); ok {
					o.OutputLimit = int(i)
				}
			},
			"Timeout": func(v *node) {
				before := p.def.Limits.Timeout
				p.def.Limits.Timeout = 0
				readTimeSpan(p, v)
				o.Timeout, p.def.Limits.Timeout = p.def.Limits.Timeout, before
			},
			"DefaultArguments": func(v *node) {
				if v.kind != null {
					o.Arguments = readArguments(p, key+".DefaultArguments", pair.key, v)
				}
			},
		})
		p.names("option", key, pair.key, &node{kind: scalar, start: pair.start, end: pair.end, value: pair.key})
		p.def.ToolOptions[pair.key] = o
	}
}

// notAgents are files without frontmatter that lie beside definitions and are no definitions.
var notAgents = []string{"readme", "changelog", "license", "contributing", "index", "claude", "agents"}

// isDocument reports whether a file without frontmatter is a document rather than a prompt.
func isDocument(name string) bool { return slices.Contains(notAgents, strings.ToLower(stem(name))) }
