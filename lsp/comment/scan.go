package comment

import (
	"strings"
	"unicode/utf8"
)

// span is a comment in a text, from its first byte to behind its last. That of a line comment ends before the end of the line.
type span struct {
	start, end int
	// marker is what it begins with, closing what a block comment ends with.
	marker, closing string
	block           bool
}

// body is what stands behind the marker.
func (s span) body(text string) string {
	return strings.TrimSuffix(text[s.start+len(s.marker):s.end], s.closing)
}

// lines are those of the comment without what decorates them, without blank ones at both ends.
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

// column is how many bytes of its line stand in front of it.
func (s span) column(text string) int { return s.start - lineStart(text, s.start) }

// alone reports whether only white space stands in front of it.
func (s span) alone(text string) bool {
	return strings.TrimSpace(text[lineStart(text, s.start):s.start]) == ""
}

func lineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

// scan finds the comments of a text.
func scan(x *syntax, text string) []span {
	var list []span
	for at := 0; at < len(text); {
		if s, ok := x.commentAt(text, at); ok {
			list = append(list, s)
			at = max(s.end, at+1)
			continue
		}
		at = x.behind(text, at)
	}
	return list
}

func (x *syntax) commentAt(text string, at int) (span, bool) {
	rest := text[at:]
	for _, b := range x.blocks {
		if !strings.HasPrefix(rest, b.open) || b.atLine && at != lineStart(text, at) {
			continue
		}
		return span{start: at, end: at + b.length(rest), marker: b.open, closing: b.close, block: true}, true
	}
	for _, l := range x.lines {
		if len(rest) < len(l.marker) || !strings.EqualFold(rest[:len(l.marker)], l.marker) || !l.begins(text, at) {
			continue
		}
		end := strings.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		return span{start: at, end: at + len(strings.TrimSuffix(rest[:end], "\r")), marker: rest[:len(l.marker)]}, true
	}
	return span{}, false
}

// length is that of the block comment that a text begins with; one without an end goes on to the text's.
func (b block) length(text string) int {
	depth, at := 1, len(b.open)
	for at < len(text) {
		switch {
		case strings.HasPrefix(text[at:], b.close):
			at += len(b.close)
			if depth--; depth == 0 {
				return at
			}
		case b.nested && strings.HasPrefix(text[at:], b.open):
			at += len(b.open)
			depth++
		default:
			at++
		}
	}
	return at
}

// begins reports whether a line comment can begin here.
func (l line) begins(text string, at int) bool {
	before := byte('\n')
	if at > 0 {
		before = text[at-1]
	}
	next := byte('\n')
	if end := at + len(l.marker); end < len(text) {
		next = text[end]
	}
	switch l.where {
	case first:
		return strings.TrimSpace(text[lineStart(text, at):at]) == ""
	case word:
		return strings.IndexByte(" \t\r\n;()|&{}", before) >= 0
	case statement:
		front := strings.TrimSpace(text[lineStart(text, at):at])
		return strings.IndexByte(" \t\r\n", next) >= 0 && (front == "" || front == "@" || strings.HasSuffix(front, ":") || strings.Trim(front, "0123456789") == "")
	case unescaped:
		return before != '\\'
	case symbol: // "-->" and "|--" are operators
		const symbols = "!#$%&*+./<=>?@\\^|~:"
		return strings.IndexByte(symbols, before) < 0 && strings.IndexByte(symbols, next) < 0
	}
	return before != ':' || l.marker != "//" // of an address
}

// behind is the offset behind what stands at a place that is no comment: a string, or a character.
func (x *syntax) behind(text string, at int) int {
	rest := text[at:]
	if x.escapes != "" && strings.IndexByte(x.escapes, rest[0]) >= 0 && len(rest) > 1 {
		_, size := utf8.DecodeRuneInString(rest[1:])
		return at + 1 + size
	}
	for _, q := range x.quotes {
		if !strings.HasPrefix(rest, q.open) {
			continue
		}
		if q.atWord && at > 0 && strings.IndexByte(" \t\r\n[{(,:=-<>|;", text[at-1]) < 0 {
			break
		}
		if q.char {
			return at + character(rest)
		}
		return at + q.length(rest)
	}
	return at + 1
}

// length is that of the string that a text begins with. One that may not go over the end of a line ends there.
func (q quote) length(text string) int {
	for at := len(q.open); at < len(text); {
		switch {
		case q.escape && text[at] == '\\':
			at += 2
		case strings.HasPrefix(text[at:], q.close):
			at += len(q.close)
			if q.doubled && strings.HasPrefix(text[at:], q.close) {
				at += len(q.close)
				continue
			}
			return at
		case text[at] == '\n' && !q.long:
			return at
		default:
			at++
		}
	}
	return len(text)
}

// character is the length of the character literal that a text begins with, or of the sign alone, as that of a lifetime.
func character(text string) int {
	const longest = 12 // '\u{10FFFF}'
	if strings.HasPrefix(text, `'\`) && len(text) > 3 {
		if end := strings.IndexByte(text[3:min(len(text), longest)], '\''); end >= 0 {
			return 3 + end + 1
		}
		return 1
	}
	_, size := utf8.DecodeRuneInString(text[1:])
	if strings.HasPrefix(text[1+size:], "'") && text[1] != '\'' {
		return 1 + size + 1
	}
	return 1
}
