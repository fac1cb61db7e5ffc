// Package outline finds keys and values in the texts that people write definitions and settings in: Markdown with YAML
// frontmatter, TOML and JSON. It checks nothing and never gives up, so that an editor can complete and explain what is
// not valid yet; whether a text is right is for the parsers to say.
package outline

import (
	"slices"
	"strings"
)

// Span is a part of a text, in bytes, the end exclusive.
type Span struct{ Start, End int }

// In returns the part of the text.
func (s Span) In(text string) string { return text[s.Start:s.End] }

// Has reports whether an offset is in the span or at its end, where a cursor is that has just typed it.
func (s Span) Has(offset int) bool { return s.Start <= offset && offset <= s.End }

// Kind says what may stand at a place.
type Kind int

const (
	// Nothing of interest: a comment, punctuation.
	Nothing Kind = iota
	// Key is the name of a key.
	Key
	// Value is the value of a key, or an element of its list.
	Value
	// Header is the name of a table in TOML.
	Header
	// Text is the value of a key, of several lines.
	Text
	// Body is the text below a frontmatter.
	Body
)

// Node is a key with its value.
type Node struct {
	// Path are the keys from the top, this one last. "[]" behind a key says that the next is in an element of its list.
	Path []string
	// Name is where the key stands, without quotes; Value is the whole value, without space around it.
	Name, Value Span
	// Table tells the tables apart: nodes of one table have the same number.
	Table int
	// Header says that this is the head of a table in TOML, which reaches to the end of Value.
	Header bool
}

// Outline is what was found in one text. It is immutable.
type Outline struct {
	Text string
	// Nodes are in the order of the text.
	Nodes []Node
	// BodyStart is where the text below a frontmatter begins, -1 where there is none.
	BodyStart int

	regions []region
	tables  int
}

// region is a part of the text in which a cursor is at a place of one kind. A later one counts for more.
type region struct {
	Span
	kind  Kind
	path  []string
	table int
}

// Place is what a cursor is at.
type Place struct {
	Kind Kind
	// Path is that of the table for a Key, that of the key for a Value or a Text, and that of the table above for a
	// Header.
	Path []string
	// Word is the word around the cursor, empty where there is none; Quoted says that a quote stands before it.
	Word   Span
	Quoted bool
	// Taken are the keys that the table has already, but for one at the cursor.
	Taken []string
}

// At returns what a cursor at the offset is at.
func (o *Outline) At(offset int) Place {
	for _, r := range slices.Backward(o.regions) {
		if !r.Has(offset) {
			continue
		}
		p := Place{Kind: r.kind, Path: r.path, Word: o.word(offset, r.Span)}
		if p.Word.Start > 0 {
			p.Quoted = strings.IndexByte(`"'`, o.Text[p.Word.Start-1]) >= 0
		}
		if r.kind == Key {
			for _, n := range o.Nodes {
				if n.Table == r.table && len(n.Path) == len(r.path)+1 && slices.Equal(n.Path[:len(r.path)], r.path) &&
					!n.Name.Has(offset) {
					p.Taken = append(p.Taken, n.Path[len(n.Path)-1])
				}
			}
		}
		return p
	}
	return Place{Word: Span{offset, offset}}
}

// separators end a word.
const separators = " \t\r\n,[]{}\"'`#"

func (o *Outline) word(offset int, within Span) Span {
	w := Span{offset, offset}
	for w.Start > within.Start && strings.IndexByte(separators, o.Text[w.Start-1]) < 0 {
		w.Start--
	}
	for w.End < within.End && strings.IndexByte(separators, o.Text[w.End]) < 0 {
		w.End++
	}
	return w
}

func (o *Outline) region(kind Kind, start, end int, path []string, table int) {
	o.regions = append(o.regions, region{Span{start, max(start, end)}, kind, path, table})
}

// table makes the number of another table.
func (o *Outline) table() int { o.tables++; return o.tables }

// below is the path of a key in a table; element that of the elements of a key's list.
func below(path []string, keys ...string) []string { return slices.Concat(path, keys) }

func element(path []string) []string {
	if len(path) == 0 {
		return []string{"[]"}
	}
	list := slices.Clone(path)
	list[len(list)-1] += "[]"
	return list
}

// trim narrows a span to what is not space.
func (o *Outline) trim(s Span) Span {
	for s.Start < s.End && strings.IndexByte(" \t\r\n", o.Text[s.Start]) >= 0 {
		s.Start++
	}
	for s.End > s.Start && strings.IndexByte(" \t\r\n", o.Text[s.End-1]) >= 0 {
		s.End--
	}
	return s
}

// unquoted narrows a span to what is in its quotes.
func (o *Outline) unquoted(s Span) Span {
	if s.End-s.Start >= 2 && strings.IndexByte(`"'`, o.Text[s.Start]) >= 0 && o.Text[s.End-1] == o.Text[s.Start] {
		return Span{s.Start + 1, s.End - 1}
	}
	return s
}

// line returns the end of the line that begins at start, without its ending, and the start of the next.
func (o *Outline) line(start int) (end, next int) {
	i := strings.IndexByte(o.Text[start:], '\n')
	if i < 0 {
		return len(o.Text), len(o.Text)
	}
	end = start + i
	if end > start && o.Text[end-1] == '\r' {
		end--
	}
	return end, start + i + 1
}
