// Package beneath reads the folders and files below a folder, and nothing else, however they are swapped for links
// meanwhile. On Linux a call or two does what [os.Root] does with several for each part of a path: the kernel resolves
// the path itself (openat2(2)), and the entries of a folder come with their kinds.
package beneath

import (
	"errors"
	"io/fs"
	"sync/atomic"
)

// Links says what happens to symbolic links in a path.
type Links bool

const (
	// Follow goes where links lead, as [os.Root] does: below the root.
	Follow Links = true
	// Refuse takes a path with a link in it for one that is not there.
	Refuse Links = false
)

// Entry is what a folder has under a name. Type is that of the name itself, a link's for a link.
type Entry struct {
	Name string
	Type fs.FileMode
}

// ErrTooLong is the error of a file that has more bytes than were asked for.
var ErrTooLong = errors.New("the file is too long")

// ErrNotRegular is the error of what is no regular file.
var ErrNotRegular = errors.New("it is no regular file")

// Calls counts what was asked of the system below a root. Tests look at it, since counts tell how work grows.
type Calls struct {
	// Folders were opened, Looks are at one name without opening it, Files were opened, Paths are looks at what a whole
	// path leads to, and reads of that.
	Folders, Looks, Files, Paths int64
}

// counter is Calls as several goroutines count them.
type counter struct{ folders, looks, files, paths atomic.Int64 }

// Calls returns what was asked of the system below the root up to now. It may be called from any goroutine.
func (r *Root) Calls() Calls {
	return Calls{r.count.folders.Load(), r.count.looks.Load(), r.count.files.Load(), r.count.paths.Load()}
}

// leastBuffer is the shortest buffer that is made, in bytes: most files fit.
const leastBuffer = 64 << 10

// fit returns the first bytes of a buffer, which it replaces by a longer one where it must.
func fit(buffer *[]byte, size int64) []byte {
	if int64(cap(*buffer)) < size {
		*buffer = make([]byte, max(leastBuffer, size+size/16))
	}
	return (*buffer)[:size]
}
