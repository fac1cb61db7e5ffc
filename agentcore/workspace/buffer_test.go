package workspace

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// naiveOffset finds a position by walking through the text.
func naiveOffset(s string, line, column int, units Units) int {
	lines := Lines(s)
	if line >= len(lines) {
		return len(s)
	}
	at := len(strings.Join(lines[:line], ""))
	for _, r := range strings.TrimRight(lines[line], "\r\n") {
		size := utf8.RuneLen(r)
		switch {
		case units == Runes:
			column--
		case units == Bytes:
			column -= size
		case r >= 0x10000:
			column -= 2
		default:
			column--
		}
		if column < 0 {
			break
		}
		at += size
	}
	return at
}

// check fails where a tree is not as join and pieces leave it.
func (n *node) check(t *rapid.T) {
	if n == nil {
		return
	}
	if n.left == nil {
		if n.height != 0 || n.piece == "" || n.sum != measured(n.piece) || !utf8.ValidString(n.piece) {
			t.Fatalf("piece %q has height %d and size %+v", n.piece, n.height, n.sum)
		}
		return
	}
	n.left.check(t)
	n.right.check(t)
	if d := n.left.height - n.right.height; d < -1 || d > 1 || n.height != max(n.left.height, n.right.height)+1 {
		t.Fatalf("heights %d and %d below %d", n.left.height, n.right.height, n.height)
	}
	if n.sum != n.left.sum.plus(n.right.sum) {
		t.Fatalf("%+v is not %+v and %+v", n.sum, n.left.sum, n.right.sum)
	}
}

// TestBufferAgainstText compares a buffer with the plain text, through edits and positions of all kinds.
func TestBufferAgainstText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		short := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n\r\r\nüß€𐐷😀\u2028")), 0, 12, -1)
		long := rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(short.Draw(t, "part"), rapid.SampledFrom([]int{1, 1, 100, 700}).Draw(t, "times"))
		})
		want := long.Draw(t, "text")
		b := NewBuffer(want)
		for range rapid.IntRange(1, 12).Draw(t, "edits") {
			units := Units(rapid.IntRange(0, 2).Draw(t, "units"))
			lines := countLines(want)
			position := func(name string) int {
				line := rapid.IntRange(0, lines+1).Draw(t, name+" line")
				column := rapid.OneOf(rapid.IntRange(0, 12), rapid.IntRange(0, 20_000)).Draw(t, name+" column")
				at := b.Offset(line, column, units)
				if naive := naiveOffset(want, line, column, units); at != naive {
					t.Fatalf("position %d:%d (%d) of %.200q… is at %d, want %d", line, column, units, want, at, naive)
				}
				return at
			}
			start, end := position("start"), position("end")
			if start > end {
				start, end = end, start
			}
			insert := long.Draw(t, "insert")
			want = want[:start] + insert + want[end:]
			b = b.Replace(start, end, insert)
			b.tree().check(t)
			if b.Len() != len(want) || b.tree().measured().breaks != NewIndex(want+"x").Len()-1 {
				t.Fatalf("%+v are not the sizes of %d bytes", b.tree().measured(), len(want))
			}
			if rapid.Bool().Draw(t, "read") && b.Index().Text() != want {
				t.Fatalf("the text is %.200q, want %.200q", b.Index().Text(), want)
			}
		}
		if b.Index().Text() != want {
			t.Fatalf("the text is %.200q, want %.200q", b.Index().Text(), want)
		}
	})
}

// TestBufferOfOneLongLine edits a line of 10 MiB: each edit makes a few nodes, whatever the line's length.
func TestBufferOfOneLongLine(t *testing.T) {
	b := NewBuffer(strings.Repeat("a😀", 2<<20))
	known := map[*node]bool{}
	var added func(n *node) (bytes int)
	added = func(n *node) int {
		if n == nil || known[n] {
			return 0
		}
		known[n] = true
		return len(n.piece) + added(n.left) + added(n.right)
	}
	added(b.tree())
	for i := range 200 {
		at := b.Offset(0, 3*(i*10_007%(2<<20))+1, UTF16)
		b = b.Replace(at, at, "x\n")
		if n := added(b.tree()); n > 8<<10 {
			t.Fatalf("edit %d wrote %d bytes", i, n)
		}
	}
	if got := b.Index(); got.Len() != 201 || len(got.Text()) != 5*(2<<20)+400 {
		t.Errorf("there are %d lines of %d bytes", got.Len(), len(got.Text()))
	}
}
