package tool

import (
	"encoding/json"
	"strings"
)

// patchHeaders begin the lines of a patch that name a file.
var patchHeaders = []string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"}

// Targets returns the paths of the files that a call of a tool which edits names, as it names them. Arguments that
// are broken have none.
func Targets(name string, arguments json.RawMessage) []string {
	var named struct {
		Path  string `json:"path"`
		Patch string `json:"patch"`
	}
	if json.Unmarshal(arguments, &named) != nil {
		return nil
	}
	var paths []string
	if named.Path != "" {
		paths = append(paths, named.Path)
	}
	if name != "patch" {
		return paths
	}
	for line := range strings.Lines(named.Patch) {
		for _, header := range patchHeaders {
			if path, ok := strings.CutPrefix(strings.TrimSpace(line), header); ok {
				paths = append(paths, strings.TrimSpace(path))
			}
		}
	}
	return paths
}
