package workspace

import (
	"path/filepath"
	"slices"
	"strings"
)

// clash refuses a new path that differs from another one in letter case alone, where a disk may take both for one file:
// where the disk says so, and where the other path is new, too, since the disk cannot be asked about files that do not
// exist. A disk that tells the two apart has room for both. A name in another Unicode normalization counts as another
// name.
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

// named lists the names in a folder that are equal to name in any letter case, name itself included. onDisk are those
// on the disk. proposed are those of documents and proposals, and is filled only if there is another spelling among
// them.
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
