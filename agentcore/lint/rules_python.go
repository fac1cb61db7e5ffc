package lint

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// The rules leave out what ruff reports by default, except for the comparison with None, which has a fix here.
var pythonRules = []Rule{
	{
		Name: "swallowed-exception", Languages: Python, Severity: Warning, check: pySwallowed,
		Message: "All exceptions are caught here and nothing is done about them, so that mistakes go " +
			"unnoticed. Catch what is expected, or at least log it.",
		same: []string{"S110", "BLE001", "try-except-pass"},
	},
	{
		Name: "mutable-default", Languages: Python, Severity: Warning, check: lines(mutableDefault, "def "),
		Message: "This default is made once and shared by all calls, so changes to it stay. Use None and make it in " +
			"the function.",
		same: []string{"B006", "dangerous-default-value"},
	},
	{
		Name: "none-comparison", Languages: Python, Severity: Information, check: pyNoneComparisons,
		Message: "None is compared by value, which a class may redefine. Use \"is None\" or \"is not None\".",
		same:    []string{"E711", "singleton-comparison"},
	},
	{
		Name: "unsafe-eval", Languages: Python, Severity: Warning, check: shipped(pyEval),
		Message: "This runs text as code. If any of it comes from outside, that is code injection: use " +
			"ast.literal_eval, a parser or a table.",
		same: []string{"S307", "S102", "PGH001", "eval-used", "exec-used"},
	},
}

var (
	broadExcept = lazyregexp.New(`^\s*except(?:\s+\(?(?:Base)?Exception\)?\s*(?:as\s+\w+)?)?\s*:\s*(.*)$`)
	// mutableDefault skips names that begin with an underscore, such as those of caches.
	mutableDefault = lazyregexp.New(
		`\bdef\s.*[(,]\s*[A-Za-z]\w*\s*(?::[^=,()]*)?=\s*(?:\[\]|\{\}|(?:list|dict|set)\(\))\s*[,)]`)
)

// pySwallowed finds broad handlers that only contain pass, without a comment that says why.
func pySwallowed(f *File) []hit {
	var hits []hit
	for number := range f.linesWith("except") {
		match := broadExcept().FindStringSubmatch(f.CodeLine(number))
		if match == nil {
			continue
		}
		last, body := number, strings.TrimSpace(match[1])
		for body == "" && last < len(f.starts) {
			last++
			body = strings.TrimSpace(f.CodeLine(last))
		}
		if (body == "pass" || body == "...") && !f.comment(number, last) {
			hits = append(hits, hit{line: number, endLine: last})
		}
	}
	return hits
}

var noneComparison = lazyregexp.New(`^\s*(?:if|elif|while|assert|return)\b.*?([!=])= ?None\b`)

// pyNoneComparisons skips what may be an expression of a query or of an array, where == is redefined.
func pyNoneComparisons(f *File) []hit {
	for _, library := range []string{"sqlalchemy", "sqlmodel", "peewee", "pony", "numpy", "pandas", "polars", "sympy"} {
		if strings.Contains(f.text, library) {
			return nil
		}
	}
	var hits []hit
	for number := range f.linesWith("None") {
		code := f.CodeLine(number)
		at := noneComparison().FindStringSubmatchIndex(code)
		if at == nil || f.comment(number, number) {
			continue
		}
		by := "is None"
		if code[at[2]] == '!' {
			by = "is not None"
		}
		if code[at[2]-1] != ' ' {
			by = " " + by
		}
		start := f.starts[number-1]
		hits = append(hits, hit{line: number, edit: &edit{start: start + at[2], end: start + at[1], text: by}})
	}
	return hits
}

var (
	evalCall = lazyregexp.New(`(?:^|[^\w.])(?:builtins\.)?(eval|exec)\(\s*([^)]*)`)
	compiled = lazyregexp.New(`^(?:["']|compile\()`)
)

// pyEval skips literals, and definitions of a function with that name.
func pyEval(f *File) []hit {
	var hits []hit
	for number := range f.linesWith("eval(", "exec(") {
		line := f.CodeLine(number)
		match := evalCall().FindStringSubmatch(line)
		if match == nil || strings.Contains(line, "def "+match[1]) || compiled().MatchString(match[2]) {
			continue
		}
		h := hit{line: number}
		if strings.Contains(match[2], ",") {
			h.severity = Information // the call has names of its own, so that its author has thought about it
		}
		hits = append(hits, h)
	}
	return hits
}
