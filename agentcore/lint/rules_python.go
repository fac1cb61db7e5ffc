package lint

import (
	"regexp"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// What ruff finds without being asked, and what Python itself warns of, is not among them, but for what it is worth
// finding where there is no ruff.
var pythonRules = []Rule{
	{
		Name: "bare-except", Languages: Python, Severity: Warning, check: pyBareExcepts,
		Message: "A bare except catches everything, KeyboardInterrupt and SystemExit too. Name the exceptions that " +
			"are expected, or write \"except Exception\".",
		same: []string{"E722", "bare-except", "bare except"},
	},
	{
		Name: "swallowed-exception", Languages: Python, Severity: Warning, check: pySwallowed,
		Message: "All exceptions are caught here and nothing is done about them, so that mistakes go " +
			"unnoticed. Catch what is expected, or at least log it.",
		same: []string{"S110", "BLE001", "try-except-pass"},
	},
	{
		Name: "mutable-default", Languages: Python, Severity: Warning, check: pyMutableDefaults,
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
		Name: "unreachable-code", Languages: Python, Severity: Warning, check: pyUnreachable,
		Message: "This code is never reached, because the statement before it always leaves. Remove it, or move it up.",
		same:    []string{"unreachable"},
	},
	{
		Name: "unsafe-eval", Languages: Python, Severity: Warning, check: shipped(pyEval),
		Message: "This runs text as code. If any of it comes from outside, that is code injection: use " +
			"ast.literal_eval, a parser or a table.",
		same: []string{"S307", "S102", "PGH001", "eval-used", "exec-used"},
	},
	{
		Name: "unsafe-yaml", Languages: Python, Severity: Warning, check: pyYAML,
		Message: "yaml.load without a safe loader makes any Python object that the text asks for. Use yaml.safe_load.",
		same:    []string{"S506"},
	},
	{
		Name: "insecure-tls", Languages: Python, Severity: Warning, check: shipped(pyInsecureTLS),
		Message: "The server's certificate is not verified, so anybody in between can read and change what is sent. " +
			"Give the right certificates in verify instead.",
		same: []string{"S501"},
	},
	{
		Name: "debug-print", Languages: Python, Severity: Information, check: shipped(pyDebugPrints),
		Message: "This looks like it was left from debugging. Remove it.",
		same:    []string{"T100", "T201"},
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
		at := broadExcept().FindStringIndex(line.code)
		if at == nil {
			continue
		}
		end := block(f.logical, i)
		last, body := line.last, strings.TrimSpace(line.code[at[1]:])
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
			if name := line.code[at+match[2] : at+match[3]]; !strings.HasPrefix(name, "_") &&
				!strings.Contains(name, "cache") && !strings.Contains(name, "memo") && changes(body, name) {
				hits = append(hits, hit{line: line.first})
				break
			}
			at += match[3]
		}
	}
	return hits
}

// changes reports whether some statement changes what a name stands for. A new assignment of the name ends the search.
func changes(body []logicalLine, name string) bool {
	change := regexp.MustCompile(`(?:^|[^\w.])` + name +
		`(?:\.(?:append|extend|insert|add|update|setdefault|pop|remove|clear|sort)\(|\[[^\[\]]*\]\s*[-+*|/]?=[^=]| \+= | \|= )`)
	for _, line := range body {
		if rest, ok := strings.CutPrefix(line.code, name); ok && strings.HasPrefix(rest, " = ") {
			return false
		}
		if change.MatchString(line.code) {
			return true
		}
	}
	return false
}

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

// pyAssertTuples looks for "assert (condition, message)" with nothing behind the parentheses.
func pyAssertTuples(f *File) []hit {
	var hits []hit
	for _, line := range f.logical {
		if line.keyword != "assert" {
			continue
		}
		rest := strings.TrimSpace(line.code[len("assert"):])
		if strings.HasPrefix(rest, "(") && strings.HasSuffix(rest, ")") && argumentsEnd(rest, 1) == len(rest)-1 &&
			argumentEnd(rest, 1) < len(rest)-1 {
			hits = append(hits, hit{line: line.first, endLine: line.last})
		}
	}
	return hits
}

var unraised = lazyregexp.New(
	`^(?:Value|Type|Key|Index|Attribute|Runtime|NotImplemented|OS|IO|Import|Lookup|Permission|Timeout|FileNotFound|Assertion|ZeroDivision)(?:Error)\(.*\)$|^Exception\(.*\)$`)

func pyUnraised(f *File) []hit {
	var hits []hit
	for _, line := range f.logical {
		if !strings.HasSuffix(line.keyword, "Error") && line.keyword != "Exception" ||
			!unraised().MatchString(line.code) ||
			argumentsEnd(line.code, strings.IndexByte(line.code, '(')+1) != len(line.code)-1 {
			continue
		}
		hits = append(hits, hit{line: line.first, endLine: line.last})
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

var (
	evalCall = lazyregexp.New(`(?:^|[^\w.])(?:builtins\.)?(eval|exec)\(\s*([^)]*)`)
	compiled = lazyregexp.New(`^(?:["']|compile\()`)
)

// pyEval leaves literals alone, and what defines a function of that name.
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
			h.severity = Information // it has names of its own: somebody thought about it
		}
		hits = append(hits, h)
	}
	return hits
}

var yamlLoad = lazyregexp.New(`\byaml\.load\(`)

func pyYAML(f *File) []hit {
	var hits []hit
	for number := range f.linesWith("yaml.load(") {
		at := yamlLoad().FindStringIndex(f.CodeLine(number))
		if at == nil {
			continue
		}
		open := f.starts[number-1] + at[1]
		if end := argumentsEnd(f.code, open); argumentEnd(f.code, open) == end &&
			!strings.Contains(f.code[open:end], "Loader") {
			hits = append(hits, hit{line: number})
		}
	}
	return hits
}

var unverified = lazyregexp.New(
	`\b(?:requests|httpx|session|client|self\.session|self\.client|s)\.\w+\(.*\bverify\s*=\s*False\b|\bssl\._create_unverified_context\b`)

func pyInsecureTLS(f *File) []hit {
	var hits []hit
	for _, line := range f.logical {
		if strings.Contains(line.code, "verif") && unverified().MatchString(line.code) {
			hits = append(hits, hit{line: line.first})
		}
	}
	return hits
}

var (
	debuggerCall = lazyregexp.New(`^(?:breakpoint\(\)|(?:i?pdb|pudb)\.set_trace\(\))`)
	printedText  = lazyregexp.New(`^print\((?:[fr]*)["'](.*)`)
)

// pyDebugPrints looks for prints whose text gives them away, and for calls of a debugger. A print or a call alone
// in its block is not taken away, since the block must not become empty.
func pyDebugPrints(f *File) []hit {
	var hits []hit
	for i, line := range f.logical {
		found := (line.keyword == "breakpoint" || strings.HasSuffix(line.keyword, "db")) &&
			debuggerCall().MatchString(line.code)
		if line.keyword == "print" {
			if match := printedText().FindStringSubmatch(f.text[line.start:line.end]); match != nil {
				written, _, _ := strings.Cut(strings.ReplaceAll(match[1], `'`, `"`), `"`)
				found = debugWords().MatchString(written)
			}
		}
		if !found {
			continue
		}
		h := hit{line: line.first, endLine: line.last}
		neighbour := i > 0 && f.logical[i-1].indent == line.indent || i+1 < len(f.logical) &&
			f.logical[i+1].indent == line.indent
		if neighbour && strings.Count(line.code, "(") == 1 && strings.HasSuffix(line.code, ")") {
			h.edit = f.removeStatement(line.start, line.end)
		}
		hits = append(hits, h)
	}
	return hits
}
