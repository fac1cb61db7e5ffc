package lint

import (
	"regexp"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// What ruff reports without being asked to is not among them, but for the comparison with None, which is mended.
var pythonRules = []Rule{
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
}

var broadExcept = lazyregexp.New(`^except(?:\s+\(?(?:Base)?Exception\)?\s*(?:as\s+\w+)?)?\s*:`)

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
