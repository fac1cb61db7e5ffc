// Package lint finds mistakes in texts by rules, without compiling or running them: secrets, merge conflicts, dropped
// errors, calls that invite injection. It goes line by line, by what the lexer calls code. What go vet, ruff,
// shellcheck and eslint report without being asked to, it leaves to them, since the tool diagnostics runs them. Where
// one of them has said the same as a rule, [Combine] keeps its words.
package lint

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Severity is that of a diagnostic, as report_finding names it.
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

// LanguageOf goes by the file's name alone; it is Other where that tells nothing.
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
	// same are parts of codes or messages of checkers that mean the same thing, in lower case.
	same  []string
	check func(*File) []hit
}

// Rules lists the rules in the order of their diagnostics on one line.
func Rules() []Rule {
	return slices.Concat(textRules, secretRules, goRules, scriptRules, pythonRules, callRules, printRules)
}

// lines makes the check of a rule for each line of code that an expression fits and that has one of the words in it.
func lines(expression func() *regexp.Regexp, words ...string) func(*File) []hit {
	return func(f *File) []hit { return f.matches(expression(), words...) }
}

// shipped makes the check of a rule that leaves tests, examples and fixtures alone.
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
	// line and endLine count from 1; an endLine of 0 is the same line.
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
	// Rule is the rule's name or the checker's code, Source who says it.
	Rule, Message, Source string
	// Fix is set by [File.Fix] where there is a safe one.
	Fix *Fix

	// same is that of its rule.
	same []string
	edit *edit
}

// Fix is an edit in the form of the tools: OldString occurs exactly once in the file.
type Fix struct {
	OldString string `json:"old_string"`
	NewString string `json:"new_string"`
}

// Source is that of the diagnostics of the rules.
const Source = "agentls rules"

// Check applies all rules for the file's language. The diagnostics are sorted by line; no rule has two on one line.
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

// Combine puts the checkers' diagnostics and those of the rules together, sorted by line. Where both say the same, the
// checker's words stay and get the rule's fix.
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

// means reports whether a checker's diagnostic says what the rule says.
func (d Diagnostic) means(checked Diagnostic) bool {
	return slices.ContainsFunc(d.same, func(word string) bool {
		return strings.EqualFold(checked.Rule, word) || len(word) > 6 &&
			strings.Contains(strings.ToLower(checked.Message), word)
	})
}
