package promptfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/beneath"
	"github.com/agentls/agentls/agentcore/permission"
)

const (
	// maxSize bounds a file, in bytes.
	maxSize = 256 << 10
	// maxFiles bounds how many files are read from all folders, and maxDepth how deep a folder is searched.
	maxFiles = 1000
	maxDepth = 8
)

// Folder is a place to look for prompts, with the folders below it.
type Folder struct {
	Layer  agent.Layer
	Source Source
	// Dir is absolute. It need not exist.
	Dir string
	// Within is the folder out of which no link may lead, for folders of a project; empty for the user's own folders,
	// whose links may lead anywhere.
	Within string
}

// OfProject are the folders with prompts in a workspace folder, as slash paths, with the source of each. agentls's own
// folders come first, and take precedence.
func OfProject() []Folder {
	return []Folder{
		{Source: Native, Dir: ".agentls/prompts"},
		{Source: Claude, Dir: ".claude/commands"},
		{Source: OpenCode, Dir: ".opencode/command"},
		{Source: OpenCode, Dir: ".opencode/commands"},
		{Source: GitHub, Dir: ".github/prompts"},
	}
}

// Is reports whether a file, by its slash path in a workspace folder, is a prompt.
func Is(name string) bool {
	return slices.ContainsFunc(OfProject(), func(f Folder) bool {
		return strings.HasPrefix(name, f.Dir+"/") && strings.HasSuffix(name, ending(f.Source))
	})
}

// Beside reports whether a file, by its slash path in a workspace folder, lies in a folder for prompts.
func Beside(name string) bool {
	return slices.ContainsFunc(OfProject(), func(f Folder) bool { return strings.HasPrefix(name, f.Dir+"/") })
}

// Folders returns the folders with prompts: in the folder of agentls's configuration, in the folders of other tools in
// the home folder, and in each project. The caller must leave out projects that the user does not trust. Empty names
// are ignored.
func Folders(config, home string, projects ...string) []Folder {
	var list []Folder
	for _, project := range projects {
		for _, f := range OfProject() {
			if project != home || f.Source == Native {
				f.Layer, f.Within = agent.LayerProject, project
				f.Dir = filepath.Join(project, filepath.FromSlash(f.Dir))
				list = append(list, f)
			}
		}
	}
	if config != "" {
		list = append(list, Folder{Layer: agent.LayerUser, Source: Native, Dir: filepath.Join(config, "prompts")})
	}
	if home != "" {
		for _, f := range []Folder{
			{Source: Claude, Dir: ".claude/commands"},
			{Source: OpenCode, Dir: ".config/opencode/command"},
			{Source: OpenCode, Dir: ".config/opencode/commands"},
			{Source: OpenCode, Dir: ".opencode/command"},
			{Source: OpenCode, Dir: ".opencode/commands"},
		} {
			f.Layer, f.Dir = agent.LayerUser, filepath.Join(home, filepath.FromSlash(f.Dir))
			list = append(list, f)
		}
	}
	return list
}

// Load reads the prompts of folders and adds others, such as those of skills. In the same layer, files take precedence
// over the others. vouch says why a file of a project may not be used, nil if it may; it gets the project's folder, the
// file's absolute path and its bytes. The error is ctx's. It reads the disk.
func Load(ctx context.Context, folders []Folder, vouch func(project, name string, content []byte) error,
	others ...*Prompt,
) (*Set, error) {
	l := loader{ctx: ctx, vouch: vouch, unread: map[string]error{}}
	for _, f := range folders {
		if err := l.folder(f); err != nil {
			return nil, err
		}
	}
	set := NewSet(append(l.found, others...)...)
	set.unread = l.unread
	return set, nil
}

// loader reads the files of folders.
type loader struct {
	ctx    context.Context
	vouch  func(project, name string, content []byte) error
	files  int
	found  []*Prompt
	unread map[string]error
	buffer []byte
}

// folder reads one folder. A folder that cannot be opened has no prompts.
func (l *loader) folder(f Folder) error {
	top, below := f.Dir, "."
	if f.Within != "" {
		rel, err := filepath.Rel(f.Within, f.Dir)
		if err != nil || !filepath.IsLocal(rel) {
			return nil
		}
		top, below = f.Within, filepath.ToSlash(rel)
	}
	dir, err := os.OpenRoot(top)
	if err != nil {
		return nil
	}
	defer dir.Close() // the folder was only read
	root, err := beneath.New(dir)
	if err != nil {
		return nil
	}
	defer root.Close() // the folder was only read
	return l.walk(f, root, below, "", 0)
}

// walk reads a folder and those below it. rel is its slash path below the folder of the prompts.
func (l *loader) walk(f Folder, root *beneath.Root, below, rel string, depth int) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	dir, err := root.Open(path.Join(below, rel), beneath.Follow)
	if err != nil {
		return nil
	}
	entries, err := dir.Entries()
	dir.Close() // the folder was only read
	if err != nil {
		return nil
	}
	slices.SortFunc(entries, func(a, b beneath.Entry) int { return strings.Compare(a.Name, b.Name) })
	for _, e := range entries {
		name := path.Join(rel, e.Name)
		switch {
		case strings.HasPrefix(e.Name, "."), l.files >= maxFiles:
		case e.Type.IsDir() && f.Source != GitHub && depth < maxDepth:
			if err := l.walk(f, root, below, name, depth+1); err != nil {
				return err
			}
		case !e.Type.IsDir() && strings.HasSuffix(e.Name, ending(f.Source)) && len(e.Name) > len(ending(f.Source)):
			l.files++
			l.file(f, root, below, name)
		}
	}
	return nil
}

// file reads one file.
func (l *loader) file(f Folder, root *beneath.Root, below, rel string) {
	full := filepath.Join(f.Dir, filepath.FromSlash(rel))
	text, err := l.read(f, root, path.Join(below, rel), full)
	if err != nil {
		if name := nameOf(f.Source, rel); l.unread[name] == nil {
			l.unread[name] = fmt.Errorf("%s %w", permission.Quoted(full), err)
		}
		return
	}
	if f.Layer == agent.LayerProject {
		text = permission.Seen(text) // the user could not see the invisible characters when he trusted the project
	}
	p := Parse(f.Source, rel, text)
	if !called().MatchString(p.Name) {
		l.unread[p.Name] = fmt.Errorf("%s has a name that nobody can write: rename it to letters, digits, _ and -",
			permission.Quoted(full))
		return
	}
	p.Layer, p.Path = f.Layer, full
	l.found = append(l.found, p)
}

// read returns the text of a file. The error is written to follow the file's name.
func (l *loader) read(f Folder, root *beneath.Root, name, full string) (string, error) {
	if real, err := filepath.EvalSymlinks(full); f.Within == "" && err == nil && real != full {
		dir, err := os.OpenRoot(filepath.Dir(real)) // the user's own links may lead anywhere
		if err != nil {
			return "", fmt.Errorf("links to what cannot be opened: %w", err)
		}
		defer dir.Close() // only read from
		if root, err = beneath.New(dir); err != nil {
			return "", err
		}
		defer root.Close() // only read from
		name = filepath.Base(real)
	}
	data, _, err := root.ReadFile(name, &l.buffer, maxSize)
	switch {
	case errors.Is(err, beneath.ErrTooLong):
		return "", fmt.Errorf("has more than %d bytes", maxSize)
	case errors.Is(err, beneath.ErrNotRegular):
		return "", errors.New("is no regular file")
	case err != nil:
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err
		}
		return "", fmt.Errorf("cannot be opened, or links lead out of the project: %w", err)
	case !utf8.Valid(data) || strings.ContainsRune(string(data), 0):
		return "", errors.New("is not a text file in UTF-8")
	}
	if f.Within != "" && l.vouch != nil {
		if err := l.vouch(f.Within, full, data); err != nil {
			return "", err
		}
	}
	return string(data), nil
}
