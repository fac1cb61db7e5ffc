//go:build !unix

package config

import "io/fs"

// othersCanWrite always returns false: mode bits do not describe access lists.
func othersCanWrite(fs.FileInfo) bool { return false }
