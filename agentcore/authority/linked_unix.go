//go:build unix

package authority

import (
	"os"
	"syscall"
)

// linked reports whether a file has further hard links, so that a change of it is seen elsewhere.
func linked(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1
}
