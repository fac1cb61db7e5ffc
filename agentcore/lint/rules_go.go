package lint

import (
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// The rules leave out what go vet and the compiler report.
var goRules = []Rule{
	{
		Name: "dropped-error", Languages: Go, Severity: Warning, check: shipped(goDroppedErrors),
		Message: "The error of this call is dropped.",
		same:    []string{"errcheck"},
	},
	{
		Name: "defer-in-loop", Languages: Go, Severity: Warning, check: shipped(goDeferInLoop),
		Message: "The deferred call runs at the end of the function, not of each round, so that what it releases " +
			"piles up. Move the body of the loop into a function.",
	},
}

var (
	// droppedValue matches functions of the standard library that return a value and an error. After an error, the
	// value is useless, so that a blank identifier is seldom intended.
	droppedValue = lazyregexp.New(`^\s*\w+,\s*_\s*:?=\s*(strconv\.(?:Atoi|Parse(?:Int|Uint|Float)|Unquote)|` +
		`os\.(?:Open|Create|OpenFile|ReadFile|ReadDir|CreateTemp|MkdirTemp|Stat|Lstat)|io\.ReadAll|` +
		`http\.(?:Get|Post|NewRequest|NewRequestWithContext)|url\.(?:Parse|QueryUnescape|PathUnescape)|` +
		`time\.(?:Parse(?:Duration|InLocation)?|LoadLocation)|rand\.(?:Read|Int)|regexp\.(?:Compile|MatchString))\(`)
	// surely matches arguments with which a call does not fail unexpectedly: literals, and groups of an expression's
	// match.
	surely = lazyregexp.New("^(?:[\"`]_*[\"`]|\\d+|(?:m|match\\w*|sub\\w*)\\[\\d+\\]|,\\s*)*\\)")
	// lostWork matches functions that return only an error, which may mean lost work.
	lostWork = lazyregexp.New(`^\s*(os\.(?:WriteFile|Rename|MkdirAll|Mkdir|Chdir|Truncate|Link|Symlink)|` +
		`(?:json|xml)\.Unmarshal|io\.(?:Copy|CopyN|ReadFull)|http\.ListenAndServe(?:TLS)?)\(`)
	// memory matches a first argument to which writing never fails.
	memory = lazyregexp.New(`^(?:&|io\.Discard\b)`)
)

// goDroppedErrors checks calls of functions of the standard library. A comment on the line or the one above says that
// the error is dropped on purpose.
func goDroppedErrors(f *File) []hit {
	var hits []hit
	for number := range f.linesWith(", _ ", "os.", "Unmarshal(", "io.", "http.") {
		code := f.CodeLine(number)
		consequence, harmless := "on as a zero value", surely
		at := droppedValue().FindStringSubmatchIndex(code)
		if at == nil {
			consequence, harmless = "unnoticed", memory
			at = lostWork().FindStringSubmatchIndex(code)
		}
		if at == nil || harmless().MatchString(code[at[1]:]) || f.comment(number-1, number) {
			continue
		}
		hits = append(hits, hit{line: number, message: fmt.Sprintf(
			"The error of %s is dropped, so a failure goes %s. Check it.", code[at[2]:at[3]], consequence)})
	}
	return hits
}

var releasing = lazyregexp.New(
	`^\s*defer\s.*\.(?:Close|Unlock|RUnlock|Release|Free|Stop|Remove|RemoveAll|Done|Rollback)\(`)

// goDeferInLoop checks calls that release something. It relies on gofmt's indentation: the first loop or function above
// with less indentation is the one around the call. In a test, the few calls that accumulate do no harm.
func goDeferInLoop(f *File) []hit {
	var hits []hit
	for number := range f.linesWith("defer ") {
		if !releasing().MatchString(f.CodeLine(number)) {
			continue
		}
		depth := indent(f.CodeLine(number))
		for above := number - 1; above > 0 && depth > 0; above-- {
			code := strings.TrimSpace(f.CodeLine(above))
			if code == "" || indent(f.CodeLine(above)) >= depth {
				continue
			}
			depth = indent(f.CodeLine(above))
			if strings.Contains(code, "func(") || strings.HasPrefix(code, "func ") {
				break
			}
			if strings.HasPrefix(code, "for ") {
				hits = append(hits, hit{line: number})
				break
			}
		}
	}
	return hits
}
