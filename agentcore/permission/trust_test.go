package permission_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/permission"
)

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func survey(t *testing.T, dir string, more ...string) []permission.Actor {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	}()
	actors, err := permission.Actors(t.Context(), root, more...)
	if err != nil {
		t.Fatal(err)
	}
	return actors
}

func TestTrust(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	put(t, outside, "x.md", "outside")
	for _, name := range []string{
		".agentls/config.toml", ".agentls/agents/a.md", ".agentls/skills/s/SKILL.md",
		".claude/agents/b.md", ".claude/skills/s/run.sh", ".opencode/agent/c.md", ".opencode/agents/d.md",
		".claude/settings.json", "src/a.go", "prompts/p.md", "shared/e.md",
	} {
		put(t, dir, name, name)
	}
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("../../shared/e.md", ".agentls/agents/e.md")
	link(filepath.Join(outside, "x.md"), ".agentls/agents/out.md")
	link("nowhere", ".agentls/agents/nothing.md")
	link("..", ".agentls/loop")
	link("../../shared", ".claude/skills/shared")
	then := survey(t, dir, "prompts/p.md", "prompts/absent.md")
	var paths []string
	for _, a := range then {
		paths = append(paths, a.Path)
	}
	want := []string{
		".agentls/agents/a.md", ".agentls/agents/e.md", ".agentls/agents/nothing.md", ".agentls/agents/out.md",
		".agentls/config.toml", ".agentls/loop", ".agentls/skills/s/SKILL.md",
		".claude/agents/b.md", ".claude/skills/s/run.sh", ".claude/skills/shared/e.md", ".opencode/agent/c.md",
		".opencode/agents/d.md", "prompts/p.md",
	}
	if !slices.Equal(paths, want) {
		t.Errorf("what acts is %q, not %q", paths, want)
	}
}

func TestTrustBindsToContent(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, ".agentls/config.toml", "a = 1")
	put(t, dir, ".agentls/agents/a.md", "a")
	then := survey(t, dir)
	if got := permission.Compare(false, then, then); got.Standing != permission.Unknown {
		t.Errorf("without a decision: %s", got)
	}
	if got := permission.Compare(true, then, survey(t, dir)); got.Standing != permission.Trusted {
		t.Errorf("unchanged: %s", got)
	}
	put(t, dir, "main.go", "package main")
	if got := permission.Compare(true, then, survey(t, dir)); got.Standing != permission.Trusted {
		t.Errorf("a file that does not act: %s", got)
	}
	put(t, dir, ".agentls/config.toml", "a = 2")
	put(t, dir, ".claude/agents/b.md", "b")
	if err := os.Remove(filepath.Join(dir, ".agentls/agents/a.md")); err != nil {
		t.Fatal(err)
	}
	now := survey(t, dir)
	got := permission.Compare(true, then, now)
	if want :=
		"changed: added .claude/agents/b.md; changed .agentls/config.toml; removed " +
			".agentls/agents/a.md"; got.String() != want {
		t.Errorf("%s, not %s", got, want)
	}
	if permission.Digest(then) == permission.Digest(now) ||
		permission.Digest(now) != permission.Digest(survey(t, dir)) {
		t.Error("the digest is not that of the content")
	}
	if i := slices.IndexFunc(now,
		func(a permission.Actor) bool {
			return a.Path == ".agentls/config.toml"
		}); now[i].Hash != permission.Hash([]byte("a = 2")) {
		t.Error("the hash is not that of the text")
	}
}

func TestActorsAreBounded(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, ".agentls/agents/"+strings.Repeat("d/", 20)+"a.md", "a")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := permission.Actors(t.Context(), root); err == nil {
		t.Error("folders without end are looked into")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := permission.Actors(ctx, root); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
