package lint

import (
	"iter"
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
		Name: "identical-condition", Languages: scripts, Severity: Warning, check: jsIdenticalConditions,
		Message: "This condition was already tested above, so this branch never runs.",
		same:    []string{"no-dupe-else-if"},
	},
	{
		Name: "identical-branches", Languages: scripts, Severity: Warning, check: jsIdenticalBranches,
		Message: "Both branches do the same, so the condition decides nothing. One of them was probably meant to differ.",
	},
	{
		Name: "identical-operands", Languages: scripts, Severity: Warning, check: jsIdenticalOperands,
		Message: "Both sides of this comparison are the same. One of them was probably meant to be something else.",
		same:    []string{"no-self-compare"},
	},
	{
		Name: "self-assignment", Languages: scripts, Severity: Warning, check: jsSelfAssignments,
		Message: "This assigns a value to itself and does nothing. One side was probably meant to be something else.",
		same:    []string{"no-self-assign"},
	},
	{
		Name: "unreachable-code", Languages: scripts, Severity: Warning, check: jsUnreachable,
		Message: "This code is never reached, because the statement before it always leaves. Remove it, or move it up.",
		same:    []string{"no-unreachable", "7027", "ts7027", "unreachable code"},
	},
	{
		Name: "duplicate-case", Languages: scripts, Severity: Warning, check: jsDuplicateCases,
		Message: "This case stands above already, so this one never runs.",
		same:    []string{"no-duplicate-case"},
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
		Name: "nan-comparison", Languages: scripts, Severity: Error, check: jsNaN,
		Message: "Nothing equals NaN, not even NaN. Use Number.isNaN.",
		same:    []string{"use-isnan", "2845", "ts2845"},
	},
	{
		Name: "negated-operand", Languages: scripts, Severity: Error, check: jsNegatedOperands,
		Message: "The ! applies to the left side alone, not to the whole test. Put parentheses around the test: !(a in b).",
		same:    []string{"no-unsafe-negation", "2358", "2360"},
	},
	{
		Name: "async-for-each", Languages: scripts, Severity: Warning, check: jsAsyncForEach,
		Message: "forEach does not wait for an async function, and its errors are lost. Use for … of with await, or await Promise.all(list.map(…)).",
	},
	{
		Name: "async-promise-executor", Languages: scripts, Severity: Warning, check: jsAsyncExecutors,
		Message: "An error thrown in an async executor rejects nothing, so that the promise stays open for ever. Make the executor a plain function.",
		same:    []string{"no-async-promise-executor"},
	},
	{
		Name: "empty-catch", Languages: scripts, Severity: Warning, check: jsEmptyCatches,
		Message: "The error is caught and nothing is done about it, not even a comment says why. Handle it, or say why it does not matter.",
		same:    []string{"no-empty"},
	},
	{
		Name: "unsafe-eval", Languages: scripts, Severity: Warning, check: jsEval,
		Message: "This runs text as code. If any of it comes from outside, that is code injection: use JSON.parse, a parser or a table.",
		same:    []string{"no-eval", "no-new-func", "no-implied-eval"},
	},
	{
		Name: "unsafe-html", Languages: scripts, Severity: Warning, check: jsHTML,
		Message: "Values are put into HTML without escaping, which invites cross-site scripting. Use textContent, or escape the values.",
	},
	{
		Name: "shell-injection", Languages: scripts, Severity: Warning, check: jsShell,
		Message: "A shell gets a command that is put together from values, which invites injection. Use execFile or spawn with a list of arguments.",
	},
	{
		Name: "sql-concatenation", Languages: scripts, Severity: Warning, check: jsSQL,
		Message: "The query is put together from text and values, which invites SQL injection. Use placeholders and pass the values as parameters.",
	},
	{
		Name: "insecure-tls", Languages: scripts, Severity: Warning, check: jsInsecureTLS,
		Message: "The server's certificate is not verified, so anybody in between can read and change what is sent. Give the right certificates in ca instead.",
	},
	{
		Name: "debug-print", Languages: scripts, Severity: Information, check: jsDebugPrints,
		Message: "This looks like it was left from debugging. Remove it.",
		same:    []string{"no-debugger", "no-console"},
	},
}

var assigns = lazyregexp.New(`[^=!<>]=[^=>]`)

var plainAssign = lazyregexp.New(`^\s*[A-Za-z_$][\w$.]*(?:\[[^\[\]]*\])?\s*=\s*[^=>~]`)

// jsConditionAssignments leaves alone what stands in parentheses of its own, which says that it is meant.
func jsConditionAssignments(f *File) []hit {
	var hits []hit
	for _, b := range f.branches() {
		condition := f.code[b.condition.start:b.condition.end]
		// A comma comes from a compiler; a comparison of what is assigned shows that it is meant.
		if plainAssign().MatchString(condition) && !strings.Contains(condition, ",") && !strings.Contains(condition, "==") && !strings.Contains(condition, "\n") {
			hits = append(hits, hit{line: f.lineAt(b.condition.start)})
		}
	}
	return hits
}

func jsIdenticalConditions(f *File) []hit {
	byStart := map[int]branch{}
	inner := map[int]bool{}
	branches := f.branches()
	for _, b := range branches {
		byStart[b.at] = b
		inner[b.next] = true
	}
	var hits []hit
	for _, first := range branches {
		if inner[first.at] || first.next == 0 {
			continue
		}
		seen := map[string]bool{}
		for b, ok := first, true; ok; b, ok = byStart[b.next] {
			condition := f.squeezed(b.condition)
			if condition != "" && repeatable(condition) && !assigns().MatchString(f.code[b.condition.start:b.condition.end]) {
				if seen[condition] {
					hits = append(hits, hit{line: f.lineAt(b.at)})
				}
				seen[condition] = true
			}
			if b.next == 0 {
				break
			}
		}
	}
	return hits
}

func jsIdenticalBranches(f *File) []hit {
	var hits []hit
	for _, b := range f.branches() {
		if b.otherwise.end == 0 || f.squeezed(b.body) == "" || f.squeezed(b.body) != f.squeezed(b.otherwise) {
			continue
		}
		// As part of a chain it may stand for the cases that the chain tells apart.
		if before := lastBefore(f.code, b.at); before >= 0 && lexer.WordBefore(f.code, before+1) == "else" {
			continue
		}
		hits = append(hits, hit{line: f.lineAt(b.at), endLine: f.lineAt(b.otherwise.end)})
	}
	return hits
}

var comparison = lazyregexp.New(`([A-Za-z_$][\w$]*(?:\.[\w$]+|\[[\w$]+\])*)\s*(===|==|<=|>=)\s*([A-Za-z_$][\w$]*(?:\.[\w$]+|\[[\w$]+\])*)`)

// jsIdenticalOperands does not look at != and !==, which ask for NaN.
func jsIdenticalOperands(f *File) []hit {
	var hits []hit
	for number := range f.linesWith("==", "<=", ">=") {
		line := f.CodeLine(number)
		for _, at := range comparison().FindAllStringSubmatchIndex(line, -1) {
			if line[at[2]:at[3]] != line[at[6]:at[7]] {
				continue
			}
			before, after := lastBefore(line, at[0]), skipBlank(line, at[1])
			if before >= 0 && strings.IndexByte("(&|=,!?:;{", line[before]) < 0 && lexer.WordBefore(line, before+1) != "return" {
				continue // it is the end of a longer expression
			}
			if after < len(line) && strings.IndexByte(")&|,;?:}", line[after]) < 0 {
				continue
			}
			hits = append(hits, hit{line: number})
		}
	}
	return hits
}

var selfAssign = lazyregexp.New(`^\s*([A-Za-z_$][\w$]*(?:\.[\w$]+)*)\s*=\s*([A-Za-z_$][\w$]*(?:\.[\w$]+)*)\s*;?\s*$`)

func jsSelfAssignments(f *File) []hit {
	var hits []hit
	for number := range f.linesWith(" = ") {
		line := f.CodeLine(number)
		match := selfAssign().FindStringSubmatch(line)
		// A property may act when it is set, as location.href does.
		if match == nil || match[1] != match[2] || strings.Contains(strings.TrimPrefix(match[1], "this."), ".") || !f.statementStart(f.starts[number-1]) {
			continue
		}
		if next := skipBlank(f.code, f.starts[number-1]+len(line)); !strings.Contains(line, ";") && next < len(f.code) && strings.IndexByte(".?+-*/&|([=<>,", f.code[next]) >= 0 {
			continue // the expression goes on
		}
		if before := lastBefore(f.code, f.starts[number-1]); before >= 0 && f.code[before] == '{' && number > 1 && strings.Contains(f.CodeLine(f.lineAt(before)), "class ") {
			continue
		}
		hits = append(hits, hit{line: number})
	}
	return hits
}

// jsUnreachable looks behind statements that leave their block and end with a semicolon.
func jsUnreachable(f *File) []hit {
	if f.blocks == nil || !f.blocks.balanced {
		return nil
	}
	var hits []hit
	for _, word := range []string{"return", "throw", "break", "continue"} {
		for at := range f.words(word) {
			if !f.statementStart(at) {
				continue
			}
			if before := lastBefore(f.code, at); before >= 0 && f.code[before] == '}' && !f.blockBefore(before) {
				continue
			}
			end := f.statementEnd(at)
			if end < 0 {
				continue
			}
			next := skipBlank(f.code, end)
			if next >= len(f.code) || strings.IndexByte("})];", f.code[next]) >= 0 {
				continue
			}
			switch wordAt(f.code, next) {
			case "case", "default", "function", "async", "class", "var", "import", "export", "type", "interface", "declare", "namespace", "enum", "else", "while", "catch", "finally":
				continue
			case "":
				if strings.IndexByte("([{`+-!'\"", f.code[next]) < 0 {
					continue
				}
			}
			if label := wordAt(f.code, next); label != "" {
				if colon := skipBlank(f.code, next+len(label)); colon < len(f.code) && f.code[colon] == ':' {
					continue
				}
			}
			hits = append(hits, hit{line: f.lineAt(next)})
		}
	}
	return hits
}

// blockBefore reports whether a closing brace ends a block of statements, and no object or template expression.
func (f *File) blockBefore(close int) bool {
	open, ok := f.blocks.open[close]
	if !ok {
		return false
	}
	before := lastBefore(f.code, open)
	return before < 0 || strings.IndexByte("){};", f.code[before]) >= 0 || strings.HasSuffix(f.code[:before+1], "=>") ||
		lexer.IsWordByte(f.code[before])
}

var caseLabel = lazyregexp.New(`^case\s+`)

// jsDuplicateCases compares the labels of a switch that are literals or plain names.
func jsDuplicateCases(f *File) []hit {
	if f.blocks == nil || !f.blocks.balanced {
		return nil
	}
	seen := map[int]map[string]bool{} // labels by the switch's brace
	var hits []hit
	for at, open := range f.cases() {
		colon := strings.IndexByte(f.code[at:min(at+200, len(f.code))], ':')
		if colon < 0 {
			continue
		}
		label := f.squeezed(span{at, at + colon})
		if !caseLabel().MatchString(label) || strings.ContainsAny(f.code[at:at+colon], "({?") {
			continue
		}
		if seen[open] == nil {
			seen[open] = map[string]bool{}
		}
		if seen[open][label] {
			hits = append(hits, hit{line: f.lineAt(at)})
		}
		seen[open][label] = true
	}
	return hits
}

// cases yields the offsets of the word case, each with that of the bracket that is open there.
func (f *File) cases() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		var stack []int
		from := 0
		for at := range f.words("case") {
			for ; from < at; from++ {
				switch f.code[from] {
				case '(', '[', '{':
					stack = append(stack, from)
				case ')', ']', '}':
					stack = stack[:max(len(stack)-1, 0)]
				}
			}
			if len(stack) > 0 && !yield(at, stack[len(stack)-1]) {
				return
			}
		}
	}
}

var typeofComparison = lazyregexp.New(`\btypeof\s*\(?[\w$.\[\]]+\)?\s*[!=]==?\s*["'](_*)["']`)

func jsInvalidTypeof(f *File) []hit {
	var hits []hit
	for number := range f.linesWith("typeof") {
		for _, at := range typeofComparison().FindAllStringSubmatchIndex(f.CodeLine(number), -1) {
			start := f.starts[number-1]
			switch f.text[start+at[2] : start+at[3]] {
			case "undefined", "object", "boolean", "number", "string", "function", "symbol", "bigint", "unknown":
			default:
				hits = append(hits, hit{line: number})
			}
		}
	}
	return hits
}

var nanComparison = lazyregexp.New(`[=!]==?\s*(?:Number\.)?NaN\b|\bNaN\s*[=!]==?`)

func jsNaN(f *File) []hit { return f.matches(nanComparison(), "NaN") }

var negatedOperand = lazyregexp.New(`[(&|]\s*!\s*[A-Za-z_$][\w$.]*\s+(?:in|instanceof)\s`)

func jsNegatedOperands(f *File) []hit { return f.matches(negatedOperand(), " in ", " instanceof ") }

var asyncForEach = lazyregexp.New(`\.forEach\(\s*async\b`)

func jsAsyncForEach(f *File) []hit { return f.matches(asyncForEach(), ".forEach(") }

var asyncExecutor = lazyregexp.New(`\bnew\s+Promise(?:<.*>)?\(\s*async\b`)

func jsAsyncExecutors(f *File) []hit { return f.matches(asyncExecutor(), "Promise") }

var emptyCatch = lazyregexp.New(`\bcatch\s*(?:\([^()]*\)\s*)?\{\s*\}`)

// jsEmptyCatches takes a comment in the braces for a reason, and so a name like _; around a single statement it is
// mostly meant.
func jsEmptyCatches(f *File) []hit {
	if f.isTest() || f.blocks == nil {
		return nil
	}
	var hits []hit
	for at := range f.words("catch") {
		end := min(at+200, len(f.code))
		place := emptyCatch().FindStringIndex(f.code[at:end])
		if place == nil || place[0] != 0 || strings.Contains(f.text[at:at+place[1]], "/*") || strings.Contains(f.text[at:at+place[1]], "//") || strings.Contains(f.code[at:at+place[1]], "(_") {
			continue
		}
		close := lastBefore(f.code, at)
		if close < 0 {
			continue
		}
		if open, ok := f.blocks.open[close]; !ok || strings.Count(strings.TrimSpace(f.code[open+1:close]), "\n") < 2 {
			continue
		}
		hits = append(hits, hit{line: f.lineAt(at), endLine: f.lineAt(at + place[1] - 1)})
	}
	return hits
}
