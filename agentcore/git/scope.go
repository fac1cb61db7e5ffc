package git

import (
	"fmt"
	"path/filepath"
	"slices"
)

// Kind says which changes are meant.
type Kind string

// The kinds of changes.
const (
	// Uncommitted is what the working tree and the editor have and HEAD has not, files that nobody has added included.
	Uncommitted Kind = "uncommitted"
	// Staged is what the next commit would bring.
	Staged Kind = "staged"
	// Base is what the working tree and the editor have and the last commit in common with a revision has not: what a
	// branch brings, committed or not.
	Base Kind = "base"
	// Commit is what one commit brings, against its first parent.
	Commit Kind = "commit"
)

// Scope says which changes are meant. It is a value; the zero value means none.
type Scope struct {
	Kind Kind
	// Revision is the one of Base and Commit, as gitrevisions(7) has it; empty for the others.
	Revision string
	// Below leaves out what is in none of these files and folders, absolute; none means all of the work tree.
	Below []string
}

// String names the changes for people.
func (s Scope) String() string {
	switch s.Kind {
	case Staged:
		return "the staged changes"
	case Base:
		return fmt.Sprintf("the changes since %s", s.Revision)
	case Commit:
		return fmt.Sprintf("the commit %s", s.Revision)
	}
	return "the uncommitted changes"
}

// Nothing says for people that there are no such changes.
func (s Scope) Nothing() string {
	switch s.Kind {
	case Staged:
		return "nothing is staged"
	case Base:
		return "nothing has changed since " + s.Revision
	case Commit:
		return fmt.Sprintf("the commit %s changes nothing", s.Revision)
	}
	return "nothing is uncommitted"
}

// holds reports whether a file, by its absolute path, is meant.
func (s Scope) holds(path string) bool {
	return len(s.Below) == 0 || slices.ContainsFunc(s.Below, func(above string) bool {
		rel, err := filepath.Rel(above, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

// Status is what has become of a file.
type Status string

// The statuses of a file.
const (
	Added    Status = "added"
	Modified Status = "modified"
	Deleted  Status = "deleted"
	Renamed  Status = "renamed"
)

// Change is what has become of one file.
type Change struct {
	// Path is absolute: where the file is now, or was before it was deleted.
	Path string
	// From is where a renamed file was, absolute; empty for others.
	From   string
	Status Status
	// Untracked says that nobody has added the file yet.
	Untracked bool
	// Why says why there is no text to compare, such as that it is not a text file or too large; empty where there is.
	Why string
	// Old and New are its texts, empty where there is none.
	Old, New string
}

// Lines are lines of a text, 1-based, both inclusive.
type Lines struct{ First, Last int }
