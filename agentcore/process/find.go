package process

import (
	"os/exec"
	"path/filepath"
	"slices"
)

// Find looks a program up on PATH, and returns its absolute path. One that lies in one of the folders, by its name or
// by what that leads to, does not count: in a workspace folder it is the project's own, as an activated virtual
// environment is.
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
