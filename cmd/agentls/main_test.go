package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentls/agentls/agentcore/mcp/mcptest"
	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/provider"
	"github.com/agentls/agentls/agentcore/sandbox"
)

// updates says whether to write the expected outputs in testdata/*.txtar anew; the flag is that of package lsptest.
func updates() bool { return flag.Lookup("update").Value.String() == "true" }

// scriptVariable names the file with the turns of the model that the command in a script talks to.
const scriptVariable = "AGENTLS_TEST_MODEL"

func TestMain(m *testing.M) {
	sandbox.Dispatch()
	mcptest.Dispatch()
	testscript.Main(reporting{m}, map[string]func(){"agentls": scripted, "nothing": nothing})
}

// nothing is a command that does nothing: at once, or with an argument at the end of its standard input.
func nothing() {
	if len(os.Args) > 1 {
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			os.Exit(1)
		}
	}
}

// scripted is the real command, with a scripted model if the environment names one.
func scripted() {
	p, err := system()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	p.crash = crashing(os.Getenv(crashVariable))
	ctx, stop := interruptible(context.Background())
	defer stop()
	file := os.Getenv(scriptVariable)
	if file == "" {
		os.Exit(p.run(ctx))
	}
	text, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	turns, err := script.Parse("test", string(text))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	used := false
	p.openModel = func(provider.Choice) (model.Model, error) { used = true; return turns, nil }
	code := p.run(ctx)
	if err := turns.Check(); used && err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	os.Exit(code)
}

// TestScripts runs the command in the scripts of testdata. A script works in the folder p; the file model, if there
// is one, holds the turns of the model.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata", UpdateScripts: updates(), RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("AGENTLS_STATE", filepath.Join(e.WorkDir, "state"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			e.Setenv("GORACE", os.Getenv("GORACE"))
			e.Setenv("OLLAMA_HOST", "127.0.0.1:9") // not the machine's own
			if file := filepath.Join(e.WorkDir, "model"); exists(file) {
				e.Setenv(scriptVariable, file)
			}
			if project := filepath.Join(e.WorkDir, "p"); exists(project) {
				e.Cd = project
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "replace": replace, "grow": grow, "mode": mode, "ids": ids,
		},
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// exits runs a command and expects an exit code: exits CODE COMMAND ARGUMENT...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGUMENT...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("run %s: %v", args[1], err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d\n%s\n%s", code, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// ids keeps the first id of a session or run that a command said: ids FILE NAME, which begins with the letter of the
// id.
func ids(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: ids FILE NAME")
	}
	id := regexp.MustCompile(`\b[` + strings.ToLower(args[1][:1]) + `][0-9a-z]{18}\b`).FindString(ts.ReadFile(args[0]))
	if id == "" {
		ts.Fatalf("there is no id in %s", args[0])
	}
	ts.Setenv(args[1], id)
}

// replace changes the bytes of a file: replace FILE OLD NEW, quoted as in Go without the quotes.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	unquote := func(text string) string {
		plain, err := strconv.Unquote(`"` + text + `"`)
		ts.Check(err)
		return plain
	}
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(string(data), unquote(args[1]), unquote(args[2]))), 0o600))
}

// grow makes a sparse file: grow FILE BYTES.
func grow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: grow FILE BYTES")
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	path := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(path, nil, 0o600))
	ts.Check(os.Truncate(path, size))
}

// mode expects the permission bits of a file: mode FILE OCTAL.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode FILE OCTAL")
	}
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if have := fmt.Sprintf("%o", info.Mode().Perm()); have != args[1] {
		ts.Fatalf("the mode of %s is %s, want %s", args[0], have, args[1])
	}
}

// call is one command line in this process.
type call struct {
	*process
	out, err bytes.Buffer
}

// newCall prepares a command line in a folder with these files, and a scripted model if turns are given.
func newCall(t *testing.T, files map[string]string, turns string, args ...string) *call {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	variables := map[string]string{
		"AGENTLS_STATE": filepath.Join(t.TempDir(), "state"), "XDG_CONFIG_HOME": filepath.Join(t.TempDir(), "config"),
		"PATH": os.Getenv("PATH"),
	}
	c := &call{}
	c.process = &process{
		args: args, environment: environment{dir, t.TempDir(), func(name string) string { return variables[name] }},
		console: console{
			stdin: io.NopCloser(strings.NewReader("")), stdout: screen{Writer: &c.out}, stderr: screen{Writer: &c.err},
		},
	}
	if turns != "" {
		c.useScript(t, turns)
	}
	return c
}

// useScript gives the call a scripted model, which is checked at the end of the test.
func (c *call) useScript(t *testing.T, turns string) *script.Script {
	t.Helper()
	s, err := script.Parse("test", turns)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	})
	c.openModel = func(provider.Choice) (model.Model, error) { return s, nil }
	return s
}

// must runs the call and expects its exit code.
func (c *call) must(t *testing.T, code int) {
	t.Helper()
	if got := c.run(t.Context()); got != code {
		t.Fatalf("agentls %s: exit code %d, want %d\n%s\n%s", strings.Join(c.args, " "), got, code, c.out.String(),
			c.err.String())
	}
}
