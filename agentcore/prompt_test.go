package agentcore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/config/configtest"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/model/wiretest"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

// with opens the engine anew with a script, the built-in agents, those of the definitions, and other options.
func (w *world) with(turns *script.Script, change func(*agentcore.Options), definitions ...*agent.Definition) {
	w.t.Helper()
	w.close()
	w.model = turns
	builtin, err := agent.Builtin()
	if err != nil {
		w.t.Fatal(err)
	}
	o := agentcore.Options{
		StateDir: w.state, Getenv: func(string) string { return "" },
		OpenModel: func(provider.Choice) (model.Model, error) { return w.model, nil },
		Agents:    agent.NewRegistry(append(slices.Clone(builtin), definitions...)...),
	}
	if change != nil {
		change(&o)
	}
	w.openWith(o)
}

// exactly expects a text to be the system prompt up to the environment.
func exactly(want string) script.Expect {
	return func(request *model.Request) error {
		if got, _, _ := strings.Cut(request.System, "\n\n<environment>\n"); got != want {
			return fmt.Errorf("the system prompt begins with\n%s\nwant\n%s", got, want)
		}
		return nil
	}
}

// fakeTool is a tool of the name that later tools have. A private one is one for runs that plan, too.
func fakeTool(name string, effect tool.Effect, private ...bool) tool.Tool {
	return tool.New(tool.Definition[struct{}, any]{
		Access: tool.Internal[struct{}], Private: slices.Contains(private, true),
		Name: name, Description: "A tool of a test.", Effect: effect, Title: func(struct{}) string { return name },
		Run: func(context.Context, any, struct{}) (tool.Result, error) {
			return tool.Result{Text: "done"}, nil
		},
	})
}

func TestPromptIsATemplate(t *testing.T) {
	const prompt = "{{agent}} {{role}} {{depth}}/{{max_depth}} {{max_turns}} {{timeout}} on {{git_branch}}\n" +
		"{{open_file}}: {{selection}}\n{{#if can_delegate}}\ndelegates\n{{else}}\nworks alone\n{{/if}}\n" +
		"{{team}} {{colour}} {{Project}} {{nobody}} \\{{agent}}\n{{#if selection}}selected{{/if}} {{date}}"
	w := newWorld(t, map[string]string{".git/HEAD": "ref: refs/heads/topic\n", "a.txt": "one\ntwo\nthree\nfour\n"})
	want := "x main 0/3 7 90s on topic\na.txt: two\nthree!\ndelegates\npayments blue w {{nobody}} {{agent}}\nselected DATE"
	dates := regexp.MustCompile(`\d{4}-\d\d-\d\d`)
	var mu sync.Mutex
	var seen []string
	system := func(request *model.Request) error {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, request.System)
		got, _, _ := strings.Cut(request.System, "\n\n<environment>\n")
		if got = dates.ReplaceAllString(got, "DATE"); got != strings.Replace(want, "90s", "1m30s", 1) {
			return fmt.Errorf("the prompt is\n%s\nwant\n%s", got, want)
		}
		return nil
	}
	turns := script.New("test",
		script.Turn{
			Expect: []script.Expect{system},
			Answer: []script.Step{script.Gate("held"), call("read", `{"path":"a.txt"}`)},
		},
		script.Turn{Expect: []script.Expect{system}, Answer: []script.Step{script.Text("done")}},
	)
	d := &agent.Definition{
		Slug: "x", Categories: []agent.Category{agent.Primary}, Mode: agent.Agentic,
		Instruction: agent.Instruction{Prompt: prompt, Variables: map[string]string{"team": "payments"}},
		Limits:      agent.Limits{MaxTurns: 7, Timeout: 90e9},
	}
	w.with(turns, func(o *agentcore.Options) {
		cfg := config.Default()
		cfg.PromptVariables = map[string]string{"team": "of the configuration", "colour": "blue"}
		o.Config = cfg
	}, d)
	path := w.path("a.txt")
	w.view.SetDocument(path, "one\ntwo\nthree!\nfour\n", 1)
	id := w.start(agentcore.RunRequest{
		Agent: "x", Prompt: "Go.",
		Context: agentcore.Context{Paths: []string{path}, StartLine: 2, EndLine: 3},
	})
	if err := w.model.Reached(w.ctx, "held", 1); err != nil {
		t.Fatal(err)
	}
	// What changes meanwhile does not change the prompt.
	w.view.SetDocument(path, "other\n", 2)
	if err := os.WriteFile(w.path(".git/HEAD"), []byte("ref: refs/heads/other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.model.Release("held")
	if result := w.wait(id); result.Status != event.StatusCompleted {
		t.Errorf("unexpected result: %+v", result)
	}
	if len(seen) != 2 || seen[0] != seen[1] {
		t.Errorf("the prompt changed between the turns: %q", seen)
	}
}

// TestPromptKnowsItsTask expands the names that other products' prompts for children have, in capitals.
func TestPromptKnowsItsTask(t *testing.T) {
	const prompt = "You are {{ROLE}} ({{DEPTH}}/{{MAX_DEPTH}}) for {{PARENT_ROLE}}: {{TASK}} until {{CRITERIA}}, " +
		"within {{MAX_ITERATIONS}} and {{MAX_DURATION}}.\n" +
		"You {{CAN/CANNOT}} delegate.\n{{#IF CAN_DELEGATE}}\nTo {{ALLOWED_DELEGATIONS}}.\n{{/IF}}"
	definition := func(slug string, subagents ...string) *agent.Definition {
		return &agent.Definition{
			Slug: slug, Categories: []agent.Category{agent.Primary, agent.Subagent}, Mode: agent.Agentic,
			Instruction: agent.Instruction{Prompt: prompt},
			Limits:      agent.Limits{MaxTurns: 7, Timeout: 90e9}, Subagents: append([]string{}, subagents...),
		}
	}
	system := func(want string) script.Expect {
		return func(request *model.Request) error {
			if !strings.HasPrefix(request.System, want+"\n\n") {
				return fmt.Errorf("the prompt is\n%s\nwant\n%s", request.System, want)
			}
			return nil
		}
	}
	w := newWorld(t, nil)
	child := "You are under (1/3) for main: Do A. until it is done, within 7 and "
	w.with(
		script.New(
			"test",
			script.Turn{
				Match: "Go.",
				Expect: []script.Expect{
					system("You are main (0/3) for : Go. until , within 7 and 1m30s.\nYou can delegate.\nTo under."),
				},
				Answer: []script.Step{task("under", "Do A.", `,"success_criteria":"it is done"`)},
			},
			script.Turn{Match: "Do A.", Expect: []script.Expect{
				script.System(child), script.System("You cannot delegate.\n\n"),
			}, Answer: []script.Step{script.Text("done")}},
			script.Turn{Match: "Go.", Answer: []script.Step{script.Text("done")}},
		), nil, definition("over", "under"), definition("under"),
	)
	if result := w.wait(w.start(agentcore.RunRequest{
		Agent:  "over",
		Prompt: "Go.",
	})); result.Status != event.StatusCompleted {
		t.Errorf("unexpected result: %+v", result)
	}
}

func TestReminderAndPrefix(t *testing.T) {
	w := newWorld(t, nil)
	turns := script.New("test", script.Turn{
		Expect: []script.Expect{
			script.Last("<reminder>\nTouch nothing.\n</reminder>\n\nGo."),
			func(request *model.Request) error {
				if request.System != "You do." {
					return fmt.Errorf("the system prompt is %q", request.System)
				}
				return nil
			},
		},
		Answer: []script.Step{script.Text("done")},
	})
	w.with(turns, nil, &agent.Definition{
		Slug: "x", Categories: []agent.Category{agent.Primary},
		Instruction: agent.Instruction{Prompt: "You do.", Reminder: "Touch nothing.", NoDefaultPrefix: true},
	})
	w.wait(w.start(agentcore.RunRequest{Agent: "x", Prompt: "Go."}))
}

func TestSkills(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755),
			os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		return name
	}
	house := write("house-style/SKILL.md", "---\nname: house-style\ndescription: How we write.\n---\nShort words.\n")
	write("pdf/SKILL.md", "---\nname: pdf\ndescription: Fills forms.\n---\nFill them.\n")
	more := write("pdf/more.md", "more of it\n")
	many := strings.Repeat("long ", 200)
	for i := range 10 {
		name := fmt.Sprintf("z%d", i)
		write(name+"/SKILL.md", "---\nname: "+name+"\ndescription: "+many+"\n---\nx\n")
	}
	skills, err := skill.Load(t.Context(), []skill.Folder{{Layer: agent.LayerUser, Dir: dir}})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	read, err := json.Marshal(map[string]string{"path": more})
	if err != nil {
		t.Fatal(err)
	}
	turns := script.New("test",
		script.Turn{
			Expect: []script.Expect{
				script.System("You do.\n\n<skill name=\"house-style\">\n(from " + house +
					")\n\nShort words.\n</skill>\n\n<skills>\n"),
				script.System("\n- pdf: Fills forms.\n- z0: long"),
				script.System("\n- and z4, z5, z6, z7, z8, z9\n</skills>"), script.Tools("skill", "read"),
				func(request *model.Request) error {
					if strings.Contains(request.System, "- house-style") ||
						strings.Contains(request.System, "agentls") {
						return errors.New("a skill that is in the prompt, or is built in, is listed")
					}
					return nil
				},
			},
			Answer: []script.Step{call("skill", `{"name":"pdf"}`), call("skill", `{"name":"pfd"}`)},
		},
		script.Turn{
			Expect: []script.Expect{
				script.Result("skill", "Fill them."), script.Result("skill", more),
				script.Result("skill", `error: there is no skill "pfd"; did you mean pdf?`),
			},
			Answer: []script.Step{call("read", string(read))},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("read", "1\tmore of it")},
			Answer: []script.Step{script.Text("done")},
		},
		// Without skills to load there is no tool to load them.
		script.Turn{
			Match:  "plain",
			Expect: []script.Expect{script.NoTools("skill"), exactly("You do.")},
			Answer: []script.Step{call("skill", `{"name":"agentls"}`)},
		},
		script.Turn{
			Match:  "plain",
			Expect: []script.Expect{script.Result("skill", `error: there is no tool "skill" here`)},
			Answer: []script.Step{script.Text("done")},
		},
		script.Turn{Match: "guide me", Expect: []script.Expect{
			script.System("<skill name=\"agentls\">\n# agentls"),
			script.NoTools("skill"),
		}, Answer: []script.Step{script.Text("done")}},
	)
	x := agent.Definition{
		Slug: "x", Categories: []agent.Category{agent.Primary},
		Instruction: agent.Instruction{Prompt: "You do.", Skills: []string{"house-style", "gone"}},
	}
	y := agent.Definition{
		Slug: "y", Categories: []agent.Category{agent.Primary},
		Instruction: agent.Instruction{Prompt: "You do."},
	}
	w.with(turns, nil, &x, &y)
	w.engine.SetSkills(skills)
	w.session.SetTrusted(true)
	id := w.start(agentcore.RunRequest{Agent: "x", Prompt: "Go."})
	var notices []string
	for _, e := range w.until(ended(id)) {
		if n, ok := e.Body.(event.Notice); ok {
			notices = append(notices, n.Message)
		}
	}
	if len(notices) != 1 || !strings.Contains(notices[0], `there is no skill "gone"`) {
		t.Errorf("the notices are %q", notices)
	}
	w.session.SetSkills(skill.NewSet(skill.Builtin()...))
	w.wait(w.start(agentcore.RunRequest{Agent: "y", Prompt: "plain"}))
	w.wait(w.start(agentcore.RunRequest{Agent: "guide", Prompt: "guide me"}))
}

func TestModes(t *testing.T) {
	define := func(mode agent.Mode) *agent.Definition {
		return &agent.Definition{
			Slug: string(mode[:4]), Categories: []agent.Category{agent.Primary}, Mode: mode,
			Instruction: agent.Instruction{Prompt: "You do."},
		}
	}
	none := []script.Expect{script.NoTools()}
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	turns := script.New("test",
		script.Turn{Match: "sing", Expect: none, Answer: []script.Step{script.Text("one answer")}},
		script.Turn{Match: "stre", Expect: none, Answer: []script.Step{script.Text("a word")}},
		script.Turn{
			Match: "plan",
			Expect: []script.Expect{script.Tools("read", "glob", "grep", "list", "diagnostics", "todo", "task",
				"plan_exit"), script.NoTools("edit", "write", "report_finding", "bash", "deploy")},
			Answer: []script.Step{
				call("edit", `{"path":"a.txt","old_string":"one","new_string":"two"}`),
				call("bash", `{}`), call("plan_exit", `{}`),
			},
		},
		script.Turn{
			Match: "plan",
			Expect: []script.Expect{
				script.Result("edit", `error: there is no tool "edit" here`),
				script.Result("bash", `error: there is no tool "bash" here`), script.Result("plan_exit", "done"),
			},
			Answer: []script.Step{script.Text("the plan")},
		},
	)
	w.with(turns, func(o *agentcore.Options) {
		o.Tools = append(tool.Builtin(), fakeTool("bash", tool.Acts), fakeTool("deploy", tool.Acts),
			fakeTool("task", tool.Acts, true), fakeTool("plan_exit", tool.Notes, true))
	}, define(agent.SingleShot), define(agent.Streaming), define(agent.Planning))
	for name, want := range map[string]string{"sing": "one answer", "stre": "a word", "plan": "the plan"} {
		if result := w.wait(w.start(agentcore.RunRequest{Agent: name, Prompt: name})); result.Output != want {
			t.Errorf("%s: %+v", name, result)
		}
	}
	if hunks := w.session.Board().Proposal().Hunks(); len(hunks) > 0 {
		t.Errorf("a planning run proposed %+v", hunks)
	}
}

// startable expects the task tool to tell of these agents and of no others.
func startable(want ...string) script.Expect {
	return func(request *model.Request) error {
		var got []string
		for _, t := range request.Tools {
			if t.Name == "task" {
				for line := range strings.Lines(t.Description) {
					if slug, _, listed := strings.Cut(strings.TrimPrefix(line, "- "), ": "); listed && line[0] == '-' {
						got = append(got, slug)
					}
				}
			}
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("it may start %q, want %q", got, want)
		}
		return nil
	}
}

// A child knows its place, and delegates only where the depth and its definition allow it.
func TestPlaceOfARun(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "one\n"})
	is := func(want string, subagents ...string) script.Turn {
		return script.Turn{
			Expect: []script.Expect{script.System(want), startable(subagents...)},
			Answer: []script.Step{script.Text("done")},
		}
	}
	open := func(depth int, turns ...script.Turn) {
		w.with(script.New("test", turns...), func(o *agentcore.Options) {
			o.Config = config.Default()
			o.Config.MaxDepth = depth
			o.Tools = tool.Builtin()
		})
		w.session.SetTrusted(true)
	}
	alone := agentcore.RunRequest{Agent: "coder", Prompt: "Go."}
	each := agentcore.RunRequest{Agent: "coder", Prompt: "Go.", Each: []string{w.path("a.txt")}}
	open(2, is("\nDelegation by `task`:\n",
		"coder", "reviewer", "explore", "general", "plan", "researcher", "bash", "tester", "debugger", "guide",
		"critic", "statusline-setup"))
	w.wait(w.start(alone))
	open(2, is("\nDelegation: `task` starts agents that only read.", "reviewer", "explore", "plan", "researcher",
		"guide", "critic"))
	w.wait(w.start(agentcore.RunRequest{Agent: "planner", Prompt: "Go."}))
	open(2, script.Turn{
		Expect: []script.Expect{
			script.System("\nDelegation by `task`:\n"), startable("tester"),
			script.System(
				"\nrole: coder, depth 1 of 2\nstarted by: coder; it sees only your result\nlimits: 30 turns, 5m\n"),
			script.System("with `bash`; commands see"),
		},
		Answer: []script.Step{script.Text("done")},
	})
	w.wait(w.start(each))
	without := func(request *model.Request) error {
		if strings.Contains(request.System, "Delegat") || strings.Contains(request.System, "{{") {
			return fmt.Errorf("a run that cannot delegate is told how to: %s", request.System)
		}
		return nil
	}
	open(1, script.Turn{Expect: []script.Expect{without}, Answer: []script.Step{script.Text("done")}})
	w.wait(w.start(each))
	// There is no task tool, and none to run commands.
	w.with(script.New("test", script.Turn{
		Expect: []script.Expect{without, script.System("You cannot run commands.")},
		Answer: []script.Step{script.Text("done")},
	}), func(o *agentcore.Options) {
		o.Tools = slices.DeleteFunc(tool.Builtin(),
			func(t tool.Tool) bool { return t.Spec().Name == "bash" || t.Spec().Name == "task" })
	})
	w.wait(w.start(alone))
}

// firstRequest runs an agent over Anthropic's wire and returns the body of its first request.
func firstRequest(t testing.TB, name string) []byte {
	t.Helper()
	var body []byte
	handler := wiretest.AnthropicHandler(script.New("test", script.Turn{Answer: []script.Step{script.Text("done")}}))
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		raw, err := io.ReadAll(in.Body)
		if err != nil {
			t.Error(err)
		}
		body = raw
		in.Body = io.NopCloser(bytes.NewReader(raw))
		handler.ServeHTTP(out, in)
	}))
	defer server.Close()
	cfg := config.Default()
	p := cfg.Providers["anthropic"]
	p.BaseURL, p.KeyEnv = server.URL, "TEST_KEY"
	cfg.Providers["anthropic"] = p
	view, err := workspace.Open([]workspace.Root{{Path: t.TempDir(), Name: "w"}}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	engine, err := agentcore.Open(t.Context(),
		agentcore.Options{StateDir: t.TempDir(), Config: cfg, Getenv: func(string) string { return "k" }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := engine.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	session, err := engine.OpenSession(t.Context(), view, "test")
	if err != nil {
		t.Fatal(err)
	}
	id, err := session.Start(t.Context(), agentcore.RunRequest{Agent: name, Prompt: "Go.", Model: "anthropic/m"})
	if err != nil {
		t.Fatal(err)
	}
	result, err := engine.Wait(t.Context(), id)
	if err != nil || result.Output != "done" {
		t.Fatalf("%s: %+v, %v", name, result, err)
	}
	return body
}

// The first request of each built-in agent, prompt and tools, stays small: providers bill and read all of it.
func TestFirstRequestIsSmall(t *testing.T) {
	const most = 12_000
	builtin, err := agent.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range builtin {
		if d.Is(agent.Hidden) { // agentls alone asks them
			continue
		}
		size := len(firstRequest(t, d.Slug))
		t.Logf("%-16s %6d bytes", d.Slug, size)
		if size > most && d.Slug != "guide" || size > most+3_000 { // the guide brings agentls's documentation
			t.Errorf("the first request of %s has %d bytes, more than %d", d.Slug, size, most)
		}
	}
}

// BenchmarkFirstRequest tells the bytes of each built-in agent's first request.
func BenchmarkFirstRequest(b *testing.B) {
	builtin, err := agent.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range builtin {
		if d.Is(agent.Hidden) {
			continue
		}
		b.Run(d.Slug, func(b *testing.B) {
			size := 0
			for b.Loop() {
				size = len(firstRequest(b, d.Slug))
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}

// TestGuideKnowsWhatUsersDo: what people ask first is in what the guide is told.
func TestGuideKnowsWhatUsersDo(t *testing.T) {
	knows := map[string][]string{
		"How do I give it project rules?": {"A project's rules stand in `AGENTS.md`", "`Remember…`"},
		"How do I talk with an agent?":    {"a document `*.agentls.md`", "`agentls chat`", "`agentls run -c PROMPT`"},
		"How do I go back?":               {"Go back to before this", "`rewind`"},
		"How do I keep a prompt?":         {"`.agentls/prompts/name.md`"},
		"How do I show it a file?":        {"`@path`, `@path:10-20`"},
	}
	var turns []script.Turn
	for question, facts := range knows {
		turn := script.Turn{Match: question, Answer: []script.Step{script.Text("done")}}
		for _, fact := range facts {
			turn.Expect = append(turn.Expect, script.System(fact))
		}
		turns = append(turns, turn)
	}
	w := newWorld(t, nil, turns...)
	for question := range knows {
		w.wait(w.start(agentcore.RunRequest{Agent: "guide", Prompt: question}))
	}
}

// What the guide's documentation says of the configuration is so.
func TestGuideKnowsTheConfiguration(t *testing.T) {
	s, err := skill.NewSet(skill.Builtin()...).Find("agentls")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(s.Text, "```toml\n")
	example, _, found := strings.Cut(example, "```")
	if !found {
		t.Fatal("there is no example of a configuration")
	}
	cfg := configtest.User(t, example)
	if cfg.Presets["quick"].MaxTokens != 4000 || cfg.PromptVariables["team"] != "payments" {
		t.Errorf("the example of a configuration: %+v", cfg)
	}
	// So is what it says of definitions, and every variable is there.
	_, definition, _ := strings.Cut(s.Text, "```markdown\n")
	definition, _, _ = strings.Cut(definition, "\n```")
	parsed := agent.ParseAs(agent.Native, "sql-reviewer.md", definition)
	if len(parsed.Problems) > 0 || len(parsed.Definitions) != 1 || parsed.Definitions[0].Slug != "sql-reviewer" {
		t.Errorf("the example of a definition: %+v", parsed.Problems)
	}
	for _, said := range []string{
		"or `!` and a shell command", "only the first line that it prints",
		"a rule has to allow their calls",
	} {
		if !strings.Contains(strings.ReplaceAll(s.Text, "\n", " "), said) { // wherever a line is broken
			t.Errorf("the documentation does not say %q", said)
		}
	}
	for _, v := range agent.Builtins {
		if !strings.HasPrefix(v.Doc, "The same as ") && !strings.Contains(s.Text, "`"+v.Name+"`") {
			t.Errorf("the documentation lacks the variable %s", v.Name)
		}
	}
	builtin, err := agent.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range builtin {
		if !d.Is(agent.Hidden) && !strings.Contains(s.Text, "`"+d.Slug+"`") {
			t.Errorf("the documentation lacks the agent %s", d.Slug)
		}
	}
}

// A short limit is told as it was set, and a long one without what nobody needs.
func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "none", 30 * time.Millisecond: "30ms", 1500 * time.Millisecond: "1.5s", 2 * time.Second: "2s",
		12345 * time.Millisecond:  "12.3s",
		59_990 * time.Millisecond: "1m", 90*time.Second + 400*time.Millisecond: "1m30s", 5 * time.Minute: "5m",
		2 * time.Hour: "2h",
	} {
		if got := agentcore.Duration(d); got != want {
			t.Errorf("%v is told as %s, not %s", d, got, want)
		}
	}
}
