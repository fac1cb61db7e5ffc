package offline

import (
	"regexp"
	"strings"
)

var textRules = []rule{
	{
		name: "merge-conflict", languages: all, severity: failure, check: mergeConflicts,
		message: "A merge conflict was left here: choose one side and remove the markers.",
	},
	{
		name: "doubled-word", languages: prose, severity: hint, check: doubledWords,
		message: "A word stands here twice.",
	},
}

// mergeConflicts looks for whole conflicts: the three markers in order, each at the start of its line.
func mergeConflicts(f *file) []hit {
	var hits []hit
	open, parted := 0, false
	for number := 1; number <= len(f.starts); number++ {
		line := f.line(number)
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

var wordPair = regexp.MustCompile(`\b(?i:(the) (?:the)|(an?) (?:an?)|(of) (?:of)|(to) (?:to)|(and) (?:and)|(with) (?:with)|(for) (?:for)|(from) (?:from)|(is) (?:is)|(are) (?:are)|(be) (?:be))\b`)

func doubledWords(f *file) []hit {
	var hits []hit
	for _, at := range wordPair.FindAllStringIndex(f.text, -1) {
		first, second, _ := strings.Cut(f.text[at[0]:at[1]], " ")
		if first != second {
			continue
		}
		hits = append(hits, hit{
			line: f.lineAt(at[0]), message: "The word \"" + second + "\" stands here twice.",
			edit: &edit{start: at[0], end: at[1], text: first},
		})
	}
	return hits
}
