package workspace

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/agentls/agentls/agentcore/permission"
)

// Snapshot holds the files that a layer shows otherwise than the disk, at one moment. It is immutable.
type Snapshot struct {
	layer *Layer
	files map[string]shot
	taken time.Time
}

// shot is a file of a snapshot with its bytes; nil for a file that does not exist.
type shot struct {
	text *text
	data []byte
	// same is true where the disk has the same.
	same bool
}

// Snapshot returns the files that the layer shows otherwise than the disk: open documents, and files that the session
// and the layers add, change or delete. Files that look like secrets are left out unless the user let the run touch
// them. It reads the disk. The run does not count as having seen the files.
func (l *Layer) Snapshot() Snapshot {
	s := Snapshot{l, map[string]shot{}, time.Now()}
	for _, root := range l.view.Roots() {
		for path, t := range overlay(l, root.Path) {
			if permission.Secret(filepath.ToSlash(path)) && !l.allows(path) {
				continue
			}
			disk, err := l.view.readDisk(path)
			if err == nil && disk.text.same(t) {
				s.files[path] = shot{text: t, same: true}
				continue
			}
			format := disk.format
			if err != nil || disk.text == nil {
				// A file that is moved keeps the encoding that it has at its old path.
				format = Format{}
				if c, err := l.content(path); err == nil {
					format = c.format
				}
			}
			data, err := format.Encode(t.string())
			if err != nil {
				continue // every encoding that a file is read in can be written
			}
			s.files[path] = shot{text: t, data: data}
		}
	}
	return s
}

// Files yields the paths, sorted and absolute, each with the bytes of the file in its own encoding; nil for a file that
// the layer takes away.
func (s Snapshot) Files() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, path := range slices.Sorted(maps.Keys(s.files)) {
			data := s.files[path].data
			switch {
			case s.files[path].same:
				continue
			case s.files[path].text == nil:
				data = nil
			case data == nil:
				data = []byte{}
			}
			if !yield(path, data) {
				return
			}
		}
	}
}

// Written is a file as left by a program that saw the snapshot.
type Written struct {
	// Path is absolute.
	Path string
	// Content is the whole file in its own encoding; nothing where it is Deleted.
	Content []byte
	Deleted bool
	// Executable tells that the file may be executed.
	Executable bool
	// Existed tells that the program found the file, and Before is the SHA-256 of what it found.
	Existed bool
	Before  [sha256.Size]byte
}

// Taken tells what Take did with a Written file.
type Taken struct {
	Path string
	// MovedFrom is the path that the file had before; empty where it was not moved.
	MovedFrom string
	// Changed is true where the layer shows something else now, Created and Deleted where the file is new or gone.
	Changed, Created, Deleted bool
	// Conflicts are changes that were left out since the same lines had changed meanwhile; Ours is the program's side.
	// Their line numbers are those of the layer's text now.
	Conflicts []Conflict
	// Problem says why the whole file was left out, or is nil. It is a *FileError where the workspace refused the file.
	Problem error
	// Notes say what of the file cannot be proposed, such as a mode.
	Notes []string
}

// Take makes an edit of the layer from what a program wrote. Where the layer still shows what the program saw, it takes
// the program's text. Otherwise it merges the two line by line, and leaves out changes that collide. The run does not
// count as having seen the new text. Only the layer's owner may call it.
func (s Snapshot) Take(w Written, author Author) Taken {
	return s.take(w, author, s.layer.view.Judge(nil))
}

// take is Take of a file of a batch.
func (s Snapshot) take(w Written, author Author, judge *Judge) Taken {
	path := cleanPath(w.Path)
	taken := Taken{Path: path}
	fail := func(err error) Taken {
		taken.Problem = err
		return taken
	}
	if err := writableBy(judge, s.layer, path); err != nil {
		return fail(err)
	}
	c, format, err := s.now(path)
	if err != nil {
		return fail(err)
	}
	made, notes, err := written(w, path, format, c.text != nil)
	if err != nil {
		return fail(err)
	}
	taken.Notes = notes
	base, known := s.before(path, w, c, format)
	next := made
	switch {
	case c.text.same(made):
		return taken
	case known && c.text.same(base):
	case !known:
		return fail(&FileError{
			Kind: Stale, Path: path,
			Detail: "was changed on disk while the command ran, so what the command made of it was left out",
			Hint:   "run the command again",
		})
	case base == nil || made == nil || c.text == nil:
		// One side made or deleted the file.
		taken.Conflicts = []Conflict{{
			Path: path, EndLine: c.text.index().Len(), Base: base.string(), Ours: made.string(),
			Theirs: c.text.string(),
		}}
		return taken
	default:
		merged, conflicts := mergeKeeping(base.string(), made.string(), c.text.string())
		for i := range conflicts {
			conflicts[i].Path = path
		}
		taken.Conflicts = conflicts
		if next = newText(merged); next.same(c.text) {
			return taken
		}
	}
	taken.Problem = s.layer.putUnseen(judge, path, next, c.text.stamp(), author)
	if taken.Problem == nil {
		taken.Changed, taken.Created, taken.Deleted = true, c.text == nil, next == nil
	}
	return taken
}

// written is the text that a program wrote, nil where it deleted the file, and notes on what cannot be proposed.
func written(w Written, path string, format Format, there bool) (*text, []string, error) {
	if w.Deleted {
		return nil, nil, nil
	}
	decoded, as, ok := Decode(w.Content)
	if !ok {
		return nil, nil, &FileError{
			Kind: Binary, Path: path, Detail: "is not a text file", Hint: "its change stays in the sandbox",
		}
	}
	return newText(decoded), formatNotes(format, as, there, w.Executable), nil
}

// IsText tells whether a file with that content is text, as files are read: UTF-8, or UTF-16 with a byte order mark.
func IsText(content []byte) bool {
	_, _, ok := Decode(content)
	return ok
}

// now is a file as the layer shows it, and its format on the disk.
func (s Snapshot) now(path string) (content, Format, error) {
	c, err := s.layer.content(path)
	format := c.format
	if err == nil && c.open {
		// The editor does not tell the file's format on the disk.
		if disk, err := s.layer.view.readDisk(path); err == nil && disk.text != nil {
			format = disk.format
		}
	}
	return c, format, err
}

// formatNotes say what of a file's new format cannot be proposed. there tells that the file is there already.
func formatNotes(was, as Format, there, executable bool) (notes []string) {
	switch {
	case there && (as.BOM != was.BOM || as.Encoding != cmp.Or(was.Encoding, "utf-8")):
		notes = append(notes, "its encoding stays as it is")
	case !there && as.Encoding != "utf-8":
		notes = append(notes,
			"it is "+as.Encoding+" in the sandbox, but the editor makes new files in its own encoding")
	}
	if executable != (was.Mode&0o111 != 0) {
		notes = append(notes, executableNote(executable))
	}
	return notes
}

func executableNote(executable bool) string {
	if executable {
		return "it is executable in the sandbox, which cannot be proposed: the user runs chmod +x"
	}
	return "it is not executable in the sandbox, which cannot be proposed: the user runs chmod -x"
}

// before is the text that the program found, nil where it found no file. known is false where that text is not known
// any more.
func (s Snapshot) before(path string, w Written, now content, format Format) (base *text, known bool) {
	if shot, ok := s.files[path]; ok {
		return shot.text, true
	}
	if !w.Existed {
		return nil, true
	}
	if s.layer.view.changedSince(path, s.taken) {
		return nil, false
	}
	found := func(t *text) bool {
		if t == nil {
			return false
		}
		data, err := format.Encode(t.string())
		return err == nil && sha256.Sum256(data) == w.Before
	}
	if found(now.text) {
		return now.text, true
	}
	if disk, err := s.layer.view.readDisk(path); err == nil && found(disk.text) {
		return disk.text, true
	}
	return nil, false
}

// changedSince reports whether the file on disk was written after a moment, or is gone.
func (f *folders) changedSince(path string, moment time.Time) bool {
	r, rel := f.locate(path)
	if r == nil {
		return true
	}
	below, err := r.folders()
	if err != nil {
		return true
	}
	info, err := below.Stat(rel)
	return err != nil || info.Modified.After(moment)
}

// putUnseen is put for a text that the run has not seen. What the run knows of the file stays as it was.
func (l *Layer) putUnseen(judge *Judge, path string, next *text, base Stamp, author Author) error {
	if base == "" {
		if err := creatable(judge, l, path); err != nil {
			return err
		}
	}
	l.mu.Lock()
	seen, wasSeen := l.seen[path]
	learned, wasLearned := l.learned[path]
	l.mu.Unlock()
	if _, err := l.put(path, next, base, author); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.seen, path)
	delete(l.learned, path)
	if wasSeen {
		l.seen[path] = seen
	}
	if wasLearned {
		l.learned[path] = learned
	}
	return nil
}

// mergeKeeping is Merge3, but keeps the lines of theirs where the two sides collide. The line numbers of the conflicts
// are those of the returned text.
func mergeKeeping(base, ours, theirs string) (string, []Conflict) {
	merged, conflicts := Merge3(base, ours, theirs)
	if len(conflicts) == 0 {
		return merged, nil
	}
	x := NewIndex(merged)
	var kept bytes.Buffer
	done, line := 0, 0
	for i := range conflicts {
		c := &conflicts[i]
		kept.WriteString(x.Slice(done, c.StartLine))
		line += c.StartLine - done
		done = c.EndLine
		kept.WriteString(c.Theirs)
		c.StartLine = line
		line += countLines(c.Theirs)
		c.EndLine = line
	}
	kept.WriteString(x.Slice(done, x.Len()))
	return kept.String(), conflicts
}
