package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/agentls/agentls/agentcore/tomltree"
)

// place is a position in a text: 1-based line and column, the column in bytes. The zero place is none.
type place struct{ line, column int }

// maxNesting bounds the depth of nested brackets, and the parts of a dotted key.
const maxNesting = 32

// lineStarts are the offsets at which the lines of a text begin; a byte order mark has no width.
type lineStarts []int

func lineStartsOf(text string) lineStarts {
	starts := lineStarts{len(text) - len(strings.TrimPrefix(text, "\uFEFF"))}
	for i := range len(text) {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

func (l lineStarts) place(offset int) place {
	line, found := slices.BinarySearch(l, offset)
	if !found {
		line--
	}
	return place{line + 1, offset - l[line] + 1}
}

// node is one value of a source before its type is checked. value is a string, bool, int64, float64, []node, table,
// rawText, or foreign for a type that no key accepts (dates, numbers out of range). A nil value is absent.
type node struct {
	value any
	at    place
}

// table is a TOML table or JSON object in the order of its text.
type table []entry

type entry struct {
	name string
	node node
}

// rawText is a value from the environment or the command line. Its key decides on its type.
type rawText string

// foreign names a type that no key accepts.
type foreign string

// describe names a node's type for messages.
func (n node) describe() string {
	switch v := n.value.(type) {
	case string, rawText:
		return "a string"
	case bool:
		return "true or false"
	case int64:
		return "a whole number"
	case float64:
		return "a number"
	case []node:
		return "a list"
	case table:
		return "a table"
	case foreign:
		return string(v)
	}
	return "nothing"
}

// fault says why a text or a value is refused, with its place if it has one of its own.
type fault struct {
	at            place
	message, hint string
}

func (f *fault) Error() string { return f.message }

// parseTOML parses a whole file. The error is a *fault with a place.
func parseTOML(text string) (table, error) {
	lines := lineStartsOf(text)
	tree, end, err := tomltree.Parse(text, tomltree.Limits{Depth: maxNesting})
	if errors.Is(err, tomltree.ErrLimit) {
		return nil, &fault{
			at: lines.place(end), message: fmt.Sprintf("nested more than %d levels deep", maxNesting),
			hint: "no key of agentls needs that",
		}
	}
	var values map[string]any
	if cut := end + 1024; cut < len(text) {
		// The text is not valid before cut. So the TOML package needs no more of it to say why, and must not see how
		// deep the rest is nested.
		text = strings.ToValidUTF8(text[:cut], "")
	}
	if _, err := toml.Decode(text, &values); err != nil {
		var parse toml.ParseError
		if errors.As(err, &parse) {
			return nil, &fault{
				at:      place{max(1, parse.Position.Line), max(1, parse.Position.Col)},
				message: "not valid TOML: " + parse.Message,
				hint:    "nothing of this file is used until it is corrected",
			}
		}
		return nil, &fault{at: place{1, 1}, message: "not valid TOML: " + err.Error()}
	}
	root := lines.fromTOML(values, tree, place{1, 1})
	return root.value.(table), nil
}

// fromTOML turns a decoded value into a node. The tree has the places of the values inside and may be nil; at is the
// place of the value itself.
func (l lineStarts) fromTOML(value any, tree *tomltree.Node, at place) node {
	list := func(length int, item func(int) any) node {
		list := make([]node, length)
		for i := range list {
			below, start := (*tomltree.Node)(nil), at
			if tree != nil && i < len(tree.Items) {
				below = tree.Items[i]
				start = l.place(below.At)
			}
			list[i] = l.fromTOML(item(i), below, start)
		}
		return node{list, at}
	}
	switch v := value.(type) {
	case string, bool, int64, float64:
		return node{v, at}
	case map[string]any:
		t := make(table, 0, len(v))
		for name, value := range v {
			below, start := (*tomltree.Node)(nil), at
			if tree != nil {
				if p, ok := tree.Get(name); ok {
					below = p.Value
					start = l.place(p.At)
				}
			}
			t = append(t, entry{name, l.fromTOML(value, below, start)})
		}
		slices.SortFunc(t, func(a, b entry) int {
			if c := a.node.at.line - b.node.at.line; c != 0 {
				return c
			}
			if c := a.node.at.column - b.node.at.column; c != 0 {
				return c
			}
			return strings.Compare(a.name, b.name)
		})
		return node{t, at}
	case []map[string]any:
		return list(len(v), func(i int) any { return v[i] })
	case []any:
		return list(len(v), func(i int) any { return v[i] })
	}
	return node{foreign("a date or time"), at}
}

// parseJSON parses an object of editor settings. An empty text and null count as an empty object.
func parseJSON(text []byte) (table, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	err := d.Decode(&value)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			return nil, &fault{at: placeOf(text, d.InputOffset()), message: "not valid JSON: text after the value"}
		}
		switch n := fromJSON(value); v := n.value.(type) {
		case table:
			return v, nil
		case nil:
			return nil, nil
		default:
			return nil, &fault{at: place{1, 1}, message: "expected an object with settings, found " + n.describe()}
		}
	}
	at := placeOf(text, int64(len(text)))
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = placeOf(text, syntax.Offset)
	}
	return nil, &fault{at: at, message: "not valid JSON: " + err.Error()}
}

// placeOf returns the place of the byte before an offset, where encoding/json puts its errors.
func placeOf(text []byte, offset int64) place {
	head := text[:min(max(0, offset-1), int64(len(text)))]
	return place{1 + bytes.Count(head, []byte("\n")), len(head) - bytes.LastIndexByte(head, '\n')}
}

// fromJSON turns a decoded value into a node. Objects are sorted by name, null is absent.
func fromJSON(value any) node {
	switch v := value.(type) {
	case nil:
		return node{}
	case string:
		return node{value: v}
	case bool:
		return node{value: v}
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return node{value: i}
		}
		if f, err := v.Float64(); err == nil {
			return node{value: f}
		}
		return node{value: foreign("a number out of range")}
	case []any:
		list := make([]node, len(v))
		for i := range v {
			list[i] = fromJSON(v[i])
		}
		return node{value: list}
	case map[string]any:
		t := make(table, 0, len(v))
		for name, value := range v {
			if n := fromJSON(value); n.value != nil {
				t = append(t, entry{name, n})
			}
		}
		slices.SortFunc(t, func(a, b entry) int { return strings.Compare(a.name, b.name) })
		return node{value: t}
	}
	return node{value: foreign("an unknown type")}
}

// splitKey cuts a dotted key as TOML does: presets."gpt-4.1".model has three parts.
func splitKey(key string) ([]string, error) {
	parts, ok := tomltree.Keys(key, maxNesting)
	if !ok {
		return nil, fmt.Errorf("%q is not a dotted key", key)
	}
	return parts, nil
}

// nest puts a value at the end of a path of tables.
func nest(path []string, value node) node {
	for _, name := range slices.Backward(path) {
		value = node{table{{name, value}}, value.at}
	}
	return value
}
