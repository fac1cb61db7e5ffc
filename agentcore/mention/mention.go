// Package mention finds what a prompt refers to by "@": files, lines of files, folders, and words that stand for
// several things. It knows only how mentions are written; the owner of the files knows what they stand for.
//
// A mention begins at the start of a word: "@src/main.go", "@src/main.go:10-20", "@src/main.go#L10-L20", "@\"a
// b.txt\"", "@src/", "@diff", "@diagnostics". An address such as me@example.org is no mention, and neither is text in
// code between backticks. Punctuation behind a mention does not belong to it.
package mention

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// The words that stand for several things.
const (
	Diagnostics = "diagnostics"
	Diff        = "diff"
)

// Mention is one "@" of a prompt.
type Mention struct {
	// Start and End are where it stands in the prompt, in bytes, the "@" included.
	Start, End int
	// Name is what it names: a path as it was written, or one of the words.
	Name string
	// First and Last are the lines that are meant, 1-based, both inclusive; 0 stands for the whole file.
	First, Last int
}

// Text is the mention as it was written.
func (m Mention) Text(prompt string) string { return prompt[m.Start:m.End] }

// numbered matches a name with lines behind it: ":10", ":10-20", "#L10", "#L10-L20", "#L10-20".
var numbered = lazyregexp.New(`(?s)^(|.*[^:]):(\d{1,9})(?:-(\d{1,9}))?$|^(.*)#L(\d{1,9})(?:-L?(\d{1,9}))?$`)

// Find returns the mentions of a prompt, in their order. The files that they name need not exist.
func Find(prompt string) []Mention {
	var list []Mention
	for at := 0; at < len(prompt); {
		switch c := prompt[at]; {
		case c == '`':
			at = behindCode(prompt, at)
		case c == '@' && begins(prompt, at):
			m := read(prompt, at)
			if at = m.End; m.Name != "" {
				list = append(list, m)
			}
		default:
			at++
		}
	}
	return list
}

// Open finds the mention that is being typed at the end of a text: the offset of its "@", in bytes, and the name so
// far. start is -1 if there is none.
func Open(before string) (start int, name string) {
	for at := 0; at < len(before); {
		switch c := before[at]; {
		case c == '`':
			at = behindCode(before, at)
		case c != '@' || !begins(before, at):
			at++
		default:
			rest := before[at+1:]
			if quoted, ok := strings.CutPrefix(rest, `"`); ok && !strings.ContainsAny(quoted, "\"\n") {
				return at, quoted
			}
			if strings.IndexFunc(rest, unicode.IsSpace) < 0 {
				return at, rest
			}
			at++
		}
	}
	return -1, ""
}

// Write writes a name as a mention.
func Write(name string) string {
	if word(name) == name && !strings.HasPrefix(name, `"`) {
		return "@" + name
	}
	return `@"` + strings.Trim(name, `"`) + `"`
}

// begins reports whether a word begins at an offset.
func begins(prompt string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(prompt[:at])
	return at == 0 || unicode.IsSpace(before) || strings.ContainsRune(`([{<"',;:`, before)
}

// behindCode is the offset behind the code that begins with the backticks at an offset. As many backticks end the code;
// if they are missing, it is the offset behind the first backticks.
func behindCode(prompt string, at int) int {
	n := 0
	for at+n < len(prompt) && prompt[at+n] == '`' {
		n++
	}
	for end := at + n; end < len(prompt); end++ {
		run := 0
		for end+run < len(prompt) && prompt[end+run] == '`' {
			run++
		}
		if run == n {
			return end + n
		}
		end += run
	}
	return at + n
}

// read reads the mention that begins at a place.
func read(prompt string, at int) Mention {
	m := Mention{Start: at}
	rest := prompt[at+1:]
	if quoted, ok := strings.CutPrefix(rest, `"`); ok {
		if name, behind, closed := strings.Cut(quoted, `"`); closed && !strings.Contains(name, "\n") {
			m.Name, m.End = name, len(prompt)-len(behind)
			more := word(behind)
			if nothing, first, last := split(more); nothing == "" && first > 0 {
				m.First, m.Last, m.End = first, last, m.End+len(more)
			}
			return m
		}
	}
	name := word(rest)
	m.End = at + 1 + len(name)
	m.Name, m.First, m.Last = split(name)
	return m
}

// split separates a name from the lines behind it; they are 0 if there are none.
func split(text string) (name string, first, last int) {
	found := numbered().FindStringSubmatch(text)
	if found == nil {
		return text, 0, 0
	}
	first, _ = strconv.Atoi(found[2] + found[5]) // digits only
	last, _ = strconv.Atoi(found[3] + found[6])  // or nothing
	return found[1] + found[4], first, max(first, last)
}

// word is the text before the next white space, without punctuation at its end.
func word(text string) string {
	if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
		text = text[:end]
	}
	return strings.TrimRight(text, `.,;:!?)]}>"'*`)
}
