package agentcore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/provider"
)

// userConfigured is a world whose user has a configuration file with a text, and the path of that file.
func userConfigured(t *testing.T, file string, turns ...script.Turn) (*world, string) {
	w := newWorld(t, nil, turns...)
	w.closeEngine()
	path := filepath.Join(t.TempDir(), "agentls", "config.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(file), 0o640); err != nil {
		t.Fatal(err)
	}
	loaded, problems := config.Load(config.Sources{UserFile: path})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	w.openWith(agentcore.Options{
		StateDir: w.state, Config: loaded, UserConfig: path,
		OpenModel: func(provider.Choice) (model.Model, error) { return w.model, nil },
	})
	return w, path
}

func fileIs(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s is %q, %v; want %q", path, got, err, want)
	}
}

// TestStatuslineTool: the agent statusline-setup sets the key once the user agrees to the very line.
func TestStatuslineTool(t *testing.T) {
	setup := func(answer ...script.Step) script.Turn { return script.Turn{Match: "Show the agent.", Answer: answer} }
	result := func(text string, answer ...script.Step) script.Turn {
		turn := setup(answer...)
		turn.Expect = []script.Expect{script.Result("statusline", text)}
		return turn
	}
	w, path := userConfigured(
		t, "# mine\nstatusline = \"{{model}}\" # short\n\n[budget]\ntokens = 100000\n",
		setup(
			call("statusline", `{}`), call("statusline", `{"line":"{{agnt}}"}`),
			call("statusline", `{"line":"{{#if agent}}{{agent}}"}`), call("statusline", `{"line":"a\u202eb"}`),
			call("statusline", `{"line":"{{agent}}"}`),
		),
		script.Turn{
			Match: "Show the agent.",
			Expect: []script.Expect{
				script.Result("statusline", "{{model}}"), script.Result("statusline", "did you mean agent?"),
				script.Result("statusline", "the template is broken"),
				script.Result("statusline", "the line has invisible characters or line breaks"),
				script.Result("statusline", "wants the status line to stay"),
			},
			Answer: []script.Step{call("statusline", `{"line":"!echo no >&2; exit 3"}`)},
		},
		result("exit code 3: no; nothing was changed",
			call("statusline", `{"line":"!cat | grep -o '\"agent\":\"[a-z]*\"'"}`)),
		result(`"agent":"coder"`, script.Text("It is set.")),
	)
	id := w.start(agentcore.RunRequest{Agent: "statusline-setup", Prompt: "Show the agent."})
	if ask := w.chooses("Leave it as it is"); len(ask.Choices()) != 2 || !strings.Contains(ask.Title, path) ||
		!strings.HasSuffix(ask.Title, "to: {{agent}}") {
		t.Errorf("asked %q", ask.Title)
	}
	w.chooses("Set it")
	fileIs(t, path, "# mine\nstatusline = \"{{model}}\" # short\n\n[budget]\ntokens = 100000\n")
	if ask := w.chooses("Set it"); !strings.Contains(ask.Detail, "outside of any sandbox") {
		t.Errorf("said %q of a command", ask.Detail)
	}
	if result := w.wait(id); result.Status != event.StatusCompleted {
		t.Errorf("the run is %s: %+v", result.Status, result.Error)
	}
	fileIs(t, path,
		"# mine\nstatusline = \"!cat | grep -o '\\\"agent\\\":\\\"[a-z]*\\\"'\" # short\n\n[budget]\ntokens = 100000\n")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file's mode became %v, %v", info.Mode(), err)
	}
}

// TestStatuslineToolIsItsAgents: others are not offered it, a file in the workspace is not written, and nobody's answer
// changes nothing.
func TestStatuslineToolIsItsAgents(t *testing.T) {
	w, path := userConfigured(
		t, "", script.Turn{
			Match: "Change it.", Expect: []script.Expect{script.NoTools("statusline")},
			Answer: []script.Step{script.Text("Done.")},
		},
		script.Turn{Match: "Set it.", Answer: []script.Step{call("statusline", `{"line":"x"}`)}},
		script.Turn{
			Match: "Set it.", Expect: []script.Expect{script.Result("statusline", "lies in the workspace")},
			Answer: []script.Step{script.Text("Done.")},
		},
	)
	w.finishes(coder())
	w.closeEngine()
	inside := w.path("config.toml")
	if err := os.Symlink(inside, path+".link"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(inside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.openWith(agentcore.Options{
		StateDir: w.state, UserConfig: path + ".link",
		OpenModel: func(provider.Choice) (model.Model, error) { return w.model, nil },
	})
	w.finishes(agentcore.RunRequest{Agent: "statusline-setup", Prompt: "Set it."})
	fileIs(t, inside, "")
}
