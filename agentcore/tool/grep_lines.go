package tool

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// lineFinder finds the lines that an expression matches. It does not change, and may be used from any goroutine.
type lineFinder struct {
	expression *regexp.Regexp
	// multi says that the expression asks for a line ending, so that it is matched against whole texts.
	multi bool
	// needles are texts of which every match holds at least one. There are none where the expression does not allow it.
	needles []needle
	// exact says that the expression is nothing but its one needle.
	exact bool
}

// maxNeedles bounds how many texts are looked for at once: looking for more takes longer than the expression does.
const maxNeedles = 16

func newLineFinder(pattern string, expression *regexp.Regexp) *lineFinder {
	f := &lineFinder{expression: expression, multi: spansLines(pattern)}
	tree, err := syntax.Parse(expression.String(), syntax.Perl)
	if err != nil || f.multi {
		return f // every line is looked at
	}
	tree = tree.Simplify()
	n := needlesOf(tree)
	if len(n.texts) > maxNeedles {
		return f
	}
	for _, text := range n.texts {
		f.needles = append(f.needles, newNeedle(text, n.fold))
	}
	f.exact = tree.Op == syntax.OpLiteral && !n.fold
	return f
}

// spansLines reports whether a pattern asks for a line ending, so that it is matched against whole texts.
func spansLines(pattern string) bool {
	return strings.Contains(pattern, "\n") || strings.Contains(pattern, `\n`) || strings.HasPrefix(pattern, "(?s")
}

// needles are texts of which every match of an expression holds at least one. fold says that the case of letters does
// not count.
type needles struct {
	texts []string
	fold  bool
}

// worth estimates how rare the texts are: by the length of the shortest, 0 for none.
func (n needles) worth() int {
	if len(n.texts) == 0 {
		return 0
	}
	return len(slices.MinFunc(n.texts, func(a, b string) int { return len(a) - len(b) }))
}

func needlesOf(re *syntax.Regexp) needles {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase == 0 {
			return needles{texts: []string{text}}
		}
		// Two letters of ASCII are equal to others outside of ASCII when case is ignored: k to the Kelvin sign, s to
		// the long s.
		parts := strings.FieldsFunc(text, func(r rune) bool { return r >= 0x80 || strings.ContainsRune("kKsS", r) })
		if len(parts) == 0 {
			return needles{}
		}
		return needles{[]string{slices.MaxFunc(parts, func(a, b string) int { return len(a) - len(b) })}, true}
	case syntax.OpCapture, syntax.OpPlus:
		return needlesOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needlesOf(re.Sub[0])
		}
	case syntax.OpConcat:
		var best needles
		for _, sub := range re.Sub {
			if n := needlesOf(sub); n.worth() > best.worth() {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all needles
		for _, sub := range re.Sub {
			n := needlesOf(sub)
			if len(n.texts) == 0 {
				return needles{}
			}
			all.texts, all.fold = append(all.texts, n.texts...), all.fold || n.fold
		}
		if all.fold &&
			slices.ContainsFunc(all.texts,
				func(text string) bool { return strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 }) }) {
			return needles{} // only ASCII is lowered
		}
		return all
	}
	return needles{}
}

// find returns the lines that match and, where there are any, a copy of the text. Where whole texts are matched, the
// copy has \n as its line endings.
func (f *lineFinder) find(data []byte) (text string, matches []hit) {
	if f.multi {
		return f.whole(string(data))
	}
	if len(f.needles) > 0 && !slices.ContainsFunc(f.needles, func(n needle) bool { return n.index(data, 0) >= 0 }) {
		return "", nil
	}
	switch {
	case bytes.IndexByte(data, '\r') >= 0:
		matches = f.each(data)
	case len(f.needles) > 0:
		matches = f.candidates(data)
	default:
		matches = f.every(data)
	}
	if len(matches) == 0 {
		return "", nil
	}
	return string(data), matches
}

// needle is a text that is looked for.
type needle struct {
	text []byte // in lower case where fold is set
	fold bool
	// rare is the byte of the text that is looked for first where fold is set.
	rare int
}

// common are the letters of English, and of code, from rare to common.
const common = "qjzxkvwybgpfmhuldcnosraite"

func newNeedle(text string, fold bool) needle {
	if !fold {
		return needle{text: []byte(text)}
	}
	n := needle{text: []byte(strings.ToLower(text)), fold: true}
	least := len(common)
	for i, c := range n.text {
		if rank := strings.IndexByte(common, c); rank < least {
			n.rare, least = i, rank
		}
	}
	return n
}

// index is the next place of the needle, from an offset on; -1 for none.
func (n *needle) index(data []byte, from int) int {
	if !n.fold {
		if i := bytes.Index(data[from:], n.text); i >= 0 {
			return from + i
		}
		return -1
	}
	lower := n.text[n.rare]
	upper := lower
	if 'a' <= lower && lower <= 'z' {
		upper -= 'a' - 'A'
	}
	for at := from + n.rare; at < len(data); at++ {
		i := bytes.IndexByte(data[at:], lower)
		if i < 0 {
			i = len(data) - at
		}
		if upper != lower {
			if j := bytes.IndexByte(data[at:at+i], upper); j >= 0 {
				i = j
			}
		}
		if at += i; at == len(data) {
			break
		}
		if start := at - n.rare; len(data)-start >= len(n.text) && folds(data[start:start+len(n.text)], n.text) {
			return start
		}
	}
	return -1
}

// folds reports whether a text is equal to one in lower case, ignoring the case of ASCII letters.
func folds(text, lower []byte) bool {
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// candidates looks only at lines with a needle. Lines end only with \n here.
func (f *lineFinder) candidates(data []byte) []hit {
	var matches []hit
	next := make([]int, len(f.needles)) // where each needle is next; len(data) for nowhere
	for i := range next {
		next[i] = -1
	}
	number, counted := 0, 0
	for at := 0; at < len(data); {
		place := len(data)
		for i := range f.needles {
			if next[i] < at {
				if next[i] = f.needles[i].index(data, at); next[i] < 0 {
					next[i] = len(data)
				}
			}
			place = min(place, next[i])
		}
		if place == len(data) {
			break
		}
		start := at + bytes.LastIndexByte(data[at:place], '\n') + 1
		end := len(data)
		if i := bytes.IndexByte(data[place:], '\n'); i >= 0 {
			end = place + i
		}
		column := place - start
		if !f.exact {
			if column = -1; start <= end {
				if found := f.expression.FindIndex(data[start:end]); found != nil {
					column = found[0]
				}
			}
		}
		if column >= 0 {
			number += bytes.Count(data[counted:start], newline)
			counted = start
			matches = append(matches, hit{number, column})
		}
		at = end + 1
	}
	return matches
}

var newline = []byte("\n")

// every looks at all lines, which end only with \n here.
func (f *lineFinder) every(data []byte) []hit {
	var matches []hit
	for number := 0; len(data) > 0; number++ {
		line, rest, _ := bytes.Cut(data, newline)
		if found := f.expression.FindIndex(line); found != nil {
			matches = append(matches, hit{number, found[0]})
		}
		data = rest
	}
	return matches
}

// each looks at all lines, which may end in any way.
func (f *lineFinder) each(data []byte) []hit {
	var matches []hit
	for number, l := range shownLines(string(data)) {
		if found := f.expression.FindIndex(data[l.start:l.end]); found != nil {
			matches = append(matches, hit{number, found[0]})
		}
	}
	return matches
}

// whole matches against a text with \n as its line endings.
func (f *lineFinder) whole(text string) (string, []hit) {
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	lines := shownLines(text)
	var matches []hit
	for _, place := range f.expression.FindAllStringIndex(text, -1) {
		i := max(lineAt(lines, place[0]), 0)
		if len(matches) == 0 || matches[len(matches)-1].line != i {
			matches = append(matches, hit{i, place[0] - lines[i].start})
		}
	}
	return text, matches
}
