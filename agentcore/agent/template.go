package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/spelling"
)

// Variable is a name that a prompt template may use.
type Variable struct {
	Name string
	// Doc is one sentence on its value, for completion and hover.
	Doc string
}

// Builtins are the variables that every template has, in the order of their documentation. Their values
// are fixed when a run starts.
var Builtins = []Variable{
	{"time", "Time at which the run started, such as 2026-01-31 14:05 CET."},
	{"date", "Day on which the run started, such as 2026-01-31."},
	{"cwd", "Absolute path of the first workspace folder."},
	{"project", "Name of the first workspace folder."},
	{"git_branch", "Branch that is checked out in the first workspace folder; empty where there is none."},
	{"open_file", "Path, from the workspace folder, of the first file that the request is about; empty for none."},
	{"selection", "Text of the lines that the request is about; empty where it is about no lines."},
	{"os", "Operating system, such as linux, darwin or windows."},
	{"role", "Role of the run: main for the user's own, else the agent's name."},
	{"depth", "Depth of the run: 0 for the user's own, 1 for its children."},
	{"max_depth", "Greatest depth of delegation."},
	{"can_delegate", "true where the agent may start children, else false."},
	{"subagents", "Names of the agents that the run may delegate to, separated by commas; empty for none."},
	{"max_turns", "Turns that the run may take."},
	{"timeout", "Time that the run may take, such as 5m."},
	{"agent", "Name of the agent."},
	{"can_run", "true where the agent may run commands, else false."},
	{"can_ask", "true where the agent may ask the user, else false."},
	{"parent_role", "Role of the run that started this one; empty for the user's own."},
	{"task", "What the run was asked to do."},
	{"criteria", "What must be true when a child is done, as its parent says; empty for none."},
	{"can/cannot", "can where the agent may start children, else cannot."},
	{"current_time", "The same as time."},
	{"working_directory", "The same as cwd."},
	{"max_iterations", "The same as max_turns."},
	{"max_duration", "The same as timeout."},
	{"allowed_delegations", "The same as subagents."},
}

// maxSections bounds sections inside sections, and maxTag the length of a tag in bytes.
const (
	maxSections = 100
	maxTag      = 200
)

// Template is a prompt with variables, {{name}}, and sections, {{#if name}} … {{else}} … {{/if}}, which may be nested.
// A backslash before {{ makes it plain text. If a tag of a section stands alone on its line, the whole line is removed
// with it. A Template is immutable.
type Template struct {
	parts []templatePart
}

// templatePart is a piece of text, a variable or a section.
type templatePart struct {
	// text is what the template's author wrote: the piece itself, or the tag that begins a section, with the rest of
	// its line if that is removed.
	text string
	// name is the variable or the section's condition, empty for text; start is its offset.
	name       string
	start, end int
	// section distinguishes a section from a variable. The section contains the branches; middle and last are its other
	// tags as they were written.
	section      bool
	yes, no      []templatePart
	middle, last string
}

// TemplateProblem is a fault of a template, from byte Offset to End of its text. The faulty part stays in the prompt as
// it was written.
type TemplateProblem struct {
	Offset, End   int
	Message, Hint string
}

// ParseTemplate reads a template. It always returns one, and every problem at once.
func ParseTemplate(text string) (*Template, []TemplateProblem) {
	p := templateParser{text: text}
	p.parse()
	return &Template{parts: p.root}, p.problems
}

// templateParser goes through a text once.
type templateParser struct {
	text     string
	root     []templatePart
	open     []openSection
	problems []TemplateProblem
	literal  strings.Builder
}

// openSection is a section whose end was not found yet.
type openSection struct {
	templatePart
	// negative is true behind {{else}}.
	negative bool
}

func (p *templateParser) parse() {
	at := 0
	for {
		brace := strings.Index(p.text[at:], "{{")
		if brace < 0 {
			break
		}
		brace += at
		if brace > at && p.text[brace-1] == '\\' {
			p.literal.WriteString(p.text[at:brace-1] + "{{")
			at = brace + 2
			continue
		}
		p.literal.WriteString(p.text[at:brace])
		at = p.tag(brace)
	}
	p.literal.WriteString(p.text[at:])
	for len(p.open) > 0 {
		section := p.open[len(p.open)-1]
		p.problem(section.start, section.end, "the section {{#if "+section.name+"}} has no end",
			"write {{/if}} behind it")
		p.dissolve()
	}
	p.flush()
}

// tag reads the tag that begins with the braces at start, and returns where to continue.
func (p *templateParser) tag(start int) int {
	window := p.text[start+2 : min(start+2+maxTag, len(p.text))]
	length := strings.Index(window, "}}")
	if length < 0 || strings.ContainsAny(window[:length], "{\n") {
		p.literal.WriteString("{{")
		return start + 2
	}
	end := start + 2 + length + 2
	words := strings.Fields(window[:length])
	switch {
	case len(words) == 1 && validName(words[0]) && !strings.EqualFold(words[0], "else"):
		p.flush()
		p.add(templatePart{text: p.text[start:end], name: words[0], start: start, end: end})
		return end
	case len(words) == 2 && strings.EqualFold(words[0], "#if") && validName(words[1]):
		if len(p.open) == maxSections {
			p.problem(start, end, fmt.Sprintf("sections lie more than %d deep", maxSections),
				"use fewer inside each other")
			break
		}
		tag, next := p.wholeLine(start, end)
		p.flush()
		p.open = append(p.open,
			openSection{templatePart: templatePart{text: tag, name: words[1], start: start, end: end, section: true}})
		return next
	case len(words) == 1 && strings.EqualFold(words[0], "else"):
		if len(p.open) == 0 || p.open[len(p.open)-1].negative {
			p.problem(start, end, "{{else}} belongs to no section", "write {{#if name}} before it")
			break
		}
		tag, next := p.wholeLine(start, end)
		p.flush()
		section := &p.open[len(p.open)-1]
		section.middle, section.negative = tag, true
		return next
	case len(words) == 1 && strings.EqualFold(words[0], "/if"):
		if len(p.open) == 0 {
			p.problem(start, end, "{{/if}} ends no section", "write {{#if name}} before it")
			break
		}
		tag, next := p.wholeLine(start, end)
		p.flush()
		section := p.open[len(p.open)-1]
		p.open = p.open[:len(p.open)-1]
		section.last = tag
		p.add(section.templatePart)
		return next
	case len(words) > 0 && strings.HasPrefix(words[0], "#"), len(words) > 0 && strings.HasPrefix(words[0], "/"):
		p.problem(start, end, "{{"+strings.Join(words, " ")+"}} is no tag of a template",
			`the tags are {{name}}, {{#if name}}, {{else}} and {{/if}}; write \{{ for plain braces`)
	case start > 0 && p.text[start-1] == '$', len(words) == 0, strings.HasPrefix(words[0], "."):
		// ${{ … }} of workflows and {{.Field}} of Go templates are examples in a prompt, and no tags of ours.
	default:
		p.problem(start, end, "{{"+strings.Join(words, " ")+"}} is no name of a variable",
			`write letters, digits, "_", "-" and "/"; write \{{ for plain braces`)
	}
	p.literal.WriteString(p.text[start:end])
	return end
}

// wholeLine extends a tag by the white space around it and the end of its line, if nothing else stands on the line. It
// removes the white space before the tag from the pending literal.
func (p *templateParser) wholeLine(start, end int) (tag string, next int) {
	indent := start - len(strings.TrimRight(p.text[:start], " \t"))
	lineBegins := start == indent || p.text[start-indent-1] == '\n'
	rest := strings.TrimLeft(p.text[end:], " \t")
	line := p.text[end : len(p.text)-len(rest)]
	switch {
	case !lineBegins:
		return p.text[start:end], end
	case rest == "":
	case strings.HasPrefix(rest, "\r\n"):
		line += "\r\n"
	case rest[0] == '\n':
		line += "\n"
	default:
		return p.text[start:end], end
	}
	// The indentation is at the end of the pending literal, since the tag before this one was on another line.
	pending := p.literal.String()
	p.literal.Reset()
	p.literal.WriteString(pending[:len(pending)-indent])
	return p.text[start-indent:end] + line, end + len(line)
}

// flush ends the pending literal.
func (p *templateParser) flush() {
	if p.literal.Len() > 0 {
		p.add(templatePart{text: p.literal.String()})
		p.literal.Reset()
	}
}

func (p *templateParser) add(piece templatePart) {
	list := &p.root
	if len(p.open) > 0 {
		section := &p.open[len(p.open)-1]
		list = &section.yes
		if section.negative {
			list = &section.no
		}
	}
	*list = append(*list, piece)
}

// dissolve turns the innermost open section into text, since its end is missing.
func (p *templateParser) dissolve() {
	p.flush()
	section := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	p.add(templatePart{text: section.text})
	for _, piece := range section.yes {
		p.add(piece)
	}
	if section.negative {
		p.add(templatePart{text: section.middle})
		for _, piece := range section.no {
			p.add(piece)
		}
	}
}

func (p *templateParser) problem(start, end int, message, hint string) {
	p.problems = append(p.problems, TemplateProblem{start, end, message, hint})
}

// validName reports whether a word may name a variable: a letter or "_", then also digits, "-" and "/".
func validName(word string) bool {
	for i, r := range word {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r != '-' && r != '/' && (r < '0' || r > '9')) {
			return false
		}
	}
	return word != ""
}

// Names returns the variables and conditions that the template uses, each once, in their order.
func (t *Template) Names() []string {
	var names []string
	each(t.parts, func(piece templatePart) {
		if !slices.Contains(names, piece.name) {
			names = append(names, piece.name)
		}
	})
	return names
}

// Unknown returns a problem for each use of a name that is neither built in nor among those given.
func (t *Template) Unknown(known ...string) []TemplateProblem {
	all := known
	for _, v := range Builtins {
		all = append(all[:len(all):len(all)], v.Name)
	}
	var problems []TemplateProblem
	each(t.parts, func(piece templatePart) {
		if slices.ContainsFunc(all, func(name string) bool { return strings.EqualFold(name, piece.name) }) {
			return
		}
		hint := `define it under variables, or write \{{ for plain braces`
		if near := spelling.Nearest(piece.name, all); near != "" {
			hint = "did you mean " + near + "? Else " + hint
		}
		problems = append(problems, TemplateProblem{piece.start, piece.end, "there is no variable " + piece.name, hint})
	})
	return problems
}

// each visits the variables and sections in their order.
func each(parts []templatePart, visit func(templatePart)) {
	for _, piece := range parts {
		if piece.name != "" {
			visit(piece)
		}
		each(piece.yes, visit)
		each(piece.no, visit)
	}
}

// Expand puts in the values. "", "false" and "0" make a condition false, so that {{#if depth}} is for children. What
// values does not name stays as it was written, both branches of a section included, so that examples in a prompt
// survive. A name that values has in another case of letters is that one. Values are not expanded themselves.
func (t *Template) Expand(values map[string]string) string {
	folded := make(map[string]string, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		folded[strings.ToLower(name)] = values[name]
	}
	var b strings.Builder
	expand(&b, t.parts, func(name string) (string, bool) {
		if value, ok := values[name]; ok {
			return value, true
		}
		value, ok := folded[strings.ToLower(name)]
		return value, ok
	})
	return b.String()
}

func expand(b *strings.Builder, parts []templatePart, lookup func(string) (string, bool)) {
	for _, piece := range parts {
		if piece.name == "" {
			b.WriteString(piece.text)
			continue
		}
		value, known := lookup(piece.name)
		switch {
		case !piece.section && known:
			b.WriteString(value)
		case !piece.section:
			b.WriteString(piece.text)
		case !known:
			b.WriteString(piece.text)
			expand(b, piece.yes, lookup)
			b.WriteString(piece.middle)
			expand(b, piece.no, lookup)
			b.WriteString(piece.last)
		case value != "" && value != "false" && value != "0":
			expand(b, piece.yes, lookup)
		default:
			expand(b, piece.no, lookup)
		}
	}
}
