//go:build unix

package command_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/tool"
	"github.com/agentls/agentls/agentcore/workspace"
)

func TestMain(m *testing.M) {
	sandbox.Dispatch()
	goleak.VerifyTestMain(m)
}

const watchdog = 2 * time.Minute

// direct are the commands of a run without a sandbox, on a folder, and the layer that the run sees.
func direct(t *testing.T, editable func(string) error) (*command.Set, *workspace.Layer, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	view, err := workspace.Open([]workspace.Root{{Path: dir, Name: "w"}}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := view.Close(); err != nil {
			t.Error(err)
		}
	})
	state := t.TempDir()
	var redactor secret.Redactor
	redactor.Add("KEY", "a-very-secret-text")
	s := command.New(command.Sandbox{
		ID: "r1", Off: true, Report: func() sandbox.Report { return sandbox.Probe(t.Context(), state) },
		StateDir: state, OutputDir: filepath.Join(state, "outputs"), View: view, Redactor: &redactor,
	}, func(_ *workspace.Judge, path string) error { return editable(path) })
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	proposal := view.NewProposal(workspace.ProposalOptions{ID: "p1"})
	t.Cleanup(proposal.Close)
	return s, proposal.Fork(), dir
}

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	t.Cleanup(cancel)
	return ctx
}

// TestRunWithoutSandbox: a command runs where the user is, and is told as such; its end is told, too.
func TestRunWithoutSandbox(t *testing.T) {
	s, layer, dir := direct(t, nil)
	for script, want := range map[string]tool.CommandResult{
		"echo one; echo two >&2; echo made > made; exit 3": {Output: "one\ntwo\n", Size: 8, Exit: 3},
		"kill -TERM $$":          {Exit: 143, Signal: "SIGTERM"},
		"pwd; echo $AGENTLS_RUN": {Output: dir + "\nr1\n", Size: int64(len(dir) + 4)},
	} {
		got, err := s.Run(bounded(t), layer, tool.Command{Script: script}, workspace.Author{})
		if err != nil || got.Output != want.Output || got.Size != want.Size || got.Exit != want.Exit ||
			got.Signal != want.Signal || got.Whole != "" || len(got.Notes) != 1 ||
			!strings.Contains(got.Notes[0], "without a sandbox") {
			t.Errorf("%s: it is %+v, %v", script, got, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "made")); err != nil || string(text) != "made\n" {
		t.Errorf("what it made is %q, %v", text, err)
	}
	late, err := s.Run(bounded(t), layer, tool.Command{Script: "sleep 300", Timeout: time.Millisecond},
		workspace.Author{})
	if err != nil || !late.TimedOut || late.Signal != "SIGKILL" {
		t.Errorf("one that takes too long is %+v, %v", late, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Run(cancelled, layer, tool.Command{Script: "sleep 300"}, workspace.Author{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("a cancelled one is %v", err)
	}
}

// TestLongOutputWithoutSandbox: of a long output the ends are shown, and a file without secrets has all of it.
func TestLongOutputWithoutSandbox(t *testing.T) {
	s, layer, _ := direct(t, nil)
	script := `echo begin; for i in 1 2 3 4 5 6 7 8 9 10; do printf '%10000d\n' $i; done; echo a-very-secret-text; echo end`
	got, err := s.Run(bounded(t), layer, tool.Command{Script: script}, workspace.Author{})
	if err != nil || got.Size < 100_000 || len(got.Output) > 40<<10 || !strings.HasPrefix(got.Output, "begin\n") ||
		!strings.HasSuffix(got.Output, "end\n") || !strings.Contains(got.Output, "bytes are left out here") {
		t.Fatalf("it is %.200q (%d bytes of %d), %v", got.Output, len(got.Output), got.Size, err)
	}
	whole, err := os.ReadFile(got.Whole)
	if err != nil || !strings.Contains(string(whole), "[secret KEY]") ||
		strings.Contains(string(whole), "a-very-secret-text") {
		t.Errorf("the file ends with %q, %v", whole[max(0, len(whole)-100):], err)
	}
	if !s.Attached(got.Whole) || s.Attached(got.Whole+"x") {
		t.Error("the run may not read the file, or may read others")
	}
}

// TestBound: what a tool says is cut at the limit, and kept where the run can read it.
func TestBound(t *testing.T) {
	s, _, _ := direct(t, nil)
	long := "begin" + strings.Repeat("x", 2000) + "a-very-secret-text" + "end"
	if got := s.Bound("c1", long, 0, true); got != long {
		t.Errorf("below the limit it is %q", got)
	}
	for readable, want := range map[bool]string{false: "ask for less of it", true: "see parts of it with read"} {
		got := s.Bound("c1", long, 100, readable)
		if !strings.HasPrefix(got, "begin") || !strings.HasSuffix(got, "[secret KEY]end") ||
			!strings.Contains(got, want) ||
			!strings.Contains(got, clip.LeftOut) || len(got) > 400 {
			t.Errorf("it is %q", got)
		}
	}
}

// TestBackground: commands in the background are named, seen, bounded and ended, at the latest with the run.
func TestBackground(t *testing.T) {
	s, layer, _ := direct(t, nil)
	ctx := bounded(t)
	start := func(script string) (string, error) {
		return s.Start(ctx, t.Context(), layer, tool.Command{Script: script})
	}
	if _, err := s.Output(ctx, "bash-1", 0); err == nil || !strings.Contains(err.Error(), "nothing was started") {
		t.Errorf("what is not there is %v", err)
	}
	first, err := start("echo said; exit 2")
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Output(ctx, first, watchdog)
	if err != nil || !got.Ended || got.Output != "said\n" || got.Result.Exit != 2 || got.Result.Output != "" {
		t.Errorf("it is %+v, %v", got, err)
	}
	if got, err = s.Output(ctx, first, watchdog); err != nil || got.Output != "" {
		t.Errorf("what was seen is seen again: %+v, %v", got, err)
	}
	for range 16 {
		if _, err := start("sleep 300"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := start("sleep 300"); err == nil || !strings.Contains(err.Error(), "16 commands are in the background") {
		t.Errorf("there is no bound: %v", err)
	}
	if got, err = s.Kill(ctx, "bash-2"); err != nil || !got.Ended || got.Result.Signal != "SIGKILL" {
		t.Errorf("the killed one is %+v, %v", got, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got, err = s.Output(ctx, "bash-17", 0); err != nil || !got.Ended || got.Result.Signal != "SIGKILL" {
		t.Errorf("after the end of the run it is %+v, %v", got, err)
	}
	if _, err := start("true"); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("after the end of the run there is %v", err)
	}
	if _, err := s.Run(ctx, layer, tool.Command{Script: "true"}, workspace.Author{}); !errors.Is(err,
		sandbox.ErrClosed) {
		t.Errorf("after the end of the run there is %v", err)
	}
}
