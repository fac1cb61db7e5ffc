package agentcore_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/acp/acptest"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/needs"
	"github.com/agentls/agentls/agentcore/permission"
)

// foreigner is a workspace with an agent that is another program, which does what a play says.
type foreigner struct {
	*world
	home string
	argv []string // how the program is started
}

// newForeigner makes one whose definition is changed by change. The user trusts the folder and has allowed the program.
func newForeigner(t *testing.T, files map[string]string, play acptest.Play, change func(*agent.Definition)) *foreigner {
	f := &foreigner{home: t.TempDir()}
	t.Setenv("HOME", f.home)
	state := filepath.Join(f.home, ".friend")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	f.argv = acptest.Install(t, state, play)
	d := &agent.Definition{
		Slug: "friend", Title: "Friend", Description: "d", Mode: agent.Agentic, Engine: agent.EngineACP,
		Categories: []agent.Category{agent.Primary, agent.Subagent},
		Program:    agent.Program{Command: f.argv, Writes: []string{".friend"}},
		Rules:      []permission.Rule{{Tool: "program", Action: permission.Allow}},
		Source:     agent.Source{Layer: agent.LayerUser},
	}
	if change != nil {
		change(d)
	}
	f.world = newWorld(t, files)
	f.with(script.New("test"), nil, d)
	f.session.SetTrusted(true)
	return f
}

func (f *foreigner) run(prompt string) event.RunID {
	f.t.Helper()
	return f.start(agentcore.RunRequest{Agent: "friend", Prompt: prompt})
}

// log is what the program did and got, for a failed test.
func (f *foreigner) log() string {
	text, _ := os.ReadFile(f.argv[1] + ".log")
	return string(text)
}

// untouched checks that the disk is as it was.
func (f *foreigner) untouched(files map[string]string) {
	f.t.Helper()
	for name, want := range files {
		if got, err := os.ReadFile(f.path(name)); err != nil || string(got) != want {
			f.t.Errorf("%s on disk: %q, %v", name, got, err)
		}
	}
}

// TestForeignAgent: another program reads unsaved text, edits two files by its own tools while it works, and says what
// it did; the disk stays as it is.
func TestForeignAgent(t *testing.T) {
	files := map[string]string{"a.txt": "one\ntwo\nthree\n", "b.txt": "b\n"}
	f := newForeigner(t, files, acptest.Play{Prompts: [][]acptest.Step{{
		acptest.Say("I look at it. "), acptest.Read("a.txt"),
		acptest.Update(acptest.Object{
			"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Edit a.txt", "kind": "edit",
			"status": "pending",
		}),
		acptest.Write("a.txt", "unsaved\ntwo\nTHREE\n"),
		acptest.Update(acptest.Object{"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}),
		acptest.Await(".go-on", "x"),
		acptest.Write("b.txt", "B\n"),
		acptest.Update(acptest.Object{"sessionUpdate": "plan", "entries": []any{
			acptest.Object{"content": "edit", "priority": "high", "status": "completed"},
		}}),
		acptest.Say("Both are changed."),
	}}}, nil)
	f.view.SetDocument(f.path("a.txt"), "unsaved\ntwo\nthree\n", 1)
	id := f.run("Change both.")
	f.until(func(e event.Event) bool { _, ok := e.Body.(event.ToolCallFinished); return ok })
	if got := f.proposed(); got != "a.txt -three\n+THREE\n" {
		t.Errorf("while it works, the hunks are %q\n%s", got, f.log())
	}
	f.view.SetDocument(f.path(".go-on"), "x", 1) // the program sees what the user types
	result := f.wait(id)
	if result.Status != event.StatusCompleted || result.Output != "Both are changed." || len(result.ToolCalls) != 1 {
		t.Errorf("got %+v\n%s", result, f.log())
	}
	if got := f.proposed(); got != "a.txt -three\n+THREE\n|b.txt -b\n+B\n" {
		t.Errorf("the hunks are %q", got)
	}
	f.untouched(files)
	prompts := acptest.Received(t, f.argv, "session/prompt")
	if len(prompts) != 1 || !strings.Contains(f.log(), "Change both.") {
		t.Errorf("prompted with %v", prompts)
	}
	if left := processes(t, id); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	list, _, err := f.engine.History().Transcript(f.ctx, id, "", 0)
	if err != nil || len(list) < 4 || !strings.Contains(list[1].Text, "unsaved\ntwo") {
		t.Errorf("the transcript is %+v, %v", list, err)
	}
}

// TestForeignAgentAndTyping: what the user types while the program works is seen by it, and both are in the end.
func TestForeignAgentAndTyping(t *testing.T) {
	f := newForeigner(t, map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"},
		acptest.Play{Prompts: [][]acptest.Step{{
			acptest.Say("I am at work.\n"),
			acptest.Await("a.txt", "one\n2\n3\n4\n5\n6\n7\n8\n9\n"),
			acptest.Write("a.txt", "one\n2\n3\n4\n5\n6\n7\n8\nNINE\n"),
			acptest.Say(" done"),
		}}}, nil)
	f.view.SetDocument(f.path("a.txt"), "1\n2\n3\n4\n5\n6\n7\n8\n9\n", 1)
	id := f.run("Change it.")
	f.until(func(e event.Event) bool { _, ok := e.Body.(event.TextDelta); return ok })
	f.view.SetDocument(f.path("a.txt"), "one\n2\n3\n4\n5\n6\n7\n8\n9\n", 2)
	if result := f.wait(id); result.Status != event.StatusCompleted {
		t.Errorf("got %+v\n%s", result, f.log())
	}
	if got := f.proposed(); got != "a.txt -9\n+NINE\n" {
		t.Errorf("the hunks are %q", got)
	}
}

// TestForeignAgentAsks: the program's question is the user's, by the names of its options, whatever their order.
func TestForeignAgentAsks(t *testing.T) {
	options := []acptest.Option{{ID: "n", Name: "No", Kind: "reject_once"}, {ID: "y", Name: "Yes", Kind: "allow_once"}}
	ask := acptest.Ask(acptest.Object{"toolCallId": "c1", "title": "rm -r build", "kind": "execute"},
		map[string][]acptest.Step{
			"y": {acptest.Write("a.txt", "allowed\n")}, "n": {acptest.Write("a.txt", "refused\n")},
			"cancelled": {acptest.Write("a.txt", "cancelled\n")},
		}, options...)
	for chosen, want := range map[string]string{"Yes": "allowed", "No": "refused"} {
		f := newForeigner(t, map[string]string{"a.txt": "a\n"},
			acptest.Play{Prompts: [][]acptest.Step{{ask}}}, nil)
		id := f.run("Clean up.")
		open := f.asked()
		if open.Question == nil || !strings.Contains(open.Title, "rm -r build") || len(open.Question.Options) != 2 {
			t.Errorf("asked %+v", open)
		}
		f.answer(open, authority.Answer{Allow: true, Chosen: []string{chosen}})
		f.wait(id)
		if got := f.proposed(); got != "a.txt -a\n+"+want+"\n" {
			t.Errorf("%s: the hunks are %q\n%s", chosen, got, f.log())
		}
	}
}

// TestForeignAgentHasAFormFilledIn: each member of its form is a question; who declines one declines the form.
func TestForeignAgentHasAFormFilledIn(t *testing.T) {
	form := acptest.Elicit("How shall it be done?", acptest.Object{
		"type": "object", "properties": acptest.Object{
			"a_how": acptest.Object{"type": "string", "oneOf": []any{
				acptest.Object{"const": "q", "title": "Quickly"}, acptest.Object{"const": "w", "title": "Well"},
			}},
			"b_often": acptest.Object{"type": "integer"}, "c_now": acptest.Object{"type": "boolean"},
		},
	}, map[string][]acptest.Step{
		"accept": {acptest.Write("a.txt", "accepted\n")}, "decline": {acptest.Write("a.txt", "declined\n")},
	})
	for name, test := range map[string]struct {
		answers [3]string
		want    string
	}{
		"filled in":    {[3]string{"Well", "3", "Yes"}, "accepted"},
		"not a number": {[3]string{"Well", "often", "Yes"}, "declined"},
		"declined":     {[3]string{"Well", "3", ""}, "declined"},
	} {
		f := newForeigner(t, map[string]string{"a.txt": "a\n"}, acptest.Play{Prompts: [][]acptest.Step{{form}}}, nil)
		id := f.run("Work.")
		for range test.answers {
			f.until(func(e event.Event) bool { _, ok := e.Body.(event.AskOpened); return ok })
		}
		for _, open := range f.session.Asks() {
			at := slices.IndexFunc([]string{"a_how", "b_often", "c_now"}, func(name string) bool {
				return strings.Contains(open.Title, "("+name+")")
			})
			answer := authority.Answer{}
			if chosen := test.answers[at]; chosen != "" {
				answer = authority.Answer{Allow: true, Chosen: []string{chosen}}
			}
			f.answer(open, answer)
		}
		f.wait(id)
		if got := f.proposed(); got != "a.txt -a\n+"+test.want+"\n" {
			t.Errorf("%s: the hunks are %q\n%s", name, got, f.log())
		}
		if sent := fmt.Sprint(acptest.Answers(t, f.argv, "elicitation/create")); test.want == "accepted" &&
			!strings.Contains(sent, "map[a_how:w b_often:3 c_now:true]") {
			t.Errorf("%s: it got %s", name, sent)
		}
	}
}

// TestForeignAgentIsAllowedFirst: the first start is asked for with all that the program sees and reaches. What was
// allowed for the project counts the next time, and not for another program.
func TestForeignAgentIsAllowedFirst(t *testing.T) {
	f := newForeigner(t, nil, acptest.Play{Prompts: [][]acptest.Step{{acptest.Say("hello")}}},
		func(d *agent.Definition) {
			d.Rules, d.Program.Env = nil, []string{"FRIEND_TOKEN", "QUIET=1"}
		})
	denied := f.run("Hello.")
	open := f.asked()
	for _, want := range []string{acptest.Program, ".friend", "FRIEND_TOKEN, QUIET"} {
		if !strings.Contains(open.Detail, want) {
			t.Errorf("the question does not say %q:\n%s", want, open.Detail)
		}
	}
	f.answer(open, authority.Answer{})
	if result := f.wait(denied); result.Status != event.StatusFailed || result.Error == nil ||
		!strings.Contains(result.Error.Detail, "the user said no") {
		t.Errorf("got %+v", result)
	}
	first := f.run("Hello.")
	f.answer(f.asked(), authority.Answer{Allow: true, Scope: permission.Project})
	if result := f.wait(first); result.Output != "hello" {
		t.Errorf("got %+v", result)
	}
	if result := f.wait(f.run("Hello.")); result.Status != event.StatusCompleted {
		t.Errorf("the second time: %+v", result)
	}
}

// TestForeignAgentIsCancelled: the program is told, and nothing of it is left, also where it does not listen and has
// started a daemon.
func TestForeignAgentIsCancelled(t *testing.T) {
	atWork := acptest.Say("I am at work.\n")
	for name, play := range map[string]acptest.Play{
		"listens":      {Prompts: [][]acptest.Step{{acptest.Write("a.txt", "half\n"), atWork, acptest.Hold()}}},
		"does not":     {Prompts: [][]acptest.Step{{atWork, acptest.Never()}}, IgnoreCancel: true, Stays: true},
		"has a daemon": {Prompts: [][]acptest.Step{{acptest.Daemon("pid"), atWork, acptest.Never()}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForeigner(t, map[string]string{"a.txt": "a\n"}, play, nil)
			id := f.run("Work.")
			f.until(func(e event.Event) bool { _, ok := e.Body.(event.TextDelta); return ok })
			if err := f.engine.Cancel(id); err != nil {
				t.Fatal(err)
			}
			if result := f.wait(id); result.Status != event.StatusCancelled {
				t.Errorf("got %+v\n%s", result, f.log())
			}
			if left := processes(t, id); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
			if got := f.proposed(); name == "listens" && got != "a.txt -a\n+half\n" {
				t.Errorf("of what it had written there is %q", got)
			}
		})
	}
}

// TestForeignAgentTakesItsQuestionBack: the question is gone then, and the agent goes on.
func TestForeignAgentTakesItsQuestionBack(t *testing.T) {
	f := newForeigner(t, nil, acptest.Play{Prompts: [][]acptest.Step{{
		acptest.AskAndWithdraw("go", "x", acptest.Allow, acptest.Reject), acptest.Say("never mind"),
	}}}, nil)
	id := f.run("Work.")
	f.asked()
	f.view.SetDocument(f.path("go"), "x", 1)
	f.resolved()
	if result := f.wait(id); result.Output != "never mind" || len(f.session.Asks()) > 0 {
		t.Errorf("got %+v, %v\n%s", result, f.session.Asks(), f.log())
	}
}

// TestForeignAgentsThatFail: each failure is the run's, with what happened and what to do; edits made before it stay.
func TestForeignAgentsThatFail(t *testing.T) {
	edit := acptest.Write("a.txt", "A\n")
	for name, test := range map[string]struct {
		play acptest.Play
		want string
		kept bool
	}{
		"dies":       {acptest.Play{Prompts: [][]acptest.Step{{edit, acptest.Exit(3)}}}, "exit code 3", true},
		"is killed":  {acptest.Play{Prompts: [][]acptest.Step{{edit, acptest.Kill()}}}, "SIGKILL", true},
		"hangs up":   {acptest.Play{Prompts: [][]acptest.Step{{edit, acptest.HangUp(), acptest.Never()}}}, "", true},
		"talks junk": {acptest.Play{Prompts: [][]acptest.Step{{edit, acptest.Line("hello?")}}}, "hello?", true},
		"refuses":    {acptest.Play{Prompts: [][]acptest.Step{{edit, acptest.Answer("refusal")}}}, "declined", true},
		"an error": {acptest.Play{Prompts: [][]acptest.Step{{
			edit, acptest.Refuse(acptest.Failure{Code: -32603, Message: "out of luck"}),
		}}}, "out of luck", true},
		"a login": {acptest.Play{
			Fail:   map[string]acptest.Failure{"session/new": {Code: -32000, Message: "Authentication required"}},
			Logins: []acptest.Object{{"id": "key", "name": "A key of theirs"}},
		}, "Authentication required", false},
		"version 2": {acptest.Play{Version: 2}, "version", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForeigner(t, map[string]string{"a.txt": "a\n"}, test.play, nil)
			id := f.run("Work.")
			result := f.wait(id)
			if result.Status != event.StatusFailed || result.Error == nil ||
				!strings.Contains(result.Error.Detail, test.want) || result.Error.Hint == "" {
				t.Errorf("got %+v %+v\n%s", result, result.Error, f.log())
			}
			if got := f.proposed(); test.kept != (got == "a.txt -a\n+A\n") {
				t.Errorf("the hunks are %q", got)
			}
			if left := processes(t, id); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
		})
	}
}

// TestForeignAgentMayNot: what the run may not change is no edit, whatever the program writes; what lies outside, and
// what a link leads to, is not reached.
func TestForeignAgentMayNot(t *testing.T) {
	files := map[string]string{"a.txt": "a\n", ".env": "TOKEN=hidden-value\n", "out/b.txt": "b\n"}
	f := newForeigner(t, files, acptest.Play{Prompts: [][]acptest.Step{{
		acptest.Read(".env"), acptest.Write(".vscode/settings.json", "{}\n"), acptest.Write("out/b.txt", "B\n"),
		acptest.Symlink("/etc/passwd", "link.txt"), acptest.Append("link.txt", "planted\n"),
		acptest.Write("/etc/planted", "x\n"), acptest.Write("a.txt", "A\n"), acptest.Say("done"),
	}}}, func(d *agent.Definition) {
		d.Rules = append(d.Rules, permission.Rule{Tool: "edit", Pattern: "out/**", Action: permission.Deny})
	})
	id := f.run("Try.")
	result := f.wait(id)
	if got := f.proposed(); got != "a.txt -a\n+A\n" {
		t.Errorf("the hunks are %q, %+v\n%s", got, result, f.log())
	}
	f.untouched(files)
	if strings.Contains(f.log(), "hidden-value") {
		t.Error("the program has read a secret")
	}
	if _, err := os.Stat("/etc/planted"); err == nil {
		t.Error("a file was planted outside")
	}
}

// TestForeignAgentsThatMisbehave: whatever the program does, its run ends, the disk is as it was, nothing of the
// program is left, and what it wrote into a.txt is proposed where that can be.
func TestForeignAgentsThatMisbehave(t *testing.T) {
	files := map[string]string{"a.txt": "a\n", "b/c.txt": "c\n"}
	edit := acptest.Write("a.txt", "A\n")
	shell := func(script string) acptest.Step { return acptest.Run("sh", "-c", script) }
	call := func(id, status string) acptest.Step {
		return acptest.Update(acptest.Object{
			"sessionUpdate": "tool_call", "toolCallId": id, "title": id, "status": status,
		})
	}
	const rest = "a.txt -a\n+A\n"
	for name, test := range map[string]struct {
		steps []acptest.Step
		want  string // how the hunks begin
	}{
		"floods":             {[]acptest.Step{acptest.Flood(20000), edit}, rest},
		"10,000 files":       {[]acptest.Step{edit, acptest.Files("b/many", 10000)}, rest},
		"through /proc":      {[]acptest.Step{shell("echo A >/proc/self/root$PWD/a.txt"), acptest.Say("x")}, rest},
		"kills its parent":   {[]acptest.Step{edit, shell("kill -9 1 $PPID; kill -9 -1")}, rest},
		"a fork bomb":        {[]acptest.Step{edit, shell("f() { f | f & }; f; wait")}, ""},
		"moves the folder":   {[]acptest.Step{edit, shell(`cd / && mv "$OLDPWD" /tmp/x; rm -rf "$OLDPWD"/b`)}, rest},
		"deletes everything": {[]acptest.Step{shell("rm -rf -- * .[a-z]*"), edit}, rest},
		"a daemon":           {[]acptest.Step{edit, acptest.Clinging("pid")}, rest},
		"asks for nothing": {[]acptest.Step{
			edit, acptest.Ask(nil, nil), acptest.Say("on"),
		}, rest},
		"calls without end": {[]acptest.Step{edit, call("1", "pending"), call("2", "in_progress")}, rest},
		"calls twice":       {[]acptest.Step{call("1", "completed"), edit, call("1", "failed"), call("1", "x")}, rest},
		"unknown updates": {[]acptest.Step{
			edit, acptest.Update(acptest.Object{"sessionUpdate": "of_another_time", "x": 1}),
			acptest.Update(acptest.Object{"sessionUpdate": "tool_call", "toolCallId": 7}),
			acptest.Update(acptest.Object{"sessionUpdate": "plan", "entries": "none"}),
			acptest.Update(acptest.Object{}),
		}, rest},
		"another session": {[]acptest.Step{edit, acptest.Notify("session/update", acptest.Object{
			"sessionId": "nobody's", "update": acptest.Say("x").Message,
		})}, rest},
		"writes files for us": {[]acptest.Step{edit, acptest.Request("fs/write_text_file",
			acptest.Object{"path": "/etc/planted", "content": "x"})}, rest},
		"a terminal of ours": {[]acptest.Step{edit, acptest.Request("terminal/create",
			acptest.Object{"command": "touch", "args": []string{"/etc/planted"}})}, rest},
		"a reason of its own": {[]acptest.Step{edit, acptest.Answer("bored")}, rest},
		"an empty answer":     {[]acptest.Step{edit, acptest.AnswerWith(acptest.Object{})}, rest},
		"speaks afterwards":   {[]acptest.Step{edit, acptest.Answer("end_turn"), acptest.Say("and more")}, rest},
		"binary and large":    {[]acptest.Step{edit, shell("head -c 6000000 /dev/zero >z; seq 1 900000 >n")}, rest},
		"a pipe and a socket": {[]acptest.Step{edit, shell("mkfifo p; mkdir d; ln -s / d/root; ln -s a.txt l")}, rest},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForeigner(t, files, acptest.Play{Prompts: [][]acptest.Step{test.steps}}, func(d *agent.Definition) {
				d.Limits.Timeout = 20 * time.Second
				d.PermissionMode = string(permission.Bypass)
			})
			id := f.run("Work.")
			result := f.wait(id)
			if got := f.proposed(); !strings.HasPrefix(got, test.want) {
				t.Errorf("the hunks are %.200q, and the run is %+v", got, result)
			}
			f.untouched(files)
			if left := processes(t, id); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
			if _, err := os.Stat("/etc/planted"); err == nil {
				t.Error("a file was planted outside")
			}
		})
	}
}

// TestForeignAgentHasLimits: the turns that a definition allows end the program's work, which then hands over.
func TestForeignAgentHasLimits(t *testing.T) {
	begun := func(id string) acptest.Step {
		return acptest.Update(acptest.Object{
			"sessionUpdate": "tool_call", "toolCallId": id, "title": id, "status": "completed",
		})
	}
	f := newForeigner(t, nil, acptest.Play{Prompts: [][]acptest.Step{
		{begun("1"), begun("2"), begun("3"), acptest.Hold()}, {acptest.Say("so far so good")},
	}}, func(d *agent.Definition) { d.Limits.MaxTurns = 2 })
	result := f.wait(f.run("Work."))
	if result.Status != event.StatusCompleted || result.Reason != "max_turns" || result.Output != "so far so good" {
		t.Errorf("got %+v\n%s", result, f.log())
	}
}

// TestForeignAgentIsTold: what the user says while the program works interrupts it, and is its next prompt.
func TestForeignAgentIsTold(t *testing.T) {
	f := newForeigner(t, map[string]string{"a.txt": "a\n"}, acptest.Play{Prompts: [][]acptest.Step{
		{acptest.Write("a.txt", "A\n"), acptest.Say("I am at work.\n"), acptest.Hold()}, {acptest.Say("second")},
	}}, nil)
	id := f.run("Work.")
	f.until(func(e event.Event) bool { _, ok := e.Body.(event.TextDelta); return ok })
	if err := f.engine.Steer(id, "Use tabs."); err != nil {
		t.Fatal(err)
	}
	if result := f.wait(id); result.Output != "second" || result.Status != event.StatusCompleted {
		t.Errorf("got %+v", result)
	}
	if told := acptest.Received(t, f.argv, "session/cancel"); len(told) != 1 {
		t.Errorf("it was interrupted by %v", told)
	}
	prompts := acptest.Received(t, f.argv, "session/prompt")
	if len(prompts) != 2 || !strings.Contains(fmt.Sprint(prompts[1]), "Use tabs.") || f.proposed() != "a.txt -a\n+A\n" {
		t.Errorf("it was prompted with %v, and wrote %q", prompts, f.proposed())
	}
}

// TestForeignAgentsSideBySide: three programs work on other lines of the same file at once, and all edits are merged.
func TestForeignAgentsSideBySide(t *testing.T) {
	const text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	play := func(from, to string) acptest.Play {
		return acptest.Play{Prompts: [][]acptest.Step{{
			acptest.Say("I am at work.\n"), acptest.Await("go", "x"),
			acptest.Run("sed", "-i", "s/^"+from+"$/"+to+"/", "a.txt"), acptest.Say("done"),
		}}}
	}
	f := newForeigner(t, map[string]string{"a.txt": text}, play("1", "one"), nil)
	var more []*agent.Definition
	for name, p := range map[string]acptest.Play{"second": play("5", "five"), "third": play("9", "nine")} {
		d, err := f.engine.Agents().Find("friend")
		if err != nil {
			t.Fatal(err)
		}
		own := *d
		own.Slug, own.Program.Command = name, acptest.Install(t, filepath.Join(f.home, ".friend"), p)
		more = append(more, &own)
	}
	first, err := f.engine.Agents().Find("friend")
	if err != nil {
		t.Fatal(err)
	}
	f.with(script.New("test"), nil, append(more, first)...)
	f.session.SetTrusted(true)
	var ids []event.RunID
	for _, name := range []string{"friend", "second", "third"} {
		ids = append(ids, f.start(agentcore.RunRequest{Agent: name, Prompt: "Work."}))
	}
	f.view.SetDocument(f.path("go"), "x", 1)
	for _, id := range ids {
		if result := f.wait(id); result.Status != event.StatusCompleted {
			t.Errorf("got %+v", result)
		}
	}
	if got := f.proposed(); got != "a.txt -1\n+one\n|a.txt -5\n+five\n|a.txt -9\n+nine\n" {
		t.Errorf("the hunks are %q", got)
	}
}

// TestForeignAgentGoesOn: who goes on with its run goes on with its session, where the program can load one. Behind a
// run that was gone back behind, it is a new session, which is told what was said.
func TestForeignAgentGoesOn(t *testing.T) {
	f := newForeigner(t, nil, acptest.Play{
		Capabilities: acptest.Object{"loadSession": true},
		History:      []acptest.Step{acptest.Say("an old word")},
		Prompts:      [][]acptest.Step{{acptest.Say("said")}},
	}, nil)
	first := f.run("Remember the word tangerine.")
	f.wait(first)
	if row, err := f.engine.Store().Run(f.ctx, first); err != nil || row.ProgramSession == "" {
		t.Fatalf("the stored session of the program is %q, %v", row.ProgramSession, err)
	}
	goOn := func(want int, told bool) event.RunID {
		t.Helper()
		id, err := f.session.Resume(f.ctx, first, "And now?")
		if err != nil {
			t.Fatal(err)
		}
		if result := f.wait(id); result.Output != "said" {
			t.Errorf("got %+v\n%s", result, f.log())
		}
		loaded := acptest.Received(t, f.argv, "session/load")
		prompts := acptest.Received(t, f.argv, "session/prompt")
		last := fmt.Sprint(prompts[len(prompts)-1])
		if len(loaded) != want || strings.Contains(last, "tangerine") != told {
			t.Errorf("it has loaded %v, and was told %s", loaded, last)
		}
		return id
	}
	goOn(1, false)
	goOn(1, true)
}

// TestForeignAgentReadsNothingDenied: what a rule keeps from being read is hidden from the program, saved or unsaved.
func TestForeignAgentReadsNothingDenied(t *testing.T) {
	f := newForeigner(t, map[string]string{"private/saved.txt": "conspicuous one\n", "a.txt": "plain\n"},
		acptest.Play{Prompts: [][]acptest.Step{{
			acptest.Read("private/saved.txt"), acptest.Read("private/unsaved.txt"), acptest.Read("a.txt"),
			acptest.Await("go", "x"), acptest.Read("private/unsaved.txt"), acptest.Read("private/saved.txt"),
		}}}, func(d *agent.Definition) {
			d.Rules = append(d.Rules, permission.Rule{Tool: "read", Pattern: "private/**", Action: permission.Deny})
		})
	f.view.SetDocument(f.path("private/unsaved.txt"), "conspicuous two\n", 1)
	id := f.run("Look.")
	f.until(func(e event.Event) bool { _, ok := e.Body.(event.TextDelta); return ok })
	f.view.SetDocument(f.path("private/unsaved.txt"), "conspicuous three\n", 2)
	f.view.SetDocument(f.path("private/saved.txt"), "conspicuous four\n", 1)
	f.view.SetDocument(f.path("go"), "x", 1)
	f.wait(id)
	if log := f.log(); strings.Contains(log, "conspicuous") || !strings.Contains(log, "plain") {
		t.Errorf("the program has read what is denied:\n%s", log)
	}
}

// TestForeignAgentKeepsItsBudget: once the tokens that a run may use are used up, the program is prompted no more.
func TestForeignAgentKeepsItsBudget(t *testing.T) {
	f := newForeigner(t, nil, acptest.Play{
		Prompts: [][]acptest.Step{{acptest.Say("I am at work.\n"), acptest.Hold()}, {acptest.Say("second")}},
		OnCancel: []acptest.Step{acptest.AnswerWith(acptest.Object{
			"stopReason": "cancelled", "usage": acptest.Object{
				"inputTokens": 900, "outputTokens": 200, "totalTokens": 1100,
			},
		})},
	}, func(d *agent.Definition) { d.Limits.Tokens = 1000 })
	id := f.run("Work.")
	f.until(func(e event.Event) bool { _, ok := e.Body.(event.TextDelta); return ok })
	if err := f.engine.Steer(id, "Go on."); err != nil {
		t.Fatal(err)
	}
	result := f.wait(id)
	if prompts := acptest.Received(t, f.argv, "session/prompt"); len(prompts) != 1 || result.Reason != "max_tokens" ||
		result.Usage.InputTokens != 900 {
		t.Errorf("it was prompted %d times; got %+v", len(prompts), result)
	}
}

// TestForeignChildIsNeverWider: an agent whose calls a rule or a hook looks at does not start a program, of whose calls
// neither hears.
func TestForeignChildIsNeverWider(t *testing.T) {
	for name, change := range map[string]func(*agent.Definition){
		"a rule on commands": func(d *agent.Definition) {
			d.Rules = append(d.Rules, permission.Rule{Tool: "bash", Pattern: "git push*", Action: permission.Deny})
		},
		"a rule on edits": func(d *agent.Definition) {
			d.Rules = append(d.Rules, permission.Rule{Tool: "edit", Pattern: "out/**", Action: permission.Ask})
		},
		"a hook": func(d *agent.Definition) {
			d.Hooks = []agent.Hook{{Event: "PreToolUse", Command: []string{"true"}}}
		},
		"no commands": func(d *agent.Definition) { d.DisallowedTools = []string{"bash"} },
		"a plan":      func(d *agent.Definition) { d.PermissionMode = string(permission.Plan) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newForeigner(t, nil, acptest.Play{}, nil)
			friend, err := f.engine.Agents().Find("friend")
			if err != nil {
				t.Fatal(err)
			}
			boss := &agent.Definition{
				Slug:        "boss",
				Instruction: agent.Instruction{Prompt: "You are boss."},
				Mode:        agent.Agentic, Categories: []agent.Category{agent.Primary},
				Subagents: []string{"friend"},
				Rules:     []permission.Rule{{Tool: "program", Action: permission.Allow}},
			}
			change(boss)
			f.with(script.New("test",
				script.Turn{Answer: []script.Step{call("task", `{"agent":"friend","prompt":"Do it.","description":"d"}`)}},
				ends(script.Result("task", "may do more than the agent that starts it"))), nil, friend, boss)
			f.session.SetTrusted(true)
			f.wait(f.start(agentcore.RunRequest{Agent: "boss", Prompt: "Delegate."}))
			if _, err := os.Stat(f.argv[1] + ".log"); err == nil {
				t.Error("the program was started")
			}
		})
	}
}

// TestForeignChild: an agent of agentls delegates to the program that the user has allowed for the project, and gets
// what the program says in the form asked for.
func TestForeignChild(t *testing.T) {
	f := newForeigner(t, map[string]string{"a.txt": "a\n"}, acptest.Play{Prompts: [][]acptest.Step{{
		acptest.Write("a.txt", "A\n"),
		acptest.Say(`Done. {"status": "completed", "summary": "made it large", "details": "one file"}`),
	}}}, func(d *agent.Definition) { d.Rules = nil })
	delegate := script.Turn{Answer: []script.Step{
		call("task", `{"agent":"friend","prompt":"Make it large.","description":"large"}`),
	}}
	*f.model = *script.New("test", delegate, ends(script.Result("task", "friend is not started")), delegate,
		ends(script.Result("task", "made it large")))
	f.wait(f.start(coder()))
	own := f.run("Make it large.")
	f.answer(f.asked(), authority.Answer{Allow: true, Scope: permission.Project})
	f.wait(own)
	f.session.Board().Proposal().Reject([]event.HunkID{f.session.Board().Proposal().Hunks()[0].ID})
	result := f.wait(f.start(coder()))
	if !slices.Equal(result.Files, []string{"a.txt"}) || !strings.HasSuffix(f.proposed(), "a.txt -a\n+A\n") {
		t.Errorf("got %+v, %q\n%s", result, f.proposed(), f.log())
	}
}

// TestForeignAgentIsCancelledWhileItAsks: the question goes with the run.
func TestForeignAgentIsCancelledWhileItAsks(t *testing.T) {
	f := newForeigner(t, nil, acptest.Play{Prompts: [][]acptest.Step{{
		acptest.Ask(nil, nil, acptest.Allow, acptest.Reject),
	}}}, nil)
	id := f.run("Work.")
	f.asked()
	if err := f.engine.Cancel(id); err != nil {
		t.Fatal(err)
	}
	if result := f.wait(id); result.Status != event.StatusCancelled || len(f.session.Asks()) > 0 {
		t.Errorf("got %+v, %v\n%s", result, f.session.Asks(), f.log())
	}
}

// TestForeignAgentAndGit: the program commits in its sandbox, which the user is told; the repository stays as it is,
// and the text that was committed is an edit.
func TestForeignAgentAndGit(t *testing.T) {
	needs.Program(t, "git", "git")
	f := newForeigner(t, map[string]string{"a.txt": "a\n"}, acptest.Play{Prompts: [][]acptest.Step{{
		acptest.Write("a.txt", "A\n"),
		acptest.Run("git", "-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-qam", "two"),
		acptest.Run("git", "log", "--format=%s"),
	}}}, nil)
	git := func(arguments ...string) string {
		t.Helper()
		who := []string{"-c", "user.name=n", "-c", "user.email=e@example.org"}
		cmd := exec.Command("git", append(who, arguments...)...)
		cmd.Dir = f.dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", arguments, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	git("add", "a.txt")
	git("commit", "-qm", "one")
	id := f.run("Commit it.")
	told := slices.ContainsFunc(f.until(ended(id)), func(e event.Event) bool {
		n, ok := e.Body.(event.Notice)
		return ok && strings.Contains(n.Message, "did to git's commits")
	})
	if result := f.wait(id); result.Output != "two\none" || !told {
		t.Errorf("got %+v, told %v\n%s", result, told, f.log())
	}
	if got := f.proposed(); got != "a.txt -a\n+A\n" {
		t.Errorf("the hunks are %q", got)
	}
	if got := git("log", "--format=%s") + git("status", "--porcelain"); got != "one\n" {
		t.Errorf("the repository has %q", got)
	}
}
