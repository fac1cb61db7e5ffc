// Package outline finds keys and values in the texts in which people write definitions and settings: Markdown with YAML
// frontmatter, TOML and JSON. It checks nothing and accepts every text, so that an editor can complete and explain a
// text that is not valid yet; the parsers say whether a text is valid.
package outline

import (
	"slices"
	"strings"
)

// Span is a part of a text, in bytes, the end exclusive.
type Span struct{ Start, End int }

// In returns the part of the text.
func (s Span) In(text string) string { return text[s.Start:s.End] }

// Has reports whether an offset is in the span or at its end, where the cursor stands behind a word that was just
// typed.
func (s Span) Has(offset int) bool { return s.Start <= offset && offset <= s.End }

// Kind says what may stand at a place.
type Kind int

const (
	// Nothing is a place where nothing of interest can stand: in a comment or at punctuation.
	Nothing Kind = iota
	// Key is the name of a key.
	Key
	// Value is the value of a key, or an element of its list.
	Value
	// Header is the name of a table in TOML.
	Header
	// Text is a value of several lines.
	Text
	// Body is the text below a frontmatter.
	Body
)

// Node is a key with its value.
type Node struct {
	// Path is the keys from the top, with this one as the last. "[]" behind a key says that the next key is in an
	// element of its list.
	Path []string
	// Name is the key's text, without quotes; Value is the whole value, without space around it.
	Name, Value Span
	// Table is the number of the key's table: nodes of one table have the same number.
	Table int
	// Header says that the node is the head of a table in TOML. The table ends where Value ends.
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

// region is a part of the text in which all places are of one kind. Where regions overlap, the later one counts.
type region struct {
	Span
	kind  Kind
	path  []string
	table int
}

// Place is what the cursor stands at.
type Place struct {
	Kind Kind
	// Path is the path of the table for a Key, of the key for a Value or a Text, and of the table above for a Header.
	Path []string
	// Word is the word around the cursor, empty if there is none; Quoted says that a quote precedes the word.
	Word   Span
	Quoted bool
	// Taken are the keys that the table has already, without the key at the cursor.
	Taken []string
}

// At returns the place at an offset.
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

// table returns the number for a new table.
func (o *Outline) table() int { o.tables++; return o.tables }

// below is the path of a key in a table; element is the path of the elements of a key's list.
func below(path []string, keys ...string) []string { return slices.Concat(path, keys) }

func element(path []string) []string {
	if len(path) == 0 {
		return []string{"[]"}
	}
	list := slices.Clone(path)
	list[len(list)-1] += "[]"
	return list
}

// trim narrows a span to its text without space around it.
func (o *Outline) trim(s Span) Span {
	for s.Start < s.End && strings.IndexByte(" \t\r\n", o.Text[s.Start]) >= 0 {
		s.Start++
	}
	for s.End > s.Start && strings.IndexByte(" \t\r\n", o.Text[s.End-1]) >= 0 {
		s.End--
	}
	return s
}

// unquoted narrows a span to the text between its quotes.
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
