package tool

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSplitLines takes lines off a text one by one, and expects the same.
func TestSplitLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("a\r\né")), 0, 20, -1).Draw(t, "text")
		var want []line
		start := 0
		for {
			at := strings.IndexAny(text[start:], "\r\n")
			if at < 0 {
				break
			}
			end, next := start+at, start+at+1
			if strings.HasPrefix(text[end:], "\r\n") {
				next++
			}
			want = append(want, line{start, end, next})
			start = next
		}
		want = append(want, line{start, len(text), len(text)})
		if got := splitLines(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	})
}

func BenchmarkSplitLines(b *testing.B) {
	for name, text := range map[string]string{
		"unix": strings.Repeat("// A line of a file.\n", 1000), "dos": strings.Repeat("// A line of a file.\r\n", 1000),
		"short": strings.Repeat("\n", 1000), "mac": strings.Repeat("// A line of a file.\r", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				splitLines(text)
			}
		})
	}
}

// A page of a file costs where its lines are, and no list of their texts.
func TestPageOfALongFile(t *testing.T) {
	const lines = 10_000
	text := strings.Repeat("// A line of a file.\n", lines)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	page := numbered(text)
	runtime.ReadMemStats(&after)
	if got := page.at(lines - 1); page.count != lines || got != (shownLine{lines, "// A line of a file."}) {
		t.Errorf("line %d of %d is %+v", lines, page.count, got)
	}
	if grown := (after.TotalAlloc - before.TotalAlloc) / lines; grown > 32 {
		t.Errorf("it takes %d bytes for each line", grown)
	}
}
