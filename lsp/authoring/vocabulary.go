package authoring

import (
	"maps"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/hook"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/tool"
)

// Vocabulary is what definitions and settings may name at one moment. It is an immutable snapshot, which any goroutine
// may read.
type Vocabulary struct {
	Registry *agent.Registry
	Skills   *skill.Set
	Config   *config.Config
	// Usable is what definitions may use with a configuration besides skills and other agents: tools and models. Some
	// models come and go with keys and with what the editor lends.
	Usable func(*config.Config) agent.Known
	// Imports returns the files that a file with instructions gets by one of its imports. Matches reports whether a
	// glob of its frontmatter matches any file. They are nil where nothing is known of other files. They read the disk.
	Imports func(path string, i instruction.Import) instruction.Set
	Matches func(path string, g instruction.Glob) bool
}

// Known is the vocabulary in the form that the validation of definitions takes.
func (v *Vocabulary) Known() agent.Known {
	known := v.Usable(v.Config)
	known.Skills, known.Agents, known.Registry = v.Skills.Names(), v.Registry.Names(), v.Registry
	return known
}

// word is something that can be named, with what it is.
type word struct{ name, detail, doc string }

// words are the names that a key with this value of agent.KeyInfo.Names can have as values.
func (v *Vocabulary) words(kind string) []word {
	var list []word
	switch kind {
	case "tool":
		list = append(list, word{"*", "all tools", ""})
		described := map[string]string{}
		for _, t := range tool.Builtin() {
			described[tool.Brief(t).Name] = tool.Brief(t).Description
		}
		for name := range tool.Names() {
			w := word{name, "tool", described[name]}
			if w.doc == "" {
				w.doc = "Not in this version yet."
			}
			list = append(list, w)
		}
	case "agent":
		for _, d := range v.Registry.All() {
			if !d.Is(agent.Hidden) {
				list = append(list, word{d.Slug, d.Title, d.Description})
			}
		}
	case "skill":
		for _, name := range v.Skills.Names() {
			if s, err := v.Skills.Find(name); err == nil {
				list = append(list, word{name, "skill", s.Description})
			}
		}
	case "model":
		list = append(list, word{"inherit", "model", "The model of the run that starts it."})
		for _, name := range slices.Sorted(maps.Keys(v.Config.Presets)) {
			list = append(list, word{name, "preset", "Model: " + v.Config.Presets[name].Model})
		}
		for _, name := range slices.Sorted(maps.Keys(v.Config.Providers)) {
			for _, m := range v.Config.Providers[name].Models {
				list = append(list, word{name + "/" + m, "model", ""})
			}
		}
	}
	return list
}

// keyDoc describes a key, of any kind of document.
type keyDoc struct {
	// path has "*" in the place of a name or an index that the user chooses.
	path               []string
	typ, standard, doc string
	values             []string
	// names says what the values name (agent.KeyInfo.Names).
	names    string
	requires bool
}

// segments are the parts of a path; each "[]" behind a key becomes an index of its own.
func segments(path []string) []string {
	var list []string
	for _, k := range path {
		name, isList := strings.CutSuffix(k, "[]")
		list = append(list, name)
		if isList {
			list = append(list, "0")
		}
	}
	return list
}

// keys are the keys that a document of this kind may have.
func (t *Sheet) keys() []keyDoc {
	switch {
	case t.isConfig():
		return configKeys()
	case t.kind == Skill:
		return skillKeys
	case t.kind == Instructions:
		return t.instructionKeys()
	case t.kind == Conversation:
		return conversationKeys
	}
	var list []keyDoc
	for _, k := range agent.KeysOf(t.format) {
		list = append(list, eachEvent(docOf(k))...)
	}
	return list
}

// eachEvent returns a key of hooks once for each event, and any other key as it is.
func eachEvent(k keyDoc) []keyDoc {
	if len(k.path) < 2 || k.path[0] != "hooks" {
		return []keyDoc{k}
	}
	var list []keyDoc
	for _, name := range hook.Events() {
		one := k
		one.path = slices.Clone(k.path)
		one.path[1] = name
		list = append(list, keyDoc{path: one.path[:2:2], typ: "list", doc: hook.Event(name).Doc()}, one)
	}
	return list
}

func docOf(k agent.KeyInfo) keyDoc {
	return keyDoc{
		path: strings.Split(k.Name, "."), typ: k.Type, doc: k.Doc, values: k.Values, names: k.Names,
		requires: k.Required,
	}
}

// configNames says for some keys of the configuration what their values name.
var configNames = map[string]string{
	"default_agent": "agent", "default_model": "model", "presets.NAME.model": "model", "permission[].tool": "tool",
}

func configKeys() []keyDoc {
	var list []keyDoc
	for k := range config.Keys() {
		d := keyDoc{typ: k.Type, standard: k.Default, doc: k.Doc, values: k.Values, names: configNames[k.Name]}
		for _, part := range strings.Split(k.Name, ".") {
			name, isList := strings.CutSuffix(part, "[]")
			if name == strings.ToUpper(name) {
				name = "*"
			}
			d.path = append(d.path, name)
			if isList {
				d.path = append(d.path, "*")
			}
		}
		list = append(list, eachEvent(d)...)
	}
	return list
}

// skillKeys are the members of a SKILL.md's frontmatter (Agent Skills specification, "Frontmatter").
var skillKeys = []keyDoc{
	{
		path: []string{"name"}, typ: "string", requires: true,
		doc: "The skill's name, that of its folder: lower-case letters, digits and hyphens, at most 64.",
	},
	{
		path: []string{"description"}, typ: "string", requires: true,
		doc: "What the skill does and when to use it, at most 1024 characters. Agents choose by it.",
	},
	{path: []string{"license"}, typ: "string", doc: "The licence, by its name or the file that holds it."},
	{path: []string{"compatibility"}, typ: "string", doc: "What the skill needs: programs, packages, the network."},
	{
		path: []string{"allowed-tools"}, typ: "strings", names: "tool",
		doc: "The tools that the skill expects to need. They give no permission.",
	},
	{path: []string{"metadata"}, typ: "table", doc: "Anything else, by name."},
}

// matches reports whether the key's path begins with these segments.
func (k *keyDoc) matches(at []string) bool {
	return len(k.path) >= len(at) &&
		slices.EqualFunc(k.path[:len(at)], at, func(known, part string) bool { return known == "*" || known == part })
}

// find returns the description of the key with a path in the document.
func (t *Sheet) find(path []string) (keyDoc, bool) {
	path, ok := t.inDefinition(path)
	if !ok || len(path) == 0 {
		return keyDoc{}, false
	}
	at := segments(path)
	if t.kind == Definition {
		k, ok := agent.KeyFor(t.format, strings.Join(at, "."))
		return docOf(k), ok
	}
	for ; len(at) > 0; at = at[:len(at)-1] {
		for _, k := range t.keys() {
			if len(k.path) == len(at) && k.matches(at) {
				return k, true
			}
		}
		if at[len(at)-1] != "0" {
			break
		}
	}
	return keyDoc{}, false
}

// below are the keys that a table may have, by the path of the table. A table without a description of its own gets an
// empty one. A key's name is "*" where the user chooses it.
func (t *Sheet) below(path []string) []keyDoc {
	path, ok := t.inDefinition(path)
	if !ok {
		return nil
	}
	at := segments(path)
	var list []keyDoc
	for _, k := range t.keys() {
		if len(k.path) <= len(at) || !k.matches(at) {
			continue
		}
		i := slices.IndexFunc(list, func(l keyDoc) bool { return l.name() == k.path[len(at)] })
		switch {
		case len(k.path) == len(at)+1 && i < 0:
			list = append(list, k)
		case len(k.path) == len(at)+1:
			list[i] = k
		case i < 0:
			list = append(list, keyDoc{path: k.path[:len(at)+1], typ: "table"})
		}
	}
	return list
}

func (k *keyDoc) name() string { return k.path[len(k.path)-1] }
