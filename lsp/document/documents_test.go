package document

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"pgregory.net/rapid"

	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/position"
)

var encodings = []position.Encoding{
	position.Encoding(protocol.PositionEncodingKindUTF8), position.Encoding(protocol.PositionEncodingKindUTF16),
	position.Encoding(protocol.PositionEncodingKindUTF32),
}

// texts are short, full of line endings and of characters of one to four bytes.
var texts = rapid.StringOfN(rapid.SampledFrom([]rune("ab\t\r\n\r\né€\u2028😀𐐀")), 0, 30, -1)

// places are positions in a text, and some behind its lines and its end.
func places(x *workspace.Index) *rapid.Generator[protocol.Position] {
	return rapid.Custom(func(t *rapid.T) protocol.Position {
		line := rapid.IntRange(0, x.Len()).Draw(t, "line")
		width := 3
		if line < x.Len() {
			width += len(x.Line(line))
		}
		return protocol.Position{Line: uint32(line), Character: uint32(rapid.IntRange(0, width).Draw(t, "character"))}
	})
}

// newOn makes documents over a view of nothing but them.
func newOn(t interface {
	Helper()
	Fatal(...any)
	Cleanup(func())
}, e position.Encoding,
) *Documents {
	t.Helper()
	view, err := workspace.Open(nil, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := view.Close(); err != nil {
			t.Fatal(err)
		}
	})
	return New(e, view, nil)
}

// Documents follow any changes as an editor's own text does.
func TestChanges(t *testing.T) {
	const u = uri.URI("file:///w/a.txt")
	rapid.Check(t, func(t *rapid.T) {
		e, text := rapid.SampledFrom(encodings).Draw(t, "encoding"), texts.Draw(t, "text")
		d := newOn(t, e)
		d.Open(protocol.TextDocumentItem{URI: u, Version: 1, Text: text})
		for version := int32(2); version < 6; version++ {
			var changes []protocol.TextDocumentContentChangeEvent
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				typed := texts.Draw(t, "typed")
				if rapid.IntRange(0, 9).Draw(t, "whole") == 0 {
					changes = append(changes, &protocol.TextDocumentContentChangeWholeDocument{Text: typed})
					text = typed
					continue
				}
				x := workspace.NewIndex(text)
				r := protocol.Range{Start: places(x).Draw(t, "start"), End: places(x).Draw(t, "end")}
				changes = append(changes, &protocol.TextDocumentContentChangePartial{Range: r, Text: typed})
				start, end := e.Offset(x, r.Start), e.Offset(x, r.End)
				if start > end {
					start, end = end, start
				}
				text = text[:start] + typed + text[end:]
			}
			doc, err := d.Change(protocol.VersionedTextDocumentIdentifier{
				TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: u}, Version: version,
			}, changes)
			if err != nil || doc.Index().Text() != text || doc.Version != version {
				t.Fatalf("%s: after %d changes the text is %q, want %q", e, len(changes), doc.Index().Text(), text)
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
		got := Path(spelt)
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
		"file:///w/a%20b+c@d.go", "file:///w/a b%2Bc%40d.go", "file:///w/%61 b%2bc%40d%2Ego",
		"file:///w/a%20b%2Bc%40d.go",
	} {
		var item protocol.TextDocumentItem
		if err := protocol.Unmarshal([]byte(`{"uri":`+strconv.Quote(spelt)+`,"languageId":"go","version":1,"text":""}`),
			&item); err != nil {
			t.Fatal(err)
		}
		if want := uri.File("/w/a b+c@d.go"); item.URI != want || Path(item.URI) != "/w/a b+c@d.go" {
			t.Errorf("%s became %s, want %s", spelt, item.URI, want)
		}
	}
}

func TestDocumentsUnderTwoSpellings(t *testing.T) {
	d := newOn(t, encodings[0])
	d.Open(protocol.TextDocumentItem{URI: "file:///w/a%20b.go", Version: 1, Text: "one"})
	d.Open(protocol.TextDocumentItem{URI: "file:///w/a b.go", Version: 5, Text: "two"})
	if got := d.Paths(); !slices.Equal(got, []string{"/w/a b.go"}) {
		t.Errorf("the documents are %q", got)
	}
	if d.Get("/w/a b.go").Index().Text() != "two" || d.URI("/w/a b.go") != "file:///w/a b.go" {
		t.Error("the later opening does not count")
	}
	_, never := d.Close("file:///w/none.go")
	doc, err := d.Close("file:///w/a%20b.go")
	if never == nil || err != nil || doc == nil || d.Last() != nil {
		t.Error("closing does not fit")
	}
	if _, err := d.Change(protocol.VersionedTextDocumentIdentifier{
		TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: "file:///w/a b.go"},
	}, nil); err == nil {
		t.Error("a document that is not open was changed")
	}
}
