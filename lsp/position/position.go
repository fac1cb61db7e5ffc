// Package position converts places in a text between the bytes in which agentls counts and the units in which an editor
// counts. Every place that an editor sends or receives is converted by an [Encoding].
package position

import (
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Encoding is the negotiated position encoding (LSP 3.18, "Position"): the unit of a character offset.
type Encoding protocol.PositionEncodingKind

// Negotiate picks the encoding: UTF-8, which needs no conversion, if the client offers it, else the first of the
// client's encodings that we know; UTF-16 if the client offers none.
func Negotiate(offered []protocol.PositionEncodingKind) Encoding {
	best := protocol.PositionEncodingKindUTF16
	for i := len(offered) - 1; i >= 0; i-- {
		switch offered[i] {
		case protocol.PositionEncodingKindUTF8:
			return Encoding(offered[i])
		case protocol.PositionEncodingKindUTF16, protocol.PositionEncodingKindUTF32:
			best = offered[i]
		}
	}
	return Encoding(best)
}

// units is the length of a character in the encoding's unit.
func (e Encoding) units(r rune, size int) int {
	switch protocol.PositionEncodingKind(e) {
	case protocol.PositionEncodingKindUTF8:
		return size
	case protocol.PositionEncodingKindUTF32:
		return 1
	}
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// column returns the byte column of a character offset in a line without its ending. An offset behind the line's end
// counts as the end, as LSP says; an offset inside a character counts as the character's start.
func (e Encoding) column(line string, character uint32) int {
	if protocol.PositionEncodingKind(e) == protocol.PositionEncodingKindUTF8 {
		at := min(int(character), len(line))
		for at > 0 && at < len(line) && !utf8.RuneStart(line[at]) {
			at--
		}
		return at
	}
	left := int(character)
	for at, r := range line {
		n := e.units(r, utf8.RuneLen(r))
		if left < n {
			return at
		}
		left -= n
	}
	return len(line)
}

// character is the inverse of column; a column inside a character is the character's start.
func (e Encoding) character(line string, column int) uint32 {
	column = min(max(column, 0), len(line))
	for column > 0 && column < len(line) && !utf8.RuneStart(line[column]) {
		column-- // models may count wrongly
	}
	if protocol.PositionEncodingKind(e) == protocol.PositionEncodingKindUTF8 {
		return uint32(column)
	}
	n := 0
	for _, r := range line[:column] {
		n += e.units(r, utf8.RuneLen(r))
	}
	return uint32(n)
}

// Offset returns the byte offset of a position, clamped into the text as LSP wants it.
func (e Encoding) Offset(x *workspace.Index, p protocol.Position) int {
	if int(p.Line) >= x.Len() {
		return len(x.Text())
	}
	return x.Start(int(p.Line)) + e.column(content(x, int(p.Line)), p.Character)
}

// In is Offset for a text in pieces.
func (e Encoding) In(b *workspace.Buffer, p protocol.Position) int {
	units := workspace.UTF16
	switch protocol.PositionEncodingKind(e) {
	case protocol.PositionEncodingKindUTF8:
		units = workspace.Bytes
	case protocol.PositionEncodingKindUTF32:
		units = workspace.Runes
	}
	return b.Offset(int(p.Line), int(p.Character), units)
}

// At returns the position of a byte offset.
func (e Encoding) At(x *workspace.Index, offset int) protocol.Position {
	line := x.LineAt(offset)
	return protocol.Position{Line: uint32(line), Character: e.character(content(x, line), offset-x.Start(line))}
}

// Span converts a span, clamped into the text, into a range.
func (e Encoding) Span(x *workspace.Index, s event.Span) protocol.Range {
	at := func(line, column int) protocol.Position {
		if line >= x.Len() {
			return e.At(x, len(x.Text()))
		}
		return protocol.Position{Line: uint32(line), Character: e.character(content(x, line), column)}
	}
	return protocol.Range{Start: at(s.StartLine, s.StartColumn), End: at(s.EndLine, s.EndColumn)}
}

// Lines returns the range of whole lines, the end exclusive. The range ends at the end of the last line's text, so that
// an editor does not underline the next line, too.
func (e Encoding) Lines(x *workspace.Index, start, end int) protocol.Range {
	if end <= start {
		p := e.At(x, x.Start(start))
		return protocol.Range{Start: p, End: p}
	}
	last := end - 1
	return e.Span(x, event.Span{StartLine: start, EndLine: last, EndColumn: len(content(x, last))})
}

// content is a line without its ending.
func content(x *workspace.Index, line int) string {
	text := x.Line(line)
	for len(text) > 0 && (text[len(text)-1] == '\n' || text[len(text)-1] == '\r') {
		text = text[:len(text)-1]
	}
	return text
}

// Between returns the range of a part of the text, from one byte offset to another, the end exclusive.
func (e Encoding) Between(x *workspace.Index, start, end int) protocol.Range {
	return protocol.Range{Start: e.At(x, start), End: e.At(x, end)}
}

// Column returns the byte column of a position in its line, 0 where the text has no such line.
func (e Encoding) Column(x *workspace.Index, p protocol.Position) int {
	if int(p.Line) >= x.Len() {
		return 0
	}
	return e.column(content(x, int(p.Line)), p.Character)
}

// Touched are the lines that a range covers, 0-based, both inclusive. A range that ends at the start of a line does not
// cover that line.
func Touched(r protocol.Range) (first, last int) {
	first, last = int(r.Start.Line), int(r.End.Line)
	if last > first && r.End.Character == 0 {
		last--
	}
	return first, max(first, last)
}

// Overlap reports whether two groups of lines have a line in common; all bounds are inclusive.
func Overlap(start, end, first, last int) bool { return start <= last && first <= end }
