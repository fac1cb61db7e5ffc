package beneath

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Root is a folder to read below. Its methods may be called from any goroutine until it is closed.
type Root struct {
	dir   *os.Root
	top   *os.File
	count counter

	// using is held by whoever uses the descriptor, which could be another file's once it is closed.
	using sync.RWMutex
	fd    int // of top, -1 once it is closed; then the system refuses it
}

// New makes a Root of an open folder, which has to stay open as long.
func New(dir *os.Root) (*Root, error) {
	top, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	return &Root{dir: dir, top: top, fd: int(top.Fd())}, nil
}

// Close does not close the folder that the Root was made of.
func (r *Root) Close() error {
	r.using.Lock()
	defer r.using.Unlock()
	r.fd = -1
	return r.top.Close()
}

// Folder is an open folder. Its methods may be called from any goroutine until it is closed.
type Folder struct {
	fd   int
	root *Root
}

// folderFlags open a folder and nothing else, without waiting.
const folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NONBLOCK

// Open opens a folder by its path below the root.
func (r *Root) Open(rel string, links Links) (*Folder, error) {
	r.count.folders.Add(1)
	how := unix.OpenHow{Flags: folderFlags, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS}
	if links == Refuse {
		how.Flags |= unix.O_NOFOLLOW
		how.Resolve |= unix.RESOLVE_NO_SYMLINKS
	}
	r.using.RLock()
	fd, err := unix.Openat2(r.fd, rel, &how)
	r.using.RUnlock()
	switch {
	case err == nil:
		return &Folder{fd, r}, nil
	case err == unix.ENOENT, err == unix.ENOTDIR, err == unix.EACCES:
		return nil, &fs.PathError{Op: "openat2", Path: rel, Err: err}
	case links == Refuse && err == unix.ELOOP:
		return nil, &fs.PathError{Op: "openat2", Path: rel, Err: unix.ENOTDIR}
	case links == Refuse:
		fd, err = r.step(rel, folderFlags)
	default:
		fd, err = r.stepFollowing(rel)
	}
	if err != nil {
		return nil, err
	}
	return &Folder{fd, r}, nil
}

// step opens a path part by part, each of which is no link: before Linux 5.6, where a filter forbids the one call, and
// where a path is longer than a call takes.
func (r *Root) step(rel string, flags int) (int, error) {
	r.using.RLock()
	at, err := unix.Openat(r.fd, ".", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	r.using.RUnlock()
	if err != nil {
		return -1, &fs.PathError{Op: "openat", Path: ".", Err: err}
	}
	parts := strings.Split(rel, "/")
	for i, part := range parts {
		how := unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
		if i == len(parts)-1 {
			how = flags | unix.O_NOFOLLOW
		}
		next, err := unix.Openat(at, part, how, 0)
		unix.Close(at)
		if err == unix.ELOOP {
			err = unix.ENOTDIR
		}
		if part == ".." {
			err = unix.EXDEV
		}
		if err != nil {
			if next >= 0 {
				unix.Close(next)
			}
			return -1, &fs.PathError{Op: "openat", Path: rel, Err: err}
		}
		at = next
	}
	return at, nil
}

// stepFollowing is what [os.Root] makes of a path, its errors included.
func (r *Root) stepFollowing(rel string) (int, error) {
	f, err := r.dir.OpenFile(rel, os.O_RDONLY|unix.O_NONBLOCK|unix.O_DIRECTORY, 0)
	if err != nil {
		return -1, err
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	return fd, err
}

// Descriptor is the open folder's, until it is closed.
func (f *Folder) Descriptor() int { return f.fd }

// Close closes the folder.
func (f *Folder) Close() error { return unix.Close(f.fd) }

// buffers are for the entries of folders.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// Entries lists what is in the folder, in no order.
func (f *Folder) Entries() ([]Entry, error) {
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	var entries []Entry
	for {
		n, err := unix.Getdents(f.fd, buffer[:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, os.NewSyscallError("getdents64", err)
		case n <= 0:
			return entries, nil
		}
		if entries == nil {
			entries = make([]Entry, 0, n/32)
		}
		for rest := buffer[:n]; len(rest) > 0; {
			var name []byte
			var kind byte
			name, kind, rest = dirent(rest)
			if string(name) == "." || string(name) == ".." {
				continue
			}
			e := Entry{string(name), typeOf(kind)}
			if kind == unix.DT_UNKNOWN {
				// Some file systems leave it to who wants to know.
				look, err := f.Look(e.Name)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil {
					return nil, err
				}
				e.Type = look.Type
			}
			entries = append(entries, e)
		}
	}
}

// The places of the fields of a struct linux_dirent64 (getdents(2)).
const (
	direntLength = unsafe.Offsetof(unix.Dirent{}.Reclen)
	direntType   = unsafe.Offsetof(unix.Dirent{}.Type)
	direntName   = unsafe.Offsetof(unix.Dirent{}.Name)
)

// dirent takes the first entry from what the kernel wrote.
func dirent(from []byte) (name []byte, kind byte, rest []byte) {
	length := binary.NativeEndian.Uint16(from[direntLength:])
	name, kind, rest = from[direntName:length], from[direntType], from[length:]
	for i, c := range name {
		if c == 0 {
			return name[:i], kind, rest
		}
	}
	return name, kind, rest
}

func typeOf(kind byte) fs.FileMode {
	switch kind {
	case unix.DT_REG:
		return 0
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_LNK:
		return fs.ModeSymlink
	case unix.DT_FIFO:
		return fs.ModeNamedPipe
	case unix.DT_SOCK:
		return fs.ModeSocket
	case unix.DT_CHR:
		return fs.ModeDevice | fs.ModeCharDevice
	case unix.DT_BLK:
		return fs.ModeDevice
	}
	return fs.ModeIrregular
}

// Look is what a name stands for, and what cannot stay the same when that changes: nobody can set the time of the last
// change of an inode.
type Look struct {
	Type     fs.FileMode
	Device   uint64
	Inode    uint64
	Changed  unix.Timespec
	Modified unix.Timespec
	UID, GID uint32
}

func lookOf(s *unix.Stat_t) Look {
	return Look{
		typeOf(byte(s.Mode & unix.S_IFMT >> 12)), uint64(s.Dev), s.Ino, s.Ctim, s.Mtim, s.Uid, s.Gid, //nolint:unconvert
	}
}

// Look tells what a name in the folder stands for; a link is one.
func (f *Folder) Look(name string) (Look, error) {
	f.root.count.looks.Add(1)
	var s unix.Stat_t
	if err := unix.Fstatat(f.fd, name, &s, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT); err != nil {
		return Look{}, &fs.PathError{Op: "fstatat", Path: name, Err: err}
	}
	return lookOf(&s), nil
}

// Self tells what the open folder is.
func (f *Folder) Self() (Look, error) {
	var s unix.Stat_t
	if err := unix.Fstat(f.fd, &s); err != nil {
		return Look{}, os.NewSyscallError("fstat", err)
	}
	return lookOf(&s), nil
}

// Look tells what a path below the root stands for. It follows links in it but for the last part, to wherever they
// lead, so that it is only for comparing with a Look of [Folder.Self] of what was opened without any.
func (r *Root) Look(rel string) (Look, error) {
	r.count.looks.Add(1)
	var s unix.Stat_t
	r.using.RLock()
	err := unix.Fstatat(r.fd, rel, &s, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT)
	r.using.RUnlock()
	if err == unix.ENAMETOOLONG {
		var fd int
		if fd, err = r.step(rel, unix.O_PATH|unix.O_CLOEXEC); err != nil {
			return Look{}, err
		}
		defer unix.Close(fd)
		err = unix.Fstat(fd, &s)
	}
	if err != nil {
		return Look{}, &fs.PathError{Op: "fstatat", Path: rel, Err: err}
	}
	return lookOf(&s), nil
}

// ReadFile reads a regular file of the folder into a buffer, which it replaces by a longer one where it must. The
// error of a file with more than most bytes is [ErrTooLong], with its size; that of anything else [ErrNotRegular].
func (f *Folder) ReadFile(name string, buffer *[]byte, most int64) (data []byte, size int64, err error) {
	f.root.count.files.Add(1)
	fd, err := unix.Openat(f.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, 0, &fs.PathError{Op: "openat", Path: name, Err: err}
	}
	defer unix.Close(fd)
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return nil, 0, &fs.PathError{Op: "fstat", Path: name, Err: err}
	}
	data, err = readAll(fd, name, &s, buffer, most)
	if err == ErrNotRegular {
		return nil, 0, err
	}
	return data, s.Size, err
}

// readAll reads an open file, of which the system just told what it is.
func readAll(fd int, name string, s *unix.Stat_t, buffer *[]byte, most int64) ([]byte, error) {
	if s.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, ErrNotRegular
	}
	size := s.Size
	if size > most {
		return nil, ErrTooLong
	}
	data := fit(buffer, size+1)
	n := 0
	for n < len(data) {
		more, err := unix.Read(fd, data[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: name, Err: err}
		}
		n += max(0, more)
		// A file that has its size is at its end; what the system makes up, as in /proc, has none.
		if more <= 0 || size > 0 && int64(n) == size {
			break
		}
	}
	return data[:n], nil
}
