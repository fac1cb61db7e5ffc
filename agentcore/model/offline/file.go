package offline

import (
	"cmp"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
)

// file is a text that rules look at.
type file struct {
	path     string
	language language
	// text has \n as its line endings and none behind the last line.
	text string
	// starts are the byte offsets where the lines begin.
	starts []int
	// today is the date of the run, "2006-01-02", or empty.
	today string
	// whole is false if lines are missing or cut; then nothing is said that depends on the rest.
	whole bool

	lexed

	// goSyntax is nil for other languages and for invalid Go.
	goSyntax *goFile
	// logical are the logical lines of Python.
	logical []logicalLine
	// blocks are the brackets of a script.
	blocks *brackets
}

// newFile prepares a text for the rules.
func newFile(name, text string) *file {
	f := &file{path: name, language: languageOf(name), text: text, starts: []int{0}, whole: true}
	for i := range len(text) {
		if text[i] == '\n' {
			f.starts = append(f.starts, i+1)
		}
	}
	if f.language == other && strings.HasPrefix(text, "#!") {
		f.language = interpreter(f.line(1))
	}
	f.lexed = lex(f.language, text)
	switch f.language {
	case golang:
		f.goSyntax = parseGo(name, text)
	case python:
		f.logical = logicalLines(f)
	case javascript, typescript:
		f.blocks = findBrackets(f.code)
	}
	return f
}

// codeLine returns a line of the code, without comments and what stands in strings.
func (f *file) codeLine(number int) string {
	start := f.starts[number-1]
	if number < len(f.starts) {
		return f.code[start : f.starts[number]-1]
	}
	return f.code[start:]
}

// linesWith yields the numbers of the lines whose code has one of the words in it.
func (f *file) linesWith(words ...string) iter.Seq[int] { return f.containing(f.code, words) }

// containing yields the numbers of the lines that have one of the words in them, in order. The text is the file's
// or its code. Looking for plain words first keeps regular expressions away from most lines.
func (f *file) containing(text string, words []string) iter.Seq[int] {
	return func(yield func(int) bool) {
		next := make([]int, len(words))
		for i := range next {
			next[i] = -1
		}
		for at := 0; at < len(text); {
			first := len(text)
			for i, word := range words {
				if next[i] < at {
					found := strings.Index(text[at:], word)
					if found < 0 {
						next[i] = len(text)
					} else {
						next[i] = at + found
					}
				}
				first = min(first, next[i])
			}
			if first == len(text) {
				return
			}
			number := f.lineAt(first)
			if !yield(number) {
				return
			}
			if number == len(f.starts) {
				return
			}
			at = f.starts[number]
		}
	}
}

// matches finds the lines that have one of the words and that the expression fits, in the code.
func (f *file) matches(expression *regexp.Regexp, words ...string) []hit {
	var hits []hit
	for number := range f.linesWith(words...) {
		if expression.MatchString(f.codeLine(number)) {
			hits = append(hits, hit{line: number})
		}
	}
	return hits
}

// squeezed returns a part of the text with each run of blanks as one, to compare it by.
func (f *file) squeezed(s span) string {
	return strings.Join(strings.Fields(f.text[s.start:s.end]), " ")
}

// interpreter returns the language that a "#!" line names.
func interpreter(line string) language {
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '/' || r == '\t' }) {
		switch name := strings.TrimRight(word, "0123456789."); name {
		case "sh", "bash", "dash", "ksh":
			return shell
		case "python":
			return python
		case "node":
			return javascript
		}
	}
	return other
}

// line returns the text of a line, counted from 1, without its ending.
func (f *file) line(number int) string {
	start := f.starts[number-1]
	if number < len(f.starts) {
		return f.text[start : f.starts[number]-1]
	}
	return f.text[start:]
}

// lineAt returns the number of the line, from 1, that holds a byte offset.
func (f *file) lineAt(offset int) int {
	at, found := slices.BinarySearch(f.starts, offset)
	if found {
		return at + 1
	}
	return at
}

// isTest reports whether the file is a test, an example or a fixture, where made-up secrets and odd code belong.
func (f *file) isTest() bool {
	lower := "/" + strings.ToLower(f.path)
	for _, folder := range []string{"/test/", "/tests/", "/testdata/", "/testing/", "/__tests__/", "/spec/", "/specs/", "/fixtures/", "/fixture/", "/mocks/", "/__mocks__/", "/examples/", "/example/", "/_examples/", "/benchmarks/", "/benchmark/", "/bench/"} {
		if strings.Contains(lower, folder) {
			return true
		}
	}
	base := path.Base(lower)
	return strings.Contains(base, "_test.") || strings.HasPrefix(base, "test_") || strings.Contains(base, ".test.") || strings.Contains(base, ".spec.") || base == "conftest.py"
}

// comment reports whether a comment begins on one of the lines.
func (f *file) comment(first, last int) bool {
	from, to := f.starts[max(first, 1)-1], len(f.text)
	if last < len(f.starts) {
		to = f.starts[last]
	}
	at, _ := slices.BinarySearchFunc(f.comments, from, func(c span, offset int) int { return cmp.Compare(c.start, offset) })
	return at < len(f.comments) && f.comments[at].start < to
}

// isGenerated reports whether a program wrote the file, or squeezed it: then nobody reads it line by line.
func (f *file) isGenerated() bool {
	const wide = 200 // bytes of an average line
	head := f.text[:min(len(f.text), 2000)]
	return strings.Contains(f.path, ".min.") || len(f.text) > wide*len(f.starts) ||
		strings.Contains(head, "Code generated ") && strings.Contains(head, "DO NOT EDIT") || strings.Contains(head, "@"+"generated")
}

// removeLines is the edit that takes whole lines away, from 1, inclusive.
func (f *file) removeLines(first, last int) *edit {
	e := &edit{start: f.starts[first-1], end: len(f.text)}
	if last < len(f.starts) {
		e.end = f.starts[last]
	} else if e.start > 0 {
		e.start-- // the last line goes with the line ending before it
	}
	return e
}

// removeStatement is the edit that takes away the lines of a statement, or nil if something else stands on them.
func (f *file) removeStatement(start, end int) *edit {
	first, last := f.lineAt(start), f.lineAt(end)
	before := f.text[f.starts[first-1]:start]
	behind := f.text[end : f.starts[last-1]+len(f.line(last))]
	if strings.TrimSpace(before) != "" || strings.Trim(behind, " \t;") != "" {
		return nil
	}
	return f.removeLines(first, last)
}

// fixContext is how many lines around an edit are taken in to make its old_string unique.
const fixContext = 4

// fixes turns the edits of findings into the form of the tools, from the last line to the first, which is the
// order to apply them in. An edit that cannot be made unique, or that touches another one, is left out: its
// finding stays without a fix.
func (f *file) fixes(found []finding) {
	after := f.text // with the fixes so far
	limit := len(f.starts) + 1
	for i := len(found) - 1; i >= 0; i-- {
		if found[i].edit == nil {
			continue
		}
		made, first := f.unique(*found[i].edit, limit)
		if made == nil || made.OldString == made.NewString || occurrences(after, made.OldString) != 1 {
			continue
		}
		after = strings.Replace(after, made.OldString, made.NewString, 1)
		found[i].fix = made
		limit = first
	}
}

// unique widens an edit to whole lines, and on until its text occurs once. It stays before the line limit. It
// returns the fix and its first line.
func (f *file) unique(e edit, limit int) (*fix, int) {
	if e.start < 0 || e.end < e.start || e.end > len(f.text) {
		return nil, 0
	}
	first, last := f.lineAt(e.start), f.lineAt(e.end)
	if e.end > e.start && e.end == f.starts[last-1] {
		last-- // whole lines go away: the next one has no part in it
	}
	if last >= limit {
		return nil, 0
	}
	for grown := 0; grown <= fixContext; grown++ {
		from, to := max(first-grown, 1), min(last+grown, limit-1, len(f.starts))
		start, end := f.starts[from-1], max(f.starts[to-1]+len(f.line(to)), e.end)
		if old := f.text[start:end]; old != "" && occurrences(f.text, old) == 1 {
			return &fix{OldString: old, NewString: f.text[start:e.start] + e.text + f.text[e.end:end]}, from
		}
	}
	return nil, 0
}

// occurrences counts those that overlap too, up to 2.
func occurrences(text, part string) int {
	at := strings.Index(text, part)
	if at < 0 || part == "" {
		return 0
	}
	if strings.Contains(text[at+1:], part) {
		return 2
	}
	return 1
}
