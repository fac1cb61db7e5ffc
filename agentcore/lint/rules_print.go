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
	// printedText fits a print of a text that stands alone on its line; the group is how the text begins.
	printedText = lazyregexp.New(`^\s*(?:(?:fmt|log)\.Print(?:f|ln)?|println|print|console\.\w+)` +
		"\\(\\s*[fr]*[\"'`]([^\"'`]*)[\"'`].*\\)\\s*;?\\s*$")
	// debugWords begin what people print while they look for a mistake.
	debugWords = lazyregexp.New(
		`^\W{0,6}(?:(?i:debug|dbg)\b|(?i:here+)\b\W*\d*\W*$|(?:XXX|FIXME|TESTING|HERE|ASDF)\b|` +
			`(?i:got here|in here|am here|reached here|asdf|qwer|wtf)\W*$)`)
	// halting fits statements that are for debugging whatever they print.
	halting = lazyregexp.New(`^\s*(?:debugger\s*;?|breakpoint\(\)|(?:i?pdb|pudb)\.set_trace\(\)|println\(.*\)|` +
		`spew\.\w*[dD]ump\w*\(.*\))\s*$`)
	literalOnly = lazyregexp.New("^\\s*(\\w+)(?:\\.\\w+)?\\(([\"`])_*[\"`]\\)\\s*$")
)

// debugPrints looks for prints whose text gives them away, and for calls of a debugger, each alone on its line.
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

// removable reports whether the program stays whole without a statement that stands alone on a line. A print is told by
// its text.
func (f *File) removable(number int, told bool) bool {
	code := f.CodeLine(number)
	switch f.Language {
	case Go: // a variable, or the import, must not be left unused
		match := literalOnly().FindStringSubmatch(code)
		return told && match != nil && (match[1] == "println" || strings.Count(f.code, match[1]+".") > 1)
	case Python: // its block must not become empty
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
	return f.statementStart(f.starts[number-1] + indent(code)) // not behind the parenthesis of an if
}
