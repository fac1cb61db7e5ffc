//go:build unix

package process

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sh is a shell script that runs in a folder of its own.
func sh(t *testing.T, script string) Program {
	t.Helper()
	return Program{
		Argv: []string{"sh", "-c", script}, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")},
		Mark: "AGENTLS_TEST=" + filepath.Base(t.TempDir()) + t.Name(),
	}
}

// TestRun: how a program ends is told as shells do, and of what it puts out the beginning is kept.
func TestRun(t *testing.T) {
	for script, want := range map[string]Ran{
		"printf abc; printf def >&2; exit 3": {Exit: Exit{Code: 3}, Stdout: []byte("abc"), Stderr: []byte("def")},
		"kill -TERM $$":                      {Exit: Exit{Code: 143, Signal: "SIGTERM"}},
		"printf abcde; printf vwxyz >&2":     {Stdout: []byte("abcd"), Stderr: []byte("vwxy…"), Cut: true},
	} {
		ran, err := Run(t.Context(), sh(t, script), 4)
		if err != nil || ran.Exit != want.Exit || ran.Late || ran.Cut != want.Cut ||
			!bytes.Equal(ran.Stdout, want.Stdout) || !bytes.Equal(ran.Stderr, want.Stderr) {
			t.Errorf("%s: it is %+v, %v", script, ran, err)
		}
	}
	if text := (Exit{Code: 143, Signal: "SIGTERM"}).String() + ", " + (Exit{Code: 3}).String(); text !=
		"was ended by SIGTERM, ended with exit code 3" {
		t.Errorf("it is told as %q", text)
	}
}

// TestRunIsBounded: a program ends at its limit, and with the context.
func TestRunIsBounded(t *testing.T) {
	p := sh(t, "sleep 300")
	p.Limit = time.Millisecond
	if ran, err := Run(t.Context(), p, 4); err != nil || !ran.Late || ran.Signal != "SIGKILL" {
		t.Errorf("at its limit it is %+v, %v", ran, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if ran, err := Run(ended, sh(t, "sleep 300"), 4); err != nil || ran.Late || ran.Signal != "SIGKILL" {
		t.Errorf("with the context it is %+v, %v", ran, err)
	}
	p.Argv = []string{"./is-not-there"}
	if _, err := Run(t.Context(), p, 4); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), p.Dir) {
		t.Errorf("what is not there is %v", err)
	}
}

// TestLingers: what a program has left in its group ends with it, at once where it holds an output and does not linger,
// and what a lingering one has started may still fill its outputs.
func TestLingers(t *testing.T) {
	late := "(while ! test -e go; do :; done; echo late) & echo early; "
	var out Head
	out.Most = 100
	p := sh(t, late+"touch go")
	p.Stdout, p.Lingers = &out, true
	started, err := Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if exit, _, err := started.Wait(); err != nil || exit != (Exit{}) {
		t.Errorf("it ended as %+v, %v", exit, err)
	}
	if text, _ := out.Text(); string(text) != "early\nlate\n" {
		t.Errorf("the one that lingers says %q", text)
	}
	ran, err := Run(t.Context(), sh(t, late), 100)
	if err != nil || string(ran.Stdout) != "early\n" || ran.Exit != (Exit{}) {
		t.Errorf("the other is %+v, %v", ran, err)
	}
}
