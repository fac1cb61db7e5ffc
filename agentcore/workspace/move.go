package workspace

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxMoved bounds the files of a folder that is moved at once.
const maxMoved = 1000

// Move moves a file, or a folder with every file that the layer shows in it, to a path where there is no file. Folders
// on the way need not exist. The edits of a file, before and after its move, stay together, and so do changes that are
// made below the layer meanwhile. base is the stamp of the file as for [Layer.Write]; for a folder it does not matter.
// Either all files are moved or, on an error, none.
//
// The error is a *FileError: NotFound, Stale (with the text as it is now), Exists for a target that is there, Directory
// for a folder that would go into itself, Protected, Outside, NotRegular for symbolic links, Binary for what is no text
// and can only be moved by the editor, TooLarge for folders of more than 1000 files.
//
// A new file may be written at the old path. The move is then taken for a copy and an edit, since a proposal to move a
// file cannot also change what is left.
func (l *Layer) Move(from, to string, base Stamp, author Author) error {
	return l.move(l.view.Judge(nil), cleanPath(from), cleanPath(to), base, author)
}

// move is Move of a batch.
func (l *Layer) move(judge *Judge, from, to string, base Stamp, author Author) error {
	files, folder, err := moving(judge, l, from, to)
	if err != nil {
		return err
	}
	paths := make([]string, 0, 2*len(files))
	for _, path := range files {
		paths = append(paths, path, to+strings.TrimPrefix(path, from))
	}
	l.view.Expect(paths...)
	for _, path := range paths {
		if err := writableBy(judge, l, path); err != nil {
			return err
		}
	}
	spots := l.look(paths...)
	defer l.mu.Unlock()
	if err := movable(l, spots, folder, base); err != nil {
		return err
	}
	for i := 0; i < len(spots); i += 2 {
		l.place(spots[i], spots[i+1], []Author{author})
		path, target := spots[i].path, spots[i+1].path
		for _, known := range []map[string]sight{l.seen, l.learned} {
			if s, ok := known[path]; ok {
				delete(known, path)
				known[target] = s
			}
		}
	}
	return nil
}

// moving lists the files that a move takes along. folder tells whether the move is that of a folder. The error says
// what forbids the move, as far as that can be told without looking at the files.
func moving(judge *Judge, l *Layer, from, to string) (files []string, folder bool, err error) {
	for _, path := range []string{from, to} {
		if r, rel := l.view.locate(path); r != nil && rel == "." {
			return nil, false, &FileError{
				Kind: Directory, Path: path, Detail: "is a workspace folder",
				Hint: "move what is in it",
			}
		}
		if err := writableBy(judge, l, path); err != nil {
			return nil, false, err
		}
	}
	if from == to {
		return nil, false, &FileError{
			Kind: Exists, Path: to, Detail: "is where the file is already",
			Hint: "choose another path",
		}
	}
	if _, ok := within(from, to); ok {
		return nil, false, &FileError{
			Kind: Directory, Path: to, Detail: "lies in what is to be moved",
			Hint: "choose a path outside of " + from,
		}
	}
	files, err = filesIn(judge, l, from)
	if err != nil {
		return nil, false, err
	}
	folder = files != nil
	if !folder {
		files = []string{from}
	}
	return files, folder, vacant(judge, l, from, to, folder)
}

// movable checks the files of a move and their targets, which alternate in spots. The layer's lock is held.
func movable(l *Layer, spots []spot, folder bool, base Stamp) error {
	for i := 0; i < len(spots); i += 2 {
		c, err := l.see(spots[i])
		switch {
		case err != nil:
			return err
		case c.secret:
			return l.view.secretError(c.file(spots[i].path).Path)
		case !folder && base == "" && c.text != nil:
			return &FileError{
				Kind: Stale, Path: spots[0].path, Detail: "was not read", Hint: "read it first, then move it",
				Current: new(c.file(spots[0].path)),
			}
		case !folder && c.text == nil:
			return &FileError{
				Kind: NotFound, Path: spots[0].path, Detail: "no such file",
				Hint: "list the folder to see what is there",
			}
		}
		if !folder {
			if err := stale(spots[0].path, c, c.text, base); err != nil {
				return err
			}
		}
	}
	for i := 1; folder && i < len(spots); i += 2 {
		path := spots[i].path
		if c, err := l.see(spots[i]); (err != nil || c.text != nil) && !sameName(path, spots[i-1].path) {
			return &FileError{
				Kind: Exists, Path: path, Detail: "exists already",
				Hint: "choose another path for the folder", Cause: err,
			}
		}
	}
	return nil
}

// vacant refuses a target where a file exists. On some disks, a name that differs in letter case alone is the same
// file, and not refused.
func vacant(judge *Judge, l *Layer, from, to string, folder bool) error {
	c, err := l.content(to)
	if sameName(from, to) && (c.text == nil && err == nil || l.view.sameFile(from, to)) {
		return nil // the same name gets another letter case
	}
	switch kind := (*FileError)(nil); {
	case errors.As(err, &kind) && kind.Kind == Directory:
		if _, problem := filesIn(judge, l, to); folder && errors.As(problem, &kind) && kind.Kind == NotFound {
			return nil // all files in the folder are gone in this layer
		}
		return &FileError{
			Kind: Exists, Path: to, Detail: "is a folder that exists already",
			Hint: "give the full new path, or move the files one by one",
		}
	case err != nil:
		return &FileError{Kind: Exists, Path: to, Detail: "exists already", Hint: "choose another path", Cause: err}
	case c.text != nil:
		return &FileError{
			Kind: Exists, Path: to, Detail: "exists already",
			Hint: "choose another path, or delete that file first if it is not wanted", Current: new(c.file(to)),
		}
	}
	return creatable(judge, l, to)
}

// filesIn lists the files that the layer shows in a folder. It returns nil for a path that is no folder.
func filesIn(judge *Judge, l *Layer, dir string) ([]string, error) {
	c, err := l.content(dir)
	overlay := overlay(l, dir)
	kind := (*FileError)(nil)
	switch {
	case errors.As(err, &kind) && kind.Kind == Directory:
	case err != nil:
		return nil, err
	case c.text != nil:
		return nil, linked(l, dir)
	case !hasText(overlay):
		return nil, &FileError{
			Kind: NotFound, Path: dir, Detail: "no such file or folder",
			Hint: "list the folder to see what is there",
		}
	}
	files := []string{}
	folders := []string{dir}
	for len(folders) > 0 {
		at := folders[0]
		folders = folders[1:]
		if err := linked(l, at); err != nil {
			return nil, err
		}
		entries, err := listFolder(l, at, overlay)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if err := judge.writable(e.Path); err != nil {
				return nil, err
			}
			if e.Dir {
				folders = append(folders, e.Path)
				continue
			}
			if err := linked(l, e.Path); err != nil {
				return nil, err
			}
			files = append(files, e.Path)
		}
		if len(files) > maxMoved {
			return nil, &FileError{
				Kind: TooLarge, Path: dir, Detail: fmt.Sprintf("has more than %d files", maxMoved),
				Hint: "move smaller folders, or ask the user to move it in the editor",
			}
		}
	}
	if len(files) == 0 {
		return nil, &FileError{
			Kind: NotFound, Path: dir, Detail: "has no files in it",
			Hint: "a folder is there once it has a file: write the files at their new path",
		}
	}
	slices.Sort(files)
	return files, nil
}

func hasText(overlay map[string]*text) bool {
	for _, t := range overlay {
		if t != nil {
			return true
		}
	}
	return false
}

// linked refuses a symbolic link, since a link may lead elsewhere once it is moved.
func linked(l *Layer, path string) error {
	if l.view.isLink(path) {
		return &FileError{
			Kind: NotRegular, Path: path, Detail: "is a symbolic link",
			Hint: "move the file that it leads to, or ask the user to move the link",
		}
	}
	return nil
}

// place moves a file to where the layer shows none. The lock is held.
func (l *Layer) place(from, to spot, movers []Author) {
	key, own := l.writing(from)
	if f := l.files[key]; f != nil {
		movers = slices.Concat(f.movers, movers)
	}
	authors := authorsOf(own.hunks, []*hunk{{authors: movers}})
	l.view.renamed(rename{from: from.path, to: to.path, layer: l.number, session: l.session})
	if to.path == key {
		l.set(key, newLayerFile(own)) // the file is back at its own path
		return
	}
	target, there := l.writing(to)
	if l.files[target] == nil &&
		(there.base == nil || own.base != nil && sameName(key, to.path) && there.base.same(own.base)) {
		if own.base == nil {
			l.set(key, nil)
			l.set(target, newLayerFile(own))
			return
		}
		f := newLayerFile(own)
		f.moveTo, f.movers = to.path, movers
		l.set(key, f)
		return
	}
	// The layer deletes a file that exists below at this path: no file can be renamed over it.
	l.set(target, newLayerFile(there.writeBy(own.text(), authors)))
	l.set(key, newLayerFile(patch{base: own.base}.writeBy(nil, movers)))
}

// unmove turns a move into a copy of the file and a deletion at the old path. The lock is held.
func (e *layerEdits) unmove(key string) {
	f := e.files[key]
	own, authors := f.made, f.authors()
	e.set(key, newLayerFile(patch{base: f.rebased.base}.writeBy(nil, f.movers)))
	e.set(f.moveTo, newLayerFile(patch{}.writeBy(own, authors)))
}

// writeBy is write by several authors.
func (p patch) writeBy(next *text, authors []Author) patch {
	if p.text().same(next) {
		return p
	}
	result := p.write(next, Author{})
	sign(result.hunks, authors)
	return result
}
