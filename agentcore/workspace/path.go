package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/permission"
)

// within returns the path of name below dir, both absolute and clean, in the machine's notation.
func within(dir, name string) (string, bool) {
	if name == dir {
		return ".", true
	}
	rest, ok := strings.CutPrefix(name, dir)
	if !ok || rest == "" {
		return "", false
	}
	if dir[len(dir)-1] == filepath.Separator {
		return rest, true
	}
	if rest[0] != filepath.Separator {
		return "", false
	}
	return rest[1:], true
}

// locate finds the innermost root that holds an absolute path, and the path below it.
func (f *folders) locate(name string) (*root, string) {
	var best *root
	var below string
	for _, r := range *f.roots.Load() {
		if rel, ok := within(r.Path, name); ok && (best == nil || len(r.Path) > len(best.Path)) {
			best, below = r, rel
		}
	}
	return best, below
}

func (f *folders) outside(name string) error {
	return &FileError{Kind: Outside, Path: name, Detail: "lies outside the workspace", Hint: f.rootsHint()}
}

func (f *folders) rootsHint() string {
	roots := *f.roots.Load()
	switch len(roots) {
	case 0:
		return "no workspace folder is open: open one in the editor"
	case 1:
		return fmt.Sprintf("the workspace folder is %s: give a path inside it", roots[0].Path)
	}
	list := make([]string, len(roots))
	for i, r := range roots {
		list[i] = fmt.Sprintf("%s (%s)", r.name, r.Path)
	}
	return fmt.Sprintf("begin the path with the name of one of the workspace folders: %s", strings.Join(list, ", "))
}

// Resolve turns a name that a person or a model wrote into an absolute path inside a root: relative to
// the only root, beginning with a root's name where there are several, or absolute. Where there are
// several roots and the name begins with none of their names, the first root that has the file is meant;
// only then does Resolve look at the disk. Symbolic links that lead out are refused later, when the file
// is read or written. A document that is open is found by its own path wherever it lies.
//
// A name that is quoted as by [View.Shown] means what it quotes.
//
// The error is a *FileError of kind Outside, or NotFound, whose hint names the roots. It may be called
// from any goroutine.
func (v *View) Resolve(name string) (string, error) {
	v.mu.Lock()
	_, open := v.docs[name]
	v.mu.Unlock()
	if open {
		return name, nil
	}
	name = permission.Unquoted(name)
	switch {
	case strings.ContainsRune(name, 0):
		return "", &FileError{
			Kind: NotFound, Path: strings.ReplaceAll(name, "\x00", "\\0"), Detail: "is no file name",
			Hint: v.rootsHint(),
		}
	case strings.HasPrefix(name, "~"):
		// A file may be called so, but whoever writes it means the home folder.
		return "", &FileError{
			Kind: Outside, Path: name, Detail: "home folders are not part of the workspace",
			Hint: v.rootsHint(),
		}
	}
	roots := *v.roots.Load()
	native := filepath.FromSlash(name)
	if filepath.IsAbs(native) {
		clean := filepath.Clean(native)
		v.mu.Lock()
		_, open := v.docs[clean]
		v.mu.Unlock()
		if r, _ := v.locate(clean); r == nil && !open {
			return "", v.outside(name)
		}
		return clean, nil
	}
	if len(roots) == 0 {
		return "", v.outside(name)
	}
	if len(roots) == 1 {
		return v.below(roots[0], native, name)
	}
	clean := filepath.Clean(native)
	first, rest, _ := strings.Cut(clean, string(filepath.Separator))
	for _, r := range roots {
		if r.name == first {
			return v.below(r, rest, name)
		}
	}
	for _, r := range roots {
		full, err := v.below(r, native, name)
		if err != nil {
			return "", err
		}
		v.mu.Lock()
		_, open := v.docs[full]
		v.mu.Unlock()
		if open || r.has(full) {
			return full, nil
		}
	}
	return "", &FileError{Kind: NotFound, Path: name, Detail: "no workspace folder has it", Hint: v.rootsHint()}
}

func (f *folders) below(r *root, rel, name string) (string, error) {
	full := filepath.Join(r.Path, rel)
	if found, _ := f.locate(full); found == nil {
		return "", f.outside(name)
	}
	return full, nil
}

// has reports whether anything lies at an absolute path on the disk below the root.
func (r *root) has(full string) bool {
	dir, err := r.open()
	if err != nil {
		return false
	}
	rel, ok := within(r.Path, full)
	if !ok {
		return false
	}
	_, err = dir.Lstat(rel)
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

// Relative is the inverse of Resolve: a slash path for people and models, relative to the only root, or
// beginning with the root's name where there are several. What lies outside stays as it is.
func (f *folders) Relative(name string) string {
	r, rel := f.locate(name)
	if r == nil {
		return name
	}
	rel = filepath.ToSlash(rel)
	if len(*f.roots.Load()) == 1 {
		return rel
	}
	return path.Join(r.name, rel)
}

// Shown is Relative for whoever reads it: a name that could be taken for several, or for something else, is quoted.
// This is how every tool and message has to write the names of files.
func (f *folders) Shown(name string) string { return permission.Quoted(f.Relative(name)) }

// nameRoots gives each root the name that tells it apart: the editor's, or its last path element; where
// two would be the same, a number is added.
func nameRoots(roots []*root) {
	taken := make(map[string]bool)
	for _, r := range roots {
		name := cmp.Or(strings.ReplaceAll(strings.ReplaceAll(r.Name, "/", "_"), "\\", "_"), filepath.Base(r.Path))
		r.name = name
		for n := 2; taken[r.name]; n++ {
			r.name = fmt.Sprintf("%s-%d", name, n)
		}
		taken[r.name] = true
	}
}

// secretError refuses to show a file that looks like one that holds keys.
func (f *folders) secretError(name string) error {
	return &FileError{
		Kind: Protected, Path: name,
		Detail: "looks like a file that holds keys or passwords and is not shown to agents",
		Hint:   "ask the user for what you need to know of it",
	}
}

// place is where a path lies below a root. real is the slash path that it leads to once links are followed, if that is
// inside of the root.
type place struct {
	root   *root
	rel    string
	real   string
	inside bool
}

// places are those of an absolute path below the roots that hold it, the innermost first.
func (f *folders) places(name string) []place {
	var list []place
	for _, r := range *f.roots.Load() {
		if rel, ok := within(r.Path, name); ok {
			real, inside := r.real(rel)
			list = append(list, place{r, rel, real, inside})
		}
	}
	slices.SortStableFunc(list, func(a, b place) int { return cmp.Compare(len(b.root.Path), len(a.root.Path)) })
	return list
}

// Plain reports that no part of a path below its root is a symbolic link, as far as it exists, at one moment. It is
// false where that cannot be told by one look, and outside of the roots.
func (f *folders) Plain(name string) bool {
	r, rel := f.locate(name)
	if r == nil {
		return false
	}
	below, err := r.folders()
	return err == nil && below.Plain(rel)
}

// writable returns why a path may not be written, or nil. Links are followed as far as they exist. From then on the
// path counts as one that there will be.
func (j *Judge) writable(name string) error {
	v := j.view
	places := v.places(name)
	if len(places) == 0 {
		return v.outside(name)
	}
	rel, real := places[0].rel, places[0].real
	if rel == "." {
		return &FileError{Kind: Directory, Path: name, Detail: "is a folder", Hint: "name a file in it"}
	}
	if !places[0].inside {
		return &FileError{
			Kind: Outside, Path: name, Detail: "leads out of the workspace through a symbolic link",
			Hint: "only files inside the workspace folders can be changed",
		}
	}
	v.expected.addAt(name, places) // before it is judged, so that of two runs that write at once one sees the other
	if why, ok := j.protected(places); ok {
		return &FileError{
			Kind: Protected, Path: name, Detail: "is protected: " + why,
			Hint: "leave it as it is, and tell the user what to change there",
		}
	}
	if permission.Secret(filepath.ToSlash(rel)) || permission.Secret(real) {
		return v.secretError(name)
	}
	return nil
}
