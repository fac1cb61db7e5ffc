package lint

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/lexer"
)

var scriptEval = lazyregexp.New("(?:^|[^\\w.$])(?:(?:window|globalThis)\\.)?eval\\(\\s*[^)\"'`\\s]|\\bnew\\s+Function\\(\\s*[^)\"'\\s]|\\bset(?:Timeout|Interval)\\(\\s*[\"']_")

func jsEval(f *File) []hit {
	if f.isTest() {
		return nil
	}
	var hits []hit
	for _, h := range f.matches(scriptEval(), "eval(", "Function(", "setTimeout(", "setInterval(") {
		if line := f.CodeLine(h.line); !strings.Contains(line, "function eval(") && !strings.HasPrefix(strings.TrimSpace(line), "eval(") || strings.HasSuffix(strings.TrimSpace(line), ";") {
			hits = append(hits, h)
		}
	}
	return hits
}

// builtScript fits text that is put together with values: a "+" beside a string, or an expression in a template.
var builtScript = lazyregexp.New("[\"'`]\\s*\\+\\s*[\\w$(]|[\\w$)\\]]\\s*\\+\\s*[\"'`]|`_*\\$\\{")

var htmlAssignment = lazyregexp.New(`\.(?:innerHTML|outerHTML)\s*\+?=\s*([^=].*)|\.insertAdjacentHTML\((.*)|\bdocument\.write(?:ln)?\((.*)`)

// jsHTML looks for values put into HTML on one line, unless something there escapes or cleans them.
func jsHTML(f *File) []hit {
	if f.isTest() {
		return nil
	}
	var hits []hit
	for number := range f.linesWith("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write") {
		match := htmlAssignment().FindStringSubmatch(f.CodeLine(number))
		if match == nil {
			continue
		}
		value := match[1] + match[2] + match[3]
		lower := strings.ToLower(value)
		if !builtScript().MatchString(value) || strings.Contains(lower, "escape") || strings.Contains(lower, "sanitize") || strings.Contains(lower, "purify") || strings.Contains(lower, "encode") {
			continue
		}
		hits = append(hits, hit{line: number})
	}
	return hits
}

var execCall = lazyregexp.New(`(?:^|[^\w.$])(?:child_process\.|cp\.|childProcess\.)?(?:exec|execSync)\((.*)`)

// jsShell needs the import of child_process, since exec is the name of other things too.
func jsShell(f *File) []hit {
	if f.isTest() || !strings.Contains(f.text, "child_process") {
		return nil
	}
	var hits []hit
	for number := range f.linesWith("exec(", "execSync(") {
		match := execCall().FindStringSubmatch(f.CodeLine(number))
		if match != nil && builtScript().MatchString(firstArgument("("+match[1], 0)) {
			hits = append(hits, hit{line: number})
		}
	}
	return hits
}

var queryCall = lazyregexp.New(`\.(?:query|execute|exec|run|all|get|prepare|raw|unsafe|\$queryRawUnsafe|\$executeRawUnsafe)\(\s*["'` + "`" + `]`)

// jsSQL looks at the texts that a method of a database is called with. A template with a tag is not among them,
// since its tag makes the placeholders.
func jsSQL(f *File) []hit {
	if f.blocks == nil || !f.blocks.balanced || !hasSQL(f.text) {
		return nil
	}
	var hits []hit
	for _, at := range queryCall().FindAllStringIndex(f.code, -1) {
		open := at[0] + strings.IndexByte(f.code[at[0]:], '(')
		close, ok := f.blocks.close[open]
		if !ok {
			continue
		}
		argument := firstArgument(f.code[open:close+1], 0)
		written := f.text[open+1 : open+1+len(argument)]
		if builtScript().MatchString(argument) && sqlStart().MatchString(strings.Join(strings.Fields(written), " ")) && !onlyNames(written) {
			hits = append(hits, hit{line: f.lineAt(open + skipBlank(argument, 0) + 1)})
		}
	}
	return hits
}

// hasSQL keeps the search for calls away from files without a query.
func hasSQL(text string) bool {
	for _, word := range []string{"SELECT", "select ", "INSERT", "insert ", "UPDATE", "update ", "DELETE", "delete "} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

var putScriptName = lazyregexp.New(`(?i)\b(?:from|into|update|table|join)\s+["'` + "`" + `]?\$\{[^{}]*\}`)

// onlyNames reports whether all that is put into a query are names of tables, which no placeholder can take.
func onlyNames(written string) bool {
	rest := putScriptName().ReplaceAllString(written, "")
	return rest != written && !strings.Contains(rest, "${") && !strings.Contains(rest, "+")
}

var unauthorized = lazyregexp.New(`(?:^|[{,])\s*rejectUnauthorized\s*:\s*false\b|\bNODE_TLS_REJECT_UNAUTHORIZED["'\]]*\s*=\s*["']?_*0?["']?`)

func jsInsecureTLS(f *File) []hit {
	if f.isTest() {
		return nil
	}
	return f.matches(unauthorized(), "rejectUnauthorized", "NODE_TLS_REJECT_UNAUTHORIZED")
}

var (
	debuggerStatement = lazyregexp.New(`^\s*debugger\s*;?\s*$`)
	consoleCall       = lazyregexp.New(`^\s*console\.(?:log|debug|info|warn|error|dir|trace)\((.*)\)\s*;?\s*$`)
)

// jsDebugPrints looks for debugger statements and prints whose text gives them away, each alone on its line.
func jsDebugPrints(f *File) []hit {
	if f.isTest() {
		return nil
	}
	var hits []hit
	for number := range f.linesWith("debugger", "console.") {
		code := f.CodeLine(number)
		start := f.starts[number-1]
		// Behind the parenthesis of an if the statement must not go away.
		removable := f.statementStart(start + len(code) - len(strings.TrimLeft(code, " \t")))
		if debuggerStatement().MatchString(code) {
			h := hit{line: number, message: "A debugger statement stops the program wherever a debugger is attached. Remove it."}
			if removable {
				h.edit = f.removeLines(number, number)
			}
			hits = append(hits, h)
			continue
		}
		at := consoleCall().FindStringSubmatchIndex(code)
		if at == nil || closing(code, strings.IndexByte(code, '(')) != at[3] {
			continue
		}
		written := strings.TrimSpace(f.text[start+at[2] : start+at[3]])
		if written == "" || strings.IndexByte("\"'`", written[0]) < 0 {
			continue
		}
		end := strings.IndexByte(written[1:], written[0])
		if end < 0 || !debugWords().MatchString(written[1:1+end]) {
			continue
		}
		h := hit{line: number}
		if removable && strings.Count(code, "(") == 1 && f.Line(number) == code[:at[0]]+f.text[start+at[0]:start+at[1]] {
			h.edit = f.removeLines(number, number)
		}
		hits = append(hits, h)
	}
	return hits
}

// duplicateKeys compares the plain keys of each object of a script or dictionary of Python: names and strings
// before a colon, on the object's own level.
func duplicateKeys(f *File) []hit {
	var hits []hit
	type object struct {
		keys map[string]bool
		// fresh is true where a key may stand: behind the brace and behind each comma.
		fresh bool
		brace bool
	}
	var stack []object
	for at := 0; at < len(f.code); at++ {
		switch c := f.code[at]; {
		case c == '{' || c == '(' || c == '[':
			o := object{brace: c == '{', fresh: true}
			if o.brace && !f.objectAt(at) {
				o.brace = false
			}
			stack = append(stack, o)
		case c == '}' || c == ')' || c == ']':
			if len(stack) > 0 {
				stack = stack[:len(stack)-1]
			}
			if len(stack) > 0 {
				stack[len(stack)-1].fresh = false
			}
		case len(stack) == 0 || c == ' ' || c == '\n' || c == '\t':
		case c == ',':
			stack[len(stack)-1].fresh = true
		case stack[len(stack)-1].fresh && stack[len(stack)-1].brace:
			top := &stack[len(stack)-1]
			top.fresh = false
			key, end := f.keyAt(at)
			if key == "" {
				continue
			}
			if top.keys == nil {
				top.keys = map[string]bool{}
			}
			if top.keys[key] {
				hits = append(hits, hit{line: f.lineAt(at), message: "The key " + key + " stands in the same object already, and the later value wins. Remove one of them."})
			}
			top.keys[key] = true
			at = end - 1
		default:
			stack[len(stack)-1].fresh = false
		}
	}
	return hits
}

// objectAt reports whether an opening brace begins an object and no block, by what stands before it.
func (f *File) objectAt(at int) bool {
	if f.Language == Python {
		return true
	}
	before := lastBefore(f.code, at)
	if before < 0 {
		return false
	}
	if strings.IndexByte("(,=[:?", f.code[before]) >= 0 {
		// Behind a colon it may be the type of a parameter or a label's block; those have no doubled keys.
		return !strings.HasSuffix(f.code[:before+1], "=>")
	}
	return lexer.WordBefore(f.code, before+1) == "return"
}

// keyAt returns the key at an offset, as it would be written with quotes, and the offset behind it; "" if what
// stands there is no plain key with a colon.
func (f *File) keyAt(at int) (string, int) {
	end := at
	if c := f.code[at]; c == '"' || c == '\'' {
		end++
		for end < len(f.code) && f.code[end] != c {
			end++
		}
		if end++; end > len(f.code) {
			return "", at
		}
	} else {
		end += len(wordAt(f.code, at))
	}
	if end == at {
		return "", at
	}
	colon := skipBlank(f.code, end)
	if colon >= len(f.code) || f.code[colon] != ':' {
		return "", at
	}
	key := f.text[at:end]
	if key[0] != '"' && key[0] != '\'' {
		if f.Language == Python {
			return "", at // a name stands for its value there
		}
		return key, end
	}
	if f.Language == Python {
		return key, end
	}
	return strings.Trim(key, `"'`), end
}
