package agent

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// KeyInfo describes one key of the native format, which TOML and JSON share.
type KeyInfo struct {
	// Name is dotted: "as_child.max_turns". A part that is "*" stands for a name that the user chooses.
	Name string
	// Type is "string", "integer", "number", "boolean", "duration", "strings" (a list of strings), "list" or "table".
	Type string
	// Doc is a sentence or two of Markdown.
	Doc string
	// Values are all values that are permitted, or nil for any. For "strings" they are the values of the elements.
	Values []string
	// Names says what the value, or each element, names: "tool", "agent", "skill", "model", or nothing.
	Names string
	// Minimum is the smallest and Maximum the largest number for "integer" and "number"; nil means no limit.
	Minimum, Maximum *float64
	// Required keys must be in every definition.
	Required bool
}

func number(n float64) *float64 { return &n }

const toolDoc = " A name that other tools use for it is understood, and those of MCP servers are kept: " +
	"`mcp__server__tool`, `mcp__server__*` or `mcp__server`."

// nativeKeys is the one table on which the reader, Keys and the JSON Schema are based.
var nativeKeys = []KeyInfo{
	{
		Name: "name", Type: "string", Required: true,
		Doc: "The agent's name, by which it is started and delegated to: lower-case letters, digits and hyphens.",
	},
	{Name: "id", Type: "string", Doc: "A stable name besides `name` that lookups accept."},
	{Name: "title", Type: "string", Doc: "The name for people."},
	{Name: "description", Type: "string", Doc: "When to use the agent. Delegating agents read it."},
	{
		Name: "category", Type: "strings", Required: true, Values: []string{"primary", "subagent", "hidden"},
		Doc: "Who starts it: `primary` the user, `subagent` other agents, `hidden` agentls itself.",
	},
	{
		Name: "mode", Type: "string", Values: []string{"agentic", "single_shot", "streaming", "planning"},
		Doc: "How a run goes: `agentic` is the tool loop, `single_shot` one answer without tools, `streaming` a chat " +
			"without tools, `planning` the tool loop with read-only tools and a plan at its end.",
	},
	{
		Name: "engine", Type: "string", Values: []string{EngineACP},
		Doc: "`acp` has another program do the work, which speaks the Agent Client Protocol: somebody else's agent, in " +
			"a sandbox of its own, whose writes become proposed edits. Only in your own definitions.",
	},
	{Name: "command", Type: "strings", Doc: "The program of `engine = \"acp\"`, and its arguments."},
	{
		Name: "env", Type: "strings",
		Doc: "Variables that the program gets: `NAME` from the environment, or `NAME=value`.",
	},
	{
		Name: "program_mode", Type: "string",
		Doc: "The mode of its own in which the program starts, where it has modes.",
	},
	{Name: "home", Type: "table", Doc: "What the program sees of your home folder."},
	{Name: "home.read", Type: "strings", Doc: "Files and folders that it may read, relative to the home folder."},
	{
		Name: "home.write", Type: "strings",
		Doc: "Files and folders that it may change: its own login and state.",
	},
	{Name: "network", Type: "strings", Doc: "The hosts that the program reaches, as in `network.allow`."},
	{
		Name: "model", Type: "string", Names: "model",
		Doc: "`provider/model`, a preset, `inherit` for the parent's, or a table of inline settings. " +
			"Absent means the configuration's choice.",
	},
	{Name: "model.provider", Type: "string", Doc: "The provider."},
	{Name: "model.model", Type: "string", Doc: "The model's name at the provider."},
	{Name: "model.temperature", Type: "number", Minimum: number(0), Maximum: number(2), Doc: "As `temperature`."},
	{Name: "model.max_tokens", Type: "integer", Minimum: number(1), Doc: "As `max_tokens`."},
	{
		Name: "temperature", Type: "number", Minimum: number(0), Maximum: number(2),
		Doc: "The model's temperature. Absent means the model's own.",
	},
	{Name: "max_tokens", Type: "integer", Minimum: number(1), Doc: "The largest answer, in tokens."},
	{
		Name: "effort", Type: "string", Values: []string{"low", "medium", "high"},
		Doc: "How much the model thinks. It is left out, which the run says, for a model that is not known to take it. " +
			"Absent means the model's own.",
	},
	{
		Name: "max_turns", Type: "integer", Minimum: number(1),
		Doc: "The largest number of turns of a run, each an answer of the model. In the last one it only hands over; " +
			"where it does not, it is asked once more.",
	},
	{Name: "timeout", Type: "duration", Doc: "The longest time of a run, such as `\"5m\"`."},
	{Name: "budget", Type: "table", Doc: "What a run may use up."},
	{Name: "budget.tokens", Type: "integer", Minimum: number(1), Doc: "Input and output tokens together."},
	{Name: "budget.cost", Type: "number", Minimum: number(0), Doc: "US dollars."},
	{Name: "as_child", Type: "table", Doc: "What differs when the agent runs as a child of another."},
	{Name: "as_child.max_turns", Type: "integer", Minimum: number(1), Doc: "As `max_turns`."},
	{Name: "as_child.timeout", Type: "duration", Doc: "As `timeout`."},
	{Name: "as_child.budget", Type: "table", Doc: "As `budget`."},
	{Name: "as_child.budget.tokens", Type: "integer", Minimum: number(1), Doc: "Input and output tokens together."},
	{Name: "as_child.budget.cost", Type: "number", Minimum: number(0), Doc: "US dollars."},
	{Name: "as_child.subagents", Type: "strings", Names: "agent", Doc: "As `subagents`; absent means the same."},
	{Name: "as_child.agent", Type: "string", Names: "agent", Doc: "The agent that runs instead of this one."},
	{
		Name: "tools", Type: "strings", Names: "tool",
		Doc: "The tools that it may use. Absent or `*` means all, an empty list none." + toolDoc,
	},
	{
		Name: "disallowed_tools", Type: "strings", Names: "tool",
		Doc: "Tools that are taken away from `tools`." + toolDoc,
	},
	{
		Name: "tool_options", Type: "table",
		Doc: "How single tools work for it, by their names: how much they may say, how long they may take, and " +
			"arguments that a call leaves out.",
	},
	{Name: "tool_options.*", Type: "table", Names: "tool", Doc: "The options of one tool."},
	{Name: "tool_options.*.output_limit", Type: "integer", Minimum: number(1), Doc: "The largest output in bytes."},
	{Name: "tool_options.*.timeout", Type: "duration", Doc: "The longest time of a call."},
	{Name: "tool_options.*.arguments", Type: "table", Doc: "Arguments of a call that does not set them."},
	{
		Name: "can_delegate", Type: "boolean",
		Doc: "`false` is the same as an empty `subagents`, `true` without `subagents` the same as `[\"*\"]`.",
	},
	{
		Name: "subagents", Type: "strings", Names: "agent",
		Doc: "The agents that it may delegate to. Absent means all, and none where it is itself a child; `*` means " +
			"all, an empty list none.",
	},
	{
		Name: "permissions", Type: "string", Values: []string{"primary", "planner", "explorer", "researcher"},
		Doc: "A named set of permission rules; or rules, as `permission`.",
	},
	{
		Name: "permission", Type: "table",
		Doc: "Rules as opencode writes them: tools with an action, or with patterns and their actions; or a list of " +
			"`tool`, `pattern` and `action`.",
	},
	{
		Name: "permission.*", Type: "table", Names: "tool",
		Doc: "`allow`, `ask` or `deny`, or a table of patterns, in which `*` is any text, with these.",
	},
	{Name: "rules", Type: "list", Doc: "Permission rules of its own, after those of the set. A project's only narrow."},
	{Name: "rules.*.tool", Type: "string", Names: "tool", Doc: "A tool, or `*`."},
	{Name: "rules.*.pattern", Type: "string", Doc: "A glob of paths, the first words of a command, or `*`."},
	{Name: "rules.*.action", Type: "string", Values: []string{"allow", "ask", "deny"}, Doc: "What the rule decides."},
	{
		Name: "permission_mode", Type: "string", Values: []string{"default", "plan", "accept_edits", "bypass"},
		Doc: "The permission mode of its runs, never wider than its parent's. A project's definition has only " +
			"default and plan.",
	},
	{
		Name: "context", Type: "string", Values: []string{"none", "full", "summary", "selective"},
		Doc: "What it sees of its parent's conversation when it runs as a child.",
	},
	{
		Name: "instructions", Type: "string", Values: []string{"all", "none"},
		Doc: "`none` keeps the instructions of the user and the project (`AGENTS.md` and the like) from it.",
	},
	{Name: "reminder", Type: "string", Doc: "A critical reminder, repeated in front of its task."},
	{
		Name: "skills", Type: "strings", Names: "skill",
		Doc: "Skills that are loaded into the prompt at the start of a run.",
	},
	{
		Name: "mcp_servers", Type: "table",
		Doc: "MCP servers that it brings by name, or a list of names of the configuration's. They are added to those " +
			"that the agent has anyway.",
	},
	{Name: "mcp_servers.*.command", Type: "string", Doc: "The program of a server on stdio."},
	{Name: "mcp_servers.*.args", Type: "strings", Doc: "Its arguments."},
	{Name: "mcp_servers.*.env", Type: "table", Doc: "Its environment; `${NAME}` and `${NAME:-default}` are filled in."},
	{Name: "mcp_servers.*.url", Type: "string", Doc: "The address of a server over HTTP."},
	{
		Name: "mcp_servers.*.headers", Type: "table",
		Doc: "Headers of its requests; `${NAME}` and `${NAME:-default}` are filled in.",
	},
	{
		Name: "hooks", Type: "table",
		Doc: "Commands that are run at events of its life, by the event's name. `Stop` of a subagent is " +
			"`SubagentStop`. Those of `PreToolUse` also see the calls of its subagents.",
	},
	{
		Name: "hooks.*.*.matcher", Type: "string", Names: "tool",
		Doc: "What the hook is for: names of tools with `|` between them in any spelling, or a regular expression. " +
			"Empty: all.",
	},
	{
		Name: "hooks.*.*.command", Type: "strings",
		Doc: "A list of words, or a command line for `sh -c`. It gets the event as JSON on its standard input.",
	},
	{Name: "hooks.*.*.timeout", Type: "duration", Doc: "The longest time. Default: one minute."},
	{Name: "aliases", Type: "strings", Doc: "Other names that are accepted for it."},
	{Name: "icon", Type: "string", Doc: "One character for lists."},
	{Name: "color", Type: "string", Doc: "`#rrggbb`, or a colour's name: " + strings.Join(colors, ", ") + "."},
	{Name: "order", Type: "integer", Doc: "Its place in lists, the smallest first."},
	{Name: "visible", Type: "boolean", Doc: "`false` leaves it out of lists; it can still be started by name."},
	{Name: "prompt", Type: "string", Doc: "The system prompt. In Markdown it is the text below the frontmatter."},
	{
		Name: "prompt_file", Type: "string",
		Doc: "The file of the system prompt, relative to this one and not above its folder.",
	},
	{Name: "variables", Type: "table", Doc: "Values for `{{name}}` in the prompt."},
	{Name: "default_prefix", Type: "boolean", Doc: "`false` leaves out what agentls says before every prompt."},
}

// setters are the functions that read the value of a top-level key into a definition.
var setters = map[string]func(*reader, *node){
	"name":             readName,
	"id":               text1(func(d *Definition) *string { return &d.ID }),
	"title":            text1(func(d *Definition) *string { return &d.Title }),
	"description":      text1(func(d *Definition) *string { return &d.Description }),
	"category":         readCategory,
	"mode":             readMode,
	"engine":           choice("engine", func(d *Definition) *string { return &d.Engine }),
	"command":          readCommand,
	"env":              readEnv,
	"program_mode":     text1(func(d *Definition) *string { return &d.Program.Mode }),
	"home":             readHome,
	"network":          readNetwork,
	"model":            readModel,
	"temperature":      readTemperature,
	"max_tokens":       readMaxTokens,
	"effort":           choice("effort", func(d *Definition) *string { return &d.Effort }),
	"max_turns":        func(p *reader, n *node) { p.maxTurns("max_turns", n, &p.def.Limits) },
	"timeout":          func(p *reader, n *node) { p.duration("timeout", n, &p.def.Limits.Timeout) },
	"budget":           func(p *reader, n *node) { readBudget(p, "budget", n, &p.def.Limits) },
	"as_child":         readAsChild,
	"tools":            readTools,
	"disallowed_tools": readDisallowedTools,
	"tool_options":     readToolOptions,
	"can_delegate":     readCanDelegate,
	"subagents":        readSubagents,
	"permissions":      readPermission,
	"permission":       readPermission,
	"rules":            readRules,
	"permission_mode":  readPermissionMode,
	"context":          choice("context", func(d *Definition) *string { return &d.ContextMode }),
	"instructions":     choice("instructions", func(d *Definition) *string { return &d.Instructions }),
	"reminder":         text1(func(d *Definition) *string { return &d.Reminder }),
	"skills":           readSkills,
	"mcp_servers":      readMcpServers,
	"hooks":            readHooks,
	"aliases":          readAliases,
	"icon":             text1(func(d *Definition) *string { return &d.Icon }),
	"color":            readColor,
	"order":            readOrder,
	"visible":          func(p *reader, n *node) { p.not("visible", n, &p.def.Unlisted) },
	"prompt":           text1(func(d *Definition) *string { return &d.Prompt }),
	"prompt_file":      text1(func(d *Definition) *string { return &d.PromptFile }),
	"variables":        readVariables,
	"default_prefix":   func(p *reader, n *node) { p.not("default_prefix", n, &p.def.NoDefaultPrefix) },
}

// keyIndex is nativeKeys by name.
var keyIndex = sync.OnceValue(func() map[string]*KeyInfo {
	index := map[string]*KeyInfo{}
	for i := range nativeKeys {
		index[nativeKeys[i].Name] = &nativeKeys[i]
	}
	return index
})

// topKeys are the names of the keys that are not below others.
var topKeys = sync.OnceValue(func() []string { return keysBelow("") })

// keysBelow are the last parts of the keys directly below a dotted key.
func keysBelow(prefix string) []string {
	var names []string
	for _, k := range nativeKeys {
		name, ok := strings.CutPrefix(k.Name, prefix)
		if ok && !strings.Contains(name, ".") {
			names = append(names, name)
		}
	}
	return names
}

// Keys returns all keys of the native format, in the order in which they are best shown; a key comes before those
// below it. The caller may change the slice, but not what its elements point to.
func Keys() []KeyInfo {
	return slices.Clone(nativeKeys)
}

// KeysOf returns the keys of a format. A key of another tool has its own name, with the description of the native key
// that means the same.
func KeysOf(format Format) []KeyInfo {
	foreign := foreignKeys(format)
	if foreign == nil {
		return Keys()
	}
	var infos []KeyInfo
	for _, name := range slices.Sorted(maps.Keys(foreign)) {
		k := foreign[name]
		if k.native == "" {
			infos = append(infos, KeyInfo{Name: name, Type: "string", Doc: k.doc})
			continue
		}
		for _, native := range nativeKeys {
			below, ok := strings.CutPrefix(native.Name, k.native)
			if !ok || below != "" && below[0] != '.' {
				continue
			}
			native.Name = name + below
			native.Required = format == Claude && name == "name"
			if k.set != nil {
				native = k.adapted(native)
			}
			infos = append(infos, native)
		}
	}
	return infos
}

// adapted is the description of a key whose values differ from the native one's.
func (k foreignKey) adapted(info KeyInfo) KeyInfo {
	if k.doc != "" {
		info.Doc = k.doc
	}
	if k.values != nil {
		info.Type, info.Values = "string", k.values
	}
	return info
}

// KeyFor returns the description of a Field's key, or of the list that it is an element of, in a file of any
// format. Keys of other tools which mean the same have the native key's description.
func KeyFor(format Format, field string) (KeyInfo, bool) {
	parts := strings.Split(field, ".")
	if top, ok := foreignKeys(format)[parts[0]]; ok {
		if top.native == "" {
			return KeyInfo{Name: parts[0], Doc: top.doc}, true
		}
		parts[0] = top.native
	}
	for len(parts) > 0 {
		for _, k := range nativeKeys {
			if slices.EqualFunc(strings.Split(k.Name, "."), parts,
				func(known, part string) bool { return known == part || known == "*" }) {
				return k, true
			}
		}
		if last := parts[len(parts)-1]; strings.Trim(last, "0123456789") != "" {
			return KeyInfo{}, false
		}
		parts = parts[:len(parts)-1]
	}
	return KeyInfo{}, false
}
