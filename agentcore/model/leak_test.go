package model_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/model"
)

func TestLeakedCall(t *testing.T) {
	offered := func(name string) bool { return slices.Contains([]string{"read", "Read", "bash", "grep"}, name) }
	for text, want := range map[string]string{
		`<tool_call>{"name": "read", "arguments": {"path": "a.go"}}</tool_call>`: "read",
		"I look.\n<tool_call>\n{\"arguments\": {\"path\": \"a.go\"}, \"name\": " +
			"\"Read\"}\n</tool_call>": "Read",
		"<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": " +
			"\"a.go\"}}": "read",
		"<function=read>{\"path\": " +
			"\"a.go\"}</function>": "read",
		"<tool_call>\n<function=grep>\n<parameter=pattern>\nx\n</parameter>\n</function>\n</tool_call>": "grep",
		"<function_calls>\n<invoke name=\"bash\">\n<parameter " +
			"name=\"command\">ls</parameter>\n</invoke>": "bash",
		`[TOOL_CALLS][{"name": "read", "arguments": {"path": "a.go"}}]`:                                                  "read",
		`[TOOL_CALLS]read[ARGS]{"path": "a.go"}`:                                                                         "read",
		`<|python_tag|>{"name": "read", "parameters": {"path": "a.go"}}`:                                                 "read",
		"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n```json\n{}\n```":                              "read",
		"<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{}<|tool_call_end|>": "read",
		`<|channel|>commentary to=functions.read <|message|>{"path":"a.go"}`:                                             "read",
		"Let me see:\n```json\n{\"tool\": \"read\", \"path\": " +
			"\"a.go\"}\n```": "read",
		"```\n{\"name\": \"read\", \"arguments\": " +
			"{}}\n```\n": "read",
		`{"name": "read", "parameters": {"path": "a.go"}}`: "read",

		"":                  "",
		"The file is fine.": "",
		"A call looks like `<tool_call>{\"name\": \"read\"}</tool_call>` there, which the parser takes.":      "",
		"<tool_call>{\"name\": \"unheard\", \"arguments\": {}}</tool_call>":                                   "",
		"The settings:\n```json\n{\"name\": \"read\", \"version\": 2}\n```":                                   "",
		"The settings:\n```json\n{\"tool\": \"read\"}\n```\nThat is all that the file holds about it, I say.": "",
		`{"name": "x", "arguments": {}}`:   "",
		"Use <function=other>x</function>": "",
		"func f() {\n\treturn read(x)\n}":  "",
	} {
		leak, found := model.LeakedCall(text, offered)
		if leak.Name != want || found != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", text, leak.Name, found, want)
		}
		if json := strings.HasPrefix(text, "{") || strings.Contains(text, "```\n{") ||
			strings.Contains(text, "```json\n{\"tool"); found && leak.Sure == json {
			t.Errorf("%q: it is sure: %v", text, leak.Sure)
		}
	}
}
