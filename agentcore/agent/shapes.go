package agent

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// shape is the form in which another tool writes a definition as a table of TOML or JSON. It is immutable.
type shape struct {
	// keys returns the keys of the shape, including the native keys that it has.
	keys func() map[string]foreignKey
	// complete sets what the definition leaves open.
	complete func(*reader)
	// format is the format of the tool's Markdown files, which rules and tables of tools follow, too; "" for our own.
	format Format
	// anyCase says that the case of letters does not count in keys, as in settings of .NET programs.
	anyCase bool
}

// cased returns a table with its keys spelt as the shape spells them, if the shape ignores the case of letters.
func (s *shape) cased(n *node) *node {
	if s == nil || !s.anyCase {
		return n
	}
	return n.spelt(slices.Sorted(maps.Keys(s.keys())))
}

// keysOf returns the keys of the shape; nil for our own.
func (s *shape) keysOf() map[string]foreignKey {
	if s == nil {
		return nil
	}
	return s.keys()
}

// The shapes. A role stands in {"AgentRoles": {"Roles": […]}} or has RoleId. A custom one stands in {"Agents":
// {"Custom": […]}} or has Slug. A profile stands in {"Agents": […]} or has Type or Name. Outside of these lists, each
// must have SystemPrompt or the model, too. A typed one has agent_type. A spec has systemPrompt, or lies in
// .claude/agents.
var (
	roleShape = &shape{
		keys: func() map[string]foreignKey { return roleKeys }, complete: completeRole,
		anyCase: true,
	}
	customShape = &shape{
		keys: func() map[string]foreignKey { return customKeys }, complete: completeCustom,
		anyCase: true,
	}
	profileShape  = &shape{keys: profileKeys, complete: completeProfile, anyCase: true}
	typedShape    = &shape{keys: typedKeys, complete: completeTyped}
	specShape     = &shape{keys: specKeys, complete: completeSpec, format: Claude}
	openCodeShape = &shape{
		keys: func() map[string]foreignKey { return openCodeKeys }, complete: completeSpec,
		format: OpenCode,
	}
)

// shapeOf finds the shape of a table that stands where our own tables do, by its keys or by the folder of the file.
func (f *File) shapeOf(n *node) *shape {
	home, _ := folderFormat(f.Path)
	switch {
	case n.get("agent_type") != nil, n.get("when_to_use") != nil:
		return typedShape
	case f.Format != JSON && f.Format != TOML:
		return nil
	case n.like("RoleId") != nil:
		return roleShape
	case n.like("Slug") != nil && (n.like("SystemPrompt") != nil || n.like("ModelId") != nil):
		return customShape
	case (n.get("Type") != nil || n.get("Name") != nil) && n.like("SystemPrompt") != nil:
		return profileShape
	case n.get("category") == nil && home == OpenCode:
		return openCodeShape
	case n.get("category") == nil && home == Claude, n.get("systemPrompt") != nil, n.get("system_prompt") != nil:
		return specShape
	}
	return nil
}

// format is the format in which the definition writes rules and tables of tools.
func (p *reader) format() Format {
	if p.shape != nil && p.shape.format != "" {
		return p.shape.format
	}
	return p.file.Format
}

// specKeys are the keys of an object with systemPrompt, and of the object that describes an agent to Claude Code. They
// are the native keys, also in JavaScript's spelling.
var specKeys = sync.OnceValue(func() map[string]foreignKey {
	keys := map[string]foreignKey{
		"systemPrompt":   {native: "prompt"},
		"system_prompt":  {native: "prompt"},
		"maxIterations":  {native: "max_turns"},
		"max_iterations": {native: "max_turns"},
	}
	for _, name := range topKeys() {
		keys[name], keys[camel(name)] = foreignKey{native: name}, foreignKey{native: name}
	}
	maps.Copy(keys, map[string]foreignKey{
		"permissionMode": claudeKeys["permissionMode"],
		"mode":           ignored("How it runs."),
	})
	return keys
})

// camel turns max_turns into maxTurns.
func camel(name string) string {
	parts := strings.Split(name, "_")
	for i, part := range parts[1:] {
		parts[i+1] = strings.ToUpper(part[:1]) + part[1:]
	}
	return strings.Join(parts, "")
}

// profileKeys are the keys in the list {"Agents": […]}: the keys of {"Agents": {"Custom": […]}}, and a few more.
var profileKeys = sync.OnceValue(func() map[string]foreignKey {
	keys := maps.Clone(customKeys)
	maps.Copy(keys, map[string]foreignKey{
		"Type":               {native: "name"},
		"Model":              {native: "model"},
		"Provider":           keys["ProviderId"],
		"ProviderKey":        keys["ProviderId"],
		"AllowedTools":       {native: "tools"},
		"DisallowedTools":    {native: "disallowed_tools"},
		"DefaultPermissions": {native: "permissions"},
	})
	return keys
})

// completeProfile sets what a profile leaves open. Its name for people may be its only name.
func completeProfile(p *reader) {
	if n := p.root.get("Name"); n != nil && p.root.get("Slug") == nil && p.root.get("Type") == nil {
		readName(p, n)
	}
	if p.def.Categories == nil && p.root.get("Type") != nil {
		p.def.Categories = []Category{Subagent} // it describes a type of subagents
	}
	completeRole(p)
}

// completeCustom sets what a custom agent leaves open: only the user starts it, unless it says otherwise.
func completeCustom(p *reader) {
	if p.def.Categories == nil {
		p.def.Categories = []Category{Primary}
	}
	completeRole(p)
}

// completeRole sets what a role leaves open, and what the shapes like it leave open.
func completeRole(p *reader) {
	d := p.def
	qualify(p)
	if d.Categories == nil {
		d.Categories = []Category{Primary, Subagent}
	}
	// In these shapes, only agents that say so may delegate.
	if p.delegates == nil {
		no := false
		p.delegates = &no
	}
	if d.Description == "" {
		d.Description = cmp.Or(d.Title, d.Slug)
	}
}

// qualify puts the provider before the model if the definition names it apart.
func qualify(p *reader) {
	d := p.def
	if p.provider == "" || d.Model == "" || strings.HasPrefix(d.Model, p.provider+"/") {
		return
	}
	d.Model = p.provider + "/" + d.Model
	for i := range p.file.named {
		if n := &p.file.named[i]; n.def == d && n.what == "model" {
			n.name = d.Model
		}
	}
}

// completeSpec sets what an object with one agent leaves open: its name is the file's name, and other agents start it.
func completeSpec(p *reader) {
	d := p.def
	if home, _ := folderFormat(p.file.Path); d.Slug == "" && (home == Claude || home == OpenCode) {
		d.Slug = Slug(stem(p.file.Path))
	}
	if d.Categories == nil {
		d.Categories = []Category{Subagent}
		if p.format() == OpenCode {
			d.Categories = []Category{Primary, Subagent}
		}
	}
}

// readSlug reads a name that must already be a slug.
func readSlug(p *reader, n *node) {
	if s, ok := p.string("Slug", n); ok {
		p.file.slugs[p.def] = place{n.start, n.end}
		if p.def.Slug = strings.TrimSpace(s); !validSlug(p.def.Slug) {
			reportName(p, "Slug", p.def.Slug, n)
		}
	}
}

// readFullName reads the name for people in a shape that requires it.
func readFullName(p *reader, n *node) {
	s, ok := p.string("Name", n)
	if p.def.Title = strings.TrimSpace(s); ok && p.def.Title == "" {
		p.wrong(n, failure, "Name", "Name is empty", "write a name for people")
	}
}

// connections are keys that say how to reach a model. No definition may do that here.
var connections = map[string]string{
	"apikey": "key", "apitoken": "key", "authtoken": "key", "apiurl": "address", "baseurl": "address",
	"apibase": "address", "endpoint": "address",
}

// connection reports a key or an address of a model's provider. Neither is taken from a definition, which anybody may
// have written. It returns false for any other key.
func (p *reader) connection(key string, pair pair) bool {
	what := connections[foldKey(pair.key)]
	hint := "write it as base_url of [providers.NAME] in your config.toml, and name the model as NAME/model"
	switch what {
	case "":
		return false
	case "key":
		hint = "take it out of the file; put it into the environment, as ANTHROPIC_API_KEY or what key_env of " +
			"[providers.NAME] in your config.toml names"
	}
	p.report(fault{
		start: pair.start, end: pair.end, severity: warning, key: key, hint: hint,
		message: key + " is left out: no definition has the " + what + " of a provider",
	})
	return true
}

// folderFormat tells by a path in which tool's folder of agents a file lies; ok is false if it lies in none.
func folderFormat(name string) (format Format, ok bool) {
	parts := strings.Split(path.Dir(slashed(name)), "/")
	for i := len(parts) - 1; i > 0; i-- {
		switch {
		case parts[i] == "agents" && parts[i-1] == ".claude":
			return Claude, true
		case (parts[i] == "agent" || parts[i] == "agents") && parts[i-1] == ".opencode":
			return OpenCode, true
		case parts[i] == "agents" &&
			(parts[i-1] == ".agentls" || parts[i-1] == "agentls" || i > 1 && parts[i-2] == "plugins"):
			return Native, true
		}
	}
	return "", false
}

// rememberName keeps a name that is no slug in the definition.
func rememberName(p *reader, s, slug string) {
	p.def.Slug = slug
	if s == "" || slug == "" || strings.ContainsFunc(s, unicode.IsControl) {
		return
	}
	if !slices.Contains(p.def.Aliases, s) {
		p.def.Aliases = append(p.def.Aliases, s)
	}
	p.def.Title = cmp.Or(p.def.Title, s)
}
