package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/spelling"
)

// Registry finds agents by slug, id or alias. It is an immutable snapshot, safe for concurrent use.
type Registry struct {
	all      []*Definition // with those that others hide
	sorted   []*Definition
	byName   map[string]*Definition
	shadows  map[string][]*Definition
	owner    map[*Definition]*File // the file of each definition that comes from one
	problems []Problem
	prompts  map[string]bool    // the paths of the files with prompts of definitions
	broken   map[string]Problem // the error of each definition that was left out, by slug
}

// BrokenError says that an agent was left out because its definition has an error.
type BrokenError struct {
	Name string
	// Problem is its first error.
	Problem Problem
}

// Error names the file, the place and the remedy.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("the definition of the agent %s has an error: %s", e.Name, e.Problem)
}

// NewRegistry makes a registry. Of definitions with the same slug, the one of the later layer counts, and in the same
// layer the later one. An alias never hides a slug; of two equal aliases, the alias of the agent that comes first in
// display order counts. An agent that replaces a built-in agent is also found by the built-in's aliases, since others
// delegate by them, unless another agent has these aliases.
func NewRegistry(definitions ...*Definition) *Registry {
	r := &Registry{
		all: slices.Clone(definitions), byName: map[string]*Definition{},
		shadows: map[string][]*Definition{},
	}
	layered := slices.Clone(definitions)
	slices.SortStableFunc(layered, func(a, b *Definition) int { return cmp.Compare(a.Source.Layer, b.Source.Layer) })
	for _, d := range layered {
		if before := r.byName[d.Slug]; before != nil {
			r.shadows[d.Slug] = append([]*Definition{before}, r.shadows[d.Slug]...)
		}
		r.byName[d.Slug] = d
	}
	for _, d := range r.byName {
		r.sorted = append(r.sorted, d)
	}
	slices.SortFunc(r.sorted, func(a, b *Definition) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Slug, b.Slug))
	})
	for _, d := range r.sorted {
		for _, alias := range append([]string{d.ID}, d.Aliases...) {
			if alias != "" && r.byName[alias] == nil {
				r.byName[alias] = d
			}
		}
	}
	for _, d := range r.sorted {
		for _, hidden := range r.shadows[d.Slug] {
			for _, alias := range hidden.Aliases {
				if hidden.Source.Layer == LayerBuiltin && r.byName[alias] == nil {
					r.byName[alias] = d
				}
			}
		}
	}
	return r
}

// lookup returns the agent with that slug, id or alias, or else the only agent that has it in another case of letters;
// nil for none.
func (r *Registry) lookup(name string) *Definition {
	if d := r.byName[name]; d != nil {
		return d
	}
	var found *Definition
	for other, d := range r.byName {
		if strings.EqualFold(other, name) {
			if found != nil && found != d {
				return nil
			}
			found = d
		}
	}
	return found
}

// With returns a registry with further definitions. It has the problems of r.
func (r *Registry) With(definitions ...*Definition) *Registry {
	with := NewRegistry(append(slices.Clone(r.all), definitions...)...)
	with.problems, with.broken, with.owner, with.prompts = r.problems, r.broken, r.owner, r.prompts
	return with
}

// Find returns the agent with that slug, id or alias. The case of letters counts only between agents that differ by
// nothing else. The error names the agent that was probably meant, or all agents. It is a [BrokenError] if a definition
// with an error has that name.
func (r *Registry) Find(name string) (*Definition, error) {
	if why, ok := r.broken[name]; ok && r.byName[name] == nil {
		return nil, &BrokenError{name, why}
	}
	if d := r.lookup(name); d != nil {
		return d, nil
	}
	for slug, why := range r.broken {
		if strings.EqualFold(slug, name) {
			return nil, &BrokenError{slug, why}
		}
	}
	var known, slugs []string
	for _, d := range r.List("") {
		slugs = append(slugs, d.Slug)
		known = append(append(known, d.Slug), d.Aliases...)
	}
	if near := spelling.Nearest(name, known); near != "" {
		return nil, fmt.Errorf("there is no agent %q; did you mean %s? The agents are %s", name, near,
			strings.Join(slugs, ", "))
	}
	return nil, fmt.Errorf("there is no agent %q; the agents are %s", name, strings.Join(slugs, ", "))
}

// List returns the agents of a category, or all that are not hidden for "", in display order. Unlisted ones are
// left out.
func (r *Registry) List(c Category) []*Definition {
	var list []*Definition
	for _, d := range r.sorted {
		if !d.Unlisted && (c == "" && !d.Is(Hidden) || c != "" && d.Is(c)) {
			list = append(list, d)
		}
	}
	return list
}

// All returns every agent in display order, hidden and unlisted ones too.
func (r *Registry) All() []*Definition { return slices.Clone(r.sorted) }

// Names returns every name that Find knows, sorted.
func (r *Registry) Names() []string {
	names := make([]string, 0, len(r.byName))
	for name := range r.byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Shadows returns the definitions that a slug's definition in the registry hides, the nearest layer first.
func (r *Registry) Shadows(slug string) []Source {
	var list []Source
	for _, d := range r.shadows[slug] {
		list = append(list, d.Source)
	}
	return list
}

// Problems returns what is wrong with the files that a Loader read, and which problems the definitions have with each
// other.
func (r *Registry) Problems() []Problem { return slices.Clone(r.problems) }
