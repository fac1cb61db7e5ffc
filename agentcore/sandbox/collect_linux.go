//go:build amd64 || arm64

package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/agentls/agentls/agentcore/beneath"
)

// look is one search for what a followed command has changed. What it finds out goes into maps of its own, so that a
// search that fails leaves nothing behind.
type look struct {
	*followedView
	out found
	ctx context.Context
	// all has every file read again.
	all bool
	now syscall.Timespec
	// learned are new records, keeps newly kept files, hides newly hidden paths.
	learned map[string]record
	keeps   map[string]keptFile
	hides   map[string]bool
	// seen are paths of files that are settled, skipped the folders that were left out.
	seen    map[string]bool
	skipped []string
	// lost are paths at which a text was told that the view does not have any more.
	lost map[string]bool
	// swaps are the replaced files that have to be looked at again, done those that have not.
	swaps, done []swapped
}

// changes finds what the command has changed. commit is called if that is told.
func (v *followedView) changes(ctx context.Context, all bool) (f found, commit func(), err error) {
	now, err := tick()
	if err != nil {
		return found{}, nil, err
	}
	l := &look{
		followedView: v, ctx: ctx, all: all, now: now,
		learned: map[string]record{}, keeps: map[string]keptFile{}, hides: map[string]bool{},
		seen: map[string]bool{}, lost: map[string]bool{},
	}
	if err := l.replaced(); err != nil {
		return found{}, nil, err
	}
	if err := l.folder("."); err != nil {
		return found{}, nil, err
	}
	if err := l.rest(); err != nil {
		return found{}, nil, err
	}
	return l.out, l.commit, nil
}

func (l *look) commit() {
	maps.Copy(l.known, l.learned)
	maps.Copy(l.kept, l.keeps)
	maps.Copy(l.hidden, l.hides)
	for _, s := range l.done {
		_ = s.file.Close() // it was only read
	}
	l.swapped = l.swaps
}

// record is what is known of a path.
func (l *look) record(rel string) (record, bool) {
	if r, ok := l.learned[rel]; ok {
		return r, true
	}
	r, ok := l.known[rel]
	return r, ok
}

// folder looks at a folder of the upper layer. It is closed before those in it are opened, so that a deep tree does not
// take all descriptors.
func (l *look) folder(rel string) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	folders, err := l.entries(rel)
	if err != nil {
		return err
	}
	for _, name := range folders {
		if err := l.folder(name); err != nil {
			return err
		}
	}
	return nil
}

// entries looks at what is in a folder, and returns the folders in it.
func (l *look) entries(rel string) (folders []string, err error) {
	folder, err := l.walked.Open(rel, beneath.Refuse)
	if gone(err) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	if opaque(folder.Descriptor()) {
		if err := l.hide(rel, true); err != nil {
			return nil, err
		}
	}
	entries, err := folder.Entries()
	if gone(err) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := filepath.Join(rel, e.Name)
		if e.Name == gitName {
			continue
		}
		var s unix.Stat_t
		switch err := unix.Fstatat(folder.Descriptor(), e.Name, &s, unix.AT_SYMLINK_NOFOLLOW); {
		case err == unix.ENOENT:
			continue
		case err != nil:
			return nil, &fs.PathError{Op: "fstatat", Path: name, Err: err}
		}
		if s.Mode&unix.S_IFMT != unix.S_IFDIR {
			err = l.entry(folder, e.Name, name, &s)
		} else if l.isIgnored(name, true) {
			l.skipped = append(l.skipped, name)
		} else {
			folders = append(folders, name)
		}
		if err != nil {
			return nil, err
		}
	}
	return folders, nil
}

// opaque reports whether a folder of the upper layer hides the one below it.
func opaque(fd int) bool {
	var value [1]byte
	n, err := unix.Fgetxattr(fd, opaqueXattr, value[:])
	return err == nil && n == 1 && value[0] == 'y'
}

// entry looks at what is no folder.
func (l *look) entry(folder *beneath.Folder, name, rel string, s *unix.Stat_t) error {
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return l.file(folder, name, rel, s)
	case unix.S_IFLNK:
		l.link(rel, s)
	case unix.S_IFCHR:
		if s.Rdev == 0 {
			return l.hide(rel, false) // a whiteout
		}
		l.keep(rel, s, special(rel).Reason)
	default:
		l.keep(rel, s, special(rel).Reason)
	}
	return nil
}

// link tells of a symbolic link, which nobody follows.
func (l *look) link(rel string, s *unix.Stat_t) {
	own, err := l.upper.Readlink(rel)
	if err != nil {
		return // it is gone already
	}
	if target, err := l.disk.Readlink(rel); err == nil && own == target {
		l.seen[rel] = true
		return
	}
	l.keep(rel, s, "it is a symbolic link")
}

// keep tells of a file that is no change, once. What was known of its path stays known.
func (l *look) keep(rel string, s *unix.Stat_t, reason string) {
	l.seen[rel] = true
	_, known := l.record(rel)
	if !known && l.isIgnored(rel, false) {
		return
	}
	id := idOfStat(s)
	if l.kept[rel].id != id {
		l.out.kept = append(l.out.kept, Kept{Path: filepath.Join(l.root, rel), Reason: reason})
	}
	l.keeps[rel] = keptFile{id, l.settled(id)}
}

// settled reports whether any later change of a file will show.
func (l *look) settled(id fileID) bool { return id.changed.Nano()+slack < l.now.Nano() }

// hide makes records of what the disk has at a path, and that the command sees no more unless the upper layer has it.
// covered says that a folder is in its place.
func (l *look) hide(rel string, covered bool) error {
	if l.hidden[rel] || l.hides[rel] {
		return nil
	}
	info, err := lstat(l.disk, rel)
	if err != nil && !gone(err) {
		return err
	}
	var files []string
	switch {
	case err != nil:
	case info.IsDir():
		if files, err = l.filesBelow(rel); err != nil {
			return err
		}
	case info.Mode().IsRegular():
		files = []string{rel}
	}
	for _, name := range files {
		if _, known := l.record(name); !known && !inGit(name) && (name != rel || !l.isIgnored(rel, false)) {
			l.learned[name] = record{exists: true, onDisk: true, covered: covered}
		}
	}
	l.hides[rel] = true
	return nil
}

// file looks at a regular file of the upper layer.
func (l *look) file(folder *beneath.Folder, name, rel string, s *unix.Stat_t) error {
	l.seen[rel] = true
	id := idOfStat(s)
	r, known := l.record(rel)
	if !l.all {
		if known && r.id == id {
			return nil
		}
		if k := l.kept[rel]; k.settled && k.id == id {
			return nil
		}
	}
	if !known && l.isIgnored(rel, false) {
		return nil
	}
	data, _, err := folder.ReadFile(name, &l.buffer, l.maxText)
	switch {
	case err == nil:
	case errors.Is(err, beneath.ErrTooLong):
		l.keep(rel, s, tooLong(l.maxText))
		return nil
	case errors.Is(err, fs.ErrPermission) && s.Mode&0o400 == 0:
		l.keep(rel, s, "it cannot be read")
		return nil
	case gone(err), errors.Is(err, beneath.ErrNotRegular), errors.Is(err, syscall.ELOOP),
		errors.Is(err, syscall.ENXIO), errors.Is(err, fs.ErrPermission):
		return nil // it has gone, or become something else, which the next call sees: a link, a pipe, a whiteout
	default:
		return err
	}
	if !known {
		if err := l.hideFolder(rel); err != nil {
			return err
		}
	}
	if !known || r.onDisk {
		if r, err = l.disked(rel); err != nil {
			return err
		}
	}
	now := record{exists: true, hash: sha256.Sum256(data), mode: fs.FileMode(s.Mode & 0o777)}
	if l.settled(id) {
		now.id = id
	}
	switch same := r.exists && !r.unsure && r.hash == now.hash && r.mode == now.mode; {
	case same:
		l.learned[rel] = now
	case !l.isText(data):
		l.keep(rel, s, notText)
	case !l.lost[rel]:
		l.learned[rel] = now
		l.out.changes = append(l.out.changes, Change{
			Path: filepath.Join(l.root, rel), Content: slices.Clone(data), Mode: now.mode, Existed: r.exists,
			Before: r.hash,
		})
	}
	return nil
}

// hideFolder makes records of the files of a folder in whose place the command has put a file.
func (l *look) hideFolder(rel string) error {
	if info, err := lstat(l.disk, rel); err == nil && info.IsDir() {
		return l.hide(rel, false)
	}
	return nil
}

// rest looks at the known files that were not met: they are gone, in folders that were left out, or shown from the
// disk.
func (l *look) rest() error {
	for _, known := range []map[string]record{l.known, maps.Clone(l.learned)} {
		for rel := range known {
			r, _ := l.record(rel)
			if l.seen[rel] || !r.exists && !l.leftOut(rel) {
				continue
			}
			if err := l.ctx.Err(); err != nil {
				return err
			}
			l.seen[rel] = true
			if err := l.unmet(rel, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// leftOut reports whether a path lies in a folder that was not looked at.
func (l *look) leftOut(rel string) bool {
	return slices.ContainsFunc(l.skipped, func(folder string) bool { return below(rel, folder) })
}

// unmet looks at a known file in the command's view.
func (l *look) unmet(rel string, r record) error {
	s, err := l.shows(rel)
	switch {
	case gone(err):
		return l.away(rel, r)
	case err != nil || s.Mode&unix.S_IFMT == unix.S_IFLNK:
		return nil // a link is in its way, or nobody may look: nothing tells what became of it
	case s.Mode&unix.S_IFMT != unix.S_IFREG:
		return l.away(rel, r)
	}
	folder, err := l.walked.Open(filepath.Dir(rel), beneath.Refuse)
	if gone(err) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	var own unix.Stat_t
	name := filepath.Base(rel)
	if err := unix.Fstatat(folder.Descriptor(), name, &own, unix.AT_SYMLINK_NOFOLLOW); err != nil ||
		own.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil // the disk's file is shown
	}
	return l.file(folder, name, rel, &own)
}

// shows tells what the command sees at a path. No link is followed.
func (v *followedView) shows(rel string) (s unix.Stat_t, err error) {
	fd, err := openInside(v.inside, rel, unix.O_PATH, 0)
	if err != nil {
		return s, err
	}
	defer unix.Close(fd)
	return s, unix.Fstat(fd, &s)
}

// away tells that a file is gone.
func (l *look) away(rel string, r record) (err error) {
	if r.onDisk {
		covered := r.covered
		if r, err = l.disked(rel); err != nil {
			return err
		}
		r.exists = r.exists && !(covered && r.unsure)
	}
	if l.lost[rel] {
		return nil
	}
	l.learned[rel] = record{mode: 0o644}
	if r.exists {
		l.out.changes = append(l.out.changes, Change{
			Path: filepath.Join(l.root, rel), Deleted: true, Mode: r.mode, Existed: true, Before: r.hash,
		})
	}
	return nil
}
