package offline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
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
	// rounds is how many turns with calls a search takes, words how many words it looks for.
	rounds, words int
	// files is how many files are read, places how many places the answer names, perFile how many of them are in one
	// file, and followed how many definitions are followed to their uses.
	files, places, perFile, followed int
}

var reaches = [...]reach{
	quick:    {rounds: 2, words: 5, files: 3, places: 8, perFile: 3},
	medium:   {rounds: 3, words: 6, files: 6, places: 12, perFile: 3, followed: 2},
	thorough: {rounds: 5, words: 10, files: 16, places: 30, perFile: 6, followed: 6},
}

var (
	thoroughWord = lazyregexp.New(
		`(?i)\b(?:very|most)[ _-]?thorough(?:ly)?\b|\bevery(?: single)? place\b|\bexhaustive(?:ly)?\b`)
	quickWord = lazyregexp.New(`(?i)\bquick(?:ly)?\b`)
)

// thoroughness is what the task asks for, medium where it does not say.
func (w *wish) thoroughness() thoroughness {
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
	if t.turns < bounds.rounds {
		if calls := t.following(found, bounds); len(calls) > 0 {
			return turn{calls: calls}
		}
	}
	return turn{text: t.exploreText(found, bounds)}
}

// searching are the first calls: they look for definitions, lines and file names with the terms. Definitions have a
// search of their own, since they would be lost among the uses of a common word.
func (t *task) searching(terms []term) []call {
	const uses, definitions = 200, 300
	var sources, names []string
	var calls []call
	for _, term := range terms {
		sources = append(sources, term.source)
		lower := strings.ToLower(term.stem)
		names = append(names, "*"+term.stem+"*", "*"+lower+"*", "*"+strings.ToUpper(lower[:1])+lower[1:]+"*")
		calls = append(calls, call{"grep", grepArguments{Pattern: "(?i)" + term.source, Limit: uses}})
	}
	defining := `(?i)^\s*` + outline.Definers + `\s+[\w$]*(?:` + strings.Join(sources, "|") + `)`
	calls = append(calls, call{"grep", grepArguments{Pattern: defining, Limit: definitions}},
		call{"glob", globArguments{Pattern: "**/{" + strings.Join(names, ",") + "}"}})
	return slices.DeleteFunc(calls, func(c call) bool { return !t.offers(c.name) || t.wasMade(c) })
}

// following are the calls that build on what was found: they read the best places and, from the third round on, look
// for the uses of the best definitions.
func (t *task) following(found *evidence, bounds reach) []call {
	const uses = 60
	calls := t.windows(found.best(bounds.places, bounds.perFile), bounds.files)
	if t.turns > 1 {
		for _, name := range found.followed(bounds.followed) {
			calls = append(calls, call{"grep", grepArguments{Pattern: usesOf(name), Limit: uses}})
		}
	}
	return slices.DeleteFunc(calls, func(c call) bool { return !t.offers(c.name) || t.wasMade(c) })
}

// usesOf is the pattern of lines with a name.
func usesOf(name string) string { return `\b` + strings.ReplaceAll(name, "$", `\$`) + `\b` }

// windows are the reads that show the lines around the best place of each file, in at most n files.
func (r *record) windows(places []place, n int) []call {
	const above, shown = 30, 60
	files := map[string]bool{}
	var calls []call
	for _, p := range places {
		if files[p.path] || len(files) == n {
			continue
		}
		files[p.path] = true
		s := r.sourceOf(p.path)
		if _, known := s.lines[p.line]; !known && s.problem == "" {
			calls = append(calls, call{"read", readArguments{Path: p.path, Offset: max(p.line-above, 1), Limit: shown}})
		}
	}
	return calls
}

// exploreText is the answer: the ranked places with their lines, then files by name, then what was not found.
func (t *task) exploreText(found *evidence, bounds reach) string {
	var b strings.Builder
	chosen := found.best(bounds.places, bounds.perFile)
	files := map[string]bool{}
	for _, p := range chosen {
		files[p.path] = true
		known := t.sourceOf(p.path)
		fmt.Fprintf(&b, "%s:%d: %s%s\n%s", p.path, p.line, found.what(p, known), t.usedIn(p), quoted(p, known))
	}
	if hidden := len(found.places) - len(chosen); hidden > 0 {
		fmt.Fprintf(&b, "(%d more lines match)\n", hidden)
	}
	named := slices.DeleteFunc(t.globbed(), func(name string) bool { return files[name] || !found.names(name) })
	if len(named) > 0 {
		fmt.Fprintf(&b, "\nBy name: %s\n", strings.Join(named[:min(len(named), bounds.places)], ", "))
	}
	b.WriteString("\n" + found.lookedFor())
	fmt.Fprintf(&b,
		"\nA %s search: %s. The places are ranked by rules: definitions before uses, rare words before "+
			"common ones, sources before tests. What they mean together, the rules cannot say.\n%s\n",
		t.thoroughness(), plural(t.turns, "round"), noModel)
	return strings.TrimLeft(b.String(), "\n")
}

// usedIn tells where a definition is used, as far as the search has looked for that.
func (r *record) usedIn(p place) string {
	const shown = 4
	if p.name == "" || p.minor {
		return ""
	}
	asked := false
	var uses []place
	for e := range r.made("grep") {
		var arguments grepArguments
		if e.failed || json.Unmarshal(e.arguments, &arguments) != nil || arguments.Pattern != usesOf(p.name) {
			continue
		}
		asked = true
		for use := range grepped(e.text) {
			if name, _ := outline.Defines(use.text); name != p.name && !isRemark(use) {
				uses = append(uses, use)
			}
		}
	}
	switch {
	case !asked:
		return ""
	case len(uses) == 0:
		return "; nothing else names it"
	}
	slices.SortStableFunc(uses, func(a, b place) int { return remoteness(a.path) - remoteness(b.path) })
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

// quoted is the line of a place with its number, and what was read around it: the comment above a definition, and how
// the definition goes on.
func quoted(p place, known source) string {
	const comments, behind, longest = 3, 2, 160
	first, last := p.line, p.line
	for p.name != "" && p.line-first < comments && isRemark(place{path: p.path, text: known.lines[first-1]}) {
		first--
	}
	for p.name != "" && !p.minor && last < p.line+behind && strings.TrimSpace(known.lines[last+1]) != "" {
		last++
	}
	var b strings.Builder
	for number := first; number <= last; number++ {
		text := p.text
		if number != p.line {
			text = known.lines[number]
		}
		if runes := []rune(text); len(runes) > longest {
			text = string(runes[:longest-1]) + "…"
		}
		fmt.Fprintf(&b, "%6d  %s\n", number, strings.TrimRight(text, " \t\r"))
	}
	return b.String()
}
