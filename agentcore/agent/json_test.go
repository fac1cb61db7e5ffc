package agent_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/permission"
)

// whole is a definition that says everything.
func whole() *agent.Definition {
	temperature := 0.25
	return &agent.Definition{
		ID: "an-id", Slug: "whole", Title: "Whole", Description: "Says everything.",
		Categories: []agent.Category{agent.Primary, agent.Subagent},
		Mode:       agent.Planning,
		Sampling:   agent.Sampling{Model: "openai/gpt-5", Temperature: &temperature, MaxTokens: 1000},
		Limits:     agent.Limits{MaxTurns: 7, Timeout: 90 * time.Second, Tokens: 5_000_000_000, Cost: 1.5},
		AsChild: agent.AsChild{
			Limits:    agent.Limits{MaxTurns: 3, Timeout: time.Minute, Tokens: 10, Cost: 0.5},
			Subagents: []string{}, Agent: "other",
		},
		Tools: []string{"read", "mcp__a__b"}, DisallowedTools: []string{"bash"},
		ToolOptions: map[string]agent.ToolOptions{"read": {
			OutputLimit: 100, Timeout: time.Second,
			Arguments: json.RawMessage(`{"limit":5}`),
		}},
		Subagents: []string{"explore"}, Permissions: "planner",
		Rules:          []permission.Rule{{Tool: "bash", Pattern: "git *", Action: "ask"}},
		PermissionMode: "accept_edits", ContextMode: "summary",
		Instruction: agent.Instruction{
			Reminder: "Careful.", Skills: []string{"go"}, Prompt: "Do {{what}} at {{time}}.\n\n\"Now\".",
			Variables: map[string]string{"what": "it"}, NoDefaultPrefix: true,
		},
		MCPServers: []agent.MCPServer{
			{Name: "a", Command: []string{"run", "it, now"}, Env: map[string]string{"K": "v"}},
			{Name: "b", URL: "http://localhost", Headers: map[string]string{"H": "v"}},
			{Name: "c"},
		},
		Hooks: []agent.Hook{{
			Event: "PreToolUse", Matcher: "bash", Command: []string{"check", "a b"},
			Timeout: 2 * time.Second,
		}},
		Aliases: []string{"all-of-it"}, Look: agent.Look{Icon: "●", Color: "#00ff00", Order: -3, Unlisted: true},
	}
}

func TestDefinitionsSurviveJSON(t *testing.T) {
	builtin, err := agent.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	minimal := &agent.Definition{
		Slug: "m", Title: "m", Description: "d", Categories: []agent.Category{agent.Subagent},
		Mode: agent.Agentic, Instruction: agent.Instruction{Prompt: "p"}, Tools: []string{}, Subagents: []string{},
	}
	for _, d := range append(builtin, whole(), minimal) {
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		file := agent.ParseAs(agent.JSON, "", string(text))
		if len(file.Problems) > 0 {
			t.Errorf("%s: %v", d.Slug, file.Problems)
		}
		if diff := cmp.Diff([]*agent.Definition{d}, file.Definitions); diff != "" {
			t.Errorf("%s is not read back as it was written (-want +got):\n%s", d.Slug, diff)
		}
	}
}
