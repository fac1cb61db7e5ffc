package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentls/agentls/agentcore"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/workspace"
)

// accept writes the proposed edits to the files, as an editor would otherwise do, and accepts the hunks that were
// written. The refused files are those that were left unchanged, with the reasons; an error is an error of the store.
func (r *result) accept(ctx context.Context, session *agentcore.Session) (refused, _ error) {
	if !r.complete() {
		for _, e := range r.edits {
			r.refused[e.Path] = true
		}
		if len(r.edits) == 0 {
			return nil, nil
		}
		return fmt.Errorf(
			"nothing was written, because not every run completed; run it again, or apply what there is with " +
				"--format diff"), nil
	}
	paths, refused := r.write()
	var accepted []event.HunkID
	for _, h := range r.hunks {
		if h.State == event.StateOpen && r.written[h.Path] {
			accepted = append(accepted, h.ID)
		}
	}
	session.Board().Proposal().Confirm(accepted, true, "")
	if err := settle(ctx, session, paths); err != nil {
		return refused, fmt.Errorf("the edits were written, but not stored as accepted: %w", err)
	}
	return refused, nil
}

// settle has a session look at files that were written, and waits until what came of it is stored.
func settle(ctx context.Context, session *agentcore.Session, paths []string) error {
	session.View().DiskChanged(paths)
	ctx = context.WithoutCancel(ctx) // the files are written: that has to be stored
	settling, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	return errors.Join(session.View().Settle(settling), session.Flush(settling))
}

// write writes the edits to the files, and returns the paths that have changed. refused says which files were left as
// they are and why.
func (r *result) write() (paths []string, refused error) {
	paths, failures := writeEdits(r.root.Path, r.edits,
		func(path string) workspace.Format { return r.files[path].Format })
	var faults []error
	for _, e := range r.edits {
		if why := failures[e.Path]; why != nil {
			r.refused[e.Path] = true
			faults = append(faults, fmt.Errorf("%s was not written: %w", r.name(e.Path), why))
		} else {
			r.written[e.Path] = true
		}
	}
	return paths, errors.Join(faults...)
}

// writeEdits writes edits to the files of a folder, whose formats are given by their paths, and returns the paths that
// have changed. refused says, by the paths of the edits, which files were left as they are and why.
func writeEdits(root string, edits []workspace.FileEdit, format func(path string) workspace.Format,
) (paths []string, refused map[string]error) {
	refused = map[string]error{}
	folder, err := os.OpenRoot(root)
	if err != nil {
		for _, e := range edits {
			refused[e.Path] = fmt.Errorf("open the workspace folder for writing: %w", err)
		}
		return nil, refused
	}
	defer folder.Close()
	ordered, cyclic := workspace.Ordered(edits)
	for _, e := range cyclic {
		refused[e.Path] = errors.New("it trades names with another file; rename one of them by hand, and run it again")
	}
	for _, e := range ordered {
		if err := writeEdit(folder, root, e, format(e.Path)); err != nil {
			refused[e.Path] = err
			continue
		}
		paths = append(paths, e.Path)
		if e.MoveTo != "" {
			paths = append(paths, e.MoveTo)
		}
	}
	return paths, refused
}

// errChanged refuses to overwrite text that the agent has not seen.
var errChanged = errors.New("the file was changed meanwhile; run the agent again")

// writeEdit makes the edit of one file on disk as a whole or not at all, by a temporary file in the same folder that
// replaces the file. Mode, encoding, byte order mark and line endings are kept. It refuses a file whose bytes differ
// from those for which the edit was made, a file that is read-only or has other hard links, and a file outside the
// folder.
func writeEdit(folder *os.Root, root string, e workspace.FileEdit, format workspace.Format) error {
	rel, err := filepath.Rel(root, e.Path)
	if err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("it lies outside the workspace folder %s", root)
	}
	if e.Create {
		return createFile(folder, rel, e.After())
	}
	if e.MoveTo != "" {
		return moveFile(folder, root, rel, e, format)
	}
	if rel, err = followLink(folder, root, rel); err != nil {
		return err
	}
	before, err := format.Encode(e.Before)
	if err != nil {
		return err
	}
	info, err := unchanged(folder, rel, before)
	if err != nil {
		return err
	}
	if e.Delete {
		return folder.Remove(rel)
	}
	if info.Mode().Perm()&0o222 == 0 { // a rename would ignore this
		return errors.New("the file is read-only; make it writable, and run the agent again")
	}
	after, err := format.Encode(e.After())
	if err != nil {
		return err
	}
	temp, err := writeTemp(folder, filepath.Dir(rel), after, info.Mode().Perm())
	if err != nil {
		return err
	}
	// Another program may have saved the file since the first check. A second check right before the rename leaves it
	// as little time as possible.
	if _, err = unchanged(folder, rel, before); err == nil {
		err = folder.Rename(temp, rel)
	}
	if err != nil {
		return errors.Join(err, folder.Remove(temp))
	}
	return nil
}

// moveFile renames a file, or a link, and then makes the edits in it. If the edits fail, it gives the old name back.
func moveFile(folder *os.Root, root, rel string, e workspace.FileEdit, format workspace.Format) error {
	to, err := filepath.Rel(root, e.MoveTo)
	if err != nil || !filepath.IsLocal(to) {
		return fmt.Errorf("its new place %s lies outside the workspace folder %s", e.MoveTo, root)
	}
	target, err := followLink(folder, root, rel)
	if err != nil {
		return err
	}
	before, err := format.Encode(e.Before)
	if err != nil {
		return err
	}
	if _, err := unchanged(folder, target, before); err != nil {
		return err
	}
	if err := free(folder, rel, to); err != nil {
		return err
	}
	if err := folder.MkdirAll(filepath.Dir(to), 0o777); err != nil { // the umask decides, as for any new folder
		return err
	}
	if err := folder.Rename(rel, to); err != nil {
		return err
	}
	if len(e.Edits) == 0 {
		return nil
	}
	moved := e
	moved.Path, moved.MoveTo = e.MoveTo, ""
	if err := writeEdit(folder, root, moved, format); err != nil {
		return errors.Join(err, folder.Rename(to, rel))
	}
	return nil
}

// free ensures that nothing has the new name, except the file itself if only the case of letters changes.
func free(folder *os.Root, from, to string) error {
	there, err := folder.Lstat(to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if here, err := folder.Lstat(from); err == nil && os.SameFile(here, there) {
		return nil
	}
	return fmt.Errorf("there is something at %s now; run the agent again", filepath.ToSlash(to))
}

// followLink returns where a link leads, so that the link is kept and its target is written.
func followLink(folder *os.Root, root, rel string) (string, error) {
	info, err := folder.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", errChanged
	case err != nil || info.Mode()&fs.ModeSymlink == 0:
		return rel, err
	}
	target, err := filepath.EvalSymlinks(filepath.Join(root, rel))
	if err != nil {
		return "", err
	}
	top, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	below, err := filepath.Rel(top, target)
	if err != nil || !filepath.IsLocal(below) {
		return "", fmt.Errorf("it is a link out of the workspace folder, to %s", target)
	}
	return below, nil
}

// unchanged ensures that a file still has the expected bytes.
func unchanged(folder *os.Root, rel string, want []byte) (fs.FileInfo, error) {
	file, err := folder.Open(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errChanged
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if n := hardLinks(info); n > 1 {
		return nil, fmt.Errorf("it has %d hard links, and writing would change it under one name only; apply the edit with --format diff", n)
	}
	have, err := io.ReadAll(io.LimitReader(file, int64(len(want))+1))
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(have, want) {
		return nil, errChanged
	}
	return info, nil
}

// writeTemp makes a file with a unique name in a folder, with exactly this mode, and syncs it to the disk.
func writeTemp(folder *os.Root, dir string, content []byte, mode fs.FileMode) (name string, err error) {
	name = filepath.Join(dir, ".agentls-"+rand.Text()[:12]+".tmp")
	file, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, folder.Remove(name))
		}
	}()
	_, err = file.Write(content)
	return name, errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
}

// createFile makes a new file, and the folders above it; it never replaces a file.
func createFile(folder *os.Root, rel, text string) error {
	dir := filepath.Dir(rel)
	if err := folder.MkdirAll(dir, 0o777); err != nil { // the umask decides, as for any new folder
		return err
	}
	file, err := folder.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return errors.New("there is such a file now; run the agent again")
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, folder.Remove(rel))
	}
	return nil
}
