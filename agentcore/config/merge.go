package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/hook"
	"github.com/agentls/agentls/agentcore/permission"
)

// setDefault puts the default in the field of owner.
func (f *field) setDefault(owner any) {
	if f.shape != leaf {
		return
	}
	p := reflect.ValueOf(f.at(owner)).Elem()
	switch {
	case f.def != nil:
		p.Set(reflect.ValueOf(f.def).Convert(p.Type()))
	case p.Kind() == reflect.Map:
		p.Set(reflect.MakeMap(p.Type()))
	}
}

// keys returns the keys of an entry.
func (f *field) keys() []string {
	keys := make([]string, len(f.entries))
	for i := range f.entries {
		keys[i] = f.entries[i].key
	}
	return keys
}

// mergeEntry reads the keys of one entry into owner. It reports everything that is wrong, such as unknown keys, and
// returns the number of these problems.
func (l *loader) mergeEntry(f *field, key string, owner any, t table, at place) (wrong int) {
	seen := map[string]bool{}
	for _, e := range t {
		i := slices.IndexFunc(f.entries, func(x field) bool { return x.key == e.name })
		full := key + "." + quoteKey(e.name)
		if i < 0 {
			l.unknown(full, e.node.at, e.name, f.keys())
			wrong++
			continue
		}
		seen[e.name] = true
		if err := l.assignEntry(&f.entries[i], full, owner, e.node); err != nil {
			l.refuse(full, e.node.at, err)
			wrong++
			continue
		}
		if f.shape == named {
			l.setFrom(full, e.node.at)
		}
	}
	for i := range f.entries {
		if x := &f.entries[i]; x.required && !seen[x.key] {
			wrong++
			l.tell(SeverityError, key, at, x.key+" is missing", "")
		}
	}
	return wrong
}

// assignEntry assigns one key of an entry. Maps of strings, such as headers, merge name by name.
func (l *loader) assignEntry(f *field, key string, owner any, n node) error {
	m, ok := f.at(owner).(*map[string]string)
	if !ok {
		return f.assign(owner, n)
	}
	before := *m
	if err := f.assign(owner, n); err != nil {
		return err
	}
	merged := maps.Clone(before)
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, *m)
	*m = merged
	return nil
}

// mergeNamed merges a map of tables key by key: a layer that sets one key of an entry keeps the other keys of lower
// layers.
func mergeNamed[T any](l *loader, f *field, n node, m map[string]T) {
	t, ok := l.tableOf(f.key, n, "expected tables like ["+f.key+".NAME]")
	if !ok {
		return
	}
	for _, e := range t {
		key := f.key + "." + quoteKey(e.name)
		if !l.validName(key, e) {
			continue
		}
		inner, ok := l.tableOf(key, e.node, "expected a table")
		if !ok {
			continue
		}
		if l.taken(key, e.node.at) {
			continue
		}
		entry := m[e.name]
		if _, exists := m[e.name]; !exists {
			l.setFrom(key, e.node.at)
		}
		l.mergeEntry(f, key, &entry, inner, e.node.at)
		m[e.name] = entry
	}
}

// mergePrices merges [prices]. It leaves out a price without input or output, so that the model counts as one of
// unknown price, and not as cheaper than it is.
func (l *loader) mergePrices(f *field, n node) {
	mergeNamed(l, f, n, l.config.Prices)
	maps.DeleteFunc(l.config.Prices, func(_ string, p Price) bool { return p.Input == nil || p.Output == nil })
}

// validName refuses names that people could not tell apart.
func (l *loader) validName(key string, e entry) bool {
	if e.name == "" || printable(e.name) != nil {
		l.tell(SeverityError, key, e.node.at, "a name must not be empty, have control characters, or space around it",
			"")
		return false
	}
	return true
}

// mergeVariables merges prompt.variables name by name.
func (l *loader) mergeVariables(f *field, m map[string]string, n node) {
	t, ok := l.tableOf(f.key, n, "expected a table of strings")
	if !ok {
		return
	}
	for _, e := range t {
		key := f.key + "." + quoteKey(e.name)
		text, err := f.text(e.node)
		if err != nil {
			l.refuse(key, e.node.at, err)
			continue
		}
		if l.taken(key, e.node.at) {
			continue
		}
		m[e.name] = text
		l.setFrom(key, e.node.at)
	}
}

// list returns the tables of a list of tables; a single table counts as a list of one.
func (l *loader) list(key string, n node) []node {
	switch n = l.structured(key, n); v := n.value.(type) {
	case nil:
		return nil
	case []node:
		return v
	case table:
		return []node{n}
	}
	l.tell(SeverityError, key, n.at, "expected a list of tables, found "+n.describe(), "write [["+key+"]]")
	return nil
}

// mergePermissions appends rules. A rule with an error must never allow more than its author wanted: an allowing rule
// is dropped. Any other rule keeps its action, or denies if the action itself could not be read.
func (l *loader) mergePermissions(f *field, n node) {
	for _, element := range l.list(f.key, n) {
		key := fmt.Sprintf("%s[%d]", f.key, len(l.config.Permissions))
		t, ok := l.tableOf(key, element, "expected a table")
		if !ok {
			continue
		}
		var p Permission
		if l.mergeEntry(f, key, &p, t, element.at) > 0 {
			if p.Tool == "" || p.Action == permission.Allow {
				l.tell(SeverityError, key, element.at, "this rule is not used", "correct the problems above")
				continue
			}
			if p.Action == "" {
				p.Action = permission.Deny
			}
			l.tell(SeverityWarning, key, element.at,
				fmt.Sprintf("until this is corrected the rule is taken as %s %s(%s)", p.Action, p.Tool, p.Pattern), "")
		}
		if l.origin.Layer == LayerProject && p.Action == permission.Allow {
			l.tell(SeverityWarning, key, element.at, "ignored: a project may not allow anything",
				"put the rule in your own config.toml")
			continue
		}
		p.Origin = l.setFrom(key, element.at)
		l.config.Permissions = append(l.config.Permissions, p)
	}
}

// mergeHooks appends hooks, so that no layer can remove the hooks of another.
func (l *loader) mergeHooks(f *field, n node) {
	events, ok := l.tableOf(f.key, n, "expected lists like [[hooks.PreToolUse]]")
	if !ok {
		return
	}
	for _, e := range events {
		if !slices.Contains(f.names, e.name) {
			l.unknown(f.key+"."+quoteKey(e.name), e.node.at, e.name, f.names)
			continue
		}
		for _, element := range l.list(f.key+"."+e.name, e.node) {
			key := fmt.Sprintf("%s.%s[%d]", f.key, e.name, len(l.config.Hooks[e.name]))
			t, ok := l.tableOf(key, element, "expected a table")
			if !ok {
				continue
			}
			var h Hook
			for i := range f.entries {
				f.entries[i].setDefault(&h)
			}
			l.mergeEntry(f, key, &h, t, element.at)
			if len(h.Command) == 0 {
				continue // reported above
			}
			if !l.matches(key, e.name, &h, t) {
				continue
			}
			h.Origin = l.setFrom(key, element.at)
			l.config.Hooks[e.name] = append(l.config.Hooks[e.name], h)
		}
	}
}

// matches checks the matcher of a hook. A hook whose matcher is broken is left out, unless it may block agents: then it
// counts for all calls.
func (l *loader) matches(key, event string, h *Hook, t table) bool {
	_, err := hook.ParseMatcher(h.Matcher)
	if err == nil {
		return true
	}
	for _, e := range t {
		if e.name == "matcher" {
			l.refuse(key+".matcher", e.node.at, err)
		}
	}
	h.Matcher = ""
	return event == string(hook.PreToolUse)
}

// mergeMCP sets whole servers. If servers were merged key by key, a project could send a user's headers to its own
// address.
func (l *loader) mergeMCP(f *field, n node) {
	t, ok := l.tableOf(f.key, n, "expected tables like [mcp.NAME]")
	if !ok {
		return
	}
	for _, e := range t {
		key := f.key + "." + quoteKey(e.name)
		if !l.validName(key, e) {
			continue
		}
		if l.taken(key, e.node.at) {
			continue
		}
		if _, exists := l.config.MCP[e.name]; exists && l.origin.Layer == LayerProject {
			// The user's rules and grants for his server's tools must not count for another server with that name.
			l.tell(SeverityWarning, key, e.node.at, "ignored: you have a server of this name",
				"give the project's server another name")
			continue
		}
		inner, ok := l.tableOf(key, e.node, "expected a table")
		if !ok {
			continue
		}
		before := maps.Clone(l.config.origins)
		maps.DeleteFunc(l.config.origins, func(k string, _ Origin) bool { return strings.HasPrefix(k, key+".") })
		var server MCPServer
		count := l.count
		l.mergeEntry(f, key, &server, inner, e.node.at)
		if (server.Command == "") == (server.URL == "") {
			if l.count == count {
				l.tell(SeverityError, key, e.node.at, "a server has either command or url", "")
			}
			l.config.origins = before
			continue
		}
		server.Origin = l.setFrom(key, e.node.at)
		l.config.MCP[e.name] = server
	}
}
