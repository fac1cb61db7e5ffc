package board

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

// Diff returns hunks of the session's proposal as a unified diff, which `git apply` takes in the first
// workspace folder that has the file. Hunks in conflict and settled ones are left out, since they fit nowhere.
func (b *Board) Diff(ids []event.HunkID) (string, error) {
	edits, _ := b.proposal.Edits(ids) // the hunks that fail are left out
	ordered, cyclic := workspace.Ordered(edits)
	bases := map[string]workspace.DiffBase{}
	var text strings.Builder
	for _, e := range append(ordered, cyclic...) {
		var format workspace.Format
		if !e.Create {
			file, err := b.view.Read(e.Path)
			if err != nil {
				return "", fmt.Errorf("read the text below the proposed edits: %w", err)
			}
			format = file.Format
		}
		root := b.rootOf(e.Path)
		base, known := bases[root]
		if !known {
			base = workspace.NewDiffBase(root)
			bases[root] = base
		}
		text.WriteString(e.Diff(base, format))
	}
	return text.String(), nil
}

// rootOf is the workspace folder of a file or, for a file outside of them, the file's own folder.
func (b *Board) rootOf(path string) string {
	for _, root := range b.view.Roots() {
		if rel, err := filepath.Rel(root.Path, path); err == nil && filepath.IsLocal(rel) {
			return root.Path
		}
	}
	return filepath.Dir(path)
}
