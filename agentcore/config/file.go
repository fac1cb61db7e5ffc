package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrUnsafe is the error of ReadFile for a file that another user could have written.
var ErrUnsafe = errors.New("others can write this file")

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

// ReadFile reads a configuration file: a regular one of at most 1 MiB, which belongs to the user or to root and which
// nobody else can write. It fails with ErrUnsafe, fs.ErrNotExist, or another reason.
func ReadFile(name string) ([]byte, error) {
	// With O_NONBLOCK, opening a named pipe does not wait for ever. All checks look at the open file, so that nobody
	// can replace the file between a check and the reading.
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open the configuration: %w", err)
	}
	defer file.Close() // the file was only read
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at the configuration: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if othersCanWrite(info) {
		return nil, fmt.Errorf("%w (mode %v)", ErrUnsafe, info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	return text, nil
}
