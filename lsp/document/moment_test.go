package document

import (
	"testing"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/lsp/authoring"
	"github.com/agentls/agentls/lsp/position"
)

// TestFollow carries ranges over to a newer text.
func TestFollow(t *testing.T) {
	at := func(first, firstCharacter, last, lastCharacter uint32) (r protocol.Range) {
		r.Start.Line, r.Start.Character = first, firstCharacter
		r.End.Line, r.End.Character = last, lastCharacter
		return r
	}
	const most = 1<<32 - 1
	for _, test := range []struct {
		from, to    string
		given, want protocol.Range
		gone        bool
	}{
		{"a\nb\nc\n", "a\nb\nc\n", at(7, 1, 9, 9), at(3, 1, 3, 9), false},
		{"a\nb\nc\n", "x\na\nb\nc\n", at(1, 1, 1, 1), at(2, 1, 2, 1), false},
		{"a\nb\nc\n", "c\n", at(2, 0, 2, 0), at(0, 0, 0, 0), false},
		{"a\nb\nc\n", "a\nB\nc\n", at(1, 0, 1, 1), protocol.Range{}, true},
		{"a\nb\nc\n", "a\nB\nc\n", at(0, 0, 2, 1), at(0, 0, 2, 1), false}, // both ends stand
		{"a\nb\nc\n", "a\nC\n", at(0, 0, 1, 0), at(0, 0, 1, 0), false},    // nothing of the last line is meant
		{"a\nb\nc\n", "x\na\nb\nc\n", at(0, 0, most, most), at(1, 0, 4, most), false},
		{"a\nb\nc\n", "x\na\nb\nc\n", at(most, 0, most, most), at(4, 0, 4, most), false},
		{"", "x\n", at(0, 0, 0, 0), at(1, 0, 1, 0), false},
	} {
		d := newOn(t, position.Encoding(protocol.PositionEncodingKindUTF16))
		u := uri.File("/w/a.txt")
		d.Open(protocol.TextDocumentItem{URI: u, Version: 1, Text: test.from})
		ctx := d.Keep(t.Context())
		id := protocol.VersionedTextDocumentIdentifier{Version: 2}
		id.URI = u
		whole := &protocol.TextDocumentContentChangeWholeDocument{Text: test.to}
		if _, err := d.Change(id, []protocol.TextDocumentContentChangeEvent{whole}); err != nil {
			t.Fatal(err)
		}
		got, err := d.Follow(ctx, "/w/a.txt", test.given)
		if test.gone != (err != nil) || err == nil && got != test.want {
			t.Errorf("%q → %q: %v is %v (%v), want %v", test.from, test.to, test.given, got, err, test.want)
		}
	}
}

// TestReadBetweenMessages: what is read in the middle of a message about documents is read again behind it.
func TestReadBetweenMessages(t *testing.T) {
	d := newOn(t, position.Encoding(protocol.PositionEncodingKindUTF16))
	var seen []bool
	begun, ended := make(chan struct{}, 10), make(chan error, 1)
	d.kindOf = func(path string) authoring.Kind { // which is asked in the middle of Open
		go func() {
			ended <- d.Read(t.Context(), func() {
				seen = append(seen, d.Get(path) != nil)
				begun <- struct{}{}
			})
		}()
		<-begun
		return authoring.None
	}
	d.Open(protocol.TextDocumentItem{URI: uri.File("/w/a.txt"), Version: 1, Text: "a\n"})
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if len(seen) < 2 || seen[0] || !seen[len(seen)-1] {
		t.Errorf("the document was there in the readings %v, want it in the last and not in the first of several", seen)
	}
}
