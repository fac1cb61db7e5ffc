//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// findBwrap finds bubblewrap on PATH.
func findBwrap() (string, error) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return "", fmt.Errorf("bubblewrap is not installed: %w", err)
	}
	return path, nil
}

// outside is the path on the machine of what a command sees at a path; empty for a path that a blank folder covers.
func (s *spec) outside(path string) string {
	covered, source := "", path
	for _, blank := range s.Blank {
		if below(path, blank) && len(blank) > len(covered) {
			covered, source = blank, ""
		}
	}
	for _, b := range s.Binds {
		if below(path, b.Target) && len(b.Target) > len(covered) {
			covered, source = b.Target, filepath.Join(b.Source, strings.TrimPrefix(path, b.Target))
		}
	}
	return source
}

// wrap is the command line of bwrap (bubblewrap 0.6 or later, bwrap(1)) that builds the walls of a spec without layers.
// It starts our own program, which it gets as a descriptor, since the program's file may lie where nothing is visible
// inside.
func (s *spec) wrap(bwrap string) []string {
	args := []string{
		bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
	}
	if s.NetworkOpen {
		args = append(args, "--share-net")
	}
	// Outer folders come first, since they cover what lies in them.
	type place struct {
		target string
		args   []string
	}
	var places []place
	for _, blank := range s.Blank {
		places = append(places, place{blank, []string{"--tmpfs", blank}})
	}
	for _, b := range s.Binds {
		kind := "--ro-bind"
		if b.Write {
			kind = "--bind"
		}
		places = append(places, place{b.Target, []string{kind, b.Source, b.Target}})
	}
	slices.SortStableFunc(places, func(a, b place) int { return len(a.target) - len(b.target) })
	for _, p := range places {
		args = append(args, p.args...)
	}
	for name, target := range s.Links {
		if s.hides(name) {
			args = append(args, "--symlink", target, name)
		}
	}
	args = append(args, s.covers()...)
	for _, blank := range s.Blank {
		args = append(args, "--remount-ro", blank)
	}
	return append(args, "--", fmt.Sprintf("/proc/self/fd/%d", programFD), marker)
}

// covers are the arguments that keep what is read-only from being written, and what is masked from being seen.
func (s *spec) covers() (args []string) {
	for _, path := range slices.Concat(s.ReadOnly, frozenKernel) {
		// A path that does not exist needs no cover. The file that a link leads to is protected by its own name, if at
		// all.
		if source := s.outside(path); source != "" {
			if info, err := os.Lstat(source); err == nil && info.Mode().Type() != os.ModeSymlink {
				args = append(args, "--ro-bind", source, path)
			}
		}
	}
	for _, path := range slices.Concat(s.Masks, maskedKernel) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue // the path does not exist or cannot be reached
		}
		source := s.outside(real)
		if source == "" {
			continue
		}
		if info, err := os.Stat(source); err != nil {
			continue
		} else if info.IsDir() {
			args = append(args, "--ro-bind", s.Mask.Dir, real)
		} else {
			args = append(args, "--ro-bind", s.Mask.File, real)
		}
	}
	return args
}
