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
	recipe(t, "emacs.el", func(s *story) []string {
		return []string{
			setting(t, "AGENTLS_EMACS"), "--batch", "-Q", "-l", filepath.Join(filepath.Dir(s.file), "emacs.el"),
		}
	})
}

// TestHelix plays the story in Helix, in a terminal of Neovim's.
func TestHelix(t *testing.T) {
	recipe(t, "helix.lua", func(s *story) []string {
		s.nvim = anyNeovim(t)
		s.env = append(s.env, "AGENTLS_HELIX="+setting(t, "AGENTLS_HELIX"))
		return nil
	})
}

// TestVim plays the story in Vim with ALE, in a terminal of Neovim's.
func TestVim(t *testing.T) {
	recipe(t, "vim.lua", func(s *story) []string {
		s.nvim = anyNeovim(t)
		s.env = append(s.env, "AGENTLS_VIM="+setting(t, "AGENTLS_VIM"))
		return nil
	})
}

// recipe plays a story; command returns what plays it, nil for Neovim.
func recipe(t *testing.T, file string, command func(s *story) []string) {
	t.Helper()
	t.Parallel()
	server := setting(t, "AGENTLS_BIN")
	text, err := os.ReadFile(filepath.Join("testdata", "recipes.script"))
	if err != nil {
		t.Fatalf("read the model's script: %v", err)
	}
	turns, err := script.Parse("recipes", string(text))
	if err != nil {
		t.Fatal(err)
	}
	provider := httptest.NewServer(wiretest.AnthropicHandler(turns))
	defer provider.Close()
	s := newStory(t, "", file)
	s.env = append(s.env, "AGENTLS_BIN="+server, "ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL="+provider.URL)
	s.write(t, "cart.go", cart)
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
