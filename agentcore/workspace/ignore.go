package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// ignores are the exclude patterns that hold in a folder, as gitignore(5) has them: those of the folder's own file
// follow those of the folders above, and the last match decides.
type ignores struct {
	lists []ignoreList
}

// ignoreList is one file of patterns and the folder that they are relative to.
type ignoreList struct {
	dir      string
	patterns []ignorePattern
}

type ignorePattern struct {
	glob string
	// negated is for "!", folder for a pattern that ends with "/", anchored for one that has another "/".
	negated, folder, anchored bool
	// literal has no wildcard, suffix is one "*" followed by a literal.
	literal, suffix bool
}

// ignoresAbove collects the patterns that hold in a folder of a root and come from the folders above it. Its repository
// may begin above the root. Patterns that ignore the folder itself, or one above it, do not count, since somebody asked
// for the folder.
func ignoresAbove(l *Layer, r *root, dir string) ignores {
	var chain []string // the folders above, innermost first
	top := dir
	for !isRepository(top) {
		parent := filepath.Dir(top)
		if parent == top {
			// Without a repository, the folders above the root do not matter.
			chain = slices.DeleteFunc(chain, func(above string) bool { _, ok := within(r.Path, above); return !ok })
			break
		}
		chain = append(chain, parent)
		top = parent
	}
	var rules ignores
	for _, folder := range slices.Backward(chain) {
		rules = rules.unless(folder)
		file := filepath.Join(folder, ".gitignore")
		var own []ignorePattern
		if _, inside := within(r.Path, folder); inside {
			own = excludes(l, file)
		} else {
			own = parseIgnore(readSmall(file))
		}
		rules = rules.enter(folder, isRepository(folder), own)
	}
	return rules.unless(dir)
}

// unless drops all patterns if they ignore a folder that was asked for.
func (g ignores) unless(dir string) ignores {
	if g.ignored(dir, true) {
		return ignores{}
	}
	return g
}

// enter adds the patterns of a folder's own file. In a repository, the patterns from outside do not count.
func (g ignores) enter(dir string, repository bool, own []ignorePattern) ignores {
	if repository {
		g = ignores{}.add(dir, parseIgnore(readSmall(excludeFile(dir))))
	}
	return g.add(dir, own)
}

// isRepository reports whether a folder is the top of a git work tree.
func isRepository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// excludeFile returns the path of a work tree's info/exclude (gitrepository-layout(5)): it lies in .git or, where .git
// is a file, in the repository that the work tree belongs to.
func excludeFile(dir string) string {
	git := gitDir(dir)
	if common := strings.TrimSpace(readSmall(filepath.Join(git, "commondir"))); common != "" {
		git = absolute(git, common)
	}
	return filepath.Join(git, "info", "exclude")
}

// gitDir returns git's own folder of a work tree: .git or, where .git is a file, the folder that it names.
func gitDir(dir string) string {
	git := filepath.Join(dir, ".git")
	if target, ok := strings.CutPrefix(readSmall(git), "gitdir:"); ok {
		return absolute(dir, strings.TrimSpace(target))
	}
	return git
}

// Branch returns the branch that is checked out in the git work tree around a folder, "" where there is none. It reads
// the disk and starts no program.
func Branch(dir string) string {
	for !isRepository(dir) {
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
	name, ok := strings.CutPrefix(readSmall(filepath.Join(gitDir(dir), "HEAD")), "ref: refs/heads/")
	name, _, _ = strings.Cut(name, "\n")
	if !ok || len(name) > maxBranch || strings.ContainsFunc(name, unicode.IsControl) {
		return ""
	}
	return strings.TrimSpace(name)
}

// maxBranch is longer than any name of a branch that git can store as a file.
const maxBranch = 255

func absolute(dir, name string) string {
	if name = filepath.FromSlash(name); filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// readSmall reads a regular file of git's own, and returns "" where there is none.
func readSmall(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(string(data), "\ufeff")
}

func (g ignores) add(dir string, patterns []ignorePattern) ignores {
	if len(patterns) == 0 {
		return g
	}
	lists := append(make([]ignoreList, 0, len(g.lists)+1), g.lists...)
	return ignores{append(lists, ignoreList{dir, patterns})}
}

// excludes reads a file of patterns. A file that cannot be read has no patterns, as with git.
func excludes(l *Layer, path string) []ignorePattern {
	c, err := l.content(path)
	if err != nil || c.text == nil {
		return nil
	}
	return parseIgnore(c.text.s)
}

func parseIgnore(text string) []ignorePattern {
	var patterns []ignorePattern
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" || line[0] == '#' {
			continue
		}
		// Trailing spaces do not count unless they are quoted.
		for strings.HasSuffix(line, " ") && !quoted(line, len(line)-1) {
			line = line[:len(line)-1]
		}
		var p ignorePattern
		if strings.HasPrefix(line, "!") {
			p.negated, line = true, line[1:]
		}
		if strings.HasSuffix(line, "/") {
			p.folder, line = true, line[:len(line)-1]
		}
		p.anchored = strings.Contains(line, "/")
		p.glob = strings.TrimPrefix(line, "/")
		if p.glob == "" {
			continue
		}
		p.literal = !strings.ContainsAny(p.glob, `*?[\`)
		p.suffix = !p.anchored && p.glob[0] == '*' && !strings.ContainsAny(p.glob[1:], `*?[\`)
		patterns = append(patterns, p)
	}
	return patterns
}

// quoted reports whether an odd number of backslashes stands before line[at].
func quoted(line string, at int) bool {
	n := 0
	for at-n-1 >= 0 && line[at-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// ignored reports whether a path is ignored whose folder is not.
func (g ignores) ignored(path string, dir bool) bool {
	name := filepath.Base(path)
	for i := len(g.lists) - 1; i >= 0; i-- {
		list := g.lists[i]
		rel, ok := within(list.dir, path)
		if !ok {
			continue
		}
		rel = filepath.ToSlash(rel)
		for k := len(list.patterns) - 1; k >= 0; k-- {
			p := &list.patterns[k]
			if p.folder && !dir {
				continue
			}
			if p.matches(rel, name) {
				return !p.negated
			}
		}
	}
	return false
}

func (p *ignorePattern) matches(rel, name string) bool {
	text := name
	if p.anchored {
		text = rel
	}
	switch {
	case p.literal:
		return text == p.glob
	case p.suffix:
		return strings.HasSuffix(text, p.glob[1:])
	}
	return wildmatch(p.glob, text)
}

// wildmatch matches a path as git does (its wildmatch with WM_PATHNAME): "*" and "?" stop at slashes, "**"
// between slashes does not, brackets know ranges, "!" or "^", and the classes of POSIX.
func wildmatch(glob, text string) bool {
	m := matcher{glob: glob, text: text}
	return m.match(0, 0)
}

type matcher struct {
	glob, text string
	// failed marks places behind a star that are known not to match.
	failed map[[2]int]bool
}

func (m *matcher) match(g, t int) bool {
	for g < len(m.glob) {
		switch c := m.glob[g]; c {
		case '*':
			return m.star(g, t)
		case '?':
			if t >= len(m.text) || m.text[t] == '/' {
				return false
			}
			g, t = g+1, t+1
		case '[':
			if t >= len(m.text) || m.text[t] == '/' {
				return false
			}
			end, ok := bracket(m.glob, g, m.text[t])
			if !ok {
				return false
			}
			g, t = end, t+1
		default:
			if c == '\\' {
				if g++; g == len(m.glob) {
					return false
				}
				c = m.glob[g]
			}
			if t >= len(m.text) || m.text[t] != c {
				return false
			}
			g, t = g+1, t+1
		}
	}
	return t == len(m.text)
}

// star matches from a star on.
func (m *matcher) star(g, t int) bool {
	if m.failed[[2]int{g, t}] {
		return false
	}
	end := g
	for end < len(m.glob) && m.glob[end] == '*' {
		end++
	}
	// Two stars count only as a whole path element.
	deep := end-g >= 2 && (g == 0 || m.glob[g-1] == '/') && (end == len(m.glob) || m.glob[end] == '/')
	if deep && end < len(m.glob) && m.match(end+1, t) {
		return true // "**/" stands for no folder as well
	}
	for at := t; ; at++ {
		if m.match(end, at) {
			return true
		}
		if at == len(m.text) || m.text[at] == '/' && !deep {
			break
		}
	}
	if m.failed == nil {
		m.failed = make(map[[2]int]bool)
	}
	m.failed[[2]int{g, t}] = true
	return false
}

// bracket matches one byte against the bracket expression at glob[g] and returns where it ends.
func bracket(glob string, g int, c byte) (int, bool) {
	i := g + 1
	negated := i < len(glob) && (glob[i] == '!' || glob[i] == '^')
	if negated {
		i++
	}
	matched := false
	for first := true; ; first = false {
		if i >= len(glob) {
			return 0, false
		}
		if glob[i] == ']' && !first {
			return i + 1, matched != negated
		}
		if strings.HasPrefix(glob[i:], "[:") {
			if end := strings.Index(glob[i+2:], ":]"); end >= 0 {
				known, in := class(glob[i+2:i+2+end], c)
				if !known {
					return 0, false
				}
				matched = matched || in
				i += end + 4
				continue
			}
		}
		if glob[i] == '\\' {
			if i++; i >= len(glob) {
				return 0, false
			}
		}
		low, high := glob[i], glob[i]
		i++
		if i+1 < len(glob) && glob[i] == '-' && glob[i+1] != ']' {
			i++
			if glob[i] == '\\' {
				if i++; i >= len(glob) {
					return 0, false
				}
			}
			high = glob[i]
			i++
		}
		matched = matched || low <= c && c <= high
	}
}

// class tests a character class of POSIX in the C locale.
func class(name string, c byte) (known, in bool) {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	graph := '!' <= c && c <= '~'
	switch name {
	case "alnum":
		return true, lower || upper || digit
	case "alpha":
		return true, lower || upper
	case "blank":
		return true, c == ' ' || c == '\t'
	case "cntrl":
		return true, c < ' ' || c == 127
	case "digit":
		return true, digit
	case "graph":
		return true, graph
	case "lower":
		return true, lower
	case "print":
		return true, graph || c == ' '
	case "punct":
		return true, graph && !lower && !upper && !digit
	case "space":
		return true, c == ' ' || '\t' <= c && c <= '\r'
	case "upper":
		return true, upper
	case "xdigit":
		return true, digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
	}
	return false, false
}
