package workspace

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// texts generates texts of few different lines, so that they have much in common.
func texts(endings ...string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "", "}"}), 0, 12).Draw(t, "lines")
		var b strings.Builder
		for i, line := range lines {
			b.WriteString(line)
			if i+1 < len(lines) || rapid.Bool().Draw(t, "complete") {
				b.WriteString(rapid.SampledFrom(endings).Draw(t, "ending"))
			}
		}
		return b.String()
	})
}

func TestLines(t *testing.T) {
	for _, test := range []struct {
		text  string
		lines []string
	}{
		{"", nil},
		{"a", []string{"a"}},
		{"a\n", []string{"a\n"}},
		{"\n", []string{"\n"}},
		{"a\r\nb\rc\nd", []string{"a\r\n", "b\r", "c\n", "d"}},
		{"\r\r\n\n", []string{"\r", "\r\n", "\n"}},
		{"ä\nb", []string{"ä\n", "b"}},
	} {
		if got := Lines(test.text); !slices.Equal(got, test.lines) {
			t.Errorf("Lines(%q) = %q, want %q", test.text, got, test.lines)
		}
	}
}

func TestIndex(t *testing.T) {
	x := NewIndex("ab\ncd\r\n\nef")
	if x.Len() != 4 || x.Start(3) != 8 || x.Start(9) != 10 ||
		x.Slice(1, 3) != "cd\r\n\n" || x.Slice(3, 1) != "" || x.Line(7) != "" {
		t.Errorf("got %d lines, starts %d %d", x.Len(), x.Start(3), x.Start(9))
	}
	for offset, line := range map[int]int{0: 0, 2: 0, 3: 1, 6: 1, 7: 2, 8: 3, 9: 3, 10: 3, 99: 3} {
		if got := x.LineAt(offset); got != line {
			t.Errorf("LineAt(%d) = %d, want %d", offset, got, line)
		}
	}
	if got := NewIndex("a\n").LineAt(2); got != 1 {
		t.Errorf("the end behind a line ending is on line %d, want 1", got)
	}
	if got := NewIndex("").LineAt(0); got != 0 {
		t.Errorf("the empty text has its end on line %d, want 0", got)
	}
}

func TestNormalize(t *testing.T) {
	for _, test := range []struct{ text, like, want string }{
		{"a\nb\n", "x\r\ny\r\n", "a\r\nb\r\n"},
		{"a\r\nb", "x\n", "a\nb"},
		{"a\nb\r\n", "x\ry\r", "a\rb\r"},
		{"a\nb", "", "a\nb"},
		{"a\r\nb", "no ending", "a\nb"},
		{"a\n", "x\r\ny\nz\r\n", "a\r\n"},
	} {
		if got := Normalize(test.text, test.like); got != test.want {
			t.Errorf("Normalize(%q, %q) = %q, want %q", test.text, test.like, got, test.want)
		}
	}
}

func TestIndexAgreesWithLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts("\n", "\r", "\r\n").Draw(t, "text")
		x, at := NewIndex(text), 0
		if x.Len() != countLines(text) {
			t.Fatalf("%d lines, counted %d", x.Len(), countLines(text))
		}
		for i, line := range Lines(text) {
			if x.Start(i) != at || !lineStart(text, at) {
				t.Fatalf("line %d starts at %d, want %d", i, x.Start(i), at)
			}
			for k := range len(line) {
				if x.LineAt(at+k) != i {
					t.Fatalf("LineAt(%d) = %d, want %d", at+k, x.LineAt(at+k), i)
				}
			}
			at += len(line)
		}
	})
}

func TestDiffLeadsFromOneTextToTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts("\n", "\r\n").Draw(t, "a"), texts("\n", "\r\n").Draw(t, "b")
		x, y := NewIndex(a), NewIndex(b)
		var made strings.Builder
		at, shift := 0, 0
		for i, h := range Diff(a, b) {
			if h.Start < at || i > 0 && h.Start == at {
				t.Fatalf("hunk %d touches the one before: %+v", i, h)
			}
			if h.Start == h.End && h.NewStart == h.NewEnd || h.NewStart-h.Start != shift {
				t.Fatalf("hunk %d is empty or misplaced: %+v", i, h)
			}
			if h.Before != x.Slice(h.Start, h.End) || h.After != y.Slice(h.NewStart, h.NewEnd) {
				t.Fatalf("hunk %d has other lines than the texts: %+v", i, h)
			}
			made.WriteString(x.Slice(at, h.Start) + h.After)
			at, shift = h.End, h.NewEnd-h.End
		}
		made.WriteString(x.Slice(at, x.Len()))
		if made.String() != b {
			t.Fatalf("applied, the hunks make %q of %q, want %q", made.String(), a, b)
		}
		if changes := lineChanges(a, b); applied(a, changes) != b {
			t.Fatalf("the changes make %q, want %q", applied(a, changes), b)
		}
	})
}

func applied(a string, changes []change) string {
	x := NewIndex(a)
	var b strings.Builder
	at := 0
	for _, c := range changes {
		b.WriteString(x.Slice(at, c.start) + c.text)
		at = c.end
	}
	return b.String() + x.Slice(at, x.Len())
}

func TestDiffOfLargeTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var a, b []string
	for range 5000 {
		line := string(rune('a'+random.IntN(26))) + string(rune('a'+random.IntN(26))) + "\n"
		if random.IntN(3) > 0 {
			a = append(a, line)
		}
		if random.IntN(3) > 0 {
			b = append(b, line)
		}
	}
	from, to := strings.Join(a, ""), strings.Join(b, "")
	if got := applied(from, changesBetween(NewIndex(from), NewIndex(to))); got != to {
		t.Error("the difference of two large texts does not lead from one to the other")
	}
}

func TestDiffIsHuman(t *testing.T) {
	a := "func a() {\n\tx()\n}\n\nfunc c() {\n\tz()\n}\n"
	b := "func a() {\n\tx()\n}\n\nfunc b() {\n\ty()\n}\n\nfunc c() {\n\tz()\n}\n"
	got := Diff(a, b)
	if len(got) != 1 || got[0].After != "func b() {\n\ty()\n}\n\n" {
		t.Errorf("got %+v", got)
	}
}

// TestDiffKeepsChangedLinesTogether: a line that was changed is taken and brought by one hunk, also where a common line
// beside it leaves the choice.
func TestDiffKeepsChangedLinesTogether(t *testing.T) {
	for _, test := range []struct {
		name, a, b string
		hunks      int
	}{
		{"the common line is below", "a\n\nword\n\nz\nlast\n", "a\nnew\nword more\n\nz\nlast!\n", 2},
		{"and the line behind it changed", "a\n\nword\n\nlast", "a\nnew\nword more\n\nlast\n", 2},
		{"taken back", "a\nnew\nword more\n\nz\nlast!\n", "a\n\nword\n\nz\nlast\n", 2},
		{"taken back, with the line behind it", "a\nnew\nword more\n\nlast\n", "a\n\nword\n\nlast", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			hunks := Diff(test.a, test.b)
			if len(hunks) != test.hunks {
				t.Errorf("got %+v", hunks)
			}
			for _, h := range hunks {
				if strings.Contains(h.Before, "word") != strings.Contains(h.After, "word") ||
					strings.Contains(h.Before, "last") != strings.Contains(h.After, "last") {
					t.Errorf("taken alone it would have the word twice, or lose it: %+v", h)
				}
			}
		})
	}
}

// TestBalanceIsAsShort compares the pieces before and after they were balanced.
func TestBalanceIsAsShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := NewIndex(texts("\n").Draw(t, "a")), NewIndex(texts("\n").Draw(t, "b"))
		measure := func(pieces []piece) (lines, off int) {
			for _, p := range pieces {
				lines += p.a1 - p.a0 + p.b1 - p.b0
				off += abs(p.delta())
			}
			return lines, off
		}
		slid := slide(a, b, newAlignment(a, b, 0).pieces(way{}))
		balanced := diffLines(a, b)
		lines, off := measure(slid)
		if n, o := measure(balanced); n != lines || o > off || o == off && !slices.Equal(slid, balanced) {
			t.Fatalf("%+v became %+v", slid, balanced)
		}
	})
}

func TestMerge3(t *testing.T) {
	for _, test := range []struct {
		name, base, ours, theirs, merged string
		conflicts                        []Conflict
	}{
		{name: "apart", base: "a\nb\nc\n", ours: "A\nb\nc\n", theirs: "a\nb\nC\n", merged: "A\nb\nC\n"},
		{name: "the same", base: "a\nb\n", ours: "a\nB\n", theirs: "a\nB\n", merged: "a\nB\n"},
		{name: "one side", base: "a\n", ours: "a\n", theirs: "b\n", merged: "b\n"},
		{
			name: "the same line", base: "a\nb\nc\n", ours: "a\nB\nc\n", theirs: "a\nX\nc\n", merged: "a\nb\nc\n",
			conflicts: []Conflict{{StartLine: 1, EndLine: 2, Base: "b\n", Ours: "B\n", Theirs: "X\n"}},
		},
		{
			name: "lines that touch", base: "a\nb\n", ours: "A\nb\n", theirs: "a\nB\n", merged: "a\nb\n",
			conflicts: []Conflict{{StartLine: 0, EndLine: 2, Base: "a\nb\n", Ours: "A\nb\n", Theirs: "a\nB\n"}},
		},
		{
			name:      "a conflict and a clean change",
			base:      "a\nb\nc\nd\ne\n",
			ours:      "A\nb\nc\nd\nE\n",
			theirs:    "X\nb\nc\nd\ne\n",
			merged:    "a\nb\nc\nd\nE\n",
			conflicts: []Conflict{{StartLine: 0, EndLine: 1, Base: "a\n", Ours: "A\n", Theirs: "X\n"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			merged, conflicts := Merge3(test.base, test.ours, test.theirs)
			if merged != test.merged || !slices.Equal(conflicts, test.conflicts) {
				t.Errorf("got %q, %+v", merged, conflicts)
			}
		})
	}
}

// TestReplace compares the index after random changes with that of the whole text.
func TestReplace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n\nü\r")), 0, 12, -1)
		if rapid.Bool().Draw(t, "feeds") {
			piece = rapid.StringOfN(rapid.SampledFrom([]rune("ab\n\nü")), 0, 12, -1)
		}
		x := NewIndex(piece.Draw(t, "text"))
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			start := rapid.IntRange(0, len(x.Text())).Draw(t, "start")
			end := rapid.IntRange(start, len(x.Text())).Draw(t, "end")
			insert := piece.Draw(t, "insert")
			want := NewIndex(x.Text()[:start] + insert + x.Text()[end:])
			x = x.Replace(start, end, insert)
			if x.text != want.text || !slices.Equal(x.starts, want.starts) {
				t.Fatalf("%q has lines at %d, want %q with %d", x.text, x.starts, want.text, want.starts)
			}
		}
	})
}
