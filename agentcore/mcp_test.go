package agentcore_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/authority"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/mcp"
	"github.com/agentls/agentls/agentcore/mcp/mcptest"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/permission"
)

// withServer configures this test binary as an MCP server of a kind, in a workspace that the user trusts.
func (w *world) withServer(kind string, change ...func(*config.Config)) {
	w.t.Helper()
	cfg := config.Default()
	cfg.MCP["srv"] = config.MCPServer{
		Command: mcptest.Program(w.t, w.dir),
		Env:     map[string]string{mcptest.Variable: kind},
	}
	for _, f := range change {
		f(cfg)
	}
	w.configured(cfg)
	w.session.SetTrusted(true)
}

// allowing are rules that allow all tools of the server.
func allowing(cfg *config.Config) {
	cfg.Permissions = append(cfg.Permissions, config.Permission{Tool: "mcp__srv__*", Action: "allow"})
}

// gives is a turn behind results of tools of the server.
func gives(results map[string]string, steps ...script.Step) script.Turn {
	turn := script.Turn{Answer: steps}
	for name, text := range results {
		turn.Expect = append(turn.Expect, script.Result("mcp__srv__"+name, text))
	}
	if len(steps) == 0 {
		turn.Answer = []script.Step{script.Text("done")}
	}
	return turn
}

func srv(name, arguments string) script.Call { return call("mcp__srv__"+name, arguments) }

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// sessionProcesses are the processes of a session's MCP servers.
func sessionProcesses(t *testing.T, id event.SessionID) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil &&
			strings.Contains("\x00"+string(text), "\x00AGENTLS_SESSION="+string(id)+"\x00") {
			found = append(found, file)
		}
	}
	return found
}

// TestMCP lets an agent use a server in the sandbox, which carries the marks of run and session, cannot write into the
// workspace, and is asked about.
func TestMCP(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "text of a"})
	made := w.path("made")
	w.model = script.New("test",
		script.Turn{
			Expect: []script.Expect{script.Tools("mcp__srv__echo", "mcp__srv__read_resource",
				"mcp__srv__list_resources", "read")},
			Answer: []script.Step{srv("echo", `{"text":"one"}`)},
		},
		gives(map[string]string{"echo": "echo: one"}, srv("echo", `{"text":"two"}`)), // is not asked again
		gives(map[string]string{"echo": "echo: two"}, srv("env", `{"text":"AGENTLS_RUN"}`),
			srv("env", `{"text":"AGENTLS_SESSION"}`)),
		script.Turn{
			Expect: []script.Expect{
				script.Result("mcp__srv__env", "AGENTLS_RUN=r"),
				script.Result("mcp__srv__env", "AGENTLS_SESSION="+string(w.session.ID[:1])),
			},
			Answer: []script.Step{
				srv("write", `{"path":`+quoted(made)+`}`),
				srv("read", `{"path":`+quoted(w.path("a.txt"))+`}`),
			},
		},
		gives(map[string]string{"read": "text of a"}, srv("echo", `{"txt":5}`)),
		gives(map[string]string{"echo": "error: the arguments of mcp__srv__echo are wrong"},
			srv("list_resources", `{}`), srv("read_resource", `{"uri":"docs://one"}`)),
		gives(map[string]string{"list_resources": "docs://one", "read_resource": "the text of docs://one"},
			srv("image", `{}`)),
		gives(map[string]string{"image": "image/png"}),
	)
	w.withServer("good")
	id := w.start(coder())
	ask := w.asked()
	if !strings.Contains(ask.Title, "call echo of the MCP server srv") || len(ask.Always) != 1 ||
		!strings.HasPrefix(ask.Always[0].Pattern, "version ") {
		t.Errorf("it is asked %+v", ask)
	}
	w.answer(ask, authority.Answer{Allow: true, Scope: permission.Run})
	for range 6 { // env (once for the run), write, read, both kinds of resources, image
		w.answer(w.asked(), authority.Answer{Allow: true, Scope: permission.Run})
	}
	result := w.wait(id)
	if result.Status != event.StatusCompleted {
		t.Errorf("the run ended as %+v", result)
	}
	if _, err := os.Lstat(made); err == nil {
		t.Error("the server wrote into the workspace")
	}
	if len(sessionProcesses(t, w.session.ID)) == 0 {
		t.Error("the server ended with the run, not with the session")
	}
	w.closeEngine()
	if left := sessionProcesses(t, w.session.ID); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
	w.emptied(id)
	w.open()
}

// TestMCPOverHTTP uses a server over HTTP with a key from the environment, which nobody sees.
func TestMCPOverHTTP(t *testing.T) {
	w := newWorld(t, nil,
		script.Turn{Answer: []script.Step{srv("echo", `{"text":"one"}`)}},
		gives(map[string]string{"echo": "echo: one"}),
	)
	url := mcptest.Serve(t, mcptest.Handler(t))
	cfg := config.Default()
	cfg.MCP["srv"] = config.MCPServer{
		URL:     url,
		Headers: map[string]string{"Authorization": "Bearer ${MCP_TEST_NONE:-the default key}"},
	}
	allowing(cfg)
	w.configured(cfg)
	if result := w.wait(w.start(coder())); result.Status != event.StatusCompleted {
		t.Errorf("the run ended as %+v", result)
	}
	list := w.session.MCPServers()
	if len(list) != 1 || list[0].State != mcp.Ready || list[0].Address != url || list[0].Catalog == nil {
		t.Errorf("the servers are %+v", list)
	}
	w.close()
}

// TestMCPManyTools has a request grow by less than 1 kB for a server with 100 tools: they are found and called by two
// others, and decided on, told and stored as those that they are.
func TestMCPManyTools(t *testing.T) {
	listed := 0
	size := func(request *model.Request) (all int) {
		for _, one := range request.Tools {
			all += len(one.Name) + len(one.Description) + len(one.Schema)
		}
		return all + len(request.System)
	}
	w := newWorld(t, nil,
		script.Turn{
			Expect: []script.Expect{func(request *model.Request) error { listed = size(request); return nil }},
			Answer: []script.Step{script.Text("done")},
		},
		script.Turn{
			Expect: []script.Expect{
				script.Tools("tool_search", "tool_call"), script.NoTools("mcp__srv__tool_042"),
				func(request *model.Request) error {
					if more := size(request) - listed; more > 1<<10 {
						return fmt.Errorf("the request has %d bytes more", more)
					}
					return nil
				},
			},
			Answer: []script.Step{call("tool_search", `{"query":"tool_042"}`), call("tool_search", `{"query":"*"}`)},
		},
		script.Turn{
			Expect: []script.Expect{
				script.Result("tool_search", `mcp__srv__tool_042: Does what number 42 does`),
				script.Result("tool_search", `"text":{"description":"what to say","type":"string"}`),
				script.Result("tool_search", " mcp__srv__tool_099"),
			},
			Answer: []script.Step{
				call("tool_call", `{"tool":"mcp__srv__tool_042","arguments":{"text":"one"}}`),
				call("tool_call", `{"tool":"mcp__srv__tool_042","arguments":{"txt":1}}`),
				call("tool_call", `{"tool":"mcp__srv__tool_666","arguments":{}}`),
				call("tool_call", `{"tool":"bash","arguments":{"command":"true"}}`),
				call("tool_call", `{"tool":"mcp__srv__tool_007","arguments":{"text":"denied"}}`),
				srv("tool_043", `{"text":"by its name"}`),
			},
		},
		script.Turn{
			Expect: []script.Expect{
				script.Result("tool_call", "tool_042: one"),
				script.Result("tool_call", "error: the arguments of mcp__srv__tool_042 are wrong"),
				script.Result("tool_call", `error: no MCP server has a tool "mcp__srv__tool_666"; tool_search finds`),
				script.Result("tool_call", `error: no MCP server has a tool "bash"`),
				script.Result("tool_call", "denied"),
				script.Result("mcp__srv__tool_043", "tool_043: by its name"),
			},
			Answer: []script.Step{script.Text("done")},
		},
	)
	w.wait(w.start(coder()))
	cfg := config.Default()
	cfg.MCP["srv"] = config.MCPServer{URL: mcptest.Serve(t, mcptest.HandlerOf(t, mcptest.Many(100)))}
	allowing(cfg)
	cfg.Permissions = append(cfg.Permissions, config.Permission{Tool: "mcp__srv__tool_007", Action: "deny"})
	w.configured(cfg)
	result := w.wait(w.start(coder()))
	if result.Status != event.StatusCompleted {
		t.Errorf("the run ended as %+v", result)
	}
	names := map[string]int{}
	for _, made := range result.ToolCalls {
		names[made.Name+" "+string(made.Status)]++
	}
	if names["mcp__srv__tool_042 ok"] != 1 || names["tool_call denied"]+names["mcp__srv__tool_007 denied"] != 1 ||
		names["mcp__srv__tool_043 ok"] != 1 {
		t.Errorf("the calls are %v", names)
	}
	w.close()
}

// TestMCPServerIsKilled kills a server while a run uses it: the call says so and is not made again, and the next one
// finds a new server.
func TestMCPServerIsKilled(t *testing.T) {
	w := newWorld(t, nil)
	w.model = script.New("test",
		script.Turn{Answer: []script.Step{srv("pid", `{}`)}},
		script.Turn{Answer: []script.Step{srv("die", `{}`)}},
		gives(map[string]string{"die": "whether the call had an effect is not known"}, srv("echo", `{"text":"again"}`)),
		gives(map[string]string{"echo": "echo: again"}, srv("wait", `{"path":"/tmp/note"}`)),
		gives(map[string]string{"wait": "whether the call had an effect is not known"},
			srv("echo", `{"text":"and again"}`)),
		gives(map[string]string{"echo": "echo: and again"}),
	)
	w.withServer("good", allowing)
	id := w.start(coder())
	w.until(func(e event.Event) bool {
		p, ok := e.Body.(event.ToolCallProgress)
		return ok && p.Message == "1 of 3 on the way"
	})
	for _, file := range sessionProcesses(t, w.session.ID) {
		var pid int
		if _, err := fmt.Sscanf(file, "/proc/%d/environ", &pid); err != nil {
			t.Fatal(err)
		}
		if name, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline")); err == nil &&
			strings.Contains(string(name), "mcp-server") {
			if server, err := os.FindProcess(pid); err == nil {
				_ = server.Kill() // it may have ended by itself
			}
		}
	}
	if result := w.wait(id); result.Status != event.StatusCompleted {
		t.Errorf("the run ended as %+v", result)
	}
}

// TestMCPChangedTool lets a server change a tool that was allowed for the whole project: it is asked about again,
// saying why; a server that is configured anew is, too.
func TestMCPChangedTool(t *testing.T) {
	w := newWorld(t, nil)
	w.model = script.New("test",
		script.Turn{Answer: []script.Step{srv("echo", `{"text":"one"}`)}},
		gives(map[string]string{"echo": "echo: one"}, srv("change", `{}`)),
		gives(map[string]string{"change": "changed"}, script.Gate("changed"), srv("echo", `{"text":"two"}`)),
		gives(map[string]string{"echo": "denied"}),
	)
	w.withServer("good")
	id := w.start(coder())
	ask := w.asked()
	first := ask.Always[0].Pattern
	w.answer(ask, authority.Answer{Allow: true, Scope: permission.Project})
	w.answer(w.asked(), authority.Answer{Allow: true})
	w.waitFor("the tool changes", func() bool {
		catalog := w.session.MCPServers()[0].Catalog
		if catalog == nil {
			return false
		}
		tool, ok := catalog.Tool("mcp__srv__echo")
		return ok && strings.Contains(tool.Description, "keys")
	})
	w.model.Release("changed")
	ask = w.asked()
	if !strings.Contains(ask.Reason, "changed") || len(ask.Always) != 1 || ask.Always[0].Pattern == first {
		t.Errorf("the changed tool is asked about with %q, %v", ask.Reason, ask.Always)
	}
	w.answer(ask, authority.Answer{})
	w.wait(id)
}

// TestMCPInherited lets a child use the servers of its parent and those that its definition brings; a tool list leaves
// others out.
func TestMCPInherited(t *testing.T) {
	w := newWorld(t, nil)
	program := mcptest.Program(t, w.dir)
	child := agent.Definition{
		Slug: "helper", Description: "helps", Categories: []agent.Category{agent.Subagent},
		Instruction: agent.Instruction{Prompt: "You help."},
		Mode:        agent.Agentic,
		MCPServers: []agent.MCPServer{
			{Name: "own", Command: []string{program}, Env: map[string]string{mcptest.Variable: "good"}},
		},
	}
	narrow := agent.Definition{
		Slug: "narrow", Description: "does little", Categories: []agent.Category{agent.Subagent},
		Instruction: agent.Instruction{Prompt: "You do little."}, Mode: agent.Agentic,
		Tools: []string{"read", "mcp__srv__echo"},
	}
	boss := agent.Definition{
		Slug: "boss", Description: "delegates", Categories: []agent.Category{agent.Primary},
		Instruction: agent.Instruction{Prompt: "You delegate."},
		Mode:        agent.Agentic,
		Subagents:   []string{"helper", "narrow", "explore"},
	}
	turns := script.New("test",
		script.Turn{
			Match:  "Change it",
			Expect: []script.Expect{script.Tools("mcp__srv__echo"), script.NoTools("mcp__own__echo")},
			Answer: []script.Step{
				call("task", `{"subagent_type":"helper","prompt":"help now","description":"d"}`),
				call("task", `{"subagent_type":"narrow","prompt":"do little now","description":"d"}`),
				call("task", `{"subagent_type":"explore","prompt":"look now","description":"d"}`),
			},
		},
		script.Turn{
			Match: "help now", Expect: []script.Expect{script.Tools("mcp__srv__echo", "mcp__own__echo")},
			Answer: []script.Step{call("mcp__own__echo", `{"text":"x"}`), call("mcp__srv__echo", `{"text":"y"}`)},
		},
		script.Turn{Match: "help now", Expect: []script.Expect{
			script.Result("mcp__own__echo", "echo: x"),
			script.Result("mcp__srv__echo", "echo: y"),
		}, Answer: []script.Step{script.Text("helped")}},
		script.Turn{
			Match:  "do little now",
			Expect: []script.Expect{script.Tools("mcp__srv__echo"), script.NoTools("mcp__srv__env", "mcp__own__echo")},
			Answer: []script.Step{script.Text("did")},
		},
		script.Turn{
			Match: "look now", Expect: []script.Expect{script.NoTools("mcp__srv__echo")},
			Answer: []script.Step{script.Text("looked")},
		},
		script.Turn{Match: "Change it", Answer: []script.Step{script.Text("done")}},
	)
	cfg := config.Default()
	cfg.MCP["srv"] = config.MCPServer{Command: program, Env: map[string]string{mcptest.Variable: "good"}}
	cfg.Permissions = append(cfg.Permissions, config.Permission{Tool: "mcp__*", Action: "allow"})
	w.with(turns, func(o *agentcore.Options) { o.Config = cfg }, &boss, &child, &narrow)
	w.session.SetTrusted(true)
	if result := w.wait(w.start(agentcore.RunRequest{
		Agent:  "boss",
		Prompt: "Change it.",
	})); result.Status != event.StatusCompleted {
		t.Errorf("the run ended as %+v", result)
	}
	if n := len(w.session.MCPServers()); n != 2 {
		t.Errorf("the session has %d servers", n)
	}
}

// TestMCPOfNoUse tells the user that a child has nothing of the server that its definition brings, since nobody is
// asked for it.
func TestMCPOfNoUse(t *testing.T) {
	w := newWorld(t, nil)
	child := agent.Definition{
		Slug: "helper", Description: "helps", Categories: []agent.Category{agent.Subagent},
		Instruction: agent.Instruction{Prompt: "You help."},
		Mode:        agent.Agentic,
		MCPServers: []agent.MCPServer{{
			Name: "own", Command: []string{mcptest.Program(t, w.dir)},
			Env: map[string]string{mcptest.Variable: "good"},
		}},
	}
	boss := agent.Definition{
		Slug: "boss", Description: "delegates", Categories: []agent.Category{agent.Primary},
		Instruction: agent.Instruction{Prompt: "You delegate."},
		Mode:        agent.Agentic, Subagents: []string{"helper"},
	}
	w.with(script.New("test",
		script.Turn{
			Match:  "Change it",
			Answer: []script.Step{call("task", `{"subagent_type":"helper","prompt":"help now","description":"d"}`)},
		},
		script.Turn{
			Match: "help now", Expect: []script.Expect{script.NoTools("mcp__own__echo")},
			Answer: []script.Step{script.Text("helped")},
		},
		script.Turn{Match: "Change it", Answer: []script.Step{script.Text("done")}},
	), nil, &boss, &child)
	w.session.SetTrusted(true)
	id := w.start(agentcore.RunRequest{Agent: "boss", Prompt: "Change it."})
	if !slices.ContainsFunc(w.until(ended(id)), func(e event.Event) bool {
		n, ok := e.Body.(event.Notice)
		return ok && strings.Contains(n.Message, "own has no tool that helper may call") &&
			strings.Contains(n.Hint, "mcp__own__*")
	}) {
		t.Error("nobody is told that helper cannot call its server")
	}
}

// TestMCPNeedsTrust does not start a project's server before trust, nor a user's that lies in such a folder, and ends a
// project's when its trust goes.
func TestMCPNeedsTrust(t *testing.T) {
	w := newWorld(t, nil)
	w.model = script.New("test",
		script.Turn{
			Expect: []script.Expect{script.NoTools("mcp__srv__echo", "mcp__mine__echo")},
			Answer: []script.Step{script.Text("done")},
		},
		script.Turn{
			Expect: []script.Expect{script.Tools("mcp__srv__echo", "mcp__mine__echo")},
			Answer: []script.Step{script.Gate("revoked"), srv("echo", `{"text":"x"}`)},
		},
		gives(map[string]string{"echo": "do not trust"}),
	)
	program := mcptest.Program(t, w.dir)
	cfg := config.Default()
	allowing(cfg)
	cfg.MCP["srv"] = config.MCPServer{
		Command: program,
		Env:     map[string]string{mcptest.Variable: "good", "AGENTLS_TEST_KIND": "project"},
		Origin:  config.Origin{Layer: config.LayerProject},
	}
	cfg.MCP["mine"] = config.MCPServer{Command: program, Env: map[string]string{mcptest.Variable: "good"}}
	w.configured(cfg)
	w.wait(w.start(coder()))
	if found := sessionProcesses(t, w.session.ID); len(found) > 0 {
		t.Errorf("a server of a folder that is not trusted was started: %q", found)
	}
	list := w.session.MCPServers()
	if len(list) != 2 || list[0].Problem == "" || !list[1].Untrusted {
		t.Errorf("the servers are %+v", list)
	}
	w.session.SetTrusted(true)
	id := w.start(coder())
	w.waitFor("both servers run", func() bool {
		ready := 0
		for _, s := range w.session.MCPServers() {
			if s.State == mcp.Ready {
				ready++
			}
		}
		return ready == 2
	})
	w.reached("revoked") // the model was offered both
	w.session.SetTrusted(false)
	for _, file := range sessionProcesses(t, w.session.ID) {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), "AGENTLS_TEST_KIND=project") {
			t.Error("the project's server goes on")
		}
	}
	w.model.Release("revoked")
	if result := w.wait(id); result.Status != event.StatusCompleted {
		t.Errorf("the run ended as %+v", result)
	}
}

// TestMCPWithoutSandbox runs a server as the user would, where the user wants no sandbox; nothing of it is left.
func TestMCPWithoutSandbox(t *testing.T) {
	w := newWorld(t, nil,
		script.Turn{Answer: []script.Step{srv("env", `{"text":"AGENTLS_SESSION"}`)}},
		gives(map[string]string{"env": "AGENTLS_SESSION="}),
	)
	w.withServer("good", allowing, func(cfg *config.Config) { cfg.Sandbox = config.SandboxOff })
	if result := w.wait(w.start(coder())); result.Status != event.StatusCompleted {
		t.Errorf("the run ended as %+v", result)
	}
	if len(sessionProcesses(t, w.session.ID)) == 0 {
		t.Error("the server does not run")
	}
	id := w.session.ID
	w.close()
	if left := sessionProcesses(t, id); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}

// TestMCPPrompt calls a prompt of a server as a command.
func TestMCPPrompt(t *testing.T) {
	w := newWorld(t, nil,
		script.Turn{
			Expect: []script.Expect{script.First(`Summarize the file a.go in the style "very short".`)},
			Answer: []script.Step{script.Text("done")},
		},
	)
	w.withServer("good")
	if result := w.wait(w.start(agentcore.RunRequest{
		Agent:  "coder",
		Prompt: "/mcp__srv__summary a.go very short",
	})); result.Status != event.StatusCompleted {
		t.Errorf("the run ended as %+v", result)
	}
	for prompt, want := range map[string]string{
		"/mcp__srv__summary": "needs file", "/mcp__srv__none": "/mcp__srv__summary", "/mcp__other__x": "no MCP server",
	} {
		result := w.wait(w.start(agentcore.RunRequest{Agent: "coder", Prompt: prompt}))
		if result.Error == nil || !regexp.MustCompile(want).MatchString(result.Error.Detail+" "+result.Error.Hint) {
			t.Errorf("%s ended as %+v", prompt, result.Error)
		}
	}
}

// TestMCPFails begins without a server that does not start, and says so.
func TestMCPFails(t *testing.T) {
	w := newWorld(t, nil, script.Turn{
		Expect: []script.Expect{script.NoTools("mcp__srv__act")},
		Answer: []script.Step{script.Text("done")},
	})
	w.withServer("gone")
	id := w.start(coder())
	seen := w.until(ended(id))
	var told []string
	for _, e := range seen {
		if n, ok := e.Body.(event.Notice); ok {
			told = append(told, n.Message)
		}
	}
	if text := strings.Join(told, "\n"); !strings.Contains(text, "the MCP server srv is not used") ||
		!strings.Contains(text, "I have no configuration") {
		t.Errorf("it told %q", told)
	}
}

// TestMCPProgramInHome starts a server of a package below the home folder: it sees its package, and nothing else there.
func TestMCPProgramInHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for name, text := range map[string]string{
		"servers/one/package.json": "{}", "servers/one/data": "its data",
		"diary": "secret words",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(home, "servers", "one", "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, nil,
		script.Turn{Answer: []script.Step{srv("read", `{"path":`+quoted(filepath.Join(home, "servers/one/data"))+`}`)}},
		gives(map[string]string{"read": "its data"}, srv("read", `{"path":`+quoted(filepath.Join(home, "diary"))+`}`)),
		gives(map[string]string{"read": "no such file"}),
	)
	program := mcptest.Program(t, bin)
	cfg := config.Default()
	allowing(cfg)
	cfg.MCP["srv"] = config.MCPServer{Command: program, Env: map[string]string{mcptest.Variable: "good"}}
	w.configured(cfg)
	w.session.SetTrusted(true)
	if w.session.MCPServers()[0].State != mcp.Stopped {
		t.Error("it runs before anybody needs it")
	}
	if result := w.wait(w.start(coder())); result.Status != event.StatusCompleted {
		t.Errorf("the run ended as %+v", result)
	}
}
