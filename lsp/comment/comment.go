// Package comment finds the comments of a source text that ask an agent for something:
//
//	// agent: return the error instead of dropping it
//	# agent@tester: cover the empty list
//
// Package lexer tells comments from strings. If it errs, a comment that is no request is offered, or a request is not
// offered. Nothing is done without the user's choice.
package comment

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// Request is a comment that asks for something.
type Request struct {
	// Agent is the name behind the @, empty for the default agent. It may name no agent.
	Agent string
	// Text is the request. The lines of a comment are joined to one line, except for lists and blank lines.
	Text string
	// StartLine and EndLine are the lines of the comment, 0-based, both inclusive.
	StartLine, EndLine int
	// Start and End are the bytes to remove from the text, so that nothing of the comment is left. They cover whole
	// lines with their ends, unless a line has other text.
	Start, End int
}

// Requests returns the requests in a text, in order. language is LSP's languageId. If it is not known, the file's name
// decides.
func Requests(language, path, text string) []Request {
	if !strings.Contains(text, "agent:") && !strings.Contains(text, "agent@") {
		return nil
	}
	comments := commentsOf(language, path, text)
	var list []Request
	for i := 0; i < len(comments); {
		r, used := requestAt(text, comments[i:])
		if used > 0 {
			list = append(list, r)
		}
		i += max(used, 1)
	}
	number(text, list)
	return list
}

// asks matches the text of a comment that is a request.
var asks = lazyregexp.New(`^agent(?:@([A-Za-z0-9][\w-]*))?:(\s*)(\S(?s:.*))$`)

// requestAt reads the request that begins with the first comment; used is how many comments belong to it, 0 for no
// request.
func requestAt(text string, comments []span) (r Request, used int) {
	first := comments[0]
	lines := first.lines(text)
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "agent") {
		return r, 0
	}
	used = 1
	last := first
	for !first.block && used < len(comments) && continues(text, first, last, comments[used]) {
		last = comments[used]
		lines = append(lines, last.lines(text)...)
		used++
	}
	parts := asks().FindStringSubmatch(joined(lines))
	if parts == nil || parts[2] == "" && strings.HasPrefix(parts[3], "//") { // a URL, such as agent://
		return r, 0
	}
	r.Agent, r.Text = parts[1], parts[3]
	r.Start, r.End = cut(text, first, last)
	r.StartLine, r.EndLine = first.start, last.end // offsets, which number replaces by line numbers
	return r, used
}

// continues reports whether a line comment continues the one on the line before it: it stands in the same column, with
// nothing before it, and begins with the same marker as the first one.
func continues(text string, first, last, next span) bool {
	if next.block || next.marker != first.marker || next.column(text) != first.column(text) || !next.alone(text) {
		return false
	}
	if gap := text[last.end:next.start]; strings.Count(gap, "\n") != 1 || strings.TrimSpace(gap) != "" {
		return false
	}
	lines := next.lines(text)
	if len(lines) == 0 || asks().MatchString(lines[0]) {
		return false
	}
	// "//go:generate", "#!" and "/// docs" are something else below "// agent: …".
	return !spaced(first.body(text)) || spaced(next.body(text))
}

func spaced(body string) bool { return body != "" && (body[0] == ' ' || body[0] == '\t') }

// item matches a line that begins a new line of the text: an item of a list, or code.
var item = lazyregexp.New(`^(?:[-*+] |\d+[.)] |` + "```" + `)`)

// joined joins the lines of a comment to one text. An empty line is a blank line.
func joined(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		switch {
		case i == 0:
		case line == "" || lines[i-1] == "" || item().MatchString(line):
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	return strings.TrimSpace(b.String())
}

// cut returns the bytes to remove with the comments from first to last.
func cut(text string, first, last span) (start, end int) {
	start, end = first.start, last.end
	// A comment among the elements of JSX is in braces, which go with it.
	if first.block && strings.HasSuffix(text[:start], "{") && strings.HasPrefix(text[end:], "}") {
		start, end = start-1, end+1
	}
	before := strings.TrimRight(text[:start], " \t")
	after := strings.TrimLeft(text[end:], " \t")
	begins := before == "" || strings.HasSuffix(before, "\n")
	ends := after == "" || after[0] == '\n' || strings.HasPrefix(after, "\r\n")
	switch {
	case begins && ends: // whole lines
		start, end = len(before), len(text)-len(after)
		if rest := strings.TrimPrefix(after, "\r"); strings.HasPrefix(rest, "\n") {
			end = len(text) - len(rest) + 1
		}
	case ends: // behind code
		start, end = len(before), len(text)-len(after)
	case begins || len(before) < start: // in front of code, or between spaces
		end = len(text) - len(after)
	}
	return start, end
}

// number replaces offsets by line numbers.
func number(text string, list []Request) {
	line, at := 0, 0
	for i := range list {
		r := &list[i]
		line += strings.Count(text[at:r.StartLine], "\n")
		at = r.StartLine
		end := r.EndLine
		r.StartLine = line
		r.EndLine = line + strings.Count(text[at:end], "\n")
	}
}
