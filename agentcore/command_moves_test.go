package agentcore_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/sandbox"
)

// utf16le is a text as a file in UTF-16, with its byte order mark.
func utf16le(text string) string {
	var b strings.Builder
	b.WriteString("\xff\xfe")
	for _, r := range text {
		b.WriteString(string([]byte{byte(r), byte(r >> 8)}))
	}
	return b.String()
}

// moves are the proposed moves as "old>new".
func (w *world) moves() string {
	w.t.Helper()
	var all []string
	for _, h := range w.session.Board().Proposal().Hunks() {
		if h.MoveTo != "" {
			from, err := filepath.Rel(w.dir, h.Path)
			if err != nil {
				w.t.Fatal(err)
			}
			to, err := filepath.Rel(w.dir, h.MoveTo)
			if err != nil {
				w.t.Fatal(err)
			}
			all = append(all, from+">"+to)
		}
	}
	return strings.Join(all, "|")
}

// TestCommandChangesUTF16 changes a file in UTF-16, which stays in it.
func TestCommandChangesUTF16(t *testing.T) {
	eachLevel(t, func(t *testing.T, level sandbox.Level) {
		w := newWorld(t, map[string]string{
			"wide.txt": utf16le("one\ntwo\n"), "open.txt": utf16le("disk\n"),
			"bin": "\x00\x01",
		},
			script.Turn{Answer: []script.Step{bash(
				`od -An -tx1 open.txt; printf '\377\376o\000n\000e\000\n\000T\000W\000O\000\n\000' > wide.txt; printf 'x\000\n\000' >> open.txt; printf '\002\000' >> bin; printf '\376\377\000n\000\n' > new.txt; mkfifo pipe`,
			)}},
			answered([]string{
				"ff fe 74 00 79 00 70 00 65 00 64 00 0a 00",
				"changed files (proposed, not written): new.txt (new), open.txt, wide.txt\n",
				"new.txt: it is utf-16be in the sandbox",
				"bin stays in the sandbox, where the next commands find it: it is not a text file",
				"pipe was removed from the sandbox: it is not a file, a folder or a symbolic link",
			}, bash("od -An -tx1 wide.txt | head -1")),
			answered([]string{"ff fe 6f 00 6e 00 65 00 0a 00 54 00 57 00 4f 00"}),
		)
		w.atLevel(level)
		w.view.SetDocument(w.path("open.txt"), "typed\n", 1)
		if result := w.wait(w.start(coder())); result.Status != event.StatusCompleted {
			t.Errorf("the run is %s: %+v", result.Status, result.Error)
		}
		if got := w.proposed(); got != "new.txt -+n\n|open.txt -+x\n|wide.txt -two\n+TWO\n" {
			t.Errorf("the hunks are %q", got)
		}
		w.unchanged("wide.txt", utf16le("one\ntwo\n"))
	})
}

// TestCommandMovesFiles moves files by a command: as they are, changed, in UTF-16, unsaved, and a folder of them.
func TestCommandMovesFiles(t *testing.T) {
	lines := func(word string) string {
		var b strings.Builder
		for i := range 10 {
			fmt.Fprintf(&b, "%s %d\n", word, i)
		}
		return b.String()
	}
	eachLevel(t, func(t *testing.T, level sandbox.Level) {
		w := newWorld(t, map[string]string{
			"a.txt": lines("a"), "b.txt": lines("b"), "wide.txt": utf16le(lines("w")), "open.txt": "disk\n",
			"dir/x.txt": "x\n", "dir/y.txt": "y\n",
			"empty": "", "other.txt": lines("o"), ".gitignore": "out/\n", "ignored.txt": lines("i"),
		},
			script.Turn{Answer: []script.Step{bash(
				"mkdir sub out; mv a.txt sub/a2.txt; mv b.txt b2.txt; sed -i 's/b 3/B 3/' b2.txt; mv " +
					"wide.txt w2.txt; " +
					"mv open.txt open2.txt; mv dir dir2; " +
					"mv empty empty2; rm other.txt; printf 'quite\nanother\ntext\n' > unlike.txt; mv ignored.txt " +
					"out/ignored.txt",
			)}},
			answered([]string{
				"b2.txt (moved from b.txt), dir2/x.txt (moved from dir/x.txt), dir2/y.txt (moved from dir/y.txt), " +
					"empty (deleted), empty2 (new), ignored.txt (deleted), " +
					"open2.txt (moved from open.txt), other.txt (deleted), sub/a2.txt (moved from a.txt), unlike.txt " +
					"(new), w2.txt (moved from wide.txt)\n",
			},
				bash(
					"cat sub/a2.txt open2.txt dir2/x.txt | tail -3; grep B b2.txt; od -An -tx1 w2.txt | head "+
						"-1; ls a.txt "+
						"dir/x.txt wide.txt")),
			answered([]string{
				"a 9\ntyped\nx\nB 3\n", "ff fe 77 00 20 00 30 00", "cannot access 'a.txt'",
				"cannot access 'wide.txt'",
			}, call("read", `{"path":"sub/a2.txt"}`)),
			script.Turn{
				Expect: []script.Expect{script.Result("read", "a 9")},
				Answer: []script.Step{script.Text("done")},
			},
		)
		w.atLevel(level)
		w.view.SetDocument(w.path("open.txt"), "typed\n", 1)
		if result := w.wait(w.start(coder())); result.Status != event.StatusCompleted {
			t.Errorf("the run is %s: %+v", result.Status, result.Error)
		}
		if got := w.moves(); got != "a.txt>sub/a2.txt|b.txt>b2.txt|dir/x.txt>dir2/x.txt|dir/y.txt>dir2/y.txt|open.txt>open2.txt|wide.txt>w2.txt" {
			t.Errorf("the moves are %s", got)
		}
		if got := w.proposed(); !strings.Contains(got, "b.txt -b 3\n+B 3\n") ||
			!strings.Contains(got, "unlike.txt -+quite\nanother\ntext\n") {
			t.Errorf("the hunks are %q", got)
		}
		w.unchanged("a.txt", lines("a"))
	})
}
