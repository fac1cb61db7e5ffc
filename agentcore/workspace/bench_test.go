package workspace

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// numbered makes a text of different lines.
func numbered(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %d of the text\n", i)
	}
	return b.String()
}

func BenchmarkSetDocument(b *testing.B) {
	for _, size := range []struct{ lines, hunks int }{{100, 0}, {1000, 0}, {1000, 100}, {100_000, 0}, {100_000, 100}} {
		b.Run(fmt.Sprintf("lines=%d/hunks=%d", size.lines, size.hunks), func(b *testing.B) {
			v, dir := open(b, nil)
			path := filepath.Join(dir, "a")
			text := numbered(size.lines)
			v.SetDocument(path, text, 0)
			s := v.NewSession(SessionOptions{Changed: func([]Hunk) {}})
			if size.hunks > 0 {
				lines := Lines(text)
				for i := range size.hunks {
					lines[i*size.lines/size.hunks] = "changed\n"
				}
				layer := s.Fork()
				write(b, layer, path, strings.Join(lines, ""), "")
				merge(b, layer)
			}
			at := NewIndex(text).Start(size.lines/2 + 5)
			typed := [2]string{text[:at] + "x" + text[at:], text}
			b.ResetTimer()
			for i := range b.N {
				v.SetDocument(path, typed[i%2], int32(i))
			}
		})
	}
}

func BenchmarkMerge(b *testing.B) {
	v, dir := open(b, nil)
	path := filepath.Join(dir, "a")
	text := numbered(10_000)
	v.SetDocument(path, text, 0)
	s := v.NewSession(SessionOptions{})
	for i := range b.N {
		layer := s.Fork()
		write(b, layer, path, strings.Replace(text, "line 500 ", fmt.Sprintf("line %d ", -i), 1), "")
		merge(b, layer)
	}
}

// BenchmarkFork forks a layer above one with many files.
func BenchmarkFork(b *testing.B) {
	for _, files := range []int{0, 100, 1000} {
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			v, dir := open(b, nil)
			layer := v.NewSession(SessionOptions{}).Fork()
			for i := range files {
				f := newLayerFile(patch{}.write(newText("text\n"), Author{}))
				layer.set(filepath.Join(dir, fmt.Sprint(i)), f)
			}
			b.ReportAllocs()
			for b.Loop() {
				layer.Fork()
			}
		})
	}
}
