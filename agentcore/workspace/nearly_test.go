package workspace

import (
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
)

// TestEditsThatAnExtensionChanges: what an editor shows after it took edits, and an extension changed them, has the edits; it does not have
// those that the editor left out.
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
		"deleted":         {"one\nuno\ntwo\n", "uno five"},
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
