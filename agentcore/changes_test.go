package agentcore_test

import (
	"os"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/git"
	"github.com/agentls/agentls/agentcore/model/script"
)

// committed makes the world's folder a repository with all of its files in one commit.
func (w *world) committed() *world {
	w.t.Helper()
	runGit(w.t, w.dir, "init", "-q", "-b", "main")
	runGit(w.t, w.dir, "add", "-A")
	runGit(w.t, w.dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.org",
		"-c", "commit.gpgSign=false", "commit", "-q", "-m", "first")
	return w
}

// TestReviewOfChanges: one run sees what has changed, unsaved text included, and an earlier finding stays where nothing
// has.
func TestReviewOfChanges(t *testing.T) {
	w := newWorld(t, map[string]string{
		"a.txt": "one\ntwo\nthree\n", "b.txt": "b\n", "gone.txt": "x\n", "kept.txt": "kept\n",
	},
		script.Turn{
			Match: "Review these changes.",
			Expect: []script.Expect{script.Last(`<context>
file: a.txt
file: new.txt
changes: the uncommitted changes
changed lines: a.txt: 2
deleted: gone.txt
new: new.txt
changed lines: new.txt: 1-2
<diff>
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
`)},
			Answer: []script.Step{script.Text("All is well.")},
		}).committed()
	if err := os.Remove(w.path("gone.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.path("new.txt"), []byte("1\n2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.view.SetDocument(w.path("a.txt"), "one\nTWO\nthree\n", 1)
	result := w.wait(w.start(agentcore.RunRequest{
		Agent: "reviewer", Prompt: "Review these changes.", Changes: git.Scope{Kind: git.Uncommitted},
	}))
	if result.Status != event.StatusCompleted || len(result.Children) != 0 {
		t.Errorf("the result is %+v", result)
	}
}

// TestLargeChangesAreSplit: each file has a child that knows of the others by name.
func TestLargeChangesAreSplit(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	w := newWorld(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"},
		script.Turn{Match: "file: a.txt", Expect: []script.Expect{
			script.Last("changed lines: a.txt: 2-401\nchanged, too: b.txt\nchanged, too: c.txt\n<diff>\n--- a/a.txt"),
			script.Last("more lines of this difference: read the file\n</diff>"),
		}, Answer: []script.Step{script.Text("a is well.")}},
		script.Turn{Match: "file: b.txt", Answer: []script.Step{script.Text("b is well.")}},
		script.Turn{Match: "file: c.txt", Answer: []script.Step{script.Text("c is well.")}},
	).committed()
	for _, name := range []string{"a", "b"} {
		w.view.SetDocument(w.path(name+".txt"), name+"\n"+strings.Repeat(line, 400), 1)
	}
	w.view.SetDocument(w.path("c.txt"), "C\n", 1)
	result := w.wait(w.start(agentcore.RunRequest{
		Agent: "reviewer", Prompt: "Review these changes.", Changes: git.Scope{Kind: git.Uncommitted},
	}))
	if result.Status != event.StatusCompleted || len(result.Children) != 3 {
		t.Errorf("the result is %+v", result)
	}
}

// TestDeniedChangesAreNotShown: a rule that denies reading a file, or asks about it, denies its difference, whatever
// has become of it.
func TestDeniedChangesAreNotShown(t *testing.T) {
	w := newWorld(t, map[string]string{
		"a.txt": "a\n", "private/b.txt": "old secret\n", "asked/c.txt": "old secret\n", ".env": "KEY=old secret\n",
	},
		script.Turn{Answer: []script.Step{script.Text("All is well.")}}).committed()
	w.ruled(config.Permission{Tool: "read", Pattern: "private/**", Action: "deny"},
		config.Permission{Tool: "read", Pattern: "asked/**", Action: "ask"})
	w.view.SetDocument(w.path("a.txt"), "A\n", 1)
	w.view.SetDocument(w.path("private/b.txt"), "new secret\n", 1)
	w.view.SetDocument(w.path("asked/c.txt"), "new secret\n", 1)
	if err := os.Remove(w.path(".env")); err != nil {
		t.Fatal(err)
	}
	id := w.start(agentcore.RunRequest{
		Agent: "reviewer", Prompt: "Review these changes.", Changes: git.Scope{Kind: git.Uncommitted},
	})
	w.wait(id)
	said := ""
	for _, m := range w.transcript(id) {
		said += m.Text
	}
	for _, name := range []string{"private/b.txt", "asked/c.txt"} {
		if strings.Contains(said, "secret") || !strings.Contains(said, "not shown: "+name+": it may not be read: ") {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// TestNothingHasChanged is told, and is no run.
func TestNothingHasChanged(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n"}).committed()
	_, err := w.session.Start(w.ctx, agentcore.RunRequest{
		Agent: "reviewer", Prompt: "Review these changes.", Changes: git.Scope{Kind: git.Staged},
	})
	if !fault.Is(err, fault.Unchanged) || !strings.Contains(err.Error(), "nothing is staged in "+w.dir) {
		t.Errorf("it is told %v", err)
	}
}
