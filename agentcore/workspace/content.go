package workspace

import (
	"path/filepath"

	"github.com/agentls/agentls/agentcore/permission"
)

// content is a text as a layer shows it; a nil text means that there is no such file.
type content struct {
	text    *text
	version int32
	format  Format
	seq     uint64
	open    bool
	secret  bool
}

func (c content) file(path string) File {
	return File{path, c.text.string(), c.text.stamp(), c.version, c.format}
}

// content returns what the editor shows: the open document or, where there is none, the file on disk.
func (v *View) content(path string) (content, error) {
	seq := v.clock.Add(1)
	v.mu.Lock()
	doc := v.docs[path]
	v.mu.Unlock()
	if doc != nil {
		return content{
			text: doc.buffer.whole(), version: doc.version, format: Format{Encoding: "utf-8"}, seq: seq,
			open: true,
		}, nil
	}
	file, err := v.readDisk(path)
	return content{text: file.text, version: -1, format: file.format, seq: seq, secret: file.secret}, err
}

// Read returns a file as the editor shows it. The path is absolute, as [View.Resolve] returns it, or the path of an
// open document. The error is a *FileError.
func (v *View) Read(path string) (File, error) {
	path = cleanPath(path)
	c, err := v.content(path)
	if err == nil {
		err = v.readable(path, c, false)
	}
	if err != nil {
		return File{}, err
	}
	return c.file(path), nil
}

// readable refuses a file that does not exist, one that looks like a secret (unless secrets may be read), and an open
// document that is too large.
func (f *folders) readable(path string, c content, secrets bool) error {
	if !secrets && (c.secret || permission.Secret(filepath.ToSlash(path))) {
		return f.secretError(path)
	}
	if c.text == nil {
		return &FileError{
			Kind: NotFound, Path: path, Detail: "no such file",
			Hint: "list the folder to see what is there",
		}
	}
	if size := int64(len(c.text.s)); size > f.options.MaxFileSize {
		return f.tooLarge(path, size)
	}
	return nil
}

// cleanPath cleans the path of a file. It leaves the name of a document without a file alone.
func cleanPath(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return path
}
