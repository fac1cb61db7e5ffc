package delivery

import (
	"testing"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/agentls/agentls/agentcore/workspace"
	"github.com/agentls/agentls/lsp/document"
	"github.com/agentls/agentls/lsp/position"
)

// TestExpectedOfUnopenedFiles: an editor that opens the file which it is to edit first tells of the text as it was.
func TestExpectedOfUnopenedFiles(t *testing.T) {
	const path = "/w/a.txt"
	insert := workspace.FileEdit{
		Path: path, Version: -1, Before: "one\n",
		Edits: []workspace.Edit{{Start: 4, End: 4, New: "two\n"}},
	}
	create := workspace.FileEdit{Path: path, Version: -1, Create: true, Edits: []workspace.Edit{{New: "two\n"}}}
	empty := workspace.FileEdit{Path: path, Version: -1, Create: true, Edits: []workspace.Edit{{}}}
	remove := workspace.FileEdit{Path: path, Version: -1, Before: "one\n", Delete: true}
	for _, test := range []struct {
		name     string
		edit     workspace.FileEdit
		open     bool
		text     string
		expected bool
	}{
		{"nothing was opened", insert, false, "", false},
		{"opened, not edited yet", insert, true, "one\n", true},
		{"edited", insert, true, "one\ntwo\n", false},
		{"edited in another way", insert, true, "one\n\ttwo\n", false},
		{"made, empty", create, true, "", true},
		{"made, with the line that some editors have at least", create, true, "\n", true},
		{"made and filled", create, true, "two\n", false},
		{"made, and empty it stays", empty, true, "", false},
		{"open while it is deleted", remove, true, "one\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			view, err := workspace.Open(nil, workspace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer view.Close()
			d := NewDesk(Means{
				Documents: document.New(position.Encoding(protocol.PositionEncodingKindUTF16), view, nil),
			})
			if test.open {
				d.Documents.Open(protocol.TextDocumentItem{URI: uri.File(path), Version: 1, Text: test.text})
			}
			if got := d.expected(test.edit); got != test.expected {
				t.Errorf("expected is %t, want %t", got, test.expected)
			}
		})
	}
}
