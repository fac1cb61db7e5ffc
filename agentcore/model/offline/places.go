package offline

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/lexer"
	"github.com/agentls/agentls/agentcore/lint"
	"github.com/agentls/agentls/agentcore/outline"
)

// place is a line that has some of the words.
type place struct {
	path string
	line int
	text string
	// name is what the line defines, or empty. minor marks a local variable, a package or a guess.
	name  string
	minor bool
	score float64
}

var (
	matchLine  = lazyregexp.New(`^(\d+):(.*)$`)
	testFolder = lazyregexp.New(`/(?:\w*[^a\W])?test/`) // httptest and the like, but not latest
	headLine   = lazyregexp.New(`^\s*(?:package|module|import|from|#include|use|using|require)\b`)
	usesWord   = lazyregexp.New(`(?i)\b(?:us(?:es?|ed|ages?)|callers?|call(?:s|ed)|references?)\b`)
	testsWord  = lazyregexp.New(`(?i)\btest(?:s|ed|ing)?\b`)
)

// evidence is what the searches of a task have found, the best places first.
type evidence struct {
	terms  []term
	places []place
	// wantsUses and wantsTests report whether the task asks for uses, or for tests.
	wantsUses, wantsTests bool
}

// evidence gathers the lines that grep found, each once.
func (t *task) evidence(terms []term) *evidence {
	found := &evidence{
		terms: terms, wantsUses: usesWord().MatchString(t.words),
		wantsTests: testsWord().MatchString(t.words),
	}
	seen := map[string]bool{}
	for e := range t.made("grep") {
		for p := range grepped(e.text) {
			key := fmt.Sprintf("%s:%d", p.path, p.line)
			if seen[key] || e.failed {
				continue
			}
			seen[key] = true
			p.name, p.minor = outline.Defines(p.text)
			found.places = append(found.places, p)
		}
	}
	found.rate()
	return found
}

// grepped yields the matches in an answer of grep: the file's name and below it number:text.
func grepped(text string) func(func(place) bool) {
	return func(yield func(place) bool) {
		current := ""
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			match := matchLine().FindStringSubmatch(line)
			if match == nil {
				current = line
				continue
			}
			number, _ := strconv.Atoi(match[1]) // digits only
			if !yield(place{path: current, line: number, text: match[2]}) {
				return
			}
		}
	}
}

// rate gives each place its points and sorts the places. The fewer files have a word, the more it counts. A place in a
// file that has one of several words is worth less than one in a file that has all.
func (e *evidence) rate() {
	const alone = 0.35
	files := make([]map[string]bool, len(e.terms))
	weights := make([]float64, len(e.terms))
	all := 0.01
	for i, term := range e.terms {
		files[i] = map[string]bool{}
		for _, p := range e.places {
			if term.expression.MatchString(p.text) {
				files[i][p.path] = true
			}
		}
		weights[i] = 1 / (1 + 0.3*math.Log2(1+float64(len(files[i]))/3))
		all += weights[i]
	}
	for at := range e.places {
		p := &e.places[at]
		covered := 0.0
		for i, term := range e.terms {
			p.score += weights[i] * e.points(p, term)
			if files[i][p.path] || term.expression.MatchString(p.path) {
				covered += weights[i]
			}
		}
		p.score *= alone + (1-alone)*covered/all
		const remark, remote = 6, 8
		if isRemark(*p) || headLine().MatchString(p.text) {
			p.score -= remark
		}
		if far := remoteness(p.path); !e.wantsTests || far > 1 {
			p.score -= float64(remote * far)
		}
	}
	slices.SortStableFunc(e.places, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.path, b.path), cmp.Compare(a.line, b.line))
	})
}

// points rates a place by one of the terms: definitions of what is looked for over uses, unless uses are asked for.
func (e *evidence) points(p *place, term term) float64 {
	const defined, inLine, begins, wholeName, inPath = 10, 4, 2, 4, 2
	sum := 0.0
	if at := term.expression.FindStringIndex(p.text); at != nil {
		sum += inLine
		if beginsWord(p.text, at[0]) {
			sum += begins
		}
	}
	if at := term.expression.FindStringIndex(p.name); at != nil && p.name != "" {
		switch {
		case e.wantsUses:
			sum -= inLine
		case p.minor:
			sum += defined / 3
		case beginsWord(p.name, at[0]):
			sum += defined
		default:
			sum += defined / 2
		}
		if at[1]-at[0] == len(p.name) && !e.wantsUses {
			sum += wholeName
		}
	}
	if term.expression.MatchString(p.path) {
		sum += inPath
	}
	return sum
}

// names reports whether the name of a file or of a definition contains one of the terms.
func (e *evidence) names(name string) bool {
	return slices.ContainsFunc(e.terms, func(t term) bool { return t.expression.MatchString(path.Base(name)) })
}

// followed are the names of the best definitions, at most n.
func (e *evidence) followed(n int) []string {
	var names []string
	for _, p := range e.places {
		if len(names) < n && !p.minor && len(p.name) > 2 && !slices.Contains(names, p.name) && e.names(p.name) &&
			remoteness(p.path) == 0 {
			names = append(names, p.name)
		}
	}
	return names
}

// best returns at most n places, at most perFile of each file, and none that is within a few lines of a better one.
func (e *evidence) best(n, perFile int) []place {
	const apart = 2
	files := map[string][]int{}
	var chosen []place
	for _, p := range e.places {
		lines := files[p.path]
		beside := func(line int) bool { return max(line-p.line, p.line-line) <= apart }
		if len(chosen) < n && len(lines) < perFile && !slices.ContainsFunc(lines, beside) {
			files[p.path] = append(lines, p.line)
			chosen = append(chosen, p)
		}
	}
	return chosen
}

// what describes what is at a place.
func (e *evidence) what(p place, known source) string {
	text := e.wordsIn(p.text)
	switch {
	case p.name != "" && !p.minor:
		text = "defines " + p.name
	case isRemark(p):
		return "tells of " + text
	}
	if in := known.enclosing(p.line, p.text); in > 0 {
		name, _ := outline.Defines(known.lines[in])
		text += " in " + name
	}
	return text
}

// wordsIn lists the names and words in a text that contain words of the task.
func (e *evidence) wordsIn(text string) string {
	var words []string
	for _, term := range e.terms {
		if at := term.expression.FindStringIndex(text); at != nil {
			start, end := at[0], at[1]
			for start > 0 && lexer.IsWordByte(text[start-1]) {
				start--
			}
			for end < len(text) && lexer.IsWordByte(text[end]) {
				end++
			}
			words = append(words, text[start:end])
		}
	}
	return joined(words)
}

// lookedFor tells the words that were looked for, and which of them are nowhere.
func (e *evidence) lookedFor() string {
	var words, without []string
	for _, term := range e.terms {
		words = append(words, term.word)
		if !slices.ContainsFunc(e.places, func(p place) bool { return term.expression.MatchString(p.text) }) {
			without = append(without, term.word)
		}
	}
	text := "Looked for: " + strings.Join(words, ", ") + "."
	if len(without) > 0 {
		text += " In no line: " + strings.Join(without, ", ") + "."
	}
	return text
}

// isRemark reports whether a line is a comment or prose.
func isRemark(p place) bool {
	text := strings.TrimSpace(p.text)
	return strings.HasPrefix(text, "//") || strings.HasPrefix(text, "#") || strings.HasPrefix(text, "*") ||
		strings.HasPrefix(text, "/*") || lint.LanguageOf(p.path) == lint.Prose
}

// beginsWord reports whether a word, or a part of a name in camel case, begins at the byte offset.
func beginsWord(text string, at int) bool {
	return at == 0 || !lexer.IsWordByte(text[at-1]) || text[at-1] == '_' ||
		unicode.IsUpper(rune(text[at])) && unicode.IsLower(rune(text[at-1]))
}

// globbed returns the files that glob named, each once: sources first, then tests, then what others wrote.
func (r *record) globbed() []string {
	var files []string
	for e := range r.made("glob") {
		for line := range strings.Lines(e.text) {
			name := strings.TrimSpace(line)
			if !e.failed && name != "" && name[0] != '(' && !strings.HasPrefix(name, "No file") {
				files = append(files, name)
			}
		}
	}
	slices.SortStableFunc(files, func(a, b string) int {
		return cmp.Or(cmp.Compare(remoteness(a), remoteness(b)), cmp.Compare(a, b))
	})
	return slices.Compact(files)
}

// remoteness orders paths: sources, then tests and what programs wrote, then what others wrote.
func remoteness(name string) int {
	lower := "/" + strings.ToLower(name)
	for _, folder := range []string{
		"/vendor/", "/node_modules/", "/third_party/", "/dist/", "/build/", "/.venv/",
		"/site-packages/",
	} {
		if strings.Contains(lower, folder) {
			return 2
		}
	}
	if base := path.Base(lower); lint.IsTest(name) || strings.Contains(base, "_gen.") ||
		strings.Contains(base, ".pb.") || strings.Contains(base, "generated") ||
		testFolder().MatchString(lower) {
		return 1
	}
	return 0
}
