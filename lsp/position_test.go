package lsp

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

var encodings = []encoding{
	encoding(protocol.PositionEncodingKindUTF8), encoding(protocol.PositionEncodingKindUTF16), encoding(protocol.PositionEncodingKindUTF32),
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
func units(e encoding, text string) []uint32 {
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

func naiveOf(e encoding, text string) naive {
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
func (m naive) before(e encoding, text string, p protocol.Position) int {
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
		offset := e.offset(x, p)
		if want := m.before(e, text, p); offset != want {
			t.Fatalf("%s: %v of %q is offset %d, want %d", e, p, text, offset, want)
		}
		back := e.position(x, offset)
		if again := e.offset(x, back); again != offset {
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
		s := event.Span{StartLine: max(0, number.Draw(t, "a")), StartColumn: number.Draw(t, "b"), EndLine: max(0, number.Draw(t, "c")), EndColumn: number.Draw(t, "d")}
		r := e.span(x, s)
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
		if got := negotiate(c.offered); string(got) != c.want {
			t.Errorf("of %v %s was chosen, want %s", c.offered, got, c.want)
		}
	}
}

// Documents follow any changes as an editor's own text does.
func TestChanges(t *testing.T) {
	const u = uri.URI("file:///w/a.txt")
	rapid.Check(t, func(t *rapid.T) {
		e, text := rapid.SampledFrom(encodings).Draw(t, "encoding"), texts.Draw(t, "text")
		d := newDocuments(e)
		d.open(protocol.TextDocumentItem{URI: u, Version: 1, Text: text})
		for version := int32(2); version < 6; version++ {
			var changes []protocol.TextDocumentContentChangeEvent
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				typed := texts.Draw(t, "typed")
				if rapid.IntRange(0, 9).Draw(t, "whole") == 0 {
					changes = append(changes, &protocol.TextDocumentContentChangeWholeDocument{Text: typed})
					text = typed
					continue
				}
				m := naiveOf(e, text)
				r := protocol.Range{Start: positions(m).Draw(t, "start"), End: positions(m).Draw(t, "end")}
				changes = append(changes, &protocol.TextDocumentContentChangePartial{Range: r, Text: typed})
				start, end := m.before(e, text, r.Start), m.before(e, text, r.End)
				if start > end {
					start, end = end, start
				}
				text = text[:start] + typed + text[end:]
			}
			doc := d.change(protocol.VersionedTextDocumentIdentifier{TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: u}, Version: version}, changes)
			if doc.index().Text() != text || doc.version != version {
				t.Fatalf("%s: after %d changes the text is %q, want %q", e, len(changes), doc.index().Text(), text)
			}
		}
	})
}

// Two spellings of a URI are one document, and none makes a path that is not absolute.
func TestPathOf(t *testing.T) {
	for spelt, want := range map[uri.URI]string{
		"file:///w/a%20b.go":      "/w/a b.go",
		"file:///w/a b.go":        "/w/a b.go",
		"file:///w/%61.go":        "/w/a.go",
		"file:///w/x/../a.go":     "/w/a.go",
		"file:///w//a.go":         "/w/a.go",
		"file:///w/100%.go":       "/w/100%.go",
		"file:///w/%zz.go":        "/w/%zz.go",
		"file:///w/%E2%82%AC.go":  "/w/€.go",
		"file:":                   "file:",
		"file:relative":           "",
		"untitled:Untitled-1":     "untitled:Untitled-1",
		"vscode-remote://x/w/a":   "vscode-remote://x/w/a",
		"file:///":                "/",
		"":                        "",
		"file:///w/a.go?q=1#L3":   "",
		"agentls:/answers/r1.md":  "agentls:/answers/r1.md",
		"FILE:///w/a.go":          "",
		"file:///w/%F0%9F%98%80.": "/w/😀.",
	} {
		got := pathOf(spelt)
		if want != "" && got != want {
			t.Errorf("%q is the path %q, want %q", spelt, got, want)
		}
		if strings.HasPrefix(got, "/") != (got != string(spelt)) {
			t.Errorf("%q is %q, neither an absolute path nor itself", spelt, got)
		}
	}
}

// However a client spells the URI of a file, the server knows it by the one that it makes of the path itself.
func TestSpellingsOfAURI(t *testing.T) {
	for _, spelt := range []string{
		"file:///w/a%20b+c@d.go", "file:///w/a b%2Bc%40d.go", "file:///w/%61 b%2bc%40d%2Ego", "file:///w/a%20b%2Bc%40d.go",
	} {
		var item protocol.TextDocumentItem
		if err := protocol.Unmarshal([]byte(`{"uri":`+strconv.Quote(spelt)+`,"languageId":"go","version":1,"text":""}`), &item); err != nil {
			t.Fatal(err)
		}
		if want := uri.File("/w/a b+c@d.go"); item.URI != want || pathOf(item.URI) != "/w/a b+c@d.go" {
			t.Errorf("%s became %s, want %s", spelt, item.URI, want)
		}
	}
}

func TestDocumentsUnderTwoSpellings(t *testing.T) {
	d := newDocuments(encodings[0])
	d.open(protocol.TextDocumentItem{URI: "file:///w/a%20b.go", Version: 1, Text: "one"})
	d.open(protocol.TextDocumentItem{URI: "file:///w/a b.go", Version: 5, Text: "two"})
	if got := d.paths(); !slices.Equal(got, []string{"/w/a b.go"}) {
		t.Errorf("the documents are %q", got)
	}
	if d.get("/w/a b.go").index().Text() != "two" || d.uriOf("/w/a b.go") != "file:///w/a b.go" {
		t.Error("the later opening does not count")
	}
	if d.close("file:///w/none.go") != nil || d.close("file:///w/a%20b.go") == nil || d.last() != nil {
		t.Error("closing does not fit")
	}
	if d.change(protocol.VersionedTextDocumentIdentifier{TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: "file:///w/a b.go"}}, nil) != nil {
		t.Error("a document that is not open was changed")
	}
}
