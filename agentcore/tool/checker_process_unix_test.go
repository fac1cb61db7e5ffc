//go:build unix

package tool

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// held returns a FIFO and a wait for the end of every process that holds it open for writing.
func held(t *testing.T) (path string, opened, closed func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "held")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() {
		file, err := os.Open(path)
		close(ready)
		if err == nil {
			defer file.Close()
			_, err = io.Copy(io.Discard, file)
		}
		done <- err
	}()
	opened = func() {
		select {
		case <-ready:
		case <-time.After(time.Minute):
			t.Error("nobody opened the FIFO")
		}
	}
	closed = func() {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Error("a process still runs")
		}
	}
	return path, opened, closed
}

// endless starts a child that outlives its parent's attention, in the same group.
const endless = `(exec 3>"$0"; sleep 1000) & sleep 1000`

func TestProcessCancel(t *testing.T) {
	fifo, opened, closed := held(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		opened()
		cancel()
	}()
	_, err := program{program: "/bin/sh", args: []string{"-c", endless, fifo}, dir: "/", limit: time.Hour}.output(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want it cancelled", err)
	}
	closed()
}

func TestProcessLimit(t *testing.T) {
	_, err := program{
		program: "/bin/sh", args: []string{"-c", "sleep 1000"}, dir: "/",
		limit: 10 * time.Millisecond,
	}.output(t.Context())
	if err == nil || !strings.Contains(err.Error(), "sh took longer than 10ms and was stopped") {
		t.Errorf("got %v", err)
	}
}

// TestProcessLeavesNothing: what a program leaves behind ends with it.
func TestProcessLeavesNothing(t *testing.T) {
	fifo, opened, closed := held(t)
	script := `(exec 3>"$0" >/dev/null 2>&1 </dev/null; echo up >"$1"; sleep 1000) & read line <"$1"; echo done; exit 3`
	second := filepath.Join(t.TempDir(), "up")
	if err := syscall.Mkfifo(second, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := program{
		program: "/bin/sh", args: []string{"-c", script, fifo, second}, dir: "/",
		limit: time.Hour,
	}.output(t.Context())
	if err != nil || out.stdout != "done\n" || out.status != 3 {
		t.Errorf("got %+v, %v", out, err)
	}
	opened()
	closed()
}

func TestProcessOutputIsBounded(t *testing.T) {
	out, err := program{
		program: "/bin/sh", args: []string{"-c", "head -c 3000000 /dev/zero; echo end >&2"}, dir: "/",
		limit: time.Minute,
	}.output(t.Context())
	if err != nil || len(out.stdout) != processOutput || out.stderr != "end\n" {
		t.Errorf("got %d bytes, %q, %v", len(out.stdout), out.stderr, err)
	}
}

func TestProcessEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "secret")
	t.Setenv("GOFLAGS", "-toolexec=evil")
	t.Setenv("LANG", "C")
	out, err := program{
		program: "/bin/sh", args: []string{"-c", "env; cat"}, dir: "/", limit: time.Minute, run: "r7",
		env: []string{"EXTRA=1"},
	}.output(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"AGENTLS_RUN=r7\n", "EXTRA=1\n", "LANG=C\n", "PATH="} {
		if !strings.Contains(out.stdout, want) {
			t.Errorf("the environment lacks %q", want)
		}
	}
	for _, secret := range []string{"OPENAI_API_KEY", "GOFLAGS"} {
		if strings.Contains(out.stdout, secret) {
			t.Errorf("the environment holds %s", secret)
		}
	}
}

func TestProcessThatIsNone(t *testing.T) {
	_, err := program{program: filepath.Join(t.TempDir(), "none"), dir: "/", limit: time.Minute}.output(t.Context())
	if err == nil || !strings.Contains(err.Error(), "start none") {
		t.Errorf("got %v", err)
	}
}
