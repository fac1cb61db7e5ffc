package workspace

import (
	"fmt"

	"github.com/agentls/agentls/agentcore/event"
)

// Root is one workspace folder.
type Root struct {
	// Path is absolute and clean.
	Path string
	// Name is how the editor calls it; it tells roots apart where there are several.
	Name string
}

// Stamp identifies a text: a hash of its bytes. The empty Stamp means "no such file".
type Stamp string

// File is a text as one layer shows it. It is a value; nobody changes it.
type File struct {
	// Path is absolute.
	Path string
	// Text is UTF-8 without a byte order mark, with its own line endings.
	Text  string
	Stamp Stamp
	// Version is the editor's version of the open document, -1 where it is not open.
	Version int32
	// Format is how the file lies on disk.
	Format Format
}

// Format is what of a file on disk is not its text, and survives an edit.
type Format struct {
	// Encoding is "utf-8", "utf-16le" or "utf-16be".
	Encoding string
	BOM      bool
	// Mode holds the permission bits, 0 for a file that is not on disk.
	Mode uint32
}

// Entry is one file or folder of a listing.
type Entry struct {
	Path string
	Dir  bool
	// Plain tells that the disk has it under this name, and that it is no symbolic link there.
	Plain bool
}

// WalkOptions narrow a listing.
type WalkOptions struct {
	// Depth is the number of levels below the start, 0 for all.
	Depth int
	// Ignored also lists what .gitignore leaves out. The .git folder is never listed.
	Ignored bool
}

// ErrorKind sorts what can be wrong with a path or a write.
type ErrorKind string

// The kinds of FileError.
const (
	NotFound   ErrorKind = "not_found"
	Outside    ErrorKind = "outside_workspace"
	Directory  ErrorKind = "is_directory"
	NotRegular ErrorKind = "not_regular"
	Binary     ErrorKind = "binary"
	TooLarge   ErrorKind = "too_large"
	Stale      ErrorKind = "stale"
	Exists     ErrorKind = "exists"
	Protected  ErrorKind = "protected"
	IO         ErrorKind = "io"
)

// FileError says what is wrong with a file, where, and what to do.
type FileError struct {
	Kind   ErrorKind
	Path   string
	Detail string
	Hint   string
	// Current is the text as it is now, for Stale.
	Current *File
	Cause   error
}

func (e *FileError) Error() string {
	text := fmt.Sprintf("%s: %s", e.Path, e.Detail)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Cause }

// Author says who proposed an edit and why.
type Author struct {
	Run    event.RunID
	Agent  string
	Reason string
	// Finding is the one that the edit fixes, empty for none.
	Finding event.FindingID
}

// Edit replaces the bytes [Start, End) of a text by New.
type Edit struct {
	Start, End int
	New        string
}

// FileEdit is what accepting hunks does to one file.
type FileEdit struct {
	Path string
	// Version is that of the open document which the edits fit, -1 where it is not open.
	Version int32
	// Before is the text which the edits fit.
	Before string
	// Edits are sorted and do not overlap. For a file that does not exist (Create), one insertion at 0.
	Edits  []Edit
	Create bool
	Delete bool
	// MoveTo is where the file goes, empty where it stays; nothing is there. Path, Version, Before and Edits are those
	// of the file as it is before: first Edits are applied at Path, then the file is renamed with its new text. There
	// may be no Edits.
	MoveTo string
	// Reasons are those of the hunks, one for each edit, then that of the deletion or the move.
	Reasons []string
}

// HunkFailure is a hunk that could not be taken, and why, in a sentence for people.
type HunkFailure struct {
	ID     event.HunkID
	Reason string
}

// Conflict is a place where two layers changed the same lines in different ways. Ours is the side of the
// layer that was merged.
type Conflict struct {
	// StartLine and EndLine are 0-based lines of the text that was merged into, the end exclusive.
	Path               string
	StartLine, EndLine int
	Base, Ours, Theirs string
	// OursPath and TheirsPath tell where a side moved the file, and are empty where it left it. A file that one side
	// moved to a Path where the other has made another one has an OursPath equal to its Path.
	OursPath, TheirsPath string
}

// MergeReport tells what a merge did.
type MergeReport struct {
	// Conflicts are the edits that were left out.
	Conflicts []Conflict
	// Hunks are those of the session that the merge made or changed; there are none where it went into
	// another layer.
	Hunks []event.HunkID
}

// Change is what a layer does to one file. Before is the file below the layer, After the one that the layer
// shows; nil stands for "no such file". Of a file that was moved their paths differ, and Path is that of After.
type Change struct {
	Path          string
	Before, After *File
	// Authors wrote the change, oldest first.
	Authors []Author
}
