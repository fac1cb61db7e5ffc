package skill

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/spelling"
)

// FileName is the name of the file that makes a folder a skill.
const FileName = "SKILL.md"

// Skill is one skill. It is immutable.
type Skill struct {
	// Name is unique among the skills of a Set: lower-case letters, digits and hyphens.
	Name string
	// Description says what the skill is for and when to use it.
	Description string
	// Path is the absolute path of the SKILL.md; empty for a built-in skill.
	Path string
	// Text is what stands below the frontmatter.
	Text  string
	Layer agent.Layer
	// License and Compatibility are as written; empty where absent.
	License, Compatibility string
	// AllowedTools are the tools that the skill's author expects it to need, as written. They give no permission.
	AllowedTools []string
	// Hint says what a user may write after the skill's name, as written, and Arguments are the names of the arguments.
	Hint      string
	Arguments []string
	// Uncalled says that users do not call the skill by its name: it is only for agents.
	Uncalled bool
	// Problems are what is wrong with the file. The skill can be used nevertheless.
	Problems []agent.Problem

	folder folder
}

// Set is an immutable set of skills, safe for concurrent use. The zero Set is empty.
type Set struct {
	sorted   []*Skill
	problems []agent.Problem
}

// NewSet makes a set. Of the same name, the skill of the later layer counts; of the same layer, the earlier
// one, and the other is a problem.
func NewSet(skills ...*Skill) *Set {
	s := &Set{}
	s.sorted = slices.Clone(skills)
	slices.SortStableFunc(s.sorted, func(a, b *Skill) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(b.Layer, a.Layer))
	})
	for _, skill := range s.sorted {
		s.problems = append(s.problems, skill.Problems...)
	}
	var last *Skill
	s.sorted = slices.DeleteFunc(s.sorted, func(skill *Skill) bool {
		if last == nil || last.Name != skill.Name {
			last = skill
			return false
		}
		if last.Layer == skill.Layer {
			s.problems = append(s.problems, agent.Problem{
				File: skill.Path, Severity: event.SeverityWarning, Key: "name",
				Message: fmt.Sprintf("the skill %s is already in %s; this one is not used", skill.Name, last.Path),
				Hint:    "rename one of the two",
			})
		}
		return true
	})
	return s
}

// Find returns the skill of that name. The error names those that there are.
func (s *Set) Find(name string) (*Skill, error) {
	if i, ok := slices.BinarySearchFunc(s.sorted, name,
		func(skill *Skill, name string) int { return cmp.Compare(skill.Name, name) }); ok {
		return s.sorted[i], nil
	}
	names := s.Names()
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no skill %q; there are none at all", name)
	}
	if near := spelling.Nearest(name, names); near != "" {
		return nil, fmt.Errorf("there is no skill %q; did you mean %s?", name, near)
	}
	return nil, fmt.Errorf("there is no skill %q; the skills are %s", name, strings.Join(names, ", "))
}

// List returns the skills among which agents may choose, sorted by name. Built-in skills are left out: they are only
// for agents that name them.
func (s *Set) List() []*Skill {
	return slices.DeleteFunc(slices.Clone(s.sorted),
		func(skill *Skill) bool { return skill.Layer == agent.LayerBuiltin })
}

// Names returns the names of all skills, the built-in ones too, sorted.
func (s *Set) Names() []string {
	names := make([]string, len(s.sorted))
	for i, skill := range s.sorted {
		names[i] = skill.Name
	}
	return names
}

// Problems returns what is wrong with the files, those that could not be loaded included.
func (s *Set) Problems() []agent.Problem { return slices.Clone(s.problems) }

// ErrNotOfSkill is the error of a path that lies in no skill's folder.
var ErrNotOfSkill = errors.New("the path lies in no folder of a skill")

// Read returns the text of a file in the folder of one of the skills, by its absolute path. It follows only links that
// stay in the folder. A project's text is returned without invisible characters. The error is ErrNotOfSkill for a path
// elsewhere.
func (s *Set) Read(path string) (string, error) {
	for _, skill := range s.sorted {
		if rel, ok := skill.folder.below(path); ok {
			text, err := skill.folder.read(rel)
			return skill.folder.readable(text), err
		}
	}
	return "", ErrNotOfSkill
}
