package skill

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
	"github.com/agentls/agentls/agentcore/frontmatter"
)

// The limits of the format, in characters.
const (
	maxName        = 64
	maxDescription = 1024
)

// Parse reads a SKILL.md. It always returns a skill that can be used, with every problem at once. A skill without a
// name is called like its folder, and a skill without a description is described by its first paragraph. Frontmatter
// that is no YAML is read line by line.
func Parse(name, content string) *Skill {
	read := frontmatter.Read(content)
	p := parser{skill: &Skill{Path: name, Text: strings.TrimSpace(read.Body)}, keys: read.Keys}
	if read.Missing {
		p.warn("", "the file has no frontmatter", "begin it with a line of ---, name, description, and a line of ---")
	}
	for _, fault := range read.Faults {
		p.warn("", fault.Message, fault.Hint)
	}
	p.name(path.Base(path.Dir(filepath.ToSlash(name))))
	p.description()
	p.skill.License, p.skill.Compatibility = p.keys["license"].Value, p.keys["compatibility"].Value
	p.skill.AllowedTools = p.tools()
	p.skill.Hint, p.skill.Arguments = oneLine(p.keys["argument-hint"].Value), p.keys["arguments"].Words()
	p.skill.Uncalled = strings.EqualFold(p.keys["user-invocable"].Value, "false")
	if p.skill.Text == "" {
		p.warn("", "there are no instructions", "write them below the frontmatter")
	}
	p.skill.Problems = append(p.skill.Problems, agent.UnseenProblems(name, content)...)
	return p.skill
}

type parser struct {
	skill *Skill
	keys  map[string]frontmatter.Key
}

// warn adds a problem at the key, or at the first line if the key is missing.
func (p *parser) warn(name, message, hint string) {
	k := p.keys[name]
	p.skill.Problems = append(p.skill.Problems, agent.Problem{
		File: p.skill.Path, Severity: event.SeverityWarning, Key: name, Message: message, Hint: hint,
		Span: event.Span{StartLine: k.Line, EndLine: k.Line, EndColumn: k.Width},
	})
}

// name takes the frontmatter's name, made into a valid one, or the folder's.
func (p *parser) name(dir string) {
	written := strings.TrimSpace(p.keys["name"].Value)
	p.skill.Name = slug(written)
	switch folder := slug(dir); {
	case p.skill.Name == "":
		p.skill.Name = folder
		if folder == "" {
			p.skill.Name = "skill"
		}
		p.warn("name", "the skill has no name", "write name: "+p.skill.Name)
	case p.skill.Name != written:
		p.warn("name", fmt.Sprintf("%q is no name of a skill", clip.Text(written, maxName)),
			"write lower-case letters, digits and hyphens, 64 at most: "+p.skill.Name)
	case dir != p.skill.Name && folder != "":
		p.warn("name", fmt.Sprintf("the skill is called %s, but its folder %s", p.skill.Name, clip.Text(dir, maxName)),
			"rename one of the two")
	}
}

// slug makes a name of lower-case letters, digits and single hyphens.
func slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	name := strings.Join(words, "-")
	return strings.TrimRight(name[:min(len(name), maxName)], "-")
}

// description takes the frontmatter's, or the first paragraph of the instructions.
func (p *parser) description() {
	text := oneLine(p.keys["description"].Value)
	if text == "" {
		for paragraph := range strings.SplitSeq(p.skill.Text, "\n\n") {
			paragraph = strings.TrimSpace(paragraph)
			if paragraph != "" && paragraph[0] != '#' && !strings.HasPrefix(paragraph, "```") {
				text = oneLine(paragraph)
				break
			}
		}
		p.warn("description", "the skill has no description",
			"write description: with what it does and when to use it; agents choose by it")
	}
	if utf8.RuneCountInString(text) > maxDescription {
		p.warn("description", fmt.Sprintf("the description is longer than %d characters", maxDescription),
			"say what the skill does and when to use it; the rest belongs below")
	}
	p.skill.Description = clip.Text(text, maxDescription)
}

// tools reads allowed-tools.
func (p *parser) tools() []string {
	k, ok := p.keys["allowed-tools"]
	if !ok {
		k = p.keys["allowed_tools"]
	}
	return k.Words()
}

// oneLine replaces all white space by single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
