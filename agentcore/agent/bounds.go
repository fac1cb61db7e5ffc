package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/spelling"
)

// bounding are the keys that restrict an agent, in the spellings of all formats. Losing one of them is an error, since
// its author does not want an agent that may do everything.
var bounding = []string{
	"tools", "disallowed_tools", "disallowedTools", "permissions", "permission", "permission_mode",
	"permissionMode", "rules",
}

// meant finds the restricting key of the definition's format for a word that is not a key of it: a key that the word
// spells in another way, or misspells. It is "" if there is none, or if the definition has that key. same says that the
// word is only another spelling.
func (p *decoder) meant(word string, special map[string]foreignKey) (key string, same bool) {
	var candidates []string
	add := func(key, native string) {
		if slices.Contains(bounding, native) && setters[native] != nil && p.root.get(key) == nil {
			candidates = append(candidates, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(special)) {
		add(key, special[key].native)
	}
	for _, name := range topKeys() {
		if _, ok := special[name]; !ok && (len(special) == 0 || p.mayBeNative(pair{key: name})) {
			add(name, name)
		}
	}
	for _, key := range candidates {
		native := cmp.Or(special[key].native, key)
		// Skills and commands call lists of tools allowed-tools, and other shapes call them AllowedTools.
		if foldKey(key) == foldKey(word) || native == "tools" && foldKey(word) == "allowedtools" {
			return key, true
		}
	}
	return spelling.Nearest(word, candidates), false
}

// example matches a part of a description that shows a conversation.
var example = lazyregexp.New(`(?s)<example>.*?</example>`)

// swallowed reports restricting keys that have become part of another key's value because their line is indented.
func (p *decoder) swallowed() {
	for _, pair := range p.root.pairs {
		key, value := pair.key, pair.value
		known := setters[key] != nil
		if _, ok := foreignKeys(p.file.Format)[key]; ok {
			known = true
		}
		if value.kind == table && !known {
			for _, below := range value.pairs {
				p.swallow(key, below.key, below.start, below.end, nil)
			}
		}
		if value.kind != scalar {
			continue
		}
		text := p.file.text.string[value.start:value.end]
		shown := example().ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
		at := value.start
		for i, line := range strings.SplitAfter(shown, "\n") {
			bare := strings.TrimLeft(line, " \t")
			if found := keyLine().FindString(bare); i > 0 && found != "" {
				start := at + len(line) - len(bare)
				word := strings.Trim(strings.TrimRight(found, ": \t\r\n"), `"'`)
				out := &edit{title: "Begin the line with " + word, start: at, end: start}
				if start == at || strings.ContainsAny(text[:1], `"'`) {
					out = nil
				}
				p.swallow(key, word, start, start+len(word), out)
			}
			at += len(line)
		}
	}
}

// swallow reports a key that stands in the value of another key, unless the definition also has the key itself.
func (p *decoder) swallow(key, word string, start, end int, fix *edit) {
	if !slices.Contains(bounding, word) || p.root.get(word) != nil {
		return
	}
	p.report(fault{
		start: start, end: end, severity: failure, key: word, fix: fix,
		message: fmt.Sprintf("this %s is part of the value of %s, and so the agent is without it", word, key),
		hint:    "begin the line with " + word + ", without blanks before it",
	})
}
