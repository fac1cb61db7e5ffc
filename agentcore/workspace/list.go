package workspace

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/beneath"
	"github.com/agentls/agentls/agentcore/permission"
)

// overlaid lists the files below a folder that documents and layers add or change, or take away.
func overlaid(l *Layer, dir string) []string {
	found := make(map[string]bool)
	v := l.view
	if !v.expected.inside(dir) {
		return nil // everything that is overlaid was expected before
	}
	v.mu.Lock()
	for _, path := range documentsBelow(v.docs, dir) {
		found[path] = true
	}
	v.expected.visited.Add(int64(len(v.anchors)))
	for path, a := range v.anchors {
		if rel, ok := within(dir, path); ok && rel != "." &&
			(a.piles[l.session] != nil || a.incoming[l.session] != nil) {
			found[path] = true
		}
	}
	v.mu.Unlock()
	for layer := l; layer != nil; layer = layer.parent {
		paths := layer.paths()
		v.expected.visited.Add(int64(len(paths)))
		for _, path := range paths {
			if rel, ok := within(dir, path); ok && rel != "." {
				found[path] = true
			}
		}
	}
	return slices.Collect(maps.Keys(found))
}

// overlay returns the files below a folder that documents and layers add or change, with their texts; nil
// stands for a file that is not there.
func overlay(l *Layer, dir string) map[string]*text {
	found := overlaid(l, dir)
	texts := make(map[string]*text, len(found))
	for _, path := range found {
		if c, err := l.content(path); err == nil {
			texts[path] = c.text
		}
	}
	return texts
}

// Overlay returns the files below a folder whose text differs from the disk's, or may differ: open documents, and files
// that the session or the layers add, change or delete. They are sorted by path; a file that does not exist has an
// empty Stamp. Files that look like secrets are left out. The run does not count as having seen any of them.
func (l *Layer) Overlay(dir string) []File {
	texts := overlay(l, cleanPath(dir))
	files := make([]File, 0, len(texts))
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		if !permission.Secret(filepath.ToSlash(path)) {
			files = append(files, File{Path: path, Text: texts[path].string(), Stamp: texts[path].stamp(), Version: -1})
		}
	}
	return files
}

// List returns the entries of a folder, sorted by name. Files that exist only in documents or layers are included,
// whatever .gitignore says, and so are files that are not text. Symbolic links that lead out of the workspace, pipes
// and devices are not. The error is a *FileError.
func (l *Layer) List(path string) ([]Entry, error) {
	path = cleanPath(path)
	return listFolder(l, path, overlay(l, path))
}

// listFolder lists a folder. overlay holds the files that documents and layers have below it.
func listFolder(l *Layer, dir string, overlay map[string]*text) ([]Entry, error) {
	r, rel := l.view.locate(dir)
	if r == nil {
		return nil, l.view.outside(dir)
	}
	found := make(map[string]Entry)
	err := r.list(rel, func(name string, folder, link bool) {
		full := filepath.Join(dir, name)
		found[full] = Entry{Path: full, Dir: folder, Plain: !link}
	})
	virtual := false
	for path, t := range overlay {
		below, ok := within(dir, path)
		if !ok {
			continue
		}
		first, rest, deeper := strings.Cut(below, string(filepath.Separator))
		full := filepath.Join(dir, first)
		switch {
		case t == nil:
			if !deeper && !found[full].Dir { // a folder may have taken its place
				delete(found, full)
			}
			continue
		case deeper && rest != "":
			found[full] = Entry{Path: full, Dir: true}
		default:
			found[full] = Entry{Path: full}
		}
		virtual = true
	}
	if err != nil && !virtual {
		return nil, listError(l, dir, err)
	}
	entries := slices.Collect(maps.Values(found))
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return entries, nil
}

func listError(l *Layer, dir string, err error) error {
	if c, problem := l.content(dir); problem == nil && c.text != nil {
		return &FileError{Kind: NotRegular, Path: dir, Detail: "is a file, not a folder", Hint: "read it instead"}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &FileError{Kind: NotFound, Path: dir, Detail: "no such folder", Hint: l.view.rootsHint()}
	}
	if problem := l.view.statError(dir, err); problem != nil {
		return problem
	}
	return &FileError{Kind: NotRegular, Path: dir, Detail: "is not a folder", Hint: "list the folder it is in"}
}

// list reads a folder of the disk. A link counts as what it leads to. Links that lead out of the root, pipes and
// devices are left out.
func (r *root) list(rel string, each func(name string, folder, link bool)) error {
	top, err := r.folders()
	if err != nil {
		return err
	}
	folder, err := top.Open(rel, beneath.Follow)
	if err != nil {
		return err
	}
	defer folder.Close()
	entries, err := folder.Entries()
	if err != nil {
		return err
	}
	for _, entry := range entries {
		kind := entry.Type
		link := kind&fs.ModeSymlink != 0
		if link {
			if kind = r.target(filepath.Join(rel, entry.Name)); kind&fs.ModeSymlink != 0 {
				continue // it leads out, or nowhere
			}
		}
		if kind.IsDir() || kind.IsRegular() {
			each(entry.Name, kind.IsDir(), link)
		}
	}
	return nil
}

// target is the kind of file that a link of the disk leads to. It is the kind of a link where the link leads out of the
// root, or nowhere.
func (r *root) target(rel string) fs.FileMode {
	dir, err := r.open()
	if err != nil {
		return fs.ModeSymlink
	}
	info, err := dir.Stat(rel)
	if err != nil {
		return fs.ModeSymlink
	}
	return info.Mode().Type()
}

// Walk lists a folder and everything below it, each folder before its entries, sorted by name. Documents, proposals and
// the layer's own edits are included. Files that .gitignore files and .git/info/exclude leave out are not listed,
// unless the start itself is one; nor are .git folders. Folders that are symbolic links are listed and not entered. An
// error of the start is yielded. Errors of folders below it are skipped, since a folder may vanish meanwhile. When ctx
// ends, its error is yielded last.
func (l *Layer) Walk(ctx context.Context, dir string, o WalkOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		s := scan[bool]{layer: l, all: o.Ignored, depth: o.Depth, folder: new(bool)}
		*s.folder = true
		s.from(ctx, cleanPath(dir), func(found Scanned[bool], err error) bool {
			return yield(Entry{Path: found.Path, Dir: found.Result, Plain: found.Plain}, err)
		})
	}
}

// isLink reports whether a path is a symbolic link.
func (f *folders) isLink(path string) bool {
	r, rel := f.locate(path)
	if r == nil {
		return false
	}
	dir, err := r.open()
	if err != nil {
		return false
	}
	info, err := dir.Lstat(rel)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// documentsBelow lists the open documents in a folder. The lock is held.
func documentsBelow(docs map[string]*document, dir string) []string {
	var paths []string
	for path := range docs {
		if strings.HasPrefix(path, dir) {
			if rel, ok := within(dir, path); ok && rel != "." {
				paths = append(paths, path)
			}
		}
	}
	return paths
}
