package main

import (
	"strings"
	"unicode/utf8"
)

// columns is how long a generated line may be, in characters, as in files that people write.
const columns = 120

// wrap breaks a text between words into lines of at most so many characters. A longer word has a line of its own.
func wrap(text string, most int) []string {
	var lines []string
	line, used := "", 0
	for word := range strings.FieldsSeq(text) {
		length := utf8.RuneCountInString(word)
		if line != "" && used+1+length > most {
			lines = append(lines, line)
			line = ""
		}
		if line == "" {
			line, used = word, length
			continue
		}
		line += " " + word
		used += 1 + length
	}
	return append(lines, line)
}

// wrapParagraphs breaks the long lines of a Markdown text. Rows of tables and blocks of code stay as they are.
func wrapParagraphs(text string) string {
	var out strings.Builder
	code := false
	for line := range strings.Lines(text) {
		fence := strings.HasPrefix(line, "```")
		code = code != fence
		if code || fence || strings.HasPrefix(line, "|") || utf8.RuneCountInString(line) <= columns {
			out.WriteString(line)
			continue
		}
		out.WriteString(strings.Join(wrap(line, columns), "\n") + "\n")
	}
	return out.String()
}
