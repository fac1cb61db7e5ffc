package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

// proposed is a session that moves the file a to b and edits it.
func proposed(t *testing.T) (*moves, *Layer) {
	m := newMoves(t, map[string]string{"a": five})
	layer := m.session.Fork()
	write(t, layer, m.at("a"), upper, "")
	m.move(layer, "a", "b")
	merge(t, layer)
	m.hunks("a>b", "a:ONE")
	return m, layer
}

// do makes the edits of hunks as an editor does that has no document open.
func (m *moves) do(hunks []Hunk) {
	m.Helper()
	edits, failed := m.session.Edits(ids(hunks))
	if len(failed) > 0 {
		m.Fatalf("failed: %+v", failed)
	}
	m.session.Confirm(ids(hunks), true, "")
	for _, e := range edits {
		put(m, e.Path, e.After())
		if e.MoveTo != "" {
			if err := os.MkdirAll(filepath.Dir(e.MoveTo), 0o755); err != nil {
				m.Fatal(err)
			}
			if err := os.Rename(e.Path, e.MoveTo); err != nil {
				m.Fatal(err)
			}
		}
	}
	for _, e := range edits {
		m.view.Recheck(e.Path)
	}
}

func (m *moves) states(hunks []Hunk, want event.ProposalState) {
	m.Helper()
	for _, h := range hunks {
		if now, _ := m.session.Hunk(h.ID); now.State != want {
			m.Errorf("%+v is %+v, want %s", h, now, want)
		}
	}
}

func TestMoveFollowsTyping(t *testing.T) {
	m, layer := proposed(t)
	m.view.SetDocument(m.at("a"), "zero\none\ntwo\nthree\nfour\nfive\n", 1)
	hunks := m.hunks("a>b", "a:ONE")
	if hunks[1].StartLine != 1 || hunks[0].Author.Reason != "tidy" {
		t.Errorf("got %+v", hunks)
	}
	m.shows(layer, map[string]string{"a": "-", "b": "zero\nONE\ntwo\nthree\nfour\nfive\n"})
	// The edit alone is taken at the old path.
	edits, failed := m.session.Edits([]event.HunkID{hunks[1].ID})
	if len(failed) != 0 || len(edits) != 1 || edits[0].MoveTo != "" ||
		edits[0].Path != m.at("a") || len(edits[0].Edits) != 1 {
		t.Errorf("got %+v, %+v", edits, failed)
	}
	both, failed := m.session.Edits(ids(hunks))
	if len(failed) != 0 || len(both) != 1 || both[0].MoveTo != m.at("b") ||
		both[0].Path != m.at("a") || both[0].Version != 1 ||
		both[0].After() != "zero\nONE\ntwo\nthree\nfour\nfive\n" ||
		len(both[0].Edits) != 1 || !slices.Equal(both[0].Reasons, []string{"", "tidy"}) {
		t.Errorf("got %+v, %+v", both, failed)
	}
	m.view.SetDocument(m.at("a"), edits[0].After(), 2)
	m.states(hunks[1:], event.StateAccepted)
	m.hunks("a>b")
	if failed := m.session.Reject([]event.HunkID{hunks[0].ID}); len(failed) > 0 {
		t.Errorf("got %+v", failed)
	}
	m.hunks()
	m.shows(layer, map[string]string{"b": "-", "a": "zero\nONE\ntwo\nthree\nfour\nfive\n"})
}

func TestMoveIsTakenByEditors(t *testing.T) {
	typed := strings.Replace(five, "three", "THREE", 1)
	// Each way tells the view of the rename as some editor does.
	for name, rename := range map[string]func(m *moves, ids []event.HunkID){
		"renamed, then closed and opened": func(m *moves, _ []event.HunkID) {
			m.view.Rename(m.at("a"), m.at("b"))
			m.view.CloseDocument(m.at("a"))
			m.view.SetDocument(m.at("b"), typed, 1)
		},
		"closed and opened, then renamed": func(m *moves, ids []event.HunkID) {
			m.session.Confirm(ids, true, "")
			m.view.CloseDocument(m.at("a"))
			m.view.SetDocument(m.at("b"), typed, 1)
			m.view.Rename(m.at("a"), m.at("b"))
		},
		"opened, then closed": func(m *moves, ids []event.HunkID) {
			m.session.Confirm(ids, true, "")
			m.view.SetDocument(m.at("b"), typed, 1)
			m.view.CloseDocument(m.at("a"))
		},
		"closed and opened": func(m *moves, ids []event.HunkID) {
			m.view.CloseDocument(m.at("a"))
			m.view.SetDocument(m.at("b"), typed, 1)
		},
		"opened before it is closed, not told": func(m *moves, ids []event.HunkID) {
			m.view.SetDocument(m.at("b"), typed, 1)
			m.view.CloseDocument(m.at("a"))
		},
		"renamed on disk before it is saved": func(m *moves, ids []event.HunkID) {
			m.session.Confirm(ids, true, "")
			put(m, m.at("b"), five)
			m.view.DiskChanged([]string{m.at("a"), m.at("b")})
			if err := m.view.Settle(m.Context()); err != nil {
				m.Fatal(err)
			}
			m.view.SetDocument(m.at("b"), typed, 1)
			m.view.CloseDocument(m.at("a"))
		},
		"renamed on disk": func(m *moves, ids []event.HunkID) {
			m.view.CloseDocument(m.at("a"))
			m.session.Confirm(ids, true, "")
			put(m, m.at("b"), typed)
			m.view.DiskChanged([]string{m.at("a"), m.at("b")})
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, layer := proposed(t)
			m.view.SetDocument(m.at("a"), typed, 1)
			hunks := m.hunks("a>b", "a:ONE")
			if err := os.Remove(m.at("a")); err != nil {
				t.Fatal(err)
			}
			rename(m, ids(hunks[:1]))
			if err := m.view.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			m.states(hunks[:1], event.StateAccepted)
			m.hunks("b:ONE")
			m.shows(layer, map[string]string{"a": "-", "b": strings.Replace(typed, "one", "ONE", 1)})
			if now, _ := m.session.Hunk(hunks[0].ID); now.Path != m.at("a") || now.MoveTo != m.at("b") {
				t.Errorf("got %+v", now)
			}
		})
	}
}

// An editor closes the document before it moves or deletes the file. What the disk has meanwhile is no change of the
// user's.
func TestHeldWhileTheEditorMoves(t *testing.T) {
	settle := func(m *moves) {
		m.Helper()
		if err := m.view.Settle(m.Context()); err != nil {
			m.Fatal(err)
		}
	}
	m, layer := proposed(t)
	m.view.SetDocument(m.at("a"), five, 1)
	hunks := m.hunks("a>b", "a:ONE")
	edits, failed := m.session.Edits(ids(hunks))
	if len(failed) > 0 {
		t.Fatalf("failed: %+v", failed)
	}
	release := m.view.Hold([]string{m.at("a"), m.at("b")})
	m.view.SetDocument(m.at("a"), edits[0].After(), 2)
	m.view.CloseDocument(m.at("a"))
	settle(m)
	if err := os.Rename(m.at("a"), m.at("b")); err != nil {
		t.Fatal(err)
	}
	m.view.Rename(m.at("a"), m.at("b"))
	m.view.DiskChanged([]string{m.at("a"), m.at("b")})
	settle(m)
	m.view.SetDocument(m.at("b"), edits[0].After(), 1)
	release()
	m.session.Confirm(ids(hunks), true, "")
	settle(m)
	m.states(hunks, event.StateAccepted)
	m.hunks()
	m.shows(layer, map[string]string{"a": "-", "b": upper})

	// A new file that was never saved is taken away again.
	m = newMoves(t, nil)
	layer = m.session.Fork()
	write(t, layer, m.at("new"), "new\n", "")
	merge(t, layer)
	hunks = m.hunks("+new")
	put(m, m.at("new"), "")
	m.view.SetDocument(m.at("new"), "new\n", 1)
	m.session.Confirm(ids(hunks), true, "")
	settle(m)
	m.states(hunks, event.StateAccepted)
	if _, failed := m.session.UndoEdits(ids(hunks)); len(failed) > 0 {
		t.Fatalf("failed: %+v", failed)
	}
	release = m.view.Hold([]string{m.at("new")})
	m.view.CloseDocument(m.at("new"))
	settle(m)
	if err := os.Remove(m.at("new")); err != nil {
		t.Fatal(err)
	}
	release()
	m.session.ConfirmUndo(ids(hunks), true, "")
	settle(m)
	m.states(hunks, event.StateRejected)
	if now, _ := m.session.Hunk(hunks[0].ID); now.Detail != "undone" {
		t.Errorf("got %+v", now)
	}
}

func TestMoveWithoutDocuments(t *testing.T) {
	m, _ := proposed(t)
	hunks := m.hunks("a>b", "a:ONE")
	m.do(hunks)
	m.states(hunks, event.StateAccepted)
	m.hunks()
	// The editor says that it moved a file and did not.
	m, _ = proposed(t)
	hunks = m.hunks("a>b", "a:ONE")
	m.session.Confirm(ids(hunks), true, "")
	m.view.Recheck(m.at("a"))
	m.hunks("a>b", "a:ONE")
	if now, _ := m.session.Hunk(hunks[0].ID); now.Detail != untaken {
		t.Errorf("got %+v", now)
	}
	m.session.Confirm(ids(hunks), false, "the editor has no way to rename")
	if now, _ := m.session.Hunk(hunks[0].ID); now.Detail != "the editor has no way to rename" ||
		now.State != event.StateOpen {
		t.Errorf("got %+v", now)
	}
}

func TestMoveInTheWay(t *testing.T) {
	m, layer := proposed(t)
	changed := func() {
		m.view.DiskChanged([]string{m.at("a"), m.at("b")})
		if err := m.view.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	put(t, m.at("b"), "in the way\n")
	changed()
	hunks := m.hunks("a>b!", "a:ONE")
	m.shows(layer, map[string]string{"a": upper, "b": "in the way\n"})
	if _, failed := m.session.Edits(ids(hunks[:1])); len(failed) != 1 ||
		!strings.Contains(failed[0].Reason, "appeared") {
		t.Errorf("got %+v", failed)
	}
	if err := os.Remove(m.at("b")); err != nil {
		t.Fatal(err)
	}
	changed()
	m.hunks("a>b", "a:ONE")
	// Nobody watches, but taking the hunk looks.
	put(t, m.at("b"), "in the way\n")
	if _, failed := m.session.Edits(ids(hunks[:1])); len(failed) != 1 {
		t.Errorf("got %+v", failed)
	}
	if err := os.Remove(m.at("b")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(m.at("a"), m.at("away")); err != nil {
		t.Fatal(err)
	}
	changed()
	m.hunks("a>b!", "a:ONE!")
	if err := os.Rename(m.at("away"), m.at("a")); err != nil {
		t.Fatal(err)
	}
	changed()
	m.hunks("a>b", "a:ONE")
}

func TestUserRenames(t *testing.T) {
	m := newMoves(t, map[string]string{"dir/a": five, "dir/m": "m\n", "dir/n": "n\n", "other": "o\n"})
	layer := m.session.Fork()
	write(t, layer, m.at("dir/a"), upper, "")
	write(t, layer, m.at("dir/new"), "new\n", "")
	m.move(layer, "dir/m", "dir/moved")
	m.move(layer, "dir/n", "out")
	m.move(layer, "other", "dir/in")
	merge(t, layer)
	run := m.session.Fork()
	write(t, run, m.at("dir/a"), strings.Replace(upper, "five", "FIVE", 1), "")
	write(t, run, m.at("dir/late"), "late\n", "")
	m.move(run, "dir/new", "dir/newer")
	if _, err := run.Read(m.at("dir/a")); err != nil {
		t.Fatal(err)
	}
	run.NextTurn()
	seen, _ := run.Seen(m.at("dir/a"))
	m.view.SetDocument(m.at("dir/a"), five, 1)
	lost := false
	mark := m.view.Track(m.at("dir/a"), StampOf(five), 2, 3, func() { lost = true })
	defer mark.Release()

	if err := os.Rename(m.at("dir"), m.at("lib")); err != nil {
		t.Fatal(err)
	}
	m.view.Rename(m.at("dir"), m.at("lib"))
	m.hunks("lib/a:ONE", "lib/m>lib/moved", "lib/n>out", "+lib/new", "other>lib/in")
	if err := m.view.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.hunks("lib/a:ONE", "lib/m>lib/moved", "lib/n>out", "+lib/new", "other>lib/in")
	if file, err := m.view.Read(m.at("lib/a")); err != nil || file.Version != 1 {
		t.Errorf("the document did not follow: %+v, %v", file, err)
	}
	m.view.SetDocument(m.at("lib/a"), "zero\n"+five, 2)
	if start, _, ok := mark.Lines(); !ok || start != 3 || lost {
		t.Errorf("the mark is at %d, %v", start, ok)
	}
	m.shows(run, map[string]string{
		"lib/a":     "zero\nONE\ntwo\nthree\nfour\nFIVE\n",
		"lib/late":  "late\n",
		"lib/newer": "new\n",
		"lib/new":   "-",
		"lib/moved": "m\n",
		"lib/in":    "o\n",
		"out":       "n\n",
		"dir/a":     "-",
		"dir/late":  "-",
	})
	if now, ok := run.Seen(m.at("lib/a")); !ok || now == seen || seen == "" {
		t.Errorf("the run has seen %q, %v", now, ok)
	}
	if now, ok := run.Seen(m.at("dir/a")); !ok || now != seen {
		t.Errorf("a run that has not heard of the rename may make a new file at the former path: %q, %v", now, ok)
	}
	merge(t, run)
	m.hunks("lib/a:ONE", "lib/a:FIVE", "+lib/late", "lib/m>lib/moved", "lib/n>out", "+lib/newer", "other>lib/in")

	// The user moves a file elsewhere than the agent wants to.
	if err := os.Rename(m.at("lib/n"), m.at("mine")); err != nil {
		t.Fatal(err)
	}
	m.view.Rename(m.at("lib/n"), m.at("mine"))
	m.hunks("lib/a:ONE", "lib/a:FIVE", "+lib/late", "lib/m>lib/moved", "+lib/newer", "other>lib/in")
	m.shows(run, map[string]string{"mine": "n\n", "out": "-"})
	// Renaming what is not there, or to the same, is harmless.
	m.view.Rename(m.at("none"), m.at("also none"))
	m.view.Rename(m.at("mine"), m.at("mine"))
}

func TestRenamedLetterCase(t *testing.T) {
	m := newMoves(t, map[string]string{"a.go": five})
	layer := m.session.Fork()
	write(t, layer, m.at("a.go"), upper, "")
	m.move(layer, "a.go", "A.go")
	m.shows(layer, map[string]string{"a.go": "-", "A.go": upper})
	merge(t, layer)
	hunks := m.hunks("a.go>A.go", "a.go:ONE")
	m.do(hunks)
	m.states(hunks, event.StateAccepted)
	m.shows(layer, map[string]string{"a.go": "-", "A.go": upper})
}

func TestUndoMove(t *testing.T) {
	m, _ := proposed(t)
	hunks := m.hunks("a>b", "a:ONE")
	m.do(hunks)
	m.hunks()
	accepted := m.session.Accepted()
	if len(accepted) != 2 || accepted[0].MoveTo != m.at("a") ||
		accepted[0].Path != m.at("b") || accepted[1].Path != m.at("b") {
		t.Fatalf("got %+v", accepted)
	}
	for _, h := range hunks {
		if told := m.told[h.ID]; told.State != event.StateAccepted || h.MoveTo == "" && told.Path != m.at("b") {
			t.Errorf("told %+v", told)
		}
	}
	m.view.SetDocument(m.at("b"), upper+"six\n", 1)
	put(t, m.at("a"), "in the way\n")
	if _, failed := m.session.UndoEdits(ids(hunks[:1])); len(failed) != 1 ||
		!strings.Contains(failed[0].Reason, "another file") {
		t.Errorf("got %+v", failed)
	}
	if err := os.Remove(m.at("a")); err != nil {
		t.Fatal(err)
	}
	edits, failed := m.session.UndoEdits(ids(hunks))
	if len(failed) != 0 || len(edits) != 1 || edits[0].Path != m.at("b") ||
		edits[0].MoveTo != m.at("a") || edits[0].After() != five+"six\n" || len(edits[0].Reasons) != 2 {
		t.Fatalf("got %+v, %+v", edits, failed)
	}
	m.session.ConfirmUndo(ids(hunks), true, "")
	m.view.SetDocument(m.at("b"), edits[0].After(), 2)
	if err := os.Rename(m.at("b"), m.at("a")); err != nil {
		t.Fatal(err)
	}
	m.view.SetDocument(m.at("a"), edits[0].After(), 1)
	m.view.CloseDocument(m.at("b"))
	if err := m.view.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.states(hunks, event.StateRejected)
	if left := m.session.Accepted(); len(left) != 0 {
		t.Errorf("left are %+v", left)
	}
}

func TestUndoMoveThatTheEditorDidNotMake(t *testing.T) {
	m, _ := proposed(t)
	hunks := m.hunks("a>b", "a:ONE")
	m.do(hunks)
	m.session.ConfirmUndo(ids(hunks[:1]), true, "")
	m.view.Recheck(m.at("b"))
	m.states(hunks, event.StateAccepted)
	// The user moves it back.
	if err := os.Rename(m.at("b"), m.at("a")); err != nil {
		t.Fatal(err)
	}
	m.view.Rename(m.at("b"), m.at("a"))
	m.states(hunks[:1], event.StateRejected)
	if left := m.session.Accepted(); len(left) != 1 || left[0].Path != m.at("a") {
		t.Errorf("left are %+v", left)
	}
}

func TestRestoreMoves(t *testing.T) {
	m := newMoves(t, map[string]string{"a": five, "c": "c\n", "e": five, "g": "g\n", "i": "i\n"})
	layer := m.session.Fork()
	write(t, layer, m.at("a"), upper, "")
	write(t, layer, m.at("e"), upper, "")
	for _, name := range []string{"a", "c", "e", "g", "i"} {
		m.move(layer, name, string(name[0]+1))
	}
	merge(t, layer)
	hunks := m.hunks("a>b", "a:ONE", "c>d", "e>f", "e:ONE", "g>h", "i>j")
	m.do(hunks[:2])
	saved := m.session.Left()
	// Meanwhile the user moves one where it should go, makes something at the target of another, and deletes one.
	if err := os.Rename(m.at("e"), m.at("f")); err != nil {
		t.Fatal(err)
	}
	put(t, m.at("h"), "in the way\n")
	if err := os.Remove(m.at("i")); err != nil {
		t.Fatal(err)
	}
	later := *m
	later.told = map[event.HunkID]Hunk{}
	later.session = m.view.NewProposal(ProposalOptions{ID: "q", Changed: func(hunks []Hunk) {
		for _, h := range hunks {
			later.told[h.ID] = h
		}
	}})
	defer later.session.Close()
	later.session.Restore(saved)
	later.hunks("c>d", "f:ONE", "g>h!", "i>j!")
	accepted := later.session.Accepted()
	if len(accepted) != 3 || accepted[0].MoveTo != m.at("a") || accepted[1].After != "one\n" ||
		accepted[1].Path != m.at("b") || accepted[2].MoveTo != m.at("e") {
		t.Errorf("got %+v", accepted)
	}
	later.do(later.hunks("c>d", "f:ONE", "g>h!", "i>j!")[:1])
	later.hunks("f:ONE", "g>h!", "i>j!")
}
