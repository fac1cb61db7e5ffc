package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/spelling"
)

// jsonReader turns JSON into nodes. It keeps what precedes a fault.
type jsonReader struct {
	text    string
	decoder *json.Decoder
	nodes   int
}

// readJSON reads one JSON value. If the text is not valid, the node is what was read before the fault, or nil.
func readJSON(s string) (*node, *fault) {
	r := &jsonReader{text: s}
	r.decoder = json.NewDecoder(strings.NewReader(s))
	r.decoder.UseNumber()
	n, err := r.value(0)
	if err == nil {
		at := int(r.decoder.InputOffset())
		if rest := strings.TrimLeft(s[at:], " \t\r\n"); rest != "" {
			at = len(s) - len(rest)
			return n, &fault{
				start: at, end: len(s), severity: failure, message: "there is text behind the value",
				hint: "a file is one JSON value",
			}
		}
		return n, nil
	}
	at := int(r.decoder.InputOffset())
	message := "this is not valid JSON: " + err.Error()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = max(at, int(syntax.Offset)-1)
	} else if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		at, message = len(s), "this is not valid JSON: it ends too early"
	}
	at = min(max(at, 0), len(s))
	return n, &fault{
		start: at, end: min(at+1, len(s)), severity: failure, message: message,
		hint: "what stands before it is read; mend this place to have the rest",
	}
}

// withoutComments replaces comments, and commas behind a last element, by blanks, since settings files may have them.
// All offsets stay the same.
func withoutComments(s string) string {
	b := []byte(s)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if b[i] != '\n' && b[i] != '\r' {
				b[i] = ' '
			}
		}
	}
	comma := -1 // the last comma, if nothing follows it so far
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			comma = -1
		case strings.HasPrefix(s[i:], "//"):
			line, _, _ := strings.Cut(s[i:], "\n")
			blank(i, i+len(line))
			i += len(line) - 1
		case strings.HasPrefix(s[i:], "/*"):
			inside, _, closed := strings.Cut(s[i+2:], "*/")
			if !closed {
				return string(b) // the comment has no end, so that the text is no JSON
			}
			blank(i, i+len(inside)+4)
			i += len(inside) + 3
		case b[i] == ',':
			comma = i
		case (b[i] == '}' || b[i] == ']') && comma >= 0:
			b[comma], comma = ' ', -1
		case strings.IndexByte(" \t\r\n", b[i]) < 0:
			comma = -1
		}
	}
	return string(b)
}

// start is the byte offset of the next token.
func (r *jsonReader) start() int {
	at := int(r.decoder.InputOffset())
	for at < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[at]) >= 0 {
		at++
	}
	return at
}

func (r *jsonReader) value(depth int) (*node, error) {
	if r.nodes++; r.nodes > maxNodes || depth > maxNested {
		return nil, errTooLarge
	}
	n := &node{start: r.start()}
	token, err := r.decoder.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case nil:
		n.kind = null
	case string:
		n.kind, n.value, n.quoted = scalar, v, true
	case json.Number:
		n.kind, n.value, n.literal = scalar, v.String(), true
	case bool:
		n.kind, n.value, n.literal = scalar, fmt.Sprint(v), true
	case json.Delim:
		if v == '[' {
			n.kind = list
		} else {
			n.kind = table
		}
		err = r.below(n, depth)
		n.cut = err != nil
	}
	n.end = int(r.decoder.InputOffset())
	return n, err
}

// below reads the contents of a list or an object, with its end.
func (r *jsonReader) below(n *node, depth int) error {
	for r.decoder.More() {
		at := r.start()
		if n.kind == list {
			item, err := r.value(depth + 1)
			if err != nil {
				if item != nil && item.kind != scalar {
					n.items = append(n.items, item)
				}
				return err
			}
			n.items = append(n.items, item)
			continue
		}
		token, err := r.decoder.Token()
		if err != nil {
			return err
		}
		key, ok := token.(string)
		if !ok {
			return errors.New("a key is not a text")
		}
		end := int(r.decoder.InputOffset())
		value, err := r.value(depth + 1)
		if value != nil {
			n.pairs = append(n.pairs, pair{key: key, start: at, end: end, value: value})
		}
		if err != nil {
			return err
		}
	}
	_, err := r.decoder.Token()
	return err
}

// parseJSON reads JSON in any of its shapes.
func (f *File) parseJSON() {
	root, bad := readJSON(withoutComments(withoutMark(f.text.string)))
	if bad != nil {
		defer f.report(*bad)
	}
	if root == nil {
		return
	}
	if root.kind == list {
		f.jsonAgents(root, nil)
		return
	}
	if root.kind != table {
		f.report(fault{
			start: root.start, end: root.end, severity: failure, message: "this is no JSON object",
			hint: `write {"agents": […]}`,
		})
		return
	}
	others := slices.DeleteFunc(slices.Clone(root.pairs), f.jsonKey)
	switch {
	case len(others) < len(root.pairs):
		for _, pair := range others {
			if pair.key != "$schema" && !f.isSettings() {
				f.report(fault{
					start: pair.start, end: pair.end, severity: information, key: pair.key,
					message: "agentls does not use the key " + short(pair.key) + " of this file",
					hint:    "definitions are in agents",
				})
			}
		}
	case f.isOne(root):
		f.definition(root, nil)
	case f.holds(root, customConfiguration):
		f.shapedAgents(root, customConfiguration)
	case f.holds(root, roleConfiguration):
		f.shapedAgents(root, roleConfiguration)
	case isNamed(root):
		f.jsonAgents(root, specShape)
	case bad == nil:
		f.noAgents(root)
	}
}

// jsonKey reads the definitions below a key at the top level. It reports whether the key can have any.
func (f *File) jsonKey(pair pair) bool {
	switch {
	case strings.EqualFold(pair.key, "agents") && pair.value.kind == table && pair.value.like("Custom") != nil &&
		pair.value.like("Custom").kind == list:
		f.shapedAgents(pair.value, customConfiguration)
	case pair.key == "agents":
		f.jsonAgents(pair.value, nil)
	case pair.key == "agent" && pair.value.kind == table:
		f.jsonAgents(pair.value, openCodeShape)
	case strings.EqualFold(pair.key, "AgentRoles"):
		f.shapedAgents(pair.value, roleConfiguration)
	case pair.key == "Agents" && pair.value.kind == list:
		f.jsonAgents(pair.value, profileShape)
	case pair.key == "Agents":
		f.shapedAgents(pair.value, customConfiguration)
	default:
		return false
	}
	return true
}

// isSettings reports whether the file is a settings file, which has definitions among other things.
func (f *File) isSettings() bool { return path.Base(slashed(f.Path)) == appSettings }

// isOne reports whether a table at the top of a text is one definition.
func (f *File) isOne(root *node) bool {
	for _, key := range []string{"name", "prompt", "agent_type", "systemPrompt", "system_prompt"} {
		if root.get(key) != nil {
			return true
		}
	}
	return slices.Contains([]*shape{profileShape, customShape, roleShape}, f.shapeOf(root))
}

// isNamed reports whether an object maps names to agents.
func isNamed(root *node) bool {
	return len(root.pairs) > 0 && !slices.ContainsFunc(root.pairs, func(p pair) bool {
		return p.value.kind != table || p.value.get("prompt") == nil && p.value.get("systemPrompt") == nil
	})
}

// noAgents reports an object without agents. This is no error in places where other files may lie.
func (f *File) noAgents(root *node) {
	known := []string{"agents", "AgentRoles", "Agents"}
	hint := `write {"agents": […]}`
	for _, pair := range root.pairs {
		if near := spelling.Nearest(pair.key, known); near != "" {
			hint = fmt.Sprintf("did you mean %s, not %s?", near, short(pair.key))
		}
	}
	severity := failure
	if home, _ := folderFormat(f.Path); home == Claude || home == OpenCode || f.isSettings() {
		severity = information
	}
	f.report(fault{
		start: root.start, end: root.end, severity: severity,
		message: "there are no agents in this object", hint: hint,
	})
}

// jsonAgents reads a list of definitions, or an object that maps names to definitions.
func (f *File) jsonAgents(n *node, s *shape) {
	switch n.kind {
	case list:
		for _, item := range n.items {
			f.definition(item, s)
		}
	case table:
		for _, named := range n.pairs {
			item := *named.value
			if item.kind == table && item.get("name") == nil {
				name := &node{kind: scalar, start: named.start, end: named.end, value: named.key, quoted: true}
				item.pairs = append([]pair{{key: "name", start: named.start, end: named.end, value: name}},
					item.pairs...)
			}
			f.definition(&item, s)
		}
	default:
		f.report(fault{
			start: n.start, end: n.end, severity: failure, key: "agents", message: "agents is no list",
			hint: `write "agents": […]`,
		})
	}
}

// configuration is an object of another tool's settings that contains definitions.
type configuration struct {
	name   string // the key of the list of definitions
	shape  *shape
	others []string // the keys beside that key
}

var (
	customConfiguration = configuration{"Custom", customShape, []string{"DefaultAgentSlug", "GlobalPromptVariables"}}
	roleConfiguration   = configuration{
		"Roles", roleShape,
		[]string{"MaxDepth", "DefaultMaxIterations", "DefaultMaxDurationMs"},
	}
)

// holds reports whether an object at the top of a text is such a configuration. The key alone does not tell it, since
// other files have lists of these names, too.
func (f *File) holds(n *node, of configuration) bool {
	list := n.like(of.name)
	return list != nil &&
		slices.ContainsFunc(list.items,
			func(item *node) bool { return item.kind == table && f.shapeOf(item) == of.shape })
}

// shapedAgents reads the list of definitions in a configuration of another tool.
func (f *File) shapedAgents(n *node, of configuration) {
	name, s, others := of.name, of.shape, of.others
	known := append([]string{name}, others...)
	n = n.spelt(known)
	if n.kind != table || n.get(name) == nil || n.get(name).kind != list {
		f.report(fault{
			start: n.start, end: n.end, severity: failure, key: name, message: "there is no list " + name,
			hint: "write the definitions as " + name,
		})
		return
	}
	for _, pair := range n.pairs {
		switch {
		case pair.key == name || pair.key == "DefaultMaxIterations" || pair.key == "DefaultMaxDurationMs" ||
			pair.key == "GlobalPromptVariables":
		case slices.Contains(others, pair.key):
			f.report(fault{
				start: pair.start, end: pair.end, severity: information, key: pair.key,
				message: "agentls does not use " + pair.key + " of this file",
				hint:    "set max_depth or default_agent in config.toml",
			})
		default:
			f.report(fault{
				start: pair.start, end: pair.end, severity: information, key: pair.key,
				message: "agentls does not know the key " + short(pair.key),
				hint:    "the keys are " + strings.Join(known, ", "),
			})
		}
	}
	for _, item := range n.get(name).items {
		f.shapedAgent(item, n, s)
	}
}

// shapedAgent reads one definition, after the defaults beside the list are written into it.
func (f *File) shapedAgent(item, around *node, s *shape) {
	own := *item
	if item.kind == table {
		for _, d := range [][2]string{
			{"DefaultMaxIterations", "MaxIterations"},
			{"DefaultMaxDurationMs", "MaxDurationMs"},
			{"GlobalPromptVariables", "PromptVariables"},
		} {
			value := around.get(d[0])
			if _, known := s.keys()[d[1]]; !known || value == nil {
				continue
			}
			if mine := item.get(d[1]); mine == nil {
				own.pairs = append(slices.Clone(own.pairs),
					pair{key: d[1], start: item.start, end: item.start, value: value})
			} else if mine.kind == table && value.kind == table {
				both := *mine
				both.pairs = append(slices.Clone(value.pairs), mine.pairs...)
				both.pairs = slices.DeleteFunc(both.pairs, func(p pair) bool { return p.value != both.get(p.key) })
				own.pairs = slices.Clone(own.pairs)
				for i := range own.pairs {
					if own.pairs[i].value == mine {
						own.pairs[i].value = &both
					}
				}
			}
		}
	}
	f.definition(&own, s)
}

// MarshalJSON writes a definition with the keys of the native format, so that ParseAs with JSON reads back everything
// except Source.
func (d *Definition) MarshalJSON() ([]byte, error) {
	w := definitionJSON{
		identityJSON: identityJSON{d.Slug, d.ID, d.Title, d.Description, d.Categories},
		Mode:         d.Mode, Model: d.Model, Temperature: d.Temperature, MaxTokens: d.MaxTokens,
		Effort:     d.Effort,
		limitsJSON: limitsOf(d.Limits), Tools: optional(d.Tools), Disallowed: d.DisallowedTools,
		Subagents: optional(d.Subagents), Permissions: d.Permissions, PermissionMode: d.PermissionMode,
		Context: d.ContextMode, Instructions: d.Instructions, Reminder: d.Reminder, Skills: d.Skills,
		Aliases:    d.Aliases,
		looksJSON:  looksJSON{Icon: d.Icon, Color: d.Color, Order: d.Order},
		promptJSON: promptJSON{Prompt: d.Prompt, PromptFile: d.PromptFile, Variables: d.Variables},
	}
	w.programJSON = programJSON{
		Engine: d.Engine, Command: d.Program.Command, Env: d.Program.Env, Mode: d.Program.Mode,
		Network: d.Program.Network,
	}
	if len(d.Program.Reads)+len(d.Program.Writes) > 0 {
		w.Home = &homeJSON{d.Program.Reads, d.Program.Writes}
	}
	no := false
	if d.Unlisted {
		w.Visible = &no
	}
	if d.NoDefaultPrefix {
		w.DefaultPrefix = &no
	}
	child := childJSON{limitsOf(d.AsChild.Limits), optional(d.AsChild.Subagents), d.AsChild.Agent}
	if child != (childJSON{}) {
		w.AsChild = &child
	}
	for _, rule := range d.Rules {
		w.Rules = append(w.Rules, ruleJSON{Tool: rule.Tool, Pattern: rule.Pattern, Action: string(rule.Action)})
	}
	for _, name := range slices.Sorted(maps.Keys(d.ToolOptions)) {
		if w.ToolOptions == nil {
			w.ToolOptions = map[string]toolOptionsJSON{}
		}
		o := d.ToolOptions[name]
		w.ToolOptions[name] = toolOptionsJSON{o.OutputLimit, durationText(o.Timeout), o.Arguments}
	}
	for _, s := range d.MCPServers {
		server := serverJSON{Env: s.Env, URL: s.URL, Headers: s.Headers}
		if len(s.Command) > 0 {
			server.Command, server.Args = s.Command[0], s.Command[1:]
		}
		one := map[string]*serverJSON{s.Name: &server}
		if server.Command == "" && server.URL == "" {
			one[s.Name] = nil
		}
		w.MCPServers = append(w.MCPServers, one)
	}
	for _, h := range d.Hooks {
		if w.Hooks == nil {
			w.Hooks = map[string][]hookJSON{}
		}
		w.Hooks[h.Event] = append(w.Hooks[h.Event], hookJSON{h.Matcher, h.Command, durationText(h.Timeout)})
	}
	text, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("write the agent %s as JSON: %w", d.Slug, err)
	}
	return text, nil
}

// optional keeps nil and an empty list apart.
func optional(list []string) *[]string {
	if list == nil {
		return nil
	}
	return &list
}
