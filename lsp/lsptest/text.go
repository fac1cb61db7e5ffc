package lsptest

import (
	"encoding/json"
	"fmt"
	"sort"
	"unicode/utf8"
)

// Encoding is the unit of Position.Character (LSP 3.18, PositionEncodingKind).
type Encoding string

// The three encodings of LSP.
const (
	UTF8  Encoding = "utf-8"
	UTF16 Encoding = "utf-16"
	UTF32 Encoding = "utf-32"
)

// Position is LSP's: 0-based, Character in units of the negotiated encoding.
type Position struct {
	Line      uint32 `json:"line"`
	Character uint32 `json:"character"`
}

// Range is LSP's, the end exclusive.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// units is the length of a character that takes size bytes in UTF-8.
func (e Encoding) units(r rune, size int) int {
	switch {
	case e == UTF8:
		return size
	case e == UTF16 && r >= 0x10000:
		return 2
	}
	return 1
}

// lineStarts returns the byte offsets of the lines of a text. Lines end with "\n", "\r\n" or "\r", as in LSP.
func lineStarts(text string) []int {
	starts := []int{0}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				i++
			}
			starts = append(starts, i+1)
		case '\n':
			starts = append(starts, i+1)
		}
	}
	return starts
}

// lineEnd returns the offset behind the last character of the line that begins at start, without its ending.
func lineEnd(text string, start int) int {
	for i := start; i < len(text); i++ {
		if text[i] == '\n' || text[i] == '\r' {
			return i
		}
	}
	return len(text)
}

// Offset returns the byte offset of a position. Unlike a server, which has to be forgiving, it refuses a position that
// is outside the text, beyond the end of its line, or inside a character.
func (e Encoding) Offset(text string, p Position) (int, error) {
	starts := lineStarts(text)
	if int(p.Line) >= len(starts) {
		return 0, fmt.Errorf("line %d (0-based) is outside a text of %d lines", p.Line, len(starts))
	}
	at := starts[p.Line]
	end := lineEnd(text, at)
	for left := int(p.Character); left > 0; {
		if at >= end {
			return 0, fmt.Errorf("character %d is beyond the end of line %d (0-based, %s)", p.Character, p.Line, e)
		}
		r, size := utf8.DecodeRuneInString(text[at:end])
		n := e.units(r, size)
		if left < n {
			return 0, fmt.Errorf("character %d of line %d (0-based, %s) is inside %q", p.Character, p.Line, e, r)
		}
		left -= n
		at += size
	}
	return at, nil
}

// Span returns the byte offsets of a range, which must not be inverted.
func (e Encoding) Span(text string, r Range) (start, end int, err error) {
	if start, err = e.Offset(text, r.Start); err != nil {
		return 0, 0, err
	}
	if end, err = e.Offset(text, r.End); err != nil {
		return 0, 0, err
	}
	if start > end {
		return 0, 0, fmt.Errorf("the range ends at %d:%d, before its start %d:%d (0-based)", r.End.Line,
			r.End.Character, r.Start.Line, r.Start.Character)
	}
	return start, end, nil
}

// Position returns the position of a byte offset in the text.
func (e Encoding) Position(text string, offset int) Position {
	starts := lineStarts(text)
	line := sort.SearchInts(starts, offset+1) - 1
	n := 0
	for at := starts[line]; at < offset; {
		r, size := utf8.DecodeRuneInString(text[at:])
		n += e.units(r, size)
		at += size
	}
	return Position{Line: uint32(line), Character: uint32(n)}
}

// Range returns the range of a byte span of the text.
func (e Encoding) Range(text string, start, end int) Range {
	return Range{Start: e.Position(text, start), End: e.Position(text, end)}
}

// replacement is one change of a text, in byte offsets of the text before.
type replacement struct {
	start, end int
	text       string
}

// replace applies replacements that all refer to the old text. It refuses overlaps. Insertions at one place keep their
// order. It also returns the replacements in the order of the text.
func replace(text string, list []replacement) (string, []replacement, error) {
	sorted := append([]replacement(nil), list...)
	sort.SliceStable(sorted, func(i, j int) bool {
		if sorted[i].start != sorted[j].start {
			return sorted[i].start < sorted[j].start
		}
		return sorted[i].end < sorted[j].end
	})
	var out []byte
	at := 0
	for _, r := range sorted {
		if r.start < at {
			return "", nil, fmt.Errorf("two edits overlap at byte %d", r.start)
		}
		out = append(out, text[at:r.start]...)
		out = append(out, r.text...)
		at = r.end
	}
	return string(append(out, text[at:]...)), sorted, nil
}

// text decodes a JSON string; anything else is "".
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
