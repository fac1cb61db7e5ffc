package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// spool takes the output of a command: the first and the last bytes in memory and, once it is longer, all of it in a
// file. It has its own lock, since the output of a background command is read while it is written.
type spool struct {
	keep  int   // bytes in memory, half of them from the beginning
	limit int64 // bytes in the file
	dir   string
	run   string // the run's id in the file's name, which tells whose output it is; may be empty

	mu    sync.Mutex
	head  []byte
	tail  []byte // at most twice keep/2 before it is trimmed
	size  int64
	file  *os.File
	saved int64
	fault error // why there is no file, or why it is not complete

	// errors takes standard error, nil where both outputs go the same way. It is set before the command starts.
	errors *spool
	// pipe, if not nil, takes standard output instead of the spool. It is set before the command starts.
	pipe *os.File
}

// stdout is where standard output goes.
func (s *spool) stdout() io.Writer {
	if s.pipe != nil {
		return s.pipe
	}
	return s
}

// split separates standard error from standard output. Only what fits into memory is kept of it.
func (s *spool) split() { s.errors = &spool{keep: s.keep, fault: errNotKept} }

// stderr is where standard error goes.
func (s *spool) stderr() *spool {
	if s.errors != nil {
		return s.errors
	}
	return s
}

// errNotKept is why an output has no file: nobody would look at it.
var errNotKept = errors.New("it is not kept")

// Write never fails, so that a full disk does not stop a command; the reader is told instead.
func (s *spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(p)
	half := s.keep / 2
	before := s.size
	s.size += int64(n)
	if s.file == nil && s.fault == nil && s.size > int64(s.keep) {
		s.file, s.fault = os.CreateTemp(s.dir, "output-"+s.run+"-*.txt")
		if s.file != nil {
			s.save(s.head)
			s.save(s.tail)
		}
	}
	s.save(p)
	if before < int64(half) {
		part := p[:min(len(p), half-int(before))]
		s.head = append(s.head, part...)
		p = p[len(part):]
	}
	if len(p) > s.keep {
		p = p[len(p)-s.keep:]
	}
	s.tail = append(s.tail, p...)
	if len(s.tail) > 2*s.keep {
		s.tail = slices.Clone(s.tail[len(s.tail)-s.keep:])
	}
	return n, nil
}

func (s *spool) save(p []byte) {
	if s.file == nil || s.fault != nil || s.saved >= s.limit {
		return
	}
	p = p[:min(int64(len(p)), s.limit-s.saved)]
	n, err := s.file.Write(p)
	s.saved += int64(n)
	s.fault = err
}

// bytes is the output in memory, with a line in the middle that says what is missing.
func (s *spool) bytes() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size <= int64(s.keep) {
		return slices.Concat(s.head, s.tail)
	}
	tail := s.tail[max(0, len(s.tail)-s.keep/2):]
	missing := s.size - int64(len(s.head)+len(tail))
	cut := fmt.Sprintf("\n[%d bytes are left out here]\n", missing)
	return slices.Concat(s.head, []byte(cut), tail)
}

// since returns the output behind the first n bytes, as far as it is kept, and the new n.
func (s *spool) since(n int64) ([]byte, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = max(0, n)
	if n >= s.size {
		return nil, s.size
	}
	var out []byte
	if n < int64(len(s.head)) {
		out = append(out, s.head[n:]...)
		n = int64(len(s.head))
	}
	start := s.size - int64(len(s.tail))
	if n < start {
		out = fmt.Appendf(out, "\n[%d bytes are left out here]\n", start-n)
		n = start
	}
	return append(out, s.tail[n-start:]...), s.size
}

// close closes the file. It returns the file's name if the file holds more than memory does.
func (s *spool) close() (name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return "", s.fault
	}
	name = filepath.Clean(s.file.Name())
	err = s.fault
	if cerr := s.file.Close(); err == nil {
		err = cerr
	}
	s.file = nil
	return name, err
}
