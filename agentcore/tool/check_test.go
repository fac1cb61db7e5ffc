package tool

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

func builtin(t testing.TB, name string) Tool {
	t.Helper()
	for _, tool := range Builtin() {
		if tool.Spec().Name == name {
			return tool
		}
	}
	t.Fatalf("no tool %s", name)
	return nil
}

func TestCheckMends(t *testing.T) {
	for _, test := range []struct{ name, tool, raw, want string }{
		{"right as it is", "read", `{"path":"a.go","offset":1}`, `{"path":"a.go","offset":1}`},
		{"spacing stays", "read", ` { "path" : "a.go" } `, ` { "path" : "a.go" } `},
		{"number in a string", "read", `{"path":"a.go","limit":"10"}`, `{"limit":10,"path":"a.go"}`},
		{"number with a point", "read", `{"path":"a.go","limit":3.0}`, `{"limit":3,"path":"a.go"}`},
		{"number with an exponent", "read", `{"path":"a.go","limit":1e2}`, `{"limit":100,"path":"a.go"}`},
		{"number with a point in a string", "read", `{"path":"a.go","limit":"3.0"}`, `{"limit":3,"path":"a.go"}`},
		{"null for an optional", "read", `{"path":"a.go","limit":null,"offset":null}`, `{"path":"a.go"}`},
		{
			"camelCase", "edit", `{"path":"a","oldString":"x","newString":"y","replaceAll":true}`,
			`{"new_string":"y","old_string":"x","path":"a","replace_all":true}`,
		},
		{
			"kebab-case", "edit", `{"path":"a","old-string":"x","new-string":"y"}`,
			`{"new_string":"y","old_string":"x","path":"a"}`,
		},
		{
			"usual other names", "edit", `{"file_path":"a","old_str":"x","new_str":"y"}`,
			`{"new_string":"y","old_string":"x","path":"a"}`,
		},
		{"usual other name in camelCase", "read", `{"filePath":"a"}`, `{"path":"a"}`},
		{
			"boolean in a string", "edit", `{"path":"a","old_string":"x","new_string":"y","replace_all":"True"}`,
			`{"new_string":"y","old_string":"x","path":"a","replace_all":true}`,
		},
		{"object in a string", "read", `"{\"path\":\"a.go\"}"`, `{"path":"a.go"}`},
		{"no arguments", "list", ``, `{}`},
		{"null arguments", "list", `null`, `{}`},
		{
			"an array in a string", "todo", `{"items":"[{\"text\":\"a\",\"state\":\"done\"}]"}`,
			`{"items":[{"state":"done","text":"a"}]}`,
		},
		{
			"the short name of a value", "task", `{"role":"explore","task":"p","thoroughness":"thorough"}`,
			`{"prompt":"p","subagent_type":"explore","thoroughness":"very thorough"}`,
		},
		{"one text for a list of them", "task_status", `{"id":"r1"}`, `{"ids":["r1"]}`},
		{
			"names of members and values in items", "todo",
			`{"todos":[{"content":"a","status":"completed"},{"text":"b","state":"In-Progress"}]}`,
			`{"items":[{"state":"done","text":"a"},{"state":"in_progress","text":"b"}]}`,
		},
		{
			"an object inside, in a string", "report_finding",
			`{"path":"a","line":"1","message":"m","severity":"Error","fix":"{\"old_string\":\"x\",\"new_string\":\"y\"}"}`,
			`{"fix":{"new_string":"y","old_string":"x"},"line":1,"message":"m","path":"a","severity":"error"}`,
		},
		{
			"a text that is JSON stays text", "write", `{"path":"a.json","content":"{\"a\":1}"}`,
			`{"path":"a.json","content":"{\"a\":1}"}`,
		},
		{"no HTML escapes", "write", `{"file":"a","content":"<a> & b"}`, `{"content":"<a> & b","path":"a"}`},
		{
			"whole beyond 2^53 stays exact", "read", `{"path":"a","offset":9007199254740993}`,
			`{"path":"a","offset":9007199254740993}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Check(builtin(t, test.tool), json.RawMessage(test.raw))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, test := range []struct {
		name, tool, raw string
		says            []string
	}{
		{"no JSON", "read", `{"path":`, []string{"not JSON", "ends in the middle", `{"path":"main.go"`}},
		{"two values", "read", `{"path":"a"}{}`, []string{"not JSON", "follows"}},
		{"an array", "read", `["a"]`, []string{"expected an object"}},
		{"a text", "read", `"a.go"`, []string{"expected an object"}},
		{"nothing where something is required", "read", ``, []string{"path: missing"}},
		{"required null", "read", `{"path":null}`, []string{"path: null does not fit; expected a string"}},
		{"wrong type", "read", `{"path":["a"]}`, []string{"path: ", "expected a string"}},
		{"not whole", "read", `{"path":"a","limit":1.5}`, []string{"limit: 1.5 does not fit; expected a whole number"}},
		{"no number", "read", `{"path":"a","limit":"ten"}`, []string{`limit: "ten" does not fit`}},
		{"huge", "read", `{"path":"a","limit":1e999999}`, []string{"limit: ", "does not fit"}},
		{"below the minimum", "read", `{"path":"a","limit":0}`, []string{"limit: 0 is out of range", "at least 1"}},
		{"unknown", "read", `{"path":"a","colour":"red"}`, []string{"colour: unknown", "known: path, offset, limit"}},
		{"mistyped", "read", `{"path":"a","limt":3}`, []string{"limt: unknown; did you mean limit?"}},
		{"a member twice in two spellings", "read", `{"path":"a","file_path":"b"}`, []string{"file_path: unknown"}},
		{"an aliased member twice", "read", `{"file":"a","filePath":"b"}`, []string{"filePath: unknown"}},
		{
			"an enum", "report_finding", `{"path":"a","line":1,"message":"m","severity":"blue"}`,
			[]string{`severity: "blue" is not allowed; expected one of error, warning, information, hint`},
		},
		{
			"all at once, inside too", "todo", `{"items":[{"text":1,"state":"done"},{"state":"later"}],"x":1}`,
			[]string{
				"items[0].text: 1 does not fit", "items[1].state:", "items[1].text: missing", "x: unknown",
				"a right call: {",
			},
		},
		{"null for an array", "todo", `{"items":null}`, []string{"items: null does not fit; expected an array"}},
		{"null in an array", "todo", `{"items":[null]}`, []string{"items[0]: null does not fit; expected an object"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Check(builtin(t, test.tool), json.RawMessage(test.raw))
			if err == nil {
				t.Fatalf("accepted as %s", got)
			}
			for _, part := range append(test.says, "the arguments of "+test.tool+" are wrong", "a right call:") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

// foreign is a tool whose schema is not ours, as that of an MCP server.
type foreign string

func (f foreign) Spec() Spec { return Spec{Name: "foreign", Schema: json.RawMessage(f)} }

func (foreign) Title(json.RawMessage) string { return "foreign" }

func (foreign) Decode(arguments json.RawMessage) (Call, error) {
	return Call{Arguments: arguments}, nil
}

func TestCheckForeignSchema(t *testing.T) {
	tool := foreign(
		`{"type":"object","properties":{"maxCount":{"type":["integer","null"]},"ratio":{"type":"number"},"kind":{"anyOf":[{"type":"string","pattern":"^a"},{"type":"boolean"}]}},"required":["kind"]}`)
	for raw, want := range map[string]string{
		`{"kind":"ab","maxCount":null,"extra":[1]}`: `{"kind":"ab","maxCount":null,"extra":[1]}`,
		`{"kind":true,"max_count":3}`:               `{"kind":true,"maxCount":3}`,
		`{"kind":true,"ratio":"1.5"}`:               `{"kind":true,"ratio":1.5}`,
	} {
		if got, err := Check(tool, json.RawMessage(raw)); err != nil || string(got) != want {
			t.Errorf("Check(%s) = %s, %v; want %s", raw, got, err, want)
		}
	}
	for _, raw := range []string{
		`{}`, `{"kind":"b"}`, `{"kind":1}`, `{"kind":"a","maxCount":"x"}`,
		`{"kind":"a","ratio":1e400}`,
	} {
		if got, err := Check(tool, json.RawMessage(raw)); err == nil ||
			!strings.Contains(err.Error(), `a right call: {"kind":`) {
			t.Errorf("Check(%s) = %s, %v; want a fault with an example", raw, got, err)
		}
	}
	if _, err := Check(foreign(`{"type":7}`), json.RawMessage(`{}`)); err == nil ||
		!strings.Contains(err.Error(), "schema") {
		t.Errorf("a broken schema gave %v", err)
	}
}

// TestSpecs: what models are sent is complete, stable and small.
func TestSpecs(t *testing.T) {
	size := 0
	var names []string
	for _, tool := range Builtin() {
		spec := tool.Spec()
		names = append(names, spec.Name)
		size += len(spec.Name) + len(spec.Description) + len(spec.Schema)
		var schema jsonschema.Schema
		if err := json.Unmarshal(spec.Schema, &schema); err != nil {
			t.Fatalf("%s: %v", spec.Name, err)
		}
		described(t, spec.Name, &schema)
		if _, err := Check(tool, json.RawMessage(`{"no_such_member": 1}`)); err == nil ||
			!strings.Contains(err.Error(), "no_such_member") {
			t.Errorf("%s takes unknown members: %v", spec.Name, err)
		}
		if !bytes.Equal(spec.Schema, tool.Spec().Schema) ||
			!bytes.Equal(spec.Schema, builtin(t, spec.Name).Spec().Schema) {
			t.Errorf("%s: the schema varies", spec.Name)
		}
		if got := tool.Title(json.RawMessage(`{"broken`)); got == "" || strings.ContainsAny(got, "\n") {
			t.Errorf("%s: the title of a broken call is %q", spec.Name, got)
		}
		own, ok := tool.(interface{ checked() *shape })
		if !ok {
			t.Fatalf("%s is not made by New", spec.Name)
		}
		// The example is a right call.
		if _, err := Check(tool, json.RawMessage(own.checked().example)); err != nil {
			t.Errorf("%s: its example: %v", spec.Name, err)
		}
	}
	want := []string{
		"read", "glob", "grep", "list", "edit", "write", "patch", "notebook_edit", "bash", "bash_output",
		"bash_kill", "diagnostics", "symbols", "report_finding", "todo", "webfetch", "websearch", "skill", "task",
		"task_status", "task_output", "task_wait", "task_send", "task_cancel", "question", "plan_enter", "plan_exit",
		"submit_result", "statusline", "remember",
	}
	if !slices.Equal(names, want) {
		t.Errorf("Builtin is %v, want %v", names, want)
	}
	if size > 9600 {
		t.Errorf("the tools take %d bytes of each request", size)
	}
}

// telling are the members whose names say all.
var telling = []string{
	"path", "command", "id", "ids", "text", "state", "name", "message", "severity", "end_line", "edits", "old_string",
	"new_string", "replace_all",
	"new_source", "patch", "cell_type", "subagent_type", "max_turns", "allowed_tools", "context_files",
	"success_criteria", "thoroughness", "mode",
	"files_modified", "files_created", "tests_run", "tests_passed", "suggestions", "questions", "question", "options",
	"label", "description", "multiple", "reason", "plan", "status",
	"items", "fix", "model", "cell_id", "url", "query", "kind", "content", "line", "column",
	"limit", "depth", "rule", "run_in_background", "wait_ms",
}

// described checks that every member says what it is, by its name at least.
func described(t *testing.T, path string, schema *jsonschema.Schema) {
	t.Helper()
	if schema.Type == "" || len(schema.Types) > 0 {
		t.Errorf("%s has no single type", path)
	}
	if schema.Type == "array" {
		described(t, path+"[]", schema.Items)
	}
	if schema.Type != "object" {
		return
	}
	for name, member := range schema.Properties {
		if member.Description == "" && !slices.Contains(telling, name) {
			t.Errorf("%s.%s has no description", path, name)
		}
		described(t, path+"."+name, member)
	}
}

func TestTitle(t *testing.T) {
	for _, test := range []struct{ tool, raw, want string }{
		{"read", `{"path":"a.go"}`, "read a.go"},
		{"patch", `{"patch":"*** Add File: a\n+x\n*** Delete File: b\n"}`, "patch a and 1 more"},
		{"patch", `{"patch":"x"}`, "patch"},
		{"notebook_edit", `{"path":"a.ipynb"}`, "edit notebook a.ipynb"},
		{"grep", `{"pattern":"x"}`, "search x"},
		{"grep", `{"pattern":"x","path":"lib"}`, "search x in lib"},
		{"glob", `{"pattern":"*.go"}`, "find *.go"},
		{"list", `{}`, "list"},
		{"report_finding", `{"path":"a","line":3,"message":"two\nlines"}`, "finding at a:3: two lines"},
		{"todo", `{"items":[{"text":"a","state":"done"},{"text":"b","state":"pending"}]}`, "todo 1 of 2 done"},
	} {
		if got := builtin(t, test.tool).Title(json.RawMessage(test.raw)); got != test.want {
			t.Errorf("the title of %s %s is %q, want %q", test.tool, test.raw, got, test.want)
		}
	}
	long := builtin(t, "read").Title(json.RawMessage(`{"path":"` + strings.Repeat("é", 500) + `"}`))
	if n := len([]rune(long)); n != titleLimit {
		t.Errorf("a long title has %d characters", n)
	}
}

// FuzzCheck: Check takes anything; what it accepts fits the schema, is accepted again unchanged, and can
// be decoded.
func FuzzCheck(f *testing.F) {
	for _, tool := range Builtin() {
		f.Add(tool.Spec().Name, tool.(interface{ checked() *shape }).checked().example)
	}
	f.Add("read", `{"file_path":"a","limit":"1e3","offset":null}`)
	f.Add("edit", `"{\"path\":\"a\",\"oldString\":\"x\",\"new_str\":\"\"}"`)
	f.Add("todo", `{"todos":"[{\"content\":\"a\",\"status\":\"completed\"}]"}`)
	f.Add("report_finding", `{"path":"a","line":1,"message":"","fix":null,"end_line":1e400}`)
	f.Fuzz(func(t *testing.T, name, raw string) {
		canonical, ok := Resolve(name)
		if !ok {
			return
		}
		i := slices.IndexFunc(Builtin(), func(tool Tool) bool { return tool.Spec().Name == canonical })
		if i < 0 {
			return
		}
		tool := Builtin()[i]
		got, err := Check(tool, json.RawMessage(raw))
		if err != nil {
			if !strings.Contains(err.Error(), "a right call: ") {
				t.Fatalf("the error shows no right call: %v", err)
			}
			return
		}
		s := tool.(interface{ checked() *shape }).checked()
		var value any
		decoder := json.NewDecoder(bytes.NewReader(got))
		decoder.UseNumber()
		if err := decoder.Decode(&value); err != nil {
			t.Fatalf("Check(%q) = %q is not JSON: %v", raw, got, err)
		}
		if err := s.resolved.Validate(plain(value)); err != nil {
			t.Fatalf("Check(%q) = %q does not fit the schema: %v", raw, got, err)
		}
		again, err := Check(tool, got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("Check(%q) = %q, checked again %q, %v", raw, got, again, err)
		}
	})
}

// TestBrief tells tools apart without their schemas, which only a request needs, and has what judges calls made ready
// by the first call.
func TestBrief(t *testing.T) {
	type unschemed struct{ C chan int }
	if got := Brief(New(Definition[unschemed, any]{Name: "x"})); got.Name != "x" || got.Schema != nil {
		t.Errorf("%+v", got)
	}
	for _, tool := range Builtin() {
		want := tool.Spec()
		want.Schema = nil
		if got := Brief(tool); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	type arguments struct{ Path string }
	own := New(Definition[arguments, any]{Name: "y"}).(*defined[arguments, any])
	if own.Spec(); own.inferred().resolved != nil {
		t.Error("what judges calls was made ready for a request")
	}
	if _, err := Check(own, json.RawMessage(`{"Path":"a"}`)); err != nil || own.inferred().resolved == nil {
		t.Errorf("a call is not judged: %v", err)
	}
	if got := Brief(foreign(`{}`)); got.Name != "foreign" || got.Schema != nil {
		t.Errorf("%+v", got)
	}
}

// BenchmarkNew is what the tools cost at the program's start; BenchmarkSpec what they cost at first use.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		Builtin()
	}
}

func BenchmarkSpec(b *testing.B) {
	for b.Loop() {
		for _, tool := range Builtin() {
			tool.Spec()
		}
	}
}
