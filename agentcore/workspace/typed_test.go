package workspace

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLinesBetween: two buffers tell the same changes of lines as their texts do.
func TestLinesBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		short := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n\r\r\nü😀")), 0, 9, -1)
		long := rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(short.Draw(t, "part"), rapid.SampledFrom([]int{1, 1, 2, 100, 700}).Draw(t, "times"))
		})
		b := NewBuffer(long.Draw(t, "text"))
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			next := b
			for range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "edits") {
				units := rapid.IntRange(0, 12)
				line := rapid.IntRange(0, next.tree().measured().breaks+1)
				start := next.Offset(line.Draw(t, "line"), units.Draw(t, "column"), Bytes)
				end := start
				if rapid.Bool().Draw(t, "replaces") {
					end = next.Offset(line.Draw(t, "end line"), units.Draw(t, "end column"), Bytes)
				}
				next = next.Replace(min(start, end), max(start, end), long.Draw(t, "insert"))
			}
			want := lineChanges(b.whole().s, next.whole().s)
			got, _ := linesBetween(b, next)
			places := func(list []change) (places [][3]int) {
				for _, c := range list {
					places = append(places, [3]int{c.start, c.end, c.lines})
				}
				return places
			}
			if fmt.Sprint(places(got)) != fmt.Sprint(places(want)) {
				t.Fatalf("from %.300q\nto   %.300q\ngot  %v, want %v",
					b.whole().s, next.whole().s, places(got), places(want))
			}
			b = next
		}
	})
}

// TestTypedMarksAgainstWhole: marks stand, and are lost, as if each change were a new text, whenever somebody reads.
func TestTypedMarksAgainstWhole(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		v, err := Open([]Root{{Path: filepath.FromSlash("/none")}}, Options{})
		if err != nil {
			r.Fatal(err)
		}
		defer v.Close()
		s := v.NewProposal(ProposalOptions{})
		b := NewBuffer(numbered(rapid.IntRange(1, 200).Draw(r, "lines")))
		marks := map[string][]*Mark{}
		for version := range int32(20) {
			v.SetBuffer("/none/typed", b, version)
			v.SetDocument("/none/whole", b.whole().s, version)
			high := rapid.IntRange(1, 3).Draw(r, "high")
			if line := rapid.IntRange(0, 250).Draw(r, "marked"); line < b.Index().Len() {
				for _, path := range []string{"/none/typed", "/none/whole"} {
					m := v.Track(path, b.whole().stamp(), line, line+high, nil)
					marks[path] = append(marks[path], m)
				}
			}
			for i, m := range marks["/none/typed"] {
				from, _, ok := m.Lines()
				was, _, still := marks["/none/whole"][i].Lines()
				if ok != still || ok && from != was {
					r.Fatalf("the mark %d is at %d, %t, want %d, %t", i, from, ok, was, still)
				}
			}
			if rapid.IntRange(0, 9).Draw(r, "proposes") == 0 {
				layer := s.Fork()
				_, err := layer.Write("/none/typed", "first\n"+b.whole().s, b.whole().stamp(), Author{})
				if err == nil {
					if _, err := layer.Merge(); err != nil {
						r.Fatal(err)
					}
				}
			}
			at := b.Offset(rapid.IntRange(0, 210).Draw(r, "line"), rapid.IntRange(0, 5).Draw(r, "column"), Bytes)
			end := min(b.Len(), at+rapid.SampledFrom([]int{0, 0, 0, 1, 30}).Draw(r, "gone"))
			b = b.Replace(at, end, rapid.SampledFrom([]string{"", "x", "\n", "one\ntwo\n"}).Draw(r, "insert"))
		}
	})
}

// findings is a document of 5 MB with marks on its lines.
func findings(t testing.TB, marks int) (*View, string, *Buffer) {
	v, dir := open(t, nil)
	path := filepath.Join(dir, "long.go")
	b := NewBuffer(strings.Repeat("// A line of a long file that somebody types in.\n", 5<<20/49))
	v.SetBuffer(path, b, 0)
	for i := range marks {
		if v.Track(path, b.whole().stamp(), 5+i*100, 6+i*100, nil) == nil {
			t.Fatal("the mark was not made")
		}
	}
	return v, path, b
}

// TestTypingCostsNoWalk: a change of a long document with findings neither puts its text together nor looks at its
// pieces, but for those around the change.
func TestTypingCostsNoWalk(t *testing.T) {
	v, path, b := findings(t, 3)
	a := v.anchors[path]
	most := 0
	for i := range 200 {
		at := b.Offset(7+i*500, 3+i%40, UTF16)
		b = b.Replace(at, at, []string{"x", "\n", "one\ntwo\n"}[i%3])
		v.SetBuffer(path, b, int32(i+1))
		if a.text == b.text || b.text != nil {
			t.Fatalf("the change %d put the text together", i)
		}
		most, a.typed.looks = max(most, a.typed.looks), 0
	}
	if most == 0 || most > 400 {
		t.Errorf("a change compared %d nodes, want 400 at most", most)
	}
	for m := range a.marks {
		if from, _, ok := m.Lines(); !ok || !strings.HasPrefix(b.Index().Line(from), "// A line") {
			t.Errorf("a mark is at %d, %t", from, ok)
		}
	}
}

// BenchmarkTyping types in a document of 5 MB with findings.
func BenchmarkTyping(b *testing.B) {
	for _, marks := range []int{0, 1, 100} {
		b.Run(fmt.Sprintf("findings=%d", marks), func(b *testing.B) {
			v, path, doc := findings(b, marks)
			version := int32(0)
			for b.Loop() {
				version++
				at := doc.Offset(7+int(version)%900*100, 3, UTF16)
				doc = doc.Replace(at, at+int(version)%2, "x")
				v.SetBuffer(path, doc, version)
			}
		})
	}
}
