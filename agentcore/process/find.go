package process

import (
	"os/exec"
	"path/filepath"
	"slices"
)

// Find finds a program on PATH, and returns its absolute path. A program in one of the folders outside, by its own path
// or by the path that a link leads to, does not count: in a workspace folder it belongs to the project, as with an
// activated virtual environment.
func Find(name string, outside []string) (program string, ok bool) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", false
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", false
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	return path, !slices.ContainsFunc(outside, func(folder string) bool {
		below := func(path string) bool {
			rel, err := filepath.Rel(folder, path)
			return err == nil && filepath.IsLocal(rel)
		}
		return below(path) || below(real)
	})
}
