package tool

import (
	"encoding/json"
	"strings"
)

// notebookStyle is the white space of a notebook, each part with its line ending. cell stands before a cell, list
// before the end of the list of cells, open before the first member of a cell, next before the other members, and shut
// before the cell's end. item, between and last are the same for the lines of a source.
type notebookStyle struct {
	cell, list          string
	open, next, shut    string
	colon               string
	item, between, last string
}

// style takes the white space from the first cell whose source has lines. Without such a cell, it derives it from what
// there is.
func (n *notebook) style() notebookStyle {
	// At least the indentation of the top-level members is known.
	first := n.top[0]
	open := n.text[strings.IndexByte(n.text, '{')+1 : first.key.start]
	unit := ""
	if i := strings.LastIndexByte(open, '\n'); i >= 0 {
		unit = open[i+1:]
	}
	deep := func(depth int) string {
		if unit == "" {
			return open
		}
		return strings.TrimSuffix(open, unit) + strings.Repeat(unit, depth)
	}
	s := notebookStyle{
		cell: deep(2), list: deep(1), open: deep(3), next: deep(3), shut: deep(2), item: deep(4), between: deep(4),
		last:  deep(3),
		colon: n.text[first.key.end:first.value.start],
	}
	if open == "" && len(n.top) > 1 {
		between := n.text[first.value.end:n.top[1].key.start]
		s.next = between[strings.IndexByte(between, ',')+1:]
		s.between = s.next
	}
	if len(n.cells) == 0 {
		return s
	}
	s.cell = n.text[n.list.start+1 : n.cells[0].start]
	if len(n.cells) > 1 {
		between := n.text[n.cells[0].end:n.cells[1].start]
		s.cell = between[strings.IndexByte(between, ',')+1:]
	}
	model := n.cells[0]
	for _, c := range n.cells {
		if len(c.lines) > 0 {
			model = c
			break
		}
	}
	s = s.of(n.text, model)
	if len(model.lines) == 0 {
		return s
	}
	s.item = n.text[model.source.start+1 : model.lines[0].start]
	s.between = s.item
	s.last = n.text[model.lines[len(model.lines)-1].end : model.source.end-1]
	for _, c := range n.cells {
		if len(c.lines) > 1 {
			between := n.text[c.lines[0].end:c.lines[1].start]
			s.between = between[strings.IndexByte(between, ',')+1:]
			break
		}
	}
	return s
}

// of is the style with the white space of one cell.
func (s notebookStyle) of(text string, c cell) notebookStyle {
	if len(c.members) == 0 {
		return s
	}
	first, last := c.members[0], c.members[len(c.members)-1]
	s.open = text[c.start+1 : first.key.start]
	s.shut = text[last.value.end : c.end-1]
	s.next = s.open
	if len(c.members) > 1 {
		between := text[first.value.end:c.members[1].key.start]
		s.next = between[strings.IndexByte(between, ',')+1:]
	}
	s.colon = text[first.key.end:first.value.start]
	return s
}

// object writes members.
func (s notebookStyle) object(members []string) string {
	return "{" + s.open + strings.Join(members, ","+s.next) + s.shut + "}"
}

// lines writes a source as the list of its lines. known holds the JSON of the lines that exist already.
func (s notebookStyle) lines(source string, known map[string]string) string {
	if source == "" {
		return "[]"
	}
	var items []string
	for line := range strings.Lines(source) {
		raw, ok := known[line]
		if !ok {
			raw = quote(line)
		}
		items = append(items, raw)
	}
	return "[" + s.item + strings.Join(items, ","+s.between) + s.last + "]"
}

// quote writes a text as JSON.
func quote(text string) string {
	raw, err := encode(text)
	if err != nil {
		panic(err) // a string always encodes
	}
	return raw
}

// unquote reads a text that is known to be a JSON string.
func unquote(raw string) string {
	var text string
	if json.Unmarshal([]byte(raw), &text) != nil {
		return ""
	}
	return text
}
