package agent

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Folders is a folder that contains folders of definitions.
type Folders struct {
	Layer Layer
	// Dir is an absolute path. It need not exist. In the plugin layer, each folder in Dir is such a folder.
	Dir string
	// Format says which files are looked for. Native: agents/**/*.md, also .json and .toml, agents.toml, agents.json,
	// *.agents.json and appsettings.json. Claude: agents/**/*.md and .json. OpenCode: the same files as Claude, in
	// agent and agents.
	Format Format
	// Within is a folder around Dir out of which no link may lead, as in projects; empty for no such limit.
	Within string
}

// StandardFolders are the folders that the documentation names: agentls's own folders below config, with its plugins,
// the folders of other tools in the home folder, and both kinds in each project. config and home may be empty. The
// caller must leave out projects that the user does not trust, since definitions can act.
func StandardFolders(config, home string, projects ...string) []Folders {
	var list []Folders
	if config != "" {
		list = append(list, Folders{Layer: LayerPlugin, Dir: filepath.Join(config, "plugins"), Format: Native})
	}
	if home != "" {
		list = append(list, Folders{Layer: LayerUser, Dir: filepath.Join(home, ".claude"), Format: Claude},
			Folders{Layer: LayerUser, Dir: filepath.Join(home, ".opencode"), Format: OpenCode})
	}
	if config != "" {
		list = append(list, Folders{Layer: LayerUser, Dir: config, Format: Native})
	}
	for _, project := range projects {
		for _, below := range []struct {
			name   string
			format Format
		}{{".claude", Claude}, {".opencode", OpenCode}, {".agentls", Native}} {
			if project == home {
				continue // the home folder's folders are the user's, and were added above
			}
			list = append(list, Folders{
				Layer: LayerProject, Dir: filepath.Join(project, below.name),
				Format: below.format, Within: project,
			})
		}
	}
	return list
}

const (
	// maxFiles bounds how many files are read, maxDepth how deep the folders below agents are searched.
	maxFiles = 10_000
	maxDepth = 8
)

// found is a file of definitions.
type found struct {
	path   string // absolute
	fsys   fs.FS
	name   string // the name in fsys
	format Format
	layer  Layer
	info   fs.FileInfo
}

// search lists the files of a folder in the order of their names: first the files in the formats of other tools, then
// the files in agentls's own.
type search struct {
	files    []found
	problems []Problem
	roots    []*os.Root
}

// close closes what find opened; after that, the files cannot be read.
func (s *search) close() error {
	var err error
	for _, r := range s.roots {
		err = errors.Join(err, r.Close())
	}
	return err
}

// fail reports a path that cannot be read. A path that does not exist is no problem.
func (s *search) fail(name string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	s.problems = append(s.problems, unreadable(name, err))
}

// unreadable is the problem with a path that cannot be read.
func unreadable(name string, err error) Problem {
	reason := err
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		reason = p.Err
	}
	return Problem{
		File: name, Severity: failure, Message: "it cannot be read: " + reason.Error(),
		Hint: "look at its kind, its permissions and where it links to",
	}
}

func (s *search) find(f Folders) {
	fsys, prefix := os.DirFS(f.Dir), "."
	if f.Within != "" {
		rel, err := filepath.Rel(f.Within, f.Dir)
		if err == nil && !filepath.IsLocal(rel) {
			err = errors.New("it is not in " + f.Within)
		}
		if err != nil {
			s.fail(f.Dir, err)
			return
		}
		root, err := os.OpenRoot(f.Within)
		if err != nil {
			s.fail(f.Dir, err)
			return
		}
		s.roots = append(s.roots, root)
		fsys, prefix = root.FS(), filepath.ToSlash(rel)
	}
	if f.Layer != LayerPlugin {
		s.home(f, fsys, prefix)
		return
	}
	entries, err := fs.ReadDir(fsys, prefix)
	if err != nil {
		s.fail(f.Dir, err)
		return
	}
	for _, entry := range entries {
		if info, err := fs.Stat(fsys, path.Join(prefix, entry.Name())); err != nil {
			s.fail(filepath.Join(f.Dir, entry.Name()), err)
		} else if info.IsDir() {
			s.home(f, fsys, path.Join(prefix, entry.Name()))
		}
	}
}

// home searches one folder of agentls or another tool.
func (s *search) home(f Folders, fsys fs.FS, dir string) {
	s.walk(f, fsys, path.Join(dir, "agents"), 0)
	if f.Format == OpenCode {
		s.walk(f, fsys, path.Join(dir, "agent"), 0)
	}
	if f.Format != Native {
		return
	}
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		s.fail(s.absolute(f, dir), err)
		return
	}
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == "agents.toml":
			s.add(f, TOML, fsys, path.Join(dir, name), entry)
		case name == "agents.json", name == appSettings, strings.HasSuffix(name, ".agents.json"):
			s.add(f, JSON, fsys, path.Join(dir, name), entry)
		}
	}
}

// absolute is the path of a name in a folder's file system.
func (s *search) absolute(f Folders, name string) string {
	if f.Within != "" {
		return filepath.Join(f.Within, filepath.FromSlash(name))
	}
	return filepath.Join(f.Dir, filepath.FromSlash(name))
}

// walk adds the definitions of a folder and of the folders below it. It does not follow links to folders.
func (s *search) walk(f Folders, fsys fs.FS, dir string, depth int) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		s.fail(s.absolute(f, dir), err)
		return
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		switch ext := strings.ToLower(path.Ext(entry.Name())); {
		case strings.HasPrefix(entry.Name(), "."):
		case entry.IsDir() && depth < maxDepth:
			s.walk(f, fsys, name, depth+1)
		case entry.IsDir():
			s.problems = append(s.problems, Problem{
				File: s.absolute(f, name), Key: keyUnread, Severity: warning,
				Message: "this folder lies too deep; nothing in it is read",
				Hint:    fmt.Sprintf("put definitions at most %d folders below agents", maxDepth),
			})
		case ext == ".md" || ext == ".markdown":
			s.add(f, f.Format, fsys, name, entry)
		case ext == ".json":
			s.add(f, JSON, fsys, name, entry)
		case ext == ".toml" && f.Format == Native:
			s.add(f, TOML, fsys, name, entry)
		default:
			if p, unread := unreadIn(f.Format, s.absolute(f, name)); unread {
				s.problems = append(s.problems, p)
			}
		}
	}
}

// Unread reports whether a path names a file in a folder of definitions that is not read because of its extension, and
// returns the problem to report. It looks only at the path.
func Unread(name string) (Problem, bool) {
	home, in := folderFormat(name)
	if !in {
		return Problem{}, false
	}
	return unreadIn(home, name)
}

// unreadIn is Unread for a file in a folder of a known format.
func unreadIn(home Format, name string) (Problem, bool) {
	base := path.Base(slashed(name))
	ext := strings.ToLower(path.Ext(base))
	if strings.HasPrefix(base, ".") || ext == ".toml" && home == Native ||
		!slices.Contains([]string{".toml", ".yaml", ".yml", ".jsonc"}, ext) {
		return Problem{}, false
	}
	severity := warning
	if home == Native {
		severity = failure // the folder can only contain agents
	}
	return Problem{
		File: name, Key: keyUnread, Severity: severity,
		Message: "this file is not read: no definitions are written in " + ext,
		Hint:    "write it as .md with frontmatter, or as .json",
	}, true
}

func (s *search) add(f Folders, format Format, fsys fs.FS, name string, entry fs.DirEntry) {
	full := s.absolute(f, name)
	info, err := entry.Info()
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		info, err = fs.Stat(fsys, name)
	}
	switch {
	case err != nil:
		if entry.Type()&fs.ModeSymlink == 0 {
			s.fail(full, err) // fail ignores a file that is gone by now
			return
		}
		s.problems = append(s.problems, unreadable(full, err))
	case info.IsDir():
	case !info.Mode().IsRegular():
		s.problems = append(s.problems, unreadable(full, errors.New("it is no regular file")))
	case len(s.files) >= maxFiles:
		if len(s.files) == maxFiles &&
			!slices.ContainsFunc(s.problems, func(p Problem) bool { return p.Key == "files" }) {
			s.problems = append(s.problems,
				Problem{
					File: full, Severity: failure, Key: "files",
					Message: fmt.Sprintf(
						"there are more than %d files of definitions; this one and those behind it are left out",
						maxFiles),
					Hint: "move some of them away",
				})
		}
	default:
		s.files = append(s.files, found{path: full, fsys: fsys, name: name, format: format, layer: f.Layer, info: info})
	}
}

// read reads a file that is not larger than a text of definitions may be.
func read(fsys fs.FS, name string) (text string, info fs.FileInfo, err error) {
	file, err := fsys.Open(name)
	if err != nil {
		return "", nil, fmt.Errorf("open a definition: %w", err)
	}
	defer file.Close() // only read from
	if info, err = file.Stat(); err != nil {
		return "", nil, fmt.Errorf("look at a definition: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", nil, errors.New("it is no regular file")
	}
	if info.Size() > maxText {
		return "", nil, fmt.Errorf("it has %d bytes; a file of definitions has at most %d", info.Size(), maxText)
	}
	var b strings.Builder
	b.Grow(int(info.Size()))
	if _, err := io.Copy(&b, io.LimitReader(file, maxText+1)); err != nil {
		return "", nil, fmt.Errorf("read a definition: %w", err)
	}
	return b.String(), info, nil
}
