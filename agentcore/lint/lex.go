package lint

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lexer"
)

// span is a range of bytes in a file's text.
type span struct{ start, end int }

// lexed is a text in which comments and strings were found, so that rules about code see only code.
type lexed struct {
	// code is as long as the text. Comments and here-documents are replaced by blanks. The contents of strings, with
	// their line endings, are replaced by underscores; the quotes stay. All line endings outside of strings are kept.
	code string
	// comments are in order.
	comments []span
}

// lexerNames are the languages whose texts are code, as the lexer knows them.
var lexerNames = map[Language]string{
	Go: "go", JavaScript: "javascript", TypeScript: "typescript", Python: "python",
	Shell: "bash",
}

// lex finds comments and strings by the rules of the text's language.
func lex(of Language, text string) lexed {
	if of == Prose {
		return lexed{code: string(prose(text))}
	}
	name, known := lexerNames[of]
	if !known {
		return lexed{code: text}
	}
	var l lexed
	code := []byte(text)
	for _, t := range lexer.Of(name, "").Scan(text) {
		switch t.Kind {
		case lexer.LineComment, lexer.BlockComment:
			l.comments = append(l.comments, span{t.Start, t.End})
			blank(code[t.Start:t.End])
		case lexer.Document:
			blank(code[t.Start:t.End])
		default:
			fill(code[t.Start+t.Open : t.End-t.Close])
		}
	}
	l.code = string(code)
	return l
}

// blank replaces everything except line endings by blanks.
func blank(code []byte) {
	for i, c := range code {
		if c != '\n' {
			code[i] = ' '
		}
	}
}

func fill(code []byte) {
	for i := range code {
		code[i] = '_'
	}
}

// fenceOf returns the fence of Markdown with which a line begins, or "". The line is given without space before it.
func fenceOf(trimmed string) string {
	if !strings.HasPrefix(trimmed, "```") && !strings.HasPrefix(trimmed, "~~~") {
		return ""
	}
	return trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
}

// closes reports whether a line ends the block that a fence has opened.
func closes(trimmed, fence string) bool {
	return strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]+" \t") == ""
}

// prose returns a text without code in Markdown and the like: fenced and indented blocks, spans between backticks,
// targets of links, and tags of HTML.
func prose(text string) []byte {
	code := []byte(text)
	fence := ""
	at := 0
	for line := range strings.Lines(text) {
		part := code[at : at+len(line)]
		trimmed := strings.TrimLeft(strings.TrimSuffix(line, "\n"), " \t>")
		switch opened := fenceOf(trimmed); {
		case fence != "":
			blank(part)
			if closes(trimmed, fence) {
				fence = ""
			}
		case opened != "":
			fence = opened
			blank(part)
		case strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t"):
			blank(part)
		default:
			inline(part, strings.TrimSuffix(line, "\n"))
		}
		at += len(line)
	}
	return code
}

// inline fills the code within a line.
func inline(code []byte, line string) {
	lastTag := strings.LastIndexByte(line, '>')
	for at := 0; at < len(line); {
		rest := line[at:]
		length := 0
		switch {
		case rest[0] == '`':
			ticks := len(rest) - len(strings.TrimLeft(rest, "`"))
			length = ticks
			if end := strings.Index(rest[ticks:], rest[:ticks]); end >= 0 {
				length = ticks + end + ticks
			}
		case rest[0] == '<' && at < lastTag:
			length = strings.IndexByte(rest, '>') + 1
		case strings.HasPrefix(rest, "]("):
			length = strings.IndexByte(rest, ')') + 1
		}
		fill(code[at : at+length])
		at += max(length, 1)
	}
}
