package workspace

import "testing"

func TestLineMap(t *testing.T) {
	m := MapLines("a\nb\nc\nd\ne\n", "new\na\nB1\nB2\nc\ne\n")
	for line, want := range []struct {
		to   int
		same bool
	}{{1, true}, {2, false}, {4, true}, {5, false}, {5, true}} {
		if to, same := m.To(line); to != want.to || same != want.same {
			t.Errorf("line %d is at %d (same: %t), want %d (%t)", line, to, same, want.to, want.same)
		}
	}
	if to, same := MapLines("a\n", "a\n").To(7); to != 7 || !same {
		t.Errorf("equal texts moved line 7 to %d", to)
	}
}
