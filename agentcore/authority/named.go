package authority

import (
	"os"

	"github.com/agentls/agentls/agentcore/workspace"
)

// NamedIn is a file of the workspace that is named in words, empty for none.
func NamedIn(view *workspace.View, words []string) string {
	for _, root := range view.Roots() {
		dir, err := os.OpenRoot(root.Path)
		if err != nil {
			continue // words cannot name a file in it
		}
		files := NamedFiles(words, root.Path, dir)
		dir.Close() // only read from
		if len(files) > 0 {
			return files[0]
		}
	}
	return ""
}
