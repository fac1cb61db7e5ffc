//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// homeState finds out what a command sees of the home folder.
type homeState struct {
	// given is the home folder as the caller writes it, real its path without symbolic links.
	given, real string
	// others are paths with which nothing that is shown has anything in common.
	others []string
}

// stateBinds are the mounts for what a command sees of the home folder. others are paths with which nothing of that may
// have anything in common.
func stateBinds(home string, others []string, dirs []StateDir) (binds []bind, err error) {
	if len(dirs) == 0 {
		return nil, nil
	}
	h := homeState{given: home, others: others}
	if h.real, err = filepath.EvalSymlinks(h.given); err != nil {
		return nil, fmt.Errorf("show a part of the home folder: %w", err)
	}
	named := map[string]bool{}
	for _, d := range dirs {
		one, there, err := h.bind(d)
		if err == nil && named[one.Target] {
			err = errors.New("it is named twice")
		}
		if err != nil {
			return nil, fmt.Errorf("show %s of the home folder to a program: %w", d.Path, err)
		}
		if there {
			named[one.Target] = true
			binds = append(binds, one)
		}
	}
	return binds, nil
}

// bind is the mount of a part of the home folder. there is false where nothing exists.
func (h *homeState) bind(d StateDir) (m bind, there bool, err error) {
	rel, err := filepath.Rel(h.given, d.Path)
	if err != nil || !filepath.IsAbs(d.Path) || !filepath.IsLocal(rel) {
		return m, false, fmt.Errorf("it does not lie below %s", h.given)
	}
	if rel == "." {
		return m, false, errors.New("it is the whole home folder")
	}
	real, err := h.resolve(rel)
	if errors.Is(err, fs.ErrNotExist) && d.Make {
		if err = h.make(rel); err == nil {
			real, err = h.resolve(rel)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	info, err := os.Lstat(real)
	if err != nil {
		return m, false, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return m, false, errors.New("it is neither a folder nor a regular file")
	}
	if err := h.apart(real); err != nil {
		return m, false, err
	}
	return bind{Source: real, Target: filepath.Join(h.real, rel), Write: d.Write, Plain: true}, true, nil
}

// resolve finds out where a path below the home folder leads. Only its first part may be a link: what lies deeper
// may be in a folder to which a command has written, and that must not show the command another place next time.
func (h *homeState) resolve(rel string) (string, error) {
	first, rest, _ := strings.Cut(rel, string(filepath.Separator))
	real, err := filepath.EvalSymlinks(filepath.Join(h.real, first))
	if err != nil {
		return "", err
	}
	if !below(real, h.real) || real == h.real {
		return "", fmt.Errorf("it is a link that leads out of the home folder, to %s", real)
	}
	for part := range strings.SplitSeq(rest, string(filepath.Separator)) {
		if part == "" {
			continue
		}
		real = filepath.Join(real, part)
		info, err := os.Lstat(real)
		if err != nil {
			return "", err
		}
		if info.Mode().Type() == fs.ModeSymlink {
			return "", fmt.Errorf("%s is a symbolic link", real)
		}
	}
	return real, nil
}

// make makes a folder below the home folder. Nothing is made through a link of a command's.
func (h *homeState) make(rel string) error {
	if err := h.apart(filepath.Join(h.real, rel)); err != nil {
		return err
	}
	root, err := os.OpenRoot(h.real)
	if err != nil {
		return err
	}
	defer root.Close()
	at := ""
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		if _, err := h.resolve(at); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := root.Mkdir(at, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// apart checks that a path has nothing in common with what no command may see, or may only see a copy of.
func (h *homeState) apart(real string) error {
	for _, other := range h.others {
		if resolved, err := filepath.EvalSymlinks(other); err == nil {
			other = resolved
		}
		if other != "" && (below(real, other) || below(other, real)) {
			return fmt.Errorf("it contains %s, or lies in it", other)
		}
	}
	return nil
}
