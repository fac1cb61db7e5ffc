//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// overlayView shows a workspace folder through overlayfs. Between commands, its upper layer holds only what stays in
// the box. Before a command, the agent's texts are added; after the command, the changes are removed. Meanwhile no
// command runs on it.
type overlayView struct {
	view
	dir   string // holds upper and the work folders
	upper *os.Root
	works int
	work  string // the last work folder
	// stamps keep the times of texts that did not change, for tools that compare times.
	stamps map[string]stamp
	// known are the kept files that were reported already.
	known map[string]fileID
}

type stamp struct {
	hash Hash
	time time.Time
}

// opaqueXattr marks a folder that hides the one below it, for mounts with userxattr.
const opaqueXattr = "user.overlay.opaque"

func newOverlayView(v view, dir string) (*overlayView, error) {
	upper := filepath.Join(dir, "upper")
	if err := os.MkdirAll(upper, 0o755); err != nil {
		return nil, err
	}
	// The root of the mount has the attributes of the upper folder.
	info, err := v.disk.Stat(".")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(upper, info.Mode().Perm()|0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(upper)
	if err != nil {
		return nil, err
	}
	return &overlayView{view: v, dir: dir, upper: root, stamps: map[string]stamp{}, known: map[string]fileID{}}, nil
}

func (v *overlayView) close() error {
	return errors.Join(v.upper.Close(), v.disk.Close())
}

// layer is the mount for the next command. Each gets a new work folder, since the kernel marks the work folders of
// volatile mounts as used; layer also returns the former one.
func (v *overlayView) layer() (l layer, used string, err error) {
	used, v.work = v.work, filepath.Join(v.dir, "work"+strconv.Itoa(v.works+1))
	v.works++
	if err := os.Mkdir(v.work, 0o700); err != nil {
		return layer{}, used, err
	}
	upper := filepath.Join(v.dir, "upper")
	return layer{Target: v.root, Lower: []string{v.root}, Upper: upper, Work: v.work}, used, nil
}

// seed writes the agent's texts into the upper layer.
func (v *overlayView) seed(texts map[string]Text) error {
	v.texts = texts
	for rel, text := range texts {
		if err := v.seedOne(rel, text); err != nil {
			return fmt.Errorf("show the agent's text of %s to the command: %w", filepath.Join(v.root, rel), err)
		}
	}
	return nil
}

func (v *overlayView) seedOne(rel string, text Text) error {
	if _, err := lstat(v.upper, rel); err == nil {
		if err := v.upper.RemoveAll(rel); err != nil {
			return err
		}
	}
	info, err := lstat(v.disk, rel)
	if err != nil && !gone(err) {
		return err
	}
	onDisk := err == nil
	if text.Deleted && !onDisk {
		return nil
	}
	if err := v.makeFolders(filepath.Dir(rel)); err != nil {
		return err
	}
	if text.Deleted {
		return v.whiteout(rel)
	}
	mode := fs.FileMode(0o644)
	if onDisk && info.Mode().IsRegular() {
		mode = info.Mode().Perm()
	}
	if err := writeFile(v.upper, rel, 0o600, mode, bytes.NewReader(text.Content)); err != nil {
		return err
	}
	hash := sha256.Sum256(text.Content)
	if s, ok := v.stamps[rel]; ok && s.hash == hash {
		return v.upper.Chtimes(rel, s.time, s.time)
	}
	now := time.Now()
	v.stamps[rel] = stamp{hash, now}
	return v.upper.Chtimes(rel, now, now)
}

// makeFolders makes a folder and those above it in the upper layer, with the modes that they have on disk.
func (v *overlayView) makeFolders(rel string) error {
	if rel == "." {
		return nil
	}
	if err := v.makeFolders(filepath.Dir(rel)); err != nil {
		return err
	}
	info, err := v.upper.Lstat(rel)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		if err := v.upper.Remove(rel); err != nil {
			return err
		}
	}
	if err := v.upper.Mkdir(rel, 0o755); err != nil {
		return err
	}
	if info, err := v.disk.Lstat(rel); err == nil && info.IsDir() {
		return v.upper.Chmod(rel, info.Mode().Perm()|0o700)
	}
	return nil
}

// whiteout hides the file or folder that the disk has at a path.
func (v *overlayView) whiteout(rel string) error {
	parent, err := v.upper.Open(filepath.Dir(rel))
	if err != nil {
		return err
	}
	defer parent.Close()
	return unix.Mknodat(int(parent.Fd()), filepath.Base(rel), unix.S_IFCHR, 0)
}

// isWhiteout tells whether an entry of the upper layer hides what is below it.
func isWhiteout(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().Type() == fs.ModeDevice|fs.ModeCharDevice && s.Rdev == 0
}

// collect removes the last command's changes from the upper layer and returns them.
func (v *overlayView) collect() (found, error) {
	c := &collector{overlayView: v, seen: map[string]bool{}}
	if err := c.folder("."); err != nil {
		return found{}, fmt.Errorf("collect what the command changed in %s: %w", v.root, err)
	}
	// Texts in ignored folders were not walked, and those that are gone leave nothing to find.
	for rel, text := range v.texts {
		if c.seen[rel] {
			continue
		}
		if err := c.text(rel, text); err != nil {
			return found{}, fmt.Errorf("collect what the command changed in %s: %w", v.root, err)
		}
	}
	slices.SortFunc(c.changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return c.found, nil
}

// collector is one walk over the upper layer.
type collector struct {
	*overlayView
	found
	seen map[string]bool // paths that are settled
}

func (c *collector) folder(rel string) error {
	entries, err := readDir(c.upper, rel)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := c.entry(filepath.Join(rel, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) entry(rel string) error {
	info, err := c.upper.Lstat(rel)
	if err != nil {
		return err
	}
	if info.IsDir() && info.Mode().Perm()&0o700 != 0o700 {
		if err := c.upper.Chmod(rel, info.Mode().Perm()|0o700); err != nil {
			return err
		}
	}
	_, seeded := c.texts[rel]
	ignored := c.isIgnored(rel, info.IsDir())
	switch {
	case ignored && !seeded:
		return nil
	case isWhiteout(info):
		if err := c.deleted(rel); err != nil {
			return err
		}
		return c.upper.Remove(rel)
	case info.IsDir():
		return c.subfolder(rel)
	case info.Mode().IsRegular():
		return c.regular(rel, info)
	case info.Mode().Type() == fs.ModeSymlink:
		if target, err := c.disk.Readlink(rel); err == nil {
			if now, err := c.upper.Readlink(rel); err == nil && now == target {
				return c.upper.Remove(rel)
			}
		}
		c.keep(rel, info, "it is a symbolic link")
		return nil
	default:
		c.kept = append(c.kept, special(filepath.Join(c.root, rel)))
		return c.upper.Remove(rel)
	}
}

// keep leaves a file in the box, and says so once.
func (c *collector) keep(rel string, info fs.FileInfo, reason string) {
	c.seen[rel] = true
	id := idOf(info)
	if c.known[rel] != id {
		c.known[rel] = id
		c.kept = append(c.kept, Kept{Path: filepath.Join(c.root, rel), Reason: reason})
	}
}

// deleted reports a file as deleted, or all files of a folder.
func (c *collector) deleted(rel string) error {
	files, err := c.filesBelow(rel)
	if err != nil {
		return err
	}
	if info, err := c.disk.Lstat(rel); err == nil && info.Mode().IsRegular() {
		files = append(files, rel)
	}
	slices.Sort(files)
	for _, name := range slices.Compact(files) {
		if err := c.deletedOne(name); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) deletedOne(rel string) error {
	if c.seen[rel] {
		return nil
	}
	c.seen[rel] = true
	change, ok, err := c.deletion(rel)
	if ok {
		c.changes = append(c.changes, change)
	}
	return err
}

func (c *collector) subfolder(rel string) error {
	wasEmpty, err := c.isEmpty(rel)
	if err != nil {
		return err
	}
	opaque, err := c.isOpaque(rel)
	if err != nil {
		return err
	}
	if err := c.folder(rel); err != nil {
		return err
	}
	below, err := c.disk.Lstat(rel)
	onDisk := err == nil
	switch {
	case opaque:
		// The folder was replaced: files that it had and no longer has are deleted.
		files, err := c.filesBelow(rel)
		if err != nil {
			return err
		}
		for _, name := range files {
			if _, err := c.upper.Lstat(name); gone(err) {
				if err := c.deletedOne(name); err != nil {
					return err
				}
			}
		}
		if err := c.clearOpaque(rel); err != nil {
			return err
		}
	case onDisk && !below.IsDir():
		if err := c.deletedOne(rel); err != nil {
			return err
		}
	}
	empty, err := c.isEmpty(rel)
	if err != nil {
		return err
	}
	if empty && (onDisk || !wasEmpty) {
		return c.upper.Remove(rel)
	}
	return nil
}

func (c *collector) isEmpty(rel string) (bool, error) {
	entries, err := readDir(c.upper, rel)
	return len(entries) == 0, err
}

func (v *overlayView) isOpaque(rel string) (bool, error) {
	f, err := v.upper.Open(rel)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var value [1]byte
	n, err := unix.Fgetxattr(int(f.Fd()), opaqueXattr, value[:])
	if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) {
		return false, nil
	}
	return n == 1 && value[0] == 'y', err
}

func (c *collector) clearOpaque(rel string) error {
	f, err := c.upper.Open(rel)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Fremovexattr(int(f.Fd()), opaqueXattr)
}

// regular settles a regular file of the upper layer.
func (c *collector) regular(rel string, info fs.FileInfo) error {
	if id, ok := c.known[rel]; ok && id == idOf(info) {
		c.seen[rel] = true
		return nil
	}
	if info.Mode().Perm()&0o400 == 0 {
		if err := c.upper.Chmod(rel, info.Mode().Perm()|0o400); err != nil {
			return err
		}
	}
	if below, err := c.disk.Lstat(rel); err == nil && below.IsDir() {
		if err := c.deleted(rel); err != nil {
			return err
		}
	}
	change, kept, err := c.compare(rel, c.upper)
	if err != nil {
		return err
	}
	c.seen[rel] = true
	if kept != nil {
		info, err := c.upper.Lstat(rel)
		if err != nil {
			return err
		}
		c.keep(rel, info, kept.Reason)
		return nil
	}
	if change != nil {
		c.changes = append(c.changes, *change)
	}
	delete(c.known, rel)
	return c.upper.Remove(rel)
}

// text settles a text of the agent that the walk did not meet.
func (c *collector) text(rel string, text Text) error {
	_, err := lstat(c.upper, rel)
	switch {
	case gone(err):
		if text.Deleted {
			return nil
		}
		return c.deletedOne(rel)
	case err != nil:
		return err
	}
	return c.entry(rel)
}

// layOver copies what stays in the upper layer onto a copy of the folder.
func (v *overlayView) layOver(to *copyView) error { return v.layFolder(".", to) }

func (v *overlayView) layFolder(rel string, to *copyView) error {
	entries, err := readDir(v.upper, rel)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(rel, e.Name())
		info, err := v.upper.Lstat(name)
		if err != nil {
			return err
		}
		switch {
		case isWhiteout(info):
			err = to.copy.RemoveAll(name)
		case info.IsDir():
			err = v.layOneFolder(name, to)
		default:
			err = replaceTree(v.upper, to.copy, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *overlayView) layOneFolder(rel string, to *copyView) error {
	opaque, err := v.isOpaque(rel)
	if err != nil {
		return err
	}
	if have, err := lstat(to.copy, rel); err == nil && (opaque || !have.IsDir()) {
		if err := to.copy.RemoveAll(rel); err != nil {
			return err
		}
	}
	if err := to.copy.MkdirAll(rel, 0o755); err != nil {
		return err
	}
	return v.layFolder(rel, to)
}
