package agentcore_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/config/configtest"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/hook"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/workspace"
)

// sh is a hook of the user.
func sh(script string) config.Hook {
	return config.Hook{Command: config.Command{"sh", "-c", script}, Timeout: watchdog}
}

// hooked is a configuration with hooks.
func hooked(hooks map[string][]config.Hook) *config.Config {
	cfg := config.Default()
	cfg.Hooks = hooks
	return cfg
}

// hookWorld is a world with hooks, in a workspace that the user trusts.
func hookWorld(t *testing.T, files map[string]string, hooks map[string][]config.Hook, turns ...script.Turn) *world {
	t.Helper()
	w := newWorld(t, files, turns...)
	w.configured(hooked(hooks))
	w.session.SetTrusted(true)
	return w
}

// plays runs an agent to its end, and returns the result and the notices.
func (w *world) plays(request agentcore.RunRequest) (event.RunResult, []string) {
	w.t.Helper()
	id := w.start(request)
	result := w.wait(id)
	notices := []string{}
	for _, e := range w.until(ended(id)) {
		if n, ok := e.Body.(event.Notice); ok {
			notices = append(notices, n.Message)
		}
	}
	return result, notices
}

// told fails where the notices are not those with these beginnings.
func told(t *testing.T, notices []string, want ...string) {
	t.Helper()
	fits := len(notices) == len(want)
	for i := 0; fits && i < len(want); i++ {
		fits = strings.HasPrefix(notices[i], want[i])
	}
	if !fits {
		t.Errorf("told %q, want %q", notices, want)
	}
}

// says is a turn that expects texts in the last message, and none of others that begin with "!".
func says(answer script.Step, texts ...string) script.Turn {
	turn := script.Turn{Answer: []script.Step{answer}}
	for _, text := range texts {
		if not, ok := strings.CutPrefix(text, "!"); ok {
			turn.Expect = append(turn.Expect, script.NotLast(not))
		} else {
			turn.Expect = append(turn.Expect, script.Last(text))
		}
	}
	return turn
}

const done = script.Text("done")

var readA = call("read", `{"path":"a.txt"}`)

// TestHooksByExitCode plays each event with each kind of end.
func TestHooksByExitCode(t *testing.T) {
	const out, bad, reject, failed = `echo out; echo err >&2`, `echo out; echo err >&2; exit 2`,
		`echo '{"decision":"block","reason":"not so"}'`, `echo out; echo err >&2; exit 1`
	start := func(texts ...string) []script.Turn { return []script.Turn{says(done, texts...)} }
	called := func(texts ...string) []script.Turn { return []script.Turn{says(readA), says(done, texts...)} }
	stops := func(texts ...string) []script.Turn {
		turns := []script.Turn{says(script.Text("first"))}
		if len(texts) > 0 {
			turns = append(turns, says(script.Text("second"), texts...))
		}
		return turns
	}
	for _, test := range []struct {
		event, script string
		turns         []script.Turn
		status        event.Status
		notices       []string
	}{
		{"SessionStart", out, start("<hook event=\"SessionStart\">\nout\n</hook>", "!err"), event.StatusCompleted, nil},
		{
			"SessionStart", bad, start("!out", "!err"), event.StatusCompleted,
			[]string{"the SessionStart hook `" + bad + "` objects (exit code 2), which changes nothing here: err"},
		},
		{
			"SessionStart", failed, start("!out", "!err"), event.StatusCompleted,
			[]string{"the SessionStart hook `" + failed + "` failed with exit code 1: err"},
		},
		{"SessionStart", reject, nil, event.StatusFailed, nil},

		{"PreToolUse", out, called("alpha", "!out", "!err"), event.StatusCompleted, nil},
		{
			"PreToolUse", bad, called("denied: a hook of the user rejects the call: err", "!alpha", "!out"),
			event.StatusCompleted, nil,
		},
		{
			"PreToolUse", failed, called("alpha", "!err"), event.StatusCompleted,
			[]string{"the PreToolUse hook `" + failed + "` failed with exit code 1: err"},
		},
		{
			"PreToolUse", reject, called("denied: a hook of the user rejects the call: not so", "!alpha"),
			event.StatusCompleted, nil,
		},

		{
			"PostToolUse", out, called("alpha", "<hook event=\"PostToolUse\">\nout\n</hook>", "!err"),
			event.StatusCompleted, nil,
		},
		{
			"PostToolUse", bad, called("alpha", "A hook of the user objects to what was done: err", "!out"),
			event.StatusCompleted, nil,
		},
		{
			"PostToolUse", failed, called("alpha", "!out", "!err"), event.StatusCompleted,
			[]string{"the PostToolUse hook `" + failed + "` failed with exit code 1: err"},
		},
		{
			"PostToolUse", reject, called("alpha", "A hook of the user objects to what was done: not so"),
			event.StatusCompleted, nil,
		},

		{"Stop", out, stops(), event.StatusCompleted, nil},
		{
			"Stop", `grep -q '"stop_hook_active":true' || { echo err >&2; exit 2; }`,
			stops("You are not done yet. A hook of the user says: err"), event.StatusCompleted, nil,
		},
		{
			"Stop", failed, stops(), event.StatusCompleted,
			[]string{"the Stop hook `" + failed + "` failed with exit code 1: err"},
		},
		{
			"Stop", `grep -q '"stop_hook_active":true' || ` + reject,
			stops("You are not done yet. A hook of the user says: not so"), event.StatusCompleted, nil,
		},
		{"SubagentStop", bad, stops(), event.StatusCompleted, nil}, // there is no child
		{"SubagentStart", reject, start("!out"), event.StatusCompleted, nil},
	} {
		t.Run(test.event+" "+test.script, func(t *testing.T) {
			t.Parallel()
			w := hookWorld(t, map[string]string{"a.txt": "alpha\n"},
				map[string][]config.Hook{test.event: {sh(test.script)}}, test.turns...)
			result, notices := w.plays(coder())
			if result.Status != test.status {
				t.Errorf("the run is %s: %+v", result.Status, result.Error)
			}
			if test.status == event.StatusFailed &&
				(result.Error.Kind != "rejected" || !strings.Contains(result.Error.Detail, "not so")) {
				t.Errorf("the error is %+v", result.Error)
			}
			told(t, notices, test.notices...)
		})
	}
}

// TestHooksOfChildren plays the events of children, which are one per file here.
func TestHooksOfChildren(t *testing.T) {
	const out, bad, reject, failed = `echo out; echo err >&2`, `echo out; echo err >&2; exit 2`,
		`echo '{"decision":"block","reason":"not so"}'`, `echo out; echo err >&2; exit 1`
	once := func(script string) string { return `grep -q '"stop_hook_active":true' || { ` + script + `; }` }
	for _, test := range []struct {
		event, script string
		turns         []script.Turn
		notices       []string
		failed        bool
	}{
		{"SubagentStart", out, []script.Turn{says(done, "<hook event=\"SubagentStart\">\nout\n</hook>")}, nil, false},
		{
			"SubagentStart", bad,
			[]script.Turn{says(done, "!out", "!err")},
			[]string{"the SubagentStart hook `" + bad + "` objects"},
			false,
		},
		{
			"SubagentStart", failed,
			[]script.Turn{says(done, "!out", "!err")},
			[]string{"the SubagentStart hook `" + failed + "` failed"},
			false,
		},
		{"SubagentStart", reject, nil, nil, true},
		{"SubagentStop", out, []script.Turn{says(done)}, nil, false},
		{"SubagentStop", once(bad), []script.Turn{says(done), says(done, "A hook of the user says: err")}, nil, false},
		{
			"SubagentStop", failed,
			[]script.Turn{says(done)},
			[]string{"the SubagentStop hook `" + failed + "` failed"},
			false,
		},
		{
			"SubagentStop", once(reject),
			[]script.Turn{says(done), says(done, "A hook of the user says: not so")},
			nil,
			false,
		},
		{"SessionStart", `echo of the session`, []script.Turn{says(done, "of the session")}, nil, false},
	} {
		t.Run(test.event+" "+test.script, func(t *testing.T) {
			t.Parallel()
			w := hookWorld(t, map[string]string{"a.txt": "alpha\n"},
				map[string][]config.Hook{test.event: {sh(test.script)}}, test.turns...)
			result, notices := w.plays(agentcore.RunRequest{
				Agent: "reviewer", Prompt: "Review it.",
				Each: []string{w.path("a.txt")},
			})
			if test.failed != (result.Status == event.StatusFailed) || test.failed &&
				!strings.Contains(result.Error.Detail, "a SubagentStart hook rejects the run: not so") {
				t.Errorf("the run is %s: %+v", result.Status, result.Error)
			}
			told(t, notices, test.notices...)
		})
	}
}

// TestHookInput checks what a hook gets, which is what it answers here.
func TestHookInput(t *testing.T) {
	var input map[string]any
	turn := script.Turn{Then: func(request *model.Request) []script.Step {
		parts := request.Messages[len(request.Messages)-1].Parts
		_, text, _ := strings.Cut(parts[0].(model.Result).Text, "got ")
		text, _, _ = strings.Cut(text, "\n")
		if err := json.Unmarshal([]byte(text), &input); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		return []script.Step{done}
	}}
	w := hookWorld(t, map[string]string{"a.txt": "alpha\n"}, map[string][]config.Hook{
		"PostToolUse": {
			sh(
				`printf 'got %s\n' "$(cat)"; echo "in $PWD $CLAUDE_PROJECT_DIR $AGENTLS_PROJECT_DIR $AGENTLS_RUN"; cat "$CLAUDE_PROJECT_DIR/a.txt"`),
		},
	}, script.Turn{Answer: []script.Step{call("Read", `{"file_path":"a.txt"}`)}}, turn)
	result, notices := w.plays(coder())
	told(t, notices)
	if result.Status != event.StatusCompleted {
		t.Fatalf("the run is %s: %+v", result.Status, result.Error)
	}
	for name, want := range map[string]string{
		"hook_event_name": "PostToolUse", "session_id": string(w.session.ID), "cwd": w.dir,
		"permission_mode": "default", "agent_type": "coder",
		"depth": "0", "tool_name": "read", "tool_input": "map[file_path:" + w.path("a.txt") + " path:a.txt]",
	} {
		if got := fmt.Sprint(input[name]); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	response, _ := input["tool_response"].(map[string]any)
	if text := fmt.Sprint(response["text"]); response["status"] != "ok" || !strings.Contains(text, "alpha") {
		t.Errorf("the response is %v", response)
	}
}

// TestHooksSeeNoSecrets plays a call whose arguments hold a key.
func TestHooksSeeNoSecrets(t *testing.T) {
	const key = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	w := hookWorld(t, nil, map[string][]config.Hook{"PreToolUse": {sh(`grep -c ` + key[:20] + ` >&2; exit 2`)}},
		says(call("read", `{"path":"`+key+`"}`)), says(done, "rejects the call: 0"))
	w.plays(coder())
}

// TestHookMatchers checks which calls a hook is for.
func TestHookMatchers(t *testing.T) {
	hooks := func(matcher string) map[string][]config.Hook {
		h := sh("echo seen")
		h.Matcher = matcher
		return map[string][]config.Hook{"PostToolUse": {h}}
	}
	for matcher, seen := range map[string]bool{
		"": true, "Read": true, "Edit|read_file": true, "R.*": true,
		"Bash|Edit": false, "rea": false,
	} {
		text := "!seen"
		if seen {
			text = "seen"
		}
		w := hookWorld(t, map[string]string{"a.txt": "alpha\n"}, hooks(matcher), says(readA), says(done, "alpha", text))
		_, notices := w.plays(coder())
		told(t, notices)
		w.close()
	}
}

// TestHooksInOrder checks that hooks run in the order of the configuration, those of a definition last, up to the first
// that rejects.
func TestHooksInOrder(t *testing.T) {
	own := &agent.Definition{
		Slug: "own", Title: "Own", Description: "d", Categories: []agent.Category{agent.Primary},
		Instruction: agent.Instruction{Prompt: "Work."},
		Permissions: "primary",
		Hooks: []agent.Hook{
			{
				Event: "PreToolUse", Matcher: "bash",
				Command: []string{
					"sh", "-c",
					"echo own >> order; echo '{\"decision\":\"block\",\"reason\":\"'$(cat order)'\"}'",
				},
			},
			{Event: "PreToolUse", Command: []string{"sh", "-c", "echo never >> order"}},
			{
				Event:   "Stop",
				Command: []string{"sh", "-c", "grep -q '\"stop_hook_active\":true' || { cat order >&2; exit 2; }"},
			},
		},
	}
	w := newWorld(t, nil)
	w.with(script.New("test", says(bash("echo ran > ran")), says(done, "rejects the call: one two own", "order"),
		says(done, "one\ntwo\nown\n")), func(o *agentcore.Options) {
		o.Config = hooked(map[string][]config.Hook{"PreToolUse": {sh("echo one > order"), sh("echo two >> order")}})
	}, own)
	w.session.SetTrusted(true)
	result, notices := w.plays(agentcore.RunRequest{Agent: "own", Prompt: "Go."})
	told(t, notices)
	if got, want := w.proposed(), "order -+one\ntwo\nown\n"; got != want || result.Status != event.StatusCompleted {
		t.Errorf("proposed %q, want %q; the run is %s", got, want, result.Status)
	}
}

// TestFormatterHook has a hook change a file that the agent has edited.
func TestFormatterHook(t *testing.T) {
	format := sh(
		`f=$(sed -n 's/.*"file_path":"\([^"]*\)".*/\1/p'); sed -i 's/ *$//' "$f"; echo x > .git/config; echo formatted`)
	format.Matcher = "Edit|Write"
	w := hookWorld(t, map[string]string{"a.txt": "one\ntwo\n", ".git/config": "[core]\n"},
		map[string][]config.Hook{"PostToolUse": {format}},
		says(call("read", `{"path":"a.txt"}`)),
		says(call("edit", `{"path":"a.txt","old_string":"two","new_string":"three   "}`)),
		says(done, "formatted", "The hook changed files (proposed, not written): a.txt"))
	_, notices := w.plays(coder())
	told(t, notices)
	if got, want := w.proposed(), "a.txt -two\n+three\n"; got != want {
		t.Errorf("proposed %q, want %q", got, want)
	}
	w.unchanged("a.txt", "one\ntwo\n")
	w.unchanged(".git/config", "[core]\n")
}

// TestHookWidensNothing has hooks try to allow what rules deny or ask for, and to change files that the agent may not.
func TestHookWidensNothing(t *testing.T) {
	const allow = `echo '{"decision":"approve","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"path":"b.txt"}}}'; echo x >> a.txt; echo x >> b.txt`
	w := newWorld(t, map[string]string{"a.txt": "alpha\n", "b.txt": "beta\n"},
		says(readA), says(done, "denied: ", "!alpha", "!beta"))
	cfg := hooked(map[string][]config.Hook{"PreToolUse": {sh(allow)}})
	cfg.Permissions = []config.Permission{
		{Tool: "read", Pattern: "a.txt", Action: permission.Deny},
		{Tool: "edit", Pattern: "a.txt", Action: permission.Deny},
		{Tool: "edit", Pattern: "b.txt", Action: permission.Ask},
	}
	w.configured(cfg)
	w.session.SetTrusted(true)
	_, notices := w.plays(coder())
	told(t, notices, "the PreToolUse hook `"+allow[:30], "the PreToolUse hook `"+allow[:30],
		"the PreToolUse hook `"+allow[:30])
	if got := w.proposed(); got != "" {
		t.Errorf("proposed %q", got)
	}
	for i, part := range []string{
		"changed a.txt, which was left out", "changed b.txt, which was left out",
		"updatedInput is not used",
	} {
		if !strings.Contains(notices[i], part) {
			t.Errorf("told %q, want %q", notices[i], part)
		}
	}
}

// TestHookAsks has a hook want the user to be asked for what the rules allow.
func TestHookAsks(t *testing.T) {
	for _, allow := range []bool{true, false} {
		sees := "denied: "
		if allow {
			sees = "alpha"
		}
		w := hookWorld(t, map[string]string{"a.txt": "alpha\n"},
			map[string][]config.Hook{
				"PreToolUse": {sh(`echo '{"permission_decision":"ask","reason":"is it secret?"}'`)},
			},
			says(readA), says(done, sees))
		id := w.start(coder())
		ask := w.asked()
		if !strings.Contains(ask.Reason, "is it secret?") || len(ask.Always) > 0 {
			t.Errorf("asked %+v", ask)
		}
		w.answer(ask, authority.Answer{Allow: allow})
		w.wait(id)
		w.close()
	}
}

// TestHooksGuardChildren has a child whose parent's definition has a guard.
func TestHooksGuardChildren(t *testing.T) {
	guarded := &agent.Definition{
		Slug: "guarded", Title: "Guarded", Description: "d",
		Categories:  []agent.Category{agent.Primary, agent.Subagent},
		Instruction: agent.Instruction{Prompt: "Work."},
		Permissions: "primary",
		Hooks: []agent.Hook{
			{Event: "PreToolUse", Matcher: "Read", Command: []string{"sh", "-c", "echo guarded >&2; exit 2"}},
			{
				Event: "Stop",
				Command: []string{
					"sh", "-c",
					"grep -q '\"stop_hook_active\":true' || { echo as a child >&2; exit 2; }",
				},
			},
		},
	}
	w := newWorld(t, map[string]string{"a.txt": "alpha\n"})
	w.with(script.New("test", says(readA), says(done, "rejects the call: guarded"), says(done, "as a child")), nil,
		guarded)
	w.session.SetTrusted(true)
	result, notices := w.plays(agentcore.RunRequest{Agent: "guarded", Prompt: "Go.", Each: []string{w.path("a.txt")}})
	// The parent of the children ends as the user's run does.
	told(t, notices,
		"a Stop hook wants guarded to go on, but it has reached its limit (its children have ended): as a child")
	if result.Status != event.StatusCompleted {
		t.Errorf("the run is %s: %+v", result.Status, result.Error)
	}
}

// TestStopHookIsBounded has a hook that never lets a run end.
func TestStopHookIsBounded(t *testing.T) {
	w := hookWorld(t, nil, map[string][]config.Hook{"Stop": {sh(`echo more >&2; exit 2`)}},
		says(done), says(done, "more"), says(done, "more"), says(script.Text("the end"), "more"))
	result, notices := w.plays(coder())
	told(t, notices, "a Stop hook has kept coder from ending 3 times")
	if result.Status != event.StatusCompleted || result.Output != "the end" {
		t.Errorf("the run is %s with %q", result.Status, result.Output)
	}
}

// TestStopHookAtALimit has a hook that wants more than the run's limit allows.
func TestStopHookAtALimit(t *testing.T) {
	w := hookWorld(t, nil, map[string][]config.Hook{"Stop": {sh(`echo more >&2; exit 2`)}}, says(readA),
		says(script.Text("what I have"), "The limit"))
	request := coder()
	request.Limits.MaxTurns = 2
	result, notices := w.plays(request)
	told(t, notices, "a Stop hook wants coder to go on, but it has reached its limit (max_turns): more",
		"coder was ended by its limit")
	if result.Status != event.StatusCompleted || result.Reason != "max_turns" {
		t.Errorf("the run is %s, %s", result.Status, result.Reason)
	}
}

// TestSessionStartsOnce has two runs of one session.
func TestSessionStartsOnce(t *testing.T) {
	w := newWorld(t, nil)
	log := filepath.Join(t.TempDir(), "log")
	w.model = script.New("test", says(done, "started"), says(done, "started"), script.Turn{Answer: []script.Step{done}})
	cfg := hooked(map[string][]config.Hook{"SessionStart": {sh("echo started; echo one >> " + log)}})
	cfg.Sandbox = config.SandboxOff
	w.configured(cfg)
	w.session.SetTrusted(true)
	w.plays(coder())
	w.plays(coder())
	if text, err := os.ReadFile(log); err != nil || string(text) != "one\n" {
		t.Errorf("it ran %q, %v", text, err)
	}
	if _, err := w.engine.OpenSession(w.ctx, w.view, "another"); err != nil {
		t.Fatal(err)
	}
	w.plays(agentcore.RunRequest{Agent: "coder", Prompt: "Once more."})
}

// TestWritesOfHooksThatAreLost: of what a hook writes outside of the workspace nothing is kept, which its author is
// told.
func TestWritesOfHooksThatAreLost(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "alpha\n"}, says(readA), says(done, "alpha"))
	w.configured(hooked(map[string][]config.Hook{
		"PostToolUse": {
			sh(
				"echo seen >> $HOME/hook.log; mkdir -p ~/.cache; echo x > ~/.cache/x; mkdir -p /tmp/d; echo seen " +
					"> /tmp/d/x; " +
					"cat a.txt > /dev/null"),
		},
	}))
	w.session.SetTrusted(true)
	_, notices := w.plays(coder())
	if len(notices) != 1 || !strings.Contains(notices[0], "/hook.log, ") ||
		!strings.Contains(notices[0], "/tmp/d/x, which is lost: its sandbox keeps only what it writes into the workspace") {
		t.Errorf("told %q", notices)
	}
}

// noCommands is what the user is told of a run in a workspace that is not trusted.
func noCommands(agent string) string {
	return agent + " is not offered bash: no command runs in this workspace, since the user does not trust it yet"
}

// TestProjectHooksNeedTrustAndWalls has hooks that came with a workspace.
func TestProjectHooksNeedTrustAndWalls(t *testing.T) {
	project := sh("echo seen")
	project.Origin.Layer = config.LayerProject
	named := config.Hook{Command: config.Command{"sh", "-c", "./check.sh"}, Timeout: watchdog}
	for _, test := range []struct {
		hook             config.Hook
		trusted, sandbox bool
		sees             string
		notices          []string
	}{
		{project, true, true, "seen", nil},
		{
			project, false, true, "!seen",
			[]string{
				"the PostToolUse hook `echo seen` was not run, since the workspace, which it comes from, " +
					"is not trusted",
			},
		},
		{
			project, true, false, "!seen",
			[]string{
				"the PostToolUse hook `echo seen` was not run, since it comes from the workspace, and there is no " +
					"full sandbox",
			},
		},
		{sh("echo seen"), false, true, "seen", nil},
		{sh("echo seen"), true, false, "seen", nil},
		{
			sh("echo seen"), false, false, "!seen",
			[]string{
				"the PostToolUse hook `echo seen` was not run, since the workspace is not trusted, and without a " +
					"full sandbox the hook could start programs from it",
			},
		},
		{named, true, true, "checked", nil},
		{
			named, false, true, "!checked",
			[]string{
				"the PostToolUse hook `./check.sh` was not run, since check.sh, which it names, is a file of " +
					"a workspace " +
					"that is not trusted",
			},
		},
	} {
		w := newWorld(t, map[string]string{"a.txt": "alpha\n", "check.sh": "echo checked\n"}, says(readA),
			says(done, "alpha", test.sees))
		if err := os.Chmod(w.path("check.sh"), 0o755); err != nil {
			t.Fatal(err)
		}
		cfg := hooked(map[string][]config.Hook{"PostToolUse": {test.hook}})
		if !test.sandbox {
			cfg.Sandbox = config.SandboxOff
		}
		w.configured(cfg)
		w.session.SetTrusted(test.trusted)
		_, notices := w.plays(coder())
		if !test.trusted {
			test.notices = append([]string{noCommands("coder")}, test.notices...)
		}
		told(t, notices, test.notices...)
		w.close()
	}
}

// TestDefinitionOfAProjectNeedsTrustForItsHooks is the same for a definition.
func TestDefinitionOfAProjectNeedsTrustForItsHooks(t *testing.T) {
	foreign := &agent.Definition{
		Slug: "foreign", Title: "Foreign", Description: "d", Categories: []agent.Category{agent.Primary},
		Instruction: agent.Instruction{Prompt: "Work."}, Permissions: "primary",
		Source: agent.Source{Layer: agent.LayerProject},
		Hooks:  []agent.Hook{{Event: "PreToolUse", Command: []string{"sh", "-c", "exit 2"}}},
	}
	for _, trusted := range []bool{true, false} {
		w := newWorld(t, map[string]string{"a.txt": "alpha\n"})
		w.with(script.New("test", says(readA), says(done, map[bool]string{true: "!alpha", false: "alpha"}[trusted])),
			nil, foreign)
		w.session.SetTrusted(trusted)
		_, notices := w.plays(agentcore.RunRequest{Agent: "foreign", Prompt: "Go."})
		if trusted {
			told(t, notices)
		} else {
			told(t, notices, noCommands("foreign"),
				"the PreToolUse hook `exit 2` was not run, since the workspace, which it comes from, is not trusted")
		}
		w.close()
	}
}

// TestCancelDuringAHook cancels a run in a hook of each event: it ends at once, no further hook runs, and nothing is
// left.
func TestCancelDuringAHook(t *testing.T) {
	for _, sandboxed := range []bool{true, false} {
		for _, name := range []string{"SessionStart", "PreToolUse", "PostToolUse", "Stop"} {
			never := filepath.Join(t.TempDir(), "never")
			stuck := sh(`trap '' TERM INT HUP; (setsid sh -c 'sleep 1006; sleep 1006' &); sleep 1007; true`)
			hooks := map[string][]config.Hook{name: {stuck, sh("touch " + never)}}
			if name != "Stop" {
				hooks["Stop"] = []config.Hook{sh("touch " + never)}
			}
			w := newWorld(t, map[string]string{"a.txt": "alpha\n"})
			w.model = script.New("test",
				script.Turn{Times: script.Any, Then: func(request *model.Request) []script.Step {
					if len(request.Messages) == 1 {
						return []script.Step{readA}
					}
					return []script.Step{done}
				}})
			cfg := hooked(hooks)
			if !sandboxed {
				cfg.Sandbox = config.SandboxOff
			}
			w.configured(cfg)
			w.session.SetTrusted(true)
			id := w.start(coder())
			w.waitFor("the hook runs", func() bool { return len(processes(t, id)) >= 3 })
			if err := w.engine.Cancel(id); err != nil {
				t.Fatal(err)
			}
			result := w.wait(id)
			if result.Status != event.StatusCancelled {
				t.Errorf("%s: the run is %s", name, result.Status)
			}
			if name == "PostToolUse" && (len(result.ToolCalls) != 1 || result.ToolCalls[0].Status != event.CallOK) {
				t.Errorf("the call, which was made, is %+v", result.ToolCalls)
			}
			if _, err := os.Stat(never); !os.IsNotExist(err) {
				t.Errorf("%s: another hook has run", name)
			}
			w.emptied(id)
			w.close()
		}
	}
}

// TestHookProgramInTheHomeFolder runs a script that sandboxes would hide.
func TestHookProgramInTheHomeFolder(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for name, text := range map[string]string{
		"hooks/check.sh": "#!/bin/sh\necho checked; cat ~/other 2>&1; true\n",
		"other":          "secret of home\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []config.Command{
		{"sh", "-c", "~/hooks/check.sh"},
		{filepath.Join(home, "hooks/check.sh")},
		{"sh", "-c", `"$HOME/hooks/check.sh" now`},
	} {
		w := hookWorld(t, map[string]string{"a.txt": "alpha\n"},
			map[string][]config.Hook{"PostToolUse": {{Command: command, Timeout: watchdog}}},
			says(readA), says(done, "checked", "!secret of home"))
		_, notices := w.plays(coder())
		told(t, notices)
		w.close()
	}
}

// TestHooksOfReadsBesideEachOther has calls that run beside each other, all with hooks.
func TestHooksOfReadsBesideEachOther(t *testing.T) {
	const n = 8
	files := map[string]string{}
	var calls []script.Step
	for i := range n {
		files[fmt.Sprintf("f%d.txt", i)] = fmt.Sprintf("text %d\n", i)
		calls = append(calls, call("read", fmt.Sprintf(`{"path":"f%d.txt"}`, i)))
	}
	turn := script.Turn{Then: func(request *model.Request) []script.Step {
		for i, part := range request.Messages[len(request.Messages)-1].Parts {
			if text := part.(model.Result).Text; !strings.Contains(text, fmt.Sprintf("text %d", i)) ||
				!strings.Contains(text, fmt.Sprintf("after f%d", i)) {
				t.Errorf("result %d is %q", i, text)
			}
		}
		return []script.Step{done}
	}}
	w := hookWorld(t, files, map[string][]config.Hook{
		"PreToolUse":  {sh("echo x >> count")},
		"PostToolUse": {sh(`echo "after $(grep -o 'f[0-9].txt"' | head -1)"; echo x >> count`)},
	}, script.Turn{Answer: calls}, turn)
	w.plays(coder())
	if got, want := w.proposed(), "count -+"+strings.Repeat("x\n", 2*n); got != want {
		t.Errorf("proposed %q, want %q", got, want)
	}
	if hunks := w.session.Board().Proposal().Hunks(); len(hunks) != 1 ||
		!slices.ContainsFunc(hunks, func(h workspace.Hunk) bool { return strings.Contains(h.Author.Reason, "hook") }) {
		t.Errorf("the hunks are %+v", hunks)
	}
}

// TestGuideKnowsHooks checks what the guide's documentation says of hooks.
func TestGuideKnowsHooks(t *testing.T) {
	s, err := skill.NewSet(skill.Builtin()...).Find("agentls")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(s.Text, "\n## Hooks\n")
	text, _, _ = strings.Cut(text, "\n## ")
	_, example, _ := strings.Cut(text, "```toml\n")
	example, _, _ = strings.Cut(example, "```")
	cfg := configtest.User(t, example)
	if !found || len(cfg.Hooks["PreToolUse"]) != 1 || len(cfg.Hooks["PostToolUse"]) != 1 {
		t.Errorf("the example gives %+v", cfg.Hooks)
	}
	for _, name := range hook.Events() {
		if !strings.Contains(text, "| `"+name+"` |") {
			t.Errorf("the event %s is missing", name)
		}
	}
	for field := range reflect.TypeFor[hook.Input]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the field %s is missing", name)
		}
	}
}

// TestPreCompactHook has a hook say what a summary must keep.
func TestPreCompactHook(t *testing.T) {
	w := hookWorld(
		t, bigFiles(), map[string][]config.Hook{"PreCompact": {sh("echo keep every name")}},
		summariser("the names", script.Last("<hook event=\"PreCompact\">\nkeep every name\n</hook>"),
			script.Last("[call of read]")),
		script.Turn{Answer: []script.Step{readOf("a")}}, script.Turn{Answer: []script.Step{readOf("b")}},
		script.Turn{Answer: []script.Step{readOf("c")}},
		script.Turn{Answer: []script.Step{readOf("d")}},
		script.Turn{Expect: []script.Expect{summed(2, "the names")}, Answer: []script.Step{done}},
	).holds(smallContext)
	result, notices := w.plays(coder())
	told(t, notices)
	if result.Status != event.StatusCompleted {
		t.Errorf("the run is %s: %+v", result.Status, result.Error)
	}
}
