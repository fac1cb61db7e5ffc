//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/model/wiretest"
)

// sample is the project that the review works on, a copy of it.
const sample = "../../cmd/agentls/testdata/sample"

// shelf is a file that the review opens. It lies beside those of the sample, whose text may change without breaking
// a story, and is a package of its own that compiles.
const shelf = `// Package shelf keeps orders in files.
package shelf

import (
	"fmt"
	"os"
)

// Show prints an order.
func Show(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("show an order: %w", err)
	}
	fmt.Printf("%s", text)
	return nil
}
`

// watchdog ends a story that hangs: generous, since nothing but a fault waits so long.
const watchdog = 5 * time.Minute

func TestReview(t *testing.T) {
	server := setting(t, "AGENTLS_BIN")
	if _, err := os.Stat(server); err != nil {
		t.Fatalf("AGENTLS_BIN does not name the built server, run make build: %v", err)
	}
	for _, nvim := range filepath.SplitList(setting(t, "AGENTLS_NVIM")) {
		t.Run(version(t, nvim), func(t *testing.T) {
			t.Parallel()
			s := newStory(t, nvim, "review.lua")
			s.env = append(s.env, "AGENTLS_BIN="+server)
			traffic := s.record(t, server)
			if err := os.CopyFS(s.workspace, os.DirFS(sample)); err != nil {
				t.Fatalf("copy the sample project %s: %v", sample, err)
			}
			s.write(t, "shelf/shelf.go", shelf)
			untouched := tree(t, s.workspace)
			ctx, cancel := context.WithTimeout(t.Context(), watchdog)
			defer cancel()
			if err := s.run(ctx); err != nil {
				t.Errorf("%v\n%s\nthe end of the editor's log of the protocol:\n%s",
					err, s.output.String(), s.protocolLog(t))
			} else {
				t.Log("\n" + s.output.String())
			}
			traffic.judge(t)
			if diff := cmp.Diff(untouched, tree(t, s.workspace)); diff != "" {
				t.Errorf("the workspace on disk has changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestAgent writes a definition in the editor.
func TestAgent(t *testing.T) {
	server := setting(t, "AGENTLS_BIN")
	for _, nvim := range filepath.SplitList(setting(t, "AGENTLS_NVIM")) {
		t.Run(version(t, nvim), func(t *testing.T) {
			t.Parallel()
			s := newStory(t, nvim, "agent.lua")
			s.env = append(s.env, "AGENTLS_BIN="+server)
			traffic := s.record(t, server)
			ctx, cancel := context.WithTimeout(t.Context(), watchdog)
			defer cancel()
			if err := s.run(ctx); err != nil {
				t.Errorf("%v\n%s\nthe end of the editor's log of the protocol:\n%s",
					err, s.output.String(), s.protocolLog(t))
			} else {
				t.Log("\n" + s.output.String())
			}
			traffic.judge(t)
		})
	}
}

// TestProposals decides about proposed edits in the editor. The model is scripted.
func TestProposals(t *testing.T) { scripted(t, "proposals", map[string]string{"cart.go": cart}, "") }

// TestTree has an agent hand work to children, of which one is stopped. The other goes on when the story says so.
func TestTree(t *testing.T) { scripted(t, "tree", map[string]string{"cart.go": cart}, "free") }

// TestDelegation cancels the progress of one child, and accepts the edit of another.
func TestDelegation(t *testing.T) { scripted(t, "delegation", map[string]string{"cart.go": cart}, "") }

// TestPlugin plays a day with the plugin, which is loaded as a package manager would load it.
func TestPlugin(t *testing.T) {
	files := map[string]string{"cart.go": cart, ".agentls/agents/poet.md": poet}
	scripted(t, "plugin", files, "", "--cmd", "set runtimepath^="+plugin(t))
}

// TestPieces uses the plugin piece by piece.
func TestPieces(t *testing.T) {
	scripted(t, "pieces", map[string]string{"cart.go": cart}, "free", "--cmd", "set runtimepath^="+plugin(t))
}

// TestTyping uses the plugin on a screen, which is a terminal of another Neovim's.
func TestTyping(t *testing.T) {
	scripted(t, "typing", map[string]string{"cart.go": cart}, "free", "--cmd", "set runtimepath^="+plugin(t))
}

// TestAccept accepts an edit on a narrow screen, with the plugin and without, and goes on without another key.
func TestAccept(t *testing.T) {
	scripted(t, "accept", map[string]string{"cart.go": cart}, "", "--cmd", "set runtimepath^="+plugin(t))
}

// TestConversation talks with an agent in a document, with the plugin.
func TestConversation(t *testing.T) {
	played(t, "conversation", "conversation", map[string]string{"cart.go": cart}, "half",
		"--cmd", "set runtimepath^="+plugin(t))
}

// TestConversationAlone does so without the plugin.
func TestConversationAlone(t *testing.T) {
	played(t, "alone", "conversation", map[string]string{"cart.go": cart}, "half")
}

// TestManners shows what the plugin leaves to its user: his keys, his menus, his lines.
func TestManners(t *testing.T) {
	scripted(t, "manners", map[string]string{"cart.go": cart}, "", "--cmd", "set runtimepath^="+plugin(t))
}

// plugin is the folder of the Neovim plugin.
func plugin(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("../nvim")
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestLend asks the plugin for what it lends. Nothing else is started.
func TestLend(t *testing.T) {
	for _, nvim := range filepath.SplitList(setting(t, "AGENTLS_NVIM")) {
		t.Run(version(t, nvim), func(t *testing.T) {
			t.Parallel()
			s := newStory(t, nvim, "lend.lua")
			s.arguments = []string{"--cmd", "set runtimepath^=" + plugin(t)}
			ctx, cancel := context.WithTimeout(t.Context(), watchdog)
			defer cancel()
			if err := s.run(ctx); err != nil {
				t.Errorf("%v\n%s", err, s.output.String())
			} else {
				t.Log("\n" + s.output.String())
			}
		})
	}
}

// poet is a definition that acts once the folder is trusted.
const poet = `---
name: poet
description: Writes poems on code.
category: [primary]
icon: "🪶"
color: "#a855f7"
---
You write poems.
`

// cart is the file that edits are proposed for.
const cart = `package cart

// first
func First() {
}

// second
func Second() {
}

// third
func Third() {
}
`

// scripted plays a story with the script of the same name.
func scripted(t *testing.T, name string, files map[string]string, gate string, arguments ...string) {
	played(t, name, name, files, gate, arguments...)
}

// played plays a story with a model that answers as a script says, in each release of the editor. The gate of the
// script opens when the story prints "let the other go on".
func played(t *testing.T, name, answers string, files map[string]string, gate string, arguments ...string) {
	server := setting(t, "AGENTLS_BIN")
	text, err := os.ReadFile(filepath.Join("testdata", answers+".script"))
	if err != nil {
		t.Fatalf("read the model's script: %v", err)
	}
	for _, nvim := range filepath.SplitList(setting(t, "AGENTLS_NVIM")) {
		t.Run(version(t, nvim), func(t *testing.T) {
			t.Parallel()
			turns, err := script.Parse(name, string(text))
			if err != nil {
				t.Fatal(err)
			}
			provider := httptest.NewServer(wiretest.AnthropicHandler(turns))
			defer provider.Close()
			s := newStory(t, nvim, name+".lua")
			s.arguments = arguments
			s.env = append(s.env, "AGENTLS_BIN="+server, "ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL="+provider.URL)
			for file, text := range files {
				s.write(t, file, text)
			}
			s.output.notify("let the other go on", func() { turns.Release(gate) })
			traffic := s.record(t, server)
			ctx, cancel := context.WithTimeout(t.Context(), watchdog)
			defer cancel()
			if err := s.run(ctx); err != nil {
				t.Errorf("%v\n%s\nthe end of the editor's log of the protocol:\n%s",
					err, s.output.String(), s.protocolLog(t))
			} else {
				t.Log("\n" + s.output.String())
			}
			if err := turns.Check(); err != nil {
				t.Error(err)
			}
			traffic.judge(t)
		})
	}
}

// The following tests show that a story which goes wrong is noticed.

func TestFailingStory(t *testing.T) {
	s := newStory(t, anyNeovim(t), "fail.lua")
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	if err := s.run(ctx); err == nil {
		t.Error("a story that fails has passed")
	}
	if want := "this story fails on purpose"; !strings.Contains(s.output.String(), want) {
		t.Errorf("the output does not hold the error %q:\n%s", want, s.output.String())
	}
}

func TestHangingStory(t *testing.T) {
	s := newStory(t, anyNeovim(t), "hang.lua")
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	s.output.notify("hanging", cancel)
	if err := s.run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a story that hangs ended with %v, not by the watchdog:\n%s", err, s.output.String())
	}
}

func TestLeftOverProcess(t *testing.T) {
	s := newStory(t, anyNeovim(t), "leave.lua")
	s.patience = 0
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	if err := s.run(ctx); err == nil || !strings.Contains(err.Error(), "sleep 1000") {
		t.Errorf("the process that the story left behind is not in the error: %v", err)
	}
}

// A story is one run of a Lua file in a headless Neovim. It is used once, by one goroutine.
type story struct {
	nvim      string
	file      string
	arguments []string
	// command is the editor with its arguments; nil for Neovim, which plays file.
	command   []string
	workspace string
	home      string
	env       []string
	// mark is in the environment of every process that the story starts.
	mark string
	// patience is how long the processes of a story may take to end after the editor.
	patience time.Duration
	output   output
}

// newStory prepares an empty workspace and a home folder for a story in testdata.
func newStory(t *testing.T, nvim, file string) *story {
	t.Helper()
	home := t.TempDir()
	s := &story{
		nvim:      nvim,
		workspace: filepath.Join(home, "workspace"),
		home:      home,
		mark:      "AGENTLS_E2E=" + home,
		patience:  30 * time.Second,
	}
	if err := os.Mkdir(s.workspace, 0o755); err != nil {
		t.Fatalf("make the workspace: %v", err)
	}
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatalf("find the stories: %v", err)
	}
	s.file = filepath.Join(testdata, "run.lua")
	// Nothing of the user's own comes in: no settings, no keys of model providers. Only the caches of Go are shared.
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=dumb", "HOME=" + home,
		"XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "XDG_DATA_HOME=" + filepath.Join(home, "data"),
		"XDG_STATE_HOME=" + filepath.Join(home, "state"), "XDG_CACHE_HOME=" + filepath.Join(home, "cache"),
		"XDG_RUNTIME_DIR=" + home, "AGENTLS_E2E_STORY=" + filepath.Join(testdata, file), s.mark,
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		value, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		if err != nil {
			t.Fatalf("go env %s: %v", name, err)
		}
		s.env = append(s.env, name+"="+strings.TrimSpace(string(value)))
	}
	return s
}

// run plays the story to its end. It fails when the story does, when ctx ends it, and when a process is left over.
// No process of the story lives on after it.
func (s *story) run(ctx context.Context) error {
	command := s.command
	if command == nil {
		command = slices.Concat([]string{s.nvim, "--clean", "--headless", "-n"},
			s.arguments, []string{"-c", "luafile " + s.file})
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = s.workspace, s.env
	cmd.Stdout, cmd.Stderr = &s.output, &s.output
	// A process that is left over may hold the output open.
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("the editor was ended by the watchdog: %w", ctx.Err())
	} else if err != nil {
		err = fmt.Errorf("the editor ended with a failure: %w", err)
	}
	return errors.Join(err, s.endProcesses())
}

// endProcesses waits until no process of the story is left, and kills those that outlast its patience. It looks
// again and again, since nothing tells of the end of a process that is not a child.
func (s *story) endProcesses() error {
	deadline := time.After(s.patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		left, err := s.processes()
		if err != nil || len(left) == 0 {
			return err
		}
		select {
		case <-tick.C:
		case <-deadline:
			return killAll(left)
		}
	}
}

// processes finds what the story has started and still runs: process ids with their command lines.
func (s *story) processes() (map[int]string, error) {
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	found := map[int]string{}
	for _, name := range environments {
		// What has ended meanwhile or belongs to another user cannot be read, and is none of ours.
		env, err := os.ReadFile(name)
		if err != nil || !slices.Contains(strings.Split(string(env), "\x00"), s.mark) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			return nil, fmt.Errorf("read the process id in %s: %w", name, err)
		}
		command, err := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		if err != nil {
			continue
		}
		found[pid] = strings.TrimSpace(strings.ReplaceAll(string(command), "\x00", " "))
	}
	return found, nil
}

// killAll ends processes and tells what they were.
func killAll(left map[int]string) error {
	var faults []error
	for pid, command := range left {
		faults = append(faults, fmt.Errorf("the process %d was left over: %s", pid, command))
		process, err := os.FindProcess(pid)
		if err == nil {
			err = process.Kill()
		}
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			faults = append(faults, fmt.Errorf("kill the process %d: %w", pid, err))
		}
	}
	return errors.Join(faults...)
}

// write puts a file into the workspace; name is slash-separated.
func (s *story) write(t *testing.T, name, text string) {
	t.Helper()
	name = filepath.Join(s.workspace, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatalf("make a folder of the workspace: %v", err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatalf("write a file of the workspace: %v", err)
	}
}

// tree reads all files below a folder.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		files[relative] = string(text)
		return err
	})
	if err != nil {
		t.Fatalf("read the files of %s: %v", root, err)
	}
	return files
}

// protocolLog is the end of what Neovim has noted about the language server.
func (s *story) protocolLog(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.home, "state", "nvim", "lsp.log"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatalf("read the editor's log: %v", err)
	}
	return text[max(0, len(text)-16<<10):]
}

// output collects what a process prints. It has its own lock, since stdout and stderr are written by two goroutines.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	want string
	seen func()
}

// notify has seen called once, when want has been printed.
func (o *output) notify(want string, seen func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.want, o.seen = want, seen
}

// Write takes what was printed.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p)
	if o.seen != nil && strings.Contains(o.text.String(), o.want) {
		o.seen()
		o.seen = nil
	}
	return len(p), nil
}

// String is all that was printed so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// setting reads a variable of the environment that make sets.
func setting(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: run these tests by make e2e", name)
	}
	return value
}

// anyNeovim is the first of the installed releases.
func anyNeovim(t *testing.T) string {
	t.Helper()
	return filepath.SplitList(setting(t, "AGENTLS_NVIM"))[0]
}

// version is the first line of what nvim says about itself, as in "NVIM v0.10.4".
func version(t *testing.T, nvim string) string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), nvim, "--version").Output()
	if err != nil {
		t.Fatalf("%s --version: %v", nvim, err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}
