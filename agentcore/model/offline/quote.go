package offline

import (
	"fmt"
	"strings"

	"github.com/agentls/agentls/agentcore/lexer"
	"github.com/agentls/agentls/agentcore/outline"
)

// quoted is a place of an answer with what was read around it.
type quoted struct {
	place
	source source
}

// what tells what stands at a place.
func (q quoted) what(found *evidence) string {
	switch {
	case q.name != "" && !q.minor && found.termsIn(q.name) != 0:
		if in := q.enclosing(); in != "" {
			return "defines " + q.name + " in " + in
		}
		return "defines " + q.name
	case q.name != "" && !q.minor:
		return "defines " + q.name + ", with " + found.wordsIn(q.text)
	case isRemark(q.place):
		return "tells of " + found.wordsIn(q.text)
	}
	if in := q.enclosing(); in != "" {
		return found.wordsIn(q.text) + " in " + in
	}
	return found.wordsIn(q.text)
}

// wordsIn lists the names and words of a text that have words of the task in them.
func (e *evidence) wordsIn(text string) string {
	const longest = 40
	var words []string
	for _, term := range e.terms {
		at := term.expression.FindStringIndex(text)
		if at == nil {
			continue
		}
		start, end := at[0], at[1]
		for start > 0 && lexer.IsWordByte(text[start-1]) {
			start--
		}
		for end < len(text) && lexer.IsWordByte(text[end]) {
			end++
		}
		if end-start > longest {
			start, end = at[0], at[1]
		}
		words = append(words, text[start:end])
	}
	return joined(words)
}

// enclosing is the name of the definition that the place is in, as far as the lines above it are known; empty for none.
func (q quoted) enclosing() string {
	indent := indentation(q.text)
	if indent == 0 {
		return ""
	}
	for number := q.line - 1; number > 0; number-- {
		line, ok := q.source.lines[number]
		if !ok {
			return ""
		}
		if strings.TrimSpace(line) == "" || indentation(line) >= indent {
			continue
		}
		if name, minor := outline.Defines(line); name != "" && !minor {
			return name
		}
		if indent = indentation(line); indent == 0 && !strings.ContainsAny(strings.TrimSpace(line)[:1], ")}]") {
			return ""
		}
	}
	return ""
}

// indentation is the width of the blanks before a line's text, a tab going to the next multiple of 8.
func indentation(line string) int {
	width := 0
	for i := range len(line) {
		switch line[i] {
		case ' ':
			width++
		case '\t':
			width = width/8*8 + 8
		default:
			return width
		}
	}
	return width
}

// lines are the place's line with its number, and what was read around it: the comment above a definition and how it
// goes on.
func (q quoted) lines() string {
	const comments, behind, longest = 3, 2, 160
	first, last := q.line, q.line
	for first > 1 && q.line-first < comments && q.name != "" {
		above, ok := q.source.lines[first-1]
		if text := strings.TrimSpace(above); !ok || !isRemark(place{path: q.path, text: text}) {
			break
		}
		first--
	}
	if q.name != "" && !q.minor {
		for last < q.line+behind {
			below, ok := q.source.lines[last+1]
			if !ok || strings.TrimSpace(below) == "" || strings.TrimRight(q.text, " \t") == "}" {
				break
			}
			last++
		}
	}
	var b strings.Builder
	for number := first; number <= last; number++ {
		text := q.text
		if known, ok := q.source.lines[number]; ok {
			text = known
		}
		if runes := []rune(text); len(runes) > longest {
			text = string(runes[:longest-1]) + "…"
		}
		fmt.Fprintf(&b, "%6d  %s\n", number, strings.TrimRight(text, " \t\r"))
	}
	return b.String()
}
