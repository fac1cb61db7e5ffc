package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/workspace"
)

// history is a repository that a test makes, open in an editor.
type history struct {
	*testing.T
	dir  string
	view *workspace.View
}

func newHistory(t *testing.T) *history {
	t.Helper()
	h := &history{T: t, dir: t.TempDir()}
	h.git("init", "-q", "-b", "main")
	h.git("config", "user.name", "Ada")
	h.git("config", "user.email", "ada@example.org")
	h.git("config", "commit.gpgSign", "false")
	return h.open(h.dir)
}

func (h *history) open(dir string) *history {
	h.Helper()
	view, err := workspace.Open([]workspace.Root{{Path: dir}}, workspace.Options{})
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() {
		if err := view.Close(); err != nil {
			h.Error(err)
		}
	})
	h.view = view
	return h
}

func (h *history) git(args ...string) string {
	h.Helper()
	c := exec.Command("git", args...)
	c.Dir = h.dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	out, err := c.CombinedOutput()
	if err != nil {
		h.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (h *history) write(name, text string) {
	h.Helper()
	path := filepath.Join(h.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		h.Fatal(err)
	}
	h.view.DiskChanged([]string{path})
}

func (h *history) remove(name string) {
	h.Helper()
	if err := os.Remove(filepath.Join(h.dir, name)); err != nil {
		h.Fatal(err)
	}
}

// typed has the editor show a text that is not saved.
func (h *history) typed(name, text string) { h.view.SetDocument(filepath.Join(h.dir, name), text, 1) }

func (h *history) commit(message string) string {
	h.Helper()
	h.git("add", "-A")
	h.git("commit", "-q", "--allow-empty", "-m", message)
	return h.git("rev-parse", "HEAD")
}

// changes are those of a scope: a line a file, with its changed lines.
func (h *history) changes(scope Scope) string {
	h.Helper()
	r, err := Find(h.Context(), h.dir)
	if err != nil {
		h.Fatal(err)
	}
	list, err := r.Changes(h.Context(), h.view, scope)
	if err != nil {
		h.Fatal(err)
	}
	var b strings.Builder
	for _, c := range list {
		name := func(path string) string {
			rel, err := filepath.Rel(h.dir, path)
			if err != nil {
				h.Fatal(err)
			}
			return filepath.ToSlash(rel)
		}
		fmt.Fprintf(&b, "%s %s", c.Status, name(c.Path))
		if c.From != "" {
			fmt.Fprintf(&b, " from %s", name(c.From))
		}
		if c.Untracked {
			b.WriteString(" untracked")
		}
		if c.Why != "" {
			fmt.Fprintf(&b, " (%s)", c.Why)
		} else if c.Status != Deleted {
			for _, l := range c.Lines() {
				fmt.Fprintf(&b, " %d-%d", l.First, l.Last)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (h *history) expect(scope Scope, want ...string) {
	h.Helper()
	text := ""
	if len(want) > 0 {
		text = strings.Join(want, "\n") + "\n"
	}
	if diff := cmp.Diff(text, h.changes(scope)); diff != "" {
		h.Errorf("%s (-want +got):\n%s", scope, diff)
	}
}

const ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"

var uncommitted, staged = Scope{Kind: Uncommitted}, Scope{Kind: Staged}

// TestChanges: what is staged, saved, typed, renamed, deleted or new counts where it should, and nowhere else.
func TestChanges(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for _, name := range []string{
		"kept", "saved", "staged", "both", "typed", "gone", "old", "back", "touched", "sub/deep",
	} {
		h.write(name, name+"\n"+ten)
	}
	h.write(".gitignore", "ignored\n")
	h.commit("first")
	h.expect(uncommitted)

	h.write("staged", "staged\n"+strings.Replace(ten, "3\n", "three\n", 1))
	h.git("add", "staged")
	h.write("both", "both\n"+strings.Replace(ten, "3\n", "", 1))
	h.git("add", "both")
	h.write("both", "both\n"+strings.Replace(ten, "3\n", "", 1)+"11\n")
	h.write("saved", "saved\n"+strings.Replace(ten, "5\n6\n", "five\nsix\nseven\n", 1))
	h.write("touched", "touched\n"+ten)
	h.typed("typed", "typed\n"+strings.Replace(ten, "9\n", "nine\n", 1))
	h.typed("kept", "kept\n"+ten)
	h.write("back", "something else\n")
	h.typed("back", "back\n"+ten)
	h.remove("gone")
	h.git("mv", "old", "sub/new")
	h.write("sub/new", "old\n"+strings.Replace(ten, "1\n", "one\n", 1))
	h.write("fresh", "a\nb\n")
	h.write("ignored", "x\n")
	h.write("blob", "a\x00b")
	h.expect(uncommitted,
		"added blob untracked (it is not a text file)",
		"modified both 4-4 11-11",
		"added fresh untracked 1-2",
		"deleted gone",
		"modified saved 6-8",
		"modified staged 4-4",
		"renamed sub/new from old 2-2",
		"modified typed 10-10")
	h.expect(staged,
		"modified both 4-4",
		"modified staged 4-4",
		"renamed sub/new from old")
}

// TestBaseAndCommit: a base that has gone ahead does not count as changed here, and a commit is against its parent.
func TestBaseAndCommit(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.write("a", ten)
	h.write("b", ten)
	root := h.commit("first")
	h.git("checkout", "-q", "-b", "topic")
	h.write("a", strings.Replace(ten, "2\n", "two\n", 1))
	topic := h.commit("topic")
	h.git("checkout", "-q", "main")
	h.write("b", strings.Replace(ten, "9\n", "nine\n", 1))
	ahead := h.commit("ahead")
	h.git("checkout", "-q", "topic")
	h.write("new", "x\n")
	h.typed("a", strings.Replace(ten, "2\n", "two\n", 1)+"11\n")
	base := Scope{Kind: Base, Revision: "main"}
	h.expect(base, "modified a 2-2 11-11", "added new untracked 1-1")
	h.expect(uncommitted, "modified a 11-11", "added new untracked 1-1")
	h.expect(Scope{Kind: Uncommitted, Below: []string{filepath.Join(h.dir, "new")}}, "added new untracked 1-1")
	h.expect(Scope{Kind: Base, Revision: "HEAD"}, "modified a 11-11", "added new untracked 1-1")
	h.expect(Scope{Kind: Commit, Revision: topic}, "modified a 2-2")
	h.expect(Scope{Kind: Commit, Revision: root}, "added a 1-10", "added b 1-10")
	h.git("merge", "-q", "--no-edit", "main")
	h.expect(Scope{Kind: Commit, Revision: "HEAD"}, "modified b 9-9") // against the first parent
	h.expect(Scope{Kind: Base, Revision: ahead}, "modified a 2-2 11-11", "added new untracked 1-1")
	h.expect(base, "modified a 2-2 11-11", "added new untracked 1-1")
}

// TestUnusualStates: before the first commit, in a conflict and in a submodule, changes are told as well.
func TestUnusualStates(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.write("a", "1\n")
	h.git("add", "a")
	h.write("b", "2\n")
	h.expect(uncommitted, "added a 1-1", "added b untracked 1-1")
	h.expect(staged, "added a 1-1")
	h.commit("first")

	h.git("checkout", "-q", "-b", "other")
	h.write("a", "one\n")
	h.commit("other")
	h.git("checkout", "-q", "main")
	h.write("a", "eins\n")
	h.commit("mine")
	c := exec.Command("git", "merge", "-q", "other")
	if c.Dir = h.dir; c.Run() == nil {
		t.Fatal("there is no conflict")
	}
	h.view.DiskChanged([]string{filepath.Join(h.dir, "a")})
	h.expect(uncommitted, "modified a 1-1 3-5")
	h.git("merge", "--abort")
	h.view.DiskChanged([]string{filepath.Join(h.dir, "a")})

	below := newHistory(t)
	below.write("x", "1\n")
	below.commit("first")
	h.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", below.dir, "below")
	h.commit("with a submodule")
	h.expect(uncommitted)
	c = exec.Command("git", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "more")
	if c.Dir = filepath.Join(h.dir, "below"); c.Run() != nil {
		t.Fatal("commit in the submodule")
	}
	h.expect(uncommitted, "modified below (it is a submodule)")
}

// TestLineEndings: those that git translates are no change.
func TestLineEndings(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.git("config", "core.autocrlf", "true")
	h.write("a", strings.ReplaceAll(ten, "\n", "\r\n"))
	h.git("add", "a")
	h.git("commit", "-q", "-m", "first")
	h.typed("a", strings.ReplaceAll(ten, "\n", "\r\n"))
	h.expect(uncommitted)
	h.typed("a", strings.ReplaceAll(strings.Replace(ten, "4\n", "four\n", 1), "\n", "\r\n"))
	h.expect(uncommitted, "modified a 4-4")
}

// TestBelowTheTop: a folder inside of a work tree has the changes of all of it; what the workspace does not show is
// told without its text.
func TestBelowTheTop(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.write("in/a", "1\n")
	h.write("out", "1\n")
	h.write("in/.env", "KEY=1\n")
	h.commit("first")
	h.write("in/a", "2\n")
	h.write("out", "2\n")
	h.write("in/.env", "KEY=2\n")
	h.git("add", "in/.env")
	h.expect(staged, "modified in/.env (it looks like a file that holds keys or passwords)")
	h.git("reset", "-q")
	h.open(filepath.Join(h.dir, "in"))
	h.dir = filepath.Join(h.dir, "in")
	got := h.changes(uncommitted)
	if !strings.Contains(got, "modified a 1-1\n") ||
		!strings.Contains(got, "modified .env (it looks like a file that holds keys") ||
		!strings.Contains(got, "modified ../out (it lies outside the workspace)") {
		t.Error(got)
	}
}

// TestLinksAreNotFollowed: what a link leads to has not changed with it, and is shown under no other name.
func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.write("private", "secret\n")
	h.commit("first")
	if err := os.Symlink("private", filepath.Join(h.dir, "public")); err != nil {
		t.Fatal(err)
	}
	h.expect(uncommitted, "added public untracked (it is a symbolic link)")
	h.git("add", "public")
	h.expect(staged, "added public (it is a symbolic link)")
	h.expect(uncommitted, "added public (it is a symbolic link)")
}

// TestNothingOfTheRepositoryRuns: none of the programs that its configuration names.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.write("a.txt", ten)
	h.write(".gitattributes", "*.txt filter=evil diff=evil\n")
	h.commit("first")
	ran := filepath.Join(t.TempDir(), "ran")
	for _, key := range []string{
		"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.command", "diff.evil.textconv",
		"core.fsmonitor", "core.pager", "diff.external", "core.sshCommand", "core.editor", "core.askPass",
	} {
		h.git("config", key, "sh -c 'echo "+key+" >> "+ran+"; cat'")
	}
	hooks := filepath.Join(h.dir, ".git", "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(hooks, "post-index-change"),
		[]byte("#!/bin/sh\necho hook >> "+ran+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.write("a.txt", strings.Replace(ten, "4\n", "four\n", 1))
	h.write("new.txt", "x\n")
	want := []string{"modified a.txt 4-4", "added new.txt untracked 1-1"}
	h.expect(uncommitted, want...)
	h.expect(staged)
	h.expect(Scope{Kind: Base, Revision: "main"}, want...)
	h.expect(Scope{Kind: Commit, Revision: "main"}, "added .gitattributes 1-1", "added a.txt 1-10")
	if text, err := os.ReadFile(ran); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("programs of the repository ran: %s, %v", text, err)
	}
}

// TestRefusals: what cannot be told is refused in words, and no revision is an option.
func TestRefusals(t *testing.T) {
	t.Parallel()
	if _, err := Find(t.Context(), t.TempDir()); !fault.Is(err, fault.NotFound) ||
		!strings.Contains(err.Error(), "lies in no git repository") {
		t.Errorf("outside of a repository: %v", err)
	}
	h := newHistory(t)
	h.write("a", "1\n")
	h.commit("first")
	r, err := Find(t.Context(), h.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, scope := range []Scope{
		{Kind: Base, Revision: "nowhere"},
		{Kind: Commit, Revision: "--output=a"},
		{Kind: Base},
		{Kind: Commit, Revision: "HEAD:a"},
		{Kind: "all"},
		{Kind: Commit, Revision: "-1"},
	} {
		if _, err := r.Changes(t.Context(), h.view, scope); !fault.Is(err, fault.InvalidRequest) {
			t.Errorf("%v: %v", scope, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(h.dir, "a")); err != nil || string(text) != "1\n" {
		t.Errorf("a revision acted as an option: %q, %v", text, err)
	}
	h.git("checkout", "-q", "--orphan", "alone")
	h.commit("alone")
	if _, err := r.Changes(t.Context(), h.view, Scope{Kind: Base, Revision: "main"}); err == nil ||
		!strings.Contains(err.Error(), "no commit in common") {
		t.Errorf("without a commit in common: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Changes(ctx, h.view, uncommitted); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestOn carries lines to another version of their text.
func TestOn(t *testing.T) {
	t.Parallel()
	text := "a\nb\nc\nd\ne\n"
	for _, test := range []struct {
		name, other string
		lines, want []Lines
	}{
		{"the same", text, []Lines{{2, 3}}, []Lines{{2, 3}}},
		{"lines above", "x\ny\n" + text, []Lines{{2, 3}, {5, 5}}, []Lines{{4, 5}, {7, 7}}},
		{"gone", "a\nd\ne\n", []Lines{{2, 3}, {4, 4}}, []Lines{{2, 2}}},
		{"gone in part", "a\nc\nd\ne\n", []Lines{{2, 3}}, []Lines{{2, 2}}},
		{"other lines in their place", "a\nB\nBB\nc\nd\ne\n", []Lines{{2, 2}}, []Lines{{2, 3}}},
		{"lines within", "a\nb\nx\nc\nd\ne\n", []Lines{{2, 3}}, []Lines{{2, 4}}},
		{"a change over the end", "a\nb\nX\ne\n", []Lines{{2, 3}}, []Lines{{2, 3}}},
		{"lines below", text + "f\n", []Lines{{5, 5}}, []Lines{{5, 5}}},
	} {
		if diff := cmp.Diff(test.want, On(test.lines, text, test.other)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestDiff: the difference of a renamed, a new and a deleted file.
func TestDiff(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Change{
		"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n": {Status: Renamed, Old: "a\nb\n", New: "a\nc\n"},
		"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n":     {Status: Added, New: "a\n"},
		"--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n":     {Status: Deleted, Old: "a\n"},
	} {
		if diff := cmp.Diff(want, c.Diff("x")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.Status, diff)
		}
	}
}
