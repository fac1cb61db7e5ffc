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
	// Uncommitted is what the working tree and the editor have and HEAD has not, with files that were not added.
	Uncommitted Kind = "uncommitted"
	// Staged is what the next commit would bring.
	Staged Kind = "staged"
	// Base is what the working tree and the editor have changed since the last common commit with a revision: the
	// changes of a branch, committed or not.
	Base Kind = "base"
	// Commit is what one commit brings, against its first parent.
	Commit Kind = "commit"
)

// Scope says which changes are meant. It is never changed; the zero value means none.
type Scope struct {
	Kind Kind
	// Revision is the revision for Base and Commit, in the notation of gitrevisions(7); empty for other kinds.
	Revision string
	// Below limits the changes to these files and folders, absolute; if it is empty, all of the work tree counts.
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

// Status is what has happened to a file.
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
	// Untracked says that the file was not added yet.
	Untracked bool
	// Why says why there is no text to compare, such as that the file is too large or no text file; empty if there is
	// one.
	Why string
	// Old and New are its texts, empty where there is none.
	Old, New string
}

// Lines are lines of a text, 1-based, both inclusive.
type Lines struct{ First, Last int }
