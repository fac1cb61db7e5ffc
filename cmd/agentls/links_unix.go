//go:build unix

package main

import (
	"io/fs"
	"syscall"
)

// hardLinks is how many names a file has.
func hardLinks(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}
