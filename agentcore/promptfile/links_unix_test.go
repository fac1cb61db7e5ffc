//go:build unix

package promptfile_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agentls/agentls/agentcore/promptfile"
)

// TestHostileFiles: no link leads out of a project, no pipe is waited for, and nothing large is read. The user's own
// links may lead anywhere.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	home, project, outside := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, outside, map[string]string{"secret.md": "Outside.", "more/other.md": "Other."})
	write(t, project, map[string]string{".claude/commands/ok.md": "Fine.", "doc/inside.md": "Inside."})
	write(t, home, map[string]string{".claude/commands/ok.md": "Mine."})
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	commands := filepath.Join(project, ".claude", "commands")
	link(filepath.Join(outside, "secret.md"), filepath.Join(commands, "out.md"))
	link("../../doc/inside.md", filepath.Join(commands, "in.md"))
	link(filepath.Join(outside, "more"), filepath.Join(commands, "more"))
	link(commands, filepath.Join(commands, "loop"))
	link(filepath.Join(outside, "more"), filepath.Join(project, ".opencode"))
	link(filepath.Join(outside, "secret.md"), filepath.Join(home, ".claude", "commands", "mine.md"))
	for _, dir := range []string{commands, filepath.Join(home, ".claude", "commands")} {
		if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o600); err != nil {
			t.Fatal(err)
		}
		large, err := os.Create(filepath.Join(dir, "large.md"))
		if err != nil {
			t.Fatal(err)
		}
		if err := large.Truncate(2 << 30); err != nil { // without holding a byte of it
			t.Fatal(err)
		}
		if err := large.Close(); err != nil {
			t.Fatal(err)
		}
	}
	set, err := promptfile.Load(context.Background(), promptfile.Folders("", home, project), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(listed(set), "; "); got !=
		"in claude project: Inside.; mine claude user: Outside.; ok claude project: Fine." {
		t.Errorf("the prompts are %s", got)
	}
	for name, want := range map[string]string{
		"out": "links lead out of the project", "pipe": "is no regular file", "large": "has more than 262144 bytes",
	} {
		if _, err := set.Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
