// Package mention finds what a prompt points at by "@": files, lines of them, folders, and the words that stand for
// more than one. It knows only how mentions are written; what they bring is for whoever has the files.
//
// A mention begins at a word of its own: "@src/main.go", "@src/main.go:10-20", "@src/main.go#L10-L20", "@\"a b.txt\"",
// "@src/", "@diff", "@diagnostics". An address such as me@example.org is none, nor is anything in code between
// backticks. Punctuation behind a mention is not part of it.
package mention

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/lazyregexp"
)

// The words that stand for more than a file.
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
	// First and Last are the lines of the file that are meant, 1-based, both inclusive; 0 is all of it.
	First, Last int
}

// Text is the mention as it was written.
func (m Mention) Text(prompt string) string { return prompt[m.Start:m.End] }

// numbered is a name with lines behind it: ":10", ":10-20", "#L10", "#L10-L20", "#L10-20".
var numbered = lazyregexp.New(`(?s)^(|.*[^:]):(\d{1,9})(?:-(\d{1,9}))?$|^(.*)#L(\d{1,9})(?:-L?(\d{1,9}))?$`)

// Find returns the mentions of a prompt, in their order. That something is written as one does not say that there is
// such a file.
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

// Open finds the mention that is being written at the end of a text: where its "@" stands, in bytes, and what is
// written of its name. start is -1 where there is none.
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

// Write is a name as a mention.
func Write(name string) string {
	if word(name) == name && !strings.HasPrefix(name, `"`) {
		return "@" + name
	}
	return `@"` + strings.Trim(name, `"`) + `"`
}

// begins reports whether what stands at a place is a word of its own.
func begins(prompt string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(prompt[:at])
	return at == 0 || unicode.IsSpace(before) || strings.ContainsRune(`([{<"',;:`, before)
}

// behindCode is the place behind the code that begins with the backticks at a place: as many of them end it. Without an
// end, it is the place behind the backticks.
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

// split parts a name from the lines behind it; they are 0 where there are none.
func split(text string) (name string, first, last int) {
	found := numbered().FindStringSubmatch(text)
	if found == nil {
		return text, 0, 0
	}
	first, _ = strconv.Atoi(found[2] + found[5]) // digits only
	last, _ = strconv.Atoi(found[3] + found[6])  // or nothing
	return found[1] + found[4], first, max(first, last)
}

// word is what stands before the next white space, without the punctuation at its end.
func word(text string) string {
	if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
		text = text[:end]
	}
	return strings.TrimRight(text, `.,;:!?)]}>"'*`)
}
