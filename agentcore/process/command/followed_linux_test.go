//go:build amd64 || arm64

package command_test

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentls/agentls/agentcore/process"
	"github.com/agentls/agentls/agentcore/process/command"
	"github.com/agentls/agentls/agentcore/sandbox"
	"github.com/agentls/agentls/agentcore/secret"
	"github.com/agentls/agentls/agentcore/workspace"
)

// TestFollow: a program is spoken with, what it changes is told by the paths of the view, and texts are brought by
// them, also where the folder was opened by a link. After its end the rest is told.
func TestFollow(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(top, "link")
	if err := errors.Join(os.Mkdir(filepath.Join(top, "real"), 0o755), os.Symlink("real", dir),
		os.WriteFile(filepath.Join(dir, "a"), []byte("A\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	view, err := workspace.Open([]workspace.Root{{Path: dir, Name: "w"}}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	state := t.TempDir()
	s := command.Sandbox{
		ID: "r1", Report: func() sandbox.Report { return sandbox.Probe(t.Context(), state) },
		StateDir: state, OutputDir: filepath.Join(state, "outputs"), View: view, Redactor: &secret.Redactor{},
	}
	layer := view.NewProposal(workspace.ProposalOptions{ID: "p1"})
	defer layer.Close()
	o, _, err := s.Options(func() *workspace.Ignored { return layer.Fork().Ignored() })
	if err != nil {
		t.Fatal(err)
	}
	f, err := command.Follow(bounded(t), o, sandbox.Command{
		Script: `while read line; do eval "$line"; done; printf end >end; exit 3`,
	}, func(exit process.Exit, words []byte, err error) string {
		return command.Ending("program", exit, words, err)
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, s.Report())
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	defer f.Live.Out.Close()
	said := bufio.NewReader(f.Live.Out)
	tell := func(line, want string) {
		t.Helper()
		if _, err := f.Live.In.WriteString(line + "\n"); err != nil {
			t.Fatal(err)
		}
		if got, err := said.ReadString('\n'); got != want+"\n" || err != nil {
			t.Errorf("%s: it says %q, %v", line, got, err)
		}
	}
	tell("echo B >a; chmod +x a; ln -s a l; cat a", "B")
	got, err := f.Changes(t.Context())
	want := workspace.Written{
		Path: filepath.Join(dir, "a"), Executable: true, Existed: true, Before: sha256.Sum256([]byte("A\n")),
	}
	if err != nil || len(got.Written) != 1 || string(got.Written[0].Content) != "B\n" || len(got.Replaced) > 0 ||
		len(got.Kept) != 1 || got.Kept[0].Path != filepath.Join(dir, "l") {
		t.Fatalf("it has changed %+v, %v", got, err)
	}
	if w := got.Written[0]; w.Path != want.Path || w.Executable != want.Executable || w.Existed != want.Existed ||
		w.Before != want.Before {
		t.Errorf("it has written %+v, not %+v", w, want)
	}
	brought, err := f.Bring(t.Context(), map[string]sandbox.Text{want.Path: {Content: []byte("C\n")}})
	if err != nil || len(brought.Changed)+len(brought.Refused) > 0 {
		t.Errorf("bringing: %+v, %v", brought, err)
	}
	tell("cat a", "C")
	if changed, err := f.GitChanged(t.Context()); changed || err != nil {
		t.Errorf("git has changed: %v, %v", changed, err)
	}
	f.Live.In.Close()
	if how := f.Live.Wait(); how != "program ended with exit code 3" {
		t.Errorf("its end: %s", how)
	}
	if got, err = f.Changes(t.Context()); err != nil || len(got.Written) != 1 ||
		got.Written[0].Path != filepath.Join(dir, "end") {
		t.Errorf("at its end it has changed %+v, %v", got, err)
	}
	if _, err := command.Follow(t.Context(), o, sandbox.Command{}, nil); err == nil {
		t.Error("nothing was started")
	}
}
