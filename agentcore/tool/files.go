package tool

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/spelling"
	"github.com/agentls/agentls/agentcore/workspace"
)

// readFile resolves a name and reads it for the model to see: the run then counts as having read it.
func readFile(host Workspace, name string) (workspace.File, error) {
	path, err := host.Files().View().Resolve(name)
	if err != nil {
		return workspace.File{}, err
	}
	file, err := host.Files().Read(path)
	if err != nil {
		return workspace.File{}, explain(host, path, err)
	}
	return file, nil
}

// peek reads a path on a fork, so that the run does not count as having read it.
func peek(layer *workspace.Layer, path string) (workspace.File, error) {
	return layer.Fork().Read(path)
}

// gone refuses, once, to create a file that the run has read and that no longer exists: the run would write it from the
// former text, which the user may have moved elsewhere.
func gone(layer *workspace.Layer, path string) error {
	layer.Forget(path)
	return fmt.Errorf(
		"%s is gone since you read it, renamed or deleted, so nothing was written: look for its text elsewhere, or "+
			"write it again to make it a new file",
		layer.View().Shown(path))
}

// explain puts a *workspace.FileError into the words of the tools: with the path as models know it, and what to do
// next. Other errors stay as they are.
func explain(host Workspace, path string, err error) error {
	var problem *workspace.FileError
	if !errors.As(err, &problem) {
		return err
	}
	told := *problem
	told.Path, told.Cause = host.Files().View().Shown(path), problem
	switch problem.Kind {
	case workspace.NotFound:
		told.Detail, told.Hint = "does not exist", "look for it with glob"
		if near := neighbours(host, path); near != "" {
			told.Hint = "near it are " + near
		}
	case workspace.Directory:
		told.Detail, told.Hint = "is a folder", "use list to see what is in it"
	case workspace.Stale:
		told.Detail, told.Hint = "changed while it was edited, so nothing was written",
			"read it again and repeat the change"
	}
	return &told
}

// neighbours names files in the folder of a missing file whose names are similar.
func neighbours(host Workspace, path string) string {
	entries, err := host.Files().List(filepath.Dir(path))
	if err != nil {
		// The folder does not exist either.
		return ""
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = filepath.Base(entry.Path)
	}
	var near []string
	for len(near) < 3 {
		name := spelling.Nearest(filepath.Base(path), names)
		if name == "" {
			break
		}
		near = append(near, host.Files().View().Shown(filepath.Join(filepath.Dir(path), name)))
		names = slices.DeleteFunc(names, func(s string) bool { return s == name })
	}
	return strings.Join(near, ", ")
}

// count writes "1 line" or "2 lines".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
