package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// removeTree deletes a folder and all below it, also where a command has left folders that their owner may not open.
// It follows no symbolic link.
func removeTree(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return fmt.Errorf("delete %s: %w", dir, err)
	}
	defer root.Close()
	if err := openUp(root, filepath.Base(dir)); err != nil {
		return fmt.Errorf("delete %s: %w", dir, err)
	}
	return os.RemoveAll(dir)
}

// openUp gives the owner all rights on a folder and on those below it.
func openUp(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err != nil || !info.IsDir() {
		return err
	}
	if info.Mode().Perm()&0o700 != 0o700 {
		if err := root.Chmod(name, info.Mode().Perm()|0o700); err != nil {
			return err
		}
	}
	entries, err := readDir(root, name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := openUp(root, filepath.Join(name, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// readDir lists a folder, in the order of names.
func readDir(root *os.Root, name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(root.FS(), filepath.ToSlash(name))
}
