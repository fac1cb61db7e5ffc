package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestCopyLevel forces the weakest level, on which nothing but the workspace is kept.
func TestCopyLevel(t *testing.T) {
	b, ws := open(t, map[string]string{"a": "a", "b": "b", "out/x": "x", "c": "disk"}, func(o *Options) {
		o.Report = &Report{Level: Copy}
		o.Ignored = func(path string, _ bool) bool { return strings.Contains(path+"/", "/out/") }
	})
	overlay := map[string]Text{
		filepath.Join(ws, "c"): {Content: []byte("shown")}, filepath.Join(ws, "a"): {Deleted: true},
	}
	r := sh(t, b, `cat c; test -e a || echo -n gone; printf new > n; rm b; echo o > out/o`,
		func(c *Command) { c.Overlay = overlay })
	if got := changesOf(ws, r.Changes); got != "-b n=new" || string(r.Output) != "showngone" || r.Level != Copy {
		t.Errorf("%s: %s, %s", r.Level, got, r.Output)
	}
	// Nothing was accepted; the disk changes meanwhile.
	write(t, filepath.Join(ws, "c"), "other")
	if r := sh(t, b, `ls; cat c; cat out/o`); string(r.Output) != "a\nb\nc\nout\nothero\n" || len(r.Changes) > 0 {
		t.Errorf("the next command: %q %v", r.Output, r.Changes)
	}
	if text, err := os.ReadFile(filepath.Join(ws, "b")); err != nil || string(text) != "b" {
		t.Errorf("on disk: %q %v", text, err)
	}
}

// TestCopyInside runs in namespaces on a copy, as where the folder cannot be mounted copy-on-write.
func TestCopyInside(t *testing.T) {
	r := Probe(t.Context(), t.TempDir())
	r.Overlay = false
	b, ws := open(t, map[string]string{"a": "a"}, func(o *Options) { o.Report = &r })
	res := sh(t, b, `pwd; printf b > a; cat a`)
	if got := changesOf(ws, res.Changes); got != "a=b" {
		t.Errorf("changes %s, output %s", got, res.Output)
	}
	if b.Level() == Full && string(res.Output) != ws+"\nb" {
		t.Errorf("output %s", res.Output)
	}
}

// TestGo builds and formats a module of which the agent sees another text than the disk has.
func TestGo(t *testing.T) {
	b, ws := open(t, map[string]string{
		"go.mod": "module m\n\ngo 1.26\n", "m.go": "package m\n\nfunc F() int { return 1 }\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif F() != 2 {\n\t\tt.Fatal(F())\n\t}\n}\n",
	}, func(o *Options) {
		o.Env = append(Environ(os.Environ(), nil), "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local")
		o.Caches = DefaultCaches(o.Env, os.Getenv("HOME"))
		o.Tools = DefaultTools(o.Env, os.Getenv("HOME"))
	})
	path := filepath.Join(ws, "m.go")
	unsaved := map[string]Text{path: {Content: []byte("package m\nfunc F() int {\nreturn 2 }\n")}}
	r := sh(t, b, `go test . && gofmt -w m.go`, func(c *Command) { c.Overlay = unsaved })
	if got := changesOf(ws, r.Changes); r.Exit != 0 || got != "m.go=package m\n\nfunc F() int {\n\treturn 2\n}\n" {
		t.Errorf("exit %d, %s, changes %s", r.Exit, r.Output, got)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "package m\n\nfunc F() int { return 1 }\n" {
		t.Errorf("on disk: %s %v", text, err)
	}
	again := sh(t, b, `go test .`, func(c *Command) { c.Overlay = unsaved })
	if !strings.Contains(string(again.Output), "(cached)") {
		t.Errorf("the second command does not see the first one's cache: %s", again.Output)
	}
}

// TestGit asks for the state of a repository with an unsaved text.
func TestGit(t *testing.T) {
	b, ws := open(t, map[string]string{"a": "a\n"})
	write(t, filepath.Join(ws, "made"), "x") // a first command makes the repository in the box alone
	r := sh(t, b, `git init -q . && git add -A && git -c user.name=n -c user.email=e commit -qm m && git status --short; echo new > a; git status --short`)
	if string(r.Output) != " M a\n" {
		t.Errorf("exit %d: %s", r.Exit, r.Output)
	}
}

// TestManyBoxes runs sixteen boxes beside each other.
func TestManyBoxes(t *testing.T) {
	r := Probe(t.Context(), t.TempDir())
	var wg sync.WaitGroup
	for range 16 {
		b, ws := open(t, map[string]string{"a": "a"}, func(o *Options) { o.Report = &r })
		wg.Go(func() {
			for range 3 {
				res, err := b.Run(t.Context(), Command{Script: `printf b >> a; cat a`, Timeout: watchdog})
				if err != nil || string(res.Output) != "ab" || changesOf(ws, res.Changes) != "a=ab" {
					t.Errorf("%q %v", res.Output, err)
				}
			}
		})
	}
	wg.Wait()
}
