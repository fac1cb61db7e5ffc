package comment

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lexer"
)

// span is a comment in a text, from its first byte to the end of its last. A line comment's span does not contain the
// end of its line.
type span struct {
	start, end int
	// marker begins the comment; closing ends a block comment.
	marker, closing string
	block           bool
}

// commentsOf returns the comments of a text.
func commentsOf(language, path, text string) []span {
	var list []span
	for _, t := range lexer.Of(language, path).Scan(text) {
		if t.IsComment() {
			list = append(list, span{
				start: t.Start, end: t.End, marker: text[t.Start : t.Start+t.Open],
				closing: text[t.End-t.Close : t.End], block: t.Kind == lexer.BlockComment,
			})
		}
	}
	return list
}

// body is the text between the markers.
func (s span) body(text string) string {
	return text[s.start+len(s.marker) : s.end-len(s.closing)]
}

// lines are the comment's lines without decoration, and without blank lines at both ends.
func (s span) lines(text string) []string {
	decoration := "*!"
	if !s.block {
		decoration += s.marker
	}
	var list []string
	for line := range strings.Lines(s.body(text)) {
		line = strings.TrimSpace(line)
		if bare := strings.TrimLeft(line, decoration); bare == "" || spaced(bare) || len(list) == 0 {
			line = strings.TrimSpace(bare)
		}
		if line != "" || len(list) > 0 {
			list = append(list, line)
		}
	}
	if n := len(list); s.block && n > 0 {
		list[n-1] = strings.TrimSpace(strings.TrimRight(list[n-1], "*-"))
	}
	for len(list) > 0 && list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}

// column is how many bytes precede the comment on its line.
func (s span) column(text string) int { return s.start - lineStart(text, s.start) }

// alone reports whether only white space precedes the comment on its line.
func (s span) alone(text string) bool {
	return strings.TrimSpace(text[lineStart(text, s.start):s.start]) == ""
}

func lineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }
