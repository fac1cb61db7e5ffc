package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentls/agentls/agentcore/crash"
	"github.com/agentls/agentls/agentcore/sandbox"
)

// What a start costs is held here by counting, since its time is that of the machine.

const (
	// maxBinary is how large the command may be as `make build` builds it, in bytes.
	maxBinary = 36 << 20
	// maxAllocations and maxAllocated bound what all packages allocate to get ready, before main, and maxOwn the
	// allocations of one of ours.
	maxAllocations, maxAllocated, maxOwn = 4000, 700 << 10, 220
)

// built builds the command as `make build` does, and returns its path.
func built(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agentls")
	cmd := exec.CommandContext(t.Context(), "go", "build",
		"-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// TestWeight bounds the command's size, what it does before main, and what it collects before its first request.
func TestWeight(t *testing.T) {
	path := built(t)
	binary, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(binary) > maxBinary {
		t.Errorf("the command has %d bytes, more than %d: find out by `go tool nm -size -sort size` what has grown",
			len(binary), maxBinary)
	}
	// Names of functions are in the binary for what a panic prints.
	for name, why := range map[string]string{
		"text/template.(*state).evalField": "it calls methods by name, so that the linker keeps every exported one",
		"github.com/openai/openai-go":      "it is a third of a binary; the wire is our own",
		"github.com/anthropics/":           "it is a tenth of a binary; the wire is our own",
		"google.golang.org/":               "it is a third of a binary; the wire is our own",
	} {
		if bytes.Contains(binary, []byte(name)) {
			t.Errorf("%s is in the command: %s", name, why)
		}
	}
	t.Run("init", func(t *testing.T) { bounded(t, path) })
	t.Run("collections", func(t *testing.T) { uncollected(t, path) })
}

// bounded bounds what packages do before main.
func bounded(t *testing.T, path string) {
	cmd := exec.CommandContext(t.Context(), path, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all, allocated := 0, 0
	inits := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, (\d+) allocs$`)
	for _, found := range inits.FindAllStringSubmatch(string(out), -1) {
		size, _ := strconv.Atoi(found[2])  // they are digits
		count, _ := strconv.Atoi(found[3]) // they are, too
		all, allocated = all+count, allocated+size
		if strings.HasPrefix(found[1], "github.com/agentls/") && count > maxOwn {
			t.Errorf("%s allocates %d times before main, more than %d: have it do so when it is first needed", found[1],
				count, maxOwn)
		}
	}
	if all == 0 || all > maxAllocations || allocated > maxAllocated {
		t.Errorf("the packages allocate %d times, %d bytes, before main; it may be %d and %d\n%s", all, allocated,
			maxAllocations, maxAllocated, out)
	}
}

// uncollected expects no garbage collection before a run's end, which is behind its first request.
func uncollected(t *testing.T, path string) {
	l := &loopback{turns: 1}
	d := newBench(t, 0, l)
	d.env = append(d.env, "GODEBUG=gctrace=1")
	for range 2 { // the first makes the database
		cmd := d.command("run", "-q", "--agent", "coder", "Say what a.go is for.", "a.go")
		cmd.Path, cmd.Err = path, nil
		out, err := cmd.CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("gc 1 @")) {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// TestStoreIsOpenedOnce has a run open the database once, for what it asks before there is an engine, too.
func TestStoreIsOpenedOnce(t *testing.T) {
	c := newCall(t, map[string]string{"a.go": "package a\n"}, "turn times=2\ntext done\n",
		"run", "-q", "--agent", "coder", "Say what a.go is for.", "a.go")
	for run := range 2 { // the first makes the database
		opened := 0
		c.crash = func(p crash.Point) {
			if p == crash.Registered {
				opened++
			}
		}
		c.must(t, exitOK)
		if opened != 1 {
			t.Errorf("run %d: the database was opened %d times", run+1, opened)
		}
	}
}

// TestSandboxIsTriedBeside tries the sandbox once for a run that may start commands, and begins with that before the
// database is opened where there is a state folder; a reviewer, who starts none, gets no trial, and nobody does who
// wants no sandbox.
func TestSandboxIsTriedBeside(t *testing.T) {
	c := newCall(t, map[string]string{"a.go": "package a\n"}, "turn times=any\ntext done\n")
	for _, test := range []struct {
		args   []string
		trials int32
		early  bool
	}{
		{[]string{"run", "-q", "Say what a.go is for.", "a.go"}, 1, false}, // makes the state folder
		{[]string{"run", "-q", "Say what a.go is for.", "a.go"}, 1, true},
		{[]string{"run", "-q", "--agent", "coder", "Say what a.go is for.", "a.go"}, 1, true},
		{[]string{"run", "-q", "--agent", "tester", "Say what a.go is for.", "a.go"}, 1, false},
		{[]string{"review", "-q", "a.go"}, 0, false},
		{[]string{"run", "-q", "--set", "sandbox=off", "Say what a.go is for.", "a.go"}, 0, false},
	} {
		c.args = test.args
		var trials atomic.Int32
		begun := make(chan struct{}, 8)
		c.probe = func(ctx context.Context, _ string, tell func(sandbox.Level)) sandbox.Report {
			trials.Add(1)
			begun <- struct{}{}
			tell(sandbox.Full)
			<-ctx.Done() // the run waits for the level alone
			return sandbox.Report{Level: sandbox.Full}
		}
		c.crash = func(p crash.Point) {
			if p == crash.Registered && test.early {
				<-begun // as long as the trial waits for the database, nothing comes of this
			}
		}
		c.must(t, exitOK)
		if trials.Load() != test.trials {
			t.Errorf("%q: the sandbox was tried %d times, want %d", test.args, trials.Load(), test.trials)
		}
	}
}
