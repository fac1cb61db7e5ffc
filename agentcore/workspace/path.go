package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/agentls/agentls/agentcore/permission"
)

// Resolve turns a name that a person or a model wrote into an absolute path inside a root: relative to
// the only root, beginning with a root's name where there are several, or absolute. Where there are
// several roots and the name begins with none of their names, the first root that has the file is meant;
// only then does Resolve look at the disk. Symbolic links that lead out are refused later, when the file
// is read or written. A document that is open is found by its own path wherever it lies.
//
// A name that is quoted as by [View.Shown] means what it quotes.
//
// The error is a *FileError of kind Outside, or NotFound, whose hint names the roots. It may be called
// from any goroutine.
func (v *View) Resolve(name string) (string, error) {
	v.mu.Lock()
	_, open := v.docs[name]
	v.mu.Unlock()
	if open {
		return name, nil
	}
	name = permission.Unquoted(name)
	switch {
	case strings.ContainsRune(name, 0):
		return "", &FileError{
			Kind: NotFound, Path: strings.ReplaceAll(name, "\x00", "\\0"), Detail: "is no file name",
			Hint: v.rootsHint(),
		}
	case strings.HasPrefix(name, "~"):
		// A file may have this name, but who writes it means the home folder.
		return "", &FileError{
			Kind: Outside, Path: name, Detail: "home folders are not part of the workspace",
			Hint: v.rootsHint(),
		}
	}
	roots := *v.roots.Load()
	native := filepath.FromSlash(name)
	if filepath.IsAbs(native) {
		clean := filepath.Clean(native)
		v.mu.Lock()
		_, open := v.docs[clean]
		v.mu.Unlock()
		if r, _ := v.locate(clean); r == nil && !open {
			return "", v.outside(name)
		}
		return clean, nil
	}
	if len(roots) == 0 {
		return "", v.outside(name)
	}
	if len(roots) == 1 {
		return v.below(roots[0], native, name)
	}
	clean := filepath.Clean(native)
	first, rest, _ := strings.Cut(clean, string(filepath.Separator))
	for _, r := range roots {
		if r.name == first {
			return v.below(r, rest, name)
		}
	}
	for _, r := range roots {
		full, err := v.below(r, native, name)
		if err != nil {
			return "", err
		}
		v.mu.Lock()
		_, open := v.docs[full]
		v.mu.Unlock()
		if open || r.has(full) {
			return full, nil
		}
	}
	return "", &FileError{Kind: NotFound, Path: name, Detail: "no workspace folder has it", Hint: v.rootsHint()}
}

// has reports whether a file or folder exists at an absolute path of the root's disk.
func (r *root) has(full string) bool {
	dir, err := r.open()
	if err != nil {
		return false
	}
	rel, ok := within(r.Path, full)
	if !ok {
		return false
	}
	_, err = dir.Lstat(rel)
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}
