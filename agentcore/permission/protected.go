package permission

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// protectedNames act when somebody opens the folder, runs git or starts an editor.
var protectedNames = map[string]string{
	".git": "git runs what its hooks and settings name", ".agentls": "agentls acts on it",
	".claude":   "agents act on it",
	".opencode": "agents act on it", ".cursor": "agents act on it", ".mcp.json": "agents start what it names",
	".vscode": "the editor acts on it", ".idea": "the editor acts on it",
	".envrc": "the shell runs it on entering the folder",
	".husky": "git runs the hooks in it", ".githooks": "git runs the hooks in it",
}

// ProtectedNames are the names of files and folders that act by themselves in a workspace folder, sorted.
func ProtectedNames() []string { return slices.Sorted(maps.Keys(protectedNames)) }

// Protected reports whether a slash path below a root names something that acts by itself, and why: version
// control, editor and agent settings, hooks. Letter case, trailing dots and spaces, streams of NTFS and
// invisible characters do not matter, since some file systems ignore them; nor does it matter whether the path exists.
// What the files around it tell is [ProtectedBelow]'s.
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
		case part == ".github" && next == "prompts":
			return "agents act on it", true
		}
	}
	return "", false
}

// Tree is a workspace folder as it is, or would be once all that is proposed is accepted, by slash paths below it.
type Tree interface {
	// Has reports whether something is at a path, or would be.
	Has(rel string) bool
	// Texts are what a file holds, and what it would hold.
	Texts(rel string) []string
}

// maxIncludes bounds how deep settings of git that include others are followed.
const maxIncludes = 3

// ProtectedBelow reports whether a slash path is protected for a reason that its names alone do not tell. The path lies
// in a folder that looks like a bare repository or would become one, or in the repository that a `.git` file in a
// folder around it points to, or in a place where the settings of a repository around it make git look for hooks, its
// monitor or further settings. root is the tree's absolute slash path. The function looks at a few names, and reads up
// to a few small files, for each folder of the path.
func ProtectedBelow(tree Tree, root, rel string) (why string, ok bool) {
	return NewJudge(tree, root).Protected(rel)
}

// Judge is [ProtectedBelow] for many paths at one moment: it looks at each folder once, so it has to be given up once
// the tree may have changed. One goroutine at a time may use it.
type Judge struct {
	tree    Tree
	root    string
	folders map[string]*ground
}

// ground is what a folder around a path tells of it.
type ground struct {
	has            map[string]bool
	pointed, named []string
}

// NewJudge makes a judge for a tree, of which root is the absolute slash path.
func NewJudge(tree Tree, root string) *Judge {
	return &Judge{tree, root, map[string]*ground{}}
}

// Protected is [ProtectedBelow] for a slash path.
func (j *Judge) Protected(rel string) (why string, ok bool) {
	if why, ok := Protected(rel); ok {
		return why, true
	}
	for dir := path.Dir(rel); ; dir = path.Dir(dir) {
		g := j.folders[dir]
		if g == nil {
			g = &ground{has: map[string]bool{}}
			g.pointed = pointers(j.tree, j.root, dir)
			g.named = namedBySettings(j.tree, j.root, dir, g.pointed)
			j.folders[dir] = g
		}
		if j.bare(g, dir, rel) {
			return fmt.Sprintf("%s looks like a git repository, or would with what is proposed, and git runs what its "+
				"settings and hooks name", dir), true
		}
		for _, to := range g.pointed {
			if under(rel, to) {
				return fmt.Sprintf("%s points to it: git runs what its hooks and settings name",
					path.Join(dir, ".git")), true
			}
		}
		for _, to := range g.named {
			if under(rel, to) {
				return fmt.Sprintf("git's settings in %s name it: git runs it, or does what it says",
					path.Join(dir, ".git")), true
			}
		}
		if dir == "." || dir == "/" {
			return "", false
		}
	}
}

// under reports whether a slash path is another one or lies below it, whatever the letter case.
func under(rel, dir string) bool {
	rel, dir = FoldPath(rel), FoldPath(dir)
	return rel == dir || strings.HasPrefix(rel, dir+"/")
}

// bare reports whether a folder is, or becomes by a write to rel, what git takes for a repository: HEAD, objects and
// refs beside each other, or HEAD and commondir (gitrepository-layout).
func (j *Judge) bare(g *ground, dir, rel string) bool {
	below := rel
	if dir != "." {
		below = strings.TrimPrefix(rel, dir+"/")
	}
	first, _, _ := strings.Cut(below, "/")
	first = FoldPath(first)
	has := func(name string) bool {
		if first == strings.ToLower(name) {
			return true
		}
		there, known := g.has[name]
		if !known {
			there = j.tree.Has(path.Join(dir, name))
			g.has[name] = there
		}
		return there
	}
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

// pointers are where a `.git` file leads, below the root.
func pointers(tree Tree, root, dir string) (list []string) {
	if !tree.Has(path.Join(dir, ".git")) {
		return nil
	}
	for _, text := range tree.Texts(path.Join(dir, ".git")) {
		if to, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir:"); ok {
			list = appendInside(list, root, dir, strings.TrimSpace(to))
		}
	}
	return list
}

// appendInside appends where a path that git reads in a folder leads, unless that is the root itself or outside of it,
// where nothing is written.
func appendInside(list []string, root, dir, to string) []string {
	if to == "" {
		return list
	}
	if path.IsAbs(to) || len(to) > 1 && to[1] == ':' {
		below, ok := strings.CutPrefix(path.Clean(to), strings.TrimSuffix(root, "/")+"/")
		if !ok {
			return list
		}
		return append(list, below)
	}
	if to = path.Join(dir, to); to == "." || to == ".." || strings.HasPrefix(to, "../") {
		return list
	}
	return append(list, to)
}

// namedBySettings are the files and folders that the settings of the repository whose work tree a folder is name for
// git to run or to read: core.hooksPath, core.fsmonitor, include.path.
// pointed are its pointers.
func namedBySettings(tree Tree, root, dir string, pointed []string) (list []string) {
	var follow func(file string, depth int)
	follow = func(file string, depth int) {
		for _, text := range tree.Texts(file) {
			for _, s := range gitSettings(text) {
				switch {
				case s.key == "core.hookspath":
					list = appendInside(list, root, dir, s.value)
				case s.key == "core.fsmonitor":
					command, _, _ := strings.Cut(s.value, " ")
					if strings.Contains(command, "/") { // not a yes or no, nor a program of the PATH
						list = appendInside(list, root, dir, command)
					}
				case s.key == "include.path", strings.HasPrefix(s.key, "includeif.") &&
					strings.HasSuffix(s.key, ".path"):
					for _, included := range appendInside(nil, root, path.Dir(file), s.value) {
						if list = append(list, included); depth < maxIncludes {
							follow(included, depth+1)
						}
					}
				}
			}
		}
	}
	repositories := slices.Clone(pointed)
	if own := path.Join(dir, ".git"); tree.Has(own) { // most folders have none, and nothing in it
		repositories = append(repositories, own)
	}
	for _, repository := range repositories {
		from := []string{repository}
		for _, text := range tree.Texts(path.Join(repository, "commondir")) { // of a linked work tree
			from = appendInside(from, root, repository, strings.TrimSpace(text))
		}
		for _, at := range from {
			follow(path.Join(at, "config"), 1)
			follow(path.Join(at, "config.worktree"), 1)
		}
	}
	return list
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
	if plainName(name) {
		return name
	}
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

// plainName reports whether a name is one that every file system sees as it is written, as most are.
func plainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= utf8.RuneSelf || c == ':' || c == '~' {
			return false
		}
	}
	return name == "" || name[len(name)-1] != '.' && name[len(name)-1] != ' '
}

// FoldPath is a slash path as file systems may see it that take several spellings of a name for one, see [Protected].
func FoldPath(rel string) string {
	parts := strings.Split(strings.ToLower(rel), "/")
	for i, p := range parts {
		parts[i] = foldName(p)
	}
	return strings.Join(parts, "/")
}
