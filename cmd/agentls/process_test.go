package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/store"
	"github.com/agentls/agentls/lsp/lsptest"
)

// watchdog bounds every wait of these tests; it is no measure of anything.
const watchdog = 2 * time.Minute

// desk is a workspace folder with all that the command gets from its surroundings when it runs as a process.
type desk struct {
	testing.TB
	ctx   context.Context
	dir   string
	state string
	home  string
	// env is added to the environment, in the form NAME=VALUE.
	env []string
	// wrap is a program, with arguments, that the command is an argument of.
	wrap []string
	// through, if there is one, is put between an editor and its server.
	through func(io.ReadWriteCloser) io.ReadWriteCloser
}

func newDesk(t testing.TB, files map[string]string) *desk {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	t.Cleanup(cancel)
	d := &desk{TB: t, ctx: ctx, dir: t.TempDir(), home: t.TempDir()}
	d.state = filepath.Join(d.home, "state")
	for name, text := range files {
		d.write(filepath.Join(d.dir, filepath.FromSlash(name)), text)
	}
	return d
}

func (d *desk) write(path, text string) {
	d.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		d.Fatal(err)
	}
}

// configure writes the user's config.toml.
func (d *desk) configure(text string) {
	d.Helper()
	d.write(filepath.Join(d.home, "config", "agentls", "config.toml"), text)
}

// command prepares the command as a process, which the end of the test kills.
func (d *desk) command(args ...string) *exec.Cmd {
	words := append(slices.Clone(d.wrap), append([]string{"agentls"}, args...)...) // put on PATH by TestMain
	cmd := exec.CommandContext(d.ctx, words[0], words[1:]...)
	cmd.Dir = d.dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + d.home, "XDG_CONFIG_HOME=" + filepath.Join(d.home, "config"),
		"AGENTLS_STATE=" + d.state,
		"GOCACHE=" + os.Getenv("GOCACHE"), "GORACE=" + os.Getenv("GORACE"),
	}, d.env...)
	return cmd
}

// run runs the command to its end.
func (d *desk) run(args ...string) (stdout, stderr string, code int) {
	d.Helper()
	cmd := d.command(args...)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		d.Fatal(err)
	}
	return out.String(), complaints.String(), cmd.ProcessState.ExitCode()
}

// must runs the command and expects its exit code.
func (d *desk) must(code int, args ...string) (stdout, stderr string) {
	d.Helper()
	stdout, stderr, got := d.run(args...)
	if got != code {
		d.Fatalf("agentls %s: exit code %d, want %d\n%s\n%s", strings.Join(args, " "), got, code, stdout, stderr)
	}
	return stdout, stderr
}

// transcript keeps what a process says, for any goroutine.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *transcript) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *transcript) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// served is an editor whose server is a process.
type served struct {
	*lsptest.Editor
	desk   *desk
	cmd    *exec.Cmd
	server *lsptest.Server
	log    *transcript
	// faults are looked for at the end, or before the server is ended by a signal: what the editor says to it
	// afterwards is lost.
	faults func() []string
}

// serve starts `agentls serve` in an editor.
func (d *desk) serve(profile string, args ...string) *served {
	d.Helper()
	p, err := lsptest.LoadProfile(profile)
	if err != nil {
		d.Fatal(err)
	}
	s := &served{
		desk: d, cmd: d.command(append([]string{"serve", "--log-level", "debug"}, args...)...),
		log: &transcript{},
	}
	if s.server, err = lsptest.Exec(s.cmd, s.log); err != nil {
		d.Fatal(err)
	}
	stream := s.server.Stream
	if d.through != nil {
		stream = d.through(stream)
	}
	s.Editor = lsptest.NewEditor(stream, lsptest.EditorOptions{Root: d.dir, Profile: p, Foreign: d.state})
	s.faults = s.Faults
	d.Cleanup(func() {
		s.server.Kill()
		if err := s.Close(); err != nil {
			d.Error(err)
		}
		if _, err := s.server.Wait(); err != nil {
			d.Error(err)
		}
		for _, fault := range s.faults() {
			d.Errorf("protocol: %s", fault)
		}
		if d.Failed() {
			d.Logf("the wire:\n%s\nthe server's log:\n%s", strings.Join(s.Trace(), "\n"), s.log)
		}
	})
	if err := s.Initialize(d.ctx); err != nil {
		d.Fatal(err)
	}
	return s
}

// signal ends the server by a signal.
func (s *served) signal(how os.Signal) {
	s.desk.Helper()
	faults := s.Faults()
	s.faults = func() []string { return faults }
	if err := s.cmd.Process.Signal(how); err != nil {
		s.desk.Fatal(err)
	}
}

// quit ends the server properly.
func (s *served) quit() {
	s.desk.Helper()
	if err := s.Shutdown(s.desk.ctx); err != nil {
		s.desk.Fatal(err)
	}
	s.ends(exitOK)
}

// ends expects the exit code of the server.
func (s *served) ends(want int) {
	s.desk.Helper()
	if code, err := s.server.Wait(); err != nil || code != want {
		s.desk.Fatalf("the server ended with %d (%v), want %d", code, err, want)
	}
}

// open opens a file of the workspace.
func (s *served) open(path string) {
	s.desk.Helper()
	if err := s.Open(path); err != nil {
		s.desk.Fatal(err)
	}
}

// choose chooses a code action at the start of a document and returns the run that it starts.
func (s *served) choose(path, title string) event.RunID {
	s.desk.Helper()
	actions, err := s.Actions(s.desk.ctx, path, lsptest.Range{})
	if err != nil {
		s.desk.Fatal(err)
	}
	at := slices.IndexFunc(actions, func(a lsptest.Action) bool { return a.Title == title })
	if at < 0 {
		s.desk.Fatalf("there is no action %q among %+v", title, actions)
	}
	raw, err := s.RunAction(s.desk.ctx, actions[at])
	if err != nil {
		s.desk.Fatal(err)
	}
	return decode[struct {
		Run event.RunID `json:"run"`
	}](s.desk, raw).Run
}

// review chooses the action that editors show.
func (s *served) review(path string) event.RunID {
	s.desk.Helper()
	return s.choose(path, "agentls: Review this file")
}

// execute runs a command, whose only argument is a params object.
func (s *served) execute(command, params string) json.RawMessage {
	s.desk.Helper()
	raw, err := s.Execute(s.desk.ctx, command, json.RawMessage(params))
	if err != nil {
		s.desk.Fatalf("%s %s: %v", command, params, err)
	}
	return raw
}

// refused runs a command that has to fail, and returns what the user is told.
func (s *served) refused(command, params string) string {
	s.desk.Helper()
	raw, err := s.Execute(s.desk.ctx, command, json.RawMessage(params))
	if err == nil {
		s.desk.Fatalf("%s %.200s was not refused: %s", command, params, raw)
	}
	return err.Error()
}

// wait waits for the end of a run.
func (s *served) wait(run event.RunID) event.RunResult {
	s.desk.Helper()
	return decode[event.RunResult](s.desk, s.execute("agentls.wait", `{"run":"`+string(run)+`"}`))
}

// shows waits until the messages of a document's diagnostics are these.
func (s *served) shows(path string, want ...string) {
	s.desk.Helper()
	slices.Sort(want)
	messages := func() []string {
		list, _ := s.Diagnostics(path)
		var texts []string
		for _, d := range list {
			texts = append(texts, d.Message)
		}
		slices.Sort(texts)
		return texts
	}
	if err := s.Until(s.desk.ctx, "diagnostics", func() bool { return slices.Equal(messages(), want) }); err != nil {
		s.desk.Fatalf("the diagnostics of %s are %q, want %q: %v", path, messages(), want, err)
	}
}

// told waits until the user was told something that holds the text.
func (s *served) told(text string) {
	s.desk.Helper()
	err := s.Until(s.desk.ctx, "the message "+text, func() bool {
		return slices.ContainsFunc(s.Messages(), func(m lsptest.Message) bool {
			return m.Method == "window/showMessage" && strings.Contains(m.Text, text)
		})
	})
	if err != nil {
		s.desk.Fatalf("%v; the messages are %+v", err, s.Messages())
	}
}

func decode[T any](t testing.TB, raw []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("decode %s: %v", raw, err)
	}
	return v
}

// stored opens the database that a process left, and looks at it.
func (d *desk) stored(look func(*store.Store)) {
	d.Helper()
	s, err := store.Open(d.ctx, filepath.Join(d.state, "agentls.db"), store.Options{})
	if err != nil {
		d.Fatal(err)
	}
	if s.Recovery() != nil {
		d.Errorf("the database was damaged: %+v", s.Recovery())
	}
	look(s)
	if err := s.Close(d.ctx); err != nil {
		d.Error(err)
	}
}

// wasInterrupted expects the status of a run in the database.
func (d *desk) wasInterrupted(run event.RunID) {
	d.Helper()
	d.stored(func(s *store.Store) {
		row, err := s.Run(d.ctx, run)
		if err != nil || row.Status != event.StatusInterrupted {
			d.Errorf("the run is %s (%v), want %s", row.Status, err, event.StatusInterrupted)
		}
	})
}

// without expects that none of the texts, and no file below the home folder, holds a secret.
func (d *desk) without(secret string, texts ...string) {
	d.Helper()
	for _, text := range texts {
		if strings.Contains(text, secret) {
			d.Errorf("the key is in\n%s", text)
		}
	}
	err := filepath.WalkDir(d.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(secret)) {
			d.Errorf("the key is in %s", path)
		}
		return err
	})
	if err != nil {
		d.Error(err)
	}
}

// unchanged expects a file of the workspace to be what it was.
func (d *desk) unchanged(name, want string) {
	d.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil || string(data) != want {
		d.Errorf("%s has changed on the disk: %q, %v", name, data, err)
	}
}
