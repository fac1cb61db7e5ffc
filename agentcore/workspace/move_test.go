package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

// moves is a workspace for tests of moves.
type moves struct {
	*testing.T
	view    *View
	session *Proposal
	dir     string
	told    map[event.HunkID]Hunk
}

func newMoves(t *testing.T, files map[string]string) *moves {
	m := &moves{T: t, told: map[event.HunkID]Hunk{}}
	m.view, m.dir = open(t, files)
	m.session = m.view.NewProposal(ProposalOptions{ID: "p", Changed: func(hunks []Hunk) {
		for _, h := range hunks {
			m.told[h.ID] = h
		}
	}})
	t.Cleanup(func() {
		m.session.Close()
		if len(m.view.anchors) != 0 {
			t.Errorf("%d anchors are left", len(m.view.anchors))
		}
	})
	return m
}

func (m *moves) at(name string) string { return filepath.Join(m.dir, filepath.FromSlash(name)) }

// move moves a file or folder in a layer.
func (m *moves) move(l *Layer, from, to string) {
	m.Helper()
	var base Stamp
	if file, err := l.Read(m.at(from)); err == nil {
		base = file.Stamp
	}
	if err := l.Move(m.at(from), m.at(to), base, Author{Run: "r1", Agent: "a", Reason: "tidy"}); err != nil {
		m.Fatal(err)
	}
}

// shows checks what a layer shows; "-" stands for no file.
func (m *moves) shows(l *Layer, want map[string]string) {
	m.Helper()
	defer l.NextTurn()
	for name, text := range want {
		file, err := l.Read(m.at(name))
		got := file.Text
		if kind(err) == NotFound {
			got = "-"
		} else if err != nil {
			m.Fatal(err)
		}
		if got != text {
			m.Errorf("%s is %q, want %q", name, got, text)
		}
	}
}

// hunks are the open ones and the conflicts, each in a word.
func (m *moves) hunks(want ...string) []Hunk {
	m.Helper()
	var got []string
	var hunks []Hunk
	for _, h := range m.session.Hunks() {
		if h.State != event.StateOpen && h.State != event.StateConflict {
			continue
		}
		word := strings.TrimPrefix(h.Path, m.dir+"/")
		switch {
		case h.MoveTo != "":
			word += ">" + strings.TrimPrefix(h.MoveTo, m.dir+"/")
		case h.Create:
			word = "+" + word
		case h.Delete:
			word = "-" + word
		default:
			word += ":" + strings.TrimSuffix(h.After, "\n")
		}
		if h.State == event.StateConflict {
			word += "!"
		}
		got = append(got, word)
		hunks = append(hunks, h)
		if told := m.told[h.ID]; told.Path != h.Path || told.MoveTo != h.MoveTo || told.State != h.State {
			m.Errorf("told %+v, is %+v", told, h)
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		m.Fatalf("hunks are %q, want %q", got, want)
	}
	return hunks
}

func ids(hunks []Hunk) []event.HunkID {
	var list []event.HunkID
	for _, h := range hunks {
		list = append(list, h.ID)
	}
	return list
}

const upper = "ONE\ntwo\nthree\nfour\nfive\n"

func TestMoveInLayers(t *testing.T) {
	m := newMoves(t, map[string]string{"a": five, "dir/x": "x\n", "dir/sub/y": "y\n"})
	parent := m.session.Fork()
	child := parent.Fork()
	write(t, child, m.at("a"), upper, "")
	m.move(child, "a", "b")
	m.move(child, "b", "new/c")
	write(t, child, m.at("new/c"), strings.Replace(upper, "five", "FIVE", 1), "")
	m.shows(child, map[string]string{"a": "-", "b": "-", "new/c": "ONE\ntwo\nthree\nfour\nFIVE\n"})
	m.shows(parent, map[string]string{"a": five, "new/c": "-"})
	// What changes below goes along.
	m.view.SetDocument(m.at("a"), strings.Replace(five, "three", "THREE", 1), 1)
	m.shows(child, map[string]string{"a": "-", "new/c": "ONE\ntwo\nTHREE\nfour\nFIVE\n"})
	if changes := child.Changes(); len(changes) != 1 || changes[0].Path != m.at("new/c") ||
		changes[0].Before.Path != m.at("a") || changes[0].After.Version != -1 {
		t.Errorf("got %+v", changes)
	}
	list, err := child.List(m.dir)
	if err != nil || len(list) != 2 || list[0].Path != m.at("dir") || list[1].Path != m.at("new") {
		t.Errorf("got %v, %v", list, err)
	}
	m.move(child, "dir", "lib/dir")
	m.shows(child, map[string]string{"dir/x": "-", "dir/sub/y": "-", "lib/dir/x": "x\n", "lib/dir/sub/y": "y\n"})
	saved := child.Saved()
	if len(saved) != 3 || saved[0].Path != m.at("lib/dir/sub/y") || saved[0].MovedFrom != m.at("dir/sub/y") {
		t.Errorf("saved %+v", saved)
	}
	again := parent.Fork()
	if conflicts := again.Load(saved); len(conflicts) != 0 {
		t.Errorf("got %+v", conflicts)
	}
	m.shows(again, map[string]string{
		"dir/x": "-", "lib/dir/x": "x\n", "new/c": "ONE\ntwo\nTHREE\nfour\nFIVE\n", "a": "-",
	})

	// A sibling that edits the old path follows once its parent has the move.
	sibling := parent.Fork()
	write(t, sibling, m.at("a"), "one\ntwo\n3\nfour\nfive\n", "")
	if report := merge(t, child); len(report.Conflicts) != 0 {
		t.Errorf("got %+v", report)
	}
	if len(child.Saved()) != 0 {
		t.Errorf("a merged layer has %+v", child.Saved())
	}
	m.shows(parent, map[string]string{
		"a": "-", "new/c": "ONE\ntwo\nTHREE\nfour\nFIVE\n", "lib/dir/x": "x\n", "dir/x": "-",
	})
	if report := merge(t, again); len(report.Conflicts) != 0 {
		t.Errorf("the same move is a conflict: %+v", report)
	}
	m.shows(sibling, map[string]string{"a": "-", "new/c": "ONE\ntwo\n3\nfour\nFIVE\n"})
	if report := merge(t, sibling); len(report.Conflicts) != 0 {
		t.Errorf("got %+v", report)
	}
	if report := merge(t, parent); len(report.Conflicts) != 0 {
		t.Errorf("got %+v", report)
	}
	m.hunks("a>new/c", "a:ONE", "a:3", "a:FIVE", "dir/sub/y>lib/dir/sub/y", "dir/x>lib/dir/x")
	m.shows(sibling, map[string]string{"a": "-", "new/c": "ONE\ntwo\n3\nfour\nFIVE\n"})

	// Later turns go on with the moved file.
	m.move(parent, "new/c", "d")
	write(t, parent, m.at("lib/dir/x"), "X\n", "")
	merge(t, parent)
	m.hunks("a>d", "a:ONE", "a:3", "a:FIVE", "dir/sub/y>lib/dir/sub/y", "dir/x>lib/dir/x", "dir/x:X")
	m.move(parent, "d", "a")
	m.move(parent, "lib/dir", "dir")
	merge(t, parent)
	m.hunks("a:ONE", "a:3", "a:FIVE", "dir/x:X")
}

func TestMoveIsRefused(t *testing.T) {
	m := newMoves(t, map[string]string{
		"a":               "a\n",
		"b":               "b\n",
		"dir/x":           "x\n",
		"other/z":         "z\n",
		"bin/x":           "\x00",
		"secrets/.env":    "KEY=1\n",
		"git/.git/config": "c\n",
	})
	if err := os.Symlink("a", m.at("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(m.at("links/deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../a", m.at("links/deep/l")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(m.at("empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	layer := m.session.Fork()
	write(t, layer, m.at("made/n"), "n\n", "")
	before := layer.Saved()
	for _, test := range []struct {
		from, to string
		base     Stamp
		want     ErrorKind
	}{
		{"a", "c", "", Stale},
		{"a", "c", "other", Stale},
		{"none", "c", "", NotFound},
		{"a", "a", StampOf("a\n"), Exists},
		{"a", "b", StampOf("a\n"), Exists},
		{"a", "dir", StampOf("a\n"), Exists},
		{"a", "made", StampOf("a\n"), Directory},
		{"a", "b/c", StampOf("a\n"), NotRegular},
		{"a", "a/c", StampOf("a\n"), Directory},
		{"a", ".git/hooks/x", StampOf("a\n"), Protected},
		{"a", ".env", StampOf("a\n"), Protected},
		{"a", "../c", StampOf("a\n"), Outside},
		{"a", ".", StampOf("a\n"), Directory},
		{".", "c", "", Directory},
		{"link", "c", StampOf("a\n"), NotRegular},
		{"dir", "dir/sub", "", Directory},
		{"dir", "other", "", Exists},
		{"dir", "made", "", Directory},
		{"dir", ".vscode", "", Protected},
		{"bin", "c", "", Binary},
		{"secrets", "c", "", Protected},
		{"git", "c", "", Protected},
		{"links", "c", "", NotRegular},
		{"empty", "c", "", NotFound},
	} {
		t.Run(test.from+" "+test.to, func(t *testing.T) {
			err := layer.Move(m.at(test.from), m.at(test.to), test.base, Author{})
			if kind(err) != test.want {
				t.Fatalf("got %v, want %s", err, test.want)
			}
			var file *FileError
			if errors.As(err, &file) && (file.Hint == "" || file.Detail == "") {
				t.Errorf("no help in %+v", file)
			}
			if len(layer.Saved()) != len(before) {
				t.Errorf("something was moved: %+v", layer.Saved())
			}
		})
	}
}

func TestMoveAndWriteAnew(t *testing.T) {
	m := newMoves(t, map[string]string{"a": "a\n", "b": "b\n"})
	layer := m.session.Fork()
	m.move(layer, "a", "c")
	write(t, layer, m.at("a"), "shim\n", "")
	m.shows(layer, map[string]string{"a": "shim\n", "c": "a\n"})
	// Two files change places.
	m.move(layer, "b", "tmp")
	m.move(layer, "c", "b")
	m.move(layer, "tmp", "c")
	m.shows(layer, map[string]string{"a": "shim\n", "b": "a\n", "c": "b\n", "tmp": "-"})
	merge(t, layer)
	m.shows(layer, map[string]string{"a": "shim\n", "b": "a\n", "c": "b\n", "tmp": "-"})
	m.hunks("a:shim", "b:a", "+c")

	// The same, turn by turn.
	m = newMoves(t, map[string]string{"a": "a\n", "b": "b\n"})
	layer = m.session.Fork()
	m.move(layer, "a", "c")
	merge(t, layer)
	m.hunks("a>c")
	write(t, layer, m.at("a"), "shim\n", "")
	merge(t, layer)
	m.shows(layer, map[string]string{"a": "shim\n", "c": "a\n"})
	m.hunks("a:shim", "+c")
	m.move(layer, "c", "d")
	merge(t, layer)
	m.hunks("a:shim", "+d")
	m.move(layer, "b", "tmp")
	merge(t, layer)
	m.move(layer, "d", "b")
	merge(t, layer)
	m.shows(layer, map[string]string{"a": "shim\n", "b": "a\n", "tmp": "b\n", "d": "-"})
	m.hunks("a:shim", "b:a", "+tmp")
	// Over a file that was deleted, and a moved file that is deleted.
	if err := layer.Delete(m.at("tmp"), StampOf("b\n"), Author{}); err != nil {
		t.Fatal(err)
	}
	merge(t, layer)
	m.hunks("a:shim", "b:a")
	m.move(layer, "a", "e")
	merge(t, layer)
	m.hunks("a>e", "a:shim", "b:a")
	if err := layer.Delete(m.at("e"), StampOf("shim\n"), Author{}); err != nil {
		t.Fatal(err)
	}
	merge(t, layer)
	m.hunks("-a", "b:a")
}

func TestMoveConflicts(t *testing.T) {
	t.Run("the other side deleted it", func(t *testing.T) {
		m := newMoves(t, map[string]string{"a": "a\n"})
		parent := m.session.Fork()
		child := parent.Fork()
		m.move(child, "a", "b")
		if err := parent.Delete(m.at("a"), StampOf("a\n"), Author{}); err != nil {
			t.Fatal(err)
		}
		m.shows(child, map[string]string{"a": "-", "b": "-"})
		report := merge(t, child)
		if len(report.Conflicts) != 1 ||
			report.Conflicts[0] != (Conflict{Path: m.at("a"), Base: "a\n", Ours: "a\n", OursPath: m.at("b")}) {
			t.Errorf("got %+v", report)
		}
	})
	t.Run("the other side moved it elsewhere", func(t *testing.T) {
		m := newMoves(t, map[string]string{"a": "a\n"})
		parent := m.session.Fork()
		child := parent.Fork()
		write(t, child, m.at("a"), "a\nchild\n", "")
		m.move(child, "a", "b")
		m.move(parent, "a", "c")
		report := merge(t, child)
		if len(report.Conflicts) != 1 ||
			report.Conflicts[0] != (Conflict{
				Path:       m.at("c"),
				Base:       "a\n",
				Ours:       "a\nchild\n",
				Theirs:     "a\n",
				OursPath:   m.at("b"),
				TheirsPath: m.at("c"),
			}) {
			t.Errorf("got %+v", report)
		}
		m.shows(parent, map[string]string{"a": "-", "b": "-", "c": "a\nchild\n"})
	})
	t.Run("the other side made the target", func(t *testing.T) {
		m := newMoves(t, map[string]string{"a": "a\n"})
		parent := m.session.Fork()
		child := parent.Fork()
		m.move(child, "a", "b")
		write(t, parent, m.at("b"), "b\n", "")
		m.shows(child, map[string]string{"a": "a\n", "b": "b\n"})
		if err := parent.Delete(m.at("b"), StampOf("b\n"), Author{}); err != nil {
			t.Fatal(err)
		}
		m.shows(child, map[string]string{"a": "-", "b": "a\n"})
		write(t, parent, m.at("b"), "b\n", "")
		report := merge(t, child)
		if len(report.Conflicts) != 1 ||
			report.Conflicts[0] != (Conflict{
				Path: m.at("b"), EndLine: 1, Ours: "a\n", Theirs: "b\n", OursPath: m.at("b"),
			}) {
			t.Errorf("got %+v", report)
		}
		m.shows(parent, map[string]string{"a": "a\n", "b": "b\n"})
	})
	t.Run("in the session", func(t *testing.T) {
		m := newMoves(t, map[string]string{"a": "a\n", "gone": "g\n"})
		layer, other := m.session.Fork(), m.session.Fork()
		m.move(layer, "a", "b")
		m.move(layer, "gone", "here")
		write(t, other, m.at("b"), "b\n", "")
		if err := other.Delete(m.at("gone"), StampOf("g\n"), Author{}); err != nil {
			t.Fatal(err)
		}
		merge(t, other)
		report := merge(t, layer)
		if len(report.Conflicts) != 2 || report.Conflicts[0].Path != m.at("b") || report.Conflicts[0].Theirs != "b\n" ||
			report.Conflicts[1] != (Conflict{Path: m.at("gone"), Base: "g\n", Ours: "g\n", OursPath: m.at("here")}) {
			t.Errorf("got %+v", report)
		}
		m.hunks("+b", "-gone")
	})
}
