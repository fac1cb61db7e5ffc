package skill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/beside"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/permission"
)

const (
	// maxSize bounds a SKILL.md, or another file of a skill that is read, in bytes.
	maxSize = 256 << 10
	// maxFiles and maxDepth bound the listing of a skill's folder.
	maxFiles = 100
	maxDepth = 5
)

// Folder is a place to look for skills: each folder in Dir with a SKILL.md is one.
type Folder struct {
	Layer agent.Layer
	// Dir is absolute. A folder that does not exist holds no skills.
	Dir string
	// Within is the folder that symbolic links may not lead out of. For the skills of a project it is the project's
	// folder, since others write there. Where it is empty, links in Dir may lead anywhere: the user made them.
	Within string
}

// Load reads the skills of the folders, and adds those that are built in. A skill that cannot be read is a problem
// of the set and hides no other. The error is ctx's. It reads the disk.
func Load(ctx context.Context, folders []Folder) (*Set, error) {
	var all []folder
	set := &Set{}
	for _, f := range folders {
		found, err := f.folders()
		if err != nil {
			set.problems = append(set.problems,
				refusal(f.Dir, fmt.Errorf("the folder of skills cannot be read: %w", err),
					"look at its permissions and links"))
		}
		all = append(all, found...)
	}
	skills := make([]*Skill, len(all))
	problems := make([]*agent.Problem, len(all))
	var next atomic.Int64
	var wait beside.Group
	for range min(runtime.GOMAXPROCS(0), 8, len(all)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(all) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				skills[i], problems[i] = all[i].load()
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, problem := range problems {
		if problem != nil {
			set.problems = append(set.problems, *problem)
		}
	}
	skills = slices.DeleteFunc(skills, func(s *Skill) bool { return s == nil })
	loaded := NewSet(append(skills, Builtin()...)...)
	loaded.problems = append(set.problems, loaded.problems...)
	return loaded, nil
}

// Folders returns where skills lie: skills in the folder of agentls's configuration and in its plugins, in
// .claude of the home folder, and in .agentls and .claude of each project that is trusted. Of the same name and layer,
// agentls's own place comes first. Empty names of folders are left out. It reads the list of plugins from disk.
func Folders(config, home string, projects ...string) []Folder {
	var list []Folder
	if config != "" {
		list = append(list, Folder{Layer: agent.LayerUser, Dir: filepath.Join(config, "skills")})
		plugins := filepath.Join(config, "plugins")
		entries, _ := os.ReadDir(plugins) // most users have none
		for _, e := range entries {
			list = append(list, Folder{Layer: agent.LayerPlugin, Dir: filepath.Join(plugins, e.Name(), "skills")})
		}
	}
	if home != "" {
		list = append(list, Folder{Layer: agent.LayerUser, Dir: filepath.Join(home, ".claude", "skills")})
	}
	for _, project := range projects {
		for _, own := range []string{".agentls", ".claude"} {
			list = append(list, Folder{
				Layer: agent.LayerProject, Dir: filepath.Join(project, own, "skills"),
				Within: project,
			})
		}
	}
	return list
}

// folder is the folder of one skill. All access to it goes through open, so that no link leads out.
type folder struct {
	layer agent.Layer
	// dir is absolute.
	dir    string
	within string
}

// folders lists the skills' folders in a place.
func (f Folder) folders() ([]folder, error) {
	entries, err := f.entries()
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []folder
	for _, e := range entries {
		if (e.IsDir() || e.Type()&fs.ModeSymlink != 0) && !strings.HasPrefix(e.Name(), ".") {
			found = append(found, folder{layer: f.Layer, dir: filepath.Join(f.Dir, e.Name()), within: f.Within})
		}
	}
	slices.SortFunc(found, func(a, b folder) int { return strings.Compare(a.dir, b.dir) })
	return found, nil
}

// missing reports whether nothing exists at a place, or a file in place of a folder.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func (f Folder) entries() ([]os.DirEntry, error) {
	root, err := folder{dir: f.Dir, within: f.Within}.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	list, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer list.Close()
	return list.ReadDir(-1)
}

// open opens the folder; everything that is read in it is read through this.
func (f folder) open() (*os.Root, error) {
	if f.within == "" {
		return os.OpenRoot(f.dir)
	}
	below, err := filepath.Rel(f.within, f.dir)
	if err != nil {
		return nil, fmt.Errorf("find %s in %s: %w", f.dir, f.within, err)
	}
	outer, err := os.OpenRoot(f.within)
	if err != nil {
		return nil, err
	}
	defer outer.Close()
	return outer.OpenRoot(below)
}

// load reads the skill. Both results are nil if the folder is no skill.
func (f folder) load() (*Skill, *agent.Problem) {
	name := filepath.Join(f.dir, FileName)
	text, err := f.read(FileName)
	switch {
	case missing(err):
		return nil, nil
	case err != nil:
		problem := refusal(name, fmt.Errorf("the skill cannot be read: %w", err),
			"a skill is a folder with a text file "+FileName+" of at most 256 KiB; links may not lead out "+
				"of the project")
		return nil, &problem
	}
	skill := Parse(name, text)
	skill.Layer, skill.folder = f.layer, f
	skill.Text, skill.Description = f.readable(skill.Text), f.readable(skill.Description)
	return skill, nil
}

func refusal(path string, err error, hint string) agent.Problem {
	return agent.Problem{File: path, Severity: event.SeverityError, Message: err.Error(), Hint: hint}
}

// readable returns a text of the folder in the form for models. It removes invisible characters from a project's text,
// since the user could not see them when he decided to trust the project.
func (f folder) readable(text string) string {
	if f.layer == agent.LayerProject {
		return permission.Seen(text)
	}
	return text
}

// below returns the path inside the folder.
func (f folder) below(name string) (string, bool) {
	if f.dir == "" {
		return "", false
	}
	rel, err := filepath.Rel(f.dir, name)
	return rel, err == nil && filepath.IsLocal(rel)
}

// read returns the text of a file of the folder.
func (f folder) read(name string) (string, error) {
	root, err := f.open()
	if err != nil {
		return "", err
	}
	defer root.Close()
	// Opening must not wait for a pipe, even if the pipe took the file's place after a check.
	file, err := root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no regular file", name)
	case info.Size() > maxSize:
		return "", fmt.Errorf("%s has %d bytes, more than %d", name, info.Size(), maxSize)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	switch {
	case err != nil:
		return "", err
	case len(data) > maxSize:
		return "", fmt.Errorf("%s has more than %d bytes", name, maxSize)
	case !utf8.Valid(data) || strings.ContainsRune(string(data), 0):
		return "", fmt.Errorf("%s is not a text file in UTF-8", name)
	}
	return string(data), nil
}

// Files lists the files of the skill's folder besides SKILL.md, by absolute path, sorted, at most 100. Hidden files
// and links are left out. It reads the disk.
func (s *Skill) Files() ([]string, error) {
	if s.folder.dir == "" {
		return nil, nil
	}
	root, err := s.folder.open()
	if err != nil {
		return nil, fmt.Errorf("list the files of the skill %s: %w", s.Name, err)
	}
	defer root.Close()
	var files []string
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read is not listed
		case name == ".":
			return nil
		case strings.HasPrefix(entry.Name(), ".") || entry.IsDir() && strings.Count(name, "/") >= maxDepth-1:
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.Type().IsRegular() && name != FileName:
			files = append(files, filepath.Join(s.folder.dir, filepath.FromSlash(name)))
		}
		if len(files) == maxFiles {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the files of the skill %s: %w", s.Name, err)
	}
	return files, nil
}
