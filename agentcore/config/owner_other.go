//go:build !unix

package config

import "io/fs"

// othersCanWrite does not know: the mode bits say nothing about access lists.
func othersCanWrite(fs.FileInfo) bool { return false }
