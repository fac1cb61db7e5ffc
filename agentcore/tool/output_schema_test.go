package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/tool"
)

// TestOutputSchemaIsRefused checks what is no schema of an object.
func TestOutputSchemaIsRefused(t *testing.T) {
	for raw, want := range map[string]string{
		``:                              "it is not JSON",
		`{`:                             "it is not JSON",
		`[]`:                            "it is no JSON object",
		`true`:                          "it is no JSON object",
		`{"type":"array"}`:              "its root describes no object",
		`{"type":["object","null"]}`:    "its root describes no object",
		`{"type":5}`:                    "it is no JSON Schema",
		`{"properties":{"a":[]}}`:       "it is no JSON Schema",
		`{"$ref":"http://host/a.json"}`: "it is no JSON Schema",
		`{"pattern":"("}`:               "it is no JSON Schema",
		`{"description":"` + strings.Repeat("x", tool.MaxOutputSchema) + `"}`: "at most 16384 are taken",
	} {
		if _, err := tool.ReadOutputSchema(json.RawMessage(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", raw, err, want)
		}
	}
}

// TestOutputSchemaReads finds the object in what models answer, and says what does not fit.
func TestOutputSchemaReads(t *testing.T) {
	s, err := tool.ReadOutputSchema(json.RawMessage(`{
		"type": "object", "required": ["name"], "additionalProperties": false,
		"properties": {"name": {"type": "string"}, "size": {"type": "integer", "minimum": 1}}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	if told := s.Told(); !strings.Contains(told, `{"type":"object","required":["name"]`) {
		t.Errorf("told %s", told)
	}
	const large = "{\"name\": \"a\",\n \"size\": 12345678901234567890}" // no float64 has this size
	for answer, want := range map[string]string{
		`{"name":"a"}`: `{"name":"a"}`,
		"Here it is:\n```json\n" + large + "\n```\nDone.": large,
		"{not JSON}\n  {\"name\":\"b\"} and more":         `{"name":"b"}`,
		"{\"other\":1}\n{\"name\":\"second\"}":            `{"name":"second"}`,
		"":                                                "it holds no JSON object",
		"Nothing.":                                        "it holds no JSON object",
		`["name"]`:                                        "it holds no JSON object",
		`{"name":"a"`:                                     "it holds no JSON object",
		`{"size":1}`:                                      "name",
		`{"name":"a","size":0}`:                           "minimum",
		`{"name":"a","more":0}`:                           "more",
		`{"name":"a","size":"x"}`:                         "size",
		strings.Repeat(" ", 1<<20) + `{"name":"a"}`: "at most",
	} {
		got, err := s.Read(answer)
		if strings.HasPrefix(want, "{") {
			if err != nil || string(got) != want {
				t.Errorf("%q: %s, %v", answer, got, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %s, %v, want %q", answer, got, err, want)
		}
	}
}
