package beneath

import (
	"io/fs"
	"time"
)

// Info is what a path leads to.
type Info struct {
	// Mode is its kind and its permissions, Size its length in bytes, Modified when it was written last.
	Mode     fs.FileMode
	Size     int64
	Modified time.Time
	identity
}

// Same reports whether both are one file, whatever it holds by now.
func (i Info) Same(other Info) bool { return i.same(other.identity) }
