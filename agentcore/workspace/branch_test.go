package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentls/agentls/agentcore/workspace"
)

func TestBranch(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("main/.git/HEAD", "ref: refs/heads/feature/x\n")
	write("main/sub/a.txt", "")
	write("tree/.git", "gitdir: ../main/.git/worktrees/tree\n")
	write("main/.git/worktrees/tree/HEAD", "ref: refs/heads/other\n")
	write("detached/.git/HEAD", "0123456789012345678901234567890123456789\n")
	write("odd/.git/HEAD", "ref: refs/heads/a\x1bb\n")
	write("empty/.git/config", "")
	for name, want := range map[string]string{
		"main": "feature/x", "main/sub": "feature/x", "tree": "other", "detached": "", "odd": "", "empty": "",
	} {
		if got := workspace.Branch(filepath.Join(dir, name)); got != want {
			t.Errorf("%s is on %q, want %q", name, got, want)
		}
	}
}
