package lint

import (
	"regexp"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

const shellMessage = "A shell gets a command that is put together from values, which invites injection. "

// callRules are about calls with a text that is put together from values, where the values should be separate
// arguments.
var callRules = []Rule{
	{
		Name: "sql-concatenation", Languages: Go | Python | scripts, Severity: Warning,
		Message: "The query is put together from text and values, which invites SQL injection. Use placeholders and " +
			"pass the values as arguments.",
		same:  []string{"G201", "G202", "S608"},
		check: shipped(built{call: query, words: sqlWords, sql: true}.hits),
	},
	{
		Name: "shell-injection", Languages: Go, Severity: Warning,
		Message: shellMessage + "Run the program directly with its arguments.",
		same:    []string{"G204"}, check: shipped(built{call: goShell, words: []string{"os/exec"}}.hits),
	},
	{
		Name: "shell-injection", Languages: Python, Severity: Warning,
		Message: shellMessage + "Use subprocess.run with a list of arguments.",
		same:    []string{"S602", "S605", "S604"}, check: shipped(pyShell),
	},
	{
		Name: "shell-injection", Languages: scripts, Severity: Warning,
		Message: shellMessage + "Use execFile or spawn with a list of arguments.",
		// Without this import, exec is another function.
		check: shipped(built{call: jsExec, words: []string{"child_process"}}.hits),
	},
	{
		Name: "download-to-shell", Languages: Shell, Severity: Warning, check: lines(download, "curl", "wget"),
		Message: "What is downloaded runs at once, unseen and even when it is cut off half-way. Download it to a " +
			"file, verify it, then run it.",
	},
	{
		Name: "dangerous-rm", Languages: Shell, Severity: Warning, check: shRemove, same: []string{"SC2115"},
		Message: "If this variable is empty or has blanks in it, rm deletes something else. Quote it, and let it " +
			"fail when it is empty: \"${NAME:?}\".",
	},
	{
		Name: "insecure-tls", Languages: Go | scripts | Python, Severity: Warning,
		Message: "The server's certificate is not verified, so anybody in between can read and change what is sent. " +
			"Name the right authorities instead: RootCAs, ca or verify.",
		same:  []string{"G402", "S501"},
		check: shipped(lines(unverified, "InsecureSkipVerify", "verif", "rejectUnauthorized", "NODE_TLS_REJECT")),
	},
}

// built is a call of which one argument must not be built from values.
type built struct {
	// call matches the text of a call up to that argument.
	call func() *regexp.Regexp
	// with matches the text that must follow the argument, if any.
	with func() *regexp.Regexp
	// words: each text with such calls contains one of them. Looking for words first means that few texts are matched.
	words []string
	sql   bool
}

// sqlWords: each query that takes values contains one of them.
var sqlWords = []string{"SELECT", "select ", "INSERT", "insert ", "UPDATE", "update ", "DELETE", "delete "}

var (
	// A template with a tag is no such query, since its tag makes the placeholders.
	query = lazyregexp.New(`\.(?:(?:Query|QueryRow|Exec|Prepare)Context\([^,()]*(?:\(\))?,|` +
		`(?:Query|QueryRow|Exec|Prepare|execute|executemany|executescript|query|exec|run|all|get|prepare|raw|unsafe|` +
		`\$queryRawUnsafe|\$executeRawUnsafe)\()`)

	goShell = lazyregexp.New(
		`\bexec\.Command(?:Context)?\((?:[^,()"]*(?:\(\))?,)?\s*"(?:/[\w/]*/)?(?:(?:ba|z|da)?sh|cmd)",` +
			`\s*"(?:-c|/[cC])",`)
	// pyCommand matches functions that give their first argument to a shell, pyProcess functions that do so if they are
	// told to.
	pyCommand = lazyregexp.New(`\b(?:os\.system|os\.popen|subprocess\.(?:getoutput|getstatusoutput))\(`)
	pyProcess = lazyregexp.New(`\b(?:subprocess\.)?(?:run|call|check_call|check_output|Popen)\(`)
	withShell = lazyregexp.New(`\bshell\s*=\s*True\b`)
	jsExec    = lazyregexp.New(`(?:^|[^\w.$])(?:child_process\.|cp\.|childProcess\.)?(?:exec|execSync)\(`)

	// removal matches an rm of folders; unguarded matches a variable in it that is bare, or quoted with a slash behind
	// it.
	removal = lazyregexp.New(
		`(?:^|[;&|]|\b(?:sudo|then|do|else)\s)\s*rm\s+(?:-[\w-]+\s+)*-\w*[rR]\w*\s+[^;|&)]*`)
	unguarded  = lazyregexp.New(`\s(?:[^\s"';|&$]*/)?\$(?:\{\w+\}|\w+)|\s"\$(?:\{\w+\}|\w+)"?/"?(?:[*.\s]|$)`)
	download   = lazyregexp.New(`\b(?:curl|wget)\b[^|;&]*\|\s*(?:sudo\s+(?:-\w+\s+)*)?(?:ba|z|da)?sh\b`)
	unverified = lazyregexp.New(`\bInsecureSkipVerify\s*[:=]\s*true\b|\bverify=False\b|` +
		`\bssl\._create_unverified_context\b|(?:^|[{,])\s*rejectUnauthorized\s*:\s*false\b|` +
		`\bNODE_TLS_REJECT_UNAUTHORIZED["'\]]*\s*=\s*["']?_*0?["']?`)

	// assembled matches the code of an argument that joins text and values.
	assembled = lazyregexp.New("[\"'`]\\s*\\+\\s*[\\w$(]|[\\w$)\\]]\\s*\\+\\s*[rb]?[\"'`]|`_*\\$\\{|" +
		"\\bfmt\\.Sprintf\\(|\\b[rR]?[fF][rR]?[\"']|[\"']\\s*%\\s*[\\w(]|[\"']\\.format\\(")
)

// shRemove finds removals of folders that are named by a variable, which may be empty.
func shRemove(f *File) (hits []hit) {
	for number := range f.linesWith("rm ") {
		at := removal().FindStringIndex(f.CodeLine(number))
		if at != nil && unguarded().MatchString(f.Line(number)[at[0]:at[1]]) {
			hits = append(hits, hit{line: number})
		}
	}
	return hits
}

func pyShell(f *File) []hit {
	hits := built{call: pyCommand, words: []string{"os.", "subprocess"}}.hits(f)
	return append(hits, built{call: pyProcess, with: withShell, words: []string{"shell"}}.hits(f)...)
}

// hits finds the calls in the text, since some are recognized by a text in them, and checks the argument in the code.
func (b built) hits(f *File) []hit {
	if !slices.ContainsFunc(b.words, func(word string) bool { return strings.Contains(f.text, word) }) {
		return nil
	}
	var hits []hit
	for _, at := range b.call().FindAllStringIndex(f.text, -1) {
		if f.code[at[0]] != f.text[at[0]] || f.code[at[1]-1] != f.text[at[1]-1] {
			continue // the call is in a comment or a string
		}
		end := argumentEnd(f.code, at[1])
		if !assembled().MatchString(f.code[at[1]:end]) || !b.putsIn(f.text[at[1]:end]) {
			continue
		}
		if b.with != nil && !b.with().MatchString(f.code[end:argumentsEnd(f.code, end)]) {
			continue
		}
		hits = append(hits, hit{line: f.lineAt(at[0] + 1), endLine: f.lineAt(end - 1)})
	}
	return hits
}

var (
	sqlStart = lazyregexp.New(
		"(?is)^(?:[rbf]{0,2}|fmt\\.Sprintf\\()[\\s(\"'`]*" +
			"(?:select\\b.+\\bfrom\\b|insert\\s+into\\b|update\\b.+\\bset\\b|delete\\s+from\\b)")
	// tableName matches a place in a query where only a name can stand, so that no placeholder can be used.
	tableName = lazyregexp.New(
		"(?i)\\b(?:from|into|update|table|join)\\s+(?:[\"'`]?(?:\\$?\\{[^{}]*\\}|%s)|[\"'`]\\s*[+%]\\s*[\\w.]+)")
	// putIn matches a value behind an operator, in braces, or as an argument of a formatting function.
	putIn = lazyregexp.New(
		"[+,%]\\s*\\(?([A-Za-z_$][\\w$.]*)|\\{([A-Za-z_$][\\w$.]*)|([A-Za-z_$][\\w$.]*)[)\\]]*\\s*\\+|(\\.format\\()")
	// numeric matches a format that accepts only numbers.
	numeric = lazyregexp.New(`%[-+ 0-9.]*[dxfgeEX]`)
	// structural matches names that stand for parts of queries and not for values.
	structural = lazyregexp.New(`(?i)table|column|field|where|order|placeholder|schema|clause|sql|query|join|limit|` +
		`cond|stmt|part|prefix|suffix|cols|marks|set`)
)

// putsIn reports whether values are put into a text. In a query, tables and names of constants do not count, and the
// text must begin like a query.
func (b built) putsIn(written string) bool {
	if b.sql {
		if written = strings.TrimSpace(written); !sqlStart().MatchString(written) {
			return false
		}
		written = tableName().ReplaceAllString(written, "")
	}
	if numeric().MatchString(written) && !strings.Contains(written, "%s") && !strings.Contains(written, "%v") {
		return false
	}
	for _, match := range putIn().FindAllStringSubmatch(strings.ReplaceAll(written, "{{", ""), -1) {
		name := match[1] + match[2] + match[3] + match[4]
		constant := name == strings.ToUpper(name) && len(name) > 1
		if !b.sql || !constant && !structural().MatchString(name) {
			return true
		}
	}
	return false
}

// argumentEnd returns the offset behind the argument that begins at an offset; argumentsEnd the one behind the last
// argument.
func argumentEnd(code string, at int) int  { return argument(code, at, ',') }
func argumentsEnd(code string, at int) int { return argument(code, at, ')') }

func argument(code string, at int, end byte) int {
	depth := 0
	for i := at; i < len(code); i++ {
		switch c := code[i]; {
		case depth == 0 && (c == end || strings.IndexByte(")]}", c) >= 0):
			return i
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		}
	}
	return len(code)
}
