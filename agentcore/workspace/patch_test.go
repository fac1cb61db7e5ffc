package workspace

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// checkHunks tells what is wrong with hunks that count.
func checkHunks(base *text, hunks []*hunk) error {
	x := base.index()
	for i, h := range hunks {
		if i > 0 && (h.start < hunks[i-1].end || h.start == h.end && h.start == hunks[i-1].start) {
			return fmt.Errorf("hunk %d [%d, %d) overlaps the one before [%d, %d)",
				i, h.start, h.end, hunks[i-1].start, hunks[i-1].end)
		}
		if h.create && base == nil || h.delete {
			if len(hunks) != 1 {
				return fmt.Errorf("hunk %d is about the whole file, but there are %d", i, len(hunks))
			}
			continue
		}
		if base == nil {
			return fmt.Errorf("hunk %d edits a file that is not there", i)
		}
		if h.end > x.Len() || x.Slice(h.start, h.end) != h.before || countLines(h.before) != h.end-h.start {
			return fmt.Errorf("hunk %d: the lines [%d, %d) are %q, want %q",
				i, h.start, h.end, x.Slice(h.start, h.end), h.before)
		}
		if h.before == h.after {
			return fmt.Errorf("hunk %d changes nothing: %q", i, h.before)
		}
		if h.after != "" && !lineStart(h.after, len(h.after)) && h.end != x.Len() {
			return fmt.Errorf("hunk %d leaves an incomplete line amid the text: %q", i, h.after)
		}
		if h.start == x.Len() && !lineStart(x.Text(), len(x.Text())) && h.after != "" {
			return fmt.Errorf("hunk %d adds to an incomplete line: %q", i, h.after)
		}
	}
	return nil
}

func anyText() *rapid.Generator[*text] {
	return rapid.Custom(func(t *rapid.T) *text {
		if rapid.IntRange(0, 9).Draw(t, "none") == 0 {
			return nil
		}
		return newText(texts("\n").Draw(t, "text"))
	})
}

func TestWritesCompose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := patch{base: anyText().Draw(t, "base")}
		for i := range rapid.IntRange(1, 6).Draw(t, "writes") {
			next := anyText().Draw(t, "next")
			p = p.write(next, Author{Reason: fmt.Sprint(i)})
			if got := p.text(); !got.same(next) {
				t.Fatalf("after write %d the text is %v, want %v", i, got, next)
			}
			if err := checkHunks(p.base, p.hunks); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A patch that is carried to another base must be what Merge3 makes of the texts, conflicts apart.
func TestRebaseMerges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, own, next := texts("\n").Draw(t, "base"), texts("\n").Draw(t, "own"), texts("\n").Draw(t, "next")
		p := patch{base: newText(base)}.write(newText(own), Author{})
		moved, conflicts := p.rebase(newText(next))
		if err := checkHunks(moved.base, moved.hunks); err != nil {
			t.Fatal(err)
		}
		merged, found := Merge3(base, own, next)
		if len(found) == 0 && len(conflicts) == 0 && moved.text().s != merged {
			t.Fatalf("rebased %q, merged %q", moved.text().s, merged)
		}
		if (len(found) == 0) != (len(conflicts) == 0) {
			t.Fatalf("rebase finds %+v, Merge3 %+v", conflicts, found)
		}
		for _, c := range conflicts {
			if x := NewIndex(next); x.Slice(c.StartLine, c.EndLine) != c.Theirs {
				t.Fatalf("the conflict's lines hold %q, want %q", x.Slice(c.StartLine, c.EndLine), c.Theirs)
			}
		}
	})
}
