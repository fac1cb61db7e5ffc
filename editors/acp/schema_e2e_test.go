//go:build e2e

package acp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// The published schema is not in this repository. `make e2e` fetches it with the protocol's own library, whose folder
// AGENTLS_ACP names: then each frame of each test is held to it, in both directions.
func init() {
	data, err := os.ReadFile(filepath.Join(os.Getenv("AGENTLS_ACP"), "schema", "v1", "schema.json"))
	if err != nil {
		panic(fmt.Sprintf("read the schema of ACP in the folder AGENTLS_ACP: %v; run `make e2e`", err))
	}
	held, err := schemasOf(data)
	if err != nil {
		panic(err)
	}
	judge = held.judge
}

// schemas are those of messages, by method and part: params or result.
type schemas map[string]*jsonschema.Resolved

// schemasOf reads the published schema. Members that it does not name are faults, unlike there.
func schemasOf(data []byte) (schemas, error) {
	var document object
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	defs, _ := document["$defs"].(object)
	parts := map[string]bool{}
	variants(document, false, parts)
	held := schemas{}
	for name, def := range defs {
		def, _ := def.(object)
		if def["properties"] != nil && !parts[name] || name == "SessionUpdate" || name == "ContentBlock" {
			def["unevaluatedProperties"] = false
		}
	}
	for name, def := range defs {
		method, _ := def.(object)["x-method"].(string)
		part := "params"
		if strings.HasSuffix(name, "Response") {
			part = "result"
		}
		if method == "" {
			continue
		}
		raw, err := json.Marshal(object{"$ref": "#/$defs/" + name, "$defs": defs})
		if err != nil {
			return nil, err
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(raw, &schema); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if held[method+" "+part], err = schema.Resolve(nil); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return held, nil
}

// variants collects the definitions that are a part of a larger object.
func variants(value any, variant bool, parts map[string]bool) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			variants(one, variant, parts)
		}
	case object:
		for key, inner := range v {
			if ref, ok := inner.(string); ok && key == "$ref" && variant {
				parts[strings.TrimPrefix(ref, "#/$defs/")] = true
			}
			variants(inner, key == "allOf" && variant || key == "oneOf" || key == "anyOf", parts)
		}
	}
}

// judge holds a frame to the schema. method is that of the request that an answer is to.
func (s schemas) judge(f frame, method string) error {
	if f.object["jsonrpc"] != "2.0" {
		return fmt.Errorf("jsonrpc is %v", f.object["jsonrpc"])
	}
	if failure := f.object["error"]; failure != nil {
		held, _ := failure.(object)
		if _, ok := held["code"].(float64); !ok || held["message"] == "" {
			return fmt.Errorf("the error is %s", text(failure))
		}
		return nil
	}
	part := "params"
	if f.object["method"] == nil {
		part = "result"
	}
	schema := s[method+" "+part]
	if schema == nil {
		return fmt.Errorf("there is no %s of %s", part, method)
	}
	return schema.Validate(f.object[part])
}

// TestJudge shows that the schema is one that frames can fail.
func TestJudge(t *testing.T) {
	call := object{"sessionUpdate": "tool_call", "toolCallId": "c", "title": "read a.go", "status": "in_progress"}
	for name, change := range map[string]func(){
		"":                   func() {},
		"an unknown member":  func() { call["state"] = "x" },
		"an unknown status":  func() { call["status"] = "running" },
		"an unknown update":  func() { call["sessionUpdate"] = "tool_called" },
		"no title":           func() { delete(call, "title") },
		"a wrong location":   func() { call["locations"] = []any{object{"file": "/a"}} },
		"a wrong line":       func() { call["locations"] = []any{object{"path": "/a", "line": "3"}} },
		"content of no kind": func() { call["content"] = []any{object{"type": "text", "text": "x"}} },
	} {
		former := maps.Clone(call)
		change()
		err := judge(frame{object: object{
			"jsonrpc": "2.0", "method": "session/update", "params": object{"sessionId": "s", "update": call},
		}}, "session/update")
		if (err == nil) != (name == "") {
			t.Errorf("with %q the schema says %v", name, err)
		}
		call = former
	}
}
