package lint

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

var scriptRules = []Rule{
	{
		Name: "async-for-each", Languages: scripts, Severity: Warning, check: lines(asyncForEach, ".forEach("),
		Message: "forEach does not wait for an async function, and its errors are lost. Use for … of with await, " +
			"or await Promise.all(list.map(…)).",
	},
	{
		Name: "unsafe-eval", Languages: scripts, Severity: Warning,
		check: shipped(lines(scriptEval, "eval(", "Function(", "setTimeout(", "setInterval(")),
		Message: "This runs text as code. If any of it comes from outside, that is code injection: use JSON.parse, a " +
			"parser or a table.",
		same: []string{"no-eval", "no-new-func", "no-implied-eval"},
	},
	{
		Name: "unsafe-html", Languages: scripts, Severity: Warning, check: shipped(jsHTML),
		Message: "Values are put into HTML without escaping, which invites cross-site scripting. Use textContent, or " +
			"escape the values.",
	},
}

var (
	asyncForEach = lazyregexp.New(`\.forEach\(\s*async\b`)
	// scriptEval skips definitions of a function with that name, which have a brace behind the parentheses.
	scriptEval = lazyregexp.New("(?:^|[^\\w.$])(?:(?:window|globalThis)\\.)?eval\\(\\s*[^)\"'`\\s][^{]*$|" +
		"\\bnew\\s+Function\\(\\s*[^)\"'\\s]|\\bset(?:Timeout|Interval)\\(\\s*[\"']_")
)

// statementStart reports whether a statement may begin at an offset: after a semicolon or a brace, but not after the
// parenthesis of an if or the colon of a label.
func (f *File) statementStart(at int) bool {
	before := strings.TrimRight(f.code[:at], " \t\n\r")
	return before == "" || strings.IndexByte(";{}", before[len(before)-1]) >= 0
}

var (
	htmlAssignment = lazyregexp.New(
		`\.(?:innerHTML|outerHTML)\s*\+?=\s*([^=].*)|\.insertAdjacentHTML\((.*)|\bdocument\.write(?:ln)?\((.*)`)
	cleaned = lazyregexp.New(`(?i)escape|sanitize|purify|encode`)
)

// jsHTML finds values that are put into HTML on one line, unless the line escapes or cleans them.
func jsHTML(f *File) []hit {
	var hits []hit
	for number := range f.linesWith("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write") {
		match := htmlAssignment().FindStringSubmatch(f.CodeLine(number))
		if match != nil && assembled().MatchString(match[1]+match[2]+match[3]) && !cleaned().MatchString(match[0]) {
			hits = append(hits, hit{line: number})
		}
	}
	return hits
}
