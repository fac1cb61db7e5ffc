package lint

import (
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/lexer"
)

var scriptRules = []Rule{
	{
		Name: "assignment-in-condition", Languages: scripts, Severity: Warning, check: jsConditionAssignments,
		Message: "This condition assigns. If a comparison is meant, write ===; else put the assignment before the if.",
		same:    []string{"no-cond-assign"},
	},
	{
		Name: "unreachable-code", Languages: scripts, Severity: Warning, check: jsUnreachable,
		Message: "This code is never reached, because the statement before it always leaves. Remove it, or move it up.",
		same:    []string{"no-unreachable", "7027", "ts7027", "unreachable code"},
	},
	{
		Name: "duplicate-key", Languages: JavaScript | TypeScript | Python, Severity: Warning, check: duplicateKeys,
		Message: "This key stands in the same object already, and the later value wins. Remove one of them.",
		same:    []string{"no-dupe-keys", "1117", "ts1117", "F601"},
	},
	{
		Name: "invalid-typeof", Languages: scripts, Severity: Error, check: jsInvalidTypeof,
		Message: "typeof never gives this text, so the comparison always comes out the same. Check the spelling.",
		same:    []string{"valid-typeof", "2367", "ts2367"},
	},
	{
		Name: "nan-comparison", Languages: scripts, Severity: Error, check: lines(nanComparison, "NaN"),
		Message: "Nothing equals NaN, not even NaN. Use Number.isNaN.",
		same:    []string{"use-isnan", "2845", "ts2845"},
	},
	{
		Name: "negated-operand", Languages: scripts, Severity: Error,
		check: lines(negatedOperand, " in ", " instanceof "),
		Message: "The ! applies to the left side alone, not to the whole test. Put parentheses around the " +
			"test: !(a in b).",
		same: []string{"no-unsafe-negation", "2358", "2360"},
	},
	{
		Name: "async-for-each", Languages: scripts, Severity: Warning, check: lines(asyncForEach, ".forEach("),
		Message: "forEach does not wait for an async function, and its errors are lost. Use for … of with await, or " +
			"await Promise.all(list.map(…)).",
	},
	{
		Name: "async-promise-executor", Languages: scripts, Severity: Warning, check: lines(asyncExecutor, "Promise"),
		Message: "An error thrown in an async executor rejects nothing, so that the promise stays open for " +
			"ever. Make the executor a plain function.",
		same: []string{"no-async-promise-executor"},
	},
	{
		Name: "empty-catch", Languages: scripts, Severity: Warning, check: shipped(jsEmptyCatches),
		Message: "The error is caught and nothing is done about it, not even a comment says why. Handle it, or say " +
			"why it does not matter.",
		same: []string{"no-empty"},
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
	{
		Name: "insecure-tls", Languages: scripts, Severity: Warning,
		check: shipped(lines(unauthorized, "rejectUnauthorized", "NODE_TLS_REJECT_UNAUTHORIZED")),
		Message: "The server's certificate is not verified, so anybody in between can read and change what is sent. " +
			"Give the right certificates in ca instead.",
	},
	{
		Name: "debug-print", Languages: scripts, Severity: Information, check: shipped(jsDebugPrints),
		Message: "This looks like it was left from debugging. Remove it.",
		same:    []string{"no-debugger", "no-console"},
	},
}

var (
	nanComparison  = lazyregexp.New(`[=!]==?\s*(?:Number\.)?NaN\b|\bNaN\s*[=!]==?`)
	negatedOperand = lazyregexp.New(`[(&|]\s*!\s*[A-Za-z_$][\w$.]*\s+(?:in|instanceof)\s`)
	asyncForEach   = lazyregexp.New(`\.forEach\(\s*async\b`)
	asyncExecutor  = lazyregexp.New(`\bnew\s+Promise(?:<.*>)?\(\s*async\b`)
	// scriptEval leaves what defines a function of that name alone, which goes on with a brace.
	scriptEval = lazyregexp.New("(?:^|[^\\w.$])(?:(?:window|globalThis)\\.)?eval\\(\\s*[^)\"'`\\s][^{]*$|" +
		"\\bnew\\s+Function\\(\\s*[^)\"'\\s]|\\bset(?:Timeout|Interval)\\(\\s*[\"']_")
	unauthorized = lazyregexp.New(
		`(?:^|[{,])\s*rejectUnauthorized\s*:\s*false\b|\bNODE_TLS_REJECT_UNAUTHORIZED["'\]]*\s*=\s*["']?_*0?["']?`)

	condition   = lazyregexp.New(`\bif\s*\(`)
	plainAssign = lazyregexp.New(`^\s*[A-Za-z_$][\w$.]*(?:\[[^\[\]]*\])?\s*=\s*[^=>~]`)
)

// jsConditionAssignments leaves alone what stands in parentheses of its own, which says that it is meant, as does a
// comparison of what is assigned. A comma comes from a compiler.
func jsConditionAssignments(f *File) []hit {
	var hits []hit
	for number := range f.linesWith("if(", "if (") {
		for _, at := range condition().FindAllStringIndex(f.CodeLine(number), -1) {
			inside := f.code[f.starts[number-1]+at[1]:]
			inside = inside[:argumentsEnd(inside, 0)]
			if !strings.ContainsAny(inside, ",\n") && !strings.Contains(inside, "==") &&
				plainAssign().MatchString(inside) {
				hits = append(hits, hit{line: number})
			}
		}
	}
	return hits
}

var (
	leaving = lazyregexp.New(`^[ \t]*(?:return|throw|break|continue)(?:[ \t][^;{]*)?;\s*$`)
	reached = lazyregexp.New(
		`^\s*(?:[)\]};]|(?:case|default|function|async|class|var|import|export|type|interface|declare|namespace|enum|else|while|catch|finally)\b|[\w$]+\s*:)`)
)

// jsUnreachable looks behind a statement on a line of its own that leaves its block, at the next line as far in. What
// is hoisted, and labels, count as reached.
func jsUnreachable(f *File) []hit {
	var hits []hit
	for number := range f.linesWith("return", "throw", "break", "continue") {
		line := f.CodeLine(number)
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		if !leaving().MatchString(line) || !f.statementStart(f.starts[number-1]+indent) {
			continue
		}
		for next := number + 1; next <= len(f.starts); next++ {
			if code := f.CodeLine(next); strings.TrimSpace(code) != "" {
				if code[:min(indent, len(code))] == line[:indent] && strings.IndexByte(" \t", code[indent]) < 0 &&
					!reached().MatchString(code) {
					hits = append(hits, hit{line: next})
				}
				break
			}
		}
	}
	return hits
}

// statementStart reports whether a statement may begin at an offset: behind a semicolon or a brace, and so not
// behind the parenthesis of an if or the colon of a label.
func (f *File) statementStart(at int) bool {
	before := strings.TrimRight(f.code[:at], " \t\n\r")
	return before == "" || strings.IndexByte(";{}", before[len(before)-1]) >= 0
}

var typeofComparison = lazyregexp.New(`\btypeof\s*\(?[\w$.\[\]]+\)?\s*[!=]==?\s*["'](_*)["']`)

func jsInvalidTypeof(f *File) []hit {
	valid := []string{"undefined", "object", "boolean", "number", "string", "function", "symbol", "bigint", "unknown"}
	var hits []hit
	for number := range f.linesWith("typeof") {
		for _, at := range typeofComparison().FindAllStringSubmatchIndex(f.CodeLine(number), -1) {
			if !slices.Contains(valid, f.Line(number)[at[2]:at[3]]) {
				hits = append(hits, hit{line: number})
			}
		}
	}
	return hits
}

var tried = lazyregexp.New(`\btry\s*\{`)

// emptyCatch fits a handler without a comment, which is a reason, and so is a name like _.
var emptyCatch = lazyregexp.New(`^\s*catch\s*(?:\(\s*[^_()\s][^()]*\)\s*)?\{\s*\}`)

// jsEmptyCatches leaves alone what is around a single statement, since it is mostly meant there.
func jsEmptyCatches(f *File) []hit {
	var hits []hit
	if !strings.Contains(f.code, "catch") {
		return nil
	}
	for _, at := range tried().FindAllStringIndex(f.code, -1) {
		end := argumentsEnd(f.code, at[1])
		if end == len(f.code) || strings.Count(strings.TrimSpace(f.code[at[1]:end]), "\n") < 2 {
			continue
		}
		handler := emptyCatch().FindStringIndex(f.code[end+1:])
		if handler != nil && emptyCatch().MatchString(f.text[end+1:]) {
			hits = append(hits, hit{line: f.lineAt(end), endLine: f.lineAt(end + handler[1])})
		}
	}
	return hits
}

var (
	htmlAssignment = lazyregexp.New(
		`\.(?:innerHTML|outerHTML)\s*\+?=\s*([^=].*)|\.insertAdjacentHTML\((.*)|\bdocument\.write(?:ln)?\((.*)`)
	cleaned = lazyregexp.New(`(?i)escape|sanitize|purify|encode`)
)

// jsHTML looks for values put into HTML on one line, unless something there escapes or cleans them.
func jsHTML(f *File) []hit {
	var hits []hit
	for number := range f.linesWith("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write") {
		match := htmlAssignment().FindStringSubmatch(f.CodeLine(number))
		if match != nil && jsBuilt().MatchString(match[1]+match[2]+match[3]) && !cleaned().MatchString(match[0]) {
			hits = append(hits, hit{line: number})
		}
	}
	return hits
}

var (
	debuggerStatement = lazyregexp.New(`^\s*debugger\s*;?\s*$`)
	consoleCall       = lazyregexp.New(`^\s*console\.(?:log|debug|info|warn|error|dir|trace)\(\s*["'` + "`" + `]([^"'` +
		"`" + `]*)["'` + "`" + `].*\)\s*;?\s*$`)
)

// jsDebugPrints looks for debugger statements and prints whose text gives them away, each alone on its line.
func jsDebugPrints(f *File) []hit {
	var hits []hit
	for number := range f.linesWith("debugger", "console.") {
		code, h := f.CodeLine(number), hit{line: number}
		call := consoleCall().FindStringSubmatch(f.Line(number))
		switch {
		case debuggerStatement().MatchString(code):
			h.message = "A debugger statement stops the program wherever a debugger is attached. Remove it."
		case call == nil || !strings.Contains(code, "console.") || !debugWords().MatchString(call[1]):
			continue
		}
		// Behind the parenthesis of an if the statement must not go away.
		indent := len(code) - len(strings.TrimLeft(code, " \t"))
		if f.statementStart(f.starts[number-1]+indent) && strings.Count(code, "(") <= 1 &&
			strings.Count(code, ";") <= 1 {
			h.edit = f.removeLines(number, number)
		}
		hits = append(hits, h)
	}
	return hits
}

// plainKey fits a name or a string before a colon.
var plainKey = lazyregexp.New(`^("[^"]*"|'[^']*'|[A-Za-z_$][\w$]*)\s*:`)

// duplicateKeys compares the plain keys of each object of a script or dictionary of Python: names and strings
// before a colon, on the object's own level.
func duplicateKeys(f *File) []hit {
	type object struct {
		keys map[string]bool // nil for other brackets
		// fresh is true where a key may stand: behind the brace and behind each comma.
		fresh bool
	}
	var hits []hit
	stack := []object{{}}
	for at := range len(f.code) {
		top := &stack[len(stack)-1]
		switch c := f.code[at]; {
		case strings.IndexByte("([{", c) >= 0:
			top.fresh = false
			inner := object{fresh: true}
			if c == '{' && f.objectAt(at) {
				inner.keys = map[string]bool{}
			}
			stack = append(stack, inner)
		case strings.IndexByte(")]}", c) >= 0:
			stack = stack[:max(len(stack)-1, 1)]
		case c == ',':
			top.fresh = true
		case strings.IndexByte(" \n\t", c) < 0 && top.fresh:
			top.fresh = false
			if top.keys == nil {
				continue
			}
			match := plainKey().FindStringSubmatchIndex(f.code[at:])
			if match == nil {
				continue
			}
			key := f.text[at : at+match[3]]
			if named := lexer.IsWordByte(key[0]); named && f.Language == Python {
				continue // a name stands for its value there
			} else if !named && f.Language != Python {
				key = key[1 : len(key)-1]
			}
			if top.keys[key] {
				hits = append(hits,
					hit{
						line: f.lineAt(at),
						message: "The key " + key +
							" stands in the same object already, and the later value wins. Remove one of them.",
					})
			}
			top.keys[key] = true
		}
	}
	return hits
}

// objectAt reports whether an opening brace begins an object and no block, by what stands before it. Behind a colon it
// may be a type or a label's block; those have no doubled keys.
func (f *File) objectAt(at int) bool {
	if f.Language == Python {
		return true
	}
	before := strings.TrimRight(f.code[:at], " \t\n\r")
	return before != "" && strings.IndexByte("(,=[:?", before[len(before)-1]) >= 0 ||
		lexer.WordBefore(before, len(before)) == "return"
}
