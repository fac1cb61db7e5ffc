package tool

import "encoding/json"

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
	files, _, _ := parsePatch(named.Patch)
	for _, file := range files {
		paths = append(paths, file.path)
		if file.moveTo != "" {
			paths = append(paths, file.moveTo)
		}
	}
	return paths
}
