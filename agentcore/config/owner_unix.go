//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// othersCanWrite tells whether somebody other than the user and root can write a file.
func othersCanWrite(info fs.FileInfo) bool {
	if info.Mode().Perm()&0o022 != 0 {
		return true
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid()
}
