package authority

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
)

// TestMayRead: what is asked in short for a file that a search comes across comes to what a decision would.
func TestMayRead(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for _, name := range []string{
		"a.go", "sub/b.go", "sub/.env", ".env", "id_rsa", "credentials", ".aws/credentials", "*.go", "A.GO",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		names = append(names, path)
	}
	for name, to := range map[string]string{
		"link.go": "a.go", "secret.go": ".env", "out.go": t.TempDir(), "nowhere": "none",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			if runtime.GOOS == "windows" {
				continue // links take a right there
			}
			t.Fatal(err)
		}
		names = append(names, filepath.Join(dir, name))
	}
	names = append(names, filepath.Join(t.TempDir(), "outside.go"), "/etc/ssl/private/x.key")
	random := rand.New(rand.NewPCG(1, 2))
	one := func(of ...string) string { return of[random.IntN(len(of))] }
	freely := 0
	for range 3000 {
		setup := permission.Setup{
			Roots: []string{dir}, Mode: permission.Mode(one("", string(permission.Plan), string(permission.Bypass))),
		}
		for range random.IntN(3) {
			layer := permission.Layer{Name: "l", Narrow: random.IntN(2) == 0}
			for range random.IntN(3) {
				layer.Rules = append(layer.Rules, permission.Rule{
					Tool:    one("read", "grep", "list", "*", "edit", "bash", "r*"),
					Pattern: one("", "*.go", "sub/**", ".env", "a.go", "[", dir+"/**"),
					Action:  permission.Action(one("allow", "allow", "ask", "deny")),
				})
			}
			setup.Layers = append(setup.Layers, layer)
		}
		r := &Rights{Policy: permission.New(setup), Decisions: &Decisions{}}
		var granted []permission.Grant
		for i := range random.IntN(2) {
			granted = append(granted, permission.Grant{
				ID:       event.GrantID(fmt.Sprint("g", i)),
				Scope:    permission.Project,
				Root:     dir,
				Tool:     one("read", "grep"),
				Pattern:  one("", "*.go", ".env"),
				Decision: permission.Action(one("allow", "deny")),
				Created:  time.Now(),
			})
		}
		r.Decisions.Add(granted)
		name, tool := one(names...), one("grep", "list", "glob")
		if r.Policy.ReadsFreely(tool, r.Grants()) {
			freely++
		}
		paths := []permission.Path{{Name: name}}
		if info, err := os.Lstat(name); err == nil && info.Mode()&os.ModeSymlink != 0 {
			if real, err := filepath.EvalSymlinks(name); err == nil {
				paths = append(paths, permission.Path{Name: real})
			}
		}
		want := true
		for _, tool := range []string{"read", tool} {
			d := r.Policy.Decide(permission.Request{Tool: tool, Effect: permission.Read, Paths: paths}, r.Grants())
			want = want && d.Action != permission.Deny && (d.Action != permission.Ask || d.Rule == nil)
		}
		if got := r.MayRead(name, tool); got != want {
			t.Fatalf("%s of %s: %v, want %v, with %+v and %+v", tool, name, got, want, setup, granted)
		}
		if got := r.MayReadPlain(name, tool); len(paths) == 1 && got != want {
			t.Fatalf("%s of the plain %s: %v, want %v, with %+v and %+v", tool, name, got, want, setup, granted)
		}
	}
	if freely < 300 || freely > 2700 {
		t.Errorf("%d of 3000 policies let a tool read freely", freely)
	}
}

// BenchmarkMayRead judges files that a search comes across.
func BenchmarkMayRead(b *testing.B) {
	dir := b.TempDir()
	var names []string
	for i := range 1000 {
		name := filepath.Join(dir, fmt.Sprintf("f%d.go", i))
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			b.Fatal(err)
		}
		names = append(names, name)
	}
	r := &Rights{Policy: permission.New(permission.Setup{Roots: []string{dir}}), Decisions: &Decisions{}}
	for b.Loop() {
		for _, name := range names {
			if !r.MayRead(name, "list") {
				b.Fatal(name)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(names)), "ns/file")
}
