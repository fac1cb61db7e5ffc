package lint

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lexer"
)

// logicalLine is a statement of Python or the head of one, which may go over several lines.
type logicalLine struct {
	span
	// first and last are its lines, from 1.
	first, last int
	// indent is its width in columns, a tab going to the next multiple of 8.
	indent int
	// code is its text without comments and what stands in strings, line endings being blanks.
	code string
	// keyword is its first word.
	keyword string
}

// logicalLines joins the lines of a file within brackets and behind backslashes. Empty lines and those with
// nothing but a comment are left out.
func logicalLines(f *File) []logicalLine {
	var lines []logicalLine
	depth, start := 0, -1
	for number := 1; number <= len(f.starts); number++ {
		at := f.starts[number-1]
		code := f.CodeLine(number)
		// The line ending within a string of several lines is an underscore in the code.
		if start < 0 {
			if strings.TrimSpace(code) == "" {
				continue
			}
			start = number
		}
		for i := range len(code) {
			switch code[i] {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth = max(depth-1, 0)
			}
		}
		end := at + len(code)
		goesOn := strings.HasSuffix(code, "\\") || end < len(f.code) && f.code[end] == '_'
		if number < len(f.starts) && (depth > 0 || goesOn) {
			continue
		}
		lines = append(lines, newLogicalLine(f, start, number, end))
		start, depth = -1, 0
	}
	return lines
}

func newLogicalLine(f *File, first, last, end int) logicalLine {
	line := logicalLine{span: span{f.starts[first-1], end}, first: first, last: last}
	code := f.code[line.start:end]
	for i := range len(code) {
		if code[i] == ' ' {
			line.indent++
		} else if code[i] == '\t' {
			line.indent += 8 - line.indent%8
		} else {
			line.start += i
			break
		}
	}
	if first < last {
		code = strings.ReplaceAll(strings.ReplaceAll(code, "\\\n", "  "), "\n", " ")
	}
	line.code = strings.TrimSpace(code)
	word := 0
	for word < len(line.code) && lexer.IsWordByte(line.code[word]) {
		word++
	}
	line.keyword = line.code[:word]
	return line
}

// block returns the index behind the last logical line of the block that the line at an index heads.
func block(lines []logicalLine, head int) int {
	end := head + 1
	for end < len(lines) && lines[end].indent > lines[head].indent {
		end++
	}
	return end
}
