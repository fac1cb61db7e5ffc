package agent

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

// Including returns a registry in which the definitions of files replace the definitions from the same paths. A
// definition with an error counts, too, since its author wants it to exist; a definition whose name an earlier one in
// its file has does not count. A file whose path r does not know is above all layers: the files of one project form one
// layer, and the files outside of projects form another. The registry keeps the problems of r.
func (r *Registry) Including(files ...*File) *Registry {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b *File) int { return cmp.Compare(a.rank(), b.rank()) })
	newer := map[string]*File{}
	for _, f := range files {
		if f.Path != "" {
			newer[f.Path] = f
		}
	}
	layers, projects := map[string]Layer{}, map[string]Layer{}
	owner := map[*Definition]*File{}
	var definitions []*Definition
	add := func(f *File) {
		for _, d := range f.Definitions {
			if f.doubled[d] {
				continue // only the first one of the file counts, in any layer
			}
			d.Source.Layer = layers[f.Path]
			definitions, owner[d] = append(definitions, d), f
		}
	}
	for _, d := range r.all {
		f := newer[d.Source.Path]
		if _, added := layers[d.Source.Path]; f != nil && added {
			continue
		}
		if f == nil {
			definitions, owner[d] = append(definitions, d), r.owner[d]
			continue
		}
		layers[f.Path] = d.Source.Layer
		add(f)
	}
	for _, f := range files {
		if _, added := layers[f.Path]; added {
			continue
		}
		project := projectOf(f.Path)
		if _, known := projects[project]; !known {
			projects[project] = LayerRuntime + Layer(1+len(projects))
		}
		layers[f.Path] = projects[project]
		add(f)
	}
	with := NewRegistry(definitions...)
	with.problems, with.broken, with.owner = r.problems, r.broken, owner
	with.prompts = promptFiles(files)
	maps.Copy(with.prompts, r.prompts)
	return with
}

// around returns a registry that contains the definitions of a file.
func (r *Registry) around(f *File) *Registry {
	for _, d := range f.Definitions {
		if r.owner[d] == f {
			return r
		}
	}
	return r.Including(f)
}

// projectOf is the folder that contains a tool's folder of definitions, "" if the path names no such folder.
func projectOf(path string) string {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		switch filepath.Base(dir) {
		case ".claude", ".opencode", ".agentls":
			return filepath.Dir(dir)
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// collisions finds problems that the definitions of a file have with other definitions: several with one slug in one
// layer, and aliases that do not count.
func (r *Registry) collisions(f *File) []fault {
	var faults []fault
	for _, d := range f.Usable() {
		if r.owner[d] != f {
			continue // the registry does not contain it
		}
		at := f.slugs[d]
		add := func(of severity, key, hint, format string, args ...any) {
			message := fmt.Sprintf(format, args...)
			found := fault{
				start: at.start, end: at.end, severity: of, key: key, message: message,
				hint: hint, beside: true,
			}
			faults = append(faults, found)
		}
		var layer []*Definition // the definitions of the slug in the layer; the first one counts there
		for _, other := range append([]*Definition{r.byName[d.Slug]}, r.shadows[d.Slug]...) {
			if other.Source.Layer == d.Source.Layer {
				layer = append(layer, other)
			}
		}
		const another = "give one of them another name"
		if layer[0] != d {
			add(warning, "name", another, "%s is also defined in %s, which counts, so this definition is not used",
				d.Slug, r.place(layer[0]))
			continue
		}
		for _, hidden := range layer[1:] {
			add(information, "name", another, "%s is also defined in %s, which is not used, since this one counts",
				d.Slug, r.place(hidden))
		}
		if r.byName[d.Slug] != d {
			continue // its aliases do not count, just as it does not
		}
		for _, alias := range d.Aliases {
			if other := r.byName[alias]; other != nil && other != d {
				add(information, "aliases", "take it out, or choose another",
					"the alias %s of %s stands for the agent %s (%s)",
					alias, d.Slug, other.Slug, r.place(other))
			}
		}
	}
	return faults
}

// place says to people where a definition's name stands.
func (r *Registry) place(d *Definition) string {
	f := r.owner[d]
	if f == nil {
		return d.Source.String()
	}
	line, column := f.text.position(f.slugs[d].start)
	return fmt.Sprintf("%s:%d:%d", d.Source, line+1, column+1)
}

// rank orders files as their folders are read: files of a later folder take precedence.
func (f *File) rank() int {
	format := f.Format
	if home, ok := folderFormat(f.Path); ok {
		format = home
	}
	if at := slices.Index([]Format{Claude, OpenCode}, format); at >= 0 {
		return at
	}
	return 2
}
