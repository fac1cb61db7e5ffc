// Package lint finds mistakes in texts by rules, without compiling or running them: secrets, merge conflicts, dropped
// errors, calls that invite injection. It works line by line, on what the lexer calls code. It leaves out what go vet,
// ruff, shellcheck and eslint report by default, since the tool diagnostics runs them. If one of them reports the same
// as a rule, [Combine] keeps that program's words.
package lint

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Severity is the severity of a diagnostic, by the names of report_finding.
type Severity string

// The severities, the worst first.
const (
	Error       Severity = "error"
	Warning     Severity = "warning"
	Information Severity = "information"
	Hint        Severity = "hint"
)

// Language is a set of languages as bits, so that a rule can be for several.
type Language uint16

// The languages that rules know.
const (
	Go Language = 1 << iota
	JavaScript
	TypeScript
	Python
	Shell
	Prose // Markdown and plain text
	Data  // JSON, YAML, TOML and the like
	Other // anything else

	scripts = JavaScript | TypeScript
	code    = Go | scripts | Python | Shell
	all     = code | Prose | Data | Other
)

var languages = map[string]Language{
	".go": Go, ".js": JavaScript, ".mjs": JavaScript, ".cjs": JavaScript, ".jsx": JavaScript,
	".ts": TypeScript, ".mts": TypeScript, ".cts": TypeScript, ".tsx": TypeScript,
	".py": Python, ".pyi": Python, ".pyw": Python,
	".sh": Shell, ".bash": Shell, ".bats": Shell, ".ksh": Shell,
	".md": Prose, ".markdown": Prose, ".txt": Prose, ".rst": Prose, ".adoc": Prose,
	".json": Data, ".jsonc": Data, ".yaml": Data, ".yml": Data, ".toml": Data, ".ini": Data, ".cfg": Data,
	".conf": Data, ".properties": Data, ".env": Data,
}

// LanguageOf knows the language by the file's name; it is Other if the name does not tell it.
func LanguageOf(name string) Language {
	if found, ok := languages[strings.ToLower(path.Ext(name))]; ok {
		return found
	}
	return Other
}

// Rule is one kind of mistake that is looked for.
type Rule struct {
	// Name is in kebab case; rules of the same name for different languages mean the same.
	Name      string
	Languages Language
	Severity  Severity
	// Message says what is wrong and what to do; a hit may have its own.
	Message string
	// same are parts of checkers' codes or messages that mean the same as the rule, in lower case.
	same  []string
	check func(*File) []hit
}

// Rules lists the rules. Diagnostics on one line are in this order.
func Rules() []Rule {
	return slices.Concat(textRules, secretRules, goRules, scriptRules, pythonRules, callRules, printRules)
}

// lines makes a check that hits each line of code that contains one of the words and matches the expression.
func lines(expression func() *regexp.Regexp, words ...string) func(*File) []hit {
	return func(f *File) []hit { return f.matches(expression(), words...) }
}

// shipped makes a check that skips tests, examples and fixtures.
func shipped(check func(*File) []hit) func(*File) []hit {
	return func(f *File) []hit {
		if IsTest(f.path) {
			return nil
		}
		return check(f)
	}
}

// hit is one place where a rule applies.
type hit struct {
	// line and endLine count from 1; an endLine of 0 means the same line.
	line, endLine int
	// message replaces that of the rule where it is not empty.
	message string
	// severity replaces that of the rule where it is not empty.
	severity Severity
	// edit is the safe fix, or nil.
	edit *edit
}

// edit replaces the bytes from start to end of a file's text.
type edit struct {
	start, end int
	text       string
}

// Diagnostic is what a rule or a checker says about lines of a file.
type Diagnostic struct {
	// Line and EndLine count from 1, both inclusive.
	Line, EndLine int
	Severity      Severity
	// Rule is the rule's name or the checker's code, Source the name of the program that reports it.
	Rule, Message, Source string
	// Fix is set by [File.Fix] if there is a safe one.
	Fix *Fix

	// same is the rule's same.
	same []string
	edit *edit
}

// Fix is an edit in the form of the tools: OldString occurs exactly once in the file.
type Fix struct {
	OldString string `json:"old_string"`
	NewString string `json:"new_string"`
}

// Source is the source of the rules' diagnostics.
const Source = "agentls rules"

// Check applies all rules for the file's language. The diagnostics are sorted by line; a rule reports a line only once.
func (f *File) Check() []Diagnostic {
	var found []Diagnostic
	generated := f.isGenerated()
	for _, r := range Rules() {
		if r.Languages&f.Language == 0 || generated && r.Severity != Error {
			continue
		}
		lines := map[int]bool{}
		for _, h := range r.check(f) {
			if h.line < 1 || h.line > len(f.starts) || lines[h.line] {
				continue
			}
			lines[h.line] = true
			found = append(found, Diagnostic{
				Line: h.line, EndLine: min(max(h.line, h.endLine), len(f.starts)),
				Severity: cmp.Or(h.severity, r.Severity),
				Rule:     r.Name, Message: cmp.Or(h.message, r.Message), Source: Source, same: r.same, edit: h.edit,
			})
		}
	}
	sortByLine(found)
	return found
}

func sortByLine(list []Diagnostic) {
	slices.SortStableFunc(list, func(a, b Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
}

// Combine joins the checkers' diagnostics and those of the rules, sorted by line. If both report the same, the
// checker's words are kept with the rule's fix.
func Combine(checked, own []Diagnostic) []Diagnostic {
	out := slices.Clone(checked)
	for _, d := range own {
		twin := slices.IndexFunc(out[:len(checked)], func(o Diagnostic) bool {
			return o.Line >= d.Line && (o.Line <= d.EndLine || o.Line == d.Line) && d.means(o)
		})
		switch {
		case twin < 0:
			out = append(out, d)
		case out[twin].edit == nil:
			out[twin].edit = d.edit
		}
	}
	sortByLine(out)
	return out
}

// means reports whether a checker's diagnostic reports the same as the rule.
func (d Diagnostic) means(checked Diagnostic) bool {
	return slices.ContainsFunc(d.same, func(word string) bool {
		return strings.EqualFold(checked.Rule, word) || len(word) > 6 &&
			strings.Contains(strings.ToLower(checked.Message), word)
	})
}
