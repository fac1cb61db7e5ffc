package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentls/agentls/agentcore/beside"
)

// Loader reads the folders of definitions, and each time only files that have changed. The zero value is ready. Its
// methods may be called from any goroutine; calls wait for each other.
type Loader struct {
	mu sync.Mutex
	// Path is the PATH on which well-known programs of others are looked for, to be agents, too (see [Programs]).
	Path string

	files    map[string]*loaded
	known    Known
	registry *Registry
	problems []Problem // the problems of the folders
}

// loaded is a file as it was read.
type loaded struct {
	format Format
	layer  Layer
	info   fs.FileInfo
	// unsure says that the file changed so shortly before it was read that a later change may have the same time.
	unsure  bool
	text    string // kept if unsure
	file    *File
	prompts []loadedPrompt
}

// loadedPrompt is a file that a prompt came from.
type loadedPrompt struct {
	name string
	info fs.FileInfo // nil if the file could not be read
}

// clockStep is longer than the steps of any file system's clock.
const clockStep = 50 * time.Millisecond

// Load reads the built-in agents and those in the folders; a later folder takes precedence over an earlier one in the
// same layer. It returns the former registry if nothing has changed, and an error only if ctx ends: everything else
// that is wrong is in the registry's Problems, and disables only the definition in which it is. known.Agents and
// known.Registry are ignored, since the found agents count. known's functions are assumed to be the same at each call.
func (l *Loader) Load(ctx context.Context, folders []Folders, known Known) (registry *Registry, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known.Agents, known.Registry = nil, nil
	s := &search{}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, f := range folders {
		if err := context.Cause(ctx); err != nil {
			return nil, fmt.Errorf("look for definitions: %w", err)
		}
		s.find(f)
	}
	if l.files == nil || !l.known.same(known) {
		l.files, l.registry = map[string]*loaded{}, nil
	}
	l.known = known
	now := make([]*loaded, len(s.files))
	var next atomic.Int64
	var workers beside.Group
	for range min(runtime.GOMAXPROCS(0), 8, len(s.files)) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(s.files) || ctx.Err() != nil {
					return
				}
				now[i] = l.files[s.files[i].path].refresh(s.files[i], known)
			}
		})
	}
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("read the definitions: %w", err)
	}
	same := l.registry != nil && slices.Equal(l.problems, s.problems)
	files := make(map[string]*loaded, len(now))
	for i, f := range now {
		before := l.files[s.files[i].path]
		same = same && before != nil && before.file == f.file
		files[s.files[i].path] = f
	}
	same = same && len(files) == len(l.files)
	l.files, l.problems = files, s.problems
	if same {
		return l.registry, nil
	}
	builtin, err := l.builtin()
	if err != nil {
		return nil, err
	}
	list := make([]*File, len(now))
	for i, f := range now {
		list[i] = f.file
	}
	l.registry = assemble(builtin, list, s.problems)
	return l.registry, nil
}

// refresh returns the file as it is now, which is l if nothing has changed. l may be nil.
func (l *loaded) refresh(f found, known Known) *loaded {
	if l != nil && l.format == f.format && l.layer == f.layer && unchanged(l.info, f.info) && !l.promptsChanged(f) {
		if !l.unsure {
			return l
		}
		if text, info, err := read(f.fsys, f.name); err == nil && text == l.text && unchanged(l.info, info) {
			return l.settle(info)
		}
	}
	return readDefinitions(f, known)
}

// settle drops the text of a file once its last change is long ago.
func (l *loaded) settle(info fs.FileInfo) *loaded {
	if time.Since(info.ModTime()) < clockStep {
		return l
	}
	settled := *l
	settled.unsure, settled.text = false, ""
	return &settled
}

func unchanged(a, b fs.FileInfo) bool {
	return a != nil && b != nil && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

// promptsChanged reports whether a file from which a prompt was read has changed.
func (l *loaded) promptsChanged(f found) bool {
	return slices.ContainsFunc(l.prompts, func(p loadedPrompt) bool {
		info, err := fs.Stat(f.fsys, p.name)
		return err != nil || !unchanged(p.info, info) || time.Since(info.ModTime()) < clockStep
	})
}

// builtin are the definitions that come with agentls, those of installed programs of others included.
func (l *Loader) builtin() ([]*Definition, error) {
	own, err := Builtin()
	if err != nil || l.Path == "" {
		return own, err
	}
	programs, err := Programs(l.Path)
	return slices.Concat(own, programs), err
}

// readDefinitions reads a file with its prompts, and validates it.
func readDefinitions(f found, known Known) *loaded {
	l := &loaded{format: f.format, layer: f.layer, info: f.info}
	text, info, err := read(f.fsys, f.name)
	if err != nil {
		l.file = &File{Path: f.path, Format: f.format, text: newText(""), Problems: []Problem{unreadable(f.path, err)}}
		return l
	}
	l.info = info
	if l.unsure = time.Since(info.ModTime()) < clockStep; l.unsure {
		l.text = text
	}
	l.file = ParseAs(f.format, f.path, text)
	for _, d := range l.file.Definitions {
		d.Source.Layer = f.layer
		if d.PromptFile == "" {
			continue
		}
		name := path.Join(path.Dir(f.name), d.PromptFile)
		info, err := l.file.readPrompt(d, f.fsys, f.name)
		if err != nil {
			l.file.promptFault(d, err)
		}
		l.prompts = append(l.prompts, loadedPrompt{name, info})
	}
	l.file.Validate(known)
	refusePrograms(l.file, f.layer)
	if f.layer == LayerProject {
		for _, d := range l.file.Definitions {
			d.readable() // a model gets only what the user could read before he trusted it
		}
	}
	return l
}

// readPrompt reads the file with the prompt of a definition.
func (f *File) readPrompt(d *Definition, fsys fs.FS, name string) (fs.FileInfo, error) {
	rel := filepath.ToSlash(d.PromptFile)
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		return nil, errors.New("it is not below the folder of the definition")
	}
	text, info, err := read(fsys, path.Join(path.Dir(name), rel))
	if err != nil {
		return nil, err
	}
	d.Prompt = strings.TrimSpace(strings.ReplaceAll(withoutMark(text), "\r\n", "\n"))
	if d.Prompt == "" {
		return info, errors.New("it is empty")
	}
	return info, nil
}

func (f *File) promptFault(d *Definition, err error) {
	at := f.prompts[d]
	f.reportOf(d, fault{
		start: at.start, end: at.end, severity: failure, key: "prompt_file",
		message: fmt.Sprintf("the prompt file %q cannot be used: %v", short(d.PromptFile), unwrapped(err)),
		hint:    "name a file in this folder or below it",
	})
	f.sort()
}

// unwrapped is the reason why an access failed, without the name of the operation and the path.
func unwrapped(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// ReadFile reads one file of definitions, and the prompt files that it names, but does not validate it. It follows
// links as Load does for these folders; a file outside of these folders may name prompts in its own folder. It never
// returns nil: a file that cannot be read is a problem like others. text is the text of the file.
func ReadFile(name string, folders []Folders) (file *File, text string) {
	full, err := filepath.Abs(name)
	if err != nil {
		full = name
	}
	dir, base := filepath.Split(full)
	format, ok := Detect(full)
	fail := func(err error) (*File, string) {
		return &File{Path: name, Format: format, text: newText(""), Problems: []Problem{unreadable(name, err)}}, ""
	}
	own := os.DirFS(filepath.Clean(dir))
	files, at, loads := own, base, false
	if bound, loaded := boundOf(full, folders); bound != "" {
		root, err := os.OpenRoot(bound)
		if err != nil {
			return fail(err)
		}
		defer root.Close() // only read from
		rel, err := filepath.Rel(bound, full)
		if err != nil {
			return fail(err)
		}
		files, at, loads = root.FS(), filepath.ToSlash(rel), loaded
	}
	if loads {
		text, _, err = read(files, at)
	} else {
		text, _, err = read(own, base) // a user who names a link means the file to which it leads
	}
	if err != nil {
		return fail(err)
	}
	if p, unread := Unread(full); unread && !ok {
		p.File = name
		return &File{Path: name, Format: guess(full, text), text: newText(text), Problems: []Problem{p}}, text
	}
	if !ok {
		format = guess(full, text)
	}
	f := ParseAs(format, name, text)
	for _, d := range f.Definitions {
		if d.PromptFile == "" {
			continue
		}
		if _, err := f.readPrompt(d, files, at); err != nil {
			f.promptFault(d, err)
		}
	}
	return f, text
}

// boundOf is the folder out of which no link of a file may lead, empty for none, and whether the file lies in one of
// the folders.
func boundOf(full string, folders []Folders) (bound string, loaded bool) {
	for _, f := range slices.Backward(folders) {
		if rel, err := filepath.Rel(f.Dir, full); err == nil && filepath.IsLocal(rel) {
			return f.Within, true
		}
	}
	return filepath.Dir(full), false
}

// assemble makes a registry of the built-in agents and the agents in files, and finds the problems that they have with
// each other.
func assemble(builtin []*Definition, files []*File, problems []Problem) *Registry {
	definitions := slices.Clone(builtin)
	owner := map[*Definition]*File{}
	prompts := promptFiles(files)
	files = slices.DeleteFunc(slices.Clone(files), func(f *File) bool { return f.isPrompt(prompts) })
	names := allNames(builtin, files)
	problems = slices.Clone(problems)
	broken := map[string]Problem{}
	for _, f := range files {
		problems = append(problems, f.Problems...)
		missing := f.agentProblems(names)
		left := map[*Definition]bool{}
		for _, p := range missing {
			problems = append(problems, f.problem(p.fault))
			left[p.def] = left[p.def] || p.fault.severity == failure
			if p.fault.severity == failure {
				broken[p.def.Slug] = f.problem(p.fault)
			}
		}
		for d, why := range f.why {
			broken[d.Slug] = why
		}
		for _, d := range f.Usable() {
			if !left[d] {
				definitions = append(definitions, d)
				owner[d] = f
			}
		}
	}
	// An agent in a cycle of delegations is left out, until no cycle is left.
	r := NewRegistry(definitions...)
	for {
		d, slugs := r.cycle(owner)
		if d == nil {
			break
		}
		fault := owner[d].problem(owner[d].cycleFault(d, slugs))
		problems = append(problems, fault)
		broken[d.Slug] = fault
		delete(owner, d)
		definitions = slices.DeleteFunc(definitions, func(other *Definition) bool { return other == d })
		r = NewRegistry(definitions...)
	}
	r.owner, r.broken, r.prompts = owner, broken, prompts
	for _, f := range files {
		for _, beside := range r.collisions(f) {
			problems = append(problems, f.problem(beside))
		}
	}
	r.problems = problems
	return r
}

// allNames are all slugs and aliases, sorted.
func allNames(builtin []*Definition, files []*File) []string {
	names := []string{}
	for _, d := range builtin {
		names = append(append(names, d.Slug), d.Aliases...)
	}
	for _, f := range files {
		// a definition with an error counts, too: its author wants it to exist
		names = append(names, f.agentNames()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// cycle finds, among the agents that come from files, the last agent of the strongest layer that is in a cycle.
func (r *Registry) cycle(owner map[*Definition]*File) (*Definition, []string) {
	var worst *Definition
	var slugs []string
	for _, d := range r.sorted {
		if owner[d] == nil || worst != nil && d.Source.Layer < worst.Source.Layer {
			continue
		}
		if way := cycle(d, r.lookup); way != nil {
			worst, slugs = d, way
		}
	}
	return worst, slugs
}
