package beneath

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// identity is what makes a file the same one under another name.
type identity struct{ device, inode uint64 }

func (i identity) same(other identity) bool { return i == other }

func infoOf(s *unix.Stat_t) Info {
	return Info{
		typeOf(byte(s.Mode&unix.S_IFMT>>12)) | fs.FileMode(s.Mode&0o777), s.Size, time.Unix(s.Mtim.Unix()),
		identity{uint64(s.Dev), s.Ino}, //nolint:unconvert // a device is shorter on some machines
	}
}

// statSlowly is Stat where the one call cannot be had.
func (r *Root) statSlowly(rel string) (Info, error) {
	info, err := r.dir.Stat(rel)
	if err != nil {
		return Info{}, err
	}
	found := Info{Mode: info.Mode().Type() | info.Mode().Perm(), Size: info.Size(), Modified: info.ModTime()}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		found.identity = identity{uint64(s.Dev), s.Ino} //nolint:unconvert // as above
	}
	return found, nil
}

// follows are how a path is resolved that may have links in it which stay below the root.
const follows = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS

// at opens what a path below the root leads to.
func (r *Root) at(rel string, flags, resolve uint64) (int, error) {
	r.count.paths.Add(1)
	r.using.RLock()
	defer r.using.RUnlock()
	return unix.Openat2(r.fd, rel, &unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: resolve})
}

// Stat tells what a path below the root leads to, links followed as [Follow] says. It opens nothing that acts when it
// is opened. Its errors are those of [os.Root.Stat].
func (r *Root) Stat(rel string) (Info, error) {
	fd, err := r.at(rel, unix.O_PATH, follows)
	switch err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR, unix.EACCES:
		return Info{}, &fs.PathError{Op: "openat2", Path: rel, Err: err}
	default:
		return r.statSlowly(rel)
	}
	defer unix.Close(fd)
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return Info{}, &fs.PathError{Op: "fstat", Path: rel, Err: err}
	}
	return infoOf(&s), nil
}

// Plain reports that no part of a path is a link, as far as the path exists, at one moment. It is false, too, where
// that cannot be told at once.
func (r *Root) Plain(rel string) bool {
	fd, err := r.at(rel, unix.O_PATH, follows|unix.RESOLVE_NO_SYMLINKS)
	if err == nil {
		unix.Close(fd)
	}
	return err == nil || err == unix.ENOENT
}

// ReadFile is [Folder.ReadFile] of a path below the root, links followed as [Follow] says. It tells what the file was
// when it was opened, with ErrTooLong and ErrNotRegular, too.
func (r *Root) ReadFile(rel string, buffer *[]byte, most int64) (data []byte, info Info, err error) {
	fd, err := r.at(rel, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, follows)
	switch err {
	case nil:
		defer unix.Close(fd)
	case unix.ENOENT, unix.ENOTDIR, unix.EACCES:
		return nil, Info{}, &fs.PathError{Op: "openat2", Path: rel, Err: err}
	default:
		f, err := r.dir.OpenFile(rel, os.O_RDONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			return nil, Info{}, err
		}
		defer f.Close()
		fd = int(f.Fd())
	}
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return nil, Info{}, &fs.PathError{Op: "fstat", Path: rel, Err: err}
	}
	info = infoOf(&s)
	data, err = readAll(fd, rel, &s, buffer, most)
	return data, info, err
}
