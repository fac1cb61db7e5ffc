package tool_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/tool/tooltest"
)

const goMod = "module example.com/m\n\ngo 1.24\n"

// TestGoVet: the real go command judges what the run sees, not what lies on disk.
func TestGoVet(t *testing.T) {
	h := tooltest.New(t, map[string]string{
		"go.mod":     goMod,
		"main.go":    "package main\n\nfunc main() {}\n",
		"lib/lib.go": "package lib\n\nfunc Old() {}\n",
		"lib/two.go": "package lib\n\nfunc two() { Old() }\n",
	})
	same(t, "clean", call(t, h, "diagnostics", `{"path":"main.go"}`).Text,
		"No problems. Checked with go syntax, gofmt, go vet.")
	h.Type("main.go", "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Printf(\"é %d\\n\", \"x\")\n}\n")
	result := call(t, h, "diagnostics", `{"path":"main.go"}`)
	if !strings.HasPrefix(result.Text, "main.go:6:") ||
		!strings.Contains(result.Text,
			": warning: fmt.Printf format %d has arg \"x\" of wrong type string [go vet printf]\n") {
		t.Errorf("the printf check gave\n%s", result.Text)
	}
	same(t, "summary", result.Summary, "1 warning")
	// The go command answers from its cache now, with the names of the files that it was given before.
	same(t, "asked again", call(t, h, "diagnostics", `{"path":"main.go"}`).Text, result.Text)
	// All type errors, with what is proposed and typed in another package.
	call(t, h, "edit", `{"path":"lib/lib.go","old_string":"Old","new_string":"New"}`)
	h.Type("lib/two.go", "package lib\n\nfunc two() { New() }\n")
	h.Type("main.go",
		"package main\n\nimport \"example.com/m/lib\"\n\nfunc main() {\n\tlib.New()\n\tlib.Old()\n\tnone()\n}\n")
	same(t, "type errors", call(t, h, "diagnostics", `{"path":"main.go"}`).Text,
		"main.go:7:6: error: undefined: lib.Old [go vet compile]\nmain.go:8:2: error: undefined: none [go vet "+
			"compile]\nChecked with go syntax, gofmt, go vet.")
	// A new file belongs to its package, also one that was never saved.
	h.Type("extra.go", "package main\n\nfunc none() {}\n")
	same(t, "with a new file", call(t, h, "diagnostics", `{"path":"main.go"}`).Text,
		"main.go:7:6: error: undefined: lib.Old [go vet compile]\nChecked with go syntax, gofmt, go vet.")
	call(t, h, "write", `{"path":"lib/old.go","content":"package lib\n\nfunc Old() {}\n"}`)
	same(t, "all is well", call(t, h, "diagnostics", `{"path":"main.go"}`).Text,
		"No problems. Checked with go syntax, gofmt, go vet.")
	// It stays so when the run's layer has become the session's.
	if _, err := h.Files().Merge(); err != nil {
		t.Fatal(err)
	}
	same(t, "after the merge", call(t, h, "diagnostics", `{"path":"main.go"}`).Text,
		"No problems. Checked with go syntax, gofmt, go vet.")
	// A neighbour that does not compile is told.
	h.Type("extra.go", "package main\n\nfunc none() { nowhere() }\n")
	text := call(t, h, "diagnostics", `{"path":"main.go"}`).Text
	if !strings.Contains(text, "Could not check with go vet: it could not load the package: ") ||
		!strings.Contains(text, "extra.go:3:15: undefined: nowhere") {
		t.Errorf("a broken neighbour gave\n%s", text)
	}
}

func TestGoWithoutVet(t *testing.T) {
	h := tooltest.New(t, map[string]string{
		"go.mod":       goMod,
		"syntax.go":    "package main\n\nfunc main() {\n\tx :=\n}\n\nfunc {\n",
		"w/windows.go": "//go:build windows\n\npackage main\n",
		"broken/a.go":  "package broken\n\nimport _ \"example.com/nowhere\"\n",
		"brace.go":     "package main\n\nfunc main() {\n\tif true {\n\t}\n",
		"empty.go":     "",
	})
	text := call(t, h, "diagnostics", `{"path":"syntax.go"}`).Text
	if !strings.Contains(text, "syntax.go:5:1: error: expected operand, found '}' [go syntax]\n") ||
		strings.Contains(text, "go vet") {
		t.Errorf("a syntax error gave\n%s", text)
	}
	// What is missing at the end of a file is told at its last line, which report_finding has.
	same(t, "a brace is missing", call(t, h, "diagnostics", `{"path":"brace.go"}`).Text,
		"brace.go:5:3: error: expected '}', found 'EOF' [go syntax]\nChecked with go syntax.")
	same(t, "nothing in it", call(t, h, "diagnostics", `{"path":"empty.go"}`).Text,
		"empty.go:1:1: error: expected 'package', found 'EOF' [go syntax]\nChecked with go syntax.")
	h.Type("w/windows.go", "//go:build windows\n\npackage main\nfunc  main() {}\n")
	same(t, "formatting", call(t, h, "diagnostics", `{"path":"w/windows.go"}`).Text,
		"w/windows.go:4:1: hint: the file is not formatted as gofmt does, from this line on [gofmt]\nChecked with go "+
			"syntax, gofmt.")
	// Without the network a missing dependency is told as what it is.
	text = call(t, h, "diagnostics", `{"path":"broken/a.go"}`).Text
	if !strings.Contains(text, "example.com/nowhere") || !strings.Contains(text, "go vet") {
		t.Errorf("a missing dependency gave\n%s", text)
	}
	loose := tooltest.New(t, map[string]string{"a.go": "package a\n"})
	same(t, "no module", call(t, loose, "diagnostics", `{"path":"a.go"}`).Text,
		"No problems. Checked with go syntax, gofmt.")
}

func TestDataSyntax(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a.json", "{\"a\": [1, 2]}\n", "No problems. Checked with json."},
		{
			"a.json", "{\n  \"a\": 1,\n}\n",
			"a.json:3:1: error: invalid character '}' looking for beginning of object key string " +
				"[json]\nChecked with json.",
		},
		{
			"a.json", "{\"a\": 1}\n{}",
			"a.json:2:1: error: something follows the end of the JSON value [json]\nChecked with json.",
		},
		{"a.json", "{\"a\":", "a.json:1:6: error: the JSON value ends in the middle [json]\nChecked with json."},
		{"a.json", "// a comment\n{}\n", "No problems. No checker here judged this file."},
		{"tsconfig.json", "{,}", "No problems. No checker here judged this file."},
		{"a.toml", "[a]\nb = 1\n", "No problems. Checked with toml."},
		{"a.toml", "a = 1\nb = \n", "a.toml:2:5: error:"},
		{"a.yaml", "a: 1\n---\nb: [2]\n", "No problems. Checked with yaml."},
		{"a.yml", "a: 1\nb: [2\nc: 3\n", "a.yml:"},
		{"chart.yaml", "a: {{ .Values.x }}\n", "No problems. No checker here judged this file."},
		{"notes.txt", "anything", "No problems. No checker here judged this file."},
	} {
		h := tooltest.New(t, map[string]string{test.name: test.text})
		if got := call(t, h, "diagnostics", `{"path":"`+test.name+`"}`).Text; !strings.HasPrefix(got, test.want) {
			t.Errorf("%s with %q:\ngot  %q\nwant %q", test.name, test.text, got, test.want)
		}
	}
}

// TestRealPrograms uses the machine's interpreters where there are any, and says so where there are none.
func TestRealPrograms(t *testing.T) {
	for _, test := range []struct{ program, checker, name, good, bad, want string }{
		{
			"python3", "python", "a.py", "def f():\n    return 1\n", "def f():\n    return (1\n",
			"a.py:2:12: error: '(' was never closed [python]\n",
		},
		{
			"python3", "python", "tool", "#!/usr/bin/env python3\nx = 1\n", "#!/usr/bin/env python3\nx = = 1\n",
			"tool:2:5: error: invalid syntax [python]\n",
		},
		{
			"node", "node", "a.js", "const a = 1\n", "const é = 1\nlet x = ;\n",
			"a.js:2:9: error: Unexpected token ';' [node]\n",
		},
		{
			"node", "node", "module.js", "import a from 'a'\nexport default await a\n", "import a from 'a'\nexport {\n",
			"module.js:",
		},
		{
			"node", "node", "a.mjs", "export const a = 1\n", "with (a) {}\n",
			"a.mjs:1:1: error: Strict mode code may not include a with statement [node]\n",
		},
		{"node", "node", "a.cjs", "with (a) {}\nreturn\n", "await x\n", "a.cjs:1:"},
	} {
		h := tooltest.New(t, map[string]string{test.name: test.good})
		args := `{"path":"` + test.name + `"}`
		if _, err := exec.LookPath(test.program); err != nil {
			if text := call(t, h, "diagnostics", args).Text; !strings.Contains(text, "Not on this machine: ") ||
				!strings.Contains(text, test.checker) {
				t.Errorf("without %s: %q", test.program, text)
			}
			continue
		}
		if text := call(t, h, "diagnostics", args).Text; !strings.HasPrefix(text, "No problems. ") ||
			strings.Contains(text, "Could not") || !strings.Contains(text, test.checker) {
			t.Errorf("%s with %q: %q", test.name, test.good, text)
		}
		h.Type(test.name, test.bad)
		if text := call(t, h, "diagnostics", args).Text; !strings.HasPrefix(text, test.want) ||
			!strings.Contains(text, "["+test.checker+"]\n") {
			t.Errorf("%s with %q:\ngot  %q\nwant %q", test.name, test.bad, text, test.want)
		}
	}
}

// TestEditorDiagnostics: they come first, nothing is said twice, and they follow the run's own changes.
func TestEditorDiagnostics(t *testing.T) {
	h := tooltest.New(t, map[string]string{"a.txt": "one\ntwo\nthree\n"})
	at := func(line int, message string) tool.Diagnostic {
		return tool.Diagnostic{
			Path: h.Path("a.txt"), Span: event.Span{StartLine: line, EndLine: line, EndColumn: 3},
			Severity: event.SeverityError, Source: "server", Code: "E1", Message: message,
		}
	}
	h.Editor = []tool.Diagnostic{at(2, "on\nthree"), at(0, "on one"), at(1, "on two"), at(0, "on one")}
	same(t, "as told", call(t, h, "diagnostics", `{"path":"a.txt"}`).Text,
		"a.txt:1:1: error: on one [server E1]\na.txt:2:1: error: on two [server E1]\na.txt:3:1: error: on three "+
			"[server E1]\nNo checker here judged this file.")
	call(t, h, "edit", `{"path":"a.txt","old_string":"two\n","new_string":"2\n2b\n2c\n"}`)
	same(t, "moved", call(t, h, "diagnostics", `{"path":"a.txt"}`).Text,
		"a.txt:1:1: error: on one [server E1]\na.txt:5:1: error: on three [server E1]\nNo checker here "+
			"judged this file.")
	refused(t, h, "diagnostics", `{"path":"b.txt"}`, "does not exist")
}

func TestDiagnosticsCancelled(t *testing.T) {
	h := tooltest.New(t, map[string]string{"go.mod": goMod, "a.go": "package a\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Call(ctx, "diagnostics", `{"path":"a.go"}`); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestDiagnose(t *testing.T) {
	h := tooltest.New(t, map[string]string{"a.json": "{"})
	file, err := h.Files().Read(h.Path("a.json"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := tool.Diagnose(t.Context(), h, file)
	if err != nil {
		t.Fatal(err)
	}
	want := tool.Diagnosis{
		Diagnostics: []tool.Diagnostic{{
			Path: file.Path, Span: event.Span{StartColumn: 1, EndColumn: 1},
			Severity: event.SeverityError, Source: "json", Message: "the JSON value ends in the middle",
		}},
		Used: []string{"json"},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
