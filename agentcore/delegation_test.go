package agentcore_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
)

// own is an agent of the user's that others may start.
func own(slug string, tools ...string) *agent.Definition {
	return &agent.Definition{
		Slug: slug, Description: "An agent of the user's.",
		Instruction: agent.Instruction{Prompt: "You are " + slug + "."},
		Categories:  []agent.Category{agent.Subagent},
		Tools:       tools, Source: agent.Source{Layer: agent.LayerUser},
	}
}

// described expects the task tool to have a text, or not.
func described(text string, want bool) script.Expect {
	return func(request *model.Request) error {
		for _, t := range request.Tools {
			if t.Name == "task" && strings.Contains(t.Description, text) != want {
				return fmt.Errorf("that the task tool tells %q is %v: %s", text, !want, t.Description)
			}
		}
		return nil
	}
}

// notSystem expects the system prompt not to have a text.
func notSystem(text string) script.Expect {
	return func(request *model.Request) error {
		if strings.Contains(request.System, text) {
			return fmt.Errorf("the system prompt has %q: %s", text, request.System)
		}
		return nil
	}
}

// The coder starts the user's own agents and itself; as a child it starts the tester and the user's own.
func TestCoderStartsOwnAgents(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	w.with(script.New("test",
		script.Turn{
			Match: "Go.",
			Expect: []script.Expect{startable("looks", "mine", "coder", "reviewer", "explore", "general", "plan",
				"researcher", "bash", "tester",
				"debugger", "guide", "critic", "statusline-setup")},
			Answer: []script.Step{task("main", "Go.", ""), task("coder", "Build it.", "")},
		},
		script.Turn{
			Match: "Build it.", Expect: []script.Expect{startable("tester", "looks", "mine")},
			Answer: []script.Step{
				task("coder", "More.", ""), task("tester", "Test it.", ""),
				task("mine", "Own it.", ""),
			},
		},
		script.Turn{
			Match:  "Test it.",
			Expect: []script.Expect{script.NoTools("task")},
			Answer: []script.Step{script.Text("Tested.")},
		},
		script.Turn{
			Match:  "Own it.",
			Expect: []script.Expect{script.NoTools("task")},
			Answer: []script.Step{script.Text("Owned.")},
		},
		script.Turn{
			Match: "Build it.",
			Expect: []script.Expect{
				script.Last(`you cannot start the agent "coder"`), script.Last("Tested."),
				script.Last("Owned."),
			},
			Answer: []script.Step{script.Text("Built.")},
		},
		script.Turn{
			Match: "Go.", Expect: []script.Expect{
				script.Last("this is the very task that coder was given"),
				script.Last("Built."),
			},
			Answer: []script.Step{script.Text("done")},
		},
		script.Turn{
			Match: "Plan it.", Answer: []script.Step{script.Text("planned")},
			Expect: []script.Expect{startable("looks", "reviewer", "explore", "plan", "researcher", "guide", "critic")},
		},
	), nil, own("mine"), own("looks", "read", "grep"))
	w.session.SetTrusted(true)
	w.finishes(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	w.finishes(agentcore.RunRequest{Agent: "planner", Prompt: "Plan it."})
}

// A child whose definition says that it delegates to all has the tool for it, as far as its parent's reach and the
// depth go.
func TestChildDelegatesToAll(t *testing.T) {
	all, asChild := own("all"), own("as-child")
	all.Subagents, asChild.AsChild.Subagents = []string{"*"}, []string{"*"}
	lead := own("lead")
	lead.Categories, lead.Subagents = []agent.Category{agent.Primary}, []string{"all", "as-child", "explore"}
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	w.with(script.New("test",
		script.Turn{Match: "Go.", Answer: []script.Step{task("all", "One.", "")}},
		script.Turn{
			Match: "One.", Expect: []script.Expect{startable("all", "as-child", "explore")},
			Answer: []script.Step{task("as-child", "Two.", "")},
		},
		script.Turn{
			Match: "Two.", Expect: []script.Expect{startable("all", "as-child", "explore")},
			Answer: []script.Step{task("all", "Three.", "")},
		},
		script.Turn{
			Match: "Three.", Expect: []script.Expect{script.NoTools("task")},
			Answer: []script.Step{script.Text("3")},
		},
		script.Turn{Match: "Two.", Answer: []script.Step{script.Text("2")}},
		script.Turn{Match: "One.", Answer: []script.Step{script.Text("1")}},
		script.Turn{Match: "Go.", Answer: []script.Step{script.Text("done")}},
	), nil, all, asChild, lead)
	w.finishes(agentcore.RunRequest{Agent: "lead", Prompt: "Go."})
}

// An agent is chosen by its whole description; of many agents the first sentences are told, and the whole by a call.
func TestWholeDescriptions(t *testing.T) {
	release := own("release")
	release.Description = "Checks that a release can be made, its version, changes and tests.\nUse " +
		"PROACTIVELY before " +
		"each release. Not for drafts."
	long := own("long")
	long.Description = strings.Repeat("word ", 300) + "end"
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	few := script.Turn{
		Expect: []script.Expect{
			described(
				"- release: Checks that a release can be made, its version, changes and tests. Use PROACTIVELY before "+
					"each release. Not for drafts.\n", true),
			described("- long: "+strings.TrimSuffix(strings.Repeat("word ", 205), "d ")+"…", true),
			described("Delegate finished behaviour", true),
			described("empty prompt", false),
		},
		Answer: []script.Step{script.Text("done")},
	}
	w.with(script.New("test", few), nil, release, long)
	w.finishes(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})

	many := []*agent.Definition{release, long}
	for i := range 20 {
		many = append(many, own(fmt.Sprintf("own-%d", i)))
	}
	w.with(script.New("test",
		script.Turn{
			Expect: []script.Expect{
				described("- release: Checks that a release can be made, its version, changes and tests\n", true),
				described("PROACTIVELY", false),
				described("A call with an empty prompt starts nothing, and tells the whole description of its agent.",
					true),
			},
			Answer: []script.Step{task("release", "", "")},
		},
		script.Turn{
			Expect: []script.Expect{script.Last("Use PROACTIVELY before each release. Not for drafts.")},
			Answer: []script.Step{script.Text("done")},
		},
	), nil, many...)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	if result := w.wait(run); result.Output != "done" || len(result.Children) > 0 {
		t.Errorf("got %+v", result)
	}
}

// What the researcher would fetch is asked of the user, naming it; what another child would, is not, and its result
// tells of it.
func TestChildrenOnTheWeb(t *testing.T) {
	fetch := call("webfetch", `{"url":"https://nowhere.invalid/page"}`)
	unadvised := func(request *model.Request) error {
		if text := fmt.Sprint(request.Messages[len(request.Messages)-1]); strings.Contains(text, "ask the user") {
			return errors.New("a child is advised to ask: " + text)
		}
		return nil
	}
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{task("researcher", "Find it.", "")}},
		script.Turn{
			Match: "Find it.",
			Expect: []script.Expect{
				script.Tools("webfetch", "read"),
				script.System("no websearch: the user has set up no search engine"),
			},
			Answer: []script.Step{fetch},
		},
		script.Turn{
			Match:  "Find it.",
			Expect: []script.Expect{script.Last("denied: the user said no"), unadvised},
			Answer: []script.Step{script.Text("Nothing.")},
		},
		script.Turn{
			Match: "Go.", Answer: []script.Step{task("general", "Fetch it.", "")},
			Expect: []script.Expect{
				script.Last("warning: it was not allowed to fetch https://nowhere.invalid/page: the user said no"),
			},
		},
		script.Turn{
			Match:  "Fetch it.",
			Expect: []script.Expect{notSystem("no websearch")},
			Answer: []script.Step{fetch, fetch},
		},
		script.Turn{
			Match:  "Fetch it.",
			Expect: []script.Expect{script.Last("denied: the user is not asked about a subagent's calls"), unadvised},
			Answer: []script.Step{call("submit_result", `{"summary":"Done."}`)},
		},
		script.Turn{
			Match: "Go.", Answer: []script.Step{script.Text("done")},
			Expect: []script.Expect{
				script.Last(
					"warning: it was not allowed to fetch https://nowhere.invalid/page: the user is not " +
						"asked about a subagent's calls"),
			},
		},
	)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	ask := w.asked()
	if ask.Title != "coder ▸ researcher wants to fetch https://nowhere.invalid/page" ||
		ask.Agent != "coder ▸ researcher" {
		t.Errorf("got %+v", ask)
	}
	w.answer(ask, authority.Answer{})
	if result := w.wait(run); result.Output != "done" {
		t.Errorf("got %+v", result)
	}
	for _, child := range w.children(run) {
		if report := w.wait(child.ID).Result; report == nil || len(report.Warnings) != 1 {
			t.Errorf("%s reports %+v", child.Agent, report)
		}
	}
}

// A child is not offered what could only be denied, and is told so; an agent that would have nothing left is not
// offered at all.
func TestChildIsOfferedWhatItCanUse(t *testing.T) {
	asks := config.Permission{Tool: "bash", Pattern: "go test*", Action: permission.Allow}
	for _, tt := range []struct {
		name    string
		rules   []config.Permission
		bubble  bool
		offered bool
	}{{"every command asks", nil, false, false}, {
		"a rule allows some",
		[]config.Permission{asks},
		false,
		true,
	}, {"the user is asked", nil, true, true}} {
		t.Run(tt.name, func(t *testing.T) {
			tests := script.Turn{Match: "Test it.", Answer: []script.Step{script.Text("Tested.")}}
			if tt.offered {
				tests.Expect = []script.Expect{script.Tools("bash", "edit"), notSystem("not for you")}
			} else {
				tests.Expect = []script.Expect{
					script.NoTools("bash", "bash_output"), script.Tools("edit"),
					script.System("You cannot run commands."), script.System("\nnot for you: bash ("),
				}
			}
			w := newTrusted(
				t, map[string]string{"a.txt": "one\n"},
				script.Turn{
					Match:  "Go.",
					Expect: []script.Expect{described("\n- bash: ", tt.offered), script.Tools("bash")},
					Answer: []script.Step{task("tester", "Test it.", "")},
				},
				tests,
				script.Turn{Match: "Go.", Answer: []script.Step{script.Text("done")}},
			)
			cfg := config.Default()
			cfg.Sandbox, cfg.Permissions = config.SandboxOff, tt.rules
			if tt.bubble {
				cfg.SubagentAsk = config.AskBubble
			}
			w.configured(cfg)
			w.session.SetTrusted(true)
			w.finishes(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
		})
	}
}

// A run of the user is not offered what could only be denied, it and the user are told why, and so are those that it
// could start.
func TestRunIsOfferedWhatItCanUse(t *testing.T) {
	none := []config.Permission{{Tool: "Bash", Action: permission.Deny}}
	for _, tt := range []struct {
		name, told, notice string
		rules              []config.Permission
		trusted            bool
	}{
		{
			"untrusted",
			"not for you: bash (no command runs in this workspace, since the user does not trust it yet); go on " +
				"without it, and say what the user should run",
			"coder is not offered bash: no command runs in this workspace, since the user does not trust it yet; " +
				"trust the folder, by `agentls trust`", nil, false,
		},
		{
			"ruled", "not for you: bash (a rule or the mode of the run denies every call); if",
			"coder is not offered bash: a rule or the mode of the run denies every call; `agentls permissions explain`",
			none, true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(
				t, map[string]string{"a.txt": "one\n"},
				script.Turn{
					Match: "Go.",
					Expect: []script.Expect{
						script.NoTools("bash", "bash_output", "bash_kill"), script.Tools("edit", "task"),
						script.System("You cannot run commands."),
						notSystem("\ncommands: "), script.System(tt.told), described("\n- bash: ", false),
						described("must hold. (here without bash)\n", true),
					},
					Answer: []script.Step{bash("true"), task("tester", "Test it.", "")},
				},
				script.Turn{
					Match: "Test it.", Expect: []script.Expect{
						script.NoTools("bash"), script.Tools("edit"),
						script.System("not for you: bash ("),
					},
					Answer: []script.Step{script.Text("Tested.")},
				},
				script.Turn{
					Match: "Go.", Expect: []script.Expect{script.Result("bash", "denied: ")},
					Answer: []script.Step{script.Text("done")},
				},
			)
			w.ruled(tt.rules...)
			w.session.SetTrusted(tt.trusted)
			id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
			var notices []string
			for _, e := range w.until(ended(id)) {
				if n, ok := e.Body.(event.Notice); ok {
					notices = append(notices, n.Message+"; "+n.Hint)
				}
			}
			if len(notices) != 1 || !strings.HasPrefix(notices[0], tt.notice) {
				t.Errorf("the user was told %q, want once %q", notices, tt.notice)
			}
			want := []event.CallStatus{event.CallDenied, event.CallOK}
			if calls := w.wait(id).ToolCalls; len(calls) != len(want) || calls[0].Status != want[0] ||
				calls[1].Status != want[1] {
				t.Errorf("the calls are %+v", calls)
			}
		})
	}
}

// A child whose definition wants no default prefix is told its limits with its task, and others once.
func TestLimitsOfAChildWithoutPrefix(t *testing.T) {
	bare, plain := own("bare"), own("plain")
	bare.NoDefaultPrefix, bare.Limits.MaxTurns, plain.Limits.MaxTurns = true, 7, 8
	w := newWorld(t, nil)
	w.with(script.New("test",
		script.Turn{Match: "Go.", Answer: []script.Step{task("bare", "Be bare.", ""), task("plain", "Be plain.", "")}},
		script.Turn{
			Match:  "Be bare.",
			Expect: []script.Expect{notSystem("limits:"), script.Last("\nlimits: 7 turns, ")},
			Answer: []script.Step{script.Text("Bare.")},
		},
		script.Turn{
			Match:  "Be plain.",
			Expect: []script.Expect{script.System("\nlimits: 8 turns, "), script.NotLast("limits:")},
			Answer: []script.Step{script.Text("Plain.")},
		},
		script.Turn{Match: "Go.", Answer: []script.Step{script.Text("done")}},
	), nil, bare, plain)
	w.finishes(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
}

// A call whose child did not complete has failed, in the record, the events and for the model, which is told all the
// same what came of it.
func TestCallOfAFailedTask(t *testing.T) {
	w := newWorld(
		t, nil,
		script.Turn{Match: "Go.", Answer: []script.Step{
			task("general", "Fail.", ""), task("general", "Stop.", ""),
			task("general", "Work.", ""),
		}},
		script.Turn{
			Match:  "Fail.",
			Answer: []script.Step{script.Error{Kind: model.ErrAuth, Status: 401, Detail: "no such key"}},
		},
		script.Turn{Match: "Stop.", Answer: []script.Step{script.Gate("held")}},
		script.Turn{Match: "Work.", Answer: []script.Step{script.Text("Worked.")}},
		script.Turn{
			Match: "Go.",
			Expect: []script.Expect{
				script.Result("task", "error: the task ended as failed"), script.Result("task", "no such key"),
				script.Result("task", "error: the task ended as cancelled"),
				script.Result("task", `status="cancelled"`), script.Result("task", "Worked."),
				failedResults(true, true, false),
			},
			Answer: []script.Step{script.Text("done")},
		},
	)
	id := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	w.reached("held")
	for _, child := range w.children(id) {
		if strings.HasPrefix(child.Title, "Stop.") {
			if err := w.engine.Cancel(child.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	finished := map[event.CallStatus]int{}
	for _, e := range w.until(ended(id)) {
		if f, ok := e.Body.(event.ToolCallFinished); ok && e.Run == id {
			finished[f.Status]++
		}
	}
	var listed []event.CallStatus
	for _, c := range w.wait(id).ToolCalls {
		listed = append(listed, c.Status)
	}
	if finished[event.CallError] != 2 || finished[event.CallOK] != 1 ||
		!slices.Equal(listed, []event.CallStatus{event.CallError, event.CallError, event.CallOK}) {
		t.Errorf("told %v, listed %v", finished, listed)
	}
}

// failedResults expects the results of the last turn to be marked as failed, or not.
func failedResults(want ...bool) script.Expect {
	return func(request *model.Request) error {
		var got []bool
		for _, part := range request.Messages[len(request.Messages)-1].Parts {
			if result, ok := part.(model.Result); ok {
				got = append(got, result.Error)
			}
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("the results are failed: %v, want %v", got, want)
		}
		return nil
	}
}

// A child gets those of its parent's MCP tools that a rule, or the user, lets it call.
func TestInheritedToolsThatWouldAsk(t *testing.T) {
	for _, tt := range []struct {
		name    string
		change  func(*config.Config)
		offered bool
	}{
		{"nobody is asked", func(*config.Config) {}, false},
		{"a rule allows them", allowing, true},
		{"the user is asked", func(c *config.Config) { c.SubagentAsk = config.AskBubble }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			child := script.Turn{Match: "Use it.", Answer: []script.Step{script.Text("Used.")}}
			if tt.offered {
				child.Expect = []script.Expect{
					script.Tools("mcp__srv__echo", "mcp__srv__list_resources"),
					notSystem("not for you"),
				}
			} else {
				child.Expect = []script.Expect{
					script.NoTools("mcp__srv__echo", "mcp__srv__list_resources"),
					script.System("not for you: mcp__srv__"),
				}
			}
			w := newWorld(
				t, nil,
				script.Turn{
					Match:  "Go.",
					Expect: []script.Expect{script.Tools("mcp__srv__echo")},
					Answer: []script.Step{task("general", "Use it.", "")},
				},
				child,
				script.Turn{Match: "Go.", Answer: []script.Step{script.Text("done")}},
			)
			w.withServer("good", tt.change)
			w.finishes(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
		})
	}
}

// What the user gave a child beside its own tools is decided on as for the parent: what that may do is done, and what
// it would be asked for is asked of the user.
func TestGrantedToolsWork(t *testing.T) {
	w := newTrusted(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{
			task("reviewer", "Run it.", `,"allowed_tools":["bash"]`),
			task("tester", "Look it up.", `,"allowed_tools":["webfetch"]`),
		}},
		script.Turn{
			Match:  "Run it.",
			Answer: []script.Step{bash("echo $((40+2))"), call("diagnostics", `{"path":"a.txt"}`)},
		},
		script.Turn{
			Match:  "Run it.",
			Expect: []script.Expect{script.Result("bash", "42")},
			Answer: []script.Step{script.Text("Ran.")},
		},
		script.Turn{
			Match:  "Look it up.",
			Expect: []script.Expect{script.Tools("webfetch")},
			Answer: []script.Step{call("webfetch", `{"url":"https://tools.example.org/x"}`)},
		},
		script.Turn{
			Match: "Look it up.", Expect: []script.Expect{script.Result("webfetch", "denied: the user said no")},
			Answer: []script.Step{script.Text("Looked.")},
		},
		script.Turn{
			Match:  "Go.",
			Expect: []script.Expect{script.Last("Ran."), script.Last("Looked.")},
			Answer: []script.Step{script.Text("done")},
		},
	)
	var titles []string
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	w.until(func(e event.Event) bool {
		if _, opened := e.Body.(event.AskOpened); opened {
			for _, ask := range w.session.Asks() {
				titles = append(titles, ask.Title)
				w.answer(ask, authority.Answer{Allow: !strings.Contains(ask.Title, "fetch")}) // nothing is fetched here
			}
		}
		return ended(run)(e)
	})
	if text := strings.Join(titles, "\n"); len(titles) != 3 ||
		!strings.Contains(text, "coder ▸ tester wants to fetch https://tools.example.org/x") {
		t.Errorf("the user was asked:\n%s", text)
	}
}

// An agent that is not visible is listed nowhere unless it is named, and started by its name.
func TestUnlistedIsStartedByName(t *testing.T) {
	quiet, boss, names := own("quiet", "read"), own("boss"), own("names")
	quiet.Unlisted = true
	boss.Categories, names.Categories = []agent.Category{agent.Primary}, []agent.Category{agent.Primary}
	boss.Prompt, names.Subagents = "Start {{subagents}}.", []string{"quiet"}
	planner := own("planning")
	planner.Categories, planner.Mode = boss.Categories, agent.Planning
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	turns := []script.Turn{
		{
			Match: "Go.", Expect: []script.Expect{described("quiet", false), notSystem("quiet")},
			Answer: []script.Step{task("quiet", "Say it.", ""), task("quite", "x", "")},
		},
		{Match: "Say it.", Answer: []script.Step{script.Text("Said.")}},
		{
			Match: "Go.", Answer: []script.Step{script.Text("done")},
			Expect: []script.Expect{
				script.Last("Said."), script.Last(`cannot start the agent "quite"`),
				script.NotLast("explore, quiet"),
			},
		},
		{Match: "Name it.", Expect: []script.Expect{startable("quiet")}, Answer: []script.Step{script.Text("done")}},
		{
			Match: "Plan.", Expect: []script.Expect{described("quiet", false)},
			Answer: []script.Step{task("quiet", "Look.", "")},
		},
		{Match: "Look.", Answer: []script.Step{script.Text("Looked.")}},
		{Match: "Plan.", Expect: []script.Expect{script.Last("Looked.")}, Answer: []script.Step{script.Text("done")}},
	}
	w.with(script.New("test", turns...), nil, quiet, boss, names, planner)
	for agent, prompt := range map[string]string{"boss": "Go.", "names": "Name it.", "planning": "Plan."} {
		w.finishes(agentcore.RunRequest{Agent: agent, Prompt: prompt})
	}
}

// Tools that a child has anyway take none of the others away, also where none of them is for a child.
func TestAllowedToolsAdd(t *testing.T) {
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{
			task("general", "One.", `,"allowed_tools":["read"]`), task("general", "None.", `,"allowed_tools":[]`),
			task("coder", "Aside.", `,"allowed_tools":["question"],"run_in_background":true`),
		}},
		script.Turn{
			Match: "One.", Expect: []script.Expect{script.Tools("read", "grep", "edit", "submit_result")},
			Answer: []script.Step{script.Text("1")},
		},
		script.Turn{
			Match: "None.", Expect: []script.Expect{script.Tools("read", "grep", "edit")},
			Answer: []script.Step{script.Text("2")},
		},
		script.Turn{
			Match: "Aside.", Answer: []script.Step{script.Text("3")},
			Expect: []script.Expect{script.Tools("read", "grep", "edit", "submit_result"), script.NoTools("question")},
		},
		script.Turn{Match: "Go.", Answer: []script.Step{call("task_wait", "{}")}},
		script.Turn{Match: "Go.", Times: script.Any, Answer: []script.Step{script.Text("done")}},
	)
	if result := w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})); result.Output != "done" {
		t.Errorf("got %+v", result)
	}
}

// Nobody is asked to give a child what it could not use then, or what the parent does not have.
func TestNoQuestionForUselessTools(t *testing.T) {
	denies := config.Permission{Tool: "edit", Action: permission.Deny}
	w := newWorld(
		t, map[string]string{"a.txt": "one\n"},
		script.Turn{Match: "Go.", Answer: []script.Step{
			task("explore", "x", `,"allowed_tools":["edit"]`), task("plan", "x", `,"allowed_tools":["bash"]`),
			task("explore", "x", `,"allowed_tools":["question"]`),
			task("explore", "x", `,"allowed_tools":["symbols","todo","question"],"run_in_background":true`),
		}},
		script.Turn{Match: "Go.", Expect: []script.Expect{
			script.Result("task", "allowed_tools: explore cannot use edit here"),
			script.Result("task", "allowed_tools: plan cannot use bash here"),
			script.Result("task", "allowed_tools: explore cannot use question here"),
		}, Answer: []script.Step{script.Text("done")}},
	)
	w.ruled(denies)
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	w.until(func(e event.Event) bool {
		if opened, ok := e.Body.(event.AskOpened); ok {
			t.Errorf("the user is asked: %s", opened.Title)
			w.answer(w.session.Asks()[0], authority.Answer{})
		}
		return ended(run)(e)
	})
}

// The tools that change files are one in a list of what is taken away.
func TestDisallowedEditing(t *testing.T) {
	w := newWorld(t, nil)
	careful := &agent.Definition{
		Slug: "careful", Categories: []agent.Category{agent.Primary},
		DisallowedTools: []string{"edit", "write"},
	}
	w.with(script.New("test", script.Turn{
		Expect: []script.Expect{
			script.NoTools("edit", "write", "patch", "notebook_edit"),
			script.Tools("read", "bash"),
		}, Answer: []script.Step{script.Text("done")},
	}), nil, careful)
	w.session.SetTrusted(true)
	w.finishes(agentcore.RunRequest{Agent: "careful", Prompt: "Go."})
}

// Children are listed in the order of the calls that started them, however long each took to prepare.
func TestChildrenAreListedInTheOrderOfTheirCalls(t *testing.T) {
	const n = 32
	var calls []script.Step
	turns := []script.Turn{{}}
	for i := range n {
		prompt := fmt.Sprintf("Part %02d.", i)
		calls = append(calls, task("mine", prompt, ""))
		turns = append(turns, script.Turn{Match: prompt, Answer: []script.Step{script.Text("Done.")}})
	}
	turns[0] = script.Turn{Match: "Go.", Answer: calls}
	turns = append(turns, script.Turn{Match: "Go.", Answer: []script.Step{script.Text("All done.")}})
	w := newWorld(t, nil)
	w.with(script.New("test", turns...), nil, own("mine"))
	run := w.start(agentcore.RunRequest{Agent: "coder", Prompt: "Go."})
	if got := w.wait(run); got.Output != "All done." {
		t.Fatalf("got %+v", got)
	}
	var titles, want []string
	for i, child := range w.children(run) {
		titles, want = append(titles, child.Title), append(want, fmt.Sprintf("Part %02d.", i))
	}
	if len(titles) != n || !slices.Equal(titles, want) {
		t.Errorf("the children are %q", titles)
	}
}
