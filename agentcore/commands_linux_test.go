package agentcore_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/agentls/agentls/agentcore/model/script"
)

func TestUserTypesWhileACommandRuns(t *testing.T) {
	const before = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
	w := newTrusted(t, map[string]string{"a.txt": before, "b.txt": "b\n", "c.txt": "c\n", "d.txt": "d\n"},
		script.Turn{Answer: []script.Step{bash(
			"sed -i 's/one/ONE/; s/seven/SEVEN/' a.txt; sed -i s/b/B/ b.txt; rm c.txt; sed -i s/d/D/ d.txt; seq 1 " +
				"20000; trap 'kill %1; exit 7' USR1; sleep 1000 & wait",
		)}},
		answered([]string{
			"exit code 7", "changed files (proposed, not written): a.txt, d.txt\n",
			"left out: a.txt was changed at line 7 while the command ran. The command made of it:\nSEVEN\nIt now " +
				"reads:\n7!\n",
			"left out: b.txt: was changed on disk while the command ran", "left out: c.txt was changed at line 1",
		}),
	)
	id := w.start(coder())
	var shell int
	w.waitFor("the command has written", func() bool {
		shell = 0
		for _, file := range processes(t, id) {
			dir := filepath.Dir(file)
			name, _ := os.ReadFile(filepath.Join(dir, "comm"))
			line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && string(name) == "sleep\n" &&
				strings.Contains(string(line), "1000") {
				status, _ := os.ReadFile(filepath.Join(dir, "stat"))
				if fields := strings.Fields(string(status)); len(fields) > 3 && pid > 0 {
					shell, _ = strconv.Atoi(fields[3]) // its parent
				}
			}
		}
		return shell > 1
	})
	w.view.SetDocument(w.path("a.txt"), strings.Replace(before, "seven", "7!", 1), 1)
	w.view.SetDocument(w.path("c.txt"), "kept\n", 1)
	w.view.SetDocument(w.path("d.txt"), "d\n", 1)
	if err := os.WriteFile(w.path("b.txt"), []byte("saved\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.view.DiskChanged([]string{w.path("b.txt")})
	parent, err := os.FindProcess(shell)
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	w.wait(id)
	if got := w.proposed(); got != "a.txt -one\n+ONE\n|d.txt -d\n+D\n" {
		t.Errorf("the hunks are %q", got)
	}
}

// TestSandboxIsOpenedAhead: while the arguments of a command are on their way, its sandbox is opened; the end of the
// run clears it away, also where the command never comes.
func TestSandboxIsOpenedAhead(t *testing.T) {
	w := newTrusted(t, map[string]string{"a.txt": "a\n"},
		script.Turn{Answer: []script.Step{bash("true"), script.Gate("arguments")}},
	)
	id := w.start(coder())
	if err := w.model.Reached(w.ctx, "arguments", 1); err != nil {
		t.Fatal(err)
	}
	boxes := func() (n int) {
		entries, err := os.ReadDir(filepath.Join(w.state, "sandbox"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() {
				n++
			}
		}
		return n
	}
	w.waitFor("the sandbox is opened", func() bool { return boxes() == 1 })
	w.cancel(id)
	w.wait(id)
	if n := boxes(); n != 0 {
		t.Errorf("%d sandboxes are left", n)
	}
}
