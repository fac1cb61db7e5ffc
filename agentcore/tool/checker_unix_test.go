//go:build unix

package tool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/tool/tooltest"
)

// programs makes PATH a folder that holds nothing but the given shell scripts, which record their arguments,
// environment and standard input in the folder that it returns.
func programs(t *testing.T, scripts map[string]string) string {
	t.Helper()
	bin, records := t.TempDir(), t.TempDir()
	const record = "#!/bin/sh\nPATH=/usr/bin:/bin\nprintf '%s\\n' \"$@\" >'RECORDS/NAME.args'\nenv " +
		">'RECORDS/NAME.env'\npwd >'RECORDS/NAME.dir'\ncat >'RECORDS/NAME.stdin'\n"
	for name, script := range scripts {
		text := strings.NewReplacer("RECORDS", records, "NAME", name).Replace(record) + script
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	return records
}

func recorded(t *testing.T, records, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(records, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func answer(json string) string { return "cat <<'EOF'\n" + json + "\nEOF\nexit 1\n" }

func TestShellcheck(t *testing.T) {
	records := programs(t, map[string]string{"shellcheck": answer(`{"comments":[
		{"file":"-","line":2,"endLine":2,"column":8,"endColumn":10,"level":"info","code":2086,"message":"Double quote\nto prevent globbing."},
		{"file":"-","line":1,"endLine":1,"column":1,"endColumn":1,"level":"error","code":2148,"message":"Add a shebang."},
		{"file":"-","line":2,"endLine":2,"column":1,"endColumn":2,"level":"style","code":1,"message":"Style."}]}`)})
	t.Setenv("ANTHROPIC_API_KEY", "secret")
	h := tooltest.New(t, map[string]string{"a.sh": "disk\n", ".shellcheckrc": "disable=all\n"})
	h.Type("a.sh", "x=1\necho é $x\n")
	same(t, "text", call(t, h, "diagnostics", `{"path":"a.sh"}`).Text,
		"a.sh:1:1: error: Add a shebang. [shellcheck SC2148]\na.sh:2:1: hint: Style. [shellcheck SC1]\na.sh:2:9: "+
			"information: Double quote to prevent globbing. [shellcheck SC2086]\nChecked with shellcheck.")
	same(t, "arguments", recorded(t, records, "shellcheck.args"), "--norc\n--format=json1\n--shell=bash\n-\n")
	same(t, "standard input", recorded(t, records, "shellcheck.stdin"), "x=1\necho é $x\n")
	if dir := strings.TrimSpace(recorded(t, records, "shellcheck.dir")); dir != "/" {
		t.Errorf("it ran in %s", dir)
	}
	env := recorded(t, records, "shellcheck.env")
	if !strings.Contains(env, "AGENTLS_RUN="+string(tooltest.Run)) || strings.Contains(env, "secret") {
		t.Errorf("its environment was\n%s", env)
	}
	// A script without an ending is known by its first line, which also says the dialect.
	h.Type("run", "#!/usr/bin/env bash\n:\n")
	call(t, h, "diagnostics", `{"path":"run"}`)
	same(t, "arguments", recorded(t, records, "shellcheck.args"), "--norc\n--format=json1\n-\n")
}

func TestRuff(t *testing.T) {
	records := programs(t, map[string]string{"ruff": answer(`[
		{"code":"F401","message":"os imported but unused","location":{"row":1,"column":8},"end_location":{"row":1,"column":10},
		 "fix":{"applicability":"safe","edits":[{"content":"","location":{"row":1,"column":1},"end_location":{"row":2,"column":1}}]}},
		{"code":null,"message":"SyntaxError: bad","location":{"row":2,"column":5},"end_location":{"row":2,"column":6},"fix":null},
		{"code":"E711","message":"unsafe","location":{"row":2,"column":1},"end_location":{"row":2,"column":2},
		 "fix":{"applicability":"unsafe","edits":[{"content":"y","location":{"row":2,"column":1},"end_location":{"row":2,"column":2}}]}}]`)})
	h := tooltest.New(t, map[string]string{"a.py": "import os\né = 1\n", "ruff.toml": "ignore = ['ALL']\n"})
	file, err := h.Files().Read(h.Path("a.py"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := tool.Diagnose(t.Context(), h, file)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Diagnostics) != 3 || strings.Join(d.Used, ",") != "ruff" || strings.Join(d.Missing, ",") != "python" ||
		len(d.Failed) != 0 {
		t.Fatalf("got %+v", d)
	}
	first, last := d.Diagnostics[0], d.Diagnostics[2]
	if first.Fix == nil || strings.Replace(file.Text, first.Fix.OldString, first.Fix.NewString, 1) != "é = 1\n" ||
		strings.Count(file.Text, first.Fix.OldString) != 1 {
		t.Errorf("the fix is %+v", first.Fix)
	}
	if first.Code != "F401" || first.Severity != event.SeverityWarning ||
		(first.Span != event.Span{StartColumn: 7, EndColumn: 9}) {
		t.Errorf("the first is %+v", first)
	}
	// Columns count characters there and bytes here.
	if last.Severity != event.SeverityError || last.Span.StartColumn != 5 || d.Diagnostics[1].Fix != nil {
		t.Errorf("the others are %+v", d.Diagnostics[1:])
	}
	same(t, "arguments", recorded(t, records, "ruff.args"),
		"check\n--isolated\n--no-cache\n--output-format\njson\n--stdin-filename\na.py\n-\n")
}

// TestCheckersThatFail: what a checker could not do is said, and the others still answer.
func TestCheckersThatFail(t *testing.T) {
	programs(t, map[string]string{
		"ruff": "echo 'ruff: too old' >&2; exit 2\n", "python3": "echo no JSON\n", "shellcheck": "exit 0\n",
		"node": "echo crashed >&2; exit 9\n",
	})
	h := tooltest.New(t, map[string]string{"a.py": "x\n", "a.sh": "x\n", "a.js": "x\n"})
	text := call(t, h, "diagnostics", `{"path":"a.py"}`).Text
	for _, part := range []string{
		"No checker here judged this file.",
		"Could not check with ruff: it ended with status 2: ruff: too old.",
		"Could not check with python: read its answer",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not say %q", text, part)
		}
	}
	for path, part := range map[string]string{
		"a.sh": "Could not check with shellcheck: read its answer",
		"a.js": "Could not check with node: it ended with status 9: crashed",
	} {
		if text := call(t, h, "diagnostics", `{"path":"`+path+`"}`).Text; !strings.Contains(text, part) {
			t.Errorf("%s: %q does not say %q", path, text, part)
		}
	}
}

func TestMissingPrograms(t *testing.T) {
	programs(t, nil)
	h := tooltest.New(t, map[string]string{
		"go.mod": goMod, "a.go": "package a\n", "a.py": "x\n", "a.sh": "x\n",
		"a.js": "x\n",
	})
	for path, want := range map[string]string{
		"a.go": "No problems. Checked with go syntax, gofmt. Not on this machine: go vet.",
		"a.py": "No problems. No checker here judged this file. Not on this machine: ruff, python.",
		"a.sh": "No problems. No checker here judged this file. Not on this machine: shellcheck.",
		"a.js": "No problems. No checker here judged this file. Not on this machine: node.",
	} {
		same(t, path, call(t, h, "diagnostics", `{"path":"`+path+`"}`).Text, want)
	}
}

// TestNothingOfTheProjectRuns: neither tool flags, however they are set, nor cgo, nor a program that lies
// in the workspace is started.
func TestNothingOfTheProjectRuns(t *testing.T) {
	trap := filepath.Join(t.TempDir(), "trap")
	ran := trap + ".ran"
	if err := os.WriteFile(trap, []byte("#!/bin/sh\necho \"$@\" >>'"+ran+"'\nexec \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(trap)
	if err != nil {
		t.Fatal(err)
	}
	goenv := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(goenv, []byte("GOFLAGS=-toolexec="+trap+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := tooltest.New(t, map[string]string{
		"go.mod":  goMod + "\ntoolchain go1.99.0\n",
		"main.go": "package main\n\nimport \"os\"\n\nfunc main() { os.Exit(none) }\n",
		"c/c.go":  "package c\n\n// #cgo CFLAGS: -O1\nimport \"C\"\n", "a.py": "x = 1\n", "bin/ruff": string(script),
	})
	if err := os.Chmod(h.Path("bin/ruff"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOENV", goenv)
	t.Setenv("GOFLAGS", "-toolexec="+trap)
	t.Setenv("CC", trap)
	t.Setenv("GOVCS", "*:all")
	t.Setenv("PATH", h.Path("bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	if text := call(t, h, "diagnostics", `{"path":"main.go"}`).Text; !strings.Contains(text,
		"undefined: none [go vet compile]") {
		t.Errorf("main.go: %s", text)
	}
	call(t, h, "diagnostics", `{"path":"c/c.go"}`)
	if text := call(t, h, "diagnostics", `{"path":"a.py"}`).Text; strings.Contains(text, "hecked with ruff") {
		t.Errorf("the project's own program was used: %s", text)
	}
	if raw, err := os.ReadFile(ran); err == nil {
		t.Errorf("the trap ran: %s", raw)
	}
}
