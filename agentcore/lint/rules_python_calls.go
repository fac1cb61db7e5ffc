package lint

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

var evalCall = lazyregexp.New(`(?:^|[^\w.])(?:builtins\.)?(eval|exec)\(\s*([^)]*)`)

// pyEval leaves literals alone, and what defines a function of that name.
func pyEval(f *File) []hit {
	if f.isTest() {
		return nil
	}
	var hits []hit
	for number := range f.linesWith("eval(", "exec(") {
		line := f.CodeLine(number)
		match := evalCall().FindStringSubmatch(line)
		if match == nil || strings.Contains(line, "def "+match[1]) || match[2] != "" && strings.ContainsAny(match[2][:1], `"'`) || strings.HasPrefix(match[2], "compile(") {
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

// shellCall fits the functions that hand their first argument to a shell.
var shellCall = lazyregexp.New(`\b(?:os\.system|os\.popen|subprocess\.(?:getoutput|getstatusoutput))\(`)

// withShell fits those that do so if they are told.
var withShell = lazyregexp.New(`\b(?:subprocess\.)?(?:run|call|check_call|check_output|Popen)\(`)

// builtText fits an expression that puts text and values together, in code without the contents of strings: an f
// in front, a "%" or "+" beside a string, or a call of format on one.
var builtText = lazyregexp.New(`\b[rR]?[fF][rR]?["']|["']\s*%\s*[\w(]|["']\s*\+|\+\s*[rb]?["']|["']\.format\(`)

func pyShell(f *File) []hit {
	if f.isTest() {
		return nil
	}
	var hits []hit
	for _, line := range f.logical {
		if !strings.Contains(line.code, "os.") && !strings.Contains(line.code, "subprocess") && !strings.Contains(line.code, "shell") {
			continue
		}
		at := shellCall().FindStringIndex(line.code)
		if at == nil && strings.Contains(strings.ReplaceAll(line.code, " ", ""), "shell=True") {
			at = withShell().FindStringIndex(line.code)
		}
		if at == nil {
			continue
		}
		if argument := firstArgument(line.code, at[1]-1); builtText().MatchString(argument) && f.putsValues(line, argument) {
			hits = append(hits, hit{line: line.first, endLine: line.last})
		}
	}
	return hits
}

var formatted = lazyregexp.New(`^\s*[rR]?[fF][rR]?["']`)

// putsValues reports whether an f-string among the argument of a line has a value in it.
func (f *File) putsValues(line logicalLine, argument string) bool {
	if !formatted().MatchString(argument) {
		// A number put in by %d is harmless.
		return !strings.Contains(argument, "%") || strings.Contains(f.text[line.start:line.end], "%s") || strings.Contains(f.text[line.start:line.end], "%r") || strings.Contains(f.text[line.start:line.end], "%(")
	}
	return strings.Contains(strings.ReplaceAll(f.text[line.start:line.end], "{{", ""), "{")
}

// firstArgument returns the first argument of the call whose parenthesis opens at an offset.
func firstArgument(code string, open int) string {
	end := closing(code, open)
	if end < 0 {
		end = len(code)
	}
	depth := 0
	for i := open + 1; i < end; i++ {
		switch code[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				return code[open+1 : i]
			}
		}
	}
	return code[open+1 : end]
}

var executeCall = lazyregexp.New(`\.(?:execute|executemany|executescript)\(`)

// pySQL looks at the first argument of execute, which has to begin like SQL and have a value put in.
func pySQL(f *File) []hit {
	if f.isTest() {
		return nil
	}
	var hits []hit
	for _, line := range f.logical {
		if !strings.Contains(line.code, ".execute") {
			continue
		}
		at := executeCall().FindStringIndex(line.code)
		if at == nil {
			continue
		}
		argument := firstArgument(line.code, at[1]-1)
		if !builtText().MatchString(argument) || !f.putsValues(line, argument) {
			continue
		}
		written := f.text[line.start:line.end]
		if open := strings.Index(written, ".execute"); open >= 0 {
			quote := strings.IndexAny(written[open:], `"'`)
			if quote >= 0 && sqlStart().MatchString(strings.Join(strings.Fields(strings.TrimLeft(written[open+quote:], `"'`)), " ")) && !onlyIdentifiers(written[open+quote:]) {
				hits = append(hits, hit{line: line.first, endLine: line.last})
			}
		}
	}
	return hits
}

// putName fits places in a query where only a name can stand, which no placeholder can take.
var putName = lazyregexp.New(`(?i)\b(?:from|into|update|table|join)\s+["'` + "`" + `]?(?:\{[^{}]*\}|%s)`)

// onlyIdentifiers reports whether all that is put into a query are names of tables.
func onlyIdentifiers(written string) bool {
	rest := putName().ReplaceAllString(written, "")
	return rest != written && !strings.Contains(rest, "{") && !strings.Contains(rest, "%s")
}

var yamlLoad = lazyregexp.New(`\byaml\.load\(`)

func pyYAML(f *File) []hit {
	var hits []hit
	for _, line := range f.logical {
		if !strings.Contains(line.code, "yaml.load") {
			continue
		}
		at := yamlLoad().FindStringIndex(line.code)
		if at == nil {
			continue
		}
		arguments := line.code[at[1]-1:]
		if end := closing(arguments, 0); end > 0 && !strings.Contains(arguments[:end], "Loader") && !topLevel(arguments[1:end], ',') {
			hits = append(hits, hit{line: line.first})
		}
	}
	return hits
}

var unverified = lazyregexp.New(`\b(?:requests|httpx|session|client|self\.session|self\.client|s)\.\w+\(.*\bverify\s*=\s*False\b|\bssl\._create_unverified_context\b`)

func pyInsecureTLS(f *File) []hit {
	if f.isTest() {
		return nil
	}
	var hits []hit
	for _, line := range f.logical {
		if strings.Contains(line.code, "verif") && unverified().MatchString(line.code) {
			hits = append(hits, hit{line: line.first})
		}
	}
	return hits
}

var debuggerCall = lazyregexp.New(`^(?:breakpoint\(\)|(?:i?pdb|pudb)\.set_trace\(\))`)

// pyDebugPrints looks for prints whose text gives them away, and for calls of a debugger. A print or a call alone
// in its block is not taken away, since the block must not become empty.
func pyDebugPrints(f *File) []hit {
	if f.isTest() {
		return nil
	}
	var hits []hit
	for i, line := range f.logical {
		found := (line.keyword == "breakpoint" || strings.HasSuffix(line.keyword, "db")) && debuggerCall().MatchString(line.code)
		if line.keyword == "print" {
			written := f.text[line.start:line.end]
			if quote := strings.IndexAny(written, `"'`); quote > 0 && strings.Trim(written[len("print"):quote], "(fr ") == "" {
				rest := written[quote+1:]
				if end := strings.IndexByte(rest, written[quote]); end >= 0 {
					found = debugWords().MatchString(rest[:end])
				}
			}
		}
		if !found {
			continue
		}
		h := hit{line: line.first, endLine: line.last}
		neighbour := i > 0 && f.logical[i-1].indent == line.indent || i+1 < len(f.logical) && f.logical[i+1].indent == line.indent
		if neighbour && strings.Count(line.code, "(") == 1 && strings.HasSuffix(line.code, ")") {
			h.edit = f.removeStatement(line.start, line.end)
		}
		hits = append(hits, h)
	}
	return hits
}
