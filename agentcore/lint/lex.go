package lint

import (
	"go/scanner"
	"go/token"
	"strings"
)

// span is a range of bytes in a file's text.
type span struct{ start, end int }

// lexed is a text taken apart so far that rules about code see code alone.
type lexed struct {
	// code is as long as the text. Comments are blanks in it, and what stands in strings is underscores, line
	// endings included; quotes stay. All line endings outside of strings are there.
	code string
	// comments and strings are in order; a string's span includes its quotes.
	comments, strings []span
}

// lex takes a text apart as its language does.
func lex(of Language, text string) lexed {
	l := &lexer{text: text, code: []byte(text)}
	switch of {
	case Go:
		l.golang()
	case JavaScript, TypeScript:
		l.script(0, false)
	case Python:
		l.python()
	case Shell:
		l.shell()
	case Prose:
		l.prose()
	}
	return lexed{code: string(l.code), comments: l.comments, strings: l.strings}
}

// lexer is at work on one text. Its methods take an offset and return the one behind what they have read.
type lexer struct {
	text              string
	code              []byte
	comments, strings []span
}

func (l *lexer) has(at int, prefix string) bool {
	return at <= len(l.text) && strings.HasPrefix(l.text[at:], prefix)
}

// comment blanks a comment; its line endings stay.
func (l *lexer) comment(start, end int) int {
	l.comments = append(l.comments, span{start, end})
	return l.blank(start, end)
}

func (l *lexer) blank(start, end int) int {
	for i := start; i < end; i++ {
		if l.code[i] != '\n' {
			l.code[i] = ' '
		}
	}
	return end
}

// literal notes a string; its first and last byte are quotes.
func (l *lexer) literal(start, end int) int {
	l.strings = append(l.strings, span{start, end})
	l.fill(start+1, end-1)
	return end
}

func (l *lexer) fill(start, end int) {
	for i := start; i < end; i++ {
		l.code[i] = '_'
	}
}

// lineEnd returns the offset of the end of the line.
func (l *lexer) lineEnd(at int) int {
	if i := strings.IndexByte(l.text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(l.text)
}

// quoted returns the end of a string that opens at an offset with a quote of one byte, or -1 if it does not
// end on its line. A backslash escapes the next byte, a line ending too.
func (l *lexer) quoted(at int) int {
	quote := l.text[at]
	for i := at + 1; i < len(l.text); i++ {
		switch l.text[i] {
		case '\\':
			i++
		case '\n':
			return -1
		case quote:
			return i + 1
		}
	}
	return -1
}

func (l *lexer) golang() {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(l.text))
	var s scanner.Scanner
	s.Init(file, []byte(l.text), func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, kind, text := s.Scan()
		start := file.Offset(pos)
		end := min(start+len(text), len(l.text))
		switch kind {
		case token.EOF:
			return
		case token.COMMENT:
			// The scanner drops carriage returns from comments, so that the length may be less; that is harmless.
			l.comment(start, end)
		case token.STRING, token.CHAR:
			if end-start >= 2 {
				l.literal(start, end)
			}
		}
	}
}

// script reads JavaScript and TypeScript from an offset, to the end or, inside of a template literal, to the
// brace that closes the expression.
func (l *lexer) script(at int, nested bool) int {
	depth := 0
	for at < len(l.text) {
		switch c := l.text[at]; {
		case l.has(at, "//"), at == 0 && l.has(at, "#!"):
			at = l.comment(at, l.lineEnd(at))
		case l.has(at, "/*"):
			end := strings.Index(l.text[at+2:], "*/")
			if end < 0 {
				return l.comment(at, len(l.text))
			}
			at = l.comment(at, at+2+end+2)
		case c == '"' || c == '\'':
			// An apostrophe in the text of an element stands behind a letter, or has no second one on its line.
			if c == '\'' && at > 0 && IsWordByte(l.text[at-1]) && !beforeOperand(wordEnding(l.text, at-1)) {
				at++
			} else if end := l.quoted(at); end > 0 {
				at = l.literal(at, end)
			} else {
				at++
			}
		case c == '`':
			at = l.template(at)
		case c == '/':
			if end := l.regexp(at); end > 0 {
				at = l.literal(at, end)
			} else {
				at++
			}
		case c == '{':
			depth++
			at++
		case c == '}':
			if depth--; nested && depth < 0 {
				return at
			}
			at++
		default:
			at++
		}
	}
	return at
}

// template reads a template literal; the expressions in it stay code.
func (l *lexer) template(start int) int {
	index := len(l.strings)
	l.strings = append(l.strings, span{start, len(l.text)})
	for at := start + 1; at < len(l.text); {
		switch {
		case l.text[at] == '\\':
			l.fill(at, min(at+2, len(l.text)))
			at += 2
		case l.text[at] == '`':
			l.strings[index].end = at + 1
			return at + 1
		case l.has(at, "${"):
			at = l.script(at+2, true) + 1
		default:
			l.code[at] = '_'
			at++
		}
	}
	return len(l.text)
}

// regexp returns the end of the regular expression that begins at a slash, or -1 if the slash divides.
func (l *lexer) regexp(at int) int {
	before := at - 1
	for before >= 0 && strings.IndexByte(" \t\n", l.code[before]) >= 0 {
		before--
	}
	if before >= 0 && strings.IndexByte("(,=:[!&|?{;+-*%~^>", l.code[before]) < 0 {
		start := before
		for start >= 0 && IsWordByte(l.code[start]) {
			start--
		}
		if !beforeOperand(string(l.code[start+1 : before+1])) {
			return -1
		}
	}
	class := false
	for i := at + 1; i < len(l.text); i++ {
		switch l.text[i] {
		case '\\':
			i++
		case '\n':
			return -1
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return i + 1
			}
		}
	}
	return -1
}

// beforeOperand reports whether a word of JavaScript is followed by a value and is none itself.
func beforeOperand(word string) bool {
	switch word {
	case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "else", "do", "await", "yield", "from", "import", "export", "default", "extends", "instanceof", "require", "as", "is":
		return true
	}
	return false
}

func (l *lexer) python() {
	for at := 0; at < len(l.text); {
		switch c := l.text[at]; {
		case c == '#':
			at = l.comment(at, l.lineEnd(at))
		case l.has(at, `"""`) || l.has(at, `'''`):
			at = l.literal(at, l.triple(at))
		case c == '"' || c == '\'':
			if end := l.quoted(at); end > 0 {
				at = l.literal(at, end)
			} else {
				at++
			}
		default:
			at++
		}
	}
}

func (l *lexer) triple(at int) int {
	quote := l.text[at : at+3]
	for i := at + 3; i < len(l.text); i++ {
		switch {
		case l.text[i] == '\\':
			i++
		case l.has(i, quote):
			return i + 3
		}
	}
	return len(l.text)
}

// prose blanks what is code in Markdown and the like: fenced and indented blocks, spans between backticks,
// links' targets and tags of HTML. Such parts count as strings.
func (l *lexer) prose() {
	fence := ""
	for at := 0; at <= len(l.text); {
		end := l.lineEnd(at)
		line := l.text[at:end]
		trimmed := strings.TrimLeft(line, " \t>")
		switch {
		case fence != "":
			l.blank(at, end)
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]+" \t") == "" {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
			l.blank(at, end)
		case strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t"):
			l.blank(at, end)
		default:
			l.inline(at, end)
		}
		at = end + 1
	}
}

func (l *lexer) inline(at, end int) {
	lastTag := at + strings.LastIndexByte(l.text[at:end], '>')
	for at < end {
		var length int
		switch l.text[at] {
		case '`':
			ticks := len(l.text[at:end]) - len(strings.TrimLeft(l.text[at:end], "`"))
			if close := strings.Index(l.text[at+ticks:end], l.text[at:at+ticks]); close >= 0 {
				length = ticks + close + ticks
			} else {
				length = ticks
			}
		case '<':
			if at < lastTag {
				length = strings.IndexByte(l.text[at:end], '>') + 1
			}
		case ']':
			if l.has(at, "](") {
				length = strings.IndexByte(l.text[at:end], ')') + 1
			}
		}
		if length > 0 {
			l.fill(at, at+length)
		}
		at += max(length, 1)
	}
}

// IsWordByte reports whether a byte may be part of a name; all bytes of characters beyond ASCII may.
func IsWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
