package lint

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/lexer"
)

var pythonRules = []Rule{
	{
		Name: "bare-except", Languages: Python, Severity: Warning, check: pyBareExcepts,
		Message: "A bare except catches everything, KeyboardInterrupt and SystemExit too. Name the exceptions that are expected, or write \"except Exception\".",
		same:    []string{"E722", "bare-except", "bare except"},
	},
	{
		Name: "swallowed-exception", Languages: Python, Severity: Warning, check: pySwallowed,
		Message: "All exceptions are caught here and nothing is done about them, so that mistakes go unnoticed. Catch what is expected, or at least log it.",
		same:    []string{"S110", "BLE001", "try-except-pass"},
	},
	{
		Name: "mutable-default", Languages: Python, Severity: Warning, check: pyMutableDefaults,
		Message: "This default is made once and shared by all calls, so changes to it stay. Use None and make it in the function.",
		same:    []string{"B006", "dangerous-default-value"},
	},
	{
		Name: "none-comparison", Languages: Python, Severity: Information, check: pyNoneComparisons,
		Message: "None is compared by value, which a class may redefine. Use \"is None\" or \"is not None\".",
		same:    []string{"E711", "singleton-comparison"},
	},
	{
		Name: "identity-of-literal", Languages: Python, Severity: Warning, check: pyIdentityOfLiterals,
		Message: "\"is\" compares identity, and whether equal literals are one object is up to the interpreter. Use == or !=.",
		same:    []string{"F632", "literal-comparison", "with a literal"},
	},
	{
		Name: "assert-tuple", Languages: Python, Severity: Error, check: pyAssertTuples,
		Message: "This asserts a tuple, which is always true, so nothing is tested. Remove the parentheses.",
		same:    []string{"F631", "assertion is always true"},
	},
	{
		Name: "unraised-exception", Languages: Python, Severity: Error, check: pyUnraised,
		Message: "This exception is made and then dropped. Write raise in front of it.",
		same:    []string{"PLW0133", "pointless-exception-statement"},
	},
	{
		Name: "unused-comparison", Languages: Python, Severity: Warning, check: pyUnusedComparisons,
		Message: "This compares and drops the result. It was probably meant to assign or to assert.",
		same:    []string{"B015", "pointless-comparison"},
	},
	{
		Name: "unreachable-code", Languages: Python, Severity: Warning, check: pyUnreachable,
		Message: "This code is never reached, because the statement before it always leaves. Remove it, or move it up.",
		same:    []string{"unreachable"},
	},
	{
		Name: "self-assignment", Languages: Python, Severity: Warning, check: pySelfAssignments,
		Message: "This assigns a value to itself and does nothing. One side was probably meant to be something else.",
		same:    []string{"PLW0127", "self-assigning-variable"},
	},
	{
		Name: "identical-condition", Languages: Python, Severity: Warning, check: pyIdenticalConditions,
		Message: "This condition was already tested above, so this branch never runs.",
	},
	{
		Name: "identical-branches", Languages: Python, Severity: Warning, check: pyIdenticalBranches,
		Message: "Both branches do the same, so the condition decides nothing. One of them was probably meant to differ.",
	},
	{
		Name: "return-in-finally", Languages: Python, Severity: Warning, check: pyFinallyReturns,
		Message: "A return in finally throws away an exception that is on its way. Put it behind the try statement.",
		same:    []string{"B012", "lost-exception", "SyntaxWarning: 'return' in a 'finally'"},
	},
	{
		Name: "unsafe-eval", Languages: Python, Severity: Warning, check: pyEval,
		Message: "This runs text as code. If any of it comes from outside, that is code injection: use ast.literal_eval, a parser or a table.",
		same:    []string{"S307", "S102", "PGH001", "eval-used", "exec-used"},
	},
	{
		Name: "shell-injection", Languages: Python, Severity: Warning, check: pyShell,
		Message: "A shell gets a command that is put together from values, which invites injection. Use subprocess.run with a list of arguments.",
		same:    []string{"S602", "S605", "S604"},
	},
	{
		Name: "sql-concatenation", Languages: Python, Severity: Warning, check: pySQL,
		Message: "The query is put together from text and values, which invites SQL injection. Use placeholders and pass the values as parameters.",
		same:    []string{"S608"},
	},
	{
		Name: "unsafe-yaml", Languages: Python, Severity: Warning, check: pyYAML,
		Message: "yaml.load without a safe loader makes any Python object that the text asks for. Use yaml.safe_load.",
		same:    []string{"S506"},
	},
	{
		Name: "insecure-tls", Languages: Python, Severity: Warning, check: pyInsecureTLS,
		Message: "The server's certificate is not verified, so anybody in between can read and change what is sent. Give the right certificates in verify instead.",
		same:    []string{"S501"},
	},
	{
		Name: "debug-print", Languages: Python, Severity: Information, check: pyDebugPrints,
		Message: "This looks like it was left from debugging. Remove it.",
		same:    []string{"T100"},
	},
}

var bareExcept = lazyregexp.New(`^except\s*:`)

// pyBareExcepts looks for "except:" in whose block nothing is raised again.
func pyBareExcepts(f *File) []hit {
	var hits []hit
	for i, line := range f.logical {
		if line.keyword != "except" || !bareExcept().MatchString(line.code) {
			continue
		}
		if f.comment(line.first, line.first) || raisesAgain(f.logical[i:block(f.logical, i)]) {
			continue
		}
		hits = append(hits, hit{line: line.first})
	}
	return hits
}

func raisesAgain(lines []logicalLine) bool {
	for _, line := range lines {
		for _, word := range []string{"raise", "sys.exit", "os._exit", "exit("} {
			if strings.Contains(line.code, word) {
				return true
			}
		}
	}
	return false
}

var broadExcept = lazyregexp.New(`^except\s+\(?(?:Base)?Exception\)?\s*(?:as\s+\w+)?\s*:`)

// pySwallowed looks for broad handlers with nothing but pass, where no comment says why. What is tried must have
// several statements: around a single one it is mostly meant.
func pySwallowed(f *File) []hit {
	var hits []hit
	for i, line := range f.logical {
		if line.keyword != "except" || !broadExcept().MatchString(line.code) {
			continue
		}
		end := block(f.logical, i)
		last, body := line.last, line.inline()
		if end == i+2 {
			body, last = f.logical[i+1].code, f.logical[i+1].last
		}
		if end > i+2 || body != "pass" && body != "..." || f.comment(line.first, last) || !f.triesMuch(i) {
			continue
		}
		hits = append(hits, hit{line: line.first, endLine: last})
	}
	return hits
}

// triesMuch reports whether the try statement of the handler at an index has several statements in its block.
func (f *File) triesMuch(handler int) bool {
	const several = 3
	count := 0
	for i := handler - 1; i >= 0 && f.logical[i].indent >= f.logical[handler].indent; i-- {
		if f.logical[i].indent == f.logical[handler].indent {
			return f.logical[i].keyword == "try" && count >= several
		}
		count++
	}
	return false
}

var mutableDefault = lazyregexp.New(`[(,]\s*(\w+)\s*(?::[^=,()]*)?=\s*(?:\[\]|\{\}|(?:list|dict|set)\(\))\s*[,)]`)

// pyMutableDefaults looks for defaults that the function changes: one that is only read does no harm, and a cache is
// meant to stay.
func pyMutableDefaults(f *File) []hit {
	var hits []hit
	for i, line := range f.logical {
		if line.keyword != "def" && !strings.HasPrefix(line.code, "async def ") {
			continue
		}
		body := f.logical[i+1 : block(f.logical, i)]
		// One match ends with the comma that the next one begins with, so they are looked for one by one.
		for at := 0; at < len(line.code); {
			match := mutableDefault().FindStringSubmatchIndex(line.code[at:])
			if match == nil {
				break
			}
			if name := line.code[at+match[2] : at+match[3]]; !strings.HasPrefix(name, "_") && !strings.Contains(name, "cache") && !strings.Contains(name, "memo") && changes(body, name) {
				hits = append(hits, hit{line: line.first})
				break
			}
			at += match[3]
		}
	}
	return hits
}

// changes reports whether some statement changes what a name stands for. A new assignment of the name ends the
// search.
func changes(body []logicalLine, name string) bool {
	for _, line := range body {
		for at := 0; ; {
			found := strings.Index(line.code[at:], name)
			if found < 0 {
				break
			}
			at += found
			end := at + len(name)
			if at > 0 && (lexer.IsWordByte(line.code[at-1]) || line.code[at-1] == '.') || end < len(line.code) && lexer.IsWordByte(line.code[end]) {
				at = end
				continue
			}
			rest := line.code[end:]
			if at == 0 && strings.HasPrefix(strings.TrimLeft(rest, " "), "=") && !strings.HasPrefix(strings.TrimLeft(rest, " "), "==") {
				return false
			}
			for _, change := range []string{".append(", ".extend(", ".insert(", ".add(", ".update(", ".setdefault(", ".pop(", ".remove(", ".clear(", ".sort(", " += ", " |= "} {
				if strings.HasPrefix(rest, change) {
					return true
				}
			}
			if elementAssignment().MatchString(rest) {
				return true
			}
			at = end
		}
	}
	return false
}

var elementAssignment = lazyregexp.New(`^\[[^\[\]]*\]\s*[-+*|/]?=[^=]`)

var noneComparison = lazyregexp.New(`([!=])= ?None\b`)

// pyNoneComparisons leaves alone what may be an expression of a query or of an array, where == is redefined.
func pyNoneComparisons(f *File) []hit {
	for _, library := range []string{"sqlalchemy", "sqlmodel", "peewee", "pony", "numpy", "pandas", "polars", "sympy"} {
		if strings.Contains(f.text, library) {
			return nil
		}
	}
	var hits []hit
	for _, line := range f.logical {
		switch line.keyword {
		case "if", "elif", "while", "assert", "return":
		default:
			continue
		}
		at := noneComparison().FindStringSubmatchIndex(f.code[line.start:line.end])
		if at == nil || at[0] == 0 || f.comment(line.first, line.last) {
			continue
		}
		start, end := line.start+at[0], line.start+at[1]
		by := "is None"
		if f.code[start] == '!' {
			by = "is not None"
		}
		if f.code[start-1] != ' ' {
			by = " " + by
		}
		hits = append(hits, hit{line: f.lineAt(start), edit: &edit{start: start, end: end, text: by}})
	}
	return hits
}

var identityOfLiteral = lazyregexp.New(`\bis (not )?(?:[bru]{0,2}(?:"_*"|'_*')|-?\d+(?:\.\d+)?\b|\(\)|\[|\{)`)

func pyIdentityOfLiterals(f *File) []hit {
	var hits []hit
	for number := range f.linesWith(" is ") {
		line := f.CodeLine(number)
		at := identityOfLiteral().FindStringSubmatchIndex(line)
		if at == nil || strings.HasSuffix(strings.TrimSpace(line[:at[0]]), `"`) {
			continue
		}
		found := hit{line: number}
		start := f.starts[number-1] + at[0]
		if at[2] >= 0 {
			found.edit = &edit{start: start, end: start + len("is not"), text: "!="}
		} else {
			found.edit = &edit{start: start, end: start + len("is"), text: "=="}
		}
		hits = append(hits, found)
	}
	return hits
}

// pyAssertTuples looks for "assert (condition, message)" with nothing behind the parentheses.
func pyAssertTuples(f *File) []hit {
	var hits []hit
	for _, line := range f.logical {
		if line.keyword != "assert" {
			continue
		}
		rest := strings.TrimSpace(line.code[len("assert"):])
		if strings.HasPrefix(rest, "(") && strings.HasSuffix(rest, ")") && topLevel(rest[1:len(rest)-1], ',') {
			hits = append(hits, hit{line: line.first, endLine: line.last})
		}
	}
	return hits
}

// topLevel reports whether a byte stands in the text outside of all brackets, and all brackets are balanced.
func topLevel(text string, c byte) bool {
	depth, found := 0, false
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return false
			}
		case c:
			found = found || depth == 0
		}
	}
	return found && depth == 0
}

var unraised = lazyregexp.New(`^(?:Value|Type|Key|Index|Attribute|Runtime|NotImplemented|OS|IO|Import|Lookup|Permission|Timeout|FileNotFound|Assertion|ZeroDivision)(?:Error)\(.*\)$|^Exception\(.*\)$`)

func pyUnraised(f *File) []hit {
	var hits []hit
	for _, line := range f.logical {
		if !strings.HasSuffix(line.keyword, "Error") && line.keyword != "Exception" || !unraised().MatchString(line.code) || closing(line.code, strings.IndexByte(line.code, '(')) != len(line.code)-1 {
			continue
		}
		hits = append(hits, hit{line: line.first, endLine: line.last})
	}
	return hits
}

// closing returns the offset of the bracket that closes the one at an offset, or -1.
func closing(text string, at int) int {
	if at < 0 {
		return -1
	}
	depth := 0
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

var bareComparison = lazyregexp.New(`^[A-Za-z_][\w.]*(?:\[[^\[\]]*\])?\s*(?:==|!=)\s*[^=].*$`)

// pyUnusedComparisons leaves tests alone, which compare to see whether that raises.
func pyUnusedComparisons(f *File) []hit {
	if f.isTest() {
		return nil
	}
	var hits []hit
	for _, line := range f.logical {
		if strings.Contains(line.code, "==") && bareComparison().MatchString(line.code) && !strings.Contains(line.code, ";") && !strings.Contains(line.code, " = ") {
			hits = append(hits, hit{line: line.first})
		}
	}
	return hits
}

// pyUnreachable looks for a line of the same block behind one that always leaves it. A yield makes the function
// a generator even there.
func pyUnreachable(f *File) []hit {
	var hits []hit
	for i := 1; i < len(f.logical); i++ {
		before, line := f.logical[i-1], f.logical[i]
		if before.indent != line.indent || strings.Contains(before.code, ";") {
			continue
		}
		switch before.keyword {
		case "return", "raise", "continue", "break":
		default:
			continue
		}
		switch line.keyword {
		case "else", "elif", "except", "finally", "case", "yield":
			continue
		}
		if strings.Contains(line.code, "yield") || line.code == ")" || line.code == "]" || line.code == "}" {
			continue
		}
		end := i
		for end+1 < len(f.logical) && f.logical[end+1].indent >= line.indent {
			end++
		}
		hits = append(hits, hit{line: line.first, endLine: f.logical[end].last})
		i = end // one hit for all that is not reached
	}
	return hits
}

var plainAssignment = lazyregexp.New(`^([A-Za-z_][\w.]*(?:\[\w+\])?)\s*=\s*([A-Za-z_][\w.]*(?:\[\w+\])?)$`)

// pySelfAssignments leaves the bodies of classes alone: there it copies a name of the module.
func pySelfAssignments(f *File) []hit {
	var hits []hit
	for i, line := range f.logical {
		if !strings.Contains(line.code, "=") || strings.Contains(line.code, "(") {
			continue
		}
		match := plainAssignment().FindStringSubmatch(line.code)
		if match == nil || match[1] != match[2] || strings.ContainsAny(f.squeezed(line.span), `"'`) {
			continue
		}
		inFunction := false
		for j, indent := i-1, line.indent; j >= 0 && indent > 0; j-- {
			if f.logical[j].indent < indent {
				indent = f.logical[j].indent
				if f.logical[j].keyword == "class" {
					break
				}
				if f.logical[j].keyword == "def" || f.logical[j].keyword == "async" {
					inFunction = true
					break
				}
			}
		}
		if inFunction {
			hits = append(hits, hit{line: line.first})
		}
	}
	return hits
}

// condition returns the text between the keyword and the colon of an if or elif.
func (f *File) condition(line logicalLine) string {
	text := f.squeezed(line.span)
	text = strings.TrimPrefix(text, line.keyword)
	if at := strings.LastIndexByte(text, ':'); at >= 0 && line.inline() == "" && strings.HasSuffix(line.code, ":") {
		return strings.TrimSpace(text[:at])
	}
	return ""
}

func pyIdenticalConditions(f *File) []hit {
	var hits []hit
	for i, head := range f.logical {
		if head.keyword != "if" {
			continue
		}
		seen := map[string]bool{f.condition(head): true}
		for j := block(f.logical, i); j < len(f.logical) && f.logical[j].indent == head.indent && f.logical[j].keyword == "elif"; j = block(f.logical, j) {
			condition := f.condition(f.logical[j])
			if condition == "" || !repeatable(condition) {
				continue
			}
			if seen[condition] {
				hits = append(hits, hit{line: f.logical[j].first})
			}
			seen[condition] = true
		}
	}
	return hits
}

// pyIdenticalBranches compares an if without elif with its else.
func pyIdenticalBranches(f *File) []hit {
	var hits []hit
	for i, head := range f.logical {
		if head.keyword != "if" || head.inline() != "" {
			continue
		}
		middle := block(f.logical, i)
		if middle >= len(f.logical) || middle == i+1 || f.logical[middle].keyword != "else" || f.logical[middle].indent != head.indent {
			continue
		}
		end := block(f.logical, middle)
		if end == middle+1 || end-middle != middle-i {
			continue
		}
		same := true
		for k := 1; i+k < middle; k++ {
			a, b := f.logical[i+k], f.logical[middle+k]
			if a.indent != b.indent || f.squeezed(a.span) != f.squeezed(b.span) {
				same = false
				break
			}
		}
		if same {
			hits = append(hits, hit{line: head.first, endLine: f.logical[end-1].last})
		}
	}
	return hits
}

func pyFinallyReturns(f *File) []hit {
	var hits []hit
	for i, head := range f.logical {
		if head.keyword != "finally" {
			continue
		}
		for _, line := range f.logical[i+1 : block(f.logical, i)] {
			if line.keyword == "def" || line.keyword == "class" || line.keyword == "async" {
				break // the return may belong to a function in here
			}
			if line.keyword == "return" && !f.comment(line.first, line.last) {
				hits = append(hits, hit{line: line.first})
			}
		}
	}
	return hits
}
