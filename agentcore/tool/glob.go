package tool

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// globLimit is how many files glob names.
const globLimit = 500

type globArguments struct {
	Pattern string `json:"pattern" jsonschema:"such as cmd/*/main.go, or *.go in any folder" alias:"glob,glob_pattern"`
	Path    string `json:"path,omitempty" alias:"directory,dir,target_directory"`
}

func globTool() Tool {
	return New(Definition[globArguments, Workspace]{
		Name:        "glob",
		Description: "Find files by name. Ignored files are left out.",
		Effect:      Reads,
		Access:      func(a globArguments) Access { return lookingIn(a.Path) },
		Subject:     ByPath,
		Example:     globArguments{Pattern: "**/*_test.go"},
		Title: func(a globArguments) string {
			return strings.TrimSuffix("find "+a.Pattern+" in "+a.Path, " in ")
		},
		Run: globFiles,
	})
}

func globFiles(ctx context.Context, host Workspace, a globArguments) (Result, error) {
	view := host.Files().View()
	name, pattern := a.Path, a.Pattern
	if name == "" && filepath.IsAbs(pattern) {
		for _, root := range view.Roots() {
			if within(root.Path, pattern) {
				name, pattern = root.Path, relativeTo(root.Path, pattern)
				break
			}
		}
	}
	if strings.TrimSpace(pattern) == "" {
		return Result{}, fmt.Errorf("the pattern is empty; say which files, such as **/*.go, or see a folder with list")
	}
	wanted, err := newGlob(pattern)
	if err != nil {
		return Result{}, err
	}
	starts, err := startOf(host, name)
	if err != nil {
		return Result{}, err
	}
	var out strings.Builder
	total, listed := 0, 0
	for path, err := range filesBelow(ctx, host, starts, wanted) {
		if err != nil {
			return Result{}, err
		}
		shown := view.Shown(path)
		if total++; listed < globLimit && out.Len() < outputLimit {
			listed++
			out.WriteString(shown + "\n")
		} else if total > 10*globLimit {
			break
		}
	}
	switch {
	case total == 0:
		out.WriteString("No file matches; files that git ignores are left out.")
	case total > 10*globLimit:
		fmt.Fprintf(&out, "(more than %d match; narrow the pattern)\n", 10*globLimit)
	case total > listed:
		fmt.Fprintf(&out, "(%d more match; narrow the pattern)\n", total-listed)
	}
	return Result{Text: out.String(), Summary: count(total, "file", "files")}, nil
}
