package position_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"go.lsp.dev/protocol"
	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/position"
)

var encodings = []position.Encoding{
	position.Encoding(protocol.PositionEncodingKindUTF8), position.Encoding(protocol.PositionEncodingKindUTF16),
	position.Encoding(protocol.PositionEncodingKindUTF32),
}

// texts are short, full of line endings and of characters of one to four bytes.
var texts = rapid.StringOfN(rapid.SampledFrom([]rune("ab\t\r\n\r\né€\u2028😀𐐀")), 0, 30, -1)

// naive is a text as an editor holds it: lines of code units, each with its ending beside it. It knows nothing of
// what is tested here.
type naive struct {
	lines   [][]uint32
	endings []string
}

// units are the code units of a text in an encoding; those of one character that are not its first have the high bit.
func units(e position.Encoding, text string) []uint32 {
	const inside = 1 << 31
	var list []uint32
	for _, r := range text {
		switch protocol.PositionEncodingKind(e) {
		case protocol.PositionEncodingKindUTF8:
			for i, b := range []byte(string(r)) {
				list = append(list, uint32(b)|uint32(min(i, 1))*inside)
			}
		case protocol.PositionEncodingKindUTF16:
			for i, u := range utf16.Encode([]rune{r}) {
				list = append(list, uint32(u)|uint32(min(i, 1))*inside)
			}
		default:
			list = append(list, uint32(r))
		}
	}
	return list
}

func naiveOf(e position.Encoding, text string) naive {
	var m naive
	for {
		at := strings.IndexAny(text, "\r\n")
		if at < 0 {
			m.lines, m.endings = append(m.lines, units(e, text)), append(m.endings, "")
			return m
		}
		ending := text[at : at+1]
		if strings.HasPrefix(text[at:], "\r\n") {
			ending = "\r\n"
		}
		m.lines, m.endings = append(m.lines, units(e, text[:at])), append(m.endings, ending)
		text = text[at+len(ending):]
	}
}

// before is the number of bytes of text that stand before a position.
func (m naive) before(e position.Encoding, text string, p protocol.Position) int {
	if int(p.Line) >= len(m.lines) {
		return len(text)
	}
	bytesOf := func(line []uint32) int {
		n := 0
		for i, u := range line {
			switch {
			case protocol.PositionEncodingKind(e) == protocol.PositionEncodingKindUTF8:
				n++
			case u>>31 == 1: // the first half counted for both
			case i+1 < len(line) && line[i+1]>>31 == 1:
				n += 4
			default:
				n += len(string(rune(u)))
			}
		}
		return n
	}
	n := 0
	for i, line := range m.lines[:p.Line] {
		n += bytesOf(line) + len(m.endings[i])
	}
	line := m.lines[p.Line]
	at := min(int(p.Character), len(line))
	for at > 0 && at < len(line) && line[at]>>31 == 1 {
		at--
	}
	return n + bytesOf(line[:at])
}

func positions(m naive) *rapid.Generator[protocol.Position] {
	return rapid.Custom(func(t *rapid.T) protocol.Position {
		line := rapid.IntRange(0, len(m.lines)).Draw(t, "line")
		width := 3
		if line < len(m.lines) {
			width += len(m.lines[line])
		}
		return protocol.Position{Line: uint32(line), Character: uint32(rapid.IntRange(0, width).Draw(t, "character"))}
	})
}

func TestPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, text := rapid.SampledFrom(encodings).Draw(t, "encoding"), texts.Draw(t, "text")
		x, m := workspace.NewIndex(text), naiveOf(e, text)
		p := positions(m).Draw(t, "position")
		offset := e.Offset(x, p)
		want := m.before(e, text, p)
		if offset != want {
			t.Fatalf("%s: %v of %q is offset %d, want %d", e, p, text, offset, want)
		}
		if got := e.In(workspace.NewBuffer(text), p); got != want {
			t.Fatalf("%s: %v of %q in pieces is offset %d, want %d", e, p, text, got, want)
		}
		column := 0
		if int(p.Line) < x.Len() {
			column = want - x.Start(int(p.Line))
		}
		if got := e.Column(x, p); got != column {
			t.Fatalf("%s: %v of %q is column %d, want %d", e, p, text, got, column)
		}
		back := e.At(x, offset)
		if again := e.Offset(x, back); again != offset {
			t.Fatalf("%s: offset %d of %q is %v, and that is offset %d", e, offset, text, back, again)
		}
		if int(p.Line) < len(m.lines) && (back.Line != p.Line || back.Character > p.Character) {
			t.Fatalf("%s: %v of %q came back as %v", e, p, text, back)
		}
	})
}

// Whatever a model says of a place, the editor gets positions that its text has, at the start of a character.
func TestSpansAreInTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, text := rapid.SampledFrom(encodings).Draw(t, "encoding"), texts.Draw(t, "text")
		x, m := workspace.NewIndex(text), naiveOf(e, text)
		number := rapid.IntRange(-2, 12)
		s := event.Span{
			StartLine: max(0, number.Draw(t, "a")), StartColumn: number.Draw(t, "b"),
			EndLine: max(0, number.Draw(t, "c")), EndColumn: number.Draw(t, "d"),
		}
		r := e.Span(x, s)
		for _, p := range []protocol.Position{r.Start, r.End} {
			if int(p.Line) >= len(m.lines) || int(p.Character) > len(m.lines[p.Line]) {
				t.Fatalf("%s: %+v of %q is %v, which is not there", e, s, text, r)
			}
			if line := m.lines[p.Line]; int(p.Character) < len(line) && line[p.Character]>>31 == 1 {
				t.Fatalf("%s: %+v of %q is %v, inside a character", e, s, text, r)
			}
		}
	})
}

func TestNegotiate(t *testing.T) {
	for _, c := range []struct {
		offered []protocol.PositionEncodingKind
		want    string
	}{
		{nil, "utf-16"},
		{[]protocol.PositionEncodingKind{"utf-7"}, "utf-16"},
		{[]protocol.PositionEncodingKind{"utf-16", "utf-8"}, "utf-8"},
		{[]protocol.PositionEncodingKind{"utf-7", "utf-32", "utf-16"}, "utf-32"},
	} {
		if got := position.Negotiate(c.offered); string(got) != c.want {
			t.Errorf("of %v %s was chosen, want %s", c.offered, got, c.want)
		}
	}
}
