//go:build unix

package tool_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/tool/tooltest"
)

// checkers records what a host is asked to run, and answers the same each time.
func checkers(h *tooltest.Host, out tool.CheckerOutput, err error) *[]tool.CheckerCommand {
	var ran []tool.CheckerCommand
	h.Checker = func(c tool.CheckerCommand) (tool.CheckerOutput, error) {
		ran = append(ran, c)
		return out, err
	}
	return &ran
}

// install puts an executable into a workspace.
func install(t *testing.T, h *tooltest.Host, name string) string {
	t.Helper()
	path := h.Path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexit 9\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEslint(t *testing.T) {
	programs(t, nil)
	h := tooltest.New(t, map[string]string{
		"web/eslint.config.js": "export default []\n",
		"web/src/a.ts":         "const é = '🦫', b = 1\n", "other/b.ts": "x\n",
	})
	ran := checkers(h, tool.CheckerOutput{Exit: 1, Stdout: `[{"filePath":"/x","messages":[
		{"ruleId":"semi","severity":2,"message":"Missing semicolon.","line":1,"column":22,"endLine":2,"endColumn":1,"fix":{"range":[21,21],"text":";"}},
		{"ruleId":"no-unused-vars","severity":1,"message":"'b' is\nunused.","line":1,"column":17,"endLine":1,"endColumn":18},
		{"ruleId":null,"fatal":true,"severity":2,"message":"Parsing error","line":9,"column":1}]}]`}, nil)
	program := install(t, h, "node_modules/.bin/eslint")
	file, err := h.Files().Read(h.Path("web/src/a.ts"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := tool.Diagnose(t.Context(), h, file)
	if err != nil || len(d.Diagnostics) != 3 || strings.Join(d.Used, ",") != "eslint" {
		t.Fatalf("got %+v, %v", d, err)
	}
	if len(*ran) != 1 || (*ran)[0].Dir != h.Path("web") ||
		!slices.Equal((*ran)[0].Argv, []string{program, "--format", "json", file.Path}) || (*ran)[0].Timeout <= 0 {
		t.Errorf("it ran %+v", *ran)
	}
	// Columns count UTF-16 code units there and bytes here.
	if b := d.Diagnostics[0]; b.Code != "no-unused-vars" || b.Severity != event.SeverityWarning ||
		b.Span != (event.Span{StartColumn: 19, EndColumn: 20}) || b.Message != "'b' is unused." {
		t.Errorf("the first is %+v", b)
	}
	semi := d.Diagnostics[1]
	if semi.Code != "semi" || semi.Severity != event.SeverityError || semi.Span.StartColumn != 24 || semi.Fix == nil ||
		strings.Replace(file.Text, semi.Fix.OldString, semi.Fix.NewString, 1) != "const é = '🦫', b = 1;\n" {
		t.Errorf("the second is %+v with the fix %+v", semi, semi.Fix)
	}
	if last := d.Diagnostics[2]; last.Severity != event.SeverityError || last.Span.StartLine != 0 {
		t.Errorf("the last is %+v", last)
	}
	// Without a configuration there is nothing to check by.
	same(t, "unconfigured", call(t, h, "diagnostics", `{"path":"other/b.ts"}`).Text,
		"No problems. No checker here judged this file.")
	if len(*ran) != 1 {
		t.Errorf("it ran %+v", *ran)
	}
}

// TestEslintIsFound finds the configuration in every form, also one that is only proposed, and the program.
func TestEslintIsFound(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "eslint"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	for name, text := range map[string]string{
		"eslint.config.mjs": "", ".eslintrc.json": "{}", ".eslintrc": "", "package.json": `{"eslintConfig": {}}`,
	} {
		h := tooltest.New(t, map[string]string{"a.mts": "x\n", "package.json": "{}"})
		ran := checkers(h, tool.CheckerOutput{Stdout: "[]"}, nil)
		same(t, "before", call(t, h, "diagnostics", `{"path":"a.mts"}`).Text,
			"No problems. No checker here judged this file.")
		h.Type(name, text)
		same(t, name, call(t, h, "diagnostics", `{"path":"a.mts"}`).Text, "No problems. Checked with eslint.")
		if len(*ran) != 1 || (*ran)[0].Argv[0] != filepath.Join(bin, "eslint") {
			t.Errorf("%s: it ran %+v", name, *ran)
		}
	}
}

func TestEslintThatDoesNotJudge(t *testing.T) {
	programs(t, nil)
	for name, test := range map[string]struct {
		out  tool.CheckerOutput
		err  error
		none bool
		want string
	}{
		"missing": {none: true, want: "No problems. No checker here judged this file. Not on this machine: eslint."},
		"withheld": {
			err:  &tool.WithheldError{Reason: "the user does not trust it"},
			want: "No problems. No checker here judged this file. Not run: eslint, since the user does not trust it.",
		},
		"broken": {
			out: tool.CheckerOutput{Exit: 2, Stderr: "Oops!\nno plugin\n"},
			want: "No problems. No checker here judged this file. Could not check with eslint: it ended with status " +
				"2: Oops! no plugin.",
		},
		"ignored": {
			out:  tool.CheckerOutput{Stdout: `[{"messages":[{"ruleId":null,"severity":1,"message":"File ignored."}]}]`},
			want: "No problems. No checker here judged this file.",
		},
		"garbled": {
			out: tool.CheckerOutput{Stdout: "hello"},
			want: "No problems. No checker here judged this file. Could not check with eslint: read its answer: " +
				"invalid character 'h' looking for beginning of value.",
		},
	} {
		h := tooltest.New(t, map[string]string{"a.ts": "x\n", "eslint.config.js": ""})
		checkers(h, test.out, test.err)
		if !test.none {
			install(t, h, "node_modules/.bin/eslint")
		}
		same(t, name, call(t, h, "diagnostics", `{"path":"a.ts"}`).Text, test.want)
	}
}

// TestShellcheckConfigured runs shellcheck with the project's configuration where it may be loaded.
func TestShellcheckConfigured(t *testing.T) {
	records := programs(t, map[string]string{"shellcheck": answer(`{"comments":[]}`)})
	h := tooltest.New(t, map[string]string{"src/a.dash": "x=1\n", ".shellcheckrc": "disable=SC1\n"})
	call(t, h, "diagnostics", `{"path":"src/a.dash"}`)
	same(t, "without a sandbox", recorded(t, records, "shellcheck.args"), "--norc\n--format=json1\n--shell=dash\n-\n")
	ran := checkers(h,
		tool.CheckerOutput{
			Stdout: `{"comments":[{"line":1,"endLine":1,"column":1,"endColumn":2,"level":"error","code":7,"message":"m"}]}`,
			Exit:   1,
		}, nil)
	same(t, "with one", call(t, h, "diagnostics", `{"path":"src/a.dash"}`).Text,
		"src/a.dash:1:1: error: m [shellcheck SC7]\nChecked with shellcheck.")
	if len(*ran) != 1 || (*ran)[0].Dir != h.Path("") ||
		!slices.Equal((*ran)[0].Argv[1:], []string{"--format=json1", "--shell=dash", h.Path("src/a.dash")}) {
		t.Errorf("it ran %+v", *ran)
	}
}

// TestCgo runs go vet for a file with cgo in the sandbox alone.
func TestCgo(t *testing.T) {
	h := tooltest.New(t,
		map[string]string{
			"go.mod": goMod,
			"c/c.go": "package c\n\n// #cgo CFLAGS: -O1\nimport \"C\"\n\nvar x int = \"\"\n",
		})
	same(t, "without a sandbox", call(t, h, "diagnostics", `{"path":"c/c.go"}`).Text,
		"No problems. Checked with go syntax, gofmt. Not run: go vet, since this test has no sandbox.")
	ran := checkers(h, tool.CheckerOutput{Exit: 1, Stderr: "# example.com/m/c\nvet: ./c.go:6:13: cannot use it\n"}, nil)
	same(t, "with one", call(t, h, "diagnostics", `{"path":"c/c.go"}`).Text,
		"c/c.go:6:13: error: cannot use it [go vet compile]\nChecked with go syntax, gofmt, go vet.")
	if len(*ran) != 1 || (*ran)[0].Dir != h.Path("c") || !slices.Contains((*ran)[0].Argv, "CGO_ENABLED=1") {
		t.Errorf("it ran %+v", *ran)
	}
	checkers(h, tool.CheckerOutput{Exit: 1, Stderr: "# example.com/m/c\ncgo: gcc is missing\n"}, nil)
	same(t, "without a compiler", call(t, h, "diagnostics", `{"path":"c/c.go"}`).Text,
		"No problems. Checked with go syntax, gofmt. Could not check with go vet: it could not load the package: cgo: "+
			"gcc is missing.")
}

// TestRuffConfigured runs ruff with the project's configuration where it may be loaded, and with none elsewhere.
func TestRuffConfigured(t *testing.T) {
	records := programs(t, map[string]string{"ruff": answer(`[]`), "python3": "exit 0\n"})
	for _, name := range []string{"ruff.toml", "pyproject.toml"} {
		h := tooltest.New(t, map[string]string{"src/a.py": "x = 1\n", name: "[tool.ruff.lint]\n"})
		call(t, h, "diagnostics", `{"path":"src/a.py"}`)
		if args := recorded(t, records, "ruff.args"); !strings.Contains(args, "--isolated") {
			t.Errorf("without a sandbox it was given %q", args)
		}
		ran := checkers(h,
			tool.CheckerOutput{
				Stdout: `[{"code":"X1","message":"m","location":{"row":1,"column":1},"end_location":{"row":1,"column":2}}]`,
				Exit:   1,
			}, nil)
		same(t, name, call(t, h, "diagnostics", `{"path":"src/a.py"}`).Text,
			"src/a.py:1:1: warning: m [ruff X1]\nChecked with ruff, python.")
		if len(*ran) != 1 || (*ran)[0].Dir != h.Path("") || slices.Contains((*ran)[0].Argv, "--isolated") {
			t.Errorf("%s: it ran %+v", name, *ran)
		}
	}
}
