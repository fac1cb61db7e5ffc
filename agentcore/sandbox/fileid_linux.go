//go:build amd64 || arm64

package sandbox

import (
	"io/fs"
	"syscall"
)

// fileID tells whether a file is still the same: nobody can set the time of its last change. Two changes may fall into
// one tick of the clock. But a copied file has the old modification time of its source, and a write in the same tick
// changes that.
type fileID struct {
	inode    uint64
	size     int64
	mode     fs.FileMode
	changed  syscall.Timespec
	modified syscall.Timespec
}

func idOf(info fs.FileInfo) fileID {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{s.Ino, s.Size, info.Mode(), s.Ctim, s.Mtim}
}
