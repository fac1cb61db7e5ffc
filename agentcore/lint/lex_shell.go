package lint

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// heredocWord is what stands behind "<<".
var heredocWord = lazyregexp.New(`^(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([A-Za-z_]\w*))`)

// heredoc is a document that begins on the next line.
type heredoc struct {
	word string
	tabs bool
}

// shell reads a script of sh or bash: quoted strings, comments and here-documents. Command substitutions
// inside of double quotes count as part of the string.
func (l *lexer) shell() {
	var pending []heredoc
	for at := 0; at < len(l.text); {
		switch c := l.text[at]; {
		case c == '\\':
			at += 2
		case c == '\n':
			at++
			for _, document := range pending {
				end := l.document(at, document)
				if end < 0 {
					return // nothing is certain from here on
				}
				at = end
			}
			pending = nil
		case c == '#' && (at == 0 || strings.IndexByte(" \t\n;|&()", l.text[at-1]) >= 0):
			at = l.comment(at, l.lineEnd(at))
		case c == '\'':
			end := strings.IndexByte(l.text[at+1:], '\'')
			if at > 0 && l.text[at-1] == '$' {
				end = l.ansi(at) - at - 2
			}
			if end < 0 {
				at++
				continue
			}
			at = l.literal(at, at+1+end+1)
		case c == '"':
			end := l.doubleQuoted(at)
			if end < 0 {
				return // nothing is certain from here on
			}
			at = l.literal(at, end)
		case l.has(at, "<<<"):
			at += 3
		case l.has(at, "<<") && !l.arithmetic(at):
			at += 2
			if match := heredocWord().FindStringSubmatch(l.text[at:]); match != nil {
				pending = append(pending, heredoc{word: match[2] + match[3] + match[4], tabs: match[1] == "-"})
				at += len(match[0])
			}
		default:
			at++
		}
	}
}

// ansi returns the end of a $'…' string, or 0.
func (l *lexer) ansi(at int) int {
	for i := at + 1; i < len(l.text); i++ {
		switch l.text[i] {
		case '\\':
			i++
		case '\'':
			return i + 1
		}
	}
	return 0
}

// doubleQuoted returns the end of a string in double quotes, or -1. A $( in it may hold further strings.
func (l *lexer) doubleQuoted(at int) int {
	for i := at + 1; i < len(l.text); i++ {
		switch {
		case l.text[i] == '\\':
			i++
		case l.text[i] == '"':
			return i + 1
		case l.has(i, "$("):
			end := l.substitution(i + 2)
			if end < 0 {
				return -1
			}
			i = end - 1
		}
	}
	return -1
}

// substitution returns the offset behind the parenthesis that closes a $(, or -1.
func (l *lexer) substitution(at int) int {
	depth := 1
	for i := at; i < len(l.text); i++ {
		switch l.text[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\'':
			end := strings.IndexByte(l.text[i+1:], '\'')
			if end < 0 {
				return -1
			}
			i += end + 1
		case '"':
			end := l.doubleQuoted(i)
			if end < 0 {
				return -1
			}
			i = end - 1
		}
	}
	return -1
}

// arithmetic reports whether a "<<" shifts: there is an open "((" before it on its line.
func (l *lexer) arithmetic(at int) bool {
	start := strings.LastIndexByte(l.text[:at], '\n') + 1
	open := strings.LastIndex(l.text[start:at], "((")
	return open >= 0 && !strings.Contains(l.text[start+open:at], "))")
}

// document blanks a here-document with its last line. It returns -1 for one without an end.
func (l *lexer) document(start int, d heredoc) int {
	for at := start; at < len(l.text); {
		end := l.lineEnd(at)
		line := l.text[at:end]
		if d.tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if line == d.word {
			l.strings = append(l.strings, span{start, end})
			l.blank(start, end)
			return end
		}
		at = end + 1
	}
	return -1
}
