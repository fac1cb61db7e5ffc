package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A notebook is a JSON file in the format nbformat 4 (nbformat.readthedocs.io, "The Notebook file format"). It is
// edited by byte offsets, so that everything outside of an edit keeps its bytes: the order of keys, indentation,
// numbers.

// span is a value in a JSON text: the bytes [start, end).
type span struct{ start, end int }

func (s span) of(text string) string { return text[s.start:s.end] }

// member is one member of a JSON object, in bytes of the text.
type member struct {
	name  string
	key   span
	value span
}

// notebook is a parsed notebook. Its spans are in bytes of text.
type notebook struct {
	text string
	// minor is the version of the format after the 4.
	minor    int
	language string
	top      []member
	list     span // the array of cells
	cells    []cell
}

// cell is one cell.
type cell struct {
	span
	members  []member
	id, kind string
	// source is the value of the member. lines are its items, none where it is one string.
	source span
	lines  []span
	code   string // the source as one text
}

// errNotebook begins the error of a text that cannot be read as a notebook.
var errNotebook = errors.New("is no notebook that can be edited by cells")

// isNotebook reports whether a file is a notebook by its name.
func isNotebook(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".ipynb") }

func parseNotebook(text string) (*notebook, error) {
	var head struct {
		Major    int               `json:"nbformat"`
		Minor    int               `json:"nbformat_minor"`
		Cells    []json.RawMessage `json:"cells"`
		Metadata struct {
			Language struct{ Name string }     `json:"language_info"`
			Kernel   struct{ Language string } `json:"kernelspec"`
		}
	}
	if err := json.Unmarshal([]byte(text), &head); err != nil {
		where := ""
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			where = fmt.Sprintf(" at line %d", lineAt(splitLines(text), min(int(syntax.Offset), len(text)))+1)
		}
		return nil, fmt.Errorf("%w: its JSON is broken%s (%w); read it with raw, and mend it with edit",
			errNotebook, where, err)
	}
	if head.Major != 4 {
		return nil,
			fmt.Errorf(
				"%w: its nbformat is %d, and only 4 is known; convert it with jupyter nbconvert, or change its text "+
					"with edit", errNotebook, head.Major)
	}
	n := &notebook{text: text, minor: head.Minor, language: head.Metadata.Language.Name}
	if n.language == "" {
		n.language = head.Metadata.Kernel.Language
	}
	s := jsonScanner{text}
	n.top = s.members(s.space(0))
	list, ok := find(n.top, "cells")
	if !ok || text[list.start] != '[' {
		return nil, fmt.Errorf("%w: it has no list of cells; read it with raw, and mend it with edit", errNotebook)
	}
	n.list = list
	for _, at := range s.items(n.list.start) {
		c := cell{span: at}
		if text[at.start] != '{' {
			return nil, fmt.Errorf("%w: cell %d is no object; read it with raw, and mend it with edit",
				errNotebook, len(n.cells))
		}
		c.members = s.members(at.start)
		if err := c.read(s); err != nil {
			return nil, fmt.Errorf("%w: cell %d %w; read it with raw, and mend it with edit", errNotebook,
				len(n.cells), err)
		}
		n.cells = append(n.cells, c)
	}
	return n, nil
}

// read fills in the cell from its members.
func (c *cell) read(s jsonScanner) error {
	for _, m := range []struct {
		name string
		to   *string
	}{{"id", &c.id}, {"cell_type", &c.kind}} {
		if value, ok := find(c.members, m.name); ok && json.Unmarshal([]byte(value.of(s.text)), m.to) != nil {
			return fmt.Errorf("has a %s that is no text", m.name)
		}
	}
	var ok bool
	if c.source, ok = find(c.members, "source"); !ok {
		return errors.New("has no source")
	}
	raw := []byte(c.source.of(s.text))
	if raw[0] != '[' {
		if json.Unmarshal(raw, &c.code) != nil {
			return errors.New("has a source that is no text")
		}
		return nil
	}
	var lines []string
	if json.Unmarshal(raw, &lines) != nil {
		return errors.New("has a source that is no list of lines")
	}
	c.lines = s.items(c.source.start)
	c.code = strings.Join(lines, "")
	return nil
}

// find returns the value of a member; the last one counts, as JSON readers have it.
func find(members []member, name string) (span, bool) {
	for i := len(members) - 1; i >= 0; i-- {
		if members[i].name == name {
			return members[i].value, true
		}
	}
	return span{}, false
}

// jsonScanner finds values in a text that is known to be valid JSON.
type jsonScanner struct{ text string }

// space returns the offset of the next byte that is no white space.
func (s jsonScanner) space(at int) int {
	for at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[at]) >= 0 {
		at++
	}
	return at
}

// value returns the end of the value that begins at an offset.
func (s jsonScanner) value(at int) int {
	depth := 0
	for ; at < len(s.text); at++ {
		switch s.text[at] {
		case '"':
			for at++; s.text[at] != '"'; at++ {
				if s.text[at] == '\\' {
					at++
				}
			}
			if depth == 0 {
				return at + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at // the end of what holds a number or a word
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return at
			}
		}
	}
	return at
}

// items returns the values of the array that begins at an offset.
func (s jsonScanner) items(at int) []span {
	var list []span
	for at = s.space(at + 1); s.text[at] != ']'; at = s.space(at) {
		if s.text[at] == ',' {
			at = s.space(at + 1)
		}
		end := s.value(at)
		list = append(list, span{at, end})
		at = end
	}
	return list
}

// members returns the members of the object that begins at an offset.
func (s jsonScanner) members(at int) []member {
	var list []member
	for at = s.space(at + 1); s.text[at] != '}'; at = s.space(at) {
		if s.text[at] == ',' {
			at = s.space(at + 1)
		}
		m := member{key: span{at, s.value(at)}}
		if json.Unmarshal([]byte(m.key.of(s.text)), &m.name) != nil {
			m.name = m.key.of(s.text) // cannot fail, since the text is valid
		}
		from := s.space(s.space(m.key.end) + 1)
		m.value = span{from, s.value(from)}
		list = append(list, m)
		at = m.value.end
	}
	return list
}
