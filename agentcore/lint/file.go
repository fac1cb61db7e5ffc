package lint

import (
	"cmp"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
)

// File is a text that rules check. It is never changed.
type File struct {
	path     string
	Language Language
	// text has \n as its line endings, and no line ending after the last line.
	text string
	// starts are the byte offsets where the lines begin.
	starts []int
	lexed
}

// NewFile prepares a text for the rules. It makes all line endings \n, and removes the one after the last line.
func NewFile(name, text string) *File {
	f := &File{path: name, Language: LanguageOf(name), text: text, starts: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			f.starts = append(f.starts, i+1)
		}
	}
	if f.Language == Other && strings.HasPrefix(text, "#!") {
		f.Language = interpreter(f.Line(1))
	}
	f.lexed = lex(f.Language, text)
	return f
}

// CodeLine returns a line of the code, counted from 1, without comments and the contents of strings.
func (f *File) CodeLine(number int) string { return f.lineOf(f.code, number) }

// Line returns the text of a line, counted from 1, without its ending.
func (f *File) Line(number int) string { return f.lineOf(f.text, number) }

// lineOf returns a line of the file's text or of its code.
func (f *File) lineOf(text string, number int) string {
	start := f.starts[number-1]
	if number < len(f.starts) {
		return text[start : f.starts[number]-1]
	}
	return text[start:]
}

// linesWith yields the numbers of the lines whose code contains one of the words.
func (f *File) linesWith(words ...string) iter.Seq[int] { return f.containing(f.code, words) }

// containing yields the numbers of the lines that contain one of the words, in order. The text is the file's text or
// its code. Since plain words are looked for first, regular expressions are applied to few lines.
func (f *File) containing(text string, words []string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for number := 1; number <= len(f.starts); number++ {
			has := func(word string) bool { return strings.Contains(f.lineOf(text, number), word) }
			if slices.ContainsFunc(words, has) && !yield(number) {
				return
			}
		}
	}
}

// matches finds the lines whose code contains one of the words and matches the expression.
func (f *File) matches(expression *regexp.Regexp, words ...string) []hit {
	var hits []hit
	for number := range f.linesWith(words...) {
		if expression.MatchString(f.CodeLine(number)) {
			hits = append(hits, hit{line: number})
		}
	}
	return hits
}

// interpreter returns the language that a "#!" line names.
func interpreter(line string) Language {
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '/' || r == '\t' }) {
		switch name := strings.TrimRight(word, "0123456789."); name {
		case "sh", "bash", "dash", "ksh":
			return Shell
		case "python":
			return Python
		case "node":
			return JavaScript
		}
	}
	return Other
}

// Lines is how many lines there are; an empty text has one.
func (f *File) Lines() int { return len(f.starts) }

// indent is how many blanks and tabs a line begins with.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// lineAt returns the number of the line, from 1, that holds a byte offset.
func (f *File) lineAt(offset int) int {
	at, found := slices.BinarySearch(f.starts, offset)
	if found {
		return at + 1
	}
	return at
}

// IsTest reports by a path whether the file is a test, an example or a fixture, which may contain made-up secrets and
// odd code.
func IsTest(name string) bool {
	lower := "/" + strings.ToLower(name)
	for _, folder := range []string{
		"/test/", "/tests/", "/testdata/", "/testing/", "/__tests__/", "/spec/", "/specs/",
		"/fixtures/", "/fixture/", "/mocks/", "/__mocks__/", "/examples/", "/example/", "/_examples/", "/benchmarks/",
		"/benchmark/", "/bench/",
	} {
		if strings.Contains(lower, folder) {
			return true
		}
	}
	base := path.Base(lower)
	return strings.Contains(base, "_test.") || strings.HasPrefix(base, "test_") || strings.Contains(base, ".test.") ||
		strings.Contains(base, ".spec.") || base == "conftest.py"
}

// comment reports whether a comment begins on one of the lines.
func (f *File) comment(first, last int) bool {
	from, to := f.starts[max(first, 1)-1], len(f.text)
	if last < len(f.starts) {
		to = f.starts[last]
	}
	at, _ := slices.BinarySearchFunc(f.comments, from,
		func(c span, offset int) int { return cmp.Compare(c.start, offset) })
	return at < len(f.comments) && f.comments[at].start < to
}

// isGenerated reports whether the file was written or minified by a program, so that nobody reads its lines.
func (f *File) isGenerated() bool {
	const wide = 200 // an average length of lines, in bytes
	head := f.text[:min(len(f.text), 2000)]
	return strings.Contains(f.path, ".min.") || len(f.text) > wide*len(f.starts) ||
		strings.Contains(head, "Code generated ") && strings.Contains(head, "DO NOT EDIT") ||
		strings.Contains(head, "@"+"generated")
}

// removeLines is the edit that removes whole lines, from 1, inclusive.
func (f *File) removeLines(first, last int) *edit {
	e := &edit{start: f.starts[first-1], end: len(f.text)}
	if last < len(f.starts) {
		e.end = f.starts[last]
	} else if e.start > 0 {
		e.start-- // the last line is removed with the line ending before it
	}
	return e
}

// fixContext is how many lines around an edit may be added to make its old_string unique.
const fixContext = 4

// Fix turns the edits of diagnostics into the form of the tools. It goes from the last line to the first, which is the
// order in which the fixes must be applied. An edit that cannot be made unique, or that touches another one, is left
// out: its diagnostic has no fix.
func (f *File) Fix(found []Diagnostic) {
	after := f.text // the text with the fixes so far
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
		found[i].Fix = made
		limit = first
	}
}

// unique extends an edit to whole lines, and further until its text occurs only once. It stays before the line limit.
// It returns the fix and its first line.
func (f *File) unique(e edit, limit int) (*Fix, int) {
	if e.start < 0 || e.end < e.start || e.end > len(f.text) {
		return nil, 0
	}
	first, last := f.lineAt(e.start), f.lineAt(e.end)
	if e.end > e.start && e.end == f.starts[last-1] {
		last-- // if whole lines are removed, the edit does not include the next one
	}
	if last >= limit {
		return nil, 0
	}
	for grown := 0; grown <= fixContext; grown++ {
		from, to := max(first-grown, 1), min(last+grown, limit-1, len(f.starts))
		start, end := f.starts[from-1], max(f.starts[to-1]+len(f.Line(to)), e.end)
		if old := f.text[start:end]; old != "" && occurrences(f.text, old) == 1 {
			return &Fix{OldString: old, NewString: f.text[start:e.start] + e.text + f.text[e.end:end]}, from
		}
	}
	return nil, 0
}

// occurrences counts how often a part occurs, also overlapping, up to 2.
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
