package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/agent"
)

const program = `engine: acp
command: [claude-agent-acp, --fast, ""]
env: [ANTHROPIC_API_KEY, DISABLE_TELEMETRY=1]
program_mode: yolo
home: {read: [~/.gitconfig], write: [.claude, .claude.json]}
network: [api.anthropic.com]
`

// TestPrograms reads the definition of another program, which needs no prompt, and writes it as JSON and back.
func TestPrograms(t *testing.T) {
	f := agent.Parse(".agentls/agents/x.md", "---\nname: x\ndescription: d\ncategory: [primary]\n"+program+"---\n")
	f.Validate(known())
	want := agent.Program{
		Command: []string{"claude-agent-acp", "--fast", ""}, Env: []string{"ANTHROPIC_API_KEY", "DISABLE_TELEMETRY=1"},
		Mode: "yolo", Reads: []string{".gitconfig"}, Writes: []string{".claude", ".claude.json"},
		Network: []string{"api.anthropic.com"},
	}
	if len(f.Problems) > 0 || len(f.Usable()) != 1 || !f.Usable()[0].IsProgram() {
		t.Fatalf("got %v", f.Problems)
	}
	if d := cmp.Diff(want, f.Usable()[0].Program); d != "" {
		t.Error(d)
	}
	text, err := json.Marshal(f.Usable()[0])
	if err != nil {
		t.Fatal(err)
	}
	back := agent.Parse(".agentls/agents.json", `{"agents": [`+string(text)+`]}`)
	if len(back.Usable()) != 1 {
		t.Fatalf("%s: %v", text, back.Problems)
	}
	if d := cmp.Diff(f.Usable()[0].Program, back.Usable()[0].Program); d != "" {
		t.Error(d)
	}
}

// TestProgramsThatAreWrong: what a definition of a program lacks, or has too much, is told.
func TestProgramsThatAreWrong(t *testing.T) {
	for name, test := range map[string]struct {
		keys, want string
		usable     bool
	}{
		"no command":     {"engine: acp\n", "command is missing", false},
		"no engine":      {"command: [x]\n", "command has no effect", true},
		"another engine": {"engine: mcp\ncommand: [x]\n", `engine is "mcp"`, false},
		"outside":        {"engine: acp\ncommand: [x]\nhome: {read: [../other]}\n", "not below the home folder", false},
		"all of it":      {"engine: acp\ncommand: [x]\nhome: {write: [\"~\"]}\n", "not below the home folder", false},
		"absolute":       {"engine: acp\ncommand: [x]\nhome: {write: [/etc]}\n", "not below the home folder", false},
		"a variable":     {"engine: acp\ncommand: [x]\nenv: [\"A B\"]\n", `env has "A B"`, false},
		"a typo":         {"engine: acp\ncommand: [x]\nhome: {reads: [a]}\n", `home has no key "reads"`, true},
	} {
		f := agent.Parse(".agentls/agents/x.md", native("x", test.keys))
		f.Validate(known())
		told := slices.ContainsFunc(f.Problems, func(p agent.Problem) bool {
			return strings.Contains(p.Message, test.want) && p.Hint != ""
		})
		if !told || len(f.Problems) != 1 || (len(f.Usable()) == 1) != test.usable {
			t.Errorf("%s: %v, usable %d", name, f.Problems, len(f.Usable()))
		}
	}
}

// TestOnlyTheUserStartsPrograms: the definition of a program counts where the user wrote it, and not in a project that
// the user trusts.
func TestOnlyTheUserStartsPrograms(t *testing.T) {
	dir := t.TempDir()
	text := native("x", program)
	write(t, dir, map[string]string{
		"user/agents/x.md": text, "project/agents/y.md": strings.Replace(text, "name: x", "name: y", 1),
	})
	r := load(t, &agent.Loader{}, []agent.Folders{{
		Layer: agent.LayerUser, Dir: filepath.Join(dir, "user"), Format: agent.Native,
	}, {
		Layer: agent.LayerProject, Dir: filepath.Join(dir, "project"), Format: agent.Native,
	}})
	if d, err := r.Find("x"); err != nil || !d.IsProgram() {
		t.Errorf("the user's own: %v", err)
	}
	if _, err := r.Find("y"); err == nil || !strings.Contains(err.Error(), "only a definition of your own") {
		t.Errorf("a project's: %v", err)
	}
}

// TestWellKnownPrograms: those that are installed are agents, behind those of agentls; all definitions are sound, and
// one of the user's takes the place of one that is built in.
func TestWellKnownPrograms(t *testing.T) {
	dir := t.TempDir()
	names := []string{"claude-agent-acp", "codex-acp", "copilot", "gemini", "goose", "opencode"}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	all, err := agent.Programs("relative:" + dir)
	if err != nil || len(all) != len(names) {
		t.Fatalf("%d are there: %v", len(all), err)
	}
	for _, d := range all {
		if p := d.Program; !d.IsProgram() || len(p.Writes) == 0 || len(p.Network) == 0 || d.Is(agent.Subagent) {
			t.Errorf("%s: %+v", d.Slug, d)
		}
	}
	if err := os.Remove(filepath.Join(dir, "goose")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"user/agents/codex.md": native("codex", "")})
	l := agent.Loader{Path: dir}
	r := load(t, &l, []agent.Folders{{
		Layer: agent.LayerUser, Dir: filepath.Join(dir, "user"), Format: agent.Native,
	}})
	if d, err := r.Find("codex"); err != nil || d.IsProgram() {
		t.Errorf("the user's codex does not count: %v", err)
	}
	if _, err := r.Find("goose"); err == nil {
		t.Error("goose is an agent, and not installed")
	}
	if list := r.Names(); slices.Index(list, "opencode") < slices.Index(list, "coder") {
		t.Errorf("the order is %v", list)
	}
}
