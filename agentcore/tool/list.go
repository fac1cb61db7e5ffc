package tool

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/agentls/agentls/agentcore/permission"
)

const (
	// listDepth is how many levels list shows if the call does not say.
	listDepth = 2
	// listLimit is how many entries list shows.
	listLimit = 500
)

type listArguments struct {
	Path  string `json:"path,omitempty" alias:"directory,dir,target_directory,relative_workspace_path"`
	Depth int    `json:"depth,omitempty" minimum:"1" alias:"max_depth"`
}

func listTool() Tool {
	return New(Definition[listArguments, Workspace]{
		Name:        "list",
		Description: "Show what is below a folder as a tree, without ignored files.",
		Effect:      Reads,
		Access:      func(a listArguments) Access { return lookingIn(a.Path) },
		Subject:     ByPath,
		Example:     listArguments{Path: "internal", Depth: 2},
		Title:       func(a listArguments) string { return "list " + a.Path },
		Run:         list,
	})
}

func list(ctx context.Context, host Workspace, a listArguments) (Result, error) {
	starts, err := startOf(host, a.Path)
	if err != nil {
		return Result{}, err
	}
	view := host.Files().View()
	if len(starts) == 1 && isFile(host.Files(), starts[0]) {
		return Result{}, fmt.Errorf("%s is a file; use read to see it", view.Shown(starts[0]))
	}
	depth := listDepth
	if a.Depth > 0 {
		depth = a.Depth
	}
	var out strings.Builder
	total, listed := 0, 0
	for _, start := range starts {
		indent := 0
		if len(starts) > 1 {
			out.WriteString(view.Shown(start) + "/\n")
			indent = 1
		}
		for entry, err := range walk(ctx, host, []string{start}, depth) {
			if err != nil {
				return Result{}, err
			}
			if total++; listed == listLimit || out.Len() > outputLimit {
				continue
			}
			listed++
			name := path.Base(entry.relative)
			if permission.Quoted(entry.relative) != entry.relative {
				name = view.Shown(entry.Path) // the whole path, which can be given back as it is
			}
			out.WriteString(strings.Repeat("  ", indent+strings.Count(entry.relative, "/")) + name)
			if entry.Dir {
				out.WriteString("/")
			}
			out.WriteString("\n")
		}
	}
	switch {
	case total == 0:
		out.WriteString("(the folder is empty, but for what git ignores)")
	case total > listed:
		fmt.Fprintf(&out, "(%d more; list a folder below, or with less depth)\n", total-listed)
	}
	return Result{Text: out.String(), Summary: count(total, "entry", "entries")}, nil
}
