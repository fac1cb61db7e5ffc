package agentcore

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Diff returns hunks of the session's proposal as a unified diff, which `git apply` takes in the first
// workspace folder that has the file. Hunks in conflict and settled ones are left out, since they fit nowhere.
func (s *Session) Diff(ids []event.HunkID) (string, error) {
	edits, _ := s.proposal.Edits(ids) // what fails is what is left out
	var b strings.Builder
	for _, e := range edits {
		var format workspace.Format
		if !e.Create {
			file, err := s.view.Read(e.Path)
			if err != nil {
				return "", fmt.Errorf("read the text below the proposed edits: %w", err)
			}
			format = file.Format
		}
		b.WriteString(e.Unified(s.diffName(e.Path), format))
	}
	return b.String(), nil
}

// diffName is a path as git names it: relative to its workspace folder, with slashes.
func (s *Session) diffName(path string) string {
	for _, root := range s.view.Roots() {
		if rel, err := filepath.Rel(root.Path, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(path)
}
