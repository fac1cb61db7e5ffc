package workspace

import (
	"path/filepath"
	"slices"
	"strings"
)

// clash refuses a new path that is another one in all but letter case, where a disk may take both for one file: where
// the disk says so and, since nobody can ask it about files that do not exist, where the other one is new, too. A disk
// that tells them apart has room for both. A name in another Unicode normalization is another name.
func clash(judge *Judge, l *Layer, path string) error {
	r, rel := l.view.locate(path)
	if r == nil {
		return l.view.outside(path)
	}
	parts := strings.Split(rel, string(filepath.Separator))
	for i, name := range parts {
		dir := filepath.Join(r.Path, filepath.Join(parts[:i]...))
		full := filepath.Join(dir, name)
		onDisk, proposed := named(judge, l, r, dir, name)
		if slices.Contains(onDisk, name) &&
			!slices.ContainsFunc(onDisk, func(other string) bool { return other != name }) {
			continue
		}
		for _, other := range onDisk {
			twin := filepath.Join(dir, other)
			if other != name && l.view.sameFile(full, twin) && there(l, twin) {
				return &FileError{
					Kind: Exists, Path: path,
					Detail: "the disk does not tell letter case apart and has " + twin + " already",
					Hint:   "write the path as it is there, or move that file to the new name",
				}
			}
		}
		if slices.Contains(onDisk, name) || slices.Contains(proposed, name) {
			continue
		}
		for _, other := range proposed {
			twin := filepath.Join(dir, other)
			if !slices.Contains(onDisk, other) && there(l, twin) {
				return &FileError{
					Kind: Exists, Path: path, Detail: "differs in letter case alone from " + twin +
						", which is new, too; on many disks they are one",
					Hint: "write the path as it is there, or choose a name that differs in more",
				}
			}
		}
	}
	return nil
}

// there reports whether the layer shows a file at a path or below it.
func there(l *Layer, path string) bool {
	c, err := l.content(path)
	return err == nil && c.text != nil || hasText(overlay(l, path)) || err != nil
}

// named lists the names in a folder that are the name in any letter case, itself included: those on disk, and those of
// documents and proposals, if there is another one among these.
func named(judge *Judge, l *Layer, r *root, dir, name string) (onDisk, proposed []string) {
	if rel, ok := within(r.Path, dir); ok {
		onDisk = judge.onDisk(r, rel, name)
	}
	if !l.view.expected.twins(dir, name) {
		return onDisk, nil
	}
	note := func(path string) {
		if rel, ok := within(dir, path); ok && rel != "." {
			if first, _, _ := strings.Cut(rel, string(filepath.Separator)); strings.EqualFold(first, name) {
				proposed = uniqueStrings(proposed, first)
			}
		}
	}
	for _, path := range overlaid(l, dir) {
		note(path)
	}
	slices.Sort(proposed)
	return onDisk, proposed
}
