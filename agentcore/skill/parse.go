package skill

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/agentls/agentls/agentcore/agent"
	"github.com/agentls/agentls/agentcore/clip"
	"github.com/agentls/agentls/agentcore/event"
)

// The limits of the format, in characters.
const (
	maxName        = 64
	maxDescription = 1024
)

// member matches "key: value" at the start of a line.
var member = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][\w-]*):(?:\s+(.*?))?\s*$`) })

// Parse reads a SKILL.md. It always returns a skill that can be used, with every problem at once. A skill without a
// name is called like its folder, and a skill without a description is described by its first paragraph. Frontmatter
// that is no YAML is read line by line.
func Parse(name, content string) *Skill {
	p := parser{skill: &Skill{Path: name}, keys: map[string]key{}}
	text := strings.ReplaceAll(strings.TrimPrefix(content, "\ufeff"), "\r\n", "\n")
	body := p.frontmatter(text)
	p.skill.Text = strings.TrimSpace(body)
	p.name(path.Base(path.Dir(filepath.ToSlash(name))))
	p.description()
	p.skill.License, p.skill.Compatibility = p.keys["license"].value, p.keys["compatibility"].value
	p.skill.AllowedTools = p.tools()
	if p.skill.Text == "" {
		p.warn("", "there are no instructions", "write them below the frontmatter")
	}
	p.skill.Problems = append(p.skill.Problems, agent.UnseenProblems(name, content)...)
	return p.skill
}

type parser struct {
	skill *Skill
	keys  map[string]key
}

// key is a member of the frontmatter.
type key struct {
	value string
	list  []string
	line  int // of the file, 0-based
	width int // of the line's text, in bytes
}

// warn adds a problem at the key, or at the first line for one that is not there.
func (p *parser) warn(name, message, hint string) {
	k := p.keys[name]
	p.skill.Problems = append(p.skill.Problems, agent.Problem{
		File: p.skill.Path, Severity: event.SeverityWarning, Key: name, Message: message, Hint: hint,
		Span: event.Span{StartLine: k.line, EndLine: k.line, EndColumn: k.width},
	})
}

// frontmatter reads the head of a file and returns what is below it.
func (p *parser) frontmatter(text string) (body string) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		p.warn("", "the file has no frontmatter", "begin it with a line of ---, name, description, and a line of ---")
		return text
	}
	head, body, ok := cutFence(rest)
	if !ok {
		p.warn("", "the frontmatter has no end", "write a line of --- below it")
		// What looks like members is the head, the rest the body.
		head, body = headOf(rest)
	}
	lines := strings.Split(head, "\n")
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(head), &document); err != nil {
		p.recover(lines)
		p.warn("", "the frontmatter is no valid YAML: "+strings.TrimPrefix(err.Error(), "yaml: "),
			`it was read line by line; put quotes around values that hold ": " or " #"`)
		return body
	}
	if len(document.Content) == 0 {
		return body
	}
	mapping := document.Content[0]
	if mapping.Kind != yaml.MappingNode {
		p.warn("", "the frontmatter holds no keys", "write name: and description:")
		return body
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		name, value := mapping.Content[i], mapping.Content[i+1]
		// YAML ends lines at some characters more than we do.
		line := min(name.Line, len(lines))
		k := key{line: line, width: len(lines[line-1])}
		switch value.Kind {
		case yaml.ScalarNode:
			if value.Tag != "!!null" {
				k.value = value.Value
			}
		case yaml.SequenceNode:
			for _, element := range value.Content {
				k.list = append(k.list, element.Value)
			}
		}
		if name.Value != "" {
			p.keys[strings.ToLower(name.Value)] = k
		}
	}
	return body
}

// cutFence cuts a text at the first line of --- or ....
func cutFence(text string) (before, after string, found bool) {
	at := 0
	for line := range strings.Lines(text) {
		if fence := strings.TrimRight(line, " \t\n"); fence == "---" || fence == "..." {
			return text[:at], text[at+len(line):], true
		}
		at += len(line)
	}
	return text, "", false
}

// headOf returns the lines at the start that look like members, and the rest.
func headOf(text string) (head, body string) {
	at := 0
	for line := range strings.Lines(text) {
		if !member().MatchString(line) && !strings.HasPrefix(line, " ") {
			break
		}
		at += len(line)
	}
	return text[:at], text[at:]
}

// recover reads each line "key: value" as it stands; lines that are indented, or are no member, go on with the
// value before them.
func (p *parser) recover(lines []string) {
	last := ""
	for i, line := range lines {
		if match := member().FindStringSubmatch(line); match != nil {
			last = strings.ToLower(match[1])
			value := strings.TrimSpace(match[2])
			if value == "|" || value == ">" || value == "|-" || value == ">-" {
				value = ""
			}
			if plain, err := strconv.Unquote(value); err == nil {
				value = plain
			}
			p.keys[last] = key{value: strings.Trim(value, `'"`), line: i + 1, width: len(line)}
			continue
		}
		k, ok := p.keys[last]
		line = strings.TrimSpace(line)
		if !ok || line == "" {
			continue
		}
		if element, isElement := strings.CutPrefix(line, "- "); isElement && k.value == "" {
			k.list = append(k.list, strings.Trim(strings.TrimSpace(element), `'"`))
		} else {
			k.value = strings.TrimSpace(k.value + " " + line)
		}
		p.keys[last] = k
	}
}

// name takes the frontmatter's name, made into a valid one, or the folder's.
func (p *parser) name(dir string) {
	written := strings.TrimSpace(p.keys["name"].value)
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
	text := oneLine(p.keys["description"].value)
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

// tools reads allowed-tools: a list, or words between spaces or commas, which may hold a pattern in brackets.
func (p *parser) tools() []string {
	k, ok := p.keys["allowed-tools"]
	if !ok {
		k = p.keys["allowed_tools"]
	}
	if k.list != nil {
		return k.list
	}
	depth := 0
	return strings.FieldsFunc(strings.Trim(k.value, "[]"), func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth <= 0 && (r == ',' || unicode.IsSpace(r))
	})
}

// oneLine puts single spaces for all white space.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
