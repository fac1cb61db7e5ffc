//go:build e2e

package e2e

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/model/script"
	"github.com/agentls/agentls/agentcore/model/wiretest"
)

// The recipes of editors/README.md, each in the editor itself: open a file, review it, see progress and the finding,
// accept the edit. No plugin of ours is there.

// TestEmacs plays the story in Emacs without a terminal, with eglot.
func TestEmacs(t *testing.T) {
	recipe(t, "emacs.el", "recipes", func(s *story) []string {
		return []string{
			setting(t, "AGENTLS_EMACS"), "--batch", "-Q", "-l", filepath.Join(filepath.Dir(s.file), "emacs.el"),
		}
	})
}

// TestHelix plays the story in Helix, in a terminal of Neovim's.
func TestHelix(t *testing.T) {
	recipe(t, "helix.lua", "recipes", helix(t))
}

// TestHelixConversation talks with an agent in a document.
func TestHelixConversation(t *testing.T) {
	recipe(t, "helix-conversation.lua", "conversation", helix(t))
}

// helix has Helix played in a terminal of Neovim's.
func helix(t *testing.T) func(s *story) []string {
	return func(s *story) []string {
		s.nvim = anyNeovim(t)
		s.env = append(s.env, "AGENTLS_HELIX="+setting(t, "AGENTLS_HELIX"))
		return nil
	}
}

// TestVim plays the story in Vim with ALE, in a terminal of Neovim's.
func TestVim(t *testing.T) {
	recipe(t, "vim.lua", "recipes", func(s *story) []string {
		s.nvim = anyNeovim(t)
		s.env = append(s.env, "AGENTLS_VIM="+setting(t, "AGENTLS_VIM"))
		return nil
	})
}

// recipe plays a story with a model that answers as a script says, whose gate "half" opens when the story prints "let
// the other go on"; command returns what plays it, nil for Neovim.
func recipe(t *testing.T, file, answers string, command func(s *story) []string) {
	t.Helper()
	t.Parallel()
	server := setting(t, "AGENTLS_BIN")
	text, err := os.ReadFile(filepath.Join("testdata", answers+".script"))
	if err != nil {
		t.Fatalf("read the model's script: %v", err)
	}
	turns, err := script.Parse(answers, string(text))
	if err != nil {
		t.Fatal(err)
	}
	provider := httptest.NewServer(wiretest.AnthropicHandler(turns))
	defer provider.Close()
	s := newStory(t, "", file)
	s.env = append(s.env, "AGENTLS_BIN="+server, "ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL="+provider.URL)
	s.write(t, "cart.go", cart)
	s.output.notify("let the other go on", func() { turns.Release("half") })
	traffic := s.record(t, server)
	s.command = command(s)
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	if err := s.run(ctx); err != nil {
		t.Errorf("%v\n%s", err, strings.TrimSpace(s.output.String()))
	} else {
		t.Log("\n" + s.output.String())
	}
	if err := turns.Check(); err != nil {
		t.Error(err)
	}
	traffic.judge(t)
}
