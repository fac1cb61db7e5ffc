package permission

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// protectedNames act when somebody opens the folder, runs git or starts an editor.
var protectedNames = map[string]string{
	".git": "git runs what its hooks and settings name", ".agentls": "agentls acts on it", ".claude": "agents act on it",
	".opencode": "agents act on it", ".cursor": "agents act on it", ".mcp.json": "agents start what it names",
	".vscode": "the editor acts on it", ".idea": "the editor acts on it", ".envrc": "the shell runs it on entering the folder",
	".husky": "git runs the hooks in it", ".githooks": "git runs the hooks in it",
}

// ProtectedNames are the names of files and folders that act by themselves in a workspace folder, sorted.
func ProtectedNames() []string { return slices.Sorted(maps.Keys(protectedNames)) }

// Protected reports whether a slash path below a root names something that acts by itself, and why: version
// control, editor and agent settings, hooks. Letter case, trailing dots and spaces, streams of NTFS and
// invisible characters do not matter, since some file systems ignore them; nor does it matter whether the path exists.
// What only the disk tells is [ProtectedBelow]'s.
func Protected(rel string) (why string, ok bool) {
	parts := strings.Split(strings.ToLower(rel), "/")
	for i, part := range parts {
		part = foldName(part)
		if why, ok := protectedNames[part]; ok {
			return why, true
		}
		if strings.HasSuffix(part, ".code-workspace") {
			return "the editor acts on it", true
		}
		if i+1 == len(parts) {
			break
		}
		next := foldName(parts[i+1])
		switch {
		case (part == ".venv" || part == "venv") && (next == "bin" || next == "scripts"):
			return "programs in it are run by name", true
		case part == "node_modules" && next == ".bin":
			return "programs in it are run by name", true
		}
	}
	return "", false
}

// Reader reads the files of a workspace folder, by slash paths below it: os.Root's FS is one.
type Reader interface {
	fs.ReadFileFS
	fs.StatFS
}

// maxPointer bounds a `.git` file, in bytes. git's own hold one line.
const maxPointer = 4 << 10

// ProtectedBelow reports what only the disk tells: whether a slash path lies in a folder that looks like a bare
// repository, or in the one that a `.git` file in a folder around it points to. fsys is the root's, and root its absolute slash path. It may read
// one small file and look at three names for each folder of the path.
func ProtectedBelow(fsys Reader, root, rel string) (why string, ok bool) {
	if why, ok := Protected(rel); ok {
		return why, true
	}
	for dir := path.Dir(rel); ; dir = path.Dir(dir) {
		if bare(fsys, dir, rel) {
			return fmt.Sprintf("%s looks like a git repository, whose settings and hooks git runs", dir), true
		}
		if dir == "." || dir == "/" {
			break
		}
	}
	for dir := path.Dir(rel); ; dir = path.Dir(dir) {
		if to := pointer(fsys, root, dir); to != "" && (rel == to || strings.HasPrefix(rel, to+"/")) {
			return fmt.Sprintf("%s points to it: git runs what its hooks and settings name", path.Join(dir, ".git")), true
		}
		if dir == "." || dir == "/" {
			return "", false
		}
	}
}

// bare reports whether a folder is, or becomes by a write to rel, what git takes for a repository: HEAD, objects and
// refs beside each other, or HEAD and commondir (gitrepository-layout).
func bare(fsys Reader, dir, rel string) bool {
	below := rel
	if dir != "." {
		below = strings.TrimPrefix(rel, dir+"/")
	}
	first, _, _ := strings.Cut(below, "/")
	first = foldName(strings.ToLower(first))
	has := func(name string) bool {
		_, err := fsys.Stat(path.Join(dir, name))
		return err == nil || first == strings.ToLower(name)
	}
	if has("HEAD") && has("commondir") {
		return true // of a linked worktree
	}
	found := 0
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if has(name) {
			found++
		}
	}
	return found == 3
}

// pointer is where a `.git` file leads, below the root, or "".
func pointer(fsys Reader, root, dir string) string {
	name := path.Join(dir, ".git")
	info, err := fsys.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPointer {
		return ""
	}
	text, err := fsys.ReadFile(name)
	if err != nil {
		return ""
	}
	to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	if !ok {
		return ""
	}
	to = strings.TrimSpace(to)
	if path.IsAbs(to) {
		to, ok = strings.CutPrefix(path.Clean(to), strings.TrimSuffix(root, "/")+"/")
		if !ok {
			return "" // outside of the root, where nothing is written
		}
		return to
	}
	if to = path.Join(dir, to); to == "." || to == ".." || strings.HasPrefix(to, "../") {
		return ""
	}
	return to
}

// Secret reports whether a slash path looks like a file that holds keys or passwords: `.env` and its
// variants (not the examples), private keys, credential stores. Letter case does not matter.
func Secret(rel string) bool {
	name := foldName(strings.ToLower(path.Base(rel)))
	switch name {
	case ".env", ".netrc", "_netrc", ".pgpass", ".pypirc", ".git-credentials", ".htpasswd", ".dockercfg",
		"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk":
		return true
	case "credentials":
		return foldName(strings.ToLower(path.Base(path.Dir(rel)))) == ".aws"
	}
	switch path.Ext(name) {
	case ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk":
		return true
	}
	if rest, ok := strings.CutPrefix(name, ".env."); ok {
		return !slices.Contains([]string{"example", "sample", "template", "dist", "defaults"}, rest)
	}
	return false
}

// foldName is how NTFS and HFS+ see a name in lower case: git guards against the same (its fsck, "hasDotgit").
func foldName(name string) string {
	name, _, _ = strings.Cut(name, ":")
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		switch r { // letters that HFS+ and case folding take for ASCII
		case 'ı':
			return 'i'
		case 'ſ':
			return 's'
		case 'K':
			return 'k'
		}
		return r
	}, name)
	name = strings.TrimRight(name, ". ")
	if name == "git~1" {
		return ".git"
	}
	return name
}

func foldPath(rel string) string {
	parts := strings.Split(rel, "/")
	for i, p := range parts {
		parts[i] = foldName(p)
	}
	return strings.Join(parts, "/")
}
