package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/lint"
	"github.com/agentls/agentls/agentcore/outline"
)

const structureOnly = "This is the structure as it can be read off the text. What it is for, beyond its " +
	"comments, the rules cannot say."

// explain tells what files or a selection contain, as far as their structure shows it.
func (t *task) explain() turn {
	if len(t.files) == 0 && len(t.terms(1)) > 0 && (t.has("grep") || t.has("glob")) {
		return t.explore()
	}
	if len(t.files) == 0 {
		return turn{
			text: "There is no file to explain: open one and ask again, or name it, as in \"explain main.go\".\n\n" +
				noModel + "\n",
		}
	}
	if !t.has("read") {
		return turn{text: cannotRead}
	}
	files := t.files[:min(len(t.files), maxFiles)]
	if calls := t.reading(files, false); len(calls) > 0 && t.turns < maxTurns {
		return turn{calls: calls}
	}
	var b strings.Builder
	if t.finding.message != "" {
		fmt.Fprintf(&b, "The finding at line %d: %s\n", t.finding.line, t.finding.message)
		rules := lint.Rules()
		if at := slices.IndexFunc(rules, func(r lint.Rule) bool { return r.Name == t.finding.rule }); at >= 0 {
			fmt.Fprintf(&b, "It comes from the rule %s: %s\n", t.finding.rule, rules[at].Message)
		}
		b.WriteString("\n")
	}
	for _, path := range files {
		s := t.sourceOf(path)
		text, last := s.text()
		if !s.read {
			fmt.Fprintf(&b, "%s could not be read: %s\n", path,
				cmp.Or(withoutPrefix(s.problem), "the turns of this run were used up"))
			continue
		}
		f, first := lint.NewFile(path, text), 1
		fmt.Fprintf(&b, "%s: %d lines", path, last)
		if t.first > 0 {
			first, last = t.first, min(t.last, last)
			fmt.Fprintf(&b, "; what follows is on lines %d-%d", first, last)
		}
		b.WriteString(".\n" + definitions(f, s, first, last))
	}
	b.WriteString("\n" + structureOnly + "\n" + noModel + "\n")
	return turn{text: b.String()}
}

var (
	shellFunction = lazyregexp.New(`^\s*(?:function\s+)?([A-Za-z_]\w*)\s*\(\)\s*\{?`)
	localVariable = lazyregexp.New(`^\s+(?:const|let|var)\s`)
)

// definitions lists the lines of a file, from first to last, that define something, each with the first line of the
// comment before it. In prose, these lines are the headings. For a selection within a definition, the list begins with
// that definition.
func definitions(f *lint.File, s source, first, last int) string {
	const most = 60
	var list []string
	if first > 1 && first <= f.Lines() {
		if around := s.enclosing(first, f.Line(first)); around > 0 {
			list = append(list, described(f, around))
		}
	}
	for number := first; number <= last; number++ {
		line := f.CodeLine(number)
		switch {
		case f.Language == lint.Prose:
			if level := len(line) - len(strings.TrimLeft(line, "#")); level > 0 {
				list = append(list, fmt.Sprintf("%s- line %d: %s\n", strings.Repeat("  ", level-1), number,
					strings.TrimSpace(f.Line(number)[level:])))
			}
		case strings.HasPrefix(line, "      ") || localVariable().MatchString(line):
		case outline.Definition().MatchString(line), f.Language == lint.Shell && shellFunction().MatchString(line):
			list = append(list, described(f, number))
		}
	}
	switch {
	case len(list) == 0 && f.Language == lint.Prose:
		return "It has no headings.\n"
	case len(list) == 0:
		return "No definitions were recognized.\n"
	case len(list) > most:
		return strings.Join(list[:most], "") + fmt.Sprintf("(%d more definitions)\n", len(list)-most)
	}
	return strings.Join(list, "")
}

// described is the line of a definition with the first line of the comment above it.
func described(f *lint.File, number int) string {
	comment := ""
	for above := number - 1; above > 0; above-- {
		line := strings.TrimSpace(f.Line(above))
		if !strings.HasPrefix(line, "//") && (!strings.HasPrefix(line, "#") || strings.HasPrefix(line, "#!")) {
			break
		}
		comment = " " + strings.TrimSpace(strings.TrimLeft(line, "/#"))
	}
	text := strings.TrimRight(strings.TrimSpace(f.Line(number)), " {:")
	return fmt.Sprintf("- line %d: %s.%s\n", number, text, comment)
}
