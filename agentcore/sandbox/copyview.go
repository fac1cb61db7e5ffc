package sandbox

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// copyView shows a workspace folder as a copy, which is updated before each command. Meanwhile no command runs on it,
// except that on the level Copy, processes that an earlier command left behind may.
type copyView struct {
	view
	dir    string // the copy
	copy   *os.Root
	secret func(path string) bool
	// moved says that commands see the copy at its own path, not at the folder's.
	moved bool
	limit int64
	// skip are folders below the root that are not copied, by relative path.
	skip func(rel string) bool

	copies map[string]copied
	known  map[string]fileID
	size   int64
}

// copied identifies a file on the disk, and its copy right after copying.
type copied struct{ disk, own fileID }

func newCopyView(v view, dir string, o Options, moved bool) (*copyView, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &copyView{
		view: v, dir: dir, copy: root, secret: o.Secret, moved: moved, limit: o.Limits.Copy,
		copies: map[string]copied{}, known: map[string]fileID{},
	}, nil
}

func (v *copyView) close() error { return errors.Join(v.copy.Close(), v.disk.Close()) }

// errTooLarge is the error of a workspace that is not copied.
var errTooLarge = errors.New("the folder is too large to copy")

// seed updates the copy and writes the agent's texts into it.
func (v *copyView) seed(texts map[string]Text) error {
	v.texts = texts
	v.size = 0
	if err := v.sync("."); err != nil {
		return fmt.Errorf("copy %s: %w", v.root, err)
	}
	for rel, text := range texts {
		if err := v.seedOne(rel, text); err != nil {
			return fmt.Errorf("show the agent's text of %s to the command: %w", filepath.Join(v.root, rel), err)
		}
	}
	return nil
}

func (v *copyView) seedOne(rel string, text Text) error {
	delete(v.copies, rel)
	if _, err := lstat(v.copy, rel); err == nil {
		if err := v.copy.RemoveAll(rel); err != nil {
			return err
		}
	}
	if text.Deleted {
		return nil
	}
	if err := v.copy.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
		return err
	}
	_, mode, _, err := v.before(rel)
	if err != nil {
		return err
	}
	return writeFile(v.copy, rel, mode|0o600, mode, bytes.NewReader(text.Content))
}

// writeFile makes a new file with the content of from. It is created with one mode, and gets the other one at the end.
func writeFile(root *os.Root, name string, created, mode fs.FileMode, from io.Reader) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, created)
	if err != nil {
		return err
	}
	// Where the file system can, the kernel shares the blocks.
	_, err = io.Copy(f, from)
	return cmp.Or(err, f.Chmod(mode), f.Close())
}

// sync makes a folder of the copy equal to the disk's, without what version control ignores and what is kept in the
// box.
func (v *copyView) sync(rel string) error {
	entries, err := readDir(v.disk, rel)
	if err != nil {
		if rel != "." && (gone(err) || errors.Is(err, fs.ErrPermission)) {
			return nil // a folder that cannot be read is not shown
		}
		return err
	}
	present := make(map[string]bool, len(entries))
	for _, e := range entries {
		name := filepath.Join(rel, e.Name())
		if v.skip != nil && v.skip(name) || v.secret != nil && !e.IsDir() && v.secret(filepath.Join(v.root, name)) {
			continue
		}
		present[e.Name()] = true
		if err := v.syncEntry(name, e); err != nil && !gone(err) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return v.prune(rel, present)
}

// prune deletes from a folder of the copy what the disk does not have, unless it is kept in the box.
func (v *copyView) prune(rel string, present map[string]bool) error {
	own, err := readDir(v.copy, rel)
	if err != nil {
		if gone(err) {
			return nil
		}
		return err
	}
	for _, e := range own {
		name := filepath.Join(rel, e.Name())
		if present[e.Name()] || v.isIgnored(name, e.IsDir()) || v.keeps(name) {
			continue
		}
		if err := openUp(v.copy, name); err != nil {
			return err
		}
		if err := v.copy.RemoveAll(name); err != nil {
			return err
		}
	}
	return nil
}

// keeps reports whether a kept file lies at a path or below it.
func (v *copyView) keeps(rel string) bool {
	for name := range v.known {
		if below(name, rel) {
			return true
		}
	}
	return false
}

func (v *copyView) syncEntry(rel string, e fs.DirEntry) error {
	own, ownErr := lstat(v.copy, rel)
	if ownErr == nil && own.Mode().Type() != e.Type() {
		if err := v.copy.RemoveAll(rel); err != nil {
			return err
		}
		ownErr = fs.ErrNotExist
	}
	switch e.Type() {
	case fs.ModeDir:
		if ownErr != nil {
			if err := v.copy.MkdirAll(rel, 0o755); err != nil {
				return err
			}
		} else if own.Mode().Perm()&0o700 != 0o700 {
			if err := v.copy.Chmod(rel, own.Mode().Perm()|0o700); err != nil {
				return err
			}
		}
		return v.sync(rel)
	case fs.ModeSymlink:
		target, err := v.disk.Readlink(rel)
		if err != nil {
			return err
		}
		// A link to a place in the workspace must not lead out of the copy.
		if inside, err := filepath.Rel(v.root, target); v.moved && filepath.IsAbs(target) && err == nil &&
			filepath.IsLocal(inside) {
			target = filepath.Join(v.dir, inside)
		}
		if ownErr == nil {
			if now, err := v.copy.Readlink(rel); err == nil && now == target {
				return nil
			}
			if err := v.copy.Remove(rel); err != nil {
				return err
			}
		}
		return v.copy.Symlink(target, rel)
	case 0:
		return v.syncFile(rel, own, ownErr == nil)
	default:
		return nil // pipes, sockets and devices are not files of a workspace
	}
}

func (v *copyView) syncFile(rel string, own fs.FileInfo, exists bool) error {
	info, err := v.disk.Lstat(rel)
	if err != nil {
		return err
	}
	if v.size += info.Size(); v.size > v.limit {
		return fmt.Errorf("%w: it has more than %d MiB", errTooLarge, v.limit>>20)
	}
	last, ok := v.copies[rel]
	if ok && exists && last.disk == idOf(info) && (last.own == idOf(own) || v.isIgnored(rel, false)) {
		return nil
	}
	if ok && !exists && last.disk == idOf(info) && v.isIgnored(rel, false) {
		return nil // a command has deleted the file from the copy
	}
	if exists {
		if err := v.copy.Remove(rel); err != nil {
			return err
		}
	}
	delete(v.known, rel)
	delete(v.copies, rel)
	// The file gets its own name only once it is whole: another process could write into it before its time is set.
	if err := copyRegular(v.disk, rel, v.copy, arriving, info); err != nil {
		return errors.Join(err, v.copy.RemoveAll(arriving))
	}
	if err := v.copy.Rename(arriving, rel); err != nil {
		return errors.Join(err, v.copy.RemoveAll(arriving))
	}
	own, err = v.copy.Lstat(rel)
	if err != nil {
		return err
	}
	if own.Size() == info.Size() && own.ModTime().Equal(info.ModTime()) {
		v.copies[rel] = copied{idOf(info), idOf(own)}
	}
	return nil
}

// arriving is the name of a file of the copy that is not whole yet.
const arriving = ".agentls-arriving"

// collect compares the copy with what was put into it. On the level Copy, a process that outlived its command may
// replace files by links meanwhile: nothing outside of the copy is read or changed, and files that cannot be read are
// reported.
func (v *copyView) collect() (found, error) {
	var f found
	seen := map[string]bool{}
	if err := v.collectFolder(".", seen, &f); err != nil {
		return found{}, fmt.Errorf("collect what the command changed in %s: %w", v.root, err)
	}
	expected := make([]string, 0, len(v.texts))
	for rel, text := range v.texts {
		if !text.Deleted {
			expected = append(expected, rel)
		}
	}
	for rel := range v.copies {
		if !v.isIgnored(rel, false) && !v.ignoredAbove(rel) {
			expected = append(expected, rel)
		}
	}
	for _, rel := range expected {
		if seen[rel] {
			continue
		}
		seen[rel] = true
		info, err := lstat(v.copy, rel)
		if err == nil && info.Mode().IsRegular() {
			if err := v.collectFile(rel, info, &f); err != nil {
				v.unread(rel, err, &f)
			}
			continue
		}
		if err != nil && !gone(err) {
			v.unread(rel, err, &f)
			continue
		}
		delete(v.copies, rel)
		change, ok, err := v.deletion(rel)
		if err != nil {
			return found{}, err
		}
		if ok {
			f.changes = append(f.changes, change)
		}
	}
	slices.SortFunc(f.changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return f, nil
}

func (v *copyView) ignoredAbove(rel string) bool {
	for dir := filepath.Dir(rel); dir != "."; dir = filepath.Dir(dir) {
		if v.isIgnored(dir, true) {
			return true
		}
	}
	return false
}

func (v *copyView) collectFolder(rel string, seen map[string]bool, f *found) error {
	entries, err := readDir(v.copy, rel)
	if errors.Is(err, fs.ErrPermission) {
		if err = openUp(v.copy, rel); err == nil {
			entries, err = readDir(v.copy, rel)
		}
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(rel, e.Name())
		if v.isIgnored(name, e.IsDir()) {
			continue
		}
		info, err := v.copy.Lstat(name)
		if gone(err) {
			continue
		}
		if err != nil {
			v.unread(name, err, f)
			continue
		}
		switch {
		case info.IsDir():
			err = v.collectFolder(name, seen, f)
		case info.Mode().IsRegular():
			seen[name] = true
			err = v.collectFile(name, info, f)
		case info.Mode().Type() == fs.ModeSymlink:
			if _, err := v.disk.Readlink(name); err != nil {
				v.keep(name, info, "it is a symbolic link", f)
			}
		default:
			f.kept = append(f.kept, special(filepath.Join(v.root, name)))
			err = v.copy.Remove(name)
		}
		if err != nil && !gone(err) {
			v.unread(name, err, f)
		}
	}
	return nil
}

// unread reports a file that could not be read.
func (v *copyView) unread(rel string, err error, f *found) {
	f.kept = append(f.kept, Kept{
		Path: filepath.Join(v.root, rel), Reason: fmt.Sprintf("it could not be read (%v)", err),
	})
}

func (v *copyView) keep(rel string, info fs.FileInfo, reason string, f *found) {
	if id := idOf(info); v.known[rel] != id {
		v.known[rel] = id
		f.kept = append(f.kept, Kept{Path: filepath.Join(v.root, rel), Reason: reason})
	}
}

func (v *copyView) collectFile(rel string, info fs.FileInfo, f *found) error {
	if last, ok := v.copies[rel]; ok && last.own == idOf(info) {
		return nil
	}
	if id, ok := v.known[rel]; ok && id == idOf(info) {
		return nil
	}
	if info.Mode().Perm()&0o400 == 0 {
		if err := v.copy.Chmod(rel, info.Mode().Perm()|0o400); err != nil {
			return err
		}
	}
	change, kept, err := v.compare(rel, v.copy)
	switch {
	case gone(err):
		return nil
	case err != nil:
		return err
	case kept != nil:
		v.keep(rel, info, kept.Reason, f)
	case change != nil:
		f.changes = append(f.changes, *change)
	}
	return nil
}

// copyRegular copies one file with its mode and time.
func copyRegular(from *os.Root, rel string, to *os.Root, name string, info fs.FileInfo) error {
	source, err := from.OpenFile(rel, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return err
	}
	defer source.Close()
	if err := writeFile(to, name, 0o600, info.Mode().Perm()|0o400, source); err != nil {
		return err
	}
	return to.Chtimes(name, info.ModTime(), info.ModTime())
}

// liveView shows a workspace folder as it is on the disk.
type liveView struct{ view }

func (v *liveView) seed(map[string]Text) error { return nil }

func (v *liveView) collect() (found, error) { return found{}, nil }

func (v *liveView) layOver(*copyView) error { return nil }

func (v *liveView) close() error { return v.disk.Close() }
