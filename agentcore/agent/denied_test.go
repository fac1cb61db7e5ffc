package agent

import (
	"slices"
	"testing"
)

// TestBrokenDefinitionHasNoPower: a definition in which the text is broken is left out, whatever stood before the
// place, and those before it stay.
func TestBrokenDefinitionHasNoPower(t *testing.T) {
	const whole = `{"name": "whole", "description": "d", "prompt": "p", "category": "subagent", "tools": ["read"]}`
	for name, text := range map[string]string{
		"a comma is missing": `{"agents": [` + whole +
			`, {"name": "cut", "description": "d", "prompt": "p", "category": "subagent" "tools": ["read"]}]}`,
		"it ends": `{"agents": [` + whole +
			`, {"name": "cut", "description": "d", "prompt": "p", "category": "subagent",`,
		"in a list": `[` + whole +
			`, {"agent_type": "cut", "when_to_use": "d", "system_prompt": "p"; "tools": ["read"]}]`,
	} {
		f := Parse("agents.json", text)
		f.Validate(Known{})
		if got := usable(f); !slices.Equal(got, []string{"whole"}) {
			t.Errorf("%s: there are %q, %+v", name, got, f.Problems)
		}
	}
	f := Parse("agents/cut.json", `{"agent_type": "cut", "when_to_use": "d", "system_prompt": "p" "tools": ["read"]}`)
	f.Validate(Known{})
	if got := usable(f); len(got) > 0 {
		t.Errorf("alone in its file: there are %q", got)
	}
}

// usable are the agents of a file that may be started.
func usable(f *File) []string {
	var list []string
	for _, d := range f.Definitions {
		if !f.bad[d] {
			list = append(list, d.Slug)
		}
	}
	return list
}

// TestEveryToolIsDenied: a star takes all tools away, as it gives them.
func TestEveryToolIsDenied(t *testing.T) {
	d := &Definition{DisallowedTools: []string{"*"}}
	for _, tool := range []string{"read", "bash", "edit", "mcp__docs__search"} {
		if d.Allows(tool) {
			t.Errorf("%s is allowed", tool)
		}
	}
}
