//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/model/wiretest"
)

// TestCodeReview reviews unsaved text by the offline rules, in real VS Code with the packaged extension.
func TestCodeReview(t *testing.T) {
	t.Parallel()
	s := newCodeStory(t, "review.mjs")
	if err := os.CopyFS(s.workspace, os.DirFS(sample)); err != nil {
		t.Fatalf("copy the sample project %s: %v", sample, err)
	}
	s.write(t, "shelf/shelf.go", shelf)
	s.write(t, ".agentls/agents/house.md",
		"---\nname: house\ntitle: House\ndescription: Knows the rules of the house.\ncategory: [primary]\n---\nYou know the rules of the house.\n")
	untouched := tree(t, s.workspace)
	traffic := s.record(t, setting(t, "AGENTLS_BIN"))
	s.play(t)
	traffic.judge(t)
	if diff := cmp.Diff(untouched, tree(t, s.workspace)); diff != "" {
		t.Errorf("the workspace on disk has changed (-before +after):\n%s", diff)
	}
}

// TestCodeTeam watches an agent with two children, answers one, stops the other, and decides about what was proposed.
func TestCodeTeam(t *testing.T) { scriptedCode(t, "team", map[string]string{"cart.go": cart}, "") }

// TestCodeRestart kills the server, once and then again and again.
func TestCodeRestart(t *testing.T) {
	scriptedCode(t, "restart", map[string]string{"cart.go": cart}, "")
}

// TestCodeBrokenServer has the extension start a program that ends at once.
func TestCodeBrokenServer(t *testing.T) {
	t.Parallel()
	s := newCodeStory(t, "broken.mjs")
	s.env = append(s.env, "AGENTLS_BIN=/bin/false")
	s.play(t)
}

// TestCodeTrouble sees what is told of trouble. A program of the server's name on PATH is not started.
func TestCodeTrouble(t *testing.T) {
	t.Parallel()
	s := newCodeStory(t, "trouble.mjs")
	s.onPath(t, "exit 1")
	s.write(t, "cart.go", cart)
	s.write(t, "book.ipynb", `{"cells":[{"cell_type":"code","execution_count":null,"metadata":{},"outputs":[],"source":["print(1)"]}],`+
		`"metadata":{},"nbformat":4,"nbformat_minor":5}`)
	check := s.serve(t, "trouble", "")
	s.play(t)
	check()
}

// TestCodeOldProgram names a program that speaks a former version of the protocol.
func TestCodeOldProgram(t *testing.T) {
	t.Parallel()
	s := newCodeStory(t, "old.mjs")
	former, err := filepath.Abs("testdata/vscode/former.mjs")
	if err != nil {
		t.Fatal(err)
	}
	s.onPath(t, fmt.Sprintf("exec '%s' '%s' '%s' \"$@\"", s.node, former, setting(t, "AGENTLS_BIN")))
	s.write(t, "cart.go", cart)
	s.play(t)
}

// TestCodeQuestions answers what an agent wants to know: by a button, from a list, and in the user's own words.
func TestCodeQuestions(t *testing.T) {
	scriptedCode(t, "questions", map[string]string{"cart.go": cart}, "")
}

// TestCodeSteer tells a run something from the tree, resumes it, reads its transcript, and cancels another's progress.
func TestCodeSteer(t *testing.T) {
	scriptedCode(t, "steer", map[string]string{"cart.go": cart}, "told")
}

// TestCodeConversation talks with an agent in a document.
func TestCodeConversation(t *testing.T) {
	scriptedCode(t, "conversation", map[string]string{"cart.go": cart}, "half")
}

// TestCodeRewind goes back to before prompts in the tree.
func TestCodeRewind(t *testing.T) { scriptedCode(t, "rewind", map[string]string{"cart.go": cart}, "") }

// TestCodeChanges has changes of a repository reviewed, which has no commit yet.
func TestCodeChanges(t *testing.T) {
	scriptedCode(t, "changes", map[string]string{
		"cart.go":   cart,
		".git/HEAD": "ref: refs/heads/main\n", ".git/objects/info/packs": "", ".git/refs/heads/none": "",
	}, "")
}

// TestCodeConflict types over proposed edits, and decides for the agent's lines here and for the user's there.
func TestCodeConflict(t *testing.T) {
	scriptedCode(t, "conflict", map[string]string{"cart.go": cart}, "")
}

// TestCodeLendsItsLanguages has an agent ask what VS Code's own servers for TypeScript and JSON know of text that was
// never saved.
func TestCodeLendsItsLanguages(t *testing.T) {
	scriptedCode(t, "languages", map[string]string{
		"cart.ts":       "export function total(prices: number[]): number {\n  return prices.reduce((sum, price) => sum + price, 0);\n}\n",
		"shop.json":     "{}\n",
		"tsconfig.json": "{}\n",
	}, "")
}

// TestCodeWalkthrough takes the first steps as the extension shows them, by the offline rules.
func TestCodeWalkthrough(t *testing.T) {
	t.Parallel()
	s := newCodeStory(t, "walkthrough.mjs")
	s.write(t, "notes.txt", "The the shop is open.\n")
	traffic := s.record(t, setting(t, "AGENTLS_BIN"))
	s.play(t)
	traffic.judge(t)
}

// scriptedCode plays a story with a model that answers as the story's script says. The gate of the script opens when
// the story prints "let the other go on".
func scriptedCode(t *testing.T, name string, files map[string]string, gate string) {
	t.Helper()
	t.Parallel()
	s := newCodeStory(t, name+".mjs")
	check := s.serve(t, name, gate)
	for file, text := range files {
		s.write(t, file, text)
	}
	traffic := s.record(t, setting(t, "AGENTLS_BIN"))
	s.play(t)
	traffic.judge(t)
	check()
}

// serve has the story's model answer as a script says. The function that it returns checks that all of it was played.
func (s *codeStory) serve(t *testing.T, name, gate string) func() {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "vscode", name+".script"))
	if err != nil {
		t.Fatalf("read the model's script: %v", err)
	}
	turns, err := script.Parse(name, string(text))
	if err != nil {
		t.Fatal(err)
	}
	provider := httptest.NewServer(wiretest.AnthropicHandler(turns))
	t.Cleanup(provider.Close)
	s.env = append(s.env, "ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL="+provider.URL)
	s.output.notify("let the other go on", func() { turns.Release(gate) })
	return func() {
		if err := turns.Check(); err != nil {
			t.Error(err)
		}
	}
}

// onPath puts a program agentls, a line of sh, in front of all others on PATH.
func (s *codeStory) onPath(t *testing.T, line string) {
	t.Helper()
	folder := filepath.Join(s.home, "programs")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "agentls"), []byte("#!/bin/sh\n"+line+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	// The editor takes PATH from a login shell.
	profile := fmt.Sprintf("PATH='%s':\"$PATH\"\nexport PATH\n", folder)
	if err := os.WriteFile(filepath.Join(s.home, ".profile"), []byte(profile), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestCodeLendsItsModel has an agent work with a language model that another extension has brought to the editor.
func TestCodeLendsItsModel(t *testing.T) {
	t.Parallel()
	s := newCodeStory(t, "lend.mjs")
	lender, err := filepath.Abs("testdata/vscode/lender")
	if err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "AGENTLS_LENDER="+lender)
	s.write(t, "cart.go", cart)
	traffic := s.record(t, setting(t, "AGENTLS_BIN"))
	s.play(t)
	traffic.judge(t)
}

// codeStory is one run of a story in real VS Code, in Chromium.
type codeStory struct {
	*story
	node, path string
}

// newCodeStory prepares an empty workspace and a home folder for a story in testdata/vscode.
func newCodeStory(t *testing.T, file string) *codeStory {
	t.Helper()
	s := &codeStory{story: newStory(t, "", file)}
	for line := range strings.Lines(setting(t, "AGENTLS_VSCODE")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch name {
		case "NODE":
			s.node = filepath.Join(value, "node")
			s.env = append(s.env, "PATH="+value+string(filepath.ListSeparator)+os.Getenv("PATH"))
		case "MODULES", "SERVER", "CHROMIUM":
			s.env = append(s.env, "AGENTLS_CODE_"+name+"="+value)
		}
	}
	path, err := filepath.Abs(filepath.Join("testdata", "vscode", file))
	if err != nil {
		t.Fatalf("find the story: %v", err)
	}
	s.path = path
	s.env = append(s.env, "AGENTLS_VSIX="+setting(t, "AGENTLS_VSIX"),
		"AGENTLS_PICTURES="+os.Getenv("AGENTLS_PICTURES"), "AGENTLS_PATIENCE="+os.Getenv("AGENTLS_PATIENCE"))
	return s
}

// play plays the story to its end, and expects that nothing of it is left over.
func (s *codeStory) play(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.node, s.path)
	cmd.Dir, cmd.Env = s.workspace, s.env
	cmd.Stdout, cmd.Stderr = &s.output, &s.output
	// A process that is left over may hold the output open.
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("VS Code was ended by the watchdog: %w", ctx.Err())
	} else if err != nil {
		err = fmt.Errorf("the story failed: %w", err)
	}
	if err = errors.Join(err, s.endProcesses()); err != nil {
		t.Errorf("%v\n%s\n%s", err, s.output.String(), s.log(t))
		return
	}
	t.Log("\n" + s.output.String())
}

// log is what the extension has logged.
func (s *codeStory) log(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join(s.home, "vscode", "logs"),
		func(name string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.Contains(entry.Name(), "agentls") {
				return err
			}
			text, err := os.ReadFile(name)
			fmt.Fprintf(&all, "%s:\n%s\n", entry.Name(), text[max(0, len(text)-16<<10):])
			return err
		})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("read the log of the extension: %v", err)
	}
	return all.String()
}
