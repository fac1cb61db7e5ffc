package agent_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agentls/agentls/agentcore/agent"
)

var update = flag.Bool("update", false, "write the schemas of definitions anew")

func TestSchemasAreFresh(t *testing.T) {
	for name, make := range map[string]func() ([]byte, error){
		"definition.schema.json": agent.Schema,
		"agents.schema.json":     agent.AgentsSchema,
	} {
		want, err := make()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("..", "..", "schema", name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("schema/%s is stale: run go generate ./agentcore/agent", name)
		}
	}
}

// TestSchemaAcceptsWhatTheReaderAccepts holds the schema against definitions in all their ways of writing, and against
// wrong ones.
func TestSchemaAcceptsWhatTheReaderAccepts(t *testing.T) {
	text, err := agent.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	builtin, err := agent.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	accepted := []string{
		`{"name": "x", "category": "primary", "prompt": "p", "description": "d", "tools": {"read": true}, "model": {"provider": "openai", "model": "m", "max_tokens": 3}}`,
		`{"name": "x", "category": ["subagent"], "prompt": "p", "description": "d", "tools": "read, grep", "budget": {"tokens": 10, "cost": 0.5}, "as_child": {"budget": {"cost": 1}, "agent": "y"}}`,
		`{"name": "x", "category": ["subagent"], "prompt": "p", "description": "d", "rules": [{"tool": "bash", "pattern": "git *", "action": "ask"}], "hooks": {"Stop": [{"command": ["true"], "timeout": "2s"}]}}`,
		`{"name": "x", "category": ["subagent"], "prompt": "p", "description": "d", "mcp_servers": {"a": {"command": "a", "args": ["b"]}, "c": {"url": "http://localhost"}}, "tool_options": {"bash": {"timeout": "2m", "output_limit": 100, "arguments": {"a": 1}}}}`,
	}
	for _, d := range append(builtin, whole()) {
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		accepted = append(accepted, string(text))
	}
	for _, text := range accepted {
		if file := agent.ParseAs(agent.JSON, "", text); len(file.Problems) > 0 {
			t.Errorf("%s: %v", text, file.Problems)
		}
		if err := resolved.Validate(decoded(t, text)); err != nil {
			t.Errorf("the schema refuses %s: %v", text, err)
		}
	}
	for _, text := range []string{
		`{"category": ["primary"]}`, `{"name": "x"}`, `{"name": "x", "category": ["primry"]}`,
		`{"name": "x", "category": "primary", "tolls": []}`,
		`{"name": "x", "category": "primary", "max_turns": 0}`,
		`{"name": "x", "category": "primary", "timeout": "soon"}`,
		`{"name": "x", "category": "primary", "as_child": {"max_turn": 3}}`,
	} {
		if err := resolved.Validate(decoded(t, text)); err == nil {
			t.Errorf("the schema accepts %s", text)
		}
		if file := agent.ParseAs(agent.JSON, "", text); len(file.Problems) == 0 {
			t.Errorf("the reader accepts %s", text)
		}
	}
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEveryKeyIsDocumented(t *testing.T) {
	for _, format := range []agent.Format{agent.Native, agent.Claude, agent.OpenCode, agent.TOML, agent.JSON} {
		for _, k := range agent.KeysOf(format) {
			if k.Doc == "" || k.Type == "" {
				t.Errorf("%s: %s has no documentation or type", format, k.Name)
			}
		}
	}
	for _, test := range []struct {
		format agent.Format
		field  string
		want   string
	}{
		{agent.Native, "tools.0", "tools"},
		{agent.Native, "as_child.max_turns", "as_child.max_turns"},
		{agent.Native, "tool_options.bash.timeout", "tool_options.*.timeout"},
		{agent.TOML, "rules.3.action", "rules.*.action"},
		{agent.Claude, "disallowedTools.1", "disallowed_tools"},
		{agent.Claude, "memory", "memory"},
		{agent.OpenCode, "mode", "category"},
	} {
		if k, ok := agent.KeyFor(test.format, test.field); !ok || k.Name != test.want {
			t.Errorf("the key of %s in %s is %q, want %q", test.field, test.format, k.Name, test.want)
		}
	}
	if k, ok := agent.KeyFor(agent.Native, "tolls"); ok {
		t.Errorf("tolls is the key %v", k)
	}
}
