package tool

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/workspace"
)

// readFile resolves a name and reads it for the model to see: the run then counts as having read it.
func readFile(host Host, name string) (workspace.File, error) {
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

// peek reads a path without the run counting as having read it: a fork has its own memory of that.
func peek(layer *workspace.Layer, path string) (workspace.File, error) {
	return layer.Fork().Read(path)
}

// explain adds to an error what the model can do next.
func explain(host Host, path string, err error) error {
	var problem *workspace.FileError
	if !errors.As(err, &problem) {
		return err
	}
	shown := host.Files().View().Relative(path)
	switch problem.Kind {
	case workspace.NotFound:
		if near := neighbours(host, path); near != "" {
			return fmt.Errorf("%s does not exist; near it are %s: %w", shown, near, noHint(problem))
		}
		return fmt.Errorf("%s does not exist; look for it with glob: %w", shown, noHint(problem))
	case workspace.Directory:
		return fmt.Errorf("%s is a folder; use list to see what is in it: %w", shown, noHint(problem))
	}
	return err
}

// noHint is the error without its own advice, where ours is better.
func noHint(problem *workspace.FileError) error {
	short := *problem
	short.Hint = ""
	return &short
}

// neighbours names files in the folder of a missing one whose names are like its own.
func neighbours(host Host, path string) string {
	entries, err := host.Files().List(filepath.Dir(path))
	if err != nil {
		// No such folder either: there is nothing near.
		return ""
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = filepath.Base(entry.Path)
	}
	var near []string
	for len(near) < 3 {
		name := nearest(filepath.Base(path), names)
		if name == "" {
			break
		}
		near = append(near, host.Files().View().Relative(filepath.Join(filepath.Dir(path), name)))
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
