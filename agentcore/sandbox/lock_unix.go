//go:build unix

package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockDir takes the lock of a box's folder, which the kernel releases when this process ends. It fails where another
// process has the lock.
func lockDir(dir string) (func() error, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f.Close, nil
}
