//go:build !linux

package beneath

import (
	"io/fs"
	"os"
)

// identity is what makes a file the same one under another name.
type identity struct{ of fs.FileInfo }

func (i identity) same(other identity) bool {
	return i.of != nil && other.of != nil && os.SameFile(i.of, other.of)
}

// Stat tells what a path below the root leads to, links followed as [Follow] says. It opens nothing that acts when it
// is opened. Its errors are those of [os.Root.Stat].
func (r *Root) Stat(rel string) (Info, error) {
	r.count.paths.Add(1)
	info, err := r.dir.Stat(rel)
	if err != nil {
		return Info{}, err
	}
	return infoFrom(info), nil
}

func infoFrom(info fs.FileInfo) Info {
	return Info{info.Mode().Type() | info.Mode().Perm(), info.Size(), info.ModTime(), identity{info}}
}

// Plain reports that no part of a path is a link, as far as the path exists, at one moment. It is false, too, where
// that cannot be told at once, as here.
func (r *Root) Plain(string) bool { return false }

// ReadFile is [Folder.ReadFile] of a path below the root, links followed as [Follow] says. It tells what the file was
// when it was opened, with ErrTooLong and ErrNotRegular, too.
func (r *Root) ReadFile(rel string, buffer *[]byte, most int64) (data []byte, info Info, err error) {
	r.count.paths.Add(1)
	open, err := r.dir.OpenFile(rel, os.O_RDONLY|openWaitless, 0)
	if err != nil {
		return nil, Info{}, err
	}
	defer open.Close()
	found, err := open.Stat()
	if err != nil {
		return nil, Info{}, err
	}
	data, err = readAll(open, found, buffer, most)
	return data, infoFrom(found), err
}
