package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
)

// replaceTree replaces a file or folder in one tree by that of another one.
func replaceTree(from, to *os.Root, rel string) error {
	if _, err := lstat(to, rel); err == nil {
		if err := openUp(to, rel); err != nil {
			return err
		}
		if err := to.RemoveAll(rel); err != nil {
			return err
		}
	}
	return copyTree(from, to, rel)
}

// copyTree copies regular files, folders and links from one tree into another one; what is there already is kept.
func copyTree(from, to *os.Root, rel string) error {
	info, err := from.Lstat(rel)
	if err != nil {
		return err
	}
	if err := to.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
		return err
	}
	switch info.Mode().Type() {
	case fs.ModeDir:
		if err := to.MkdirAll(rel, info.Mode().Perm()|0o700); err != nil {
			return err
		}
		entries, err := readDir(from, rel)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := copyTree(from, to, filepath.Join(rel, e.Name())); err != nil {
				return err
			}
		}
		return nil
	case fs.ModeSymlink:
		target, err := from.Readlink(rel)
		if err != nil {
			return err
		}
		return to.Symlink(target, rel)
	case 0:
		return copyRegular(from, rel, to, rel, info)
	}
	return nil
}
