// Package lexer finds comments and strings in the code of many languages, by one table of how these languages write
// them. It recognizes nothing else. So it is small and fast, and also works on broken or unfinished texts.
//
// A library would not be better here: chroma's lexers, made for highlighting, add four megabytes to the binary and ten
// milliseconds to each start.
package lexer

import (
	"strings"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// Kind is the kind of a token.
type Kind int

// The kinds. A regular expression is a String, and so is a part of a string that contains code.
const (
	LineComment Kind = iota
	BlockComment
	String
	Document // a here-document of a shell: its lines after the one with "<<", with the line that ends it
)

// Token is a comment or a string.
type Token struct {
	Kind Kind
	// Start and End are bytes of the text. A line comment ends before the end of its line.
	Start, End int
	// Open and Close are the lengths of the signs at both ends; 0 if there is none, such as at the end of a comment
	// that is not closed.
	Open, Close int
}

// IsComment reports whether it is a comment.
func (t Token) IsComment() bool { return t.Kind <= BlockComment }

// IsWordByte reports whether a byte may be part of a name; all bytes of characters beyond ASCII may.
func IsWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// WordBefore returns the word that ends before an offset of a text, empty for none.
func WordBefore(text string, at int) string {
	start := at
	for start > 0 && IsWordByte(text[start-1]) {
		start--
	}
	return text[start:at]
}

// Scan returns the comments and strings of a text, in order.
func (x *Syntax) Scan(text string) []Token {
	s := scanner{Syntax: x, text: text}
	s.begins['\n'] = x.heredocs
	s.begins['<'] = x.heredocs
	s.begins['/'] = x.regexps
	for _, sign := range x.signs() {
		s.begins[sign[0]] = true
		s.begins[strings.ToLower(sign)[0]] = true
	}
	s.code(0, 0, 0)
	return s.tokens
}

// signs are the beginnings of comments, strings and escaped characters.
func (x *Syntax) signs() []string {
	list := strings.Split(x.escapes, "")
	for _, b := range x.blocks {
		list = append(list, b.open)
	}
	for _, l := range x.lines {
		list = append(list, l.marker)
	}
	for _, q := range x.quotes {
		list = append(list, q.open)
	}
	return list
}

// scanner reads one text. Its methods take an offset and return the offset behind what they have read.
type scanner struct {
	*Syntax
	text   string
	tokens []Token
	// begins are the bytes with which a token may begin.
	begins [256]bool
	// documents are here-documents that were announced and have not begun yet.
	documents []document
}

// code reads up to the bracket that closes the code, if any, and returns its offset.
func (s *scanner) code(at int, open, close byte) int {
	for depth := 0; at < len(s.text); {
		if close != 0 && s.text[at] == close {
			if depth == 0 {
				return at
			}
			depth--
		} else if close != 0 && s.text[at] == open {
			depth++
		}
		if !s.begins[s.text[at]] {
			at++
			continue
		}
		if t, ok := s.commentAt(at); ok {
			s.tokens = append(s.tokens, t)
			at = max(t.End, at+1)
			continue
		}
		at = s.behind(at)
	}
	return len(s.text)
}

func (s *scanner) commentAt(at int) (Token, bool) {
	rest := s.text[at:]
	for _, b := range s.blocks {
		if !strings.HasPrefix(rest, b.open) || b.atLine && at != lineStart(s.text, at) {
			continue
		}
		length, end := b.length(rest)
		return Token{Kind: BlockComment, Start: at, End: at + length, Open: len(b.open), Close: end}, true
	}
	for _, l := range s.lines {
		if len(rest) < len(l.marker) || !strings.EqualFold(rest[:len(l.marker)], l.marker) || !l.begins(s.text, at) {
			continue
		}
		line, _, _ := strings.Cut(rest, "\n")
		return Token{Start: at, End: at + len(strings.TrimSuffix(line, "\r")), Open: len(l.marker)}, true
	}
	return Token{}, false
}

func lineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

// length returns the length of the block comment at the beginning of a text, and the length of its closing sign. A
// comment without an end reaches to the end of the text.
func (b block) length(text string) (all, end int) {
	depth, at := 1, len(b.open)
	for at < len(text) {
		switch {
		case strings.HasPrefix(text[at:], b.close):
			at += len(b.close)
			if depth--; depth == 0 {
				return at, len(b.close)
			}
		case b.nested && strings.HasPrefix(text[at:], b.open):
			at += len(b.open)
			depth++
		default:
			at++
		}
	}
	return at, 0
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
	case opening:
		return at == 0
	case word:
		if before == '{' && at > 1 && text[at-2] == '$' { // ${#name} is the length of a variable
			return false
		}
		return strings.IndexByte(" \t\r\n;()|&{}", before) >= 0
	case statement:
		front := strings.TrimSpace(text[lineStart(text, at):at])
		return strings.IndexByte(" \t\r\n", next) >= 0 &&
			(front == "" || front == "@" || strings.HasSuffix(front, ":") || strings.Trim(front, "0123456789") == "")
	case unescaped:
		return before != '\\'
	case symbol: // "-->" and "|--" are operators
		const symbols = "!#$%&*+./<=>?@\\^|~:"
		return strings.IndexByte(symbols, before) < 0 && strings.IndexByte(symbols, next) < 0
	}
	return before != ':' || l.marker != "//" // after a colon, it belongs to an address
}

// behind is the offset behind a string or a character, at a place without a comment.
func (s *scanner) behind(at int) int {
	rest := s.text[at:]
	switch {
	case rest[0] == '\n' && len(s.documents) > 0:
		return s.read(at + 1)
	case s.heredocs && strings.HasPrefix(rest, "<<"):
		return s.announce(at)
	case s.regexps && rest[0] == '/':
		if end := regexpEnd(s.text, at); end > 0 && s.valueAt(at) {
			s.tokens = append(s.tokens, Token{String, at, end, 1, 1})
			return end
		}
		return at + 1
	case strings.IndexByte(s.escapes, rest[0]) >= 0 && len(rest) > 1:
		_, size := utf8.DecodeRuneInString(rest[1:])
		return at + 1 + size
	}
	for i := range s.quotes {
		q := &s.quotes[i]
		if !strings.HasPrefix(rest, q.open) {
			continue
		}
		if q.atWord && at > 0 && strings.IndexByte(" \t\r\n[{(,:=-<>|;", s.text[at-1]) < 0 {
			break
		}
		if q.afterWord {
			if before := WordBefore(s.text, at); before != "" && !beforeValue(before) {
				break
			}
		}
		if !q.char {
			return s.quoted(at, q)
		}
		length := character(rest)
		if length > 1 {
			s.tokens = append(s.tokens, Token{String, at, at + length, 1, 1})
		}
		return at + length
	}
	return at + 1
}

// quoted reads a string. A string that may have only one line ends with its line at the latest.
func (s *scanner) quoted(start int, q *quote) int {
	open := len(q.open)
	end := func(at, close int) int {
		at = min(at, len(s.text))
		s.tokens = append(s.tokens, Token{String, start, at, open, close})
		return at
	}
	for at := start + open; at < len(s.text); {
		rest := s.text[at:]
		switch {
		case q.escape && rest[0] == '\\':
			at += 2
		case q.embed != "" && strings.HasPrefix(rest, q.embed):
			if !q.whole {
				end(at, 0)
			}
			known := len(s.tokens)
			at = s.code(at+len(q.embed), q.embed[1], closing(q.embed[1]))
			if q.whole {
				s.tokens = s.tokens[:known]
				at++
				continue
			}
			if at == len(s.text) {
				return at
			}
			at++
			start, open = at, 0
		case strings.HasPrefix(rest, q.close):
			at += len(q.close)
			if q.doubled && strings.HasPrefix(s.text[at:], q.close) {
				at += len(q.close)
				continue
			}
			return end(at, len(q.close))
		case rest[0] == '\n' && !q.long:
			return end(at, 0)
		default:
			at++
		}
	}
	return end(len(s.text), 0)
}

func closing(bracket byte) byte {
	if bracket == '(' {
		return ')'
	}
	return '}'
}

// regexpEnd returns the end of a regular expression that would begin at a slash, or -1 if the line ends first.
func regexpEnd(text string, at int) int {
	class := false
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
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

// valueAt reports whether a value may begin at an offset, judging by the text before it without comments.
func (s *scanner) valueAt(at int) bool {
	known := len(s.tokens)
	for at > 0 {
		if strings.IndexByte(" \t\r\n", s.text[at-1]) >= 0 {
			at--
		} else if known > 0 && s.tokens[known-1].End == at && s.tokens[known-1].IsComment() {
			known--
			at = s.tokens[known].Start
		} else {
			break
		}
	}
	return at == 0 || strings.IndexByte("(,=:[!&|?{;+-*%~^>", s.text[at-1]) >= 0 || beforeValue(WordBefore(s.text, at))
}

// beforeValue reports whether a word of JavaScript is no value itself and precedes one.
func beforeValue(word string) bool {
	switch word {
	case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "else", "do", "await", "yield", "from",
		"import", "export",
		"default", "extends", "instanceof", "require", "as", "is":
		return true
	}
	return false
}

// document is a here-document that begins on the next line.
type document struct {
	word string
	tabs bool
}

// heredocWord matches the text after "<<".
var heredocWord = lazyregexp.New(`^(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([A-Za-z_]\w*))`)

// announce reads text that begins with "<<": a here-document, a here-string or, in arithmetic, a shift.
func (s *scanner) announce(at int) int {
	if strings.HasPrefix(s.text[at:], "<<<") {
		return at + 3
	}
	line := s.text[lineStart(s.text, at):at]
	if open := strings.LastIndex(line, "(("); open >= 0 && !strings.Contains(line[open:], "))") {
		return at + 2
	}
	match := heredocWord().FindStringSubmatch(s.text[at+2:])
	if match == nil {
		return at + 2
	}
	s.documents = append(s.documents, document{word: match[2] + match[3] + match[4], tabs: match[1] == "-"})
	return at + 2 + len(match[0])
}

// read reads the announced documents. If a document has no end, nothing after its beginning is certain.
func (s *scanner) read(at int) int {
	for _, d := range s.documents {
		start, found := at, false
		for at < len(s.text) && !found {
			line, _, _ := strings.Cut(s.text[at:], "\n")
			end := at + len(line)
			if d.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if found = strings.TrimSuffix(line, "\r") == d.word; found {
				s.tokens = append(s.tokens, Token{Kind: Document, Start: start, End: end})
			}
			at = min(end+1, len(s.text))
		}
		if !found {
			at = len(s.text)
			break
		}
	}
	s.documents = nil
	return at
}

// character is the length of the character literal at the beginning of a text, or only of the sign if it is not one, as
// in a lifetime of Rust.
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
