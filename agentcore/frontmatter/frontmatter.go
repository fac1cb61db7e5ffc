// Package frontmatter reads the YAML head of a Markdown file between lines of ---, as the files of skills and prompts
// have it. A head that is no YAML is read line by line, since people write it by hand. A leaf.
package frontmatter

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// member matches "key: value" at the start of a line.
var member = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][\w-]*):(?:\s+(.*?))?\s*$`) })

// Key is a member of the head.
type Key struct {
	// Value is the text of a scalar; empty for a list, a table or null.
	Value string
	// List has the elements of a list; of one that is a table, the value of its "name".
	List []string
	// Line is that of the file where the key stands, 0-based, and Width the length of the line, in bytes.
	Line, Width int
}

// Fault is what is wrong with a head, and what to do about it. It can be read nevertheless.
type Fault struct{ Message, Hint string }

// File is a file in its two parts.
type File struct {
	// Keys are the members of the head, by their names in lower case.
	Keys map[string]Key
	// Body is what is below the head, or all of the text where Missing says that there is none.
	Body    string
	Missing bool
	Faults  []Fault
}

// Read reads a file. It always finds a body.
func Read(text string) File {
	f := File{Keys: map[string]Key{}}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		f.Missing, f.Body = true, text
		return f
	}
	head, body, ok := cutFence(rest)
	if !ok {
		f.fault("the frontmatter has no end", "write a line of --- below it")
		// What looks like members is the head, the rest the body.
		head, body = headOf(rest)
	}
	f.Body = body
	f.read(head)
	return f
}

// fault notes what is wrong.
func (f *File) fault(message, hint string) { f.Faults = append(f.Faults, Fault{message, hint}) }

// read takes the members of a head.
func (f *File) read(head string) {
	lines := strings.Split(head, "\n")
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(head), &document); err != nil {
		f.recover(lines)
		f.fault("the frontmatter is no valid YAML: "+strings.TrimPrefix(err.Error(), "yaml: "),
			`it was read line by line; put quotes around values that hold ": " or " #"`)
		return
	}
	if len(document.Content) == 0 {
		return
	}
	mapping := document.Content[0]
	if mapping.Kind != yaml.MappingNode {
		f.fault("the frontmatter holds no keys", "write them as key: value, such as description:")
		return
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		name, value := mapping.Content[i], mapping.Content[i+1]
		// YAML ends lines at some characters more than we do.
		line := min(name.Line, len(lines))
		k := Key{Line: line, Width: len(lines[line-1])}
		switch value.Kind {
		case yaml.ScalarNode:
			if value.Tag != "!!null" {
				k.Value = value.Value
			}
		case yaml.SequenceNode:
			for _, element := range value.Content {
				k.List = append(k.List, nameOf(element))
			}
		}
		if name.Value != "" {
			f.Keys[strings.ToLower(name.Value)] = k
		}
	}
}

// nameOf is the text of an element of a list, or of the name of one that is a table.
func nameOf(element *yaml.Node) string {
	for i := 0; element.Kind == yaml.MappingNode && i+1 < len(element.Content); i += 2 {
		if element.Content[i].Value == "name" {
			return element.Content[i+1].Value
		}
	}
	return element.Value
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
func (f *File) recover(lines []string) {
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
			f.Keys[last] = Key{Value: strings.Trim(value, `'"`), Line: i + 1, Width: len(line)}
			continue
		}
		k, ok := f.Keys[last]
		line = strings.TrimSpace(line)
		if !ok || line == "" {
			continue
		}
		if element, isElement := strings.CutPrefix(line, "- "); isElement && k.Value == "" {
			k.List = append(k.List, strings.Trim(strings.TrimSpace(element), `'"`))
		} else {
			k.Value = strings.TrimSpace(k.Value + " " + line)
		}
		f.Keys[last] = k
	}
}

// Words are a list, or the words between spaces or commas, which may hold a pattern in brackets.
func (k Key) Words() []string {
	if k.List != nil {
		return k.List
	}
	depth := 0
	return strings.FieldsFunc(strings.Trim(k.Value, "[]"), func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth <= 0 && (r == ',' || unicode.IsSpace(r))
	})
}
