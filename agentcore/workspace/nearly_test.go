package workspace

import (
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

// TestInsertionThatComesWithAnotherChange: a hunk's lines that appear together with a change of the lines beside them
// are not inserted again.
func TestInsertionThatComesWithAnotherChange(t *testing.T) {
	for _, shown := range []string{
		"one\nuno\nTWO\nthree\nfour\nfive\n", "ONE\nuno\ntwo\nthree\nfour\nfive\n",
		"ONE\nmore\nuno\ntwo\nthree\nfour\nfive\n",
	} {
		s := propose(t, five, "one\nuno\ntwo\nthree\nfour\nfive\n")
		s.show(shown)
		if h := s.Hunks()[0]; h.State != event.StateAccepted {
			t.Errorf("%q: %+v", shown, h)
		}
	}
	s := propose(t, five, "one\nuno\ndue\ntwo\nthree\nfour\nfive\n")
	s.show("one\nuno\nTWO\nthree\nfour\nfive\n") // a part of it
	if h := s.Hunks()[0]; h.State != event.StateConflict {
		t.Errorf("got %+v", h)
	}
	s = propose(t, five, "one\nuno\ntwo\nthree\nfour\nfive\n")
	s.show("one\nunofficial\nTWO\nthree\nfour\nfive\n")
	if h := s.Hunks()[0]; h.State != event.StateOpen {
		t.Errorf("got %+v", h)
	}
}

// TestEditsThatAnExtensionChanges: what an editor shows after it took edits, and an extension changed them, has the
// edits; it does not have those that the editor left out.
func TestEditsThatAnExtensionChanges(t *testing.T) {
	const proposed = "one\nuno\ntwo\nTHREE (\nfour\nsix\n"
	for name, c := range map[string]struct {
		shown string
		taken string // the hunks that count as accepted: uno, THREE, five
	}{
		"brackets":        {"one\nuno\n)two\nTHREE (\n)four\nsix\n)", "uno THREE five"},
		"indented":        {"one\n    uno\ntwo\n    THREE (\nfour\nsix\n", "uno THREE five"},
		"typed elsewhere": {"typed\none\nuno\ntwo\nTHREE (\nfour\nsix\n", "uno THREE five"},
		"one left out":    {"one\ntwo\nTHREE (\nfour\nsix!\n", "THREE five"},
		"left out":        {"one\ntwo\nthree\nfour\nfive\ntyped\n", ""},
		"left out, typed": {"one\ntwo\nthree x\nfour\nfive\n", ""},
		"rewritten":       {"one\ntwo\nother words\nfour\nfive\n", ""},
		"deleted":         {"one\nuno\ntwo\n", "uno"},
	} {
		t.Run(name, func(t *testing.T) {
			s := propose(t, five, proposed)
			var ids []event.HunkID
			for _, h := range s.Hunks() {
				ids = append(ids, h.ID)
			}
			if len(ids) != 3 {
				t.Fatalf("got %+v", s.Hunks())
			}
			edits, failed := s.Edits(ids)
			if len(edits) != 1 || len(failed) != 0 {
				t.Fatalf("got %+v, %+v", edits, failed)
			}
			s.view.SetDocument(edits[0].Path, c.shown, 2)
			for i, word := range []string{"uno", "THREE", "five"} {
				h, _ := s.Hunk(ids[i])
				if accepted := h.State == event.StateAccepted; accepted != strings.Contains(c.taken, word) {
					t.Errorf("accepted %t: %+v", accepted, h)
				}
			}
		})
	}
}

// TestBracketThatAnExtensionPutsBack: an edit that replaces a lone bracket by lines counts as made where the lines have
// come and an extension has closed them by such a bracket. Lines that have not come are not made, whatever became of
// the bracket.
func TestBracketThatAnExtensionPutsBack(t *testing.T) {
	for shown, made := range map[string]bool{
		"zero\n)one\ntwo\nthree\n)": true,
		"zero\n)one\n)":             false,
		"zero\n)one\n":              false,
	} {
		s := propose(t, "one\n)", "zero\none\ntwo\nthree\n")
		var ids []event.HunkID
		for _, h := range s.Hunks() {
			ids = append(ids, h.ID)
		}
		s.Edits(ids)
		s.show(shown)
		if h, _ := s.Hunk(ids[1]); (h.State == event.StateAccepted) != made {
			t.Errorf("%q: %+v", shown, h)
		}
	}
}

// TestDeletionOfWhichAWordIsLeft: a deletion does not count as made where the user, who typed meanwhile, has left some
// of its line.
func TestDeletionOfWhichAWordIsLeft(t *testing.T) {
	for shown, made := range map[string]bool{
		"one\ntwo\nthree word\n": false, // the user deleted what stands between
		"one\ntwo\nthree (\n":    true,
	} {
		s := propose(t, "one\ntwo\nthree\nfour and the last word\n", "one\ntwo\nthree\n")
		ids := []event.HunkID{s.Hunks()[0].ID}
		s.Edits(ids)
		s.show(shown)
		if h, _ := s.Hunk(ids[0]); (h.State == event.StateAccepted) != made {
			t.Errorf("%q: %+v", shown, h)
		}
	}
}

// TestUndoOfLinesThatTheUserHasJustChanged: an editor that says it undid an edit, which it left out since the user
// typed on the same lines meanwhile, does not make the user's text part of the edit.
func TestUndoOfLinesThatTheUserHasJustChanged(t *testing.T) {
	s := propose(t, five, "one\ntwo\nthree\nfour\nFIVE six\n")
	ids := []event.HunkID{s.Hunks()[0].ID}
	s.Edits(ids)
	s.show("one\ntwo\nthree\nfour\nFIVE six\n")
	if edits, failed := s.UndoEdits(ids); len(edits) != 1 || len(failed) != 0 {
		t.Fatalf("got %+v, %+v", edits, failed)
	}
	s.show("one\ntwo\nthree\nfour\nFIVE typed\n")
	s.ConfirmUndo(ids, true, "")
	s.view.Recheck(s.path)
	if edits, failed := s.UndoEdits(ids); len(edits) != 0 || len(failed) != 1 {
		t.Errorf("got %+v, %+v", edits, failed)
	}
}
