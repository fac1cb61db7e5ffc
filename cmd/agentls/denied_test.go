package main

import (
	"strings"
	"testing"
)

// TestHintOf: the advice names each definition whose rule denied a call, once, and the configuration for the rest.
func TestHintOf(t *testing.T) {
	const byConfig, byDefinition = "rules in config.toml", "the definition of "
	for _, test := range []struct {
		reasons []string
		want    []string
	}{
		{[]string{"run rm a: denied, by deny bash(rm *) (agent boss)"}, []string{byDefinition + "boss"}},
		{[]string{"write a: denied, by deny edit (built-in planner)"}, []string{byDefinition + "mine"}},
		{[]string{"write a: denied, by deny edit(a) (user file)"}, []string{byConfig}},
		{[]string{"the user is not asked about a subagent's calls"}, []string{byConfig}},
		{
			[]string{"by deny edit(a) (agent boss)", "by deny edit(b) (agent boss)", "by deny edit(c) (project file)"},
			[]string{byDefinition + "boss", byConfig},
		},
	} {
		var calls []deniedReport
		for _, reason := range test.reasons {
			calls = append(calls, deniedReport{Agent: "mine", Reason: reason})
		}
		parts := strings.Split(hintOf(calls), "; ")
		if len(parts) != len(test.want) {
			t.Errorf("%q: got %q, want %q", test.reasons, parts, test.want)
			continue
		}
		for i, want := range test.want {
			if !strings.Contains(parts[i], want) {
				t.Errorf("%q: got %q, want %q", test.reasons, parts[i], want)
			}
		}
	}
}
