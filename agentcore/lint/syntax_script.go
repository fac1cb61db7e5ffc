package lint

import (
	"strings"

	"github.com/agentls/agentls/agentcore/lexer"
)

// brackets are the pairs of brackets in the code of a script.
type brackets struct {
	// close holds the offset of the closing bracket by that of the opening one, and open the reverse.
	close, open map[int]int
	// balanced is false if some bracket has no partner; then nothing is said about structure.
	balanced bool
}

func findBrackets(code string) *brackets {
	b := &brackets{close: map[int]int{}, open: map[int]int{}, balanced: true}
	var stack []int
	for i := range len(code) {
		switch c := code[i]; c {
		case '(', '[', '{':
			stack = append(stack, i)
		case ')', ']', '}':
			if len(stack) == 0 || partner(code[stack[len(stack)-1]]) != c {
				b.balanced = false
				continue
			}
			b.close[stack[len(stack)-1]] = i
			b.open[i] = stack[len(stack)-1]
			stack = stack[:len(stack)-1]
		}
	}
	b.balanced = b.balanced && len(stack) == 0
	return b
}

func partner(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// skipBlank returns the offset of the next byte that is no blank.
func skipBlank(code string, at int) int {
	for at < len(code) && strings.IndexByte(" \t\n\r", code[at]) >= 0 {
		at++
	}
	return at
}

// lastBefore returns the offset of the last byte before an offset that is no blank, or -1.
func lastBefore(code string, at int) int {
	for at--; at >= 0 && strings.IndexByte(" \t\n\r", code[at]) >= 0; at-- {
	}
	return at
}

// wordAt returns the word that begins at an offset.
func wordAt(code string, at int) string {
	end := at
	for end < len(code) && lexer.IsWordByte(code[end]) {
		end++
	}
	return code[at:end]
}

// words yields the offsets where a word stands alone in the code, and not behind a dot.
func (f *File) words(word string) func(func(int) bool) {
	return func(yield func(int) bool) {
		for at := 0; ; {
			found := strings.Index(f.code[at:], word)
			if found < 0 {
				return
			}
			at += found
			end := at + len(word)
			alone := (at == 0 || !lexer.IsWordByte(f.code[at-1]) && f.code[at-1] != '.' && f.code[at-1] != '#') && (end == len(f.code) || !lexer.IsWordByte(f.code[end]))
			if alone && !yield(at) {
				return
			}
			at = end
		}
	}
}

// branch is one "if (…) body" of a script.
type branch struct {
	at        int
	condition span
	// body is the statement behind the condition, without the braces if it has them.
	body   span
	braced bool
	// next is the offset of the if in "else if", or 0.
	next int
	// otherwise is the body of a plain else in braces; empty without one.
	otherwise span
}

// branches returns the ifs of a script, by the offset of their word.
func (f *File) branches() []branch {
	if f.blocks == nil || !f.blocks.balanced {
		return nil
	}
	var found []branch
	for at := range f.words("if") {
		open := skipBlank(f.code, at+len("if"))
		close, ok := f.blocks.close[open]
		if !ok || f.code[open] != '(' {
			continue
		}
		b := branch{at: at, condition: span{open + 1, close}}
		body := skipBlank(f.code, close+1)
		end, ok := f.blocks.close[body]
		if !ok || f.code[body] != '{' {
			found = append(found, b)
			continue
		}
		b.body, b.braced = span{body + 1, end}, true
		behind := skipBlank(f.code, end+1)
		if wordAt(f.code, behind) == "else" {
			next := skipBlank(f.code, behind+len("else"))
			if wordAt(f.code, next) == "if" {
				b.next = next
			} else if close, ok := f.blocks.close[next]; ok && f.code[next] == '{' {
				b.otherwise = span{next + 1, close}
			}
		}
		found = append(found, b)
	}
	return found
}

// statementStart reports whether a statement may begin at an offset: behind a semicolon or a brace, and so not
// behind the parenthesis of an if or the colon of a label.
func (f *File) statementStart(at int) bool {
	before := lastBefore(f.code, at)
	return before < 0 || strings.IndexByte(";{}", f.code[before]) >= 0
}

// statementEnd returns the offset behind the semicolon that ends the statement at an offset, or -1 if it is not
// certain where that is.
func (f *File) statementEnd(at int) int {
	for i := at; i < len(f.code); i++ {
		switch f.code[i] {
		case '(', '[', '{':
			close, ok := f.blocks.close[i]
			if !ok {
				return -1
			}
			i = close
		case ')', ']', '}':
			return -1
		case ';':
			return i + 1
		case '\n':
			// A bare return, break or continue ends with its line.
			switch strings.TrimSpace(f.code[at:i]) {
			case "return", "break", "continue":
				return i
			}
		}
	}
	return -1
}
