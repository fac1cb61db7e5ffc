package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
	"github.com/agentls/agentls/agentcore/lint"
	"github.com/agentls/agentls/agentcore/outline"
)

// thoroughness is how far a search goes.
type thoroughness int

const (
	quick thoroughness = iota
	medium
	thorough
)

func (t thoroughness) String() string { return [...]string{"quick", "medium", "very thorough"}[t] }

// reach bounds a search.
type reach struct {
	// rounds are the turns with calls, words those that are looked for.
	rounds, words int
	// files are those that are read, places those of the answer, perFile those of one file, followed the definitions
	// whose uses are looked for.
	files, places, perFile, followed int
	// widen looks for looser readings of words that are nowhere.
	widen bool
}

var reaches = [...]reach{
	quick:    {rounds: 2, words: 5, files: 3, places: 8, perFile: 3},
	medium:   {rounds: 3, words: 6, files: 6, places: 12, perFile: 3, followed: 2, widen: true},
	thorough: {rounds: 5, words: 10, files: 16, places: 30, perFile: 6, followed: 6, widen: true},
}

var (
	thoroughLine = lazyregexp.New(`(?im)^[ \t]*thoroughness:[ \t]*(quick|medium|very[ _-]?thorough)[ \t]*$`)
	thoroughWord = lazyregexp.New(
		`(?i)\b(?:very|most) thorough(?:ly)?\b|\bevery(?: single)? place\b|\bexhaustive(?:ly)?\b`)
	quickWord = lazyregexp.New(`(?i)\bquick(?:ly)?\b`)
)

// thoroughness is what the task asks for, medium where it does not say.
func (w *wish) thoroughness() thoroughness {
	if match := thoroughLine().FindStringSubmatch(w.words); match != nil {
		switch strings.ToLower(match[1]) {
		case "quick":
			return quick
		case "medium":
			return medium
		}
		return thorough
	}
	switch {
	case thoroughWord().MatchString(w.words):
		return thorough
	case quickWord().MatchString(w.words):
		return quick
	}
	return medium
}

// explore looks for the words of the task in the workspace, reads the best places and ranks what it has found.
func (t *task) explore() turn {
	if !t.has("grep") && !t.has("glob") {
		return turn{text: "Exploring needs the tool `grep` or `glob`, and this agent has neither.\n\n" + noModel + "\n"}
	}
	bounds := reaches[t.thoroughness()]
	terms := t.terms(bounds.words)
	if len(terms) == 0 {
		return t.survey(bounds)
	}
	if t.turns == 0 {
		if calls := t.searching(terms); len(calls) > 0 {
			return turn{calls: calls}
		}
	}
	found := t.evidence(terms)
	if bounds.widen {
		if loose := found.loosened(t); len(loose) > 0 {
			found = t.evidence(slices.Concat(terms, loose))
		}
	}
	if t.turns < bounds.rounds {
		if calls := t.following(found, bounds); len(calls) > 0 {
			return turn{calls: calls}
		}
	}
	return turn{text: t.exploreText(found, bounds)}
}

// definitionsOf is the pattern of lines that define a name with one of the terms in it. It is a search of its own,
// since those lines would be lost among the uses of a common word.
func definitionsOf(terms []term) string {
	var sources []string
	for _, term := range terms {
		sources = append(sources, term.source)
	}
	return `(?i)^\s*` + outline.Definers + `\s+[\w$]*(?:` + strings.Join(sources, "|") + `)`
}

// together is the pattern of lines that have two of the terms.
func together(terms []term) string {
	var pairs []string
	for i, a := range terms {
		for _, b := range terms[i+1:] {
			pairs = append(pairs, a.source+".*"+b.source, b.source+".*"+a.source)
		}
	}
	return "(?i)" + strings.Join(pairs, "|")
}

// searching are the first calls: definitions, lines and file names with the terms.
func (t *task) searching(terms []term) []call {
	const uses, definitions = 200, 300
	var calls []call
	if t.offers("grep") {
		calls = append(calls, call{"grep", grepArguments{Pattern: definitionsOf(terms), Limit: definitions}})
		for _, term := range terms {
			calls = append(calls, call{"grep", grepArguments{Pattern: term.pattern(), Limit: uses}})
		}
	}
	if t.offers("glob") {
		var names []string
		for _, term := range terms {
			names = append(names, "*"+anyCase(term.stem)+"*")
		}
		calls = append(calls, call{"glob", globArguments{Pattern: "**/{" + strings.Join(names, ",") + "}"}})
	}
	return slices.DeleteFunc(calls, t.wasMade)
}

// following are the calls that build on what was found: looser searches for what was not, reads of the best places, and
// from the third round on the uses of the best definitions.
func (t *task) following(found *evidence, bounds reach) []call {
	const uses, both, commonest = 60, 200, 3
	var calls []call
	if t.offers("grep") {
		// Of words that are everywhere, only the first lines were shown.
		if common := found.common; len(common) > 1 {
			calls = append(calls,
				call{"grep", grepArguments{Pattern: together(common[:min(len(common), commonest)]), Limit: both}})
		}
		for _, term := range found.terms {
			if term.loose {
				calls = append(calls, call{"grep", grepArguments{Pattern: term.pattern(), Limit: uses}})
			}
		}
		if t.turns > 1 {
			for _, name := range found.followed(bounds.followed) {
				calls = append(calls, call{"grep", grepArguments{Pattern: usesOf(name), Limit: uses}})
			}
		}
	}
	if t.offers("read") {
		calls = append(calls, t.windows(found.best(bounds.places, bounds.perFile), bounds.files)...)
	}
	return slices.DeleteFunc(calls, t.wasMade)
}

// usesOf is the pattern of lines with a name.
func usesOf(name string) string { return `\b` + strings.ReplaceAll(name, "$", `\$`) + `\b` }

// followed are the names of the best definitions, at most n.
func (e *evidence) followed(n int) []string {
	var names []string
	for _, p := range e.places {
		if len(names) == n {
			break
		}
		if p.name != "" && !p.minor && len(p.name) > 2 && !slices.Contains(names, p.name) && e.termsIn(p.name) != 0 &&
			remoteness(p.path) == 0 {
			names = append(names, p.name)
		}
	}
	return names
}

// loosened are looser readings of the terms that are in no line and no file's name.
func (e *evidence) loosened(t *task) []term {
	var loose []term
	for _, one := range e.terms {
		if len(t.namedFiles([]term{one})) > 0 ||
			slices.ContainsFunc(e.places, func(p place) bool { return one.expression.MatchString(p.text) }) {
			continue
		}
		if wider, ok := one.widened(); ok {
			wider.loose = true
			loose = append(loose, wider)
		}
	}
	return loose
}

// windows are the reads that show the lines around places, in at most n files, one for each file.
func (r *record) windows(places []place, n int) []call {
	const above, below, widest = 30, 15, 150
	byFile := map[string][]int{}
	var files []string
	for _, p := range places {
		if byFile[p.path] == nil {
			files = append(files, p.path)
		}
		byFile[p.path] = append(byFile[p.path], p.line)
	}
	var calls []call
	for _, name := range files[:min(len(files), n)] {
		known := r.sourceOf(name)
		first, last := 0, 0
		for _, line := range byFile[name] { // the best first
			if _, ok := known.lines[line]; ok {
				continue
			}
			from, to := max(line-above, 1), line+below
			switch {
			case first == 0:
				first, last = from, to
			case max(last, to)-min(first, from) < widest:
				first, last = min(first, from), max(last, to)
			}
		}
		if first > 0 && known.problem == "" {
			calls = append(calls, call{"read", readArguments{Path: name, Offset: first, Limit: last - first + 1}})
		}
	}
	return calls
}

// exploreText is the answer: the ranked places with their lines, then files by name, then what was not found.
func (t *task) exploreText(found *evidence, bounds reach) string {
	var b strings.Builder
	sources := map[string]source{}
	for _, name := range t.readFiles() {
		sources[name] = t.sourceOf(name)
	}
	chosen := found.best(bounds.places, bounds.perFile)
	files := map[string]bool{}
	for _, p := range chosen {
		files[p.path] = true
		q := quoted{place: p, source: sources[p.path]}
		fmt.Fprintf(&b, "%s:%d: %s%s\n%s", p.path, p.line, q.what(found), t.usedIn(p), q.lines())
	}
	if hidden := len(found.places) - len(chosen); hidden > 0 {
		fmt.Fprintf(&b, "(%d more lines match)\n", hidden)
	}
	named := slices.DeleteFunc(t.namedFiles(found.terms), func(name string) bool { return files[name] })
	if len(named) > 0 {
		fmt.Fprintf(&b, "\nBy name: %s\n", strings.Join(named[:min(len(named), bounds.places)], ", "))
	}
	b.WriteString("\n" + found.lookedFor())
	fmt.Fprintf(&b,
		"\nA %s search: %s, %s read. The places are ranked by rules: definitions before uses, rare words before "+
			"common ones, sources before tests. What they mean together, the rules cannot say.\n%s\n",
		t.thoroughness(), plural(t.turns, "round"), plural(len(sources), "file"), noModel)
	return strings.TrimLeft(b.String(), "\n")
}

// readFiles are the files that read has shown.
func (r *record) readFiles() []string {
	files := map[string]bool{}
	for e := range r.made("read") {
		var arguments readArguments
		if !e.failed && json.Unmarshal(e.arguments, &arguments) == nil {
			files[arguments.Path] = true
		}
	}
	return slices.Sorted(maps.Keys(files))
}

// lookedFor tells the words, and those that are nowhere.
func (e *evidence) lookedFor() string {
	var words, without []string
	instead := map[string]bool{}
	for _, term := range e.terms {
		found := slices.ContainsFunc(e.places, func(p place) bool { return term.expression.MatchString(p.text) })
		switch {
		case term.loose:
			instead[term.word] = found
		case found:
			words = append(words, term.word)
		default:
			words, without = append(words, term.word), append(without, term.word)
		}
	}
	text := "Looked for: " + strings.Join(words, ", ") + "."
	for i, word := range without {
		if instead[word] {
			without[i] += " (words like it are)"
		}
	}
	if len(without) > 0 {
		text += " In no line: " + strings.Join(without, ", ") + "."
	}
	return text
}

// usedIn tells where a definition is used, as far as that was looked for.
func (r *record) usedIn(p place) string {
	const shown = 4
	if p.name == "" || p.minor {
		return ""
	}
	var uses []place
	for e := range r.made("grep") {
		if e.failed || grepPattern(e) != usesOf(p.name) {
			continue
		}
		for use := range grepped(e.text) {
			if name, _ := outline.Defines(use.text); name == p.name || use.path == p.path && use.line == p.line ||
				isRemark(use) {
				continue
			}
			uses = append(uses, use)
		}
		if len(uses) == 0 {
			return "; nothing else names it"
		}
	}
	if len(uses) == 0 {
		return ""
	}
	// The same name elsewhere may be another thing: what is near the definition comes first.
	far := func(use place) int {
		distance := 4 * remoteness(use.path)
		if lint.LanguageOf(use.path) == lint.Other {
			distance += 2
		}
		if path.Dir(use.path) != path.Dir(p.path) {
			distance++
		}
		return distance
	}
	slices.SortStableFunc(uses, func(a, b place) int { return cmp.Compare(far(a), far(b)) })
	var named []string
	for _, use := range uses[:min(len(uses), shown)] {
		named = append(named, fmt.Sprintf("%s:%d", use.path, use.line))
	}
	text := "; named at " + strings.Join(named, ", ")
	if more := len(uses) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// grepPattern is what a call of grep looked for.
func grepPattern(e exchange) string {
	var arguments grepArguments
	if json.Unmarshal(e.arguments, &arguments) != nil {
		return ""
	}
	return arguments.Pattern
}

// plural counts things: "1 file", "2 files".
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
