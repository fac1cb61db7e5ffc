package workspace

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DiffBase is the folder that the names in a diff are relative to: `git apply` must be run there.
type DiffBase struct {
	dir string
	top string // the top of the repository that dir lies in; dir itself where there is none
}

// NewDiffBase returns the base for a folder, an absolute path. It looks on the disk for the folder's repository: `git
// apply` takes the names of a plain diff as relative to the folder, but those under a `diff --git` line as relative to
// the top of the repository.
func NewDiffBase(dir string) DiffBase {
	for top := filepath.Clean(dir); ; top = filepath.Dir(top) {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			return DiffBase{dir, top}
		}
		if top == filepath.Dir(top) {
			return DiffBase{dir, dir}
		}
	}
}

func slashName(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		rel = path // the folder is on another volume
	}
	return filepath.ToSlash(rel)
}

// Diff returns what the edit does to its file, in a form that `git apply` takes in the base's folder. That is a plain
// unified diff (see [FileEdit.Unified]) where it is enough, and git's extended headers (git-diff, "Generating patch
// text with -p") for renames and for files that come or go without a line. Headers that no lines follow end with an
// empty line, since git would read the names of a following plain diff as a part of them. format is that of the file.
func (e FileEdit) Diff(base DiffBase, format Format) string {
	from := slashName(base.top, e.Path)
	mode := "100644"
	if format.Mode&0o111 != 0 {
		mode = "100755"
	}
	if e.MoveTo == "" {
		plain := e.Unified(slashName(base.dir, e.Path), format)
		switch {
		case !strings.HasPrefix(plain, "diff --git "):
			return plain
		case e.Delete:
			return fmt.Sprintf("diff --git %s %s\ndeleted file mode %s\n\n", quoteName("a/"+from),
				quoteName("b/"+from), mode)
		}
		return fmt.Sprintf("diff --git %s %s\nnew file mode 100644\n\n", quoteName("a/"+from), quoteName("b/"+from))
	}
	to := slashName(base.top, e.MoveTo)
	stays := e
	stays.MoveTo = ""
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git %s %s\nsimilarity index %d%%\nrename from %s\nrename to %s\n",
		quoteName("a/"+from), quoteName("b/"+to), e.similarity(), quoteName(from), quoteName(to))
	if lines := stays.Unified(from, format); lines != "" {
		_, lines, _ = strings.Cut(lines, "\n")
		_, lines, _ = strings.Cut(lines, "\n")
		b.WriteString("--- " + diffName("a/"+from) + "\n+++ " + diffName("b/"+to) + "\n" + lines)
	} else {
		b.WriteString("\n")
	}
	return b.String()
}

// similarity is how much of the text stays, in percent of the longer text. Git only shows it.
func (e FileEdit) similarity() int {
	gone, come := 0, 0
	for _, edit := range e.Edits {
		gone += edit.End - edit.Start
		come += len(edit.New)
	}
	if gone+come == 0 {
		return 100
	}
	return min(99, 100*(len(e.Before)-gone)/max(len(e.Before), len(e.Before)-gone+come))
}

// Ordered puts edits into an order in which the files can be changed one after the other: first changes in place and
// deletions, by path, then renames, each when its new name is free, then new files. cyclic are renames that wait for
// each other.
func Ordered(edits []FileEdit) (ordered, cyclic []FileEdit) {
	var moves, creations []FileEdit
	for _, e := range slices.SortedFunc(slices.Values(edits),
		func(a, b FileEdit) int { return cmp.Compare(a.Path, b.Path) }) {
		switch {
		case e.MoveTo != "":
			moves = append(moves, e)
		case e.Create:
			creations = append(creations, e)
		default:
			ordered = append(ordered, e)
		}
	}
	for len(moves) > 0 {
		free := slices.IndexFunc(moves, func(e FileEdit) bool {
			return !slices.ContainsFunc(moves,
				func(other FileEdit) bool { return other.Path == e.MoveTo && other.Path != e.Path })
		})
		if free < 0 {
			return append(ordered, creations...), moves
		}
		ordered = append(ordered, moves[free])
		moves = slices.Delete(moves, free, free+1)
	}
	return append(ordered, creations...), nil
}
