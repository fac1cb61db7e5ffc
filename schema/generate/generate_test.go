package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agentls/agentls/agentcore/event"
)

const root = "../.."

func TestOutputIsFresh(t *testing.T) {
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		committed, err := os.ReadFile(filepath.Join(root, f.path))
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(strings.Split(string(committed), "\n"),
			strings.Split(string(f.content), "\n")); diff != "" {
			t.Errorf("%s is stale: run go generate ./schema (-committed +generated):\n%s", f.path, diff)
		}
	}
}

func TestRunWritesEveryOutput(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"agent.metamodel.json", "agent.table.json"} {
		source, err := os.ReadFile(filepath.Join(root, "schema", name))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, "schema", name), source)
	}
	for _, output := range outputs {
		writeFile(t, filepath.Join(dir, output.path), []byte("stale"))
	}
	if err := run(dir); err != nil {
		t.Fatal(err)
	}
	for _, output := range outputs {
		got, err := os.ReadFile(filepath.Join(dir, output.path))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) == "stale" {
			t.Errorf("%s was not written", output.path)
		}
	}
	if err := run(filepath.Join(dir, "elsewhere")); err == nil {
		t.Error("a folder without sources is no error")
	}
}

func TestMetamodelFaults(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(root, "schema/agent.metamodel.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ old, new, want string }{
		"unknown key": {`"metaData": {`, `"metaDate": {}, "metaData": {`, `unknown field "metaDate"`},
		"dangling": {
			`{"kind": "reference", "name": "RunContext"}`, `{"kind": "reference", "name": "RunContent"}`,
			`RunParams.context: there is no type "RunContent"`,
		},
		"type twice":   {`{"name": "AskList"`, `{"name": "AskAnswer"`, "the type AskAnswer is there twice"},
		"method twice": {`"method": "agent/get"`, `"method": "agent/list"`, "the method agent/list is there twice"},
		"foreign method": {
			`"method": "agent/get"`, `"method": "textDocument/get"`, `"textDocument/get" is no name of a method`,
		},
		"direction": {
			`"messageDirection": "clientToServer"`, `"messageDirection": "both"`, `agent/list: the direction "both"`,
		},
		"undocumented": {
			`"documentation": "How much it asks."`, `"documentation": ""`, "RunParams.permissionMode is no sentence",
		},
		"base type": {
			`{"kind": "base", "name": "uinteger"}`, `{"kind": "base", "name": "ulong"}`, `the base type "ulong"`,
		},
		"kind": {
			`{"kind": "stringLiteral", "value": "RunCreated"}`, `{"kind": "tuple", "items": []}`,
			`types of the kind "tuple"`,
		},
		"event's type": {
			`{"kind": "stringLiteral", "value": "RunCreated"}`, `{"kind": "stringLiteral", "value": "RunMade"}`,
			`the event "RunCreated"`,
		},
		"extends": {
			`"extends": [{"kind": "reference", "name": "AgentInfo"}]`,
			`"extends": [{"kind": "reference", "name": "Layer"}]`, `extends "Layer"`,
		},
		"closed enum": {
			`"supportsCustomValues": true`, `"supportsCustomValues": false`, "supports custom values",
		},
		"name": {`"typeName": "RunRequest"`, `"typeName": "Run"`, "does not end in Request or Notification"},
		"empty or": {
			`"kind": "or", "items": [`, `"kind": "or", "items": [], "element": [`, "read the metamodel",
		},
		"cut off":           {"]\n}\n", "]\n", "read the metamodel"},
		"something behind":  {"]\n}\n", "]\n}\n{}", "behind the document's end"},
		"property's casing": {`{"name": "timeoutMs"`, `{"name": "timeout_ms"`, "timeout_ms is no name of a property"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := strings.Replace(string(source), test.old, test.new, 1)
			if broken == string(source) {
				t.Fatalf("the metamodel does not hold %s", test.old)
			}
			_, err := ReadModel([]byte(broken))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, not about %q", err, test.want)
			}
		})
	}
}

func TestTableFaults(t *testing.T) {
	m, _ := sources(t)
	source, err := os.ReadFile(filepath.Join(root, "schema/agent.table.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ old, new, want string }{
		"type":         {`"RunID": {"go"`, `"RunId": {"go"`, `no alias or structure "RunId"`},
		"prefix":       {`"FileChange": "File"`, `"FileChanges": "File"`, `no enumeration "FileChanges"`},
		"same command": {`"agentls.permission.explain"`, `"agentls.explain"`, "agentls.explain is there twice"},
		"method":       {`"agent/explain": "agentls`, `"agent/explains": "agentls`, `no method "agent/explains"`},
		"params":       {`"params": "FixParams"`, `"params": "FixParam"`, "unknown structure"},
		"code":         {`"no_model": -32803,`, ``, `"no_model" has no code`},
		"errors of":    {`"agent/wait": [`, `"agent/await": [`, `no method or command "agent/await"`},
		"error kind":   {`"agent/wait": ["not_found"]`, `"agent/wait": ["lost"]`, `no kind "lost"`},
		"sample":       {`"Hunk.reason"`, `"Hunk.reasons"`, `no type or property "Hunk.reasons"`},
		"key":          {`"commonErrors"`, `"commonError"`, "unknown field"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := strings.Replace(string(source), test.old, test.new, 1)
			if broken == string(source) {
				t.Fatalf("the table does not hold %s", test.old)
			}
			_, err := ReadTable([]byte(broken), m)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, not about %q", err, test.want)
			}
		})
	}
}

// TestSamplesFitSchema checks the documented examples, and that the schema misses each member that
// has to be there.
func TestSamplesFitSchema(t *testing.T) {
	m, table := sources(t)
	all := map[string]*jsonschema.Schema{}
	for _, s := range m.Structures {
		all[s.Name] = &jsonschema.Schema{Ref: "#/$defs/" + s.Name}
	}
	for _, e := range m.Enumerations {
		all[e.Name] = &jsonschema.Schema{Ref: "#/$defs/" + e.Name}
	}
	validate := validator(t, all)
	for _, s := range m.Structures {
		example := parsed(t, sample(m, table.whole(), &Type{Kind: "reference", Name: s.Name})).(map[string]any)
		if err := validate(s.Name, example); err != nil {
			t.Errorf("the example of %s: %v", s.Name, err)
		}
		for _, p := range m.Properties(s) {
			value := example[p.Name]
			delete(example, p.Name)
			if err := validate(s.Name, example); (err == nil) != p.Optional {
				t.Errorf("%s without %s: optional is %v, and the schema says %v", s.Name, p.Name, p.Optional, err)
			}
			example[p.Name] = value
		}
	}
	for _, e := range m.Enumerations {
		for _, v := range e.Values {
			if err := validate(e.Name, v.Value); err != nil {
				t.Errorf("%s: %v", e.Name, err)
			}
		}
		if validate(e.Name, "no such value") == nil {
			t.Errorf("the schema of %s takes any value", e.Name)
		}
	}
}

// TestMessagesHaveSchemas reads the part of the schema that black-box validators use.
func TestMessagesHaveSchemas(t *testing.T) {
	m, table := sources(t)
	var document struct {
		Methods  map[string]map[string]*jsonschema.Schema `json:"methods"`
		Commands map[string]map[string]*jsonschema.Schema `json:"commands"`
	}
	if err := json.Unmarshal(readSchema(t), &document); err != nil {
		t.Fatal(err)
	}
	all := map[string]*jsonschema.Schema{}
	for _, messages := range []map[string]map[string]*jsonschema.Schema{document.Methods, document.Commands} {
		for name, pair := range messages {
			for part, s := range pair {
				all[name+" "+part] = s
			}
		}
	}
	validate := validator(t, all)
	checked := 0
	check := func(name, part string, typ *Type) {
		checked++
		var example any
		if !typ.isNull() {
			example = parsed(t, sample(m, table.whole(), typ))
		}
		if all[name+" "+part] == nil {
			t.Errorf("%s has no schema of its %s", name, part)
		} else if err := validate(name+" "+part, example); err != nil {
			t.Errorf("%s of %s: %v", part, name, err)
		}
		if validate(name+" "+part, 5) == nil {
			t.Errorf("%s of %s may be anything", part, name)
		}
	}
	for _, r := range m.Messages() {
		names := []string{r.Method}
		if r.ToServer() {
			names = append(names, table.CommandName(r.Method))
		}
		for _, name := range names {
			check(name, "params", r.Params)
			if r.Result != nil {
				check(name, "result", r.Result)
			}
		}
	}
	for _, c := range table.Commands {
		check(c.Command, "params", &Type{Kind: "reference", Name: c.Params})
		check(c.Command, "result", &Type{Kind: "reference", Name: c.Result})
	}
	if checked != len(all) {
		t.Errorf("the schema holds %d params and results, the metamodel %d", len(all), checked)
	}
}

// TestProtocolExamples reads the examples of each message as they stand in the documentation.
func TestProtocolExamples(t *testing.T) {
	m, _ := sources(t)
	documented, err := os.ReadFile(filepath.Join(root, "schema/PROTOCOL.md"))
	if err != nil {
		t.Fatal(err)
	}
	var schemas struct {
		Methods map[string]map[string]*jsonschema.Schema `json:"methods"`
	}
	if err := json.Unmarshal(readSchema(t), &schemas); err != nil {
		t.Fatal(err)
	}
	all := map[string]*jsonschema.Schema{}
	for name, pair := range schemas.Methods {
		for part, s := range pair {
			all[name+" "+part] = s
		}
	}
	validate := validator(t, all)
	for _, r := range m.Messages() {
		_, section, found := strings.Cut(string(documented), "\n### `"+r.Method+"`\n")
		if !found {
			t.Errorf("%s is not documented", r.Method)
			continue
		}
		section, _, _ = strings.Cut(section, "\n### ")
		blocks := strings.Split(section, "\n```json\n")[1:]
		want := 2
		if r.Result == nil || r.Result.isNull() {
			want = 1
		}
		if len(blocks) < want {
			t.Errorf("%s has %d examples, want %d", r.Method, len(blocks), want)
			continue
		}
		for i, part := range []string{"params", "result"}[:want] {
			text, _, _ := strings.Cut(blocks[i], "\n```")
			var message struct {
				Method string `json:"method"`
				Params any    `json:"params"`
			}
			var value any
			var err error
			if part == "params" {
				err = json.Unmarshal([]byte(text), &message)
				if value = message.Params; err == nil && message.Method != r.Method {
					t.Errorf("the example of %s is of %s", r.Method, message.Method)
				}
			} else {
				err = json.Unmarshal([]byte(text), &value)
			}
			if err == nil {
				err = validate(r.Method+" "+part, value)
			}
			if err != nil {
				t.Errorf("%s of %s: %v\n%s", part, r.Method, err, text)
			}
		}
	}
}

// TestEventRoundTrip sends each event's documented example through the schema and through Go. The
// examples have all members, so that one which Go lacks is missed.
func TestEventRoundTrip(t *testing.T) {
	m, table := sources(t)
	validate := validator(t, map[string]*jsonschema.Schema{"Event": {Ref: "#/$defs/Event"}})
	for _, s := range m.Events() {
		example := parsed(t, sample(m, table.whole(), &Type{Kind: "reference", Name: s.Name}))
		if err := validate("Event", example); err != nil {
			t.Errorf("the example of %s: %v", s.Name, err)
		}
		raw, err := json.Marshal(example)
		if err != nil {
			t.Fatal(err)
		}
		var e event.Event
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if _, unknown := e.Body.(event.Unknown); unknown || e.Body.EventType() != s.Name {
			t.Errorf("%s became %#v", s.Name, e.Body)
		}
		if diff := cmp.Diff(example, parsed(t, e)); diff != "" {
			t.Errorf("%s changed on its way through Go (-in +out):\n%s", s.Name, diff)
		}
	}
}

// TestZeroEventsFitSchema: what the engine leaves empty is still of the documented form.
func TestZeroEventsFitSchema(t *testing.T) {
	m, table := sources(t)
	validate := validator(t, map[string]*jsonschema.Schema{"Event": {Ref: "#/$defs/Event"}})
	for _, s := range m.Events() {
		body, err := event.DecodeBody(s.Name, json.RawMessage("{}"))
		if err != nil {
			t.Fatal(err)
		}
		zero := parsed(t, event.Event{Session: "s", Body: body})
		// Only the words of enumerations and literals cannot be empty.
		fill(zero, parsed(t, sample(m, table.whole(), &Type{Kind: "reference", Name: s.Name})))
		if err := validate("Event", zero); err != nil {
			t.Errorf("an empty %s: %v", s.Name, err)
		}
	}
}

// fill puts the example's words in the place of empty strings.
func fill(zero, example any) {
	object, _ := zero.(map[string]any)
	from, _ := example.(map[string]any)
	for name, value := range object {
		if value == "" {
			object[name] = from[name]
		} else {
			fill(value, from[name])
		}
	}
}

func sources(t *testing.T) (*Model, *Table) {
	t.Helper()
	m, table, err := read(root)
	if err != nil {
		t.Fatal(err)
	}
	return m, table
}

func readSchema(t *testing.T) []byte {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(root, "schema/agent.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// validator checks values with the named schemas, which may refer to the committed definitions.
// They are resolved once, together.
func validator(t *testing.T, named map[string]*jsonschema.Schema) func(name string, value any) error {
	t.Helper()
	s := &jsonschema.Schema{}
	if err := json.Unmarshal(readSchema(t), s); err != nil {
		t.Fatal(err)
	}
	resolved, err := (&jsonschema.Schema{Properties: named, Defs: s.Defs}).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(name string, value any) error { return resolved.Validate(map[string]any{name: value}) }
}

// parsed returns a value as encoding/json reads it back.
func parsed(t *testing.T, value any) any {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}
