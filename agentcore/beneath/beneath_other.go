//go:build !linux

package beneath

import (
	"io"
	"io/fs"
	"os"
)

// Root is a folder to read below. Its methods may be called from any goroutine until it is closed.
type Root struct {
	dir   *os.Root
	count counter
}

// New makes a Root of an open folder, which has to stay open as long.
func New(dir *os.Root) (*Root, error) { return &Root{dir: dir}, nil }

// Close does not close the folder that the Root was made of.
func (r *Root) Close() error { return nil }

// Folder is an open folder. Its methods may be called from any goroutine until it is closed.
type Folder struct {
	dir  *os.Root
	root *Root
}

// Open opens a folder by its path below the root, in the system's notation.
func (r *Root) Open(rel string, links Links) (*Folder, error) {
	r.count.folders.Add(1)
	if links == Refuse {
		for i, c := range rel + string(os.PathSeparator) {
			if c != os.PathSeparator {
				continue
			}
			r.count.looks.Add(1)
			info, err := r.dir.Lstat(rel[:i])
			if err != nil {
				return nil, err
			}
			if !info.IsDir() {
				return nil, &fs.PathError{Op: "open", Path: rel, Err: fs.ErrNotExist}
			}
		}
	}
	dir, err := r.dir.OpenRoot(rel)
	if err != nil {
		return nil, err
	}
	return &Folder{dir, r}, nil
}

// Close closes the folder.
func (f *Folder) Close() error { return f.dir.Close() }

// Entries lists what is in the folder, in no order.
func (f *Folder) Entries() ([]Entry, error) {
	open, err := f.dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer open.Close()
	list, err := open.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(list))
	for i, e := range list {
		entries[i] = Entry{e.Name(), e.Type()}
	}
	return entries, nil
}

// ReadFile reads a regular file of the folder into a buffer, which it replaces by a longer one where it must. The
// error of a file with more than most bytes is [ErrTooLong], with its size; that of anything else [ErrNotRegular].
func (f *Folder) ReadFile(name string, buffer *[]byte, most int64) (data []byte, size int64, err error) {
	f.root.count.files.Add(1)
	open, err := f.dir.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, 0, err
	}
	defer open.Close()
	info, err := open.Stat()
	if err != nil {
		return nil, 0, err
	}
	data, err = readAll(open, info, buffer, most)
	if err == ErrNotRegular {
		return nil, 0, err
	}
	return data, info.Size(), err
}

// readAll reads an open file, of which the system just told what it is.
func readAll(open *os.File, info fs.FileInfo, buffer *[]byte, most int64) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	if info.Size() > most {
		return nil, ErrTooLong
	}
	data := fit(buffer, info.Size()+1)
	n, err := io.ReadFull(open, data)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return data[:n], err
}
