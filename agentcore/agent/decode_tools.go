package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/hook"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/tool"
)

// toolWord splits a tool as definitions write it: a name, and in parentheses the calls that are allowed.
func toolWord(s string) (name, inside string) {
	name, inside, ok := strings.Cut(s, "(")
	if !ok {
		return s, ""
	}
	return strings.TrimSpace(name), strings.TrimSpace(strings.TrimSuffix(inside, ")"))
}

func readTools(p *reader, n *node) {
	key := p.keyOf(n)
	if n.kind == table {
		readToolTable(p, key, n)
		return
	}
	if n.kind == scalar && n.value == "" && !p.file.Format.Foreign() {
		p.wrong(n, warning, key, key+" is an empty text, which means no tools",
			"write [] for none, or leave the key out for all")
	}
	words, ok := p.words(key, n)
	if !ok {
		return
	}
	p.def.Tools = []string{}
	for _, w := range words {
		name := nameTool(p, key, w)
		if !slices.Contains(p.def.Tools, name) {
			p.def.Tools = append(p.def.Tools, name)
		}
		p.names("tool", key, name, w.node.part(name))
	}
}

// part is the node for the beginning of a literal scalar.
func (n *node) part(name string) *node {
	at := *n
	if at.literal && strings.HasPrefix(at.value, name) {
		at.end, at.value = at.start+len(name), name
	}
	return &at
}

// nameTool reads one word of a list of tools. Text in parentheses becomes a rule or, for the tool task, a list of
// agents.
func nameTool(p *reader, key string, w word) string {
	name, inside := toolWord(w.text)
	switch {
	case inside == "":
	case canonical(name) == "task":
		p.def.Subagents = []string{}
		for _, sub := range strings.Split(inside, ",") {
			if sub = strings.TrimSpace(sub); sub != "" {
				p.def.Subagents = append(p.def.Subagents, sub)
				p.names("subagent", key, sub, w.node)
			}
		}
	default:
		for _, pattern := range strings.Split(inside, ",") {
			if pattern = strings.TrimSpace(pattern); pattern != "" {
				addRule(p, p.format(), key, permission.Rule{Tool: name, Pattern: pattern, Action: permission.Allow},
					w.node)
			}
		}
	}
	return name
}

// canonical is agentls's name of a tool; an unknown name stays as it is.
func canonical(name string) string {
	name, _ = tool.Resolve(name)
	return name
}

// addRule adds a rule that is written in the way of a format.
func addRule(p *reader, format Format, key string, r permission.Rule, at *node) {
	name := canonical(r.Tool)
	if strings.EqualFold(name, r.Tool) {
		name = r.Tool // the name as it is written, for messages
	}
	rules := []permission.Rule{{Tool: r.Tool, Pattern: rulePattern(r.Pattern), Action: r.Action}}
	var warnings []string
	switch format {
	case Claude:
		rules, warnings = permission.FromClaude(name+"("+r.Pattern+")", r.Action)
	case OpenCode:
		rules, warnings = permission.FromOpenCode(name, r.Pattern, r.Action)
	}
	p.def.Rules = append(p.def.Rules, rules...)
	for _, w := range warnings {
		p.wrong(at, warning, key, w, "write it under rules in an agent of agentls's own format")
	}
}

// rulePattern turns "git diff:*" into "git diff*".
func rulePattern(s string) string {
	s = strings.TrimSpace(s)
	if command, ok := strings.CutSuffix(s, ":*"); ok {
		return command + "*"
	}
	return s
}

// readToolTable reads tools written as a table of booleans. In OpenCode's format, all tools are allowed except those
// with false. In other formats, only the tools with true are allowed or, if none is true, all except those with false.
func readToolTable(p *reader, key string, n *node) {
	var allowed, denied []string
	all := true
	for _, pair := range n.pairs {
		value := pair.value
		on, ok := true, true
		if value.kind != table && value.kind != null {
			on, ok = p.bool(key+"."+pair.key, value)
		}
		if !ok {
			continue
		}
		if pair.key == "*" {
			all = on
			continue
		}
		at := pair.name()
		what := "disallowed"
		if on {
			what = "tool"
			allowed = append(allowed, pair.key)
		} else {
			denied = append(denied, pair.key)
		}
		p.names(what, key, pair.key, at)
	}
	p.def.DisallowedTools = append(p.def.DisallowedTools, denied...)
	switch {
	case !all, p.format() != OpenCode && (len(allowed) > 0 || len(n.pairs) == 0):
		p.def.Tools = append([]string{}, allowed...)
	}
}

func readDisallowedTools(p *reader, n *node) {
	key := p.keyOf(n)
	words, _ := p.words(key, n)
	for _, w := range words {
		name, inside := toolWord(w.text)
		if inside != "" {
			addRule(p, p.format(), key, permission.Rule{Tool: name, Pattern: inside, Action: permission.Deny}, w.node)
			p.names("rule", key, name, w.node.part(name))
			continue
		}
		p.def.DisallowedTools = append(p.def.DisallowedTools, name)
		p.names("disallowed", key, name, w.node)
	}
}

func readRules(p *reader, n *node) {
	if n.kind != list {
		if n.kind == table {
			readPermissionTable(p, p.format(), n)
			return
		}
		p.expect(n, "rules", "a list of tables with tool, pattern and action")
		return
	}
	for i, item := range n.items {
		key := fmt.Sprintf("rules.%d", i)
		rule := permission.Rule{Tool: "*", Pattern: "*"}
		p.table(key, item, map[string]func(*node){
			"tool": func(v *node) {
				rule.Tool, _ = p.string(key+".tool", v)
				p.names("rule", key+".tool", rule.Tool, v)
			},
			"pattern": func(v *node) { rule.Pattern, _ = p.string(key+".pattern", v) },
			"action": func(v *node) {
				rule.Action = readAction(p, key+".action", v)
			},
		})
		if rule.Action == "" {
			if item.kind == table && item.get("action") == nil {
				p.wrong(item, failure, key, key+" has no action", "write allow, ask or deny")
			}
			continue
		}
		p.def.Rules = append(p.def.Rules, rule)
	}
}

func readAction(p *reader, key string, n *node) permission.Action {
	s, ok := p.string(key, n)
	if !ok {
		return ""
	}
	known := keyIndex()["rules.*.action"].Values
	if p.file.loose(p.def) {
		s = strings.ToLower(s)
	}
	if slices.Contains(known, s) {
		return permission.Action(s)
	}
	p.unknown(n, failure, key, fmt.Sprintf("%s is %q", key, short(s)), s, known)
	return ""
}

// readPermission reads the name of a set of rules, an action for every tool, or rules: a table of tools, or a list.
// Everything except a name has the meaning that it has in opencode.
func readPermission(p *reader, n *node) {
	key := p.keyOf(n)
	switch n.kind {
	case table:
		readPermissionTable(p, OpenCode, n)
	case list:
		readPermissionList(p, key, n)
	default:
		s, ok := p.string(key, n)
		s = strings.TrimSpace(s)
		sets, actions := keyIndex()["permissions"].Values, keyIndex()["rules.*.action"].Values
		if p.file.loose(p.def) {
			s = strings.ToLower(s)
		}
		switch {
		case !ok:
		case slices.Contains(sets, s):
			p.def.Permissions = s
		case slices.Contains(actions, s):
			p.def.Rules = append(p.def.Rules, permission.Rule{Tool: "*", Pattern: "*", Action: permission.Action(s)})
		default:
			p.unknown(n, failure, key, fmt.Sprintf("%s is %q", key, short(s)), s, slices.Concat(sets, actions))
		}
	}
}

// readPermissionList reads rules with tool, pattern and action, in any case of letters. A rule without a tool has the
// tool before its pattern: bash:git *.
func readPermissionList(p *reader, key string, n *node) {
	for i, item := range n.items {
		key := fmt.Sprintf("%s.%d", key, i)
		rule, at := permission.Rule{Tool: "*", Pattern: "*"}, item
		set := map[string]func(*node){
			"tool":    func(v *node) { rule.Tool, _ = p.string(key+".tool", v); at = v },
			"pattern": func(v *node) { rule.Pattern, _ = p.string(key+".pattern", v) },
			"action":  func(v *node) { rule.Action = readAction(p, key+".action", lower(v)) },
		}
		set["permission"] = set["tool"]
		p.table(key, folded(item), set)
		if item.get("tool") == nil && at == item {
			if name, pattern, ok := strings.Cut(rule.Pattern, ":"); ok && !strings.ContainsAny(name, " /*") {
				rule.Tool, rule.Pattern = name, pattern
			}
		}
		switch {
		case rule.Action != "":
			addRule(p, OpenCode, key, rule, at)
			p.names("rule", key, rule.Tool, at)
		case item.kind == table && folded(item).get("action") == nil:
			p.wrong(item, failure, key, key+" has no action", "write allow, ask or deny")
		}
	}
}

// folded is a table with its keys in lower case.
func folded(n *node) *node {
	low := *n
	low.pairs = slices.Clone(n.pairs)
	for i := range low.pairs {
		low.pairs[i].key = strings.ToLower(low.pairs[i].key)
	}
	return &low
}

// lower is a scalar in lower case.
func lower(n *node) *node {
	low := *n
	low.value = strings.ToLower(n.value)
	return &low
}

// readPermissionTable reads rules in one of three forms: a table from tools to actions, or to tables from patterns to
// actions; a table from actions to lists of rules, as in Claude Code's settings; or a list of rules below the key
// rules.
func readPermissionTable(p *reader, format Format, n *node) {
	key := p.keyOf(n)
	for _, pair := range n.pairs {
		key := key + "." + pair.key
		at := pair.name()
		switch action := strings.ToLower(pair.key); {
		case pair.value.kind != list:
			readPermissionTool(p, format, key, pair.key, pair.value)
			p.names("rule", key, pair.key, at)
		case action == "rules":
			readPermissionList(p, key, pair.value)
		case slices.Contains(keyIndex()["rules.*.action"].Values, action):
			words, _ := p.words(key, pair.value)
			for _, w := range words {
				name, inside := toolWord(w.text)
				addRule(p, Claude, key, permission.Rule{Tool: name, Pattern: inside, Action: permission.Action(action)},
					w.node)
				p.names("rule", key, name, w.node.part(name))
			}
		default:
			p.expect(pair.value, key, "an action, or a table of patterns")
		}
	}
}

// readPermissionTool reads the rules of one tool: an action, or a table of patterns to actions.
func readPermissionTool(p *reader, format Format, key, name string, n *node) {
	rules := []pairOf{{"*", n, key}}
	if n.kind == table {
		rules = rules[:0]
		for _, below := range n.pairs {
			rules = append(rules, pairOf{below.key, below.value, key + "." + below.key})
		}
	}
	denied := false
	for _, rule := range rules {
		action := readAction(p, rule.key, rule.value)
		if action == "" {
			continue
		}
		if denied && action != permission.Deny {
			p.wrong(rule.value, warning, rule.key, rule.key+" has no effect: a deny wins over the rules behind it",
				"deny what must not be, instead of everything")
		}
		denied = denied || action == permission.Deny && rule.pattern == "*"
		addRule(p, format, rule.key, permission.Rule{Tool: name, Pattern: rule.pattern, Action: action}, rule.value)
	}
}

type pairOf struct {
	pattern string
	value   *node
	key     string
}

func readMcpServers(p *reader, n *node) {
	switch n.kind {
	case table:
		for _, pair := range n.pairs {
			p.def.MCPServers = append(p.def.MCPServers, readMcpServer(p, pair))
		}
	case list:
		for i, item := range n.items {
			switch item.kind {
			case scalar:
				p.names("server", fmt.Sprintf("mcp_servers.%d", i), item.value, item)
				p.def.MCPServers = append(p.def.MCPServers, MCPServer{Name: item.value})
			case table:
				for _, pair := range item.pairs {
					p.def.MCPServers = append(p.def.MCPServers, readMcpServer(p, pair))
				}
			default:
				p.expect(item, fmt.Sprintf("mcp_servers.%d", i), "a server's name")
			}
		}
	default:
		words, _ := p.words("mcp_servers", n)
		for _, w := range words {
			p.names("server", "mcp_servers", w.text, w.node)
			p.def.MCPServers = append(p.def.MCPServers, MCPServer{Name: w.text})
		}
	}
}

func readMcpServer(p *reader, server pair) MCPServer {
	name, n := server.key, server.value
	s := MCPServer{Name: name}
	key := "mcp_servers." + name
	p.names("server", key, name, &node{kind: scalar, start: server.start, end: server.end, value: name})
	if n.kind == null {
		return s // the hook is only a name
	}
	var args []string
	p.table(key, n, map[string]func(*node){
		"command": func(v *node) { s.Command = p.program(key+".command", v.whole()) },
		"args":    func(v *node) { args, _ = p.arguments(key+".args", v.whole()) },
		"env":     func(v *node) { s.Env = p.stringTable(key+".env", v) },
		"url":     func(v *node) { s.URL, _ = p.string(key+".url", v) },
		"headers": func(v *node) { s.Headers = p.stringTable(key+".headers", v) },
		"type":    func(*node) {},
	})
	if len(s.Command) > 0 {
		s.Command = append(s.Command, args...)
	}
	if len(s.Command) == 0 && s.URL == "" && n.kind == table {
		p.wrong(n, failure, key, key+" has neither command nor url", "write one of them")
	}
	return s
}

// whole is a list whose only element is the scalar, so that commas do not split it.
func (n *node) whole() *node {
	if n.kind != scalar {
		return n
	}
	return &node{kind: list, start: n.start, end: n.end, items: []*node{n}}
}

func readHooks(p *reader, n *node) {
	if n.kind != table {
		p.table("hooks", n, map[string]func(*node){"an event": nil})
		return
	}
	for _, pair := range n.pairs {
		key := "hooks." + pair.key
		if !hook.Known(pair.key) {
			p.unknown(pair.name(), warning, key, fmt.Sprintf("there is no event %q", short(pair.key)), pair.key,
				hook.Events())
		}
		items := pair.value.items
		if pair.value.kind == table {
			items = []*node{pair.value}
		} else if pair.value.kind != list {
			p.expect(pair.value, key, "a list of tables with command, matcher and timeout")
			continue
		}
		for i, item := range items {
			readHook(p, fmt.Sprintf("%s.%d", key, i), pair.key, "", item)
		}
	}
}

// readHook reads one hook, or a matcher with several hooks as Claude Code writes them.
func readHook(p *reader, key, event, matcher string, n *node) {
	h := Hook{Event: event, Matcher: matcher}
	var below []*node
	set := map[string]func(*node){
		"matcher": func(v *node) {
			h.Matcher, _ = p.string(key+".matcher", v)
			checkMatcher(p, key+".matcher", event, h.Matcher, v)
		},
		"type": func(*node) {},
		"timeout": func(v *node) {
			// Claude Code writes timeouts as numbers of seconds.
			if v.kind == scalar && !v.quoted && isNumber(v.value) {
				seconds := *v
				seconds.value += "s"
				seconds.literal = false
				v = &seconds
			}
			p.duration(key+".timeout", v, &h.Timeout)
		},
		"command": func(v *node) {
			if v.kind == scalar {
				h.Command = []string{"sh", "-c", v.value}
			} else {
				h.Command = p.program(key+".command", v)
			}
		},
		"hooks": func(v *node) { below = v.items },
	}
	before := len(p.file.Problems)
	p.table(key, n, set)
	for i, item := range below {
		readHook(p, fmt.Sprintf("%s.hooks.%d", key, i), event, h.Matcher, item)
	}
	if len(h.Command) > 0 {
		p.def.Hooks = append(p.def.Hooks, h)
	} else if len(below) == 0 && n.kind == table && before == len(p.file.Problems) {
		p.wrong(n, failure, key, key+" has no command",
			"write a list of words, or a command line; it has "+alternatives(slices.Sorted(maps.Keys(set))))
	}
}

// checkMatcher checks the matcher of a hook.
func checkMatcher(p *reader, key, event, text string, n *node) {
	m, err := hook.ParseMatcher(text)
	if err != nil {
		severity := failure
		if p.file.loose(p.def) {
			severity = warning
		}
		p.wrong(n, severity, key, err.Error(), "write names with | between them, or a regular expression")
	}
	if event == string(hook.PreToolUse) || event == string(hook.PostToolUse) {
		for _, name := range m.Names() {
			p.names("matcher", key, name, n)
		}
	}
}
