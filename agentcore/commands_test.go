package agentcore_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/provider"
	runs "github.com/agentls/agentls/agentcore/run"
)

// bash is a call that runs a command line.
func bash(command string, more ...string) script.Call {
	arguments := map[string]any{"command": command, "description": "try it"}
	for _, pair := range more {
		name, value, _ := strings.Cut(pair, "=")
		arguments[name] = json.RawMessage(value)
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		panic(err)
	}
	return call("bash", string(raw))
}

// answered is a turn that expects the results of the last one, and makes calls.
func answered(results []string, steps ...script.Step) script.Turn {
	turn := script.Turn{Answer: steps}
	for _, r := range results {
		turn.Expect = append(turn.Expect, script.Result("bash", r))
	}
	if len(steps) == 0 {
		turn.Answer = []script.Step{script.Text("done")}
	}
	return turn
}

// unchanged fails where a file of the disk is not as it was.
func (w *world) unchanged(name, want string) {
	w.t.Helper()
	if text, err := os.ReadFile(w.path(name)); err != nil || string(text) != want {
		w.t.Errorf("%s on disk is %q, %v; want %q", name, text, err, want)
	}
}

// hunks are the proposed hunks as "file -before+after".
func (w *world) proposed() string {
	var all []string
	for _, h := range w.session.Board().Proposal().Hunks() {
		name, err := filepath.Rel(w.dir, h.Path)
		if err != nil {
			name = h.Path
		}
		all = append(all, name+" -"+h.Before+"+"+h.After)
	}
	return strings.Join(all, "|")
}

// finishes runs an agent to its end without a question.
func (w *world) finishes(request agentcore.RunRequest) {
	w.t.Helper()
	id := w.start(request)
	if result := w.wait(id); result.Status != event.StatusCompleted {
		w.t.Errorf("the run is %s: %+v", result.Status, result.Error)
	}
	for _, e := range w.until(ended(id)) {
		if _, asked := e.Body.(event.AskOpened); asked {
			w.t.Errorf("the user was asked: %+v", e.Body)
		}
	}
}

func TestCommandSeesUnsavedText(t *testing.T) {
	const disk = "package a\n\nfunc f() {}\n"
	const unsaved = "package a\n\nfunc  f() { g() }\n\nfunc g() {}\n"
	w := newTrusted(t, map[string]string{"a.go": disk, "b.txt": "b\n"},
		script.Turn{
			Expect: []script.Expect{
				script.Tools("bash", "bash_output", "bash_kill"),
				script.System("commands: in a sandbox without network"),
			},
			Answer: []script.Step{bash("cat a.go; pwd")},
		},
		answered([]string{"func  f() { g() }", w0, "exit code 0"},
			bash("gofmt -w a.go && printf 'new\\n' > sub.txt && rm b.txt")),
		answered([]string{"(no output)", "changed files (proposed, not written): a.go, b.txt (deleted), sub.txt (new)"},
			bash("cat a.go sub.txt; ls b.txt; exit 3")),
		answered([]string{"func f() { g() }", "new\n", "No such file", "exit code 3"}),
	)
	w.view.SetDocument(w.path("a.go"), unsaved, 3)
	w.finishes(coder())
	if got := w.proposed(); got != "a.go -func  f() { g() }\n+func f() { g() }\n|b.txt -b\n+|sub.txt -+new\n" {
		t.Errorf("the hunks are %q", got)
	}
	if h := w.session.Board().Proposal().Hunks(); len(h) == 0 || h[0].Author.Reason != "try it" {
		t.Errorf("the reason is not that of the command: %+v", h)
	}
	w.unchanged("a.go", disk)
	w.unchanged("b.txt", "b\n")
	if _, err := os.Stat(w.path("sub.txt")); !os.IsNotExist(err) {
		t.Errorf("a file was written to the workspace: %v", err)
	}
}

// w0 is part of what pwd says in every workspace of these tests.
const w0 = "/TestCommand"

// configured opens the world's engine again with another configuration.
func (w *world) configured(cfg *config.Config) {
	w.t.Helper()
	w.closeEngine()
	w.openWith(agentcore.Options{
		StateDir: w.state, Config: cfg, Getenv: func(string) string { return "" },
		OpenModel: func(provider.Choice) (model.Model, error) { return w.model, nil },
	})
}

// newTrusted is newWorld in a workspace that the user trusts.
func newTrusted(t *testing.T, files map[string]string, turns ...script.Turn) *world {
	w := newWorld(t, files, turns...)
	w.session.SetTrusted(true)
	return w
}

// withoutSandbox is a configuration without a sandbox, in a workspace that the user trusts.
func (w *world) withoutSandbox() {
	w.t.Helper()
	cfg := config.Default()
	cfg.Sandbox = config.SandboxOff
	w.configured(cfg)
	w.session.SetTrusted(true)
}

// processes are the process ids of a run.
func processes(t *testing.T, run event.RunID) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && strings.Contains("\x00"+string(text), "\x00AGENTLS_RUN="+string(run)+"\x00") {
			found = append(found, file)
		}
	}
	return found
}

// waitFor polls for something that no event tells.
func (w *world) waitFor(what string, happened func() bool) {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !happened() {
		select {
		case <-tick.C:
		case <-w.ctx.Done():
			w.t.Fatalf("%s: it did not happen", what)
		}
	}
}

// emptied fails where a run has left processes, or its sandbox files.
func (w *world) emptied(run event.RunID) {
	w.t.Helper()
	if left := processes(w.t, run); len(left) > 0 {
		w.t.Errorf("processes are left: %q", left)
	}
	entries, err := os.ReadDir(runs.SandboxDir(w.state))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		w.t.Errorf("the sandbox has left %s", e.Name())
	}
}

// module is a Go module that builds without a network.
func module() map[string]string {
	return map[string]string{
		"go.mod": "module example.org/m\n\ngo 1.20\n", ".gitignore": "out/\n",
		"m.go": "package m\n\n//go:generate sh gen.sh\n\nfunc F() int { return 1 }\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif F() != 1 " +
			"{\n\t\tt.Fatal(F())\n\t}\n}\n",
		"gen.sh": "printf 'package m\\n\\nconst G = 1\\n' > gen.go\nmkdir -p out\necho built > out/log\n",
	}
}

func TestCommandsOfARunShareTheirSandbox(t *testing.T) {
	w := newTrusted(t, module(),
		script.Turn{Answer: []script.Step{bash("go generate ./... && go test ./...")}},
		answered([]string{"ok", "example.org/m", "changed files (proposed, not written): gen.go (new)"},
			bash("go test ./... && cat out/log && cat gen.go")),
		answered([]string{"(cached)", "built", "const G = 1"}),
	)
	w.finishes(coder())
	if got := w.proposed(); got != "gen.go -+package m\n\nconst G = 1\n" {
		t.Errorf("the hunks are %q", got)
	}
	entries, err := os.ReadDir(w.dir)
	if err != nil || len(entries) != len(module()) {
		t.Errorf("the workspace has %d files, %v; want %d", len(entries), err, len(module()))
	}
}

func TestHarmlessCommandsAreNotAsked(t *testing.T) {
	w := newTrusted(t, module(),
		script.Turn{Answer: []script.Step{bash("git status --short")}},
		answered([]string{"?? m.go", "exit code 0"}, bash("ls -la && x=$(pwd) && echo \"$x\" > t && rm t")),
		answered([]string{"m_test.go", "exit code 0"}, bash("grep -rn foo . || true")),
		answered([]string{"exit code 0"}),
	)
	runGit(t, w.dir, "init", "-q")
	w.finishes(coder())
}

// runGit runs git in a folder, without the user's own settings.
func runGit(t *testing.T, dir string, arguments ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", arguments...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v: %s", arguments, err, out)
	}
}

func TestCommandWithoutSandboxAsks(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "disk\n"},
		script.Turn{
			Expect: []script.Expect{script.System("commands: without a sandbox")},
			Answer: []script.Step{bash("cat a.txt; echo new > a.txt; echo $AGENTLS_RUN; exit 2")},
		},
		answered([]string{"disk\n", "exit code 2", "it ran without a sandbox"}, bash("rm a.txt")),
		answered([]string{"denied: the user said no"}, call("read", `{"path":"a.txt"}`)),
		ends(script.Result("read", "new")),
	)
	w.withoutSandbox()
	id := w.start(coder())
	ask := w.asked()
	if !strings.Contains(ask.Detail, "echo new > a.txt") {
		t.Errorf("unexpected question: %+v", ask)
	}
	w.answer(ask, authority.Answer{Allow: true})
	w.resolved()
	w.answer(w.asked(), authority.Answer{})
	w.wait(id)
	w.unchanged("a.txt", "new\n")
	w.emptied(id)
	if entries, err := os.ReadDir(filepath.Join(w.state, "outputs")); err != nil || len(entries) != 0 {
		t.Errorf("outputs are left: %v, %v", entries, err)
	}
}

func TestCommandsNeedTrust(t *testing.T) {
	for _, mode := range []config.SandboxMode{config.SandboxAuto, config.SandboxOff} {
		w := newWorld(t, nil,
			script.Turn{Answer: []script.Step{bash("touch a")}},
			answered([]string{"denied: ", "does not trust", "agentls trust"}),
		)
		cfg := config.Default()
		cfg.Sandbox = mode
		w.configured(cfg)
		w.finishes(coder())
		if _, err := os.Stat(w.path("a")); !os.IsNotExist(err) {
			t.Errorf("the command ran: %v", err)
		}
		if got := w.proposed(); got != "" {
			t.Errorf("the hunks are %q", got)
		}
	}
}

func TestDeniedCommand(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n"},
		script.Turn{Answer: []script.Step{bash("true && rm a.txt")}},
		answered([]string{"denied: "}, bash("echo fine")),
		answered([]string{"fine"}),
	)
	cfg := config.Default()
	cfg.Permissions = []config.Permission{{Tool: "bash", Pattern: "rm *", Action: permission.Deny}}
	w.configured(cfg)
	w.session.SetTrusted(true)
	w.finishes(coder())
}

func TestLongOutput(t *testing.T) {
	for _, sandboxed := range []bool{true, false} {
		w := newWorld(t, nil,
			script.Turn{Answer: []script.Step{bash("seq 1 20000")}},
			script.Turn{
				Expect: []script.Expect{
					script.Result("bash", "1\n2\n3\n"),
					script.Result("bash", "20000\n\nexit code 0"), script.Result("bash", "bytes are left out here"),
				},
				Capture: map[string]*regexp.Regexp{"whole": regexp.MustCompile(`all of it is in (\S+),`)},
				Answer:  []script.Step{call("read", `{"path":"${whole}","offset":10000,"limit":2}`)},
			},
			script.Turn{
				Expect: []script.Expect{script.Result("read", "10000\t10000\n10001\t10001\n")},
				Answer: []script.Step{call("read", `{"path":"/etc/hostname"}`)},
			},
			ends(script.Result("read", "denied: ")),
		)
		cfg := config.Default()
		if !sandboxed {
			cfg.Sandbox = config.SandboxOff
			cfg.Permissions = []config.Permission{
				{Tool: "bash", Action: permission.Allow},
				{Tool: "read", Action: permission.Allow},
			}
		} else {
			cfg.Permissions = []config.Permission{{Tool: "read", Action: permission.Allow}}
		}
		w.configured(cfg)
		w.session.SetTrusted(true)
		w.finishes(coder())
	}
}

func TestBackgroundCommands(t *testing.T) {
	for _, sandboxed := range []bool{true, false} {
		w := newWorld(t, map[string]string{"a.txt": "disk\n"},
			script.Turn{Answer: []script.Step{
				bash("cat a.txt; echo lost > b.txt; exit 4", "background=true"),
				bash("echo started; sleep 1000", "background=true"),
			}},
			answered([]string{"Started in the background as bash-1", "as bash-2"},
				call("bash_output", `{"id":"bash-1","wait_ms":60000}`)),
			script.Turn{
				Expect: []script.Expect{
					script.Result("bash_output", map[bool]string{true: "typed\n", false: "disk\n"}[sandboxed]),
					script.Result("bash_output", "exit code 4"),
				},
				Answer: []script.Step{
					call("bash_output", `{"id":"bash-1"}`), call("bash_output", `{"id":"bash-2"}`),
					call("bash_output", `{"id":"bash-9"}`),
				},
			},
			script.Turn{
				Expect: []script.Expect{
					script.Result("bash_output", "(no new output)"),
					script.Result("bash_output", "it is still running"),
					script.Result("bash_output", "error: there is no command \"bash-9\"; there are bash-1, bash-2"),
				},
				Answer: []script.Step{call("bash_kill", `{"id":"bash-2"}`), bash("sleep 1000", "background=true")},
			},
			ends(script.Result("bash_kill", "ended by SIGKILL")),
		)
		cfg := config.Default()
		if !sandboxed {
			cfg.Sandbox = config.SandboxOff
			cfg.Permissions = []config.Permission{{Tool: "bash", Action: permission.Allow}}
		}
		w.configured(cfg)
		w.session.SetTrusted(true)
		w.view.SetDocument(w.path("a.txt"), "typed\n", 1)
		id := w.start(coder())
		w.wait(id)
		w.emptied(id)
		if got := w.proposed(); got != "" {
			t.Errorf("a command in the background proposed %q", got)
		}
	}
}

func TestCommandTimesOut(t *testing.T) {
	for _, sandboxed := range []bool{true, false} {
		w := newWorld(t, nil,
			script.Turn{Answer: []script.Step{bash("echo begun; (setsid sleep 1000 &); sleep 1000", "timeout_ms=400")}},
			answered([]string{"begun", "timed out", "its time limit"}, bash("true", "timeout_ms=600001")),
			answered([]string{"error: timeout_ms is 600001, and 600000 at most"}),
		)
		cfg := config.Default()
		if !sandboxed {
			cfg.Sandbox = config.SandboxOff
			cfg.Permissions = []config.Permission{{Tool: "bash", Action: permission.Allow}}
		}
		w.configured(cfg)
		w.session.SetTrusted(true)
		id := w.start(coder())
		if result := w.wait(id); result.Status != event.StatusCompleted {
			t.Errorf("the run is %s: %+v", result.Status, result.Error)
		}
		w.emptied(id)
	}
}

func TestCancelLeavesNoProcess(t *testing.T) {
	for _, sandboxed := range []bool{true, false} {
		for _, how := range []string{"cancel", "close"} {
			w := newWorld(t, nil, script.Turn{Answer: []script.Step{
				bash("sleep 1001", "background=true"),
				bash(
					"trap '' TERM INT HUP; (setsid sh -c 'trap \"\" TERM; sleep 1000; sleep 1000' &); " +
						"sleep 1000; true"),
			}})
			cfg := config.Default()
			if !sandboxed {
				cfg.Sandbox = config.SandboxOff
				cfg.Permissions = []config.Permission{{Tool: "bash", Action: permission.Allow}}
			}
			w.configured(cfg)
			w.session.SetTrusted(true)
			id := w.start(coder())
			w.waitFor("the commands run", func() bool { return len(processes(t, id)) >= 5 })
			if how == "cancel" {
				if err := w.engine.Cancel(id); err != nil {
					t.Fatal(err)
				}
				if result := w.wait(id); result.Status != event.StatusCancelled {
					t.Errorf("the run is %s", result.Status)
				}
			} else {
				w.closeEngine()
			}
			w.emptied(id)
		}
	}
}
