package servers_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/config"
	"github.com/agentls/agentls/agentcore/fault"
	"github.com/agentls/agentls/agentcore/mcp"
	"github.com/agentls/agentls/agentcore/mcp/mcptest"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/servers"
	"github.com/agentls/agentls/agentcore/workspace"
)

func TestMain(m *testing.M) {
	sandbox.Dispatch()
	mcptest.Dispatch()
	goleak.VerifyTestMain(m)
}

const watchdog = 4 * time.Minute

// session are the servers of a session on a folder, which the user trusts while trusted says so, and a run without a
// sandbox.
func session(t *testing.T, trusted *bool) (s *servers.Set, c servers.Caller, dir, marks string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	view, err := workspace.Open([]workspace.Root{{Path: dir, Name: "w"}}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := view.Close(); err != nil {
			t.Error(err)
		}
	})
	proposal := view.NewProposal(workspace.ProposalOptions{ID: "p1"})
	t.Cleanup(proposal.Close)
	state, redactor := t.TempDir(), &secret.Redactor{}
	marks = filepath.Join(state, "servers")
	s = servers.New(servers.Setup{
		Session: "s1", View: view, Proposal: proposal, Trusted: func() bool { return *trusted },
		Named:  func([]string, map[string]string) string { return "" },
		Getenv: os.Getenv, Redactor: redactor, Marks: marks, Patience: watchdog, Logger: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(s.Close)
	return s, servers.Caller{
		Sandbox: command.Sandbox{ID: "r1", Off: true, View: view, Redactor: redactor},
		Level:   func() permission.Level { return permission.None },
	}, dir, marks
}

// configured are servers by name.
func configured(t *testing.T, list map[string]config.MCPServer) (*config.Config, []servers.Server) {
	t.Helper()
	cfg := config.Default()
	cfg.MCP = list
	found, problems := servers.Configured(cfg)
	if len(problems) > 0 {
		t.Errorf("the problems are %q", problems)
	}
	return cfg, found
}

// TestServerOfASession: a server is started once, offers its tools, answers for its prompts, is known by a mark as long
// as it runs, and ends with the session.
func TestServerOfASession(t *testing.T) {
	trusted := true
	s, caller, dir, marks := session(t, &trusted)
	cfg, list := configured(t, map[string]config.MCPServer{
		"srv":  {Command: mcptest.Program(t, dir), Env: map[string]string{mcptest.Variable: "good"}},
		"none": {Command: filepath.Join(dir, "is-not-there")},
	})
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	first, again := s.Await(ctx, caller, list), s.Await(ctx, caller, list)
	if len(first) != 2 || first[0].Server.Name != "none" || first[0].Err == nil || first[1].Err != nil ||
		again[1].Client != first[1].Client {
		t.Fatalf("they are %+v, then %+v", first, again)
	}
	var names []string
	for _, tool := range first[1].Client.Tools(first[1].Catalog) {
		names = append(names, tool.Spec().Name)
	}
	for _, want := range []string{"mcp__srv__echo", "mcp__srv__list_resources", "mcp__srv__read_resource"} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no %s among %q", want, names)
		}
	}
	if noted, err := os.ReadDir(marks); err != nil || len(noted) != 1 || noted[0].Name() != "s1-srv-1" {
		t.Errorf("noted are %v, %v", noted, err)
	}
	if err := servers.EndLeft(marks); err != nil { // what runs is not left
		t.Error(err)
	}
	states := map[string]mcp.State{}
	for _, status := range servers.Statuses(cfg, []*servers.Set{s}, nil, true, &secret.Redactor{}) {
		states[status.Name] = status.State
	}
	if states["srv"] != mcp.Ready || states["none"] != mcp.Failed {
		t.Errorf("they are %v", states)
	}
	for prompt, want := range map[string]string{
		"/mcp__other__x": "there is no MCP server", "/mcp__none__x": "is not connected",
		"/mcp__srv__x": "has no prompt",
	} {
		_, err := s.Expand(ctx, list, prompt)
		if refusal, ok := errors.AsType[*fault.Error](err); !ok || refusal.Kind != fault.InvalidRequest ||
			!strings.Contains(refusal.Detail, want) {
			t.Errorf("%s: it is %v", prompt, err)
		}
	}
	if text, err := s.Expand(ctx, list, "/review a.go"); text != "" || err != nil {
		t.Errorf("what is no prompt of a server becomes %q, %v", text, err)
	}
	s.Close()
	if noted, err := os.ReadDir(marks); err != nil || len(noted) != 0 {
		t.Errorf("noted are %v, %v", noted, err)
	}
	if left := s.Await(ctx, caller, list); left[1].Err == nil {
		t.Error("one was started after the end of the session")
	}
}

// TestServerOfAProject needs the trust of the user and walls, and is not used once the trust is gone.
func TestServerOfAProject(t *testing.T) {
	trusted := false
	s, caller, _, _ := session(t, &trusted)
	cfg, list := configured(t, map[string]config.MCPServer{
		"srv": {Command: "true", Origin: config.Origin{Layer: config.LayerProject, Shown: ".mcp.json"}},
	})
	for want, now := range map[string]bool{"which you do not trust": false, "no full sandbox to hold it": true} {
		trusted = now
		if found := s.Await(t.Context(), caller, list); found[0].Err == nil ||
			!strings.Contains(found[0].Err.Error(), want) {
			t.Errorf("trusted is %v: it is %v", now, found[0].Err)
		}
	}
	s.Distrust()
	status := servers.Statuses(cfg, []*servers.Set{s}, nil, false, &secret.Redactor{})
	if len(status) != 1 || !status[0].Untrusted || status[0].State != mcp.Stopped ||
		status[0].Layer != config.LayerProject {
		t.Errorf("it is %+v", status)
	}
}

// TestWith: a definition brings servers and names configured ones; a project's takes the name of no server of the
// user's.
func TestWith(t *testing.T) {
	_, list := configured(t, map[string]config.MCPServer{"mine": {Command: "true"}, "other": {Command: "true"}})
	definition := &agent.Definition{
		Slug: "a", Source: agent.Source{Layer: agent.LayerProject}, MCPServers: []agent.MCPServer{
			{Name: "mine", Command: []string{"evil"}},
			{Name: "own", Command: []string{"true"}},
			{Name: "other"},
			{Name: "no such"},
			{Name: "__", Command: []string{"true"}},
		},
	}
	with, problems := servers.With(list[:1], list, definition)
	var names []string
	for _, s := range with {
		names = append(names, s.Name)
	}
	if want := []string{"mine", "own", "other"}; !slices.Equal(names, want) || with[0].Project || !with[1].Project {
		t.Errorf("they are %+v", with)
	}
	if len(problems) != 3 || !strings.Contains(problems[0], "the project's is left out") ||
		!strings.Contains(problems[1], "names the MCP server no such") ||
		!strings.Contains(problems[2], "no letter or digit") {
		t.Errorf("the problems are %q", problems)
	}
	if len(list) != 2 {
		t.Error("the list was changed")
	}
}

// TestNews: the same of a server is told once.
func TestNews(t *testing.T) {
	trusted := true
	s, _, _, _ := session(t, &trusted)
	_, list := configured(t, map[string]config.MCPServer{"a": {Command: "true"}, "b": {Command: "true"}})
	for i, want := range []bool{true, false, true, true} {
		if got := s.News(list[min(i, 3)/3], []string{"x", "x", "y", "x"}[i]); got != want {
			t.Errorf("%d is news: %v", i, got)
		}
	}
}
