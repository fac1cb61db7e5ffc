// Package promptfile holds prompts that people keep in files and call by name: "/review main.go". It finds the files of
// agentls, Claude Code, OpenCode and VS Code, converts their formats to one, and puts arguments into the prompts. A
// skill that users call is such a prompt, too.
//
// It runs nothing and decides nothing. It reads a file of a project only if its caller vouches for the file, follows no
// link out of a project, and never waits for a pipe.
package promptfile

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/frontmatter"
	"github.com/agentls/agentls/agentcore/permission"
	"github.com/agentls/agentls/agentcore/skill"
	"github.com/agentls/agentls/agentcore/spelling"
	"github.com/agentls/agentls/agentcore/tool"
)

// maxDescription bounds a description, in characters.
const maxDescription = 300

// Source says whose format a prompt is in.
type Source string

// The sources.
const (
	Native   Source = "agentls"
	Claude   Source = "claude"
	OpenCode Source = "opencode"
	GitHub   Source = "github"
	Skill    Source = "skill"
)

// Prompt is one prompt that a user may call. It is immutable.
type Prompt struct {
	// Name is the word behind the "/". It begins with the folders below the folder of prompts: "frontend:component".
	Name string
	// Description says what it does, in a line; empty for none.
	Description string
	// Hint says what may follow the name: the author's text, or else the names of the arguments; empty for nothing.
	Hint string
	// Arguments are the names of the arguments, in order; nil if they have no names.
	Arguments []string
	// Agent and Model are the agent and the model that the author wants, as they are written; empty for none.
	Agent, Model string
	// Tools are the tools to which a run of the prompt is limited, as they are written; nil means no limit.
	Tools []string
	// Path is the absolute path of the file; empty for a built-in prompt.
	Path   string
	Layer  agent.Layer
	Source Source
	// Text is the text below the frontmatter.
	Text string
}

// Set is an immutable set of prompts. The zero Set is empty.
type Set struct {
	sorted []*Prompt
	// unread maps names to the errors of their files, which cannot be read.
	unread map[string]error
}

// NewSet makes a set. Of prompts with the same name, the one of the later layer counts; in the same layer, the earlier
// one.
func NewSet(prompts ...*Prompt) *Set {
	s := &Set{sorted: slices.Clone(prompts)}
	slices.SortStableFunc(s.sorted, func(a, b *Prompt) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(b.Layer, a.Layer))
	})
	s.sorted = slices.CompactFunc(s.sorted, func(a, b *Prompt) bool { return a.Name == b.Name })
	return s
}

// List returns the prompts, sorted by name.
func (s *Set) List() []*Prompt { return slices.Clone(s.sorted) }

// Unread are the files that cannot be read, by the names that their prompts would have.
func (s *Set) Unread() map[string]error { return s.unread }

// Find returns the prompt with a name, in which "/" may stand for ":". The error says why there is none, and lists
// similar names.
func (s *Set) Find(name string) (*Prompt, error) {
	name = strings.ReplaceAll(name, "/", ":")
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		i := slices.IndexFunc(s.sorted, func(p *Prompt) bool { return same(p.Name, name) })
		if i >= 0 {
			return s.sorted[i], nil
		}
	}
	if err := s.unread[name]; err != nil {
		return nil, fmt.Errorf("the prompt /%s cannot be read: %w", name, err)
	}
	names := make([]string, len(s.sorted))
	for i, p := range s.sorted {
		names[i] = p.Name
	}
	switch near := spelling.Nearest(name, names); {
	case near != "":
		return nil, fmt.Errorf("there is no prompt /%s; did you mean /%s?", name, near)
	case len(names) == 0:
		return nil, fmt.Errorf("there is no prompt /%s; there are none at all", name)
	default:
		const few = 8
		more := ""
		if len(names) > few {
			more = fmt.Sprintf(" and %d more", len(names)-few)
		}
		return nil, fmt.Errorf("there is no prompt /%s; there are /%s%s", name,
			strings.Join(names[:min(len(names), few)], ", /"), more)
	}
}

// Parse reads a file with a prompt. rel is its slash path below the folder of prompts, from which the prompt gets its
// name.
func Parse(source Source, rel, content string) *Prompt {
	file := frontmatter.Read(content)
	value := func(key string) string { return strings.Join(strings.Fields(file.Keys[key].Value), " ") }
	p := &Prompt{
		Name: nameOf(source, rel), Description: value("description"), Hint: value("argument-hint"),
		Arguments: file.Keys["arguments"].Words(), Agent: cmp.Or(value("agent"), value("mode")), Model: value("model"),
		Source: source, Text: strings.TrimSpace(file.Body),
	}
	if list := file.Keys["argument-hint"].List; len(list) > 0 { // in YAML, [file] is a list
		p.Hint = "[" + strings.Join(list, "] [") + "]"
	}
	if name := value("name"); source == GitHub && name != "" {
		p.Name = plainName(name)
	}
	for _, key := range []string{"allowed-tools", "tools"} {
		if k, ok := file.Keys[key]; ok && p.Tools == nil {
			p.Tools = append([]string{}, k.Words()...)
		}
	}
	if len(p.Arguments) == 0 {
		p.Arguments = inputs(p.Text)
	}
	p.fill()
	return p
}

// OfSkill is a skill as a prompt.
func OfSkill(s *skill.Skill) *Prompt {
	p := &Prompt{
		Name: s.Name, Description: s.Description, Hint: s.Hint, Arguments: s.Arguments, Path: s.Path, Layer: s.Layer,
		Source: Skill, Text: s.Text,
	}
	if len(s.AllowedTools) > 0 {
		p.Tools = s.AllowedTools
	}
	p.fill()
	return p
}

// OfSkills are the skills that users call, as prompts.
func OfSkills(set *skill.Set) (prompts []*Prompt) {
	for _, one := range set.List() {
		if !one.Uncalled {
			prompts = append(prompts, OfSkill(one))
		}
	}
	return prompts
}

// fill sets the description and the hint that the author left out.
func (p *Prompt) fill() {
	if p.Hint == "" && len(p.Arguments) > 0 {
		p.Hint = "<" + strings.Join(p.Arguments, "> <") + ">"
	}
	if p.Description == "" {
		for line := range strings.Lines(p.Text) {
			if line = strings.Trim(line, "# \t\n"); line != "" {
				p.Description = line
				break
			}
		}
	}
	p.Description = clip.Text(p.Description, maxDescription)
}

// ending is the end of the file names of a source.
func ending(source Source) string {
	if source == GitHub {
		return ".prompt.md"
	}
	return ".md"
}

// nameOf is the name of the prompt in a file, by its slash path.
func nameOf(source Source, rel string) string {
	rel = path.Clean(rel)
	if len(rel) > len(ending(source)) {
		rel = rel[:len(rel)-len(ending(source))]
	}
	return plainName(strings.ReplaceAll(rel, "/", ":"))
}

// plainName is a name as one word.
func plainName(name string) string { return strings.Join(strings.Fields(name), "-") }

// Kept are the tools to which a run of a prompt is limited, with the calls that these may make.
type Kept struct {
	// All says that the prompt has no limit; the other fields are empty then.
	All bool
	// Tools are canonical names.
	Tools []string
	// Rules are the permitted calls of tools that the prompt permits only in part.
	Rules []permission.Rule
	// Unknown are the words that name no tool of agentls.
	Unknown []string
}

// editors are VS Code's names for sets of tools, by their last part in lower case.
var editors = map[string][]string{
	"editfiles": {"edit", "write", "patch"}, "edit": {"edit", "write", "patch"}, "codebase": {"grep", "glob"},
	"textsearch": {"grep"}, "search": {"grep", "glob", "list"}, "usages": {"symbols"}, "readfile": {"read"},
	"runcommands": {"bash"}, "runinterminal": {"bash"}, "runtasks": {"bash"}, "problems": {"diagnostics"},
}

// Keeps says to which tools a run of the prompt is limited. A skill sets no limit, since agents load skills beside
// their other work.
func (p *Prompt) Keeps() Kept {
	k := Kept{All: p.Tools == nil || p.Source == Skill || slices.Contains(p.Tools, "*")}
	if k.All {
		return k
	}
	for _, word := range p.Tools {
		name, inside, _ := strings.Cut(strings.TrimSpace(word), "(")
		names := []string{strings.TrimSpace(name)}
		set := editors[strings.ToLower(path.Base(names[0]))]
		canonical, known := tool.Resolve(names[0])
		switch {
		case p.Source == GitHub && set != nil:
			names = set
		case known:
			names[0] = canonical
		default:
			k.Unknown = append(k.Unknown, names[0])
			continue
		}
		rules, _ := permission.FromClaude(word, permission.Allow) // words that it does not know permit nothing
		whole := strings.Trim(strings.TrimSuffix(inside, ")"), ":* ") == ""
		for _, name := range names {
			if !slices.Contains(k.Tools, name) {
				k.Tools = append(k.Tools, name)
			}
			if whole {
				k.Rules = append(k.Rules, permission.Rule{Tool: name, Action: permission.Allow})
			}
		}
		if !whole {
			k.Rules = append(k.Rules, rules...)
		}
	}
	return k
}
