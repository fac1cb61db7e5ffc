package authoring

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/lsp/outline"
)

// Triggers are the characters behind which a client asks for completion by itself. Only a client that can select our
// files among others gets these triggers, since any other client would ask at each space of every document.
func Triggers() []string { return []string{" ", ",", "[", "{", "\"", "/", "."} }

// PromptTriggers are those of conversations: what begins and parts the name of a file or a prompt, and the space in
// front of a setting.
func PromptTriggers() []string { return []string{"@", "/", ".", "\"", " "} }

// Complete returns what can stand at a position: keys, what the values can name, and the variables of prompts. describe
// gives a text in Markdown the form that the client shows.
func (t *Sheet) Complete(
	v *Vocabulary, p protocol.Position, describe func(markdown string) *protocol.MarkupContent,
) *protocol.CompletionList {
	list := &protocol.CompletionList{Items: []protocol.CompletionItem{}}
	for i, c := range t.candidates(v, t.encoding.Offset(t.index, p)) {
		list.Items = append(list.Items, c.item(i, t.between(c.replaces), describe))
	}
	return list
}

// candidate is one thing to offer.
type candidate struct {
	word
	kind     protocol.CompletionItemKind
	replaces outline.Span
	insert   string
}

// item gives a candidate the form of the protocol; i is its place in the list, which keeps the order.
func (c *candidate) item(i int, r protocol.Range,
	describe func(string) *protocol.MarkupContent,
) protocol.CompletionItem {
	item := protocol.CompletionItem{
		Label: c.name, Kind: c.kind, SortText: protocol.NewOptional(fmt.Sprintf("%04d", i)),
		TextEdit: &protocol.TextEdit{Range: r, NewText: c.insert},
	}
	if c.insert != c.name {
		item.FilterText = protocol.NewOptional(strings.TrimRight(c.insert, ":= \""))
	}
	if c.detail != "" {
		item.Detail = protocol.NewOptional(c.detail)
	}
	if c.doc != "" {
		item.Documentation = describe(c.doc)
	}
	return item
}

// candidates are what can stand at the offset.
func (t *Sheet) candidates(v *Vocabulary, offset int) []candidate {
	place := t.outline.At(offset)
	if list, inside := t.completeVariable(v, place, offset); inside {
		return list
	}
	switch place.Kind {
	case outline.Key:
		return t.completeKey(v, place)
	case outline.Value:
		return t.completeValue(v, place)
	case outline.Header:
		return t.completeHeader(place)
	}
	return nil
}

// completeVariable completes the names of a template's variables; inside says that the place is in a tag of a template.
func (t *Sheet) completeVariable(v *Vocabulary, place outline.Place, offset int) (list []candidate, inside bool) {
	if !t.inTag(place, offset) {
		return nil, false
	}
	replaces := t.nameAt(offset)
	for _, w := range t.variables(v) {
		list = append(list, candidate{w, protocol.CompletionItemKindVariable, replaces, w.name})
	}
	return list, true
}

func isName(c byte) bool {
	return c == '_' || c == '-' || c == '/' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// nameAt is the part of the text with the variable's name around an offset.
func (t *Sheet) nameAt(offset int) outline.Span {
	w := outline.Span{Start: offset, End: offset}
	for w.Start > 0 && isName(t.outline.Text[w.Start-1]) {
		w.Start--
	}
	for w.End < len(t.outline.Text) && isName(t.outline.Text[w.End]) {
		w.End++
	}
	if w.Start < offset && t.outline.Text[w.Start] == '/' {
		w.Start++ // the slash belongs to {{/if}}
	}
	return w
}

// inTag reports whether the offset is in a tag of a prompt's template, even if the tag is not closed yet.
func (t *Sheet) inTag(place outline.Place, offset int) bool {
	if t.kind != Definition {
		return false
	}
	if place.Kind != outline.Body && (len(place.Path) == 0 || place.Path[len(place.Path)-1] != "prompt") {
		return false
	}
	line := t.outline.Text[strings.LastIndexByte(t.outline.Text[:offset], '\n')+1 : offset]
	open := strings.LastIndex(line, "{{")
	return open >= 0 && !strings.Contains(line[open:], "}}") && (open == 0 || line[open-1] != '\\')
}

// variables are the variables that the prompts of the document can use.
func (t *Sheet) variables(v *Vocabulary) []word {
	var list []word
	for _, n := range t.outline.Nodes {
		if path, _ := t.inDefinition(n.Path); len(path) == 2 && path[0] == "variables" {
			list = append(list, word{path[1], "of this definition", n.Value.In(t.outline.Text)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.Config.PromptVariables)) {
		list = append(list, word{name, "of the configuration", v.Config.PromptVariables[name]})
	}
	for _, b := range agent.Builtins {
		list = append(list, word{b.Name, "built in", b.Doc})
	}
	return list
}

// completeKey completes the name of a key. Names that the user chooses are completed from what they can name.
func (t *Sheet) completeKey(v *Vocabulary, place outline.Place) []candidate {
	var list []candidate
	add := func(w word, typ string) {
		if slices.Contains(place.Taken, w.name) {
			return
		}
		list = append(list,
			candidate{w, protocol.CompletionItemKindProperty, place.Word, t.insertKey(place, w.name, typ)})
	}
	above, _ := t.find(place.Path)
	for _, k := range t.below(place.Path) {
		switch {
		case k.name() != "*":
			add(word{k.name(), k.typ, k.text()}, k.typ)
		case k.names != "":
			for _, w := range v.words(k.names) {
				add(w, k.typ)
			}
		}
	}
	// A list of names may also be written as a map, or with each element on a line of its own.
	if len(list) == 0 && above.names != "" && above.typ != "table" {
		for _, w := range v.words(above.names) {
			list = append(list, candidate{w, protocol.CompletionItemKindValue, place.Word, "- " + w.name})
		}
	}
	return list
}

// insertKey is the text to insert for a key, with the separator behind it unless the document has it already.
func (t *Sheet) insertKey(place outline.Place, name, typ string) string {
	rest := strings.TrimLeft(strings.TrimPrefix(t.outline.Text[place.Word.End:], `"`), " \t")
	colon, equals := strings.HasPrefix(rest, ":"), strings.HasPrefix(rest, "=")
	switch {
	case place.Quoted || colon || equals:
		return name
	case t.format == agent.JSON:
		return `"` + name + `": `
	case t.isConfig() || t.format == agent.TOML:
		return name + " = "
	case typ == "table" || typ == "list":
		return name + ":"
	}
	return name + ": "
}

// completeValue completes a value, or an element of a list.
func (t *Sheet) completeValue(v *Vocabulary, place outline.Place) []candidate {
	k, known := t.find(place.Path)
	if !known {
		return nil
	}
	var words []word
	for _, value := range k.values {
		words = append(words, word{value, "", ""})
	}
	if k.typ == "boolean" {
		words = append(words, word{"true", "", ""}, word{"false", "", ""})
	}
	words = append(words, v.words(k.names)...)
	var list []candidate
	for _, w := range words {
		insert := w.name
		quotes := (t.isConfig() || t.format == agent.TOML || t.format == agent.JSON) &&
			k.typ != "boolean" || insert == "*"
		if quotes && !place.Quoted {
			insert = `"` + insert + `"`
		}
		list = append(list, candidate{w, protocol.CompletionItemKindValue, place.Word, insert})
	}
	return list
}

// completeHeader completes the name of a table.
func (t *Sheet) completeHeader(place outline.Place) []candidate {
	if !t.isConfig() {
		return []candidate{{
			word{"agents", "table", "One definition."}, protocol.CompletionItemKindModule, place.Word, "agents",
		}}
	}
	var list []candidate
	for _, k := range t.keys() {
		for i := 1; i < len(k.path); i++ {
			parts := k.path[:i]
			if parts[i-1] == "*" {
				continue
			}
			name := strings.Join(parts, ".")
			if !slices.ContainsFunc(list, func(c candidate) bool { return c.name == name }) {
				list = append(list, candidate{
					word{name, "table", ""}, protocol.CompletionItemKindModule, place.Word, name,
				})
			}
		}
	}
	return list
}

// text describes a key for people, in Markdown.
func (k *keyDoc) text() string {
	var parts []string
	if k.doc != "" {
		parts = append(parts, k.doc)
	}
	if len(k.values) > 0 {
		parts = append(parts, "Values: `"+strings.Join(k.values, "`, `")+"`")
	}
	if k.standard != "" && k.standard != `""` {
		parts = append(parts, "Default: `"+k.standard+"`")
	}
	if k.requires {
		parts = append(parts, "Required.")
	}
	return strings.Join(parts, "\n\n")
}
