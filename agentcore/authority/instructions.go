package authority

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/agentls/agentls/agentcore/instruction"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/workspace"
)

const (
	// maxInstructions bounds how many files with instructions are looked for below a folder.
	maxInstructions = 1000
	// maxImporting is the size, in bytes, up to which a file's imports are looked at, and up to which a file may be
	// imported.
	maxImporting = 1 << 20
)

// DeepInstructions are the files with instructions in the folders below a workspace folder, as slash paths, without
// those that version control ignores. It walks the whole tree, which takes a moment in a large one, so that it is
// called only before a folder is trusted. Only the first 1000 files count.
func DeepInstructions(ctx context.Context, root string) (list []string, err error) {
	view, err := workspace.Open([]workspace.Root{{Path: root}}, workspace.Options{})
	if err != nil {
		return nil, fmt.Errorf("look for instructions in %s: %w", root, err)
	}
	defer view.Close()
	proposal := view.NewProposal(workspace.ProposalOptions{})
	defer proposal.Close()
	want := func(name string) bool { return slices.Contains(instruction.OfFolders(), filepath.Base(name)) }
	for found, err := range workspace.Scan[struct{}](ctx, proposal.Fork(), root, want, nil) {
		if err != nil {
			return nil, fmt.Errorf("look for instructions in %s: %w", root, err)
		}
		rel, err := filepath.Rel(root, found.Path)
		if err != nil || filepath.Dir(rel) == "." || !want(found.Path) {
			continue
		}
		if list = append(list, filepath.ToSlash(rel)); len(list) == maxInstructions {
			break
		}
	}
	return list, nil
}

// deep are those files, as slash paths, that hold instructions and lie in a folder below the workspace folder.
func deep(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return path.Dir(name) == "." || !slices.Contains(instruction.OfFolders(), path.Base(name))
	})
}

// pathsOf are the files of actors.
func pathsOf(actors []permission.Actor) []string {
	list := make([]string, len(actors))
	for i, a := range actors {
		list[i] = a.Path
	}
	return list
}

// importsOf are the files of a folder that its instructions import, as sorted slash paths. Files that agents are never
// given are left out: those that are no regular files, too large, or look like files with secrets.
func importsOf(dir *os.Root, actors []permission.Actor) []string {
	var list, next []string
	for _, a := range actors {
		if full := "/" + a.Path; instruction.Is(full) && instruction.Importing(full) {
			next = append(next, a.Path)
		}
	}
	seen := map[string]bool{}
	for depth := 0; depth <= instruction.MaxDepth && len(next) > 0; depth++ {
		now := next
		next = nil
		for _, name := range now {
			if seen[name] || len(list) > maxInstructions {
				continue
			}
			seen[name] = true
			if depth > 0 {
				list = append(list, name)
			}
			next = append(next, importedBy(dir, name)...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// importedBy are the files of a folder that one of its texts imports, as slash paths.
func importedBy(dir *os.Root, name string) (list []string) {
	if !importable(dir, name) {
		return nil
	}
	text, err := readBelow(dir, name)
	if err != nil {
		return nil // a file that cannot be read instructs nobody
	}
	for _, i := range instruction.Imports(string(text)) {
		full, ok := i.Resolve(filepath.Join(dir.Name(), filepath.FromSlash(name)), "")
		if !ok {
			continue
		}
		rel, err := filepath.Rel(dir.Name(), full)
		if err != nil || !filepath.IsLocal(rel) || !importable(dir, rel) {
			continue
		}
		list = append(list, filepath.ToSlash(rel))
	}
	return list
}

// readBelow reads a file of a folder up to the size that imports may have. It does not wait for a pipe that has taken
// the file's place.
func readBelow(dir *os.Root, name string) ([]byte, error) {
	file, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close() // only read from
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("no regular file"))
	}
	return io.ReadAll(io.LimitReader(file, maxImporting))
}

// importable reports whether a file of a folder may be given to agents.
func importable(dir *os.Root, name string) bool {
	info, err := dir.Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Size() <= maxImporting &&
		!permission.Secret(filepath.ToSlash(name))
}
