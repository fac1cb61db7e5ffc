package tool

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// makeTree makes files in folders of ten.
func makeTree(t testing.TB, dir string, files int) {
	t.Helper()
	text := "package m\n\n" + strings.Repeat("// A line of a file that is searched for words.\n", 30)
	for i := range files {
		path := filepath.Join(dir, fmt.Sprintf("src/p%02d/internal/m%02d/f%d.go", i/1000, i/10%100, i%10))
		if i%10 == 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, fmt.Appendf(nil, "%sconst n%d = 1\n", text, i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkLarge lists and searches trees of several sizes, in a workspace that nothing was read of. The baseline is rg
// as a process; where the machine has none, there is only our time.
func BenchmarkLarge(b *testing.B) {
	_, missing := exec.LookPath("rg")
	if missing != nil {
		b.Log("there is no rg on this machine to compare with")
	}
	for _, files := range []int{10, 1000, 10_000, 100_000} {
		dir := b.TempDir()
		makeTree(b, dir, files)
		name := fmt.Sprintf("n%d", files/2)
		for _, work := range []struct {
			name string
			do   func(h readingHost) (Result, error)
			rg   []string
		}{
			{
				"list",
				func(h readingHost) (Result, error) { return list(context.Background(), h, listArguments{Depth: 20}) },
				[]string{"--files"},
			},
			{"glob", func(h readingHost) (Result, error) {
				return globFiles(context.Background(), h, globArguments{Pattern: "f7.g?"})
			}, []string{"--files", "--glob=f7.g?"}},
			{"grep", func(h readingHost) (Result, error) {
				return grep(context.Background(), h, grepArguments{Pattern: name})
			}, []string{"--line-number", "--no-heading", "--regexp=" + name, "."}},
		} {
			b.Run(fmt.Sprintf("%s/files=%d", work.name, files), func(b *testing.B) {
				var ours, theirs time.Duration
				for b.Loop() {
					h := searching(b, dir)
					begin := time.Now()
					if _, err := work.do(h); err != nil {
						b.Fatal(err)
					}
					ours += time.Since(begin)
					if missing == nil {
						begin = time.Now()
						ripgrep(b, dir, work.rg...)
						theirs += time.Since(begin)
					}
				}
				b.ReportMetric(float64(ours.Microseconds())/1000/float64(b.N), "ms/ours")
				if missing == nil {
					b.ReportMetric(float64(theirs.Microseconds())/1000/float64(b.N), "ms/rg")
					b.ReportMetric(float64(ours)/float64(theirs), "x/rg")
				}
			})
		}
	}
}
