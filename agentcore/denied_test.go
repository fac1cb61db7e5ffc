package agentcore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
)

// ruled opens the world's engine again with rules of the user, in a workspace that is trusted.
func (w *world) ruled(rules ...config.Permission) {
	w.t.Helper()
	cfg := config.Default()
	cfg.Permissions = rules
	w.configured(cfg)
	w.session.SetTrusted(true)
}

// What a rule keeps from being edited stays as it is when a command changes it, too.
func TestCommandsEditNothingThatIsDenied(t *testing.T) {
	w := newTrusted(t, map[string]string{"vendor/a.txt": "old\n", "b.txt": "old\n", "asked/c.txt": "old\n"},
		script.Turn{
			Answer: []script.Step{
				bash(
					"for f in vendor/a.txt b.txt asked/c.txt; do python3 -c " +
						"\"open('$f','w').write('new\\n')\"; done; mv " +
						"b.txt vendor/b.txt; cp vendor/b.txt b.txt; rm vendor/b.txt"),
			},
		},
		answered([]string{"changed files (proposed, not written): b.txt", "vendor/a.txt", "asked/c.txt", "edit"}),
	)
	w.ruled(config.Permission{Tool: "edit", Pattern: "vendor/**", Action: "deny"},
		config.Permission{Tool: "edit", Pattern: "asked/**", Action: "ask"})
	w.finishes(coder())
	if got := w.proposed(); got != "b.txt -old\n+new\n" {
		t.Errorf("the hunks are %q", got)
	}
}

// What a command changed and a rule forbids is a denial of the run: the run that started it is warned, and the event of
// the call tells of it. What would need a question is not.
func TestForbiddenChangeOfACommand(t *testing.T) {
	change := bash("for f in vendor/a.txt vendor/b.txt asked/c.txt; do echo new > $f; done")
	const told = "vendor/a.txt and 1 more file"
	w := newTrusted(
		t, map[string]string{"vendor/a.txt": "old\n", "vendor/b.txt": "old\n", "asked/c.txt": "old\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("general", "Change it.", "")}},
		script.Turn{Match: "Change it.", Answer: []script.Step{change}},
		script.Turn{Match: "Change it.", Answer: []script.Step{script.Text("Changed.")}, Expect: []script.Expect{
			script.Result("bash", "left out: vendor/a.txt: may not be changed"),
			script.Result("bash", "asked/c.txt: needs a question"),
		}},
		script.Turn{Match: "Go.", Answer: []script.Step{script.Text("done")}, Expect: []script.Expect{
			script.Result("task", "warning: it was not allowed to change "+told+" by a command: "),
			script.NotLast("asked/c.txt"),
		}},
	)
	w.ruled(config.Permission{Tool: "edit", Pattern: "vendor/**", Action: "deny"},
		config.Permission{Tool: "edit", Pattern: "asked/**", Action: "ask"})
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	var leftOut []string
	for _, call := range bodies[event.ToolCallFinished](w.until(ended(run))) {
		if call.LeftOut != "" {
			leftOut = append(leftOut, call.Tool+" "+call.LeftOut)
		}
	}
	if len(leftOut) != 1 || !strings.HasPrefix(leftOut[0], "bash "+told+": ") {
		t.Errorf("the events tell %q", leftOut)
	}
}

// In plan mode nothing is edited, not even by a command that a rule allows.
func TestCommandsEditNothingInPlanMode(t *testing.T) {
	w := newTrusted(t, map[string]string{"b.txt": "old\n"},
		script.Turn{Answer: []script.Step{bash("sed -i s/old/new/ b.txt")}},
		answered([]string{"b.txt", "plan mode"}),
	)
	w.ruled(config.Permission{Tool: "bash", Pattern: "*", Action: "allow"})
	request := coder()
	request.PermissionMode = permission.Plan
	w.finishes(request)
	if got := w.proposed(); got != "" {
		t.Errorf("the hunks are %q", got)
	}
}

// The document that the user starts a run on may be read, wherever it lies, and by those that the run starts.
func TestReadsWhatTheUserPointsAt(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "open.txt")
	read := call("read", fmt.Sprintf(`{"path":%q}`, outside))
	w := newWorld(
		t, map[string]string{"a.txt": "old\n"},
		script.Turn{Match: "Look at it.", Answer: []script.Step{read, task("explore", "You, too.", "")}},
		script.Turn{Match: "You, too.", Answer: []script.Step{read}},
		script.Turn{
			Match: "You, too.", Expect: []script.Expect{script.Result("read", "text of the outside")},
			Answer: []script.Step{script.Text("Seen.")},
		},
		script.Turn{
			Match: "Look at it.", Expect: []script.Expect{script.Result("read", "text of the outside")},
			Answer: []script.Step{script.Text("Done.")},
		},
	)
	w.view.SetDocument(outside, "text of the outside\n", 1)
	w.finishes(agentcore.RunRequest{
		Agent: "coder", Prompt: "Look at it.",
		Context: agentcore.Context{Paths: []string{outside}},
	})
}

// A workspace that was opened by a link is read and edited without a question.
func TestWorkspaceBehindALink(t *testing.T) {
	w := newWorld(
		t, map[string]string{"sub/a.txt": "old\n"},
		script.Turn{Answer: []script.Step{call("read", `{"path":"sub/a.txt"}`)}},
		script.Turn{
			Expect: []script.Expect{script.Result("read", "old")},
			Answer: []script.Step{call("edit", `{"path":"sub/a.txt","old_string":"old","new_string":"new"}`)},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("edit", "Edited")},
			Answer: []script.Step{script.Text("Done.")},
		},
	)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.dir, link); err != nil {
		t.Fatal(err)
	}
	w.closeEngine()
	w.dir = link
	w.open()
	w.finishes(coder())
}

// A finding and a check are no ways around the rules on files.
func TestNoWayAroundRulesOnFiles(t *testing.T) {
	w := newWorld(t, map[string]string{
		"private/b.go": "package needle\n", "vendor/c.go": "package c\n",
		"d.go": "package d\n",
	})
	cfg := config.Default()
	cfg.Permissions = []config.Permission{
		{Tool: "read", Pattern: "private/**", Action: "deny"},
		{Tool: "edit", Pattern: "vendor/**", Action: "deny"},
	}
	seen, proposed := attack(t, w, agentcore.Options{Config: cfg}, "coder",
		attempt{
			"report_finding",
			`{"path": "private/b.go", "line": 1, "message": "x", "fix": {"old_string": "package needl\n", "new_string": "package c\n"}}`,
		},
		attempt{"diagnostics", `{"path": "private/b.go"}`},
		attempt{
			"report_finding",
			`{"path": "vendor/c.go", "line": 1, "message": "x", "fix": {"old_string": "package c", "new_string": "package x"}}`,
		},
		attempt{
			"report_finding",
			`{"path": "d.go", "line": 1, "message": "x", "fix": {"old_string": "package d", "new_string": "package y"}}`,
		},
	)
	if strings.Contains(seen, "needle") {
		t.Errorf("the model saw what it may not read: %s", seen)
	}
	if len(proposed) != 1 || !strings.Contains(proposed["d.go"], "package y") {
		t.Errorf("proposed: %v", proposed)
	}
	if n := strings.Count(seen, "denied"); n < 3 {
		t.Errorf("%d calls are denied: %s", n, seen)
	}
}
