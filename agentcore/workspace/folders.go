package workspace

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/agentls/agentls/agentcore/permission"
)

// Options set limits. The zero value means the defaults.
type Options struct {
	// MaxFileSize is the size in bytes of the largest file that is read, from disk or as the editor shows it; 8 MiB by
	// default. Open documents follow their editor whatever their size.
	MaxFileSize int64
	// CacheSize bounds the texts of disk files that are kept, in bytes; 64 MiB by default.
	CacheSize int64
}

// folders are the workspace folders and their files on the disk. Any goroutine may use them.
type folders struct {
	options Options
	roots   atomic.Pointer[[]*root]
	cache   diskCache
}

// Roots returns the workspace folders in the editor's order.
func (f *folders) Roots() []Root {
	roots := *f.roots.Load()
	list := make([]Root, len(roots))
	for i, r := range roots {
		list[i] = r.Root
	}
	return list
}

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

// locate finds the innermost root that holds an absolute path, and the path below that root.
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

func (f *folders) below(r *root, rel, name string) (string, error) {
	full := filepath.Join(r.Path, rel)
	if found, _ := f.locate(full); found == nil {
		return "", f.outside(name)
	}
	return full, nil
}

// Relative is the inverse of Resolve: a path with slashes for people and models, relative to the only root, or
// beginning with the root's name where there are several. A path outside of the roots stays as it is.
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

// Shown is Relative for readers: a name that could be misread is quoted. Every tool and message must write the names of
// files this way.
func (f *folders) Shown(name string) string { return permission.Quoted(f.Relative(name)) }

// nameRoots gives each root a name of its own: the editor's name for it, or its last path element. Equal names get a
// number.
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

// secretError is the refusal to show a file that looks like one that holds keys.
func (f *folders) secretError(name string) error {
	return &FileError{
		Kind: Protected, Path: name,
		Detail: "looks like a file that holds keys or passwords and is not shown to agents",
		Hint:   "ask the user for what you need to know of it",
	}
}

// place is where a path lies below a root. real is the path, with slashes, that it leads to once links are followed, if
// that is inside of the root.
type place struct {
	root   *root
	rel    string
	real   string
	inside bool
}

// places are the places of an absolute path below the roots that hold it, the innermost root first.
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

// Plain reports whether no part of a path below its root is a symbolic link at this moment, as far as the path exists.
// It is false where one look cannot tell, and for paths outside of the roots.
func (f *folders) Plain(name string) bool {
	r, rel := f.locate(name)
	if r == nil {
		return false
	}
	below, err := r.folders()
	return err == nil && below.Plain(rel)
}

// sameName reports whether paths differ in letter case alone.
func sameName(a, b string) bool { return strings.EqualFold(a, b) }

// sameFile reports whether the disk has one file under two names.
func (f *folders) sameFile(a, b string) bool {
	stat := func(path string) (fs.FileInfo, bool) {
		r, rel := f.locate(path)
		if r == nil {
			return nil, false
		}
		dir, err := r.open()
		if err != nil {
			return nil, false
		}
		info, err := dir.Lstat(rel)
		return info, err == nil
	}
	x, ok := stat(a)
	y, also := stat(b)
	return ok && also && os.SameFile(x, y)
}
