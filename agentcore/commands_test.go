package agentcore_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
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
	for _, h := range w.session.Proposal().Hunks() {
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
	w := newWorld(t, map[string]string{"a.go": disk, "b.txt": "b\n"},
		script.Turn{
			Expect: []script.Expect{script.Tools("bash", "bash_output", "bash_kill"), script.System("commands: in a sandbox without network")},
			Answer: []script.Step{bash("cat a.go; pwd")},
		},
		answered([]string{"func  f() { g() }", w0, "exit code 0"}, bash("gofmt -w a.go && printf 'new\\n' > sub.txt && rm b.txt")),
		answered([]string{"(no output)", "changed files (proposed, not written): a.go, b.txt (deleted), sub.txt (new)"}, bash("cat a.go sub.txt; ls b.txt; exit 3")),
		answered([]string{"func f() { g() }", "new\n", "No such file", "exit code 3"}),
	)
	w.view.SetDocument(w.path("a.go"), unsaved, 3)
	w.finishes(coder())
	if got := w.proposed(); got != "a.go -func  f() { g() }\n+func f() { g() }\n|b.txt -b\n+|sub.txt -+new\n" {
		t.Errorf("the hunks are %q", got)
	}
	if h := w.session.Proposal().Hunks(); len(h) == 0 || h[0].Author.Reason != "try it" {
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
		OpenModel: func(agentcore.Choice) (model.Model, error) { return w.model, nil },
	})
}
