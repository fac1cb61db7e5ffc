//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// adopt copies files of unknown owners into the upper layer, since overlayfs could not copy them up when a command
// writes, and would answer EOVERFLOW. Those that the command does not change are removed afterwards.
func (v *overlayView) adopt(foreign []string, limit int64) error {
	var size int64
	for _, rel := range foreign {
		if _, err := lstat(v.upper, rel); err == nil {
			continue
		}
		info, err := lstat(v.disk, rel)
		if gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		switch {
		case info.IsDir():
			err = v.makeFolders(rel)
		case info.Mode().IsRegular():
			if size += info.Size(); size > limit {
				return fmt.Errorf("%w: files of other owners have more than %d MiB", errTooLarge, limit>>20)
			}
			if err = v.makeFolders(filepath.Dir(rel)); err == nil {
				err = copyRegular(v.disk, rel, v.upper, rel, info)
			}
		}
		// A command cannot write a file either that cannot be read.
		if err != nil && !gone(err) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// movers are programs that rename folders, and fail where they cannot.
var movers = []string{"npm", "npx", "yarn", "pnpm", "bun"}

// renames tells whether a command names a program that renames folders of packages.
func (c Command) renames() bool {
	words := strings.FieldsFunc(c.Script+" "+strings.Join(c.Argv, " "),
		func(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"/", r) })
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(movers, word) })
}

// copyUp copies the folders node_modules as a whole into the upper layer. On an overlay, a folder that has a part below
// cannot be renamed (EXDEV), and npm renames folders of packages.
func (v *overlayView) copyUp(limit int64) error {
	var found []string
	var walk func(rel string, depth int) error
	walk = func(rel string, depth int) error {
		entries, err := readDir(v.disk, rel)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := filepath.Join(rel, e.Name())
			switch {
			case !e.IsDir(), e.Name() == ".git":
			case e.Name() == "node_modules":
				found = append(found, name)
			case depth < 3 && !v.isIgnored(name, true):
				if err := walk(name, depth+1); err != nil && !errors.Is(err, fs.ErrPermission) && !gone(err) {
					return err
				}
			}
		}
		return nil
	}
	if err := walk(".", 0); err != nil {
		return err
	}
	for _, rel := range found {
		if _, err := lstat(v.upper, rel); err == nil || !v.isIgnored(rel, true) {
			continue // a command has changed the file already, or it belongs to the project's texts
		}
		if size := v.sizeBelow(rel, limit); size > limit {
			return fmt.Errorf("%w: %s has more than %d MiB, so that renaming folders in it fails", errTooLarge,
				rel, limit>>20)
		}
		if err := v.makeFolders(filepath.Dir(rel)); err != nil {
			return err
		}
		if err := copyTree(v.disk, v.upper, rel); err != nil {
			return err
		}
		f, err := v.upper.Open(rel)
		if err != nil {
			return err
		}
		err = unix.Fsetxattr(int(f.Fd()), opaqueXattr, []byte("y"), 0)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// sizeBelow is the size of the files in a folder, in bytes. It stops counting above the limit.
func (v *overlayView) sizeBelow(rel string, limit int64) (size int64) {
	err := fs.WalkDir(v.disk.FS(), filepath.ToSlash(rel), func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			if size += info.Size(); size > limit {
				return fs.SkipAll
			}
		}
		return nil
	})
	if err != nil {
		return limit + 1 // a folder that cannot be measured is not copied
	}
	return size
}
