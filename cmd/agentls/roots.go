package main

import (
	"os"
	"path/filepath"

	"github.com/agentls/agentls/agentcore/git"
	"github.com/agentls/agentls/agentcore/workspace"
)

// inside reports whether a clean absolute path lies in, or is, a folder.
func inside(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// absolute makes clean absolute paths of names from the command line.
func (v *environment) absolute(names []string) []string {
	paths := make([]string, len(names))
	for i, name := range names {
		if !filepath.IsAbs(name) {
			name = filepath.Join(v.dir, name)
		}
		paths[i] = filepath.Clean(name)
	}
	return paths
}

// chooseRoot finds the workspace folder of some files: the named one, else the current folder if it
// contains all of them, else the top of the first file's git repository, else its folder. The path of a file that
// reaches the root only through symbolic links is rewritten below the root.
func (v *environment) chooseRoot(named string, paths []string) (workspace.Root, []string, error) {
	root := v.dir
	if named != "" {
		root = v.absolute([]string{named})[0]
		info, err := os.Stat(root)
		if err != nil {
			return workspace.Root{}, nil, usage("use --root: %w; name a folder that exists", err)
		}
		if !info.IsDir() {
			return workspace.Root{}, nil, usage("--root %s is no folder; name the workspace folder", root)
		}
	}
	below, all := rebase(root, paths)
	if !all && named == "" {
		folder := filepath.Dir(paths[0])
		if top := git.Top(folder); top != "" {
			folder = top
		}
		root = folder
		if below, all = rebase(root, paths); !all {
			return workspace.Root{}, nil,
				usage("not all of these files lie in %s, where the first is; name a folder that holds them with --root",
					root)
		}
	}
	return workspace.Root{Path: root, Name: filepath.Base(root)}, below, nil
}

// rebase returns the paths with those below root rewritten in terms of root, and whether all of them are below it. A
// folder may have several names where links lead to it.
func rebase(root string, paths []string) (below []string, all bool) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		real = root
	}
	all = true
	for _, path := range paths {
		if !inside(root, path) {
			// Only the folder is resolved. A file that is itself a link stays one, and the workspace judges it.
			if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil && inside(real, folder) {
				if rel, err := filepath.Rel(real, folder); err == nil {
					path = filepath.Join(root, rel, filepath.Base(path))
				}
			}
		}
		all = all && inside(root, path)
		below = append(below, path)
	}
	return below, all
}
