package agentcore_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/sandbox"
)

// eachLevel runs a test on each level of the sandbox: the one that the machine has, and those that it would fall back
// to. The quick tests leave bubblewrap out, which not every machine has.
func eachLevel(t *testing.T, test func(t *testing.T, level sandbox.Level)) {
	levels := []sandbox.Level{sandbox.Full, sandbox.Bubblewrap, sandbox.Copy}
	if testing.Short() {
		levels = []sandbox.Level{sandbox.Full, sandbox.Copy}
	}
	for _, level := range levels {
		t.Run(string(level), func(t *testing.T) { test(t, level) })
	}
}

// atLevel opens the world's engine again with another level, on which nobody is asked.
func (w *world) atLevel(level sandbox.Level) {
	w.t.Helper()
	cfg := config.Default()
	cfg.Permissions = []config.Permission{{Tool: "bash", Action: permission.Allow}}
	w.configured(cfg)
	w.session.SetTrusted(true)
	if level != sandbox.Full {
		w.engine.ForceSandbox(sandbox.Report{Level: level})
	}
}

// TestCommandAtEachLevel sees unsaved text in a command, and its changes as hunks.
func TestCommandAtEachLevel(t *testing.T) {
	eachLevel(t, func(t *testing.T, level sandbox.Level) {
		says := "commands: in a sandbox without network"
		if level == sandbox.Copy {
			says = "commands: on a copy of the workspace"
		}
		const disk = "package a\n\nfunc f() {}\n"
		w := newWorld(t, map[string]string{"a.go": disk, "b.txt": "b\n", ".gitignore": "out/\n", "sub/c.txt": "c\n"},
			script.Turn{Expect: []script.Expect{script.System(says)}, Answer: []script.Step{bash(
				"gofmt -w a.go && printf 'new\\n' > n.txt && rm b.txt && mkdir out && echo built > out/log && echo " +
					"more >> sub/c.txt",
			)}},
			answered([]string{
				"exit code 0",
				"changed files (proposed, not written): a.go, b.txt (deleted), n.txt (new), sub/c.txt\n",
			},
				bash("cat a.go n.txt out/log sub/c.txt; ls b.txt")),
			answered([]string{"func f() { g() }", "new\nbuilt\nc\nmore\n", "No such file"},
				bash("sleep 1000", "background=true")),
			script.Turn{
				Expect: []script.Expect{script.Result("bash", "bash-1")},
				Answer: []script.Step{script.Text("done")},
			},
		)
		w.atLevel(level)
		w.view.SetDocument(w.path("a.go"), "package a\n\nfunc  f() { g() }\n", 2)
		id := w.start(coder())
		if result := w.wait(id); result.Status != event.StatusCompleted {
			t.Errorf("the run is %s: %+v", result.Status, result.Error)
		}
		if got := w.proposed(); got != "a.go -func  f() { g() }\n+func f() { g() }\n|b.txt -b\n+|n.txt "+
			"-+new\n|sub/c.txt -+more\n" {
			t.Errorf("the hunks are %q", got)
		}
		w.unchanged("a.go", disk)
		w.unchanged("b.txt", "b\n")
		w.unchanged("sub/c.txt", "c\n")
		if entries, err := os.ReadDir(w.dir); err != nil || len(entries) != 4 {
			t.Errorf("the workspace has %d files, %v", len(entries), err)
		}
		w.emptied(id)
	})
}

// TestProtectedAtEachLevel lets a command write what acts by itself, and read a secret.
func TestProtectedAtEachLevel(t *testing.T) {
	eachLevel(t, func(t *testing.T, level sandbox.Level) {
		// On a copy, the gate would ask for what it can see in the command line.
		const hostile = "echo '[alias]' >> .git/config; echo x > .vscode/tasks.json; mkdir -p .git/hooks && echo x > " +
			".git/hooks/pre-commit; " +
			"cat .env; echo KEY=2 > .env; mkdir -p .claude && echo x > .claude/settings.json; echo b > a.txt\n"
		w := newWorld(t, map[string]string{
			"a.txt": "a\n", ".git/config": "[core]\n", ".vscode/tasks.json": "{}\n", ".env": "KEY=hidden-one\n",
			"hostile.sh": hostile,
		},
			script.Turn{Answer: []script.Step{bash("bash hostile.sh")}},
			answered([]string{"exit code 0"}),
		)
		w.atLevel(level)
		id := w.start(coder())
		w.wait(id)
		for _, e := range w.until(ended(id)) {
			if m, ok := e.Body.(event.MessageCommitted); ok && strings.Contains(m.Text, "hidden-one") {
				t.Errorf("the secret was read: %q", m.Text)
			}
		}
		if got := w.proposed(); got != "a.txt -a\n+b\n" {
			t.Errorf("the hunks are %q", got)
		}
		for name, want := range map[string]string{
			".git/config": "[core]\n", ".vscode/tasks.json": "{}\n",
			".env": "KEY=hidden-one\n",
		} {
			w.unchanged(name, want)
		}
		for _, name := range []string{".git/hooks", ".claude"} {
			if _, err := os.Lstat(w.path(name)); err == nil {
				t.Errorf("%s was made on disk", name)
			}
		}
		w.emptied(id)
	})
}

// TestNetworkAtEachLevel asks a server on this machine, which is out of reach where there are walls.
func TestNetworkAtEachLevel(t *testing.T) {
	eachLevel(t, func(t *testing.T, level sandbox.Level) {
		for _, open := range []bool{false, true} {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			_, port, err := net.SplitHostPort(l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			want := "cannot"
			if open || level == sandbox.Copy {
				want = "reached"
			}
			w := newWorld(t, nil,
				script.Turn{
					Answer: []script.Step{
						bash("(exec 3<>/dev/tcp/127.0.0.1/" + port + ") 2>/dev/null && echo reached || echo cannot"),
					},
				},
				answered([]string{want + "\n\nexit code 0"}),
			)
			cfg := config.Default()
			cfg.SandboxNetwork = open
			cfg.Permissions = []config.Permission{{Tool: "bash", Action: permission.Allow}}
			w.configured(cfg)
			w.session.SetTrusted(true)
			if level != sandbox.Full {
				w.engine.ForceSandbox(sandbox.Report{Level: level})
			}
			w.wait(w.start(coder()))
		}
	})
}

// TestSingleHostsAtEachLevel reaches what network.allow names where there are walls, and nothing else.
func TestSingleHostsAtEachLevel(t *testing.T) {
	eachLevel(t, func(t *testing.T, level sandbox.Level) {
		if level == sandbox.Copy {
			return // without walls commands reach everything
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
			r *http.Request,
		) {
			fmt.Fprintf(w, "answer to %s\n", r.URL.Path)
		}))
		defer server.Close()
		host := server.Listener.Addr().String()
		request := func(target string) script.Call {
			return bash(`exec 3<>"/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}"; printf 'GET ` + target +
				` HTTP/1.0\r\n\r\n' >&3; cat <&3`)
		}
		w := newWorld(t, nil,
			script.Turn{Answer: []script.Step{request("http://" + host + "/a")}},
			answered([]string{"200 OK", "answer to /a"}, request("http://other.example.org/b")),
			answered([]string{"403 Forbidden"}, bash("(exec 3<>/dev/tcp/192.0.2.1/80) || echo unreachable")),
			answered([]string{"unreachable"}),
		)
		cfg := config.Default()
		cfg.NetworkAllow = []string{host}
		w.configured(cfg)
		w.session.SetTrusted(true)
		if level != sandbox.Full {
			w.engine.ForceSandbox(sandbox.Report{Level: level})
		}
		w.finishes(coder())
	})
}

// TestAskedAtCopyLevel asks for a command that only runs on a copy; in bubblewrap it does not.
func TestAskedAtCopyLevel(t *testing.T) {
	eachLevel(t, func(t *testing.T, level sandbox.Level) {
		w := newWorld(t, nil, script.Turn{Answer: []script.Step{bash("x=1; echo $x")}}, answered([]string{"1\n"}))
		w.configured(config.Default())
		w.session.SetTrusted(true)
		if level != sandbox.Full {
			w.engine.ForceSandbox(sandbox.Report{Level: level})
		}
		if level != sandbox.Copy {
			w.finishes(coder())
			return
		}
		id := w.start(coder())
		w.answer(w.asked(), authority.Answer{Allow: true})
		w.wait(id)
	})
}

// TestNothingIsLeftAtEachLevel cancels a run whose command tries to live on.
func TestNothingIsLeftAtEachLevel(t *testing.T) {
	eachLevel(t, func(t *testing.T, level sandbox.Level) {
		marker := filepath.Join(t.TempDir(), "marker") // a word that no other process has
		w := newWorld(t, nil,
			script.Turn{
				Answer: []script.Step{
					bash("trap '' TERM; (setsid env -i sh -c 'sleep 1000; : " + marker + "-first' &); echo begun"),
				},
			},
			answered([]string{"begun"},
				bash("(setsid sh -c 'trap \"\" TERM; sleep 1000; sleep 1000' &); sleep 1000; : "+marker+"-second")),
		)
		w.atLevel(level)
		id := w.start(coder())
		// A shell that forks is there twice for a moment.
		w.waitFor("the second command runs", func() bool {
			return running(t, marker+"-second") == 1 && len(processes(t, id)) >= 4
		})
		// The first one is gone with all that it started, also without its environment.
		w.waitFor("nothing of the first command is left", func() bool { return running(t, marker+"-first") == 0 })
		if err := w.engine.Cancel(id); err != nil {
			t.Fatal(err)
		}
		w.wait(id)
		w.emptied(id)
		if got := running(t, marker); got != 0 {
			t.Errorf("%d processes are left", got)
		}
	})
}

// running counts the shells whose command line has a word.
func running(t *testing.T, word string) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), word) {
			n++
		}
	}
	return n
}
