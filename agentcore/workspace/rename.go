package workspace

import (
	"path/filepath"
)

// path returns where a path is now.
func (r rename) path(path string) string { return renamed(path, r.from, r.to) }

// renamed returns where a path is once a file or folder was renamed.
func renamed(path, from, to string) string {
	switch rest, ok := within(from, path); {
	case !ok:
		return path
	case rest == ".":
		return to
	default:
		return filepath.Join(to, rest)
	}
}

func (n *renames) add(r rename) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, r)
}

func (n *renames) len() int {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return len(n.list)
}

// since returns the renames behind the first so many. Nobody changes the slice.
func (n *renames) since(first int) []rename {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.list[first:len(n.list):len(n.list)]
}
