package tool

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/agentls/agentls/agentcore/glob"
	"github.com/agentls/agentls/agentcore/workspace"
)

// startOf returns the absolute folders, or the one file, at which a search begins: all roots for an empty name.
func startOf(host Workspace, name string) ([]string, error) {
	view := host.Files().View()
	if name == "" || name == "." || name == "/" || name == "./" {
		var starts []string
		for _, root := range view.Roots() {
			starts = append(starts, root.Path)
		}
		if len(starts) == 0 {
			return nil, errors.New("no folder is open; read an open file by its path")
		}
		return starts, nil
	}
	resolved, err := view.Resolve(name)
	if err != nil {
		return nil, err
	}
	return []string{resolved}, nil
}

// found is one entry below a start. relative is its slash path from there.
type found struct {
	workspace.Entry
	relative string
}

// walk yields what lies below the starts, sorted within each. A start that is a file is yielded alone, with
// its base name as the relative path. Files that the run may not read are left out.
func walk(ctx context.Context, host Workspace, starts []string, depth int) iter.Seq2[found, error] {
	layer := host.Files().Fork()
	return func(yield func(found, error) bool) {
		for _, start := range starts {
			for entry, err := range layer.Walk(ctx, start, workspace.WalkOptions{Depth: depth}) {
				if ctx.Err() != nil {
					yield(found{}, ctx.Err())
					return
				}
				if err != nil {
					yield(found{}, explain(host, start, err))
					return
				}
				if !entry.Dir && !mayShow(host, entry.Path, entry.Plain) {
					continue
				}
				if !yield(found{entry, relativeTo(start, entry.Path)}, nil) {
					return
				}
			}
		}
	}
}

// mayShow reports whether a listed file may be shown. plain says that it is a regular file and no link.
func mayShow(host Workspace, path string, plain bool) bool {
	if plain { // checking each of these again would take as long as the listing
		return host.MayReadPlain(path)
	}
	return host.MayRead(path)
}

// filesBelow yields the files below the starts that match a pattern, in the order of walk, which is slower. It leaves
// out files that the run may not read.
func filesBelow(ctx context.Context, host Workspace, starts []string, wanted globPattern) iter.Seq2[string, error] {
	layer := host.Files().Fork()
	return func(yield func(string, error) bool) {
		for _, start := range starts {
			if isFile(layer, start) {
				if wants(host, filepath.Dir(start), wanted)(start) && host.MayRead(start) && !yield(start, nil) {
					return
				}
				continue
			}
			for file, err := range workspace.Scan[struct{}](ctx, layer, start, wants(host, start, wanted), nil) {
				if err != nil {
					yield("", explain(host, start, err))
					return
				}
				if mayShow(host, file.Path, file.Plain) && !yield(file.Path, nil) {
					return
				}
			}
		}
	}
}

// wants returns which files below a folder match a pattern. A pattern may also begin at the workspace although a folder
// was named.
func wants(host Workspace, start string, pattern globPattern) func(path string) bool {
	if pattern.pattern == "**" {
		return func(string) bool { return true }
	}
	view := host.Files().View()
	return func(path string) bool {
		return pattern.match(relativeTo(start, path)) || !pattern.base && pattern.match(view.Relative(path))
	}
}

// isFile reports whether the layer shows a file at a path, without reading more than needed.
func isFile(layer *workspace.Layer, name string) bool {
	entries, err := layer.List(filepath.Dir(name))
	if err != nil {
		// The folder cannot be listed: walking the path will report why.
		return false
	}
	for _, entry := range entries {
		if entry.Path == name {
			return !entry.Dir
		}
	}
	return false
}

func relativeTo(start, name string) string {
	if rest, ok := strings.CutPrefix(name, start); ok && rest != "" && rest[0] == filepath.Separator {
		return filepath.ToSlash(rest[1:])
	}
	relative, err := filepath.Rel(start, name)
	if err != nil {
		// This cannot happen: both paths are absolute and on one volume, since one was found below the other.
		return filepath.ToSlash(name)
	}
	return filepath.ToSlash(relative)
}

// globPattern is a pattern for slash paths. A pattern without a slash is compared with the base name, at any depth.
type globPattern struct {
	pattern string
	base    bool
}

func newGlob(pattern string) (globPattern, error) {
	pattern = strings.TrimPrefix(filepath.ToSlash(strings.TrimSpace(pattern)), "./")
	if strings.Contains(pattern, ",") && !strings.Contains(pattern, "{") {
		// Some models write several patterns as "*.go,*.mod".
		pattern = "{" + strings.Join(strings.FieldsFunc(pattern, func(r rune) bool { return r == ',' || r == ' ' }),
			",") + "}"
	}
	if !glob.Valid(pattern) {
		return globPattern{},
			fmt.Errorf("%q is no glob pattern, or one with too many braces; use *, ?, [a-z], {a,b} and ** for folders, "+
				"such as **/*.go", pattern)
	}
	return globPattern{pattern, !strings.Contains(pattern, "/")}, nil
}

func (g globPattern) match(relative string) bool {
	if g.base {
		relative = path.Base(relative)
	}
	// The pattern was validated, so Match has no error.
	ok, _ := doublestar.Match(g.pattern, relative)
	return ok
}
