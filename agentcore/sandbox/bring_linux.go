//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/agentls/agentls/agentcore/beneath"
)

// insideOnly is how paths of a command's view are resolved: no link leads anywhere, whoever has put it there.
const insideOnly = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

// openInside opens a path of a command's view, without waiting for anybody. more are further ways not to resolve it.
func openInside(dir int, rel string, flags, more uint64) (fd int, err error) {
	how := unix.OpenHow{
		Flags:   flags | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY,
		Resolve: insideOnly | more,
	}
	if flags&unix.O_PATH != 0 {
		how.Flags &^= unix.O_NONBLOCK | unix.O_NOCTTY // which openat2(2) does not take together
	}
	for range resolveTries {
		// The kernel gives up where something was renamed meanwhile.
		err = retried(func() (err error) { fd, err = unix.Openat2(dir, rel, &how); return err })
		if err != unix.EAGAIN {
			break
		}
	}
	if err != nil {
		return -1, &fs.PathError{Op: "openat2", Path: rel, Err: err}
	}
	return fd, nil
}

// resolveTries is how often a path is resolved that others rename meanwhile.
const resolveTries = 100

// swapped is a file that was replaced by a text, or taken away, and that was the known one. A process may have it open.
type swapped struct {
	rel  string
	file *os.File
	hash Hash // of the text that was known
	mode fs.FileMode
}

// maxSwapped bounds the replaced files that are kept open and that nobody writes to.
const maxSwapped = 64

// The reasons why nothing can be brought.
const (
	whyGit     = "the program's .git is its own"
	whyMounted = "it is protected or hidden in the program's view"
)

// errChanged is that the command has changed a path.
var errChanged = errors.New("the program has changed it")

// bring puts a text into the view. It reports done unless the command has changed the path, or why nothing can be put
// there.
func (v *followedView) bring(rel string, text Text) (done bool, why string, err error) {
	if inGit(rel) {
		return false, whyGit, nil
	}
	err = v.bringOne(rel, text)
	switch {
	case err == nil:
		delete(v.kept, rel)
		return true, "", nil
	case errors.Is(err, errChanged), errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENOTDIR):
		return false, "", nil
	case errors.Is(err, syscall.EXDEV):
		return false, whyMounted, nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENAMETOOLONG):
		return false, err.Error(), nil
	}
	return false, "", err
}

func (v *followedView) bringOne(rel string, text Text) error {
	if v.written(rel) {
		return errChanged
	}
	parent, err := v.parent(filepath.Dir(rel), !text.Deleted)
	if gone(err) && text.Deleted && !errors.Is(err, syscall.ENOTDIR) {
		v.known[rel] = record{mode: 0o644} // with its folder
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(parent)
	p := &place{view: v, rel: rel, parent: parent, name: filepath.Base(rel)}
	fd, err := openInside(parent, p.name, unix.O_RDONLY, unix.RESOLVE_NO_XDEV)
	switch {
	case errors.Is(err, syscall.ENOENT):
		return p.make(text)
	case errors.Is(err, syscall.ENXIO):
		return errChanged // a socket
	case err != nil:
		return err
	}
	file := os.NewFile(uintptr(fd), rel)
	kept := false
	defer func() {
		if !kept {
			file.Close()
		}
	}()
	kept, err = p.replace(file, text)
	return err
}

// parent opens a folder of the view, which it makes if it is missing and make is set.
func (v *followedView) parent(rel string, make bool) (int, error) {
	fd, err := openInside(v.inside, rel, unix.O_PATH|unix.O_DIRECTORY, unix.RESOLVE_NO_XDEV)
	if !make || rel == "." || !errors.Is(err, syscall.ENOENT) {
		return fd, err
	}
	above, err := v.parent(filepath.Dir(rel), true)
	if err != nil {
		return -1, err
	}
	defer unix.Close(above)
	if err := unix.Mkdirat(above, filepath.Base(rel), 0o755); err != nil && err != unix.EEXIST {
		return -1, &fs.PathError{Op: "mkdirat", Path: rel, Err: err}
	}
	return openInside(v.inside, rel, unix.O_PATH|unix.O_DIRECTORY, unix.RESOLVE_NO_XDEV)
}

// place is a name in a folder of the view, to which a text is brought.
type place struct {
	view   *followedView
	rel    string
	parent int
	name   string
}

// make brings a text to where nothing is.
func (p *place) make(text Text) error {
	v := p.view
	r, known := v.known[p.rel]
	switch {
	case text.Deleted:
		v.known[p.rel] = record{mode: 0o644}
		return nil
	case known && r.exists && !r.onDisk:
		return errChanged // the command has deleted it
	case !known || r.onDisk:
		disk, err := v.disked(p.rel)
		if err != nil {
			return err
		}
		// What was on the disk at the start was in the view, too.
		if _, err := v.below(p.rel); err == nil || disk.exists && !disk.unsure {
			return errChanged
		} else if !gone(err) {
			return err
		}
		r = disk
	}
	temporary, file, err := p.write(text, r.mode)
	if err != nil {
		return err
	}
	defer file.Close()
	err = unix.Renameat2(p.parent, temporary, p.parent, p.name, unix.RENAME_NOREPLACE)
	if err != nil {
		err = errors.Join(p.failed("renameat2", err), p.remove(temporary))
	}
	if errors.Is(err, fs.ErrExist) {
		return errChanged
	}
	if err == nil {
		v.known[p.rel] = record{exists: true, hash: sha256.Sum256(text.Content), mode: r.mode}
	}
	return err
}

// below tells what the upper layer has at a path, a whiteout included.
func (v *followedView) below(rel string) (s unix.Stat_t, err error) {
	folder, err := v.walked.Open(filepath.Dir(rel), beneath.Refuse)
	if err != nil {
		return s, err
	}
	defer folder.Close()
	if err := unix.Fstatat(folder.Descriptor(), filepath.Base(rel), &s, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return s, &fs.PathError{Op: "fstatat", Path: rel, Err: err}
	}
	return s, nil
}

// replace brings a text to where a file is. It reports whether the file stays open, among those that were replaced.
func (p *place) replace(file *os.File, text Text) (kept bool, err error) {
	v := p.view
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, errChanged
	}
	old := swapped{rel: p.rel, file: file, mode: info.Mode().Perm()}
	if old.hash, err = v.hashOf(file); err != nil {
		return false, err
	}
	next := record{exists: !text.Deleted, hash: sha256.Sum256(text.Content), mode: old.mode}
	if next.exists && next.hash == old.hash {
		v.known[p.rel] = next // both have written the same
		return false, nil
	}
	if unchanged, err := v.unchanged(p.rel, old.hash); err != nil || !unchanged {
		return false, cmp.Or(err, errChanged)
	}
	if writers(file) {
		return false, errChanged
	}
	if text.Deleted {
		err = p.takeAway(old)
	} else {
		err = p.exchange(old, text)
	}
	if err != nil {
		return false, err
	}
	v.known[p.rel] = next
	v.linger(old)
	return true, nil
}

// unchanged reports whether a text is the last known one of a path.
func (v *followedView) unchanged(rel string, now Hash) (bool, error) {
	r, known := v.known[rel]
	if known && !r.onDisk {
		return r.exists && r.hash == now, nil
	}
	if _, err := v.below(rel); gone(err) {
		return true, nil // the disk's file is shown
	} else if err != nil {
		return false, err
	}
	r, err := v.disked(rel)
	return r.exists && !r.unsure && r.hash == now, err
}

// hashOf is the hash of an open file, from its beginning. A file that is too long for any text has none that is known.
func (v *followedView) hashOf(file *os.File) (Hash, error) {
	hash := sha256.New()
	n, err := io.Copy(hash, io.NewSectionReader(file, 0, v.maxText+1))
	if n > v.maxText {
		return Hash{}, nil
	}
	return Hash(hash.Sum(nil)), err
}

// writers reports whether a process has a file open for writing: then the kernel grants no lease for reading
// (fcntl(2)), which is given back at once. Where there are no leases, there is no telling.
func writers(file *os.File) bool {
	_, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		_, err = unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return err == unix.EAGAIN
}

// temporaryPrefix begins the names under which texts are written before they get their own.
const temporaryPrefix = ".agentls-"

// write writes a text under a name of its own in the same folder.
func (p *place) write(text Text, mode fs.FileMode) (name string, file *os.File, err error) {
	name = temporaryPrefix + rand.Text()
	fd, err := openAt(p.parent, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return "", nil, p.failed("openat", err)
	}
	writing := os.NewFile(uintptr(fd), p.rel)
	_, err = io.Copy(writing, bytes.NewReader(text.Content))
	err = cmp.Or(err, writing.Chmod(mode), writing.Close())
	if err == nil {
		// To be looked at after it was shown; whoever reads does not count as a writer.
		fd, err = openAt(p.parent, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	}
	if err != nil {
		return "", nil, errors.Join(err, p.remove(name))
	}
	return name, os.NewFile(uintptr(fd), p.rel), nil
}

func openAt(dir int, name string, flags int, mode uint32) (fd int, err error) {
	err = retried(func() (err error) { fd, err = unix.Openat(dir, name, flags|unix.O_CLOEXEC, mode); return err })
	return fd, err
}

func (p *place) failed(call string, err error) error {
	return &fs.PathError{Op: call, Path: p.rel, Err: err}
}

func (p *place) remove(name string) error {
	if err := unix.Unlinkat(p.parent, name, 0); err != nil && err != unix.ENOENT {
		return p.failed("unlinkat", err)
	}
	return nil
}

// is reports whether a name in the folder is that of an open file. A file's number may change when it is copied up, so
// that both are asked for now.
func (p *place) is(name string, file *os.File) (bool, error) {
	var named, opened unix.Stat_t
	if err := unix.Fstatat(p.parent, name, &named, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return false, p.failed("fstatat", err)
	}
	if err := unix.Fstat(int(file.Fd()), &opened); err != nil {
		return false, p.failed("fstat", err)
	}
	return named.Dev == opened.Dev && named.Ino == opened.Ino, nil
}

// intact reports whether a file that was moved out of its place is the one that was looked at, still has its text, and
// is not about to get another one.
func (p *place) intact(old swapped, name string) (bool, error) {
	is, err := p.is(name, old.file)
	if err != nil || !is || writers(old.file) {
		return false, err
	}
	hash, err := p.view.hashOf(old.file)
	return hash == old.hash, err
}

// exchange puts a text in the place of a file. In between, the name always stands for one of the two.
func (p *place) exchange(old swapped, text Text) error {
	temporary, ours, err := p.write(text, old.mode)
	if err != nil {
		return err
	}
	if err := unix.Renameat2(p.parent, temporary, p.parent, p.name, unix.RENAME_EXCHANGE); err != nil {
		err = errors.Join(p.failed("renameat2", err), ours.Close(), p.remove(temporary))
		if errors.Is(err, fs.ErrNotExist) {
			return errChanged
		}
		return err
	}
	intact, err := p.intact(old, temporary)
	if intact && err == nil {
		return errors.Join(ours.Close(), p.remove(temporary))
	}
	// The command was faster. What it writes into our text meanwhile is looked at later, too.
	err = errors.Join(err, p.putBack(temporary, ours))
	p.view.linger(swapped{p.rel, ours, sha256.Sum256(text.Content), old.mode})
	return cmp.Or(err, errChanged)
}

// putBack undoes an exchange. Where the command has replaced our text in the meantime, the command's newer file gets
// the name.
func (p *place) putBack(temporary string, ours *os.File) error {
	at := ours // what had the name before
	for range resolveTries {
		// It stays open, since the number of a file that is gone may be given to the next one.
		fd, err := openAt(p.parent, temporary, unix.O_PATH|unix.O_NOFOLLOW, 0)
		if err != nil {
			return p.failed("openat", err)
		}
		back := os.NewFile(uintptr(fd), p.rel)
		defer back.Close()
		err = unix.Renameat2(p.parent, temporary, p.parent, p.name, unix.RENAME_EXCHANGE)
		if err == unix.ENOENT {
			break // the command has deleted the file
		}
		if err != nil {
			return p.failed("renameat2", err)
		}
		if is, err := p.is(temporary, at); err != nil {
			return err
		} else if is {
			break
		}
		at = back // it was replaced by something newer, which gets the name again
	}
	return p.remove(temporary)
}

// takeAway deletes a file.
func (p *place) takeAway(old swapped) error {
	temporary := temporaryPrefix + rand.Text()
	err := unix.Renameat2(p.parent, p.name, p.parent, temporary, unix.RENAME_NOREPLACE)
	if err == unix.ENOENT {
		return errChanged
	}
	if err != nil {
		return p.failed("renameat2", err)
	}
	intact, err := p.intact(old, temporary)
	if intact && err == nil {
		return p.remove(temporary)
	}
	back := unix.Renameat2(p.parent, temporary, p.parent, p.name, unix.RENAME_NOREPLACE)
	switch {
	case back == unix.EEXIST:
		back = p.remove(temporary) // the command has made a newer one
	case back != nil:
		back = p.failed("renameat2", back)
	}
	return cmp.Or(err, back, errChanged)
}

// linger keeps a replaced file open, so that the next search sees what was written to it. Others are closed once there
// are many, and nobody writes to them.
func (v *followedView) linger(s swapped) {
	v.swapped = append(v.swapped, s)
	for i := 0; len(v.swapped) > maxSwapped && i < len(v.swapped); {
		old := v.swapped[i]
		if hash, err := v.hashOf(old.file); writers(old.file) || err == nil && hash != old.hash {
			i++
			continue
		}
		_ = old.file.Close() // it was only read
		v.swapped = append(v.swapped[:i:i], v.swapped[i+1:]...)
	}
}

// written reports whether something was written to a replaced file of a path.
func (v *followedView) written(rel string) bool {
	for _, s := range v.swapped {
		if s.rel != rel {
			continue
		}
		if hash, err := v.hashOf(s.file); err == nil && hash != s.hash {
			return true
		}
	}
	return false
}

// replaced tells what was written to files after they were replaced, one text for each path.
func (l *look) replaced() error {
	for _, s := range l.swapped {
		busy := writers(s.file)
		data, err := io.ReadAll(io.NewSectionReader(s.file, 0, l.maxText+1))
		if err != nil {
			return fmt.Errorf("read a file that was replaced: %w", err)
		}
		hash := sha256.Sum256(data)
		changed := int64(len(data)) <= l.maxText && hash != s.hash && l.isText(data)
		if changed && l.lost[s.rel] {
			l.swaps = append(l.swaps, s)
			continue
		}
		if changed {
			l.lost[s.rel] = true
			l.out.changes = append(l.out.changes, Change{
				Path: filepath.Join(l.root, s.rel), Content: data, Mode: s.mode, Existed: true,
				Before: s.hash, Replaced: true,
			})
			s.hash = hash
		}
		if busy {
			l.swaps = append(l.swaps, s)
		} else {
			l.done = append(l.done, s)
		}
	}
	return nil
}
