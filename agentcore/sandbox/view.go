package sandbox

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

// view is one workspace folder as a command sees it. It belongs to whoever has the box's turn.
type view struct {
	root    string   // the folder, absolute and without symbolic links
	disk    *os.Root // the same, to read from
	ignored func(path string, dir bool) bool
	isText  func(content []byte) bool
	maxText int64
	// texts are what the agent sees where the disk has something else, by path relative to root.
	texts map[string]Text
}

// found is what came of a command in one folder.
type found struct {
	changes []Change
	kept    []Kept
}

func (v *view) isIgnored(rel string, dir bool) bool {
	return v.ignored != nil && rel != "." && v.ignored(filepath.Join(v.root, rel), dir)
}

// before is what a command found at a path: a regular file's content and mode.
func (v *view) before(rel string) (content []byte, mode fs.FileMode, existed bool, err error) {
	mode = 0o644
	info, statErr := v.disk.Lstat(rel)
	if statErr == nil && info.Mode().IsRegular() {
		mode = info.Mode().Perm()
	}
	if text, ok := v.texts[rel]; ok {
		return text.Content, mode, !text.Deleted, nil
	}
	switch {
	case gone(statErr):
		return nil, mode, false, nil
	case statErr != nil:
		return nil, mode, false, statErr
	case !info.Mode().IsRegular():
		return nil, mode, false, nil
	}
	content, _, err = readRegular(v.disk, rel, -1)
	if gone(err) {
		return nil, mode, false, nil
	}
	return content, mode, err == nil, err
}

// deletion is the change that a file is no longer there.
func (v *view) deletion(rel string) (Change, bool, error) {
	content, mode, existed, err := v.before(rel)
	if err != nil || !existed {
		return Change{}, false, err
	}
	return Change{
		Path: filepath.Join(v.root, rel), Deleted: true, Mode: mode, Existed: true,
		Before: sha256.Sum256(content),
	}, true, nil
}

// compare judges a regular file that a command left. Exactly one of the results is set, or none where nothing changed.
func (v *view) compare(rel string, in *os.Root) (*Change, *Kept, error) {
	abs := filepath.Join(v.root, rel)
	content, info, err := readRegular(in, rel, v.maxText)
	switch {
	case errors.Is(err, errTooLong):
		return nil, &Kept{Path: abs, Reason: tooLong(v.maxText)}, nil
	case err != nil:
		return nil, nil, err
	}
	before, mode, existed, err := v.before(rel)
	if err != nil {
		return nil, nil, err
	}
	if existed && bytes.Equal(before, content) && mode == info.Mode().Perm() {
		return nil, nil, nil
	}
	if !v.isText(content) {
		return nil, &Kept{Path: abs, Reason: notText}, nil
	}
	c := Change{Path: abs, Content: content, Mode: info.Mode().Perm(), Existed: existed}
	if existed {
		c.Before = sha256.Sum256(before)
	}
	return &c, nil, nil
}

// notText and tooLong are why a file is kept.
const notText = "it is not a text file"

func tooLong(most int64) string { return fmt.Sprintf("it has more than %d bytes", most) }

// special is what is told of a pipe, a socket or a device, which a view deletes.
func special(path string) Kept {
	return Kept{Path: path, Reason: "it is not a file, a folder or a symbolic link", Removed: true}
}

// isUTF8 tells whether a file is text as most are.
func isUTF8(content []byte) bool { return bytes.IndexByte(content, 0) < 0 && utf8.Valid(content) }

// filesBelow lists what a command found below a folder and that version control does not ignore: regular files on disk
// and texts of the agent, by path relative to the root.
func (v *view) filesBelow(rel string) ([]string, error) {
	var files []string
	var walk func(rel string) error
	walk = func(rel string) error {
		entries, err := readDir(v.disk, rel)
		if err != nil {
			if gone(err) || errors.Is(err, fs.ErrPermission) {
				return nil
			}
			return err
		}
		for _, e := range entries {
			name := filepath.Join(rel, e.Name())
			if v.isIgnored(name, e.IsDir()) {
				continue
			}
			if e.IsDir() {
				if err := walk(name); err != nil {
					return err
				}
			} else if e.Type().IsRegular() {
				files = append(files, name)
			}
		}
		return nil
	}
	if err := walk(rel); err != nil {
		return nil, err
	}
	for name := range v.texts {
		if below(name, rel) {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// lstat describes what a path names, without following a link in any part of it.
func lstat(root *os.Root, rel string) (fs.FileInfo, error) {
	if parent := filepath.Dir(rel); parent != "." {
		info, err := lstat(root, parent)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, &fs.PathError{Op: "lstat", Path: rel, Err: syscall.ENOTDIR}
		}
	}
	return root.Lstat(rel)
}

// below tells whether a path lies in a folder or is it.
func below(path, folder string) bool {
	if folder == "." || folder == "/" || path == folder {
		return true
	}
	return strings.HasPrefix(path, folder+string(filepath.Separator))
}

// gone tells that a path does not name anything.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

var errTooLong = errors.New("the file is too long")

// readRegular reads a regular file and nothing else: a name that turns into a pipe, a device or a link meanwhile is an
// error and hangs nobody. limit is in bytes; a negative one is none.
func readRegular(root *os.Root, rel string, limit int64) ([]byte, fs.FileInfo, error) {
	want, err := root.Lstat(rel)
	if err != nil {
		return nil, nil, err
	}
	if !want.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is no regular file", rel)
	}
	f, err := root.OpenFile(rel, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !os.SameFile(want, info) {
		return nil, nil, fmt.Errorf("%s was replaced while it was read", rel)
	}
	if limit < 0 {
		content, err := io.ReadAll(f)
		return content, info, err
	}
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = errTooLong
	}
	return content, info, err
}
