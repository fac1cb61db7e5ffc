package offline

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// severity is as report_finding names it.
type severity string

const (
	failure     severity = "error"
	warning     severity = "warning"
	information severity = "information"
	hint        severity = "hint"
)

// language is a set of languages as bits, so that a rule can be for several.
type language uint16

const (
	golang language = 1 << iota
	javascript
	typescript
	python
	shell
	prose // Markdown and plain text
	data  // JSON, YAML, TOML and the like
	other // anything else

	scripts = javascript | typescript
	code    = golang | scripts | python | shell
	all     = code | prose | data | other
)

var languages = map[string]language{
	".go": golang, ".js": javascript, ".mjs": javascript, ".cjs": javascript, ".jsx": javascript,
	".ts": typescript, ".mts": typescript, ".cts": typescript, ".tsx": typescript,
	".py": python, ".pyi": python, ".pyw": python,
	".sh": shell, ".bash": shell, ".bats": shell, ".ksh": shell,
	".md": prose, ".markdown": prose, ".txt": prose, ".rst": prose, ".adoc": prose,
	".json": data, ".jsonc": data, ".yaml": data, ".yml": data, ".toml": data, ".ini": data, ".cfg": data, ".conf": data, ".properties": data, ".env": data,
}

// languageOf goes by the file's name alone.
func languageOf(name string) language {
	if found, ok := languages[strings.ToLower(path.Ext(name))]; ok {
		return found
	}
	return other
}

// rule is one of the own rules.
type rule struct {
	name      string
	languages language
	severity  severity
	// message says what is wrong and what to do; a hit may have its own.
	message string
	// same are parts of codes or messages of checkers that mean the same thing, in lower case.
	same  []string
	check func(*file) []hit
}

// hit is one place where a rule applies.
type hit struct {
	// line and endLine count from 1; an endLine of 0 is the same line.
	line, endLine int
	// message replaces that of the rule where it is not empty.
	message string
	// severity replaces that of the rule where it is not empty.
	severity severity
	// edit is the safe fix, or nil.
	edit *edit
}

// edit replaces the bytes from start to end of a file's text.
type edit struct {
	start, end int
	text       string
}

// finding is a hit of a rule or a checker's diagnostic, ready to be reported.
type finding struct {
	line, endLine int
	severity      severity
	rule          string
	message       string
	source        string
	// same is that of its rule.
	same []string
	edit *edit
	fix  *fix
}

// fix is an edit in the form of the tools: old_string occurs exactly once in the file.
type fix struct {
	OldString string `json:"old_string"`
	NewString string `json:"new_string"`
}

// ownSource is the source of the findings of the own rules.
const ownSource = "agentls rules"

// ruleTable lists the rules in the order of their hits on one line.
func ruleTable() []rule {
	return slices.Concat(textRules, secretRules, goRules, scriptRules, pythonRules, shellRules)
}

// check applies all rules for the file's language. The findings are sorted by line; no rule has two on one line.
func (f *file) check() []finding {
	var found []finding
	generated := f.isGenerated()
	for _, r := range ruleTable() {
		if r.languages&f.language == 0 || generated && r.severity != failure {
			continue
		}
		lines := map[int]bool{}
		for _, h := range r.check(f) {
			if h.line < 1 || h.line > len(f.starts) || lines[h.line] {
				continue
			}
			lines[h.line] = true
			found = append(found, finding{
				line: h.line, endLine: min(max(h.line, h.endLine), len(f.starts)), severity: cmp.Or(h.severity, r.severity),
				rule: r.name, message: cmp.Or(h.message, r.message), source: ownSource, same: r.same, edit: h.edit,
			})
		}
	}
	slices.SortStableFunc(found, func(a, b finding) int { return cmp.Compare(a.line, b.line) })
	return found
}
