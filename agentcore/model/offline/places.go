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
	"unicode/utf8"

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
	// name is what the line defines, or empty. minor tells that it is a local variable, a package or a guess.
	name  string
	minor bool
	score float64
}

var (
	matchLine  = lazyregexp.New(`^(\d+):(.*)$`)
	wholeLine  = lazyregexp.New(`^(.+?):(\d+):(.*)$`)
	besideLine = lazyregexp.New(`^\d+-`)
	cutAnswer  = lazyregexp.New(`\(there are more than these \d+ matches`)
	testFolder = lazyregexp.New(`/(?:\w*[^a\W])?test/`) // httptest and the like, but not latest
	headLine   = lazyregexp.New(`^\s*(?:package|module|import|from|#include|use|using|require)\b`)
)

// evidence is what the searches of a task have found.
type evidence struct {
	terms []term
	// weights are those of terms: the fewer files have a word, the more it tells.
	weights []float64
	// common are the terms that have more lines than were shown.
	common []term
	places []place
	// wantsUses and wantsTests tell what the task asks for.
	wantsUses, wantsTests bool
}

var (
	usesWord  = lazyregexp.New(`(?i)\b(?:us(?:es?|ed|ages?)|callers?|call(?:s|ed)|references?)\b`)
	testsWord = lazyregexp.New(`(?i)\btest(?:s|ed|ing)?\b`)
)

// evidence gathers the lines that grep found, each once, the best first.
func (t *task) evidence(terms []term) *evidence {
	found := &evidence{
		terms: terms, wantsUses: usesWord().MatchString(t.words),
		wantsTests: testsWord().MatchString(t.words),
	}
	seen := map[string]int{}
	common := map[string]bool{} // patterns with more matches than were shown
	for e := range t.made("grep") {
		if e.failed {
			continue
		}
		if cutAnswer().MatchString(e.text) {
			common[grepPattern(e)] = true
		}
		for p := range grepped(e.text) {
			key := fmt.Sprintf("%s:%d", p.path, p.line)
			if _, ok := seen[key]; ok {
				continue
			}
			seen[key] = len(found.places)
			p.name, p.minor = outline.Defines(p.text)
			found.places = append(found.places, p)
		}
	}
	found.weigh(common)
	found.rate()
	return found
}

// grepped yields the matches in an answer of grep: the file's name and below it number:text, or all in one line.
func grepped(text string) func(func(place) bool) {
	return func(yield func(place) bool) {
		current := ""
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			p := place{path: current}
			switch match := matchLine().FindStringSubmatch(line); {
			case match != nil && current != "":
				p.line, _ = strconv.Atoi(match[1]) // digits only
				p.text = match[2]
			case line == "" || line == "--" || line[0] == '(' || strings.HasPrefix(line, "No match") ||
				besideLine().MatchString(line):
				continue
			default:
				whole := wholeLine().FindStringSubmatch(line)
				if whole == nil {
					current = line
					continue
				}
				p.path, p.text = whole[1], whole[3]
				p.line, _ = strconv.Atoi(whole[2]) // as above
			}
			if !yield(p) {
				return
			}
		}
	}
}

// weigh finds out in how many files each word is.
func (e *evidence) weigh(common map[string]bool) {
	e.weights = make([]float64, len(e.terms))
	for i, term := range e.terms {
		files := map[string]bool{}
		for _, p := range e.places {
			if term.expression.MatchString(p.text) {
				files[p.path] = true
			}
		}
		count := float64(len(files))
		if common[term.pattern()] {
			count = max(count*2, 60)
			e.common = append(e.common, term)
		}
		e.weights[i] = 1 / (1 + 0.3*math.Log2(1+count/3))
		if term.loose {
			e.weights[i] /= 2
		}
	}
}

// rate gives each place its points and sorts the places.
func (e *evidence) rate() {
	// lines are the terms of each line, as bits, by file: what stands beside a place tells what it is about.
	lines := map[string]map[int]uint32{}
	whole := map[string]uint32{}
	for _, p := range e.places {
		bits := e.termsIn(p.text)
		if lines[p.path] == nil {
			lines[p.path] = map[int]uint32{}
		}
		lines[p.path][p.line] |= bits
		whole[p.path] |= bits | e.termsIn(p.path)
	}
	const reach, beside, alone = 8, 2, 0.35
	all := max(e.sum(1<<len(e.terms)-1), 0.01)
	for i := range e.places {
		p := &e.places[i]
		p.score = e.score(*p)
		own := lines[p.path][p.line]
		near := uint32(0)
		for line := p.line - reach; line <= p.line+reach; line++ {
			near |= lines[p.path][line]
		}
		p.score += beside * e.sum(near&^own)
		if p.score > 0 { // a place that is about one of several words is worth less
			covered := (e.sum(own|near) + e.sum(whole[p.path]&^(own|near))/2) / all
			p.score *= alone + (1-alone)*covered
		}
	}
	slices.SortStableFunc(e.places, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.path, b.path), cmp.Compare(a.line, b.line))
	})
}

func (e *evidence) termsIn(text string) uint32 {
	bits := uint32(0)
	for i, term := range e.terms {
		if term.expression.MatchString(text) {
			bits |= 1 << i
		}
	}
	return bits
}

func (e *evidence) sum(bits uint32) float64 {
	total := 0.0
	for i, weight := range e.weights {
		if bits&(1<<i) != 0 {
			total += weight
		}
	}
	return total
}

// score rates a line by itself: definitions of what is looked for over uses, lines with several of the words over
// others, sources over tests and over what others wrote.
func (e *evidence) score(p place) float64 {
	const defined, inLine, begins, ends, wholeName, inBase, inFolder, comment, remote = 10, 4, 2, 1, 4, 3, 1, 6, 8
	points := 0.0
	if !e.wantsTests || remoteness(p.path) > 1 {
		points -= float64(remote * remoteness(p.path))
	}
	if isRemark(p) || headLine().MatchString(p.text) {
		points -= comment
	}
	definition := float64(defined)
	switch {
	case e.wantsUses:
		definition = -inLine
	case p.minor:
		definition = defined / 3
	}
	for i, term := range e.terms {
		sum := 0.0
		if at := term.expression.FindStringIndex(p.text); at != nil {
			sum += inLine
			if beginsWord(p.text, at[0]) {
				sum += begins
			}
			if at[1] == len(p.text) || !lexer.IsWordByte(p.text[at[1]]) {
				sum += ends
			}
		}
		if at := term.expression.FindStringIndex(p.name); p.name != "" && at != nil {
			if beginsWord(p.name, at[0]) {
				sum += definition
			} else {
				sum += definition / 2
			}
			if at[1]-at[0] == len(p.name) && !e.wantsUses {
				sum += wholeName
			}
		}
		switch {
		case term.expression.MatchString(path.Base(p.path)):
			sum += inBase
		case term.expression.MatchString(p.path):
			sum += inFolder
		}
		points += sum * e.weights[i]
	}
	return points
}

// isRemark reports whether a line is a comment or prose.
func isRemark(p place) bool {
	text := strings.TrimSpace(p.text)
	return strings.HasPrefix(text, "//") || strings.HasPrefix(text, "#") || strings.HasPrefix(text, "*") ||
		strings.HasPrefix(text, "/*") || lint.LanguageOf(p.path) == lint.Prose
}

// beginsWord reports whether a word, or a part of a name in camel case, begins at the byte offset.
func beginsWord(text string, at int) bool {
	if at == 0 || !lexer.IsWordByte(text[at-1]) || text[at-1] == '_' {
		return true
	}
	first, _ := utf8.DecodeRuneInString(text[at:])
	return unicode.IsUpper(first) && unicode.IsLower(rune(text[at-1]))
}

// best returns at most n places, at most perFile of each file, and none that is within a few lines of a better one.
func (e *evidence) best(n, perFile int) []place {
	const apart = 2
	files := map[string][]int{}
	var chosen []place
	for _, p := range e.places {
		if len(chosen) == n {
			break
		}
		lines := files[p.path]
		if len(lines) == perFile ||
			slices.ContainsFunc(lines, func(line int) bool { return max(line-p.line, p.line-line) <= apart }) {
			continue
		}
		files[p.path] = append(lines, p.line)
		chosen = append(chosen, p)
	}
	return chosen
}

// globbed returns what glob named, each file once.
func (r *record) globbed() []string {
	var files []string
	seen := map[string]bool{}
	for e := range r.made("glob") {
		for line := range strings.Lines(e.text) {
			name := strings.TrimSpace(line)
			if e.failed || name == "" || name[0] == '(' || strings.HasPrefix(name, "No file") || seen[name] {
				continue
			}
			seen[name] = true
			files = append(files, name)
		}
	}
	return files
}

// namedFiles returns what glob named and one of the terms is in the name of, sources first.
func (r *record) namedFiles(terms []term) []string {
	files := slices.DeleteFunc(r.globbed(), func(name string) bool {
		return !slices.ContainsFunc(terms, func(term term) bool { return term.expression.MatchString(path.Base(name)) })
	})
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(remoteness(a), remoteness(b)) })
	return files
}

// anyCase is a glob that matches a word in any letter case; what is no letter or digit stands for any one character.
func anyCase(word string) string {
	var b strings.Builder
	for _, r := range word {
		lower, upper := unicode.ToLower(r), unicode.ToUpper(r)
		switch {
		case lower != upper:
			fmt.Fprintf(&b, "[%c%c]", lower, upper)
		case unicode.IsDigit(r):
			b.WriteRune(r)
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
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
