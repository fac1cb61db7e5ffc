package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

// TestFormatsSurvive takes files of each format from the disk through a layer, a child's merge, the session and the
// editor's edits back to the disk, at their own path and at another one.
func TestFormatsSurvive(t *testing.T) {
	utf16 := func(order string, text string) string {
		data, err := Format{Encoding: order, BOM: true}.Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	const mixed = "one\r\ntwo\nthree\r\nfour\rfive\n"
	for name, test := range map[string]struct {
		data   string
		format Format
	}{
		"UTF-8":             {five, Format{"utf-8", false, 0o644}},
		"UTF-8 with a mark": {"\ufeff" + five, Format{"utf-8", true, 0o644}},
		"UTF-16 LE":         {utf16("utf-16le", five), Format{"utf-16le", true, 0o644}},
		"UTF-16 BE, CRLF": {
			utf16("utf-16be", strings.ReplaceAll(five, "\n", "\r\n")), Format{"utf-16be", true, 0o644},
		},
		"CRLF":             {strings.ReplaceAll(five, "\n", "\r\n"), Format{"utf-8", false, 0o644}},
		"CR":               {strings.ReplaceAll(five, "\n", "\r"), Format{"utf-8", false, 0o644}},
		"mixed endings":    {mixed, Format{"utf-8", false, 0o644}},
		"no final newline": {strings.TrimSuffix(five, "\n"), Format{"utf-8", false, 0o644}},
		"CRLF, none at the end": {
			strings.TrimSuffix(strings.ReplaceAll(five, "\n", "\r\n"), "\r\n"), Format{"utf-8", false, 0o644},
		},
		"executable":               {five, Format{"utf-8", false, 0o755}},
		"read only, UTF-16, emoji": {utf16("utf-16le", five+"🦫\n"), Format{"utf-16le", true, 0o444}},
	} {
		for _, moved := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", moved"}[moved], func(t *testing.T) {
				m := newMoves(t, map[string]string{"a": test.data})
				if err := os.Chmod(m.at("a"), fs.FileMode(test.format.Mode)); err != nil {
					t.Fatal(err)
				}
				parent := m.session.Fork()
				child := parent.Fork()
				path := m.at("a")
				if moved {
					m.move(child, "a", "dir/b")
					path = m.at("dir/b")
				}
				file, err := child.Read(path)
				if err != nil || file.Format != test.format {
					t.Fatalf("read as %+v, %v", file.Format, err)
				}
				text := strings.Replace(file.Text, "two", "zwei", 1)
				written, err := child.Write(path, text, file.Stamp, Author{})
				if err != nil || written.Format != test.format {
					t.Fatalf("written as %+v, %v", written.Format, err)
				}
				merge(t, child)
				merge(t, parent)
				hunks := m.session.Hunks()
				if moves := len(hunks) == 2 && hunks[0].MoveTo == path; moves != moved || !moved && len(hunks) != 1 {
					t.Fatalf("got %+v", hunks)
				}
				edits, failed := m.session.Edits(ids(hunks))
				if len(failed) != 0 || len(edits) != 1 || edits[0].After() != text || len(edits[0].Edits) != 1 {
					t.Fatalf("got %+v, %+v", edits, failed)
				}
				// The editor writes in the format that it read.
				data, err := test.format.Encode(edits[0].After())
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(m.at("a"), 0o644); err != nil {
					t.Fatal(err)
				}
				put(t, m.at("a"), string(data))
				if err := os.Chmod(m.at("a"), fs.FileMode(test.format.Mode)); err != nil {
					t.Fatal(err)
				}
				if moved {
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.Rename(m.at("a"), path); err != nil {
						t.Fatal(err)
					}
					m.view.Rename(m.at("a"), path)
				}
				m.view.Recheck(path)
				m.states(hunks, event.StateAccepted)
				if file, err := parent.Read(path); err != nil || file.Text != text || file.Format != test.format {
					t.Errorf("got %+v, %v", file, err)
				}
			})
		}
	}
}
