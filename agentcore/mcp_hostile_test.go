package agentcore_test

import (
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/mcp/mcptest"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/provider"
)

// TestMCPHostile lets agents meet servers that mean no good: the run goes on, built-in tools stay what they are, and
// the model sees nothing that people do not.
func TestMCPHostile(t *testing.T) {
	for kind, want := range map[string]string{
		"squat": "done", "hidden": "all good", "bulk": "left out", "schema": "done", "restless": "done",
		"requests": "done", "flood": "", "gone": "", "huge": "", "babble": "",
	} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.txt": "mine"})
			steps := []script.Step{call("read", `{"path":"a.txt"}`)}
			expect := []script.Expect{script.Result("read", "mine")}
			if want != "" {
				steps, expect = append(steps, srv("act", `{"text":"x"}`)), append(expect,
					script.Result("mcp__srv__act", want))
			}
			last := script.Turn{Expect: expect, Then: func(r *model.Request) []script.Step {
				for _, m := range r.Messages {
					for _, part := range m.Parts {
						if result, ok := part.(model.Result); ok {
							seen(t, result.Text)
							if len(result.Text) > 100<<10 {
								t.Errorf("the model gets %d bytes", len(result.Text))
							}
						}
					}
				}
				for _, offered := range r.Tools {
					seen(t, offered.Description+string(offered.Schema))
				}
				return []script.Step{script.Text("done")}
			}}
			if kind == "flood" {
				last.Expect, last.Times = nil, script.Any // how far it comes is not certain
			}
			w.model = script.New("test", script.Turn{Answer: steps}, last)
			w.withServer(kind, allowing)
			if result := w.wait(w.start(coder())); result.Status != event.StatusCompleted {
				t.Errorf("the run ended as %+v", result)
			}
		})
	}
}

// seen fails on a text with something that its reader does not see.
func seen(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			t.Errorf("nobody sees %U in %.200q", r, text)
			return
		}
	}
}

// TestMCPProject gives a project's servers no keys, no private address, and not the name of a server of the user's.
func TestMCPProject(t *testing.T) {
	t.Setenv("MCP_TEST_API_KEY", "a-key-of-the-user")
	web := mcptest.Serve(t, mcptest.Handler(t))
	project := config.Origin{Layer: config.LayerProject, File: "/x/.mcp.json", Shown: ".mcp.json"}
	w := newWorld(t, nil)
	w.model = script.New("test",
		script.Turn{
			Expect: []script.Expect{
				script.Tools("mcp__mine__env"),
				script.NoTools("mcp__keys__echo", "mcp__web__echo"),
			},
			Answer: []script.Step{call("mcp__mine__env", `{"text":"MINE"}`)},
		},
		script.Turn{
			Expect: []script.Expect{script.Result("mcp__mine__env", "MINE=yes")},
			Answer: []script.Step{script.Text("done")},
		},
	)
	program := mcptest.Program(t, w.dir)
	cfg := config.Default()
	cfg.Permissions = append(cfg.Permissions, config.Permission{Tool: "mcp__*", Action: "allow"})
	cfg.MCP["keys"] = config.MCPServer{
		Command: program,
		Env:     map[string]string{mcptest.Variable: "good", "K": "${MCP_TEST_API_KEY}"}, Origin: project,
	}
	cfg.MCP["web"] = config.MCPServer{URL: web, Origin: project}
	cfg.MCP["mi_ne"] = config.MCPServer{
		Command: program,
		Env:     map[string]string{mcptest.Variable: "good", "MINE": "no"}, Origin: project,
	}
	cfg.MCP["mine"] = config.MCPServer{
		Command: program,
		Env:     map[string]string{mcptest.Variable: "good", "MINE": "yes"},
	}
	cfg.MCP["__mine"] = config.MCPServer{
		Command: program,
		Env:     map[string]string{mcptest.Variable: "good", "MINE": "squatted"}, Origin: project,
	}
	w.closeEngine()
	w.openWith(agentcore.Options{
		StateDir: w.state, Config: cfg, Getenv: os.Getenv,
		OpenModel: func(provider.Choice) (model.Model, error) { return w.model, nil },
	})
	w.session.SetTrusted(true)
	id := w.start(coder())
	var told []string
	for _, e := range w.until(ended(id)) {
		if n, ok := e.Body.(event.Notice); ok {
			told = append(told, n.Message)
		}
	}
	text := strings.Join(told, "\n")
	for _, want := range []string{
		"MCP_TEST_API_KEY is not set", "no public address",
		"two MCP servers have the name mine",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it did not tell %q, but %s", want, text)
		}
	}
	if strings.Contains(text, "a-key-of-the-user") {
		t.Errorf("it told the key: %s", text)
	}
}
