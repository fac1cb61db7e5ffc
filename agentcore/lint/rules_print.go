package lint

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

var printRules = []Rule{
	{
		Name: "debug-print", Languages: Go | scripts | Python, Severity: Information, check: shipped(debugPrints),
		Message: "This looks like it was left from debugging. Remove it.",
		same:    []string{"T100", "T201", "no-debugger", "no-console"},
	},
}

var (
	// printedText matches a print of a text that is alone on its line; the group is the beginning of the text.
	printedText = lazyregexp.New(`^\s*(?:(?:fmt|log)\.Print(?:f|ln)?|println|print|console\.\w+)` +
		"\\(\\s*[fr]*[\"'`]([^\"'`]*)[\"'`].*\\)\\s*;?\\s*$")
	// debugWords match how texts begin that people print while they look for a mistake.
	debugWords = lazyregexp.New(
		`^\W{0,6}(?:(?i:debug|dbg)\b|(?i:here+)\b\W*\d*\W*$|(?:XXX|FIXME|TESTING|HERE|ASDF)\b|` +
			`(?i:got here|in here|am here|reached here|asdf|qwer|wtf)\W*$)`)
	// halting matches statements that are for debugging, whatever they print.
	halting = lazyregexp.New(`^\s*(?:debugger\s*;?|breakpoint\(\)|(?:i?pdb|pudb)\.set_trace\(\)|println\(.*\)|` +
		`spew\.\w*[dD]ump\w*\(.*\))\s*$`)
	literalOnly = lazyregexp.New("^\\s*(\\w+)(?:\\.\\w+)?\\(([\"`])_*[\"`]\\)\\s*$")
)

// debugPrints finds prints whose text shows that they are for debugging, and calls of a debugger, each alone on its
// line.
func debugPrints(f *File) []hit {
	var hits []hit
	for number := range f.linesWith("rint", "console.", "debugger", "breakpoint", "set_trace", "spew.") {
		line, code := f.Line(number), f.CodeLine(number)
		start := indent(line)
		match := printedText().FindStringSubmatch(line)
		told := match != nil && code[start] == line[start] && debugWords().MatchString(match[1])
		if !told && !halting().MatchString(code) {
			continue
		}
		h := hit{line: number}
		if strings.Count(code, "(") <= 1 && strings.Count(code, ";") <= 1 && f.removable(number, told) {
			h.edit = f.removeLines(number, number)
		}
		hits = append(hits, h)
	}
	return hits
}

// removable reports whether the program stays valid without a statement that is alone on a line. told says that the
// statement is a print that was recognized by its text.
func (f *File) removable(number int, told bool) bool {
	code := f.CodeLine(number)
	switch f.Language {
	case Go: // otherwise a variable, or the import, could become unused
		match := literalOnly().FindStringSubmatch(code)
		return told && match != nil && (match[1] == "println" || strings.Count(f.code, match[1]+".") > 1)
	case Python: // otherwise its block could become empty
		before, behind := number-1, number+1
		for before > 0 && strings.TrimSpace(f.CodeLine(before)) == "" {
			before--
		}
		for behind <= len(f.starts) && strings.TrimSpace(f.CodeLine(behind)) == "" {
			behind++
		}
		return before > 0 && indent(f.CodeLine(before)) >= indent(code) ||
			behind <= len(f.starts) && indent(f.CodeLine(behind)) == indent(code)
	}
	return f.statementStart(f.starts[number-1] + indent(code)) // otherwise it may belong to an if before it
}
