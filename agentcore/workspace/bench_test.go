package workspace

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
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
			s := v.NewProposal(ProposalOptions{Changed: func([]Hunk) {}})
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
	s := v.NewProposal(ProposalOptions{})
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
			layer := v.NewProposal(ProposalOptions{}).Fork()
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

// scattered returns a text of 100,000 lines with some of them changed, all over it.
func scattered(lines []string, changes int) string {
	lines = slices.Clone(lines)
	for i := range changes {
		lines[i*(len(lines)/max(changes, 1))] = fmt.Sprintf("change %d\n", i)
	}
	return strings.Join(lines, "")
}

// BenchmarkDiff compares texts of 100,000 lines. The baseline is to split both into lines and to hash these.
func BenchmarkDiff(b *testing.B) {
	const lines = 100_000
	text := Lines(numbered(lines))
	random := rand.New(rand.NewPCG(1, 1))
	few := make([]string, lines)
	for i := range few {
		few[i] = []string{"a\n", "b\n", "\n"}[random.IntN(3)]
	}
	shuffled := slices.Clone(text)
	random.Shuffle(lines, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	mixed := slices.Clone(few)
	random.Shuffle(lines, func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	for _, c := range []struct{ name, from, to, other string }{
		{"changes=1", scattered(text, 0), scattered(text, 1), scattered(text, 3)},
		{"changes=100", scattered(text, 0), scattered(text, 100), scattered(text, 7)},
		{"changes=10000", scattered(text, 0), scattered(text, 10_000), scattered(text, 7)},
		{"all", scattered(text, 0), strings.ReplaceAll(scattered(text, 0), "line", "other"), scattered(text, 7)},
		{"shuffled", scattered(text, 0), strings.Join(shuffled, ""), scattered(text, 7)},
		{"repeated", strings.Join(few, ""), strings.Join(mixed, ""), scattered(few, 7)},
		{"repeated,changes=100", strings.Join(few, ""), scattered(few, 100), scattered(few, 7)},
	} {
		baseline := func(b *testing.B) float64 {
			begin := time.Now()
			seed, sum := maphash.MakeSeed(), uint64(0)
			for _, s := range []string{c.from, c.to} {
				for line := range strings.Lines(s) {
					sum += maphash.String(seed, line)
				}
			}
			if sum == 0 {
				b.Fatal("nothing was hashed")
			}
			return float64(time.Since(begin))
		}
		b.Run("diff/"+c.name, func(b *testing.B) {
			base := 0.0
			for b.Loop() {
				Diff(c.from, c.to)
				b.StopTimer()
				base += baseline(b)
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed())/base, "x/hash")
		})
		b.Run("merge/"+c.name, func(b *testing.B) {
			base := 0.0
			for b.Loop() {
				Merge3(c.from, c.to, c.other)
				b.StopTimer()
				base += baseline(b)
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed())/base, "x/hash")
		})
	}
}
