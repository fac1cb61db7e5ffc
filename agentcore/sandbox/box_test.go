package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// open makes a box over a new workspace with the given files.
func open(t testing.TB, files map[string]string, change ...func(*Options)) (*Box, string) {
	t.Helper()
	top := t.TempDir()
	ws := filepath.Join(top, "home", "work")
	for name, text := range files {
		write(t, filepath.Join(ws, name), text)
	}
	if err := os.MkdirAll(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	o := Options{
		Run: "run-1", Roots: []string{ws}, StateDir: filepath.Join(top, "state"), Home: filepath.Join(top, "home"),
		Env: []string{"PATH=" + os.Getenv("PATH")}, Protected: []string{".git"},
	}
	for _, f := range change {
		f(&o)
	}
	b, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b, ws
}

// atLevel forces a level.
func atLevel(level Level) func(*Options) {
	return func(o *Options) { o.Report = &Report{Level: level} }
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// sh runs a script that must be started.
func sh(t testing.TB, b *Box, script string, change ...func(*Command)) Result {
	t.Helper()
	c := Command{Script: script, Timeout: watchdog}
	for _, f := range change {
		f(&c)
	}
	r, err := b.Run(t.Context(), c)
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return r
}

// changesOf writes changes as "path=text", "-path" for deleted ones.
func changesOf(ws string, changes []Change) string {
	var words []string
	for _, c := range changes {
		rel, err := filepath.Rel(ws, c.Path)
		if err != nil {
			rel = c.Path
		}
		if c.Deleted {
			words = append(words, "-"+rel)
		} else {
			words = append(words, fmt.Sprintf("%s=%s", rel, c.Content))
		}
	}
	return strings.Join(words, " ")
}

func TestRun(t *testing.T) {
	b, ws := open(t, map[string]string{"a": "old", "b": "disk"})
	if b.Level() != Full {
		t.Fatalf("the level is %s:\n%s", b.Level(), b.report)
	}
	r := sh(t, b,
		`pwd; cat a b; echo " $AGENTLS_RUN"; printf new > a; printf c > d/c; rm b; ls /proc | grep -c '^[0-9]'; id -u; exit 3`,
		func(c *Command) {
			c.Overlay = map[string]Text{
				filepath.Join(ws, "b"): {Content: []byte("shown")}, filepath.Join(ws, "d/x"): {Content: []byte("x")},
			}
		})
	if want := ws + "\noldshown run-1\n"; !strings.HasPrefix(string(r.Output), want) || r.Exit != 3 {
		t.Errorf("exit %d, output %q, want %q first", r.Exit, r.Output, want)
	}
	if got := changesOf(ws, r.Changes); got != "a=new -b d/c=c" {
		t.Errorf("changes: %s", got)
	}
	if text, err := os.ReadFile(filepath.Join(ws, "a")); err != nil || string(text) != "old" {
		t.Errorf("on disk: %q %v", text, err)
	}
}

// BenchmarkRun is a command that does nothing, in a sandbox above trees of several sizes, whose files are asked whether
// they may hold secrets, and bare. The first command of a box is told apart.
func BenchmarkRun(b *testing.B) {
	for _, files := range []int{10, 1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("sandboxed/files=%d", files), func(b *testing.B) {
			ws := filepath.Join(b.TempDir(), "work")
			makeTree(b, ws, files)
			time.Sleep(3 * time.Second) // what has just changed is read again each time
			var first time.Duration
			runs := 0
			for b.Loop() {
				b.StopTimer()
				box, _ := open(b, nil, func(o *Options) {
					o.Roots, o.Secret = []string{ws}, func(path string) bool { return strings.HasSuffix(path, ".key") }
				})
				begin := time.Now()
				if _, err := box.Run(b.Context(), Command{Argv: []string{"true"}}); err != nil {
					b.Fatal(err)
				}
				first += time.Since(begin)
				b.StartTimer()
				for range 10 {
					runs++
					if _, err := box.Run(b.Context(), Command{Argv: []string{"true"}}); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(first.Microseconds())/1000/float64(b.N), "ms/first")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(runs), "ms/next")
		})
	}
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// makeTree makes files in folders of ten.
func makeTree(t testing.TB, dir string, files int) {
	t.Helper()
	for i := range files {
		write(t, filepath.Join(dir, fmt.Sprintf("src/p%02d/internal/m%02d/f%d.go", i/1000, i/10%100, i%10)),
			"package m\n")
	}
}

func TestSplitErrors(t *testing.T) {
	b, _ := open(t, nil)
	split := func(c *Command) { c.SplitErrors = true }
	r := sh(t, b, `read line; echo "$line"; echo bad >&2; exit 3`,
		split, func(c *Command) { c.Stdin = []byte("fine\n") })
	if string(r.Output) != "fine\n" || string(r.Errors) != "bad\n" || r.Exit != 3 || r.OutputFile != "" {
		t.Errorf("put out %q, errors %q, exit %d, file %q", r.Output, r.Errors, r.Exit, r.OutputFile)
	}
	if r = sh(t, b, `yes | head -c 200000 >&2`, split); len(r.Output) > 0 ||
		len(r.Errors) > 40<<10 || !strings.Contains(string(r.Errors), "bytes are left out") {
		t.Errorf("put out %q and %d bytes of errors", r.Output, len(r.Errors))
	}
	if r = sh(t, b, `echo a >&2; echo b`); string(r.Output) != "a\nb\n" || r.Errors != nil {
		t.Errorf("together: %q, %q", r.Output, r.Errors)
	}
}
