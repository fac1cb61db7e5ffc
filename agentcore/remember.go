package agentcore

import (
	"context"
	"path/filepath"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/provider"
)

// Remember proposes to remember something, for all agents that work near a file: an item in the nearest AGENTS.md at or
// above it, or in that of its workspace folder, which is new where there is none. The proposal waits for the user
// whatever their mode. It is a run without a model. The path is absolute; "" means the first workspace folder.
func (s *Session) Remember(ctx context.Context, thing, path string) (event.RunID, error) {
	return s.Start(ctx, RunRequest{
		Agent: memoAgent, Prompt: thing, Title: "remember: " + thing, Model: provider.Offline,
		Remember: memoFolder(s, path),
	})
}

// memoAgent is the agent with whose rights something is remembered.
const memoAgent = "coder"

// memoFolder is the folder in whose file something about a path is remembered.
func memoFolder(s *Session, path string) string {
	roots := s.View().Roots()
	root := roots[0].Path
	for _, r := range roots {
		if rel, err := filepath.Rel(r.Path, path); err == nil && filepath.IsLocal(rel) && len(r.Path) >= len(root) {
			root = r.Path
		}
	}
	rel, err := filepath.Rel(root, path)
	if path == "" || err != nil || !filepath.IsLocal(rel) {
		return root
	}
	layer := s.Board().Proposal().Fork()
	for dir := path; len(dir) > len(root); dir = filepath.Dir(dir) {
		if _, err := layer.Read(filepath.Join(dir, instruction.Remembering)); err == nil {
			return dir
		}
	}
	return root
}
