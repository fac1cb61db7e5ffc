//go:build !unix

package sandbox

import (
	"os"
	"path/filepath"
)

// lockDir takes the lock of a box's folder: an open file that the system does not let others delete.
func lockDir(dir string) (func() error, error) {
	name := filepath.Join(dir, "lock")
	// It can only be deleted where no process has it open.
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return f.Close, nil
}
