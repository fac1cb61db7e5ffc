package lint

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

var textRules = []Rule{
	{
		Name: "merge-conflict", Languages: all, Severity: Error, check: mergeConflicts,
		Message: "A merge conflict was left here: choose one side and remove the markers.",
		same:    []string{"merge conflict"},
	},
	{
		Name: "bidi-control", Languages: code | Data, Severity: Error, check: bidiControls,
		Message: "This line holds invisible characters that change the direction of text, so that it reads " +
			"other than it runs. Remove them, or write them as escapes.",
	},
	{
		Name: "doubled-word", Languages: code | Prose, Severity: Hint, check: doubledWords,
		Message: "A word stands here twice.",
	},
}

// mergeConflicts finds whole conflicts: the three markers in order, each at the start of its line.
func mergeConflicts(f *File) []hit {
	if !strings.Contains(f.text, "<<<<<<< ") {
		return nil
	}
	var hits []hit
	open, parted := 0, false
	for number := 1; number <= len(f.starts); number++ {
		line := f.Line(number)
		switch {
		case strings.HasPrefix(line, "<<<<<<< "):
			open, parted = number, false
		case open > 0 && line == "=======":
			parted = true
		case open > 0 && parted && strings.HasPrefix(line, ">>>>>>> "):
			hits = append(hits, hit{line: open, endLine: number})
			open = 0
		}
	}
	return hits
}

// bidiControls finds Unicode's controls for embedding, override and isolation (UAX 9).
func bidiControls(f *File) []hit {
	var hits []hit
	for number := range f.containing(f.text, []string{
		"\u202A", "\u202B", "\u202C", "\u202D", "\u202E", "\u2066", "\u2067", "\u2068", "\u2069",
	}) {
		hits = append(hits, hit{line: number})
	}
	return hits
}

var wordPair = lazyregexp.New(
	`\b(?:[Tt]he the|[Aa] a|[Aa]n an|[Oo]f of|[Tt]o to|and and|[Ww]ith with|[Ff]or for|[Aa]re are|[Bb]e be|[Aa]t at|` +
		`[Ww]e we|[Ww]ill will|[Tt]his this)\b`)

// doubledWords finds words that never stand twice in a row, in comments and prose.
func doubledWords(f *File) []hit {
	parts := f.comments
	if f.Language == Prose {
		parts = []span{{0, len(f.text)}}
	}
	var hits []hit
	for _, part := range parts {
		text := f.text[part.start:part.end]
		if f.Language == Prose {
			text = f.code
		}
		for _, at := range wordPair().FindAllStringIndex(text, -1) {
			if !aloneInProse(text, at[0], at[1]) {
				continue
			}
			first, second, _ := strings.Cut(text[at[0]:at[1]], " ")
			start := part.start + at[0]
			hits = append(hits, hit{
				line: f.lineAt(start), message: fmt.Sprintf("The word %q stands here twice.", second),
				edit: &edit{start: start, end: part.start + at[1], text: first},
			})
		}
	}
	return hits
}

// aloneInProse reports whether a pair of words stands between blanks or common punctuation, so that it does not belong
// to a name, a path, an expression or a quotation.
func aloneInProse(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	left := start == 0 || strings.ContainsRune(" \t\n(", before)
	right := end == len(text) || strings.ContainsRune(" \t\n,.;:!?)", after)
	return left && right
}
